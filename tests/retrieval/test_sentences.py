"""Sentences as places in a text: hard cases by table, and what holds for every text."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bright_inspect.retrieval.sentences import sentences

CASES: dict[str, tuple[str, list[str]]] = {
    "plain": ("It rains. Does it? Yes! No…", ["It rains.", "Does it?", "Yes!", "No…"]),
    "nothing": (" \n\t ", []),
    "one": ("no stop at all", ["no stop at all"]),
    "titles": ("Dr. Smith met Mrs. Jones. They talked.", ["Dr. Smith met Mrs. Jones.", "They talked."]),
    "latin": ("Use acids, e.g. HCl, i.e. Strong ones. Then wait.",
        ["Use acids, e.g. HCl, i.e. Strong ones.", "Then wait."]),
    "latin in brackets": ("Salts (cf. Table 2) melt (vs. NaCl). Fine.",
        ["Salts (cf. Table 2) melt (vs. NaCl).", "Fine."]),
    "etc. inside": ("Bees, ants, etc. Apidae too. Done.", ["Bees, ants, etc. Apidae too.", "Done."]),
    "etc. at the end": ("Bees, ants, etc. The rest flies.", ["Bees, ants, etc.", "The rest flies."]),
    "initials": ("J. R. Smith and A. Jones left.", ["J. R. Smith and A. Jones left."]),
    "a letter at the end": ("We take vitamin C. It helps.", ["We take vitamin C.", "It helps."]),
    "countries": ("He left the U.S. Navy. In the U.S. They stay.",
        ["He left the U.S. Navy.", "In the U.S.", "They stay."]),
    "figures": ("See Fig. 3 and Eqs. (4), Fig. S1. Good.", ["See Fig. 3 and Eqs. (4), Fig. S1.", "Good."]),
    "number or no": ("Try No. 5 now. Is it? No. I guess.", ["Try No. 5 now.", "Is it?", "No.", "I guess."]),
    "decimals": ("It is 3.14 or .5 at 10.0.0.1 today. 20 came.", ["It is 3.14 or .5 at 10.0.0.1 today.", "20 came."]),
    "addresses": ("See https://a.org/x.html?q=A.B! Or a@b.com. Ok.",
        ["See https://a.org/x.html?q=A.B!", "Or a@b.com.", "Ok."]),
    "quotes": ('"Why?" he said. "Go." She went.', ['"Why?" he said.', '"Go."', "She went."]),
    "brackets": ("(It is so.) Then [not.] Well.", ["(It is so.)", "Then [not.]", "Well."]),
    "small after a question": ("what happened? i saw it. but 5! is 120", ["what happened?", "i saw it. but 5! is 120"]),
    "small after a stop": ("the app. iPhone users. eBay too", ["the app.", "iPhone users.", "eBay too"]),
    "dots": ("Well... maybe. Wait ... What?", ["Well... maybe.", "Wait ...", "What?"]),
    "stops together": ("What?! No!!! Yes.", ["What?!", "No!!!", "Yes."]),
    "formula": ("Let $a. B = c$ hold. Then $x$ is.", ["Let $a. B = c$ hold.", "Then $x$ is."]),
    "formula begins": ("We know it. $x$ is big. \\(y\\) too.", ["We know it.", "$x$ is big.", "\\(y\\) too."]),
    "dollars": ("It costs $5. That is $2 more. Fine.", ["It costs $5.", "That is $2 more.", "Fine."]),
    "display formula": ("So $$a. B\n= c. D$$ holds. End.", ["So $$a. B\n= c. D$$ holds.", "End."]),
    "inline code": ("Call `a. B()` twice. `C` is next.", ["Call `a. B()` twice.", "`C` is next."]),
    "blank line": ("Title here\n\nit goes on\n \nand on", ["Title here", "it goes on", "and on"]),
    "title line": ("How do bees fly\nI have wondered for a long time.",
        ["How do bees fly", "I have wondered for a long time."]),
    "wrapped": (
        "The probe that was launched by the United\nStates has left. It went\non.",
        ["The probe that was launched by the United\nStates has left.", "It went\non."],
    ),
    "windows": ("One. Two\r\n\r\nThree\r\n", ["One.", "Two", "Three"]),
    "bullets": ("Steps:\n- take it. Now\n* leave it\n  for long\n+ go",
        ["Steps:", "- take it.", "Now", "* leave it\n  for long", "+ go"]),
    "numbers": ("1. One thing. Two\n2) Next\na) Last", ["1. One thing.", "Two", "2) Next", "a) Last"]),
    "numbers inside": ("Do this: 1. Wash it, 2. Dry it.", ["Do this: 1. Wash it, 2. Dry it."]),
    "after a list": ("- one\nThen prose. More", ["- one", "Then prose.", "More"]),
    "heading": ("# A. Title\nText follows. End\n## B", ["# A. Title", "Text follows.", "End", "## B"]),
    "underlined": ("Part one\n========\nText.\n---\nMore.", ["Part one\n========", "Text.\n---", "More."]),
    "fence": ("See:\n```py\na = 1. B\n\n  c()\n```\nDone. Bye.",
        ["See:", "```py", "a = 1. B", "c()", "```", "Done.", "Bye."]),
    "open fence": ("~~~\nA. B\nc", ["~~~", "A. B", "c"]),
    "indented code": ("Run\n\n    a = 1. B\n    c\n\nthen", ["Run", "a = 1. B", "c", "then"]),
    "table": ("| a. B | c |\n|---|---|\n| d |", ["| a. B | c |", "|---|---|", "| d |"]),
    "Chinese": ("今天下雨。你好吗？好！「是。」他说。", ["今天下雨。", "你好吗？", "好！", "「是。」", "他说。"]),
    "Japanese after a stop": ("It rains. 雨です。", ["It rains.", "雨です。"]),
    "Hindi and Arabic": ("नमस्ते। यह है। هل هذا؟ نعم.", ["नमस्ते।", "यह है।", "هل هذا؟", "نعم."]),
    "emoji": ("Great! 😀 Next one. :) Bye.", ["Great!", "😀 Next one.", ":) Bye."]),
    "long": ("word " * 400 + "end", ["word " * 400 + "end"]),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_hard_cases(name: str) -> None:
    text, expected = CASES[name]
    assert [text[start:end] for start, end in sentences(text)] == expected


TEXTS = st.one_of(
    st.text(),
    st.text("aB1 .!?。\n\t\"'()$\\`#-|=~*\r\x0b\u2028\x1f", max_size=60),
    st.lists(st.sampled_from([text for text, _ in CASES.values()]), max_size=4).map("\n".join),
)


@given(TEXTS)
def test_every_other_character_is_in_one_sentence(text: str) -> None:
    spans = sentences(text)
    last = 0
    for start, end in spans:
        assert last <= start < end <= len(text)
        assert not text[last:start].strip()
        assert text[start:end] == text[start:end].strip()
        last = end
    assert not text[last:].strip()


@given(TEXTS, TEXTS)
def test_a_blank_line_parts_texts(first: str, second: str) -> None:
    if "`" in first or "~" in first or first[:1].isspace() or second[:1].isspace():
        return  # a fence that is open goes on; indentation depends on what came before
    if "\r" in first[-1:] or any(line[:1] in " \t" for line in second.split("\n")):
        return
    offset = len(first) + 2
    both = [(start, end) for start, end in sentences(f"{first}\n\n{second}") if end <= len(first)]
    assert both == sentences(first)
    assert [(start - offset, end - offset) for start, end in sentences(f"{first}\n\n{second}") if start >= offset] == (
        sentences(second)
    )


@pytest.mark.parametrize(
    "piece",
    [".", '"', '."', "a", ". ", "A. ", "1. ", "\n", "a\n", " ", "$", "$a", "$$a ", "\\(", "\\[", "`", "`\n", "```\n",
     "#", "- ", "=\n", "。」", "a? ", "... ", ".*", "\r\n", "(", "A.B. ", "The cat sat. It did. "],
)  # fmt: skip
def test_time_is_linear(piece: str) -> None:
    """Fourfold text may take eightfold time; where it grows by the square it would be sixteenfold."""

    def seconds(length: int) -> float:
        text = piece * (length // len(piece))
        started = time.process_time()
        sentences(text)
        return time.process_time() - started

    small = min(seconds(15_000) for _ in range(3))
    large = min(seconds(60_000) for _ in range(2))
    assert large <= 8 * small + 0.3

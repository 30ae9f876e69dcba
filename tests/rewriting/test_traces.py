"""Outlines of traces: every kind of part, thoughts, the final query, and that the parts are all of the text."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bright_inspect.rewriting.traces import TracePart, final_text, outline


def kinds(text: str) -> list[tuple[str, str]]:
    """``(kind, text)`` of each part, without blanks around it."""
    return [(part.kind, text[part.start : part.end].strip()) for part in whole(text)]


def roles(text: str) -> list[tuple[str, str]]:
    return [(part.role, text[part.start : part.end].strip()) for part in whole(text)]


def whole(text: str) -> list[TracePart]:
    parts = outline(text)
    at = 0
    for part in parts:
        assert part.start == at < part.end
        at = part.end
        content = text[part.start : at]
        assert part.words == len(content.split())
        assert part.label.split() == content.split()[: len(part.label.split())] or len(content) > 160
    assert at == len(text)
    assert not parts or parts[0].start == 0
    return parts


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        (" \n\n ", [("paragraph", "")]),
        ("one\ntwo\n\nthree", [("paragraph", "one\ntwo"), ("paragraph", "three")]),
        ("One.\nTwo.\nand more\nSix.", [("paragraph", "One."), ("paragraph", "Two.\nand more"), ("paragraph", "Six.")]),
        ("\n\n  One.\r\n\r\nTwo.\r\n", [("paragraph", "One."), ("paragraph", "Two.")]),
        ("# A\ntext\n### B\n\n**Bold:**\nmore", [
            ("heading", "# A"), ("paragraph", "text"), ("heading", "### B"), ("heading", "**Bold:**"),
            ("paragraph", "more"),
        ]),
        ("**bold** words here **bold**\n\nx", [("paragraph", "**bold** words here **bold**"), ("paragraph", "x")]),
        ("Go:\n1. one\n   - part\n2) two\n\nEnd", [
            ("paragraph", "Go:"), ("step", "1. one\n   - part"), ("step", "2) two"), ("paragraph", "End"),
        ]),
        ("1. one\n\n   more of it\n\n2. two", [("step", "1. one\n\n   more of it"), ("step", "2. two")]),
        ("**1. Bold** one\nStep 2: two\n### Step 3\ntext", [
            ("step", "**1. Bold** one"), ("step", "Step 2: two"), ("step", "### Step 3"), ("paragraph", "text"),
        ]),
        ("First, this.\nnext, that\n\nFinally, so.\n\nFirst things", [
            ("step", "First, this.\nnext, that"), ("step", "Finally, so."), ("paragraph", "First things"),
        ]),
        ("In a year\n1990. was\n\n3.5 is", [("paragraph", "In a year\n1990. was"), ("paragraph", "3.5 is")]),
        ("See:\n```python\n# no heading\n\n1. no step\n```\nafter\n\n   ~~~\nopen", [
            ("paragraph", "See:"), ("code", "```python\n# no heading\n\n1. no step\n```"), ("paragraph", "after"),
            ("code", "~~~\nopen"),
        ]),
        ("a ```b``` c\n\n```x``` y", [("paragraph", "a ```b``` c"), ("paragraph", "```x``` y")]),
        ("Sub-query: one\nsub query 2: two\n- **Search query**: three\nQuery 4: four", [
            ("sub-query", "Sub-query: one"), ("sub-query", "sub query 2: two"),
            ("sub-query", "- **Search query**: three"), ("sub-query", "Query 4: four"),
        ]),
        ("## Queries:\n- one\n\n* two\n3. three\n\nText\n- four", [
            ("heading", "## Queries:"), ("sub-query", "- one"), ("sub-query", "* two"), ("sub-query", "3. three"),
            ("paragraph", "Text\n- four"),
        ]),
        ("Search queries:\n1. one\n2. two\n# End\n1. step", [
            ("paragraph", "Search queries:"), ("sub-query", "1. one"), ("sub-query", "2. two"), ("heading", "# End"),
            ("step", "1. step"),
        ]),
    ],
)  # fmt: skip
def test_kinds_of_parts(text: str, expected: list[tuple[str, str]]) -> None:
    assert kinds(text) == expected


@pytest.mark.parametrize(
    ("text", "expected", "final"),
    [
        ("plain\n\ntext", [("text", "plain"), ("text", "text")], None),
        ("<think>\nhm\n\nso\n</think>\n\nfind tides", [
            ("thought", "<think>"), ("thought", "hm"), ("thought", "so"), ("thought", "</think>"),
            ("final", "find tides"),
        ], "find tides"),
        ("hm</Thinking> a\n\nb", [
            ("thought", "hm"), ("thought", "</Thinking>"), ("final", "a"), ("final", "b"),
        ], "a\n\nb"),
        ("<reasoning>hm\n\nFinal query: no", [
            ("thought", "<reasoning>"), ("thought", "hm"), ("final", "Final query: no"),
        ], "no"),
        ("<think>never closed", [("thought", "<think>"), ("thought", "never closed")], None),
        ("<|begin_of_thought|>\nAnswer: no\n<|end_of_thought|>\nyes", [
            ("thought", "<|begin_of_thought|>"), ("thought", "Answer: no"), ("thought", "<|end_of_thought|>"),
            ("final", "yes"),
        ], "yes"),
        ("<think>a</think>\nIn short.\n\n**Final query:** tides\n\nI hope so.", [
            ("thought", "<think>"), ("thought", "a"), ("thought", "</think>"), ("text", "In short."),
            ("final", "**Final query:** tides"), ("text", "I hope so."),
        ], "tides"),
        ("<think>a</think>", [("thought", "<think>"), ("thought", "a"), ("thought", "</think>")], None),
        ("<think>a</think>b\n<think>c</think>d", [
            ("thought", "<think>"), ("thought", "a"), ("thought", "</think>"), ("text", "b"), ("thought", "<think>"),
            ("thought", "c"), ("thought", "</think>"), ("final", "d"),
        ], "d"),
        ("the tag <think> is no thought", [("text", "the tag <think> is no thought")], None),
        ("Text\n\nHere is the rewritten query:\n\ntides\n\nmoon\n\n# Notes\nx", [
            ("text", "Text"), ("final", "Here is the rewritten query:"), ("final", "tides"), ("final", "moon"),
            ("text", "# Notes"), ("text", "x"),
        ], "tides\n\nmoon"),
        ("### Final Answer\n**So**\n\n#### Below\nit is\n### Other\nx", [
            ("final", "### Final Answer"), ("final", "**So**"), ("final", "#### Below"), ("final", "it is"),
            ("text", "### Other"), ("text", "x"),
        ], "**So**\n\n#### Below\nit is"),
        ("Answer: one\n\nAnswer: two\n\nmore", [("text", "Answer: one"), ("final", "Answer: two"), ("final", "more")],
         "two\n\nmore"),
        ("Answers vary, query: x\n\nAnswer", [("text", "Answers vary, query: x"), ("final", "Answer")], ""),
    ],
)  # fmt: skip
def test_thoughts_and_the_final_query(text: str, expected: list[tuple[str, str]], final: str | None) -> None:
    assert roles(text) == expected
    assert final_text(text, outline(text)) == final


def test_labels_and_levels() -> None:
    first, second, third = outline("## Why   so\n\n**Bold**\n\n" + "word " * 50)
    assert (first.label, first.level, first.words) == ("## Why so", 2, 3)
    assert second.level == 7
    assert (len(third.label.split()), third.level, third.words) == (12, 0, 50)
    (long,) = outline("x" * 100_000)
    assert len(long.label) == 160


pieces = [
    "<think>", "</think>", "</reasoning>", "\n", "\n\n", " ", "    ", "```", "~~~", "# ", "**", "__", "1. ", "Step 2:",
    "First,", "Queries:", "- ", "Sub-query:", "Final query:", "Answer", "word", "Word.", "\r\n", "\x0b", "\u2028", "é",
]  # fmt: skip


@settings(max_examples=80, deadline=None)
@given(st.lists(st.sampled_from(pieces), max_size=25).map("".join))
def test_parts_are_all_of_any_text(text: str) -> None:
    parts = whole(text)
    final_text(text, parts)
    places = [number for number, part in enumerate(parts) if part.role == "final"]
    assert places == list(range(places[0], places[-1] + 1)) if places else True


def test_real_rewrites(bright_data: Path) -> None:
    """TongSearch-QR's texts of all tasks."""
    texts = list(json.loads((bright_data / "rewrites" / "tongsearch-qr-7b.json").read_text()).values())
    found = [whole(text) for text in texts[::20]]
    named = [part.kind for parts in found for part in parts]
    assert {kind: kind in named for kind in ("heading", "step", "code", "paragraph")} == dict.fromkeys(
        ("heading", "step", "code", "paragraph"), True
    )
    assert "tag" not in named
    assert 5 < sum(map(len, found)) / len(found) < 20

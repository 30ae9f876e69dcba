"""What the reader shows: words lit where they are, tabs with their headings, and the line about the document."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from bright_inspect.domain.terms import best_place, find_words, telling_words
from bright_inspect.presentation.reading import (
    Reading,
    document_line,
    document_reading,
    golds_reading,
    query_reading,
    reasoning_reading,
)
from tests.unit.making import make_compared, make_ranking, make_view, text_of

#: Letters whose other case is longer (ß, İ, ŉ), has two forms (σ, ς), or is the same (文), and what is no letter.
LETTERS = "abAB1_ .,'ßẞİıŉΣσςéÉ文\u0301"
WORDS = st.frozensets(st.text("ab1ßé文", min_size=3, max_size=4), max_size=5)


def slow_find_words(text: str, words: frozenset[str]) -> list[tuple[int, int]]:
    """Cut the text into words and look each up."""
    return [match.span() for match in re.finditer(r"[^\W_]+", text) if match[0].lower() in words]


@given(st.text(LETTERS, max_size=60), WORDS)
@example("İ abc", frozenset(["abc"]))
@example("STRASSE straße STRAẞE", frozenset(["straße"]))
@example("abc_abc abcabc abc", frozenset(["abc"]))
@settings(max_examples=500)
def test_words_are_found_where_they_stand(text: str, words: frozenset[str]) -> None:
    assert find_words(text, words) == slow_find_words(text, words)


@given(st.lists(st.sampled_from(["ozone", "Ozone", "OZONES", "layer", "İ", "x", ".", "\n"]), max_size=40))
def test_words_of_a_query_are_found(parts: list[str]) -> None:
    words = telling_words("Where is the ozone layer?")
    assert words == {"ozone", "layer"}
    text = " ".join(parts)
    found = [text[start:end].lower() for start, end in find_words(text, words)]
    assert found == [part.lower() for part in parts if part.lower() in words]


def test_telling_words() -> None:
    assert telling_words("Why does THE sun, in a_b x 42 rise_again?") == {"sun", "rise", "again"}
    assert len(telling_words(" ".join(f"word{number}" for number in range(500)))) == 60
    assert telling_words("") == frozenset()


def slow_best_place(text: str, places: list[tuple[int, int]]) -> int | None:
    best, best_start = 0, None
    for index, (last, _) in enumerate(places):
        window = [place for place in places[: index + 1] if last - place[0] <= 800]
        different = len({text[start:end].lower() for start, end in window})
        if different > best:
            best, best_start = different, window[0][0]
    return best_start


@given(st.lists(st.tuples(st.sampled_from(["abc", "DEF", "ghi", "abc"]), st.integers(0, 500)), max_size=20))
def test_the_best_place_has_most_different_words(parts: list[tuple[str, int]]) -> None:
    text = "".join(f"{word} {'-' * gap} " for word, gap in parts)
    places = find_words(text, frozenset(["abc", "def", "ghi"]))
    assert best_place(text, places) == slow_best_place(text, places)


def styled(reading: Reading, style: str) -> list[str]:
    return [reading.text[start:end] for start, end, name in reading.spans if name == style]


def test_a_document_opens_where_the_words_meet() -> None:
    text = "ozone. " + "filler " * 300 + "the ozone layer"
    reading = document_reading(make_view(None, text="the Ozone Layer"), text)
    assert reading.text == text
    assert styled(reading, "match") == ["ozone", "ozone", "layer"]
    assert reading.scroll_to == text.rindex("ozone")
    assert document_reading(make_view(None, text=None), text).scroll_to is None


def test_the_query_and_its_variants() -> None:
    view = make_view(None, text="as [posted]\x1b", variants=[("gpt4_reason", "rewritten"), ("x_reason", "again")])
    compared = make_compared("qwen")
    assert query_reading(view, compared).text == (
        "original · 12 characters\nas [posted]\x1b\n\n"
        "gpt4_reason · 9 characters\nrewritten\n\nx_reason · 5 characters\nagain"
    )
    assert "no query text at hand; give --data DIR" in query_reading(make_view(None, text=None), compared).text


def test_excluded_documents_stand_below_the_query_those_that_a_run_lists_first() -> None:
    compared = make_compared("qwen", "bm25")
    ours = make_ranking(0, "a", "x1", "b", excluded=["x1"])
    theirs = make_ranking(1, "x1", "x3", "b", excluded=["x1", "x3"])
    view = make_view(ours, theirs, text="q", excluded=["x0", "x1", "x2", "x3"])
    assert query_reading(view, compared).text == (
        "original · 1 characters\nq\n\nexcluded · 4 documents, removed before ranking\n"
        "✗ x1 · qwen at 2, bm25 at 1\n✗ x3 · bm25 at 2\nx0\nx2"
    )


def test_reasoning() -> None:
    both = reasoning_reading(make_view(None, reasoning="because", gold_answer="42"))
    assert both.text == "human reasoning\nbecause\n\ngold answer\n42"
    assert reasoning_reading(make_view(None)).text.count("none recorded for this query") == 2
    assert reasoning_reading(make_view(None, text=None)).text.count("no data set at hand") == 2


def test_golds() -> None:
    compared = make_compared("qwen", "bm25")
    view = make_view(
        make_ranking(0, "a", "x"), make_ranking(1, "x"), judged={"b": 2, "a": 1, "c": 0}, text="the ozone layer"
    )
    reading = golds_reading(view, compared, {"a": "The Ozone."}, "a")
    assert reading.text == (
        "1 of 2 ★2 b · qwen >2 · bm25 >1\nno text at hand\n\n2 of 2 ★ a · qwen 1 · bm25 >1\nThe Ozone."
    )
    assert reading.places == {"b": 0, "a": reading.text.index("2 of 2")}
    assert reading.scroll_to == reading.places["a"]
    assert reading.at_top
    assert styled(reading, "match") == ["Ozone"]
    assert golds_reading(view, compared, {}, "x").scroll_to is None
    assert "no gold" in golds_reading(make_view(None, None, judged={"c": 0}), compared, {}, None).text


@pytest.mark.parametrize(
    ("doc_id", "text", "name", "facts"),
    [
        ("a", "abc", "★ a", "gold · qwen 1 · bm25 >2 · 3 characters"),
        ("b", None, "○ b", "judged, grade 0 · qwen 2 · bm25 1"),
        ("s", "", "≡ s", "unjudged · same page as a gold · qwen 3 · bm25 >2 · 0 characters"),
        ("u", "x" * 1204, "· u", "unjudged · qwen 4 · bm25 2 · 1,204 characters"),
        ("e", None, "✗ e", "excluded for this query · qwen excl. · bm25 >2"),
    ],
)
def test_what_is_known_of_a_document(doc_id: str, text: str | None, name: str, facts: str) -> None:
    view = make_view(
        make_ranking(0, "a", "b", "s", "u", "e", excluded=["e"]),
        make_ranking(1, "b", "u"),
        judged={"a": 1, "b": 0},
        siblings=["s"],
    )
    cells = document_line(view, make_compared("qwen", "bm25"), doc_id, text)
    assert (text_of(cells[0]), text_of(cells[1])) == (name, facts)


def test_without_pages_siblings_are_not_known() -> None:
    view = make_view(make_ranking(0, "u"), pages_known=False)
    assert text_of(document_line(view, make_compared("qwen"), "u", None)[1]) == "unjudged · no page known · qwen 1"


@pytest.mark.parametrize(
    ("doc_id", "mark", "words"),
    [("g", "★⁰", "anna 0"), ("u", "·²", "anna 2"), ("z", "○ˣ", "anna unsure")],
)
def test_ones_own_decision_is_told_beside_what_counts(doc_id: str, mark: str, words: str) -> None:
    view = make_view(make_ranking(0, "g", "u", "z"), judged={"g": 2, "z": 0})
    view = replace(view, annotator="anna", said={"g": 0, "u": 2, "z": None})
    left, right = map(text_of, document_line(view, make_compared("qwen"), doc_id, None))
    assert left == f"{mark} {doc_id}"
    assert f" · {words} · qwen" in right


@pytest.mark.parametrize(("width", "told"), [(None, True), (37, True), (36, False)])
def test_the_id_has_room_before_the_length(width: int | None, told: bool) -> None:
    view = make_view(make_ranking(0, "g"), judged={"g": 1})
    line = document_line(view, make_compared("qwen"), "g", "x" * 1200, width)
    assert text_of(line[1]) == "gold · qwen 1" + " · 1,200 characters" * told

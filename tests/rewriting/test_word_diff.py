"""The word diff keeps every character of both texts, and says what agrees; lengths and surviving words."""

from __future__ import annotations

import random
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bright_inspect.rewriting import word_diff as module
from bright_inspect.rewriting.word_diff import DiffSpan, word_diff
from bright_inspect.rewriting.words import lengths
from tests.rewriting.real import EarthScience


def told(original: str, rewrite: str) -> list[tuple[str, str]]:
    """``(kind, text)``, of equal stretches the rewrite's text."""
    return [
        (span.kind, original[span.original_start : span.original_end])
        if span.kind == "removed"
        else (span.kind, rewrite[span.rewrite_start : span.rewrite_end])
        for span in word_diff(original, rewrite)
    ]


def assert_whole(original: str, rewrite: str) -> list[DiffSpan]:
    """Spans follow one another in both texts, are what their kind says, and no two of a kind meet."""
    spans = word_diff(original, rewrite)
    at = rewrite_at = 0
    for span in spans:
        assert (span.original_start, span.rewrite_start) == (at, rewrite_at)
        at, rewrite_at = span.original_end, span.rewrite_end
        before = original[span.original_start : at]
        after = rewrite[span.rewrite_start : rewrite_at]
        if span.kind == "equal":
            assert before.split() or not before.strip()
            assert "".join(before.split()) == "".join(after.split())
        else:
            assert bool(before) == (span.kind == "removed")
            assert bool(after) == (span.kind == "added")
    assert (at, rewrite_at) == (len(original), len(rewrite))
    meeting = set(pairwise(span.kind for span in spans))
    assert not meeting & {(kind, kind) for kind in ("equal", "removed", "added")}
    assert ("added", "removed") not in meeting
    return spans


def test_words_removed_and_added() -> None:
    assert told("Why is the sky blue today?", "Why is the sea blue, and deep?") == [
        ("equal", "Why is the "), ("removed", "sky "), ("added", "sea "), ("equal", "blue"), ("removed", "today"),
        ("added", ", and deep"), ("equal", "?"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("original", "rewrite", "kinds"),
    [
        ("", "", []),
        ("", " \n", ["added"]),
        (" ", "", ["removed"]),
        ("  a b", "a\n\nb ", ["equal"]),
        ("one two", "one two three", ["equal", "added"]),
        ("Word", "word", ["removed", "added"]),
        ("氷河とは", "氷山とは", ["equal", "removed", "added", "equal"]),
        ("the cat of it", "a dog of mine", ["removed", "added"]),
    ],
)
def test_edges(original: str, rewrite: str, kinds: list[str]) -> None:
    assert [span.kind for span in assert_whole(original, rewrite)] == kinds


texts = st.lists(st.sampled_from(["a", "Moon", "the", ",", " ", "\n", "_x", "é", "東京", "'s", "`"]), max_size=30).map(
    "".join
)


@settings(max_examples=80, deadline=None)
@given(original=texts, rewrite=texts)
def test_any_texts(original: str, rewrite: str) -> None:
    assert_whole(original, rewrite)


@settings(max_examples=40, deadline=None)
@given(data=st.data(), original=st.lists(st.sampled_from("uvwxyz"), max_size=40))
def test_texts_cut_at_anchors(data: st.DataObject, original: list[str]) -> None:
    """With limits so small that every way to cut is taken."""
    rewrite = (
        data.draw(st.permutations(original)) if data.draw(st.booleans()) else [*original[5:], "new", *original[:5]]
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_PAIRS", 20)
        patch.setattr(module, "_ALL_PAIRS", 60)
        assert_whole(" ".join(original), " ".join(rewrite))


def test_long_texts_agree_where_they_do() -> None:
    """60,000 words with every fiftieth changed: cut at anchors, nothing that agrees is lost."""
    generator = random.Random(0)
    words = [f"w{generator.randrange(5000)}" for _ in range(60_000)]
    changed = [f"new{place}" if place % 50 == 25 else word for place, word in enumerate(words)]
    spans = assert_whole(" ".join(words), " ".join(changed))
    assert sum(span.kind == "added" for span in spans) == 1200
    removed = sum(span.original_end - span.original_start for span in spans if span.kind == "removed")
    assert removed == sum(len(word) + 1 for place, word in enumerate(words) if place % 50 == 25)


def test_real_rewrites(earth: EarthScience) -> None:
    for pair in earth.pairs[::10]:
        assert_whole(pair.original, pair.rewrite)
        spans = assert_whole(pair.original, f"{pair.original} {pair.rewrite}")
        assert spans[0].kind == "equal", "QueryGym's rewrites begin with the query"
        assert spans[0].original_end > 0.9 * len(pair.original)


def test_lengths_and_words_that_survive() -> None:
    found = lengths("The Moon's moon, the sea", "moon THE sea; moon’s moon and\nmore")
    assert (found.original_words, found.rewrite_words) == (5, 7)
    assert (found.original_characters, found.rewrite_characters) == (24, 34)
    assert found.surviving == 4 / 5, "one of the two the"
    assert lengths("", "moon").surviving is None
    assert lengths("moon", "").surviving == 0.0

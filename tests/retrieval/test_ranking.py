"""The best of many scores, against a full sort; strings found by their hashes."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bright_inspect.retrieval import strings
from bright_inspect.retrieval.ranking import best
from bright_inspect.retrieval.strings import HashedStrings, Strings, encode, hashes_of, packed


@pytest.mark.parametrize("documents", [0, 1, 15, 16, 999, 5000])
@pytest.mark.parametrize("k", [0, 1, 10, 300, 6000])
@pytest.mark.parametrize("values", [2, 40, 10_000_000])
@pytest.mark.parametrize("matching", [0.0, 0.02, 1.0])
def test_the_best_are_those_of_a_full_sort(documents: int, k: int, values: int, matching: float) -> None:
    generator = np.random.default_rng(documents + k + values)
    # Some below zero, many tied, and the best of them not ranked.
    scores = generator.integers(-values // 4, values, documents).astype(np.float64)
    matched = (generator.random(documents) < matching) & (scores < values * 0.95)
    order = [row for row in np.lexsort((np.arange(documents), -scores)).tolist() if matched[row]]
    assert best(scores, matched, k).tolist() == order[:k]


def test_a_sample_that_misleads() -> None:
    """Every score that is sampled is high and not ranked."""
    scores = np.arange(2000, dtype=np.float64)
    scores[::16] += 1e6
    matched = np.ones(2000, dtype=np.bool_)
    matched[::16] = False
    assert best(scores, matched, 3).tolist() == [1999, 1998, 1997]


@settings(deadline=None)
@given(st.lists(st.text(), unique=True), st.lists(st.text()))
def test_strings_are_found(known: list[str], others: list[str]) -> None:
    hashes = hashes_of([encode(string) for string in known])
    order = np.argsort(hashes)
    table = HashedStrings(*packed(encode(known[place]) for place in order), hashes[order])
    assert table.all() == [known[place] for place in order]
    asked = [*known, *others]
    numbers = table.find(asked).tolist()
    assert [number >= 0 for number in numbers] == [string in known for string in asked]
    assert table.take(np.array([n for n in numbers if n >= 0], dtype=np.int64)) == [s for s in asked if s in known]


@settings(deadline=None)
@given(st.lists(st.text(), unique=True), st.lists(st.text()))
def test_strings_in_descending_order_are_found(known: list[str], others: list[str]) -> None:
    known.sort(key=encode, reverse=True)
    numbers = {string: number for number, string in enumerate(known)}
    asked = [*others, *known, *others]
    found = Strings(*packed(map(encode, known))).find_descending(asked)
    assert found == [numbers.get(string, -1) for string in asked]


def test_strings_that_share_a_hash() -> None:
    """As three words of a large corpus may."""
    blob, offsets = packed([b"one", b"two", b"three"])
    hashes = np.full(3, strings.hashes_of([b"three"])[0], dtype=np.uint32)
    assert HashedStrings(blob, offsets, hashes).find(["three", "four"]).tolist() == [2, -1]
    assert Strings(blob, offsets).all() == ["one", "two", "three"]

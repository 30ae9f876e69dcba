"""How long rewrites are, and how much of the original they still have."""

from __future__ import annotations

import pytest

from bright_inspect.rewriting.lengths import VariantLengths, lengths_of, mean_lengths
from bright_inspect.rewriting.words import lengths
from bright_inspect.store.collections import TaskKey
from bright_inspect.store.progress import Cancelled, CancelToken

BIOLOGY: TaskKey = ("bright", "biology")
PONY: TaskKey = ("bright", "pony")


def nothing() -> None:
    """Let it go on."""


@pytest.mark.parametrize(
    ("original", "rewrite", "share"),
    [
        ("Why do cats purr?", "why do cats PURR", 1.0),
        ("why why why", "why", 1 / 3),
        ("the cat, the dog", "the dog and the fox", 3 / 4),
        ("a b", "", 0.0),
        ("…?!", "a", None),
        ("", "a", None),
        ("Größe 水 x_1", "größe 水 x_1", 1.0),
    ],
)
def test_surviving_share(original: str, rewrite: str, share: float | None) -> None:
    assert lengths(original, rewrite).surviving == share


def test_lengths_are_means_over_texts() -> None:
    found = lengths_of("r", BIOLOGY, 3, [("one two", "one two three four"), ("a b c d", "a b")], nothing)
    assert found == VariantLengths("r", BIOLOGY, 3, 2, 3.0, 10.5, 3.0, 0.75)
    assert found.growth == 1.0
    assert lengths_of("r", BIOLOGY, 3, [], nothing) is None
    wordless = lengths_of("r", BIOLOGY, 1, [("?", "a")], nothing)
    assert wordless is not None
    assert (wordless.growth, wordless.surviving) == (None, None)


def test_measuring_can_be_stopped() -> None:
    token = CancelToken()
    token.cancel()
    with pytest.raises(Cancelled):
        lengths_of("r", BIOLOGY, 1, [("a", "b")], token.check)


def test_means_of_tasks() -> None:
    one = VariantLengths("r", BIOLOGY, 10, 9, 100.0, 500.0, 50.0, 0.5)
    other = VariantLengths("r", PONY, 2, 2, 300.0, 900.0, 50.0, None)
    mean = mean_lengths("r", [one, other])
    assert mean is not None
    assert (mean.queries, mean.texts, mean.words, mean.original_words, mean.surviving) == (12, 11, 200.0, 50.0, 0.5)
    assert mean.growth == 4.0
    assert mean_lengths("r", []) is None

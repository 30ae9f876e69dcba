"""How long rewritten queries are, and how much of the original's words they still have."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean

from bright_inspect.db import Cursor
from bright_inspect.domain.names import ORIGINAL
from bright_inspect.rewriting.words import normalised_words, surviving_share
from bright_inspect.store.collections import Collections, TaskKey
from bright_inspect.store.variants import variant_names, variant_texts


@dataclass(frozen=True, slots=True)
class VariantLengths:
    """What a variant's texts of one task are like: means over the ``texts`` of its ``queries`` that have one.

    ``original_words`` are those of the same queries; ``surviving`` is the mean share (0–1) of them that a rewrite has.
    """

    variant: str
    task: TaskKey
    queries: int
    texts: int
    words: float
    characters: float
    original_words: float
    surviving: float | None

    @property
    def growth(self) -> float | None:
        """How many times as many words as the originals'."""
        return self.words / self.original_words if self.original_words else None


def lengths_of(
    variant: str, task: TaskKey, queries: int, texts: Iterable[tuple[str, str]], check: Callable[[], None]
) -> VariantLengths | None:
    """Measure (original, rewrite) pairs, or None if there are none. ``check`` is called between them, and stops."""
    words: list[int] = []
    characters: list[int] = []
    original_words: list[int] = []
    shares: list[float] = []
    for original, rewrite in texts:
        check()
        before = Counter(normalised_words(original))
        after = before if rewrite == original else Counter(normalised_words(rewrite))
        words.append(after.total())
        characters.append(len(rewrite))
        original_words.append(before.total())
        if (share := surviving_share(before, after)) is not None:
            shares.append(share)
    if not words:
        return None
    surviving = fmean(shares) if shares else None
    return VariantLengths(
        variant, task, queries, len(words), fmean(words), fmean(characters), fmean(original_words), surviving
    )


def task_lengths(
    cursor: Cursor, collections: Collections, task: TaskKey, check: Callable[[], None]
) -> list[VariantLengths]:
    """The lengths of each variant at hand of a loaded task that has texts, the original first."""
    found = []
    for variant in (ORIGINAL, *variant_names(collections, task)):
        queries, texts = variant_texts(cursor, collections, task, variant)
        if (lengths := lengths_of(variant, task, queries, texts, check)) is not None:
            found.append(lengths)
    return found


def mean_lengths(variant: str, lengths: Sequence[VariantLengths]) -> VariantLengths | None:
    """The means of several tasks' means, and the sums of their counts; None of no task."""
    if not lengths:
        return None
    shares = [each.surviving for each in lengths if each.surviving is not None]
    return VariantLengths(
        variant,
        lengths[0].task,
        sum(each.queries for each in lengths),
        sum(each.texts for each in lengths),
        fmean(each.words for each in lengths),
        fmean(each.characters for each in lengths),
        fmean(each.original_words for each in lengths),
        fmean(shares) if shares else None,
    )

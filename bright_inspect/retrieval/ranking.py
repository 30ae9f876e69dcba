"""The best of all scores, and why there are no more of them. For retrievers that score every document."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import repeat

import numpy as np
import numpy.typing as npt

from bright_inspect.retrieval.protocol import Hit

_NEW_TUPLE: Callable[[type[Hit], tuple[str, float]], Hit] = tuple.__new__
#: One of how many scores is looked at to estimate where the best begin.
_SAMPLED = 16


def best(scores: npt.NDArray[np.floating], matched: npt.NDArray[np.bool_], k: int) -> npt.NDArray[np.int64]:
    """The numbers of the ``k`` best of the matched documents, best first; of ties the lower number first.

    Number documents by id, descending, and ties are in trec_eval's order.
    """
    candidates = _about_the_best(scores, k)
    candidates = candidates[matched[candidates]]
    if len(candidates) < k:
        candidates = np.flatnonzero(matched)
    if 0 < k < len(candidates):
        values = scores[candidates]
        candidates = candidates[values >= np.partition(values, len(values) - k)[len(values) - k]]
    return candidates[np.argsort(-scores[candidates], kind="stable")][:k]


def at_the_top(scores: npt.NDArray[np.floating], k: int) -> npt.NDArray[np.int64]:
    """Numbers of the ``k`` best and whatever ties with the last of them, in no order; all if there are no more."""
    if k >= len(scores):
        return np.arange(len(scores))
    candidates = _about_the_best(scores, k)
    if len(candidates) < k:
        candidates = np.arange(len(scores))
    values = scores[candidates]
    best_ones: npt.NDArray[np.int64] = candidates[values >= np.partition(values, len(values) - k)[len(values) - k]]
    return best_ones


def _about_the_best(scores: npt.NDArray[np.floating], k: int) -> npt.NDArray[np.int64]:
    """Numbers of some of the best, ties whole: most likely k of them or more, found in a fraction of a sort's time."""
    sample = scores[::_SAMPLED]
    place = len(sample) - 2 * k // _SAMPLED - 8
    if place < 0:
        return np.arange(len(scores))
    return np.flatnonzero(scores >= np.partition(sample, place)[place])


def hits_of(doc_ids: Sequence[str], scores: npt.NDArray[np.floating]) -> list[Hit]:
    """Documents with their scores; what ``Hit(...)`` does, without a call of Python's for each of a thousand."""
    return list(map(_NEW_TUPLE, repeat(Hit), zip(doc_ids, scores.tolist(), strict=True)))


def shortfall_of(hits: int, k: int, documents: int, terms: int, known_terms: int, excluded: int) -> str:
    """Why there are fewer than ``k`` hits, or nothing where there are k. ``terms`` are the query's, ``known_terms``
    those that the corpus has; ``excluded`` documents had one of them and were removed."""
    if hits >= k:
        return ""
    if not documents:
        return "The corpus has no documents."
    if not terms:
        return "The text has no term to search by: it is empty, or of stop words and marks only."
    if not known_terms:
        return f"The corpus has none of the text's {_counted(terms, 'term')}."
    every = _counted(documents, "document")
    removed = f" or are excluded ({excluded:,})" if excluded else ""
    if hits + excluded == documents:
        return f"The corpus has only {every}{f' ({excluded:,} excluded)' if excluded else ''}."
    return f"Only {hits:,} of {every} can be ranked: the others share no term with the text{removed}."


def _counted(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"

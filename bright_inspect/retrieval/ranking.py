"""The best of all scores, and why there are no more of them. For retrievers that score every document."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt


def best(scores: npt.NDArray[np.floating], matched: npt.NDArray[np.bool_], k: int) -> npt.NDArray[np.int64]:
    """The numbers of the ``k`` best of the matched documents, best first; of ties the lower number first.

    Number documents by id, descending, and ties are in trec_eval's order.
    """
    candidates = np.flatnonzero(matched)
    if k < len(candidates):
        values = scores[candidates]
        threshold = np.partition(values, len(values) - k)[len(values) - k] if k else np.inf
        candidates = candidates[values >= threshold]
    return candidates[np.argsort(-scores[candidates], kind="stable")][:k]


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

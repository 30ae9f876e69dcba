"""Several ranked lists of one query made into one: by ranks, or by scores brought to one scale.

A list is a sequence of ``(doc_id, rank, score)``, ranks from 1. What comes out is ordered by score, ties by document id
descending as UTF-8 bytes; scores are float32, as trec_eval compares them, so that every tool reads the same order from
the file that they are written to.
"""

from __future__ import annotations

import ctypes
import math
from collections.abc import Sequence
from typing import Literal, get_args

from bright_inspect.errors import UsageError
from bright_inspect.retrieval.protocol import Hit

RankedList = Sequence[tuple[str, int, float]]
"""One run's list of a query: ``(doc_id, rank, score)``."""

Normalisation = Literal["min-max", "z-score", "none"]
NORMALISATIONS: tuple[Normalisation, ...] = get_args(Normalisation)

#: What Cormack et al. found good on all their collections.
DEFAULT_K = 60


def reciprocal_rank_fusion(lists: Sequence[RankedList], weights: Sequence[float], k: float = DEFAULT_K) -> list[Hit]:
    """Reciprocal rank fusion: a document's score is the sum of ``weight / (k + rank)`` over the lists that have it.

    With all weights 1 this is Cormack, Clarke and Büttcher, "Reciprocal Rank Fusion outperforms Condorcet and
    individual Rank Learning Methods" (SIGIR 2009). A list that lacks the document adds nothing. Scores are not looked
    at: neither equal, infinite nor undefined ones matter, and a list of one document is as good as any.

    Raises:
        UsageError: k is below 0, or a weight is below 0 or not finite.
    """
    _check_weights(lists, weights)
    if not (math.isfinite(k) and k >= 0):
        raise UsageError(f"k is {k}.", "It is added to every rank: 0 or more, usually 60.")
    parts: dict[str, list[float]] = {}
    for ranked, weight in zip(lists, weights, strict=True):
        for doc_id, rank, _ in ranked:
            parts.setdefault(doc_id, []).append(weight / (k + rank))
    return _ordered(parts)


def weighted_score_fusion(
    lists: Sequence[RankedList], weights: Sequence[float], normalisation: Normalisation = "min-max"
) -> list[Hit]:
    """A document's score is the sum of ``weight * normalised score`` over all lists (CombSUM of Fox and Shaw, TREC-2,
    1994, with weights). Each list is normalised by its own scores, for this query alone:

    * ``min-max``: ``(score - min) / (max - min)``, from 0 to 1. A list that lacks the document adds 0, as for its last
      document. Where all scores are equal, or there is one document, each gets 1: listed is more than not listed.
    * ``z-score``: ``(score - mean) / standard deviation``, that of the list, not of a sample. A list that lacks the
      document adds its lowest value, because what it did not list it would have put below; 0 would be its mean.
      Where all scores are equal, or there is one document, every document gets 0, listed or not.
    * ``none``: the score as it is; a list that lacks the document adds 0. For scores of one scale, and above 0.

    An infinite score counts as the highest or lowest finite one of its list; where none is finite, as 1 or 0. A
    document whose score is NaN counts as not listed. A list without documents adds nothing to any.

    Raises:
        UsageError: a weight is below 0 or not finite.
    """
    _check_weights(lists, weights)
    weighted = [
        (weight, *_normalised(ranked, normalisation)) for ranked, weight in zip(lists, weights, strict=True) if ranked
    ]
    # In the order of the lists, so that documents are compared by the same sums whatever list they come from.
    doc_ids = dict.fromkeys(doc_id for _, scores, _ in weighted for doc_id in scores)
    return _ordered(
        {doc_id: [weight * scores.get(doc_id, lacking) for weight, scores, lacking in weighted] for doc_id in doc_ids}
    )


def _normalised(ranked: RankedList, normalisation: Normalisation) -> tuple[dict[str, float], float]:
    """Each document's score on the common scale, and what a document counts that the list lacks."""
    scores = _finite({doc_id: score for doc_id, _, score in ranked if not math.isnan(score)})
    if not scores or normalisation == "none":
        return scores, 0.0
    lowest, highest = min(scores.values()), max(scores.values())
    # Scaled down first: the difference of two scores near the largest double is infinite.
    scale = max(abs(lowest), abs(highest), 1.0)
    scores = {doc_id: score / scale for doc_id, score in scores.items()}
    lowest, highest = lowest / scale, highest / scale
    if normalisation == "min-max":
        if lowest == highest:
            return dict.fromkeys(scores, 1.0), 0.0
        return {doc_id: (score - lowest) / (highest - lowest) for doc_id, score in scores.items()}, 0.0
    mean = math.fsum(scores.values()) / len(scores)
    deviation = math.sqrt(math.fsum((score - mean) ** 2 for score in scores.values()) / len(scores))
    # A mean is rounded: equal scores have a deviation of a hair.
    if lowest == highest or deviation == 0:
        return dict.fromkeys(scores, 0.0), 0.0
    return {doc_id: (score - mean) / deviation for doc_id, score in scores.items()}, (lowest - mean) / deviation


def _finite(scores: dict[str, float]) -> dict[str, float]:
    """The scores with infinite ones replaced by the highest or lowest finite one."""
    finite = [score for score in scores.values() if math.isfinite(score)]
    if len(finite) == len(scores):
        return scores
    lowest, highest = (min(finite), max(finite)) if finite else (0.0, 1.0)
    return {doc_id: max(lowest, min(highest, score)) for doc_id, score in scores.items()}


def _ordered(parts: dict[str, list[float]]) -> list[Hit]:
    """The documents by the sum of their parts. Sums are exact before they are rounded: documents with the same parts
    in another order tie."""
    hits = [Hit(doc_id, ctypes.c_float(math.fsum(values)).value) for doc_id, values in parts.items()]
    # Code points order as UTF-8 bytes do.
    hits.sort(key=lambda hit: hit.doc_id, reverse=True)
    hits.sort(key=lambda hit: hit.score, reverse=True)
    return hits


def _check_weights(lists: Sequence[RankedList], weights: Sequence[float]) -> None:
    if len(weights) != len(lists):
        raise UsageError(f"{len(weights)} weights for {len(lists)} lists.", "Give each list one.")
    for weight in weights:
        if not (math.isfinite(weight) and weight >= 0):
            raise UsageError(f"a weight is {weight}.", "Weights are 0 or more.")
    if lists and not any(weights):
        raise UsageError("all weights are 0.", "Give at least one list a weight above 0.")

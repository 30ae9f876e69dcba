"""What tied scores leave open: the best, worst and expected value of a measure when equal scores stand in random order.

A file says nothing about the order of documents with equal scores, and every tool takes another one (FORMATS F.8, F.9).
The range is exact, in closed form: gains of nDCG, P, R and Judged add up rank by rank, so only the sum of the weights
over a group's ranks counts (McSherry and Najork, Computing Information Retrieval Performance Measures Efficiently in
the Presence of Tied Scores, ECIR 2008); AP follows from how many of the group's other relevant documents stand before
one (the same paper), RR from the hypergeometric waiting time to the group's first relevant document.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from bright_inspect.domain.measures import Measure
from bright_inspect.domain.tally import TIE_TOLERANCE


@dataclass(frozen=True, slots=True)
class JudgedPlace:
    """Where a judged document stands in a list: ``above`` documents have a strictly better score, ``tied`` have its
    own, itself included (1 = untied). It can be at the ranks ``above + 1`` to ``above + tied``."""

    relevance: int
    above: int
    tied: int = 1


@dataclass(frozen=True, slots=True)
class TieRange:
    """Fractions from 0 to 1: the best and the worst order of tied documents, and the mean over all orders."""

    best: float
    worst: float
    expected: float

    @property
    def tie_sensitive(self) -> bool:
        """Whether the order of tied documents changes the value."""
        return self.best - self.worst > TIE_TOLERANCE


@dataclass(frozen=True, slots=True)
class _Group:
    """The documents of one score: ``size`` of them after ``above`` better ones, with the gains of those that have
    any, largest first."""

    above: int
    size: int
    gains: tuple[float, ...]


def tie_range(
    measure: Measure, places: Iterable[JudgedPlace], judged: Sequence[int], depth: int | None = None
) -> TieRange:
    """The range of a measure for one query.

    ``places`` are the judged documents of the list, in any order; ``judged`` the relevance of every judged document of
    the query, listed or not; ``depth`` how many documents the list has, which only Judged@k needs. Definitions are
    trec_eval's (see ``evaluation.measures_sql``): relevant means a relevance above 0, the gain is the relevance.

    Raises:
        ValueError: Judged@k without a depth.
    """
    places = list(places)
    cutoff = math.inf if measure.cutoff is None else measure.cutoff
    if measure.kind == "Judged":
        if depth is None or measure.cutoff is None:
            raise ValueError("Judged@k needs a cutoff and the depth of the list")
        return _linear(_groups(places, lambda _: 1.0), lambda rank: rank <= cutoff, min(measure.cutoff, depth))
    if measure.kind == "nDCG":
        ideal = sorted((grade for grade in judged if grade > 0), reverse=True)
        most = math.fsum(grade * _discount(rank) for rank, grade in enumerate(ideal, 1) if rank <= cutoff)
        groups = _groups(places, float)
        return _linear(groups, lambda rank: _discount(rank) if rank <= cutoff else 0.0, most)
    groups = _groups(places, lambda relevance: float(relevance > 0))
    relevant = sum(grade > 0 for grade in judged)
    if measure.kind == "AP":
        return _average_precision(groups, cutoff, relevant)
    if measure.kind == "RR":
        return _reciprocal_rank(groups, cutoff)
    return _linear(groups, lambda rank: rank <= cutoff, relevant if measure.kind == "R" else measure.cutoff or 0)


def _discount(rank: int) -> float:
    return 1 / math.log2(rank + 1)


def _groups(places: list[JudgedPlace], gain: Callable[[int], float]) -> list[_Group]:
    """The groups with a gain in them, best score first."""
    members: dict[tuple[int, int], list[float]] = {}
    for place in places:
        if gain(place.relevance) > 0:
            members.setdefault((place.above, place.tied), []).append(gain(place.relevance))
    return [_Group(above, size, tuple(sorted(gains, reverse=True))) for (above, size), gains in sorted(members.items())]


def _linear(groups: list[_Group], weight: Callable[[int], float], divisor: float) -> TieRange:
    """A sum of gain x weight(rank), the weights never rising: best with the largest gains first, worst with them last,
    and in the mean each document has the mean weight of the group's ranks."""
    best, worst, expected = list[float](), list[float](), list[float]()
    for group in groups:
        weights = [weight(rank) for rank in range(group.above + 1, group.above + group.size + 1)]
        best += [gain * heavy for gain, heavy in zip(group.gains, weights, strict=False)]
        worst += [gain * light for gain, light in zip(group.gains, reversed(weights), strict=False)]
        expected.append(math.fsum(group.gains) * math.fsum(weights) / group.size)
    if not divisor:
        return TieRange(0.0, 0.0, 0.0)
    return TieRange(math.fsum(best) / divisor, math.fsum(worst) / divisor, math.fsum(expected) / divisor)


def _average_precision(groups: list[_Group], cutoff: float, relevant: int) -> TieRange:
    """Of a group of n with m relevant, a relevant document is at any given rank with probability m/n, and each of the
    i documents of the group before it is relevant with probability (m-1)/(n-1)."""
    best, worst, expected = list[float](), list[float](), list[float]()
    before = 0
    for group in groups:
        above, n, m = group.above, group.size, len(group.gains)
        for number in range(1, m + 1):
            for ranks, found in ((best, above + number), (worst, above + n - m + number)):
                if found <= cutoff:
                    ranks.append((before + number) / found)
        others = (m - 1) / (n - 1) if n > 1 else 0.0
        expected += [m / n * (before + 1 + i * others) / (above + 1 + i) for i in range(n) if above + 1 + i <= cutoff]
        before += m
    if not relevant:
        return TieRange(0.0, 0.0, 0.0)
    return TieRange(math.fsum(best) / relevant, math.fsum(worst) / relevant, math.fsum(expected) / relevant)


def _reciprocal_rank(groups: list[_Group], cutoff: float) -> TieRange:
    """By the first group that holds a relevant document: of n documents with m relevant, the first relevant one is the
    x-th with probability C(n-x, m-1) / C(n, m), here by the recurrence between neighbours."""
    if not groups:
        return TieRange(0.0, 0.0, 0.0)
    above, n, m = groups[0].above, groups[0].size, len(groups[0].gains)
    expected = list[float]()
    probability = m / n
    for x in range(1, n - m + 2):
        if above + x <= cutoff:
            expected.append(probability / (above + x))
        probability *= (n - x - m + 1) / (n - x) if n > x else 0.0
    first, last = above + 1, above + n - m + 1
    return TieRange(1 / first if first <= cutoff else 0.0, 1 / last if last <= cutoff else 0.0, math.fsum(expected))

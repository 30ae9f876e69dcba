"""How far annotators agree, over the pairs that they judged; unsure is no judgment.

* Cohen's kappa of two annotators, unweighted: (p_o - p_e) / (1 - p_e), with p_o the share of equal judgments and p_e
  that of independent annotators with the same marginals (Cohen, "A coefficient of agreement for nominal scales",
  Educational and Psychological Measurement 20, 1960).
* Krippendorff's alpha of any number: 1 - D_o / D_e over the coincidence matrix (Krippendorff, "Computing
  Krippendorff's alpha-reliability", 2011), by the difference function of the level of measurement.

Where chance alone agrees always (all judgments are of one category), both would be 0 / 0: they are None, undefined.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise
from typing import Literal, get_args

from bright_inspect.judging.decisions import Decision, PairKey
from bright_inspect.judging.history import Votes, alive

Level = Literal["nominal", "ordinal", "interval"]
LEVELS: tuple[Level, ...] = get_args(Level)


@dataclass(frozen=True, slots=True)
class PairAgreement:
    """Two annotators over the pairs that both judged: ``raw`` is the share of equal judgments, ``table`` counts
    (first's, second's) judgments. ``raw`` and ``kappa`` are None without common pairs, ``kappa`` also if undefined."""

    first: str
    second: str
    common: int
    raw: float | None
    kappa: float | None
    table: Mapping[tuple[int, int], int]


@dataclass(frozen=True, slots=True)
class SelfAgreement:
    """An annotator over pairs that came twice, the earlier judgment against the repeated one."""

    annotator: str
    repeated: int
    raw: float | None
    kappa: float | None
    table: Mapping[tuple[int, int], int]


@dataclass(frozen=True, slots=True)
class Agreement:
    """All annotators: ``alpha`` over the pairs that two or more of them judged (``pairs``), every two of them,
    ``conflicts`` the pairs that they judge differently, and each with themselves."""

    annotators: tuple[str, ...]
    pairs: int
    level: Level
    alpha: float | None
    between: tuple[PairAgreement, ...]
    conflicts: Mapping[PairKey, Mapping[str, int]]
    selves: tuple[SelfAgreement, ...]


def raw_agreement(table: Mapping[tuple[int, int], int]) -> float | None:
    """The share of equal judgments in a confusion table; None for an empty one."""
    total = sum(table.values())
    return sum(count for (a, b), count in table.items() if a == b) / total if total else None


def cohen_kappa(table: Mapping[tuple[int, int], int]) -> float | None:
    """Cohen's kappa of a confusion table; None for an empty one, and where both annotators use one same category."""
    observed, total = raw_agreement(table), sum(table.values())
    if observed is None:
        return None
    rows, columns = Counter[int](), Counter[int]()
    for (a, b), count in table.items():
        rows[a] += count
        columns[b] += count
    by_chance = sum(rows[category] * columns[category] for category in rows)
    if by_chance == total * total:
        return None
    expected = by_chance / (total * total)
    return (observed - expected) / (1 - expected)


def krippendorff_alpha(units: Iterable[Sequence[int]], level: Level = "nominal") -> float | None:
    """Krippendorff's alpha of units with the values that annotators gave each; units with fewer than two say nothing.

    None without two comparable values, and where all of them are of one category.
    """
    coincidences: dict[tuple[int, int], float] = {}
    for values in units:
        if len(values) < 2:
            continue
        counts = Counter(values)
        for a, of_a in counts.items():
            for b, of_b in counts.items():
                weight = of_a * (of_b - (a == b)) / (len(values) - 1)
                coincidences[a, b] = coincidences.get((a, b), 0.0) + weight
    totals: dict[int, float] = {}
    for (a, _), weight in coincidences.items():
        totals[a] = totals.get(a, 0.0) + weight
    if len(totals) < 2:
        return None
    distance = _distance(level, totals)
    observed = sum(weight * distance(a, b) for (a, b), weight in coincidences.items())
    expected = sum(totals[a] * totals[b] * distance(a, b) for a in totals for b in totals)
    return 1 - (sum(totals.values()) - 1) * observed / expected


def _distance(level: Level, totals: Mapping[int, float]) -> Callable[[int, int], float]:
    """The squared difference of two values; that of ranks depends on how many values lie between them."""
    if level == "nominal":
        return lambda a, b: float(a != b)
    if level == "interval":
        return lambda a, b: float((a - b) ** 2)
    below, ranks = 0.0, dict[int, float]()
    for value in sorted(totals):
        # The middle of the value's own ranks: the sum between two values is the difference of their middles.
        ranks[value] = below + totals[value] / 2
        below += totals[value]
    return lambda a, b: (ranks[a] - ranks[b]) ** 2


def confusion(votes: Votes, first: str, second: str) -> Counter[tuple[int, int]]:
    """Counts of (first's, second's) judgments over the pairs that both judged."""
    return Counter((said[first], said[second]) for said in votes.values() if first in said and second in said)


def agreement(
    votes: Votes, decisions: Iterable[Decision] = (), level: Level = "nominal", *, graded: bool = False
) -> Agreement:
    """How far the annotators of ``votes`` agree; ``decisions`` are the lines in which repeated items are looked for.
    Unless ``graded``, every relevance above 0 counts as 1."""
    votes = votes if graded else binary(votes)
    annotators = tuple(sorted({annotator for said in votes.values() for annotator in said}))
    several = {pair: said for pair, said in votes.items() if len(said) > 1}
    between = []
    for first, second in combinations(annotators, 2):
        table = confusion(several, first, second)
        between.append(
            PairAgreement(first, second, table.total(), raw_agreement(table), cohen_kappa(table), dict(table))
        )
    return Agreement(
        annotators,
        len(several),
        level,
        krippendorff_alpha([list(said.values()) for said in several.values()], level),
        tuple(between),
        {pair: said for pair, said in several.items() if len(set(said.values())) > 1},
        self_agreement(decisions, graded=graded),
    )


def self_agreement(decisions: Iterable[Decision], *, graded: bool = True) -> tuple[SelfAgreement, ...]:
    """Each annotator's repeated judgments against the ones before them, of those who were shown an item again.

    Only lines with ``repeat`` are second looks: anything else is a change of mind.
    """
    said: dict[tuple[str, PairKey], list[Decision]] = {}
    for line in alive(decisions):
        if line.kind == "judgment" and line.relevance is not None:
            said.setdefault((line.annotator, line.pair), []).append(line)
    tables: dict[str, Counter[tuple[int, int]]] = {}
    for (annotator, _), lines in said.items():
        for before, after in pairwise(lines):
            if after.repeat:
                grades = [line.relevance or 0 for line in (before, after)]
                a, b = grades if graded else [min(grade, 1) for grade in grades]
                tables.setdefault(annotator, Counter())[a, b] += 1
    return tuple(
        SelfAgreement(annotator, table.total(), raw_agreement(table), cohen_kappa(table), dict(table))
        for annotator, table in sorted(tables.items())
    )


def binary(votes: Votes) -> dict[PairKey, dict[str, int]]:
    """The votes with every relevance above 0 as 1."""
    return {
        pair: {annotator: min(relevance, 1) for annotator, relevance in said.items()} for pair, said in votes.items()
    }

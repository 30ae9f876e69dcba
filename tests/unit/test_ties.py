"""Tie ranges against every permutation, and against values known by hand (FORMATS F.1, F.9, H)."""

from __future__ import annotations

import math
from itertools import chain, permutations, product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bright_inspect.domain.measures import Measure, parse_measures
from bright_inspect.domain.ties import JudgedPlace, TieRange, tie_range

MEASURES = parse_measures(
    ["nDCG nDCG@1 nDCG@3 nDCG@10 AP AP@2 AP@5 R@1 R@4 P@1 P@3 P@10 RR RR@1 RR@3 Judged@2 Judged@10"]
)
# One group of equal scores: the relevance of each document, None = unjudged.
Group = list[int | None]


def value_of(measure: Measure, ranked: Group, judged: list[int]) -> float:
    """The measure of one order, written down plainly."""
    top = ranked if measure.cutoff is None else ranked[: measure.cutoff]
    hits = [(rank, grade) for rank, grade in enumerate(top, 1) if grade is not None and grade > 0]
    relevant = sum(grade > 0 for grade in judged)
    if measure.kind == "Judged":
        return sum(grade is not None for grade in top) / len(top) if top else 0.0
    if not relevant:
        return 0.0
    if measure.kind == "nDCG":
        ideal = sorted((grade for grade in judged if grade > 0), reverse=True)[: measure.cutoff]
        most = sum(grade / math.log2(rank + 1) for rank, grade in enumerate(ideal, 1))
        return sum(grade / math.log2(rank + 1) for rank, grade in hits) / most
    if measure.kind == "AP":
        return sum(number / rank for number, (rank, _) in enumerate(hits, 1)) / relevant
    if measure.kind == "RR":
        return 1 / hits[0][0] if hits else 0.0
    return len(hits) / (relevant if measure.kind == "R" else measure.cutoff or 0)


def places_of(groups: list[Group]) -> list[JudgedPlace]:
    places, above = [], 0
    for group in groups:
        places += [JudgedPlace(grade, above, len(group)) for grade in group if grade is not None]
        above += len(group)
    return places


GROUPS = st.lists(
    st.lists(st.sampled_from([None, None, -1, 0, 1, 1, 3]), min_size=1, max_size=6), min_size=0, max_size=3
).filter(lambda groups: math.prod(math.factorial(len(group)) for group in groups) <= 20_000)


@settings(deadline=None, max_examples=60)
@given(groups=GROUPS, unlisted=st.lists(st.integers(-1, 3), max_size=2), data=st.data())
def test_equal_to_all_permutations(groups: list[Group], unlisted: list[int], data: st.DataObject) -> None:
    judged = [grade for group in groups for grade in group if grade is not None] + unlisted
    depth = sum(map(len, groups))
    shuffled = data.draw(st.permutations(places_of(groups)))
    orders = [list(chain(*order)) for order in product(*(list(permutations(group)) for group in groups))]
    for measure in data.draw(st.lists(st.sampled_from(MEASURES), min_size=3, max_size=4, unique=True)):
        values = [value_of(measure, order, judged) for order in orders]
        found = tie_range(measure, shuffled, judged, depth)
        expected = (max(values), min(values), math.fsum(values) / len(values))
        assert (found.best, found.worst, found.expected) == pytest.approx(expected, abs=1e-12, rel=0), measure


@given(
    groups=st.lists(st.tuples(st.integers(1, 40), st.lists(st.integers(0, 2), max_size=8)), max_size=5),
    measure=st.sampled_from(MEASURES),
)
def test_every_value_lies_between_worst_and_best(groups: list[tuple[int, list[int]]], measure: Measure) -> None:
    wide: list[Group] = [[*grades, *[None] * size] for size, grades in groups]
    judged = [grade for _, grades in groups for grade in grades]
    found = tie_range(measure, places_of(wide), judged, sum(map(len, wide)))
    as_listed = value_of(measure, list(chain(*wide)), judged)
    assert 0 <= found.worst <= found.expected + 1e-12 <= found.best + 2e-12 <= 1 + 3e-12
    assert found.worst - 1e-12 <= as_listed <= found.best + 1e-12
    untied = tie_range(
        measure, places_of([[grade] for group in wide for grade in group]), judged, 0 or sum(map(len, wide))
    )
    assert untied.best == untied.worst == pytest.approx(as_listed, abs=1e-12)
    assert not untied.tie_sensitive


LOG = [0, 1 / math.log2(2), 1 / math.log2(3), 1 / math.log2(4), 1 / math.log2(5)]


@pytest.mark.parametrize(
    ("measure", "places", "judged", "expected"),
    [
        # FORMATS H: a, b, c all tied with one gold.
        ("nDCG@10", [JudgedPlace(1, 0, 3)], [1], (1.0, 0.5, (1 + LOG[2] + 0.5) / 3)),
        ("RR", [JudgedPlace(1, 0, 3)], [1], (1.0, 1 / 3, (1 + 1 / 2 + 1 / 3) / 3)),
        # FORMATS F.9: sklearn's average over four tied documents with one gold.
        ("nDCG@10", [JudgedPlace(1, 0, 4)], [1], (1.0, LOG[4], 0.6404)),
        # A tie across the cutoff: two places of three are within.
        ("R@3", [JudgedPlace(1, 1, 3)], [1, 1], (0.5, 0.0, 1 / 3)),
        ("P@2", [JudgedPlace(1, 0, 1), JudgedPlace(1, 1, 4)], [1, 1], (1.0, 0.5, 0.625)),
        ("AP", [JudgedPlace(1, 0, 2), JudgedPlace(1, 0, 2)], [1, 1], (1.0, 1.0, 1.0)),
        ("RR@2", [JudgedPlace(1, 2, 5)], [1], (0.0, 0.0, 0.0)),
        ("nDCG@10", [], [], (0.0, 0.0, 0.0)),
        ("AP", [], [0, -1], (0.0, 0.0, 0.0)),
        ("nDCG@10", [JudgedPlace(-3, 0, 2)], [-3, 1], (0.0, 0.0, 0.0)),
    ],
)
def test_known_ranges(
    measure: str, places: list[JudgedPlace], judged: list[int], expected: tuple[float, float, float]
) -> None:
    found = tie_range(parse_measures([measure])[0], places, judged)
    assert (found.best, found.worst, found.expected) == pytest.approx(expected, abs=5e-5)


def test_a_group_of_thousands_keeps_its_digits() -> None:
    # BM25 fills a list with documents of score 0; the harmonic mean is known in closed form.
    found = tie_range(Measure("RR", None), [JudgedPlace(1, 0, 5000)], [1])
    assert found.expected == pytest.approx(math.fsum(1 / rank for rank in range(1, 5001)) / 5000, abs=1e-13)


def test_tie_sensitive_is_more_than_rounding() -> None:
    assert not TieRange(0.5 + 1e-10, 0.5, 0.5).tie_sensitive
    assert TieRange(0.5 + 1e-8, 0.5, 0.5).tie_sensitive


def test_judged_needs_the_depth() -> None:
    with pytest.raises(ValueError, match="depth"):
        tie_range(Measure("Judged", 10), [], [])

"""Agreement: equal to scikit-learn's kappa and the krippendorff package's alpha, and defined where they are not."""

from __future__ import annotations

import math
import random
import warnings
from collections import Counter

import krippendorff
import numpy
import pytest

from bright_inspect.judging.agreement import (
    LEVELS,
    Level,
    agreement,
    cohen_kappa,
    krippendorff_alpha,
    raw_agreement,
    self_agreement,
)
from bright_inspect.judging.history import votes_of
from tests.judging.making import judged


def random_ratings(seed: int) -> list[list[int | None]]:
    """Units by annotators, of few or many categories, with few or many gaps; some degenerate."""
    random_ = random.Random(seed)
    annotators, units = random_.randint(2, 5), random_.randint(1, 30)
    categories = random_.choice([1, 2, 2, 3, 4, 7])
    gaps = random_.choice([0, 0, 0.2, 0.7])
    agreeing = random_.random()
    rows: list[list[int | None]] = []
    for _ in range(units):
        true = random_.randrange(categories)
        row = [true if random_.random() < agreeing else random_.randrange(categories) for _ in range(annotators)]
        rows.append([None if random_.random() < gaps else value for value in row])
    return rows


def test_kappa_is_that_of_scikit_learn() -> None:
    # Here, because it takes two seconds to import, and every process of the tests collects all of them.
    from sklearn.metrics import cohen_kappa_score

    undefined = 0
    for seed in range(1000):
        pairs = [(row[0], row[1]) for row in random_ratings(seed) if row[0] is not None and row[1] is not None]
        ours = cohen_kappa(Counter(pairs))
        if not pairs:
            assert ours is None
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            theirs = cohen_kappa_score(*zip(*pairs, strict=True))
        if math.isnan(theirs):
            assert ours is None, seed
            assert len({value for pair in pairs for value in pair}) == 1
            undefined += 1
        else:
            assert ours == pytest.approx(theirs, abs=1e-12), seed
    assert undefined > 50


@pytest.mark.parametrize("level", LEVELS)
def test_alpha_is_that_of_the_krippendorff_package(level: Level) -> None:
    undefined = 0
    for seed in range(1000):
        rows = random_ratings(seed)
        ours = krippendorff_alpha([[value for value in row if value is not None] for row in rows], level)
        comparable = {v for row in rows if sum(v is not None for v in row) > 1 for v in row if v is not None}
        if len(comparable) < 2:
            assert ours is None, seed
            undefined += 1
            continue
        data = numpy.array([[math.nan if v is None else v for v in row] for row in rows], dtype=float).T
        theirs = krippendorff.alpha(reliability_data=data, level_of_measurement=level)
        assert ours == pytest.approx(theirs, abs=1e-9), seed
    assert undefined > 50


def test_alpha_of_krippendorffs_own_example() -> None:
    """The four observers of "Computing Krippendorff's alpha-reliability" (2011), part C."""
    observers = [
        [1, 2, 3, 3, 2, 1, 4, 1, 2, None, None, None],
        [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, None, 3],
        [None, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, None],
        [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, None],
    ]
    units = [[value for value in unit if value is not None] for unit in zip(*observers, strict=True)]
    assert krippendorff_alpha(units, "nominal") == pytest.approx(0.743, abs=5e-4)
    assert krippendorff_alpha(units, "ordinal") == pytest.approx(0.815, abs=5e-4)
    assert krippendorff_alpha(units, "interval") == pytest.approx(0.849, abs=5e-4)


def test_what_cannot_be_said_is_none() -> None:
    assert (raw_agreement({}), cohen_kappa({})) == (None, None)
    assert (raw_agreement({(1, 1): 5}), cohen_kappa({(1, 1): 5})) == (1.0, None)
    assert cohen_kappa({(1, 0): 5}) == 0.0
    for units in ([], [[1]], [[1], [0]], [[1, 1], [1, 1]]):
        assert krippendorff_alpha(units) is None
    assert krippendorff_alpha([[1, 1], [0, 0]]) == 1.0


def test_conflicts_and_tables() -> None:
    lines = [judged("a", 1), judged("a", 1, "bob"), judged("b", 2), judged("b", 0, "bob"), judged("c", 2)]
    lines += [judged("c", 1, "bob"), judged("d", None), judged("d", 1, "bob"), judged("e", 1)]
    found = agreement(votes_of(lines))
    (both,) = found.between
    assert (found.annotators, found.pairs) == (("anna", "bob"), 3)
    assert (both.first, both.second, both.common, both.table) == ("anna", "bob", 3, {(1, 1): 2, (1, 0): 1})
    assert both.raw == pytest.approx(2 / 3)
    assert {pair[3]: dict(said) for pair, said in found.conflicts.items()} == {"b": {"anna": 1, "bob": 0}}
    graded = agreement(votes_of(lines), graded=True)
    assert {pair[3] for pair in graded.conflicts} == {"b", "c"}


def test_only_repeated_items_are_self_agreement() -> None:
    lines = [judged("a", 1), judged("b", 1), judged("c", 1), judged("c", 0), judged("a", 0, repeat=True)]
    lines += [judged("b", 2, repeat=True), judged("d", 1, repeat=True), judged("c", None, repeat=True)]
    (own,) = self_agreement(lines, graded=False)
    assert (own.annotator, own.repeated, own.raw, own.table) == ("anna", 2, 0.5, {(1, 0): 1, (1, 1): 1})
    (own,) = self_agreement(lines)
    assert own.table == {(1, 0): 1, (1, 2): 1}

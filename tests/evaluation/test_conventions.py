"""Every convention against what the tool itself gave for the same small files.

MEASURED, MEANS and RANX_ORDER hold what these versions gave: trec_eval 9.0.4 (the C program, which prints four digits),
ranx 0.3.21, scikit-learn 1.9.1, ir_measures 0.4.3, beir 2.2.0 and mteb 2.26.24, with pytrec-eval-terrier 0.5.11. For
trec_eval 10.0, which was not at hand, FORMATS F and H stand.
"""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bright_inspect.domain.measures import parse_measures
from bright_inspect.errors import UsageError
from bright_inspect.evaluation.conventions import ListedDoc, QueryCase, find_convention
from bright_inspect.evaluation.conventions.orders import numba_argsort

NDCG, AP, RR, RR10 = parse_measures(["nDCG@10 AP@10 RR RR@10"])
Listed = list[tuple[str, float]]
Grades = dict[str, int]


def case(listed: Listed | None, relevance: Grades, query_id: str = "1", excluded: tuple[str, ...] = ()) -> QueryCase:
    docs = None if listed is None else tuple(ListedDoc(*row) for row in listed)
    return QueryCase(query_id, docs, relevance, frozenset(excluded))


# The small files: the list in file order, and the judgments.
FILES: dict[str, tuple[Listed, Grades]] = {
    "tied, first listed is gold": ([("a", 1.0), ("b", 1.0), ("c", 1.0)], {"a": 1}),
    "tied, last listed is gold": ([("a", 1.0), ("b", 1.0), ("c", 1.0)], {"c": 1}),
    "40 tied": ([(f"d{n:02}", 0.0) for n in range(40)], {"d21": 1}),
    "17 tied": ([(f"d{n:02}", 0.0) for n in range(17)], {"d03": 1, "d16": 2}),
    "ids by bytes": ([("Z", 1.0), ("a", 1.0), ("é", 1.0), ("日", 1.0), ("😀", 1.0)], {"é": 1}),
    "graded": ([("b", 2.0), ("a", 1.0)], {"a": 3, "b": 1}),
    "negative": ([("bad", 2.0), ("gold", 1.0)], {"bad": -100, "gold": 1}),
    "only negative": ([("a", 2.0), ("b", 1.0)], {"a": -1}),
    "only zeros": ([("a", 2.0), ("b", 1.0)], {"a": 0}),
    "one of five golds": ([("x", 2.0), ("g1", 1.0)], {f"g{n}": 1 for n in range(1, 6)}),
    "float32": ([("a", 0.123456781), ("b", 0.12345678)], {"a": 1}),
    "overflow": ([("a", 1e40), ("b", 1e39)], {"a": 1}),
    "infinite": ([("b", math.inf), ("a", 1.0)], {"a": 1}),
    "own id": ([("1", 2.0), ("a", 1.0)], {"a": 1}),
    "twice": ([("a", 0.9), ("b", 0.7), ("a", 0.5)], {"a": 1}),
    "NaN": ([("x", math.nan), ("a", 1.0), ("b", 0.5)], {"a": 1}),
    "unsorted": ([("b", 0.5), ("a", 0.9)], {"a": 1}),
    "one document": ([("a", 0.5)], {"a": 1}),
}
STOPS, HIDDEN = "stops", "undefined"
Expected = tuple[float, float, float] | str
# nDCG@10, AP@10 and RR, for beir and mteb RR@10; nDCG@10 alone for sklearn.
MEASURED: dict[str, dict[str, Expected | float]] = {
    "tied, first listed is gold": {
        "trec_eval-9": (0.5, 0.3333, 0.3333), "ranx": (1, 1, 1), "sklearn": 0.71031,
        "beir": (0.5, 0.33333, 1), "mteb": (0.5, 0.33333, 0.333333), "ir_measures": (0.5, 0.333333, 0.333333),
    },
    "tied, last listed is gold": {
        "trec_eval-9": (1, 1, 1), "ranx": (0.5, 0.333333, 0.333333), "sklearn": 0.71031, "beir": (1, 1, 0.33333),
        "mteb": (1, 1, 1), "ir_measures": (1, 1, 1),
    },
    "40 tied": {
        "trec_eval-9": (0, 0, 0.0526), "ranx": (1, 1, 1), "sklearn": 0.113589, "beir": (0, 0, 0), "mteb": (0, 0, 0),
        "ir_measures": (0, 0, 0.052632),
    },
    "17 tied": {
        "trec_eval-9": (0.7602, 0.5, 1), "ranx": (0.239812, 0.0625, 0.125), "sklearn": 0.304761,
        "beir": (0.76019, 0.5, 0.25), "mteb": (0.76019, 0.5, 1), "ir_measures": (0.760188, 0.5, 1),
    },
    "ids by bytes": {
        "trec_eval-9": (0.5, 0.3333, 0.3333), "ranx": (0.5, 0.333333, 0.333333), "sklearn": 0.589692,
        "beir": (0.5, 0.33333, 0.33333), "mteb": (0.5, 0.33333, 0.333333),
    },
    "graded": {
        "trec_eval-9": (0.7967, 1, 1), "ranx": (0.796708, 1, 1), "sklearn": 0.796708, "beir": (0.79671, 1, 1),
        "mteb": (0.79671, 1, 1), "bright": (1, 1, 1),
    },
    "negative": {
        "trec_eval-9": (0.6309, 0.5, 0.5), "ranx": (0.63093, 0.5, 0.5), "sklearn": STOPS, "beir": (0.63093, 0.5, 0.5),
        "mteb": (0.63093, 0.5, 0.5), "bright": (0.63093, 0.5, 0.5),
    },
    "only negative": {"trec_eval-9": STOPS, "ranx": (0, 0, 0), "sklearn": STOPS},
    "only zeros": {
        "trec_eval-9": (0, 0, 0), "ranx": (0, 0, 0), "sklearn": 0, "beir": (0, 0, 0), "mteb": (0, 0, 0),
        "ir_measures": (0, 0, 0),
    },
    "one of five golds": {
        "trec_eval-9": (0.214, 0.1, 0.5), "ranx": (0.213986, 0.1, 0.5), "sklearn": 0.63093, "beir": (0.21399, 0.1, 0.5),
        "mteb": (0.21399, 0.1, 0.5),
    },
    "float32": {
        "trec_eval-9": (0.6309, 0.5, 0.5), "trec_eval-10": (1, 1, 1), "ranx": (1, 1, 1), "sklearn": 1,
        "beir": (0.63093, 0.5, 1), "mteb": (0.63093, 0.5, 1), "ir_measures": (0.63093, 0.5, 0.5),
    },
    "overflow": {
        "trec_eval-9": (0.6309, 0.5, 0.5), "ranx": (1, 1, 1), "sklearn": 1, "beir": (0.63093, 0.5, 1),
        "mteb": (0.63093, 0.5, 1),
    },
    "infinite": {
        "trec_eval-9": (0.6309, 0.5, 0.5), "ranx": (0.63093, 0.5, 0.5), "sklearn": STOPS, "beir": (0.63093, 0.5, 0.5),
        "mteb": (0.63093, 0.5, 0.5), "ir_measures": (0.63093, 0.5, 0.5),
    },
    "own id": {
        "trec_eval-9": (0.6309, 0.5, 0.5), "ranx": (0.63093, 0.5, 0.5), "sklearn": 0.63093, "beir": (1, 1, 1),
        "mteb": (0.63093, 0.5, 0.5),
    },
    "twice": {
        "trec_eval-9": STOPS, "ranx": (0.63093, 0.5, 0.5), "sklearn": 0.919721, "beir": (0.63093, 0.5, 0.5),
        "mteb": (0.63093, 0.5, 0.5), "ir_measures": (0.63093, 0.5, 0.5),
    },
    "NaN": {
        "trec_eval-9": HIDDEN, "ranx": (1, 1, 1), "sklearn": STOPS, "beir": HIDDEN, "mteb": HIDDEN,
    },
    "unsorted": {
        "trec_eval-9": (1, 1, 1), "ranx": (1, 1, 1), "sklearn": 1, "beir": (1, 1, 1), "mteb": (1, 1, 1),
        "file-order": (0.63093, 0.5, 0.5),
    },
    "one document": {
        "trec_eval-9": (1, 1, 1), "ranx": (1, 1, 1), "sklearn": STOPS, "beir": (1, 1, 1), "mteb": (1, 1, 1),
    },
}  # fmt: skip


@pytest.mark.parametrize(
    ("file", "name", "expected"),
    [(file, name, expected) for file, tools in MEASURED.items() for name, expected in tools.items()],
)
def test_what_the_tools_gave(file: str, name: str, expected: Expected | float) -> None:
    convention = find_convention(name)
    measures = (NDCG,) if name == "sklearn" else (NDCG, AP, RR10 if name in ("beir", "mteb") else RR)
    found = [convention.query_value(measure, case(*FILES[file])) for measure in measures]
    if isinstance(expected, str):
        assert {value.outcome for value in found} == {expected}
        assert all(value.value is None and value.reason for value in found)
        return
    wanted = expected if isinstance(expected, tuple) else (expected,)
    assert [value.value for value in found] == pytest.approx(wanted, abs=5.1e-5 if "trec_eval" in name else 5.1e-6)


# Where ranx 0.3.21 puts the documents 0, 1, 2, ... of a tied list: the first twelve ranks.
RANX_ORDER = {
    15: [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11],
    16: [14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3],
    17: [15, 14, 13, 12, 11, 10, 9, 16, 8, 6, 5, 4],
    40: [21, 22, 23, 24, 25, 26, 27, 28, 20, 29, 31, 32],
    100: [73, 72, 71, 70, 69, 68, 67, 66, 65, 64, 63, 62],
}


@pytest.mark.parametrize("size", RANX_ORDER)
def test_where_numba_leaves_equal_values(size: int) -> None:
    assert numba_argsort([0.0] * size)[:12] == RANX_ORDER[size]


@given(st.lists(st.sampled_from([0.0, -0.0, 1.0, -1.0, 2.5, math.inf, -math.inf, math.nan]), max_size=80))
def test_numba_argsort_sorts(values: list[float]) -> None:
    order = numba_argsort(values)
    assert sorted(order) == list(range(len(values)))
    ranked = [values[index] for index in order]
    numbers = [value for value in ranked if not math.isnan(value)]
    assert numbers == sorted(numbers)
    assert all(math.isnan(value) for value in ranked[len(numbers) :])


def judged(*ids: str) -> Grades:
    return dict.fromkeys(ids, 1)


ONE: Listed = [("a", 1.0)]
TASKS: dict[str, list[QueryCase]] = {
    "one missing": [case(ONE, judged("a"), "1"), case(None, judged("b"), "2")],
    "zero and missing": [case(ONE, judged("a"), "q1"), case(ONE, {"a": 0}, "q2"), case(None, judged("a"), "q3")],
    "thirds": [
        case(ONE, judged("a"), "1"),
        case([("x", 2.0), ("a", 1.0)], judged("a"), "2"),
        case([("x", 2.0), ("y", 1.5), ("a", 1.0)], judged("a"), "3"),
    ],
    "no judgments": [case(ONE, judged("a"), "1"), case(ONE, {}, "2")],
    "an empty list": [case(ONE, judged("a"), "1"), case([], judged("a"), "2")],
    "nothing shared": [case(None, judged("a"), "1")],
}
# The mean nDCG@10 and how many queries it is over; None where the tool gives none.
MEANS: dict[str, dict[str, tuple[float | None, int]]] = {
    "one missing": {
        "bright-inspect": (0.5, 2), "trec_eval-9": (1, 1), "trec_eval-10": (0.5, 2), "beir": (1, 1), "mteb": (1, 1),
        "bright": (1, 1), "ir_measures": (0.5, 2), "ranx": (0.5, 2), "missing-dropped": (1, 1),
    },
    "zero and missing": {
        "bright-inspect": (1 / 3, 3), "trec_eval-9": (0.5, 2), "trec_eval-10": (0.3333, 3), "beir": (0.5, 2),
        "mteb": (0.5, 2), "ir_measures": (1 / 3, 3), "ranx": (1 / 3, 3),
    },
    "thirds": {
        "bright-inspect": (0.7103099178571526, 3), "trec_eval-9": (0.7103, 3), "trec_eval-10": (0.7103, 3),
        "beir": (0.71031, 3), "mteb": (0.71031, 3), "bright": (0.71031, 3), "ir_measures": (0.7103099178571526, 3),
        "ranx": (0.7103099178571526, 3),
    },
    "no judgments": {
        "bright-inspect": (1, 1), "trec_eval-9": (1, 1), "beir": (1, 1), "mteb": (1, 1), "ranx": (0.5, 2),
        "ir_measures": (0.5, 2),
    },
    "an empty list": {
        "bright-inspect": (0.5, 2), "trec_eval-9": (1, 1), "beir": (0.5, 2), "mteb": (0.5, 2), "ranx": (0.5, 2),
        "ir_measures": (0.5, 2),
    },
    "nothing shared": {
        "trec_eval-9": (None, 0), "beir": (None, 0), "mteb": (None, 0), "ranx": (0, 1), "ir_measures": (0, 1),
    },
}  # fmt: skip


@pytest.mark.parametrize(
    ("task", "name", "expected"),
    [(task, name, expected) for task, tools in MEANS.items() for name, expected in tools.items()],
)
def test_means_as_the_tools_report_them(task: str, name: str, expected: tuple[float | None, int]) -> None:
    mean = find_convention(name).mean(NDCG, TASKS[task])
    assert mean.value == pytest.approx(expected[0], abs=1e-12)
    assert mean.counted == expected[1]
    assert mean.queries == len(TASKS[task])
    assert bool(mean.note) or mean.counted == mean.queries


def test_ranx_moves_ties_again_to_add_missing_queries() -> None:
    # ranx 0.3.21, make_comparable=True, 40 tied documents and a second query that the run lacks: mean RR by the gold.
    measured = {0: 1 / 18, 7: 1 / 14, 20: 1 / 58, 21: 1 / 42, 22: 1 / 44, 31: 1 / 62}
    listed = [(f"d{number:02}", 0.0) for number in range(40)]
    for gold, expected in measured.items():
        task = [case(listed, {f"d{gold:02}": 1}), case(None, judged("a"), "2")]
        assert find_convention("ranx").mean(RR, task).value == pytest.approx(expected, abs=1e-12)


def test_means_of_rr_are_the_tools_own() -> None:
    # beir 2.2.0 divides by all judged queries here, and only here; mteb 2.26.24 does not round it.
    assert find_convention("beir").mean(RR10, TASKS["one missing"]).value == 0.5
    assert find_convention("beir").mean(RR10, TASKS["thirds"]).value == 0.61111
    assert find_convention("mteb").mean(RR10, TASKS["thirds"]).value == pytest.approx(11 / 18, abs=1e-12)
    assert find_convention("mteb").mean(RR10, TASKS["one missing"]).value == 1.0


def test_what_a_mean_rests_on_is_said() -> None:
    task = TASKS["one missing"]
    assert "with -c; without it the tool stops" in find_convention("trec_eval-10").mean(NDCG, task).note
    assert find_convention("trec_eval-9").mean(NDCG, task).note == "over 1 of 2 queries; with -c 0.5000 over 2"
    assert "make_comparable=True" in find_convention("ranx").mean(NDCG, task).note
    stopped = find_convention("trec_eval-9").mean(NDCG, [*task, case(*FILES["twice"], "9")])
    assert stopped.value is None
    assert stopped.note == "query 9: the tool stops: a is listed more than once"


@pytest.mark.parametrize(
    ("name", "lacking"),
    [
        ("trec_eval-9", "RR@10 Judged@10"),
        ("trec_eval-10", "RR@10 Judged@10"),
        ("bright", "nDCG AP RR@10 Judged@10"),
        ("beir", "nDCG AP RR Judged@10"),
        ("mteb", "nDCG AP RR Judged@10"),
        ("ranx", "Judged@10"),
        ("sklearn", "AP@10 AP R@10 P@10 RR RR@10 Judged@10"),
        ("exponential-gain", "AP@10 AP R@10 P@10 RR RR@10 Judged@10"),
        ("ideal-from-retrieved", "AP@10 AP R@10 P@10 RR RR@10 Judged@10"),
        ("bright-inspect", ""),
        ("ir_measures", ""),
    ],
)
def test_measures_that_a_tool_lacks(name: str, lacking: str) -> None:
    convention = find_convention(name)
    for measure in parse_measures(["nDCG@10 nDCG AP@10 AP R@10 P@10 RR RR@10 Judged@10"]):
        value = convention.query_value(measure, case(*FILES["graded"]))
        assert (value.outcome == "lacking") == (str(measure) in lacking.split()), measure
        if value.outcome == "lacking":
            assert (value.value, convention.mean(measure, []).value) == (None, None)
            assert str(measure) in value.reason


def test_the_mistaken_ideal() -> None:
    # FORMATS F.9: five golds, one retrieved.
    golds = {f"g{number}": 1 for number in range(1, 6)}
    for rank, wrong, right in ((1, 1.0, 0.3392), (2, 0.6309, 0.2140), (3, 0.5, 0.1696)):
        listed = [(f"x{place}", 10.0 - place) for place in range(1, 11)]
        listed[rank - 1] = ("g1", 10.0 - rank)
        for name, value in (("ideal-from-retrieved", wrong), ("sklearn", wrong), ("trec_eval-9", right)):
            found = find_convention(name).query_value(NDCG, case(listed, golds)).value
            assert found == pytest.approx(value, abs=5e-5), (name, rank)


def test_exponential_gain() -> None:
    # ranx 0.3.21, ndcg_burges@10 of FORMATS F.7's example.
    found = find_convention("exponential-gain").query_value(NDCG, case(*FILES["graded"])).value
    assert found == pytest.approx(0.7098, abs=5e-5)


def test_an_unknown_convention_is_refused() -> None:
    assert find_convention(" TREC_eval-9 ").name == "trec_eval-9"
    with pytest.raises(UsageError, match="unknown convention 'trec'"):
        find_convention("trec")

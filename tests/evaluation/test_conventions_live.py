"""Conventions against tools that run here, on real ties, and what they say of themselves."""

from __future__ import annotations

import json
import math
from bisect import bisect_left, bisect_right
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bright_inspect.domain.measures import Measure, parse_measure, parse_measures
from bright_inspect.domain.names import BRIGHT_TASKS
from bright_inspect.domain.ties import JudgedPlace, TieRange, tie_range
from bright_inspect.evaluation.conventions import CONVENTIONS, OURS, QueryCase, find_convention
from tests.evaluation.test_conventions import NDCG, ONE, RR, Grades, Listed, case
from tests.evaluation.test_measures import DOC_IDS, SCORES
from tests.formats.qrels_reading import read_qrels

LISTS = st.lists(st.tuples(st.sampled_from(DOC_IDS), st.sampled_from(SCORES)), min_size=1, max_size=12)
GRADES = st.dictionaries(st.sampled_from([*DOC_IDS, "unlisted"]), st.integers(-1, 3), min_size=1, max_size=8).filter(
    lambda grades: max(grades.values()) > 0
)
TREC_MEASURES = parse_measures(["nDCG nDCG@3 nDCG@10 AP AP@3 R@1 R@5 P@1 P@5 RR"])


def pytrec_value(measure: Measure, docs: dict[str, float], relevance: Grades) -> float:
    import pytrec_eval

    name = {"nDCG": "ndcg", "AP": "map", "R": "recall", "P": "P", "RR": "recip_rank"}[measure.kind]
    if measure.cutoff is None:
        asked = key = name
    else:
        name += "_cut" if measure.kind in ("nDCG", "AP") else ""
        asked, key = f"{name}.{measure.cutoff}", f"{name}_{measure.cutoff}"
    found = pytrec_eval.RelevanceEvaluator({"1": relevance}, {asked}).evaluate({"1": docs})
    return float(found["1"][key])


@settings(deadline=None, max_examples=60)
@given(listed=LISTS, relevance=GRADES, excluded=st.sets(st.sampled_from(DOC_IDS), max_size=3))
def test_equal_to_pytrec_eval(listed: Listed, relevance: Grades, excluded: set[str]) -> None:
    binary = {doc_id: int(grade > 0) for doc_id, grade in relevance.items()}
    last = dict(listed)
    allowed = {doc_id: score for doc_id, score in last.items() if doc_id not in excluded}
    best: dict[str, float] = {}
    for doc_id, score in listed:
        best[doc_id] = max(score, best.get(doc_id, -math.inf))
    one = case(listed, relevance, excluded=tuple(excluded))
    for measure in TREC_MEASURES:
        expected = {
            "bright-inspect": ({doc_id: best[doc_id] for doc_id in allowed}, relevance),
            "bright": (allowed, binary),
            "no-exclusion": (best, relevance),
            "beir": (last, relevance),
            "mteb": (last, relevance),
            "ir_measures": (last, relevance),
        }
        if len(last) == len(listed):
            expected["trec_eval-9"] = (last, relevance)
        for name, (docs, grades) in expected.items():
            convention = find_convention(name)
            if convention.lacks(measure):
                continue
            value = convention.query_value(measure, one).value
            assert value == pytest.approx(pytrec_value(measure, docs, grades), abs=1e-9), (name, measure)


@settings(deadline=None, max_examples=40)
@given(listed=LISTS, relevance=GRADES)
def test_equal_to_ir_measures(listed: Listed, relevance: Grades) -> None:
    import ir_measures

    for measure in parse_measures(["nDCG@3 nDCG AP AP@3 R@5 P@5 RR RR@1 RR@5 Judged@1 Judged@5"]):
        asked = ir_measures.parse_measure(str(measure))
        (found,) = ir_measures.iter_calc([asked], {"1": relevance}, {"1": dict(listed)})
        value = find_convention("ir_measures").query_value(measure, case(listed, relevance)).value
        assert value == pytest.approx(found.value, abs=1e-9), measure


@settings(deadline=None, max_examples=60)
@given(listed=LISTS, relevance=GRADES, excluded=st.sets(st.sampled_from(DOC_IDS), max_size=3))
def test_every_convention_explains_itself_in_one_line(listed: Listed, relevance: Grades, excluded: set[str]) -> None:
    one = case(listed, relevance, excluded=tuple(excluded))
    for convention in CONVENTIONS:
        for measure in (NDCG, Measure("RR", 2), Measure("Judged", 3), RR):
            value, why = convention.query_value(measure, one), convention.why(measure, one)
            assert why
            assert "\n" not in why
            if value.value is not None:
                assert 0 <= value.value <= 1 + 1e-12 or convention.duplicates == "all"
                ours = OURS.query_value(measure, one).value
                assert ours is not None
                if convention is not OURS and abs(value.value - ours) > 1e-9:
                    assert not why.startswith((":", "the same")), (convention.name, measure, why)


@pytest.mark.parametrize(
    ("name", "listed", "relevance", "measure", "said"),
    [
        ("bright-inspect", ONE, {"a": 1}, "nDCG@10", "this is our own rule"),
        ("bright", ONE, {"a": 1}, "nDCG@10", "the same as ours here, 1.0000"),
        (
            "file-order", [("a", 1.0), ("c", 1.0)], {"a": 1}, "nDCG@10",
            "a and c tie at 1.0: a first (the file's order), by ours c (document id descending); "
            "a at rank 1, by ours 2: 1.0000, ours 0.6309",
        ),
        (
            "trec_eval-10", [("a", 0.123456781), ("b", 0.12345678)], {"a": 1}, "RR",
            "a (0.123456781) before b (0.12345678), which only float64 tells apart, by ours a tie; "
            "a at rank 1, by ours 2: 1.0000, ours 0.5000",
        ),
        (
            "file-order", [("b", 0.5), ("a", 0.9)], {"a": 1}, "RR",
            "b (0.5) before a (0.9) by the file's order; a at rank 2, by ours 1: 0.5000, ours 1.0000",
        ),
        ("no-exclusion", [("x", 2.0), ("a", 1.0)], {"a": 1}, "RR",
         "excluded x stays in at rank 1: 0.5000, ours 1.0000"),
        ("beir", [("1", 2.0), ("a", 1.0)], {"a": 1}, "nDCG@10",
         "1 is removed, its id is the query's: 1.0000, ours 0.6309"),
        ("bright", [("b", 2.0), ("a", 1.0)], {"a": 3, "b": 1}, "nDCG@10",
         "a with grade 3 gains 1, by ours 3: 1.0000, ours 0.7967"),
        ("ranx", [("a", 0.9), ("b", 0.7), ("a", 0.5)], {"a": 1}, "RR",
         "a is listed 2 times (0.9, 0.5): the last counts, by ours the best; "
         "b (0.7) before a (0.5); a at rank 2, by ours 1: 0.5000, ours 1.0000"),
        ("ideal-from-retrieved", [("x", 2.0), ("a", 1.0)], {"a": 1, "b": 1}, "nDCG@10",
         "the ideal is over the 1 of 2 golds that were retrieved: 0.6309, ours 0.3869"),
        ("trec_eval-9", [("a", 0.9), ("a", 0.5)], {"a": 1}, "RR", "the tool stops: a is listed more than once"),
        ("mteb", None, {"a": 1}, "nDCG@10", "the run has no list for this query: left out of the mean"),
    ],
)  # fmt: skip
def test_why(name: str, listed: Listed | None, relevance: Grades, measure: str, said: str) -> None:
    one = case(listed, relevance, excluded=("x",) if name == "no-exclusion" else ())
    assert find_convention(name).why(parse_measure(measure), one) == said


# nDCG@10 x 100 of RaDeR's published LLM scores, which are full of ties: the means over the 12 tasks of FORMATS F.8, and
# what ranx 0.3.21 and scikit-learn 1.9.1 gave for single tasks.
RADER_MEANS = {"bright-inspect": 31.78, "file-order": 38.81, "best": 50.31, "worst": 24.16, "expected": 33.00}
RADER_TASKS = {
    "aops": {"ranx": 8.12, "sklearn": 10.31},
    "biology": {"ranx": 52.49, "sklearn": 54.65},
    "earth_science": {"ranx": 49.36, "sklearn": 51.49},
    "economics": {"ranx": 29.16, "sklearn": 29.65},
}


def rader_cases(folder: Path, task: str) -> list[QueryCase]:
    run = json.loads((folder / "rader" / task / "gpt4_score.json").read_bytes())
    qrels = read_qrels(folder / "qrels" / f"qrels.bright-{task.replace('_', '-')}.txt").rows
    relevance: dict[str, Grades] = {}
    for query_id, doc_id, grade in qrels:
        relevance.setdefault(query_id, {})[doc_id] = grade
    return [
        case(list(run[query_id].items()) if query_id in run else None, grades, query_id)
        for query_id, grades in relevance.items()
    ]


def range_of(one: QueryCase) -> TieRange:
    scores = sorted(-doc.score for doc in one.listed or ())
    places = [
        JudgedPlace(
            one.relevance[doc.doc_id],
            bisect_left(scores, -doc.score),
            bisect_right(scores, -doc.score) - bisect_left(scores, -doc.score),
        )
        for doc in one.listed or ()
        if doc.doc_id in one.relevance
    ]
    return tie_range(NDCG, places, list(one.relevance.values()))


def test_real_ties(bright_data: Path) -> None:
    totals: dict[str, float] = dict.fromkeys(RADER_MEANS, 0.0)
    for task in BRIGHT_TASKS:
        cases = rader_cases(bright_data, task)
        for name in ("bright-inspect", "file-order"):
            totals[name] += 100 * (find_convention(name).mean(NDCG, cases).value or 0) / 12
        ranges = [range_of(one) for one in cases]
        for name in ("best", "worst", "expected"):
            totals[name] += 100 * sum(getattr(found, name) for found in ranges) / len(cases) / 12
        for name, expected in RADER_TASKS.get(task, {}).items():
            value = find_convention(name).mean(NDCG, cases).value
            assert value is not None
            assert 100 * value == pytest.approx(expected, abs=0.005), (task, name)
    assert totals == pytest.approx(RADER_MEANS, abs=0.005)

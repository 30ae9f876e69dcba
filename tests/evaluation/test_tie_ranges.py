"""The range of values over tie order, in SQL, against the closed forms in Python, which permutations check."""

from __future__ import annotations

import json
import statistics
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bright_inspect.domain.measures import parse_measure
from bright_inspect.domain.ordering import TieRule
from bright_inspect.domain.rankings import QueryKey
from bright_inspect.domain.ties import JudgedPlace, TieRange, tie_range
from bright_inspect.evaluation.tie_ranges import tied_at_cutoff
from bright_inspect.store.query_view import read_query
from tests.support import command, example, opened_runs, scores_of, write_bright, write_qrels, write_trec

MEASURES = ("nDCG@3", "nDCG", "P@2", "R@4", "AP", "AP@3", "RR", "RR@2")
DOCS = [f"d{number}" for number in range(9)]


@st.composite
def cases(draw: st.DrawFn) -> tuple[dict[str, float], set[str], set[str]]:
    """A query's scores, golds and excluded documents."""
    scores = draw(st.dictionaries(st.sampled_from(DOCS), st.sampled_from([0.5, 0.5 + 1e-9, 1.0, 2.0]), min_size=1))
    excluded = draw(st.sets(st.sampled_from(DOCS), max_size=3))
    golds = draw(st.sets(st.sampled_from([doc for doc in DOCS if doc not in excluded]), min_size=1, max_size=5))
    return scores, golds, excluded


# Few examples of many queries: what takes time is each measure's statement, not the rows that it reads.
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=5)
@given(queries=st.lists(cases(), min_size=10, max_size=16))
@pytest.mark.parametrize("convert", [False, True])
def test_ranges_are_those_of_the_closed_forms(
    tmp_path: Path, convert: bool, queries: list[tuple[dict[str, float], set[str], set[str]]]
) -> None:
    rows = [
        example(str(number), sorted(golds), excluded=sorted(excluded))
        for number, (_, golds, excluded) in enumerate(queries)
    ]
    data = write_bright(tmp_path / "data", {"biology": rows})
    run = write_trec(tmp_path / "biology.trec", {str(number): scores for number, (scores, _, _) in enumerate(queries)})
    if convert:
        with opened_runs(run, data=data) as opening:
            opening.convert()
    with opened_runs(run, data=data) as opening:
        for measure in MEASURES:
            (score,) = scores_of(opening, measure)
            wanted = {str(number): range_by_closed_form(measure, *query) for number, query in enumerate(queries)}
            for query_id, closed in wanted.items():
                own = score.per_query[query_id]
                found = score.ties.get(query_id, TieRange(own, own, own))
                for name in ("best", "worst", "expected"):
                    assert getattr(found, name) == pytest.approx(getattr(closed, name), abs=1e-12), (measure, name)
                assert found.tie_sensitive == closed.tie_sensitive
                assert found.worst - 1e-12 <= own <= found.best + 1e-12
            assert score.best == pytest.approx(statistics.fmean(each.best for each in wanted.values()), abs=1e-12)
            assert score.worst == pytest.approx(statistics.fmean(each.worst for each in wanted.values()), abs=1e-12)
            expected = statistics.fmean(each.expected for each in wanted.values())
            assert score.expected == pytest.approx(expected, abs=1e-12)
            assert score.tie_sensitive == sum(each.tie_sensitive for each in wanted.values())


def range_by_closed_form(measure: str, scores: dict[str, float], golds: set[str], excluded: set[str]) -> TieRange:
    kept = {doc: float(np.float32(value)) for doc, value in scores.items() if doc not in excluded}
    places = [
        JudgedPlace(1, sum(other > kept[doc] for other in kept.values()), sum(v == kept[doc] for v in kept.values()))
        for doc in golds & kept.keys()
    ]
    return tie_range(parse_measure(measure), places, [1] * len(golds), len(kept))


def test_large_groups(tmp_path: Path) -> None:
    docs = {f"{number:04}": float(number < 7) for number in range(1000)}
    data = write_bright(tmp_path / "data", {"biology": [example("1", ["0003", "0500", "0501", "0999"])]})
    with opened_runs(write_trec(tmp_path / "biology.trec", {"1": docs}), data=data) as opening:
        for measure in MEASURES:
            places = [JudgedPlace(1, 0, 7), *[JudgedPlace(1, 7, 993)] * 3]
            wanted = tie_range(parse_measure(measure), places, [1] * 4, 1000)
            (score,) = scores_of(opening, measure)
            assert score.expected == pytest.approx(wanted.expected, abs=1e-10)
            assert (score.best, score.worst) == pytest.approx((wanted.best, wanted.worst), abs=1e-12)


@pytest.mark.parametrize(
    ("scores", "cutoff", "tied"),
    [
        ([3, 2, 2, 1], 2, 1),
        ([3, 2, 2, 1], 1, 0),
        ([3, 2, 2, 1], 3, 0),
        ([3, 2, 2], 3, 0),
        ([1.0, 1.0 + 1e-9], 1, 1),
        ([], 1, 0),
    ],
)
def test_ties_across_the_cutoff(tmp_path: Path, scores: list[float], cutoff: int, tied: int) -> None:
    """The excluded document would part, or fill up, every list if it were counted."""
    data = write_bright(tmp_path / "data", {"biology": [example("1", ["a0"], excluded=["x"])]})
    docs = {f"a{number}": float(score) for number, score in enumerate(scores)} | {"x": 2.0}
    with opened_runs(write_trec(tmp_path / "biology.trec", {"1": docs}), data=data) as opening:
        counts = tied_at_cutoff(opening.session, opening.session.cursor, cutoff)
        assert counts.get((0, "bright", "biology"), 0) == tied


@pytest.mark.parametrize(("ties", "order"), [("trec", "dcba"), ("float64", "cadb"), ("file", "acbd"), ("rank", "cadb")])
def test_tie_rules_order_the_list(tmp_path: Path, ties: TieRule, order: str) -> None:
    lines = [("b", 4, "1.0"), ("a", 2, "1.000000001"), ("d", 3, "1.0"), ("c", 1, "1.000000001")]
    (tmp_path / "biology.trec").write_text("".join(f"1 Q0 {doc} {rank} {score} t\n" for doc, rank, score in lines))
    data = write_bright(tmp_path / "data", {"biology": [example("1", ["a"])]})
    qrels = [write_qrels(tmp_path / f"biology.{gold}.txt", {"1": {gold: 1}}) for gold in "abcd"]
    with opened_runs(tmp_path / "biology.trec", data=data, qrels=qrels, ties=ties) as opening:
        for gold in "abcd":
            opening.session.collections.use_layer(opening.session.cursor, gold)
            assert scores_of(opening, "RR")[0].mean == pytest.approx(1 / (order.index(gold) + 1)), gold
        opening.convert()
        ranking = read_query(opening.session, opening.session.cursor, QueryKey("bright", "biology", "1")).rankings[0]
        assert ranking is not None
        assert "".join(doc.doc_id for doc in ranking.docs) == order
    with opened_runs(tmp_path / "biology.trec", data=data, ties=ties) as again:
        assert scores_of(again, "RR")[0].mean == pytest.approx(1 / (order.index("a") + 1))


@pytest.mark.parametrize(("ties", "mean"), [("trec", 31.78), ("file", 38.81)])
def test_published_reranker_by_tie_order(bright_data: Path, ties: str, mean: float) -> None:
    """FORMATS F.8: the same file scores 24.2 to 50.3."""
    done = command("eval", bright_data / "rader", "--data", bright_data / "bright", "--ties", ties, "--json")
    (over_tasks,) = json.loads(done.stdout)["means_over_tasks"]
    found = {name: round(100 * over_tasks[name], 2) for name in ("mean", "best", "worst", "expected")}
    assert found == {"mean": mean, "best": 50.31, "worst": 24.16, "expected": 33.00}
    assert (over_tasks["tied_at_cutoff"], over_tasks["tie_sensitive"]) == (1306, 908)
    questions = [r for r in json.loads(done.stdout)["results"] if r["task"] == "theoremqa_questions"]
    assert ties != "trec" or round(100 * questions[0]["mean"], 2) == 23.49

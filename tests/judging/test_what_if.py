"""What decisions make of the scores, against scoring everything again."""

from __future__ import annotations

import random
import statistics
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bright_inspect.domain.measures import parse_measure
from bright_inspect.domain.rankings import QueryKey
from bright_inspect.evaluation.scores import task_scores
from bright_inspect.judging.candidates import CandidatePool
from bright_inspect.judging.ranked import document_ranks
from bright_inspect.judging.what_if import WhatIf, load_what_if
from bright_inspect.store.session import Session
from tests.judging.small import EARTH, mean_of, opened, with_judgment
from tests.support import Qrels, Run

SMALL = ("custom:small", "small")
MEASURES = ["nDCG@10", "nDCG@2", "AP", "R@3", "P@3", "RR", "Judged@3"]
RUNS: list[Run] = [
    {"1": {"a": 5.0, "b": 4.0, "g": 3.0}, "2": {"a": 2.0, "g": 1.0}, "3": {"z": 1.0}},
    {"1": {"b": 5.0, "g": 4.0, "a": 3.0}, "2": {"x": 2.0, "a": 1.0}},
]
QRELS: Qrels = {"1": {"g": 1, "h": 2}, "2": {"g": 3}, "4": {"g": 1}}


def key(query_id: str) -> QueryKey:
    return QueryKey(*SMALL, query_id)


def overlaid(qrels: Qrels, decisions: dict[tuple[str, str], int | None]) -> Qrels:
    for (query_id, doc_id), relevance in decisions.items():
        if relevance is not None:
            qrels = with_judgment(qrels, query_id, doc_id, relevance)
    return qrels


def means(what_if: WhatIf) -> dict[int, tuple[float, float]]:
    return {change.run.run_id: (change.before, change.after) for change in what_if.task_changes(SMALL)}


def check(what_if: WhatIf, measure: str, runs: list[Run], decisions: dict[tuple[str, str], int | None]) -> None:
    """Means, Judged@10 and what each decision does."""
    qrels = overlaid(QRELS, decisions)
    expected = {run_id: (mean_of(measure, run, QRELS), mean_of(measure, run, qrels)) for run_id, run in enumerate(runs)}
    found = means(what_if)
    for run_id, values in expected.items():
        assert found[run_id] == pytest.approx(values, abs=1e-12)
    for change in what_if.task_changes(SMALL):
        run = runs[change.run.run_id]
        assert change.judged_before == pytest.approx(mean_of("Judged@10", run, QRELS), abs=1e-12)
        assert change.judged_after == pytest.approx(mean_of("Judged@10", run, qrels), abs=1e-12)
    shares = {(share.query.query_id, share.doc_id): share for share in what_if.decision_shares(SMALL)}
    assert set(shares) == {pair for pair, relevance in decisions.items() if relevance is not None}
    for pair, share in shares.items():
        without = overlaid(QRELS, {other: relevance for other, relevance in decisions.items() if other != pair})
        assert share.before == QRELS.get(pair[0], {}).get(pair[1])
        for run_id, run in enumerate(runs):
            delta = mean_of(measure, run, qrels) - mean_of(measure, run, without)
            assert share.deltas[run_id] == pytest.approx(delta, abs=1e-12)


DECISIONS = st.lists(
    st.tuples(st.sampled_from("123"), st.sampled_from("abghxz"), st.sampled_from([None, 0, 1, 2])), max_size=8
)


@pytest.fixture(scope="module")
def small_session(isolated_session: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    with opened(tmp_path_factory.mktemp("small"), RUNS, QRELS) as opening:
        yield opening.session


@settings(max_examples=60, deadline=None)
@given(decisions=DECISIONS, measure=st.sampled_from(MEASURES))
def test_decision_by_decision(
    small_session: Session, decisions: list[tuple[str, str, int | None]], measure: str
) -> None:
    """New judgments, other minds, golds taken out, queries that nobody had judged: one after another and at once."""
    session, cursor = small_session, small_session.cursor
    what_if = load_what_if(session, cursor, parse_measure(measure))
    ranks = document_ranks(session, cursor, [(key(query_id), doc_id) for query_id, doc_id, _ in decisions])
    taken: dict[tuple[str, str], int | None] = {}
    for query_id, doc_id, relevance in decisions:
        what_if.decide(key(query_id), doc_id, relevance, ranks[key(query_id), doc_id])
        taken[query_id, doc_id] = relevance
        check(what_if, measure, RUNS, taken)
    given_all = {(*SMALL, query_id, doc_id): relevance for (query_id, doc_id), relevance in taken.items()}
    at_once = load_what_if(session, cursor, parse_measure(measure), given_all)
    assert at_once.decisions == what_if.decisions
    check(at_once, measure, RUNS, taken)


def test_places_and_pooled_depth(tmp_path: Path) -> None:
    with opened(tmp_path, RUNS, {"1": {"g": 1}, "2": {"g": 1}}) as opening:
        session, cursor = opening.session, opening.session.cursor
        what_if = load_what_if(session, cursor, parse_measure("nDCG@10"), pool_depth=2, outside=[1])
        before = {change.run.run_id: change for change in what_if.task_changes(SMALL)}
        assert [(change.place_before, change.place_after) for change in before.values()] == [(1, 1), (2, 2)]
        assert not what_if.order_changed(SMALL)
        assert (before[0].outside_pool, before[1].outside_pool) == (False, True)
        ranks = document_ranks(session, cursor, [(key("1"), "b"), (key("2"), "a"), (key("2"), "x")])
        what_if.decide(key("1"), "b", 1, ranks[key("1"), "b"])
        what_if.decide(key("2"), "x", 1, ranks[key("2"), "x"])
        first, second = what_if.task_changes(SMALL)
        assert [first.run.run_id, second.run.run_id] == [1, 0]
        assert (first.place_before, first.place_after, first.moved) == (2, 1, 1)
        assert (second.moved, second.delta < 0) == (-1, True)
        assert what_if.order_changed(SMALL)
        # Run 1: b and g of query 1 are judged, and of query 2 x, then a gap.
        assert (first.pooled_depth, first.pooled_mean) == (1, 1.5)
        assert (first.judged_before, first.judged_after) == (0.25, 0.75)
        what_if.decide(key("2"), "a", 0, ranks[key("2"), "a"])
        assert what_if.task_changes(SMALL)[0].pooled_depth == 2
        assert what_if.task_changes(SMALL)[0].after == pytest.approx(first.after)
        assert [share.doc_id for share in what_if.decision_shares(SMALL)] == ["x", "b", "a"]
        for doc_id in ("b", "x", "a"):
            what_if.decide(key("1" if doc_id == "b" else "2"), doc_id, None)
        assert means(what_if) == {change.run.run_id: (change.before, change.before) for change in before.values()}
        assert what_if.decisions == {}


def test_runs_with_one_mean_share_their_place(tmp_path: Path) -> None:
    with opened(tmp_path, [RUNS[0], RUNS[0], {"1": {"a": 1.0}}], QRELS) as opening:
        what_if = load_what_if(opening.session, opening.session.cursor, parse_measure("nDCG@10"))
        assert [change.place_after for change in what_if.task_changes(SMALL)] == [1, 1, 3]
        assert what_if.tasks == (SMALL,)
        assert what_if.task_changes(("bright", "pony")) == []


def test_where_a_document_stands_must_be_known(tmp_path: Path) -> None:
    with opened(tmp_path, RUNS, QRELS) as opening:
        what_if = load_what_if(opening.session, opening.session.cursor, parse_measure("nDCG@10"))
        with pytest.raises(ValueError, match="ranks of b"):
            what_if.decide(key("1"), "b", 1)
        what_if.decide(key("1"), "g", 0)
        assert means(what_if)[0][1] < means(what_if)[0][0]
        what_if.decide(key("9"), "b", None)
        assert what_if.tasks == (SMALL,)


def test_the_documents_that_the_fixed_judgments_add_give_their_scores(earth: Session) -> None:
    cursor, measure = earth.cursor, parse_measure("nDCG@10")
    added = cursor.execute("""
        SELECT dataset, task, query_id, doc_id FROM all_qrels WHERE layer = 'fixed'
        EXCEPT SELECT dataset, task, query_id, doc_id FROM all_qrels WHERE layer = 'original'""").fetchall()
    what_if = load_what_if(earth, cursor, measure, dict.fromkeys(added, 1))
    before = [score.mean for score in task_scores(earth, measure, cursor=cursor)]
    try:
        earth.collections.use_layer(cursor, "fixed")
        after = [score.mean for score in task_scores(earth, measure, cursor=cursor)]
    finally:
        earth.collections.use_layer(cursor, "original")
    changes = {change.run.run_id: change for change in what_if.task_changes(EARTH)}
    assert [changes[run.run_id].before for run in earth.runs] == pytest.approx(before, abs=1e-12)
    assert [changes[run.run_id].after for run in earth.runs] == pytest.approx(after, abs=1e-12)
    reasonir = next(change for change in changes.values() if change.run.label == "reasonir")
    assert (round(reasonir.before, 4), round(reasonir.after, 4)) == (0.4300, 0.4341)
    assert not what_if.order_changed(EARTH)
    assert {share.query.query_id for share in what_if.decision_shares(EARTH)} == {"6", "7"}


def test_one_more_decision_scores_its_query_only(earth: Session, earth_pool: CandidatePool) -> None:
    what_if = load_what_if(earth, earth.cursor, parse_measure("nDCG@10"))
    chosen = random.Random(1)
    took = []
    for place in chosen.sample(range(len(earth_pool)), 500):
        candidate = earth_pool[place]
        started = time.perf_counter()
        what_if.decide(candidate.query, candidate.doc_id, chosen.choice([0, 1]), candidate.ranks)
        what_if.task_changes(EARTH)
        took.append(time.perf_counter() - started)
    assert statistics.median(took) < 0.02

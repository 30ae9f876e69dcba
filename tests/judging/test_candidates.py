"""The pool: what is in it, what is not, and the ranks that it knows."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from bright_inspect.domain.measures import parse_measure
from bright_inspect.domain.ordering import TieRule
from bright_inspect.domain.rankings import QueryKey
from bright_inspect.errors import UsageError
from bright_inspect.judging.candidates import CandidatePool, pool_candidates
from bright_inspect.judging.effect import candidate_effects
from bright_inspect.judging.ranked import document_ranks
from bright_inspect.store.opening import Opening
from bright_inspect.store.query_view import read_query
from bright_inspect.store.session import Session
from tests.judging.small import EARTH
from tests.support import Run, example, opened_runs, write_bright, write_trec

QWEN: Run = {
    "0": {"g0": 4.0, "x0": 3.0, "x1": 2.0, "far": 1.0},
    "1": {"bad": 9.0, "x0": 3.0, "g1": 2.0, "x2": 1.0},
}
BM25: Run = {"0": {"x1": 4.0, "x3": 3.0, "g0": 2.0, "x0": 1.0}, "1": {"x2": 2.0, "x0": 2.0, "notext": 1.0}}


@contextmanager
def small(folder: Path, ties: TieRule = "trec", *, convert: bool = False) -> Iterator[Opening]:
    """Two runs of leetcode; ``bad`` is excluded for query 1, and two documents have no text."""
    data = write_bright(
        folder / "data", {"leetcode": [example("1", ["g1"], excluded=["bad", "worse"]), example("0", ["g0"])]}
    )
    texts = [{"id": doc_id, "content": f"text of {doc_id}"} for doc_id in ("g0", "g1", "x0", "x1", "x2", "bad")]
    write_bright(data, {"leetcode": texts}, "documents")
    runs = [write_trec(folder / name / "leetcode.trec", run) for name, run in (("qwen", QWEN), ("bm25", BM25))]
    with opened_runs(*runs, data=data, ties=ties) as opening:
        if convert:
            opening.convert()
        yield opening


def ranks_of(pool: CandidatePool) -> dict[tuple[str, str], tuple[int | None, ...]]:
    return {(candidate.query.query_id, candidate.doc_id): candidate.ranks for candidate in pool}


@pytest.mark.parametrize("convert", [False, True])
def test_unjudged_documents_are_pooled_once(tmp_path: Path, convert: bool) -> None:
    with small(tmp_path, convert=convert) as opening:
        pool = pool_candidates(opening.session, opening.session.cursor, depth=2)
        task = ("bright", "leetcode")
        # Query 1 comes first in the data; in bm25 x2 and x0 tie, and x2 is first by its id.
        assert list(ranks_of(pool).items()) == [
            (("1", "x0"), (1, 2)),
            (("1", "x2"), (3, 1)),
            (("0", "x1"), (3, 1)),
            (("0", "x0"), (2, 4)),
        ]
        assert pool[0].scores == (3.0, 2.0)
        assert pool.held_back == {task: 1}
        assert pool.queries == (QueryKey(*task, "1"), QueryKey(*task, "0"))
        assert [(key.query_id, list(places)) for key, places in pool.by_query()] == [("1", [0, 1]), ("0", [2, 3])]
        assert [candidate.doc_id for candidate in pool[1:3]] == ["x2", "x1"]
        assert pool[1].best_rank == 1
        whole = pool_candidates(opening.session, opening.session.cursor, depth=100, hold_back=False)
        assert whole.held_back_count == 0
        assert set(ranks_of(whole)) == {*ranks_of(pool), ("0", "far"), ("0", "x3"), ("1", "notext")}


def test_excluded_documents_are_nowhere(tmp_path: Path) -> None:
    with small(tmp_path, convert=True) as opening:
        pool = pool_candidates(opening.session, opening.session.cursor, depth=1, hold_back=False)
        assert ranks_of(pool) == {("1", "x0"): (1, 2), ("1", "x2"): (3, 1), ("0", "x1"): (3, 1)}


def test_decided_pairs_are_marked_or_left_out(tmp_path: Path) -> None:
    with small(tmp_path) as opening:
        session, cursor = opening.session, opening.session.cursor
        decided = [
            ("bright", "leetcode", "0", "x1"),
            ("bright", "leetcode", "0", "x0"),
            ("bright", "biology", "1", "x0"),
        ]
        pool = pool_candidates(session, cursor, decided=decided)
        marked = [pool[place].doc_id for place in range(len(pool)) if pool.decided[place]]
        assert marked == ["x1", "x0"]
        left = pool_candidates(session, cursor, decided=decided, leave_out_decided=True)
        assert [(candidate.query.query_id, candidate.doc_id) for candidate in left] == [("1", "x0"), ("1", "x2")]


@pytest.mark.parametrize("ties", ["trec", "float64", "file", "rank"])
@pytest.mark.parametrize("convert", [False, True])
def test_ranks_are_those_of_the_lists_under_every_tie_rule(tmp_path: Path, ties: TieRule, convert: bool) -> None:
    with small(tmp_path, ties, convert=convert) as opening:
        session, cursor = opening.session, opening.session.cursor
        pool = pool_candidates(session, cursor, depth=3, ranks_to=3, hold_back=False)
        views = {key: read_query(session, cursor, key) for key in pool.queries}
        for candidate in pool:
            ranks = [views[candidate.query].rank_in(run.run_id, candidate.doc_id) for run in session.runs]
            assert candidate.ranks == tuple(rank if rank is not None and rank <= 3 else None for rank in ranks)
        pairs = [(candidate.query, candidate.doc_id) for candidate in pool] + [(pool.queries[0], "bad")]
        for (key, doc_id), known in document_ranks(session, cursor, pairs).items():
            assert known == tuple(views[key].rank_in(run.run_id, doc_id) for run in session.runs)


def test_depths_and_tasks(tmp_path: Path) -> None:
    with small(tmp_path) as opening:
        session, cursor = opening.session, opening.session.cursor
        for depth in (0, 101):
            with pytest.raises(UsageError, match="from 1 to 100"):
                pool_candidates(session, cursor, depth=depth)
        none = pool_candidates(session, cursor, tasks=[("bright", "biology")])
        assert len(none) == 0
        assert list(none.by_query()) == []
        assert document_ranks(session, cursor, []) == {}


def test_earth_science(earth: Session) -> None:
    pool = pool_candidates(earth, earth.cursor)
    assert len(pool) == 1350
    assert pool.held_back == {EARTH: 1459}
    assert len({candidate.pair for candidate in pool}) == 1350
    for key in pool.queries[:5]:
        view = read_query(earth, earth.cursor, key)
        for candidate in pool:
            if candidate.query == key:
                assert candidate.ranks == tuple(view.rank_in(run.run_id, candidate.doc_id) for run in earth.runs)
                assert candidate.best_rank <= 10


def test_all_tasks_are_pooled_without_a_row_for_each_document_of_a_list(bright_data: Path) -> None:
    """Lists with excluded documents, ids with a space, and ties throughout: the same as from each list alone."""
    with opened_runs(bright_data / "runs" / "reasonir", bright_data / "rader", data=bright_data / "bright") as opening:
        opening.convert()
        session, cursor = opening.session, opening.session.cursor
        pool = pool_candidates(session, cursor, depth=10, ranks_to=10, hold_back=False)
        assert {(key.dataset, key.task) for key in pool.queries} == set(session.tasks)
        for key, places in list(pool.by_query())[::97]:
            view = read_query(session, cursor, key)
            golds = {judgment.doc_id for judgment in view.judgments}
            tops = [
                {doc.doc_id for doc in ranking.docs if doc.rank is not None and doc.rank <= 10} - golds
                for ranking in view.rankings
                if ranking is not None
            ]
            assert {pool.doc_ids[place] for place in places} == set().union(*tops)


def test_a_task_without_judgments_is_pooled_whole(tmp_path: Path) -> None:
    runs = [write_trec(tmp_path / name / "run.trec", run) for name, run in (("qwen", QWEN), ("bm25", BM25))]
    with opened_runs(*runs) as opening:
        session, cursor = opening.session, opening.session.cursor
        assert len(session.unscored) == 1
        pool = pool_candidates(session, cursor, depth=1, hold_back=False)
        assert ranks_of(pool) == {
            ("0", "g0"): (1, 3),
            ("0", "x1"): (3, 1),
            ("1", "bad"): (1, None),
            ("1", "x2"): (4, 1),
        }
        assert pool_candidates(session, cursor).held_back_count == 10
        for measure, most in (
            ("nDCG@10", [0.5, 0.5, 1.0, 1 - 1 / math.log2(5)]),
            ("Judged@10", [0.0, 0.0, 0.25, 1 / 12]),
        ):
            assert candidate_effects(session, cursor, pool, parse_measure(measure)) == pytest.approx(most)

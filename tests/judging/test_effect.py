"""The effect of a judgment against scoring everything again with it."""

from __future__ import annotations

import random
from itertools import combinations
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from bright_inspect.domain.measures import parse_measure
from bright_inspect.judging.candidates import CandidatePool, pool_candidates, ranks_needed
from bright_inspect.judging.effect import candidate_effects, mean_shifts
from bright_inspect.store.lists import run_lists
from bright_inspect.store.session import Session
from tests.judging.small import EARTH, mean_of, opened, with_judgment
from tests.support import Qrels, Run

MEASURES = ["nDCG@10", "nDCG@2", "nDCG", "AP", "AP@3", "R@3", "P@3", "RR", "RR@2", "Judged@3"]


def expected_effect(measure: str, runs: list[Run], qrels: Qrels, query_id: str, doc_id: str) -> float:
    """By scoring every run before and after."""
    more = with_judgment(qrels, query_id, doc_id)
    shifts = [mean_of(measure, run, more) - mean_of(measure, run, qrels) for run in runs]
    pairs = [abs(one - other) for one, other in combinations(shifts, 2)]
    return max(pairs, default=abs(shifts[0]))


def check(measure: str, runs: list[Run], qrels: Qrels, folder: Path) -> int:
    with opened(folder, runs, qrels) as opening:
        pool = pool_candidates(
            opening.session, opening.session.cursor, depth=3, ranks_to=ranks_needed(parse_measure(measure)),
            hold_back=False,
        )  # fmt: skip
        effects = candidate_effects(opening.session, opening.session.cursor, pool, parse_measure(measure))
    for candidate, effect in zip(pool, effects, strict=True):
        expected = expected_effect(measure, runs, qrels, candidate.query.query_id, candidate.doc_id)
        assert effect == pytest.approx(expected, abs=1e-12), (candidate, runs, qrels)
    return len(pool)


RUNS: list[Run] = [
    {"1": {"a": 5.0, "b": 4.0, "c": 3.0, "d": 2.0}, "2": {"a": 2.0, "g": 1.0}, "3": {"z": 1.0}},
    {"1": {"d": 5.0, "g": 4.0, "a": 3.0}, "2": {"x": 2.0, "a": 1.0}},
    {"1": {"b": 1.0, "a": 1.0, "g": 1.0, "h": 1.0}},
]
QRELS: Qrels = {"1": {"g": 1, "h": 2, "d": 0}, "2": {"g": 3}, "4": {"g": 1}}


@pytest.mark.parametrize("measure", MEASURES)
def test_small(measure: str, tmp_path: Path) -> None:
    """Grades above 1, a judged document that is not relevant, an unanswered query, one without a judgment, ties."""
    assert check(measure, RUNS, QRELS, tmp_path) == 6


@pytest.mark.parametrize("measure", ["nDCG@10", "R@3"])
def test_with_one_run_it_is_the_change_of_its_mean(measure: str, tmp_path: Path) -> None:
    assert check(measure, RUNS[:1], QRELS, tmp_path) == 5


DOCS = "abcdefgh"
SCORES = st.sampled_from([0.0, 1.0, 1.0 + 1e-9, 2.0])
LISTS = st.dictionaries(st.sampled_from(DOCS), SCORES, min_size=1, max_size=8)
SOME_RUNS = st.lists(st.dictionaries(st.sampled_from("123"), LISTS, min_size=1), min_size=1, max_size=3)
JUDGED = st.dictionaries(st.sampled_from(DOCS), st.sampled_from([0, 1, 2]), min_size=1, max_size=4)


# Each example opens a session of its own, and each candidate is scored again by another way.
@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    runs=SOME_RUNS, qrels=st.dictionaries(st.sampled_from("12"), JUDGED, min_size=1), measure=st.sampled_from(MEASURES)
)
def test_ties_and_grades(runs: list[Run], qrels: Qrels, measure: str) -> None:
    """Scores tie, also as float32 only."""
    assume(all(set(run) & set(qrels) for run in runs))  # a run without a judged query cannot be opened
    with TemporaryDirectory() as folder:
        check(measure, runs, qrels, Path(folder))


def test_a_pool_that_knows_too_little_is_refused(tmp_path: Path) -> None:
    with opened(tmp_path, RUNS, QRELS) as opening:
        pool = pool_candidates(opening.session, opening.session.cursor, hold_back=False)
        for measure in ("AP", "R@1000"):
            with pytest.raises(ValueError, match="needs ranks"):
                mean_shifts(opening.session, opening.session.cursor, pool, parse_measure(measure))


@pytest.mark.parametrize("measure", ["nDCG@10", "AP", "RR"])
def test_earth_science(earth: Session, earth_pool: CandidatePool, measure: str) -> None:
    cursor = earth.cursor
    effects = candidate_effects(earth, cursor, earth_pool, parse_measure(measure))
    queries = [query_id for (query_id,) in cursor.execute("SELECT DISTINCT query_id FROM qrels").fetchall()]
    runs: list[Run] = [
        {query_id: {doc: score for doc, _, score in docs} for query_id, docs in lists.items()}
        for lists in (run_lists(earth, cursor, run, EARTH, queries) for run in earth.runs)
    ]
    qrels: dict[str, dict[str, int]] = {}
    for query_id, doc_id, relevance in cursor.execute("SELECT query_id, doc_id, relevance FROM qrels").fetchall():
        qrels.setdefault(query_id, {})[doc_id] = relevance
    for place in random.Random(measure).sample(range(len(earth_pool)), 3):
        candidate = earth_pool[place]
        expected = expected_effect(measure, runs, qrels, candidate.query.query_id, candidate.doc_id)
        assert effects[place] == pytest.approx(expected, abs=1e-12)

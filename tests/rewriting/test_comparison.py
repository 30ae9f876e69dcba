"""Each run beside its system's run on the original queries."""

from __future__ import annotations

import pytest

from bright_inspect.domain.tally import Tally
from bright_inspect.evaluation.scores import TaskScores
from bright_inspect.rewriting.comparison import (
    base_of,
    in_groups,
    lengths_for,
    mean_scores,
    variant_scores,
    without_run,
)
from bright_inspect.rewriting.lengths import VariantLengths
from bright_inspect.store.collections import TaskKey
from tests.unit.making import BIOLOGY, PONY, make_run, make_scores

RUNS = [make_run(i, name) for i, name in enumerate(["bm25@gpt4", "dense@gpt4", "bm25@original", "odd"])]


def scored(*scores: TaskScores) -> dict[tuple[int, TaskKey], TaskScores]:
    return {(score.run.run_id, score.task): score for score in scores}


def test_runs_of_a_system_stand_together_and_its_original_first() -> None:
    assert [run.name.in_full for run in in_groups(RUNS)] == ["bm25@original", "bm25@gpt4", "dense@gpt4", "odd@?"]


def test_the_original_of_a_run() -> None:
    assert base_of(RUNS[0], RUNS) is RUNS[2]
    assert base_of(RUNS[1], RUNS) is None, "another system's original is none"
    assert base_of(RUNS[2], RUNS) is None


def test_delta_and_outcome_to_the_original() -> None:
    rewritten = make_scores(RUNS[0], BIOLOGY, {"1": 1.0, "2": 0.0, "3": 0.2})
    original = make_scores(RUNS[2], BIOLOGY, {"1": 0.5, "2": 0.0, "3": 0.4})
    first, second = variant_scores(scored(rewritten, original), RUNS)
    assert (first.run, first.delta, first.outcome, first.partial) == (RUNS[2], None, None, False)
    assert (second.run, second.shared) == (RUNS[0], 3)
    assert second.value == pytest.approx(0.4)
    assert second.delta == pytest.approx(0.1)
    assert second.outcome == Tally(1, 1, 1, 1)


def test_delta_is_over_the_queries_that_both_answer() -> None:
    """The value counts a query without a list as 0, as everywhere; the variant is not blamed for it."""
    rewritten = make_scores(RUNS[0], BIOLOGY, {"1": 0.8, "2": 0.0, "3": 0.4}, unanswered=["2"])
    original = make_scores(RUNS[2], BIOLOGY, {"1": 0.5, "2": 0.9, "3": 0.0}, unanswered=["3"])
    base, beside = variant_scores(scored(rewritten, original), RUNS)
    assert beside.value == pytest.approx(0.4)
    assert (beside.shared, beside.answered, beside.queries, beside.partial) == (1, 2, 3, True)
    assert beside.delta == pytest.approx(0.3)
    assert beside.outcome == Tally(1, 0, 0, 0)
    assert base.partial


def test_without_a_shared_query_there_is_no_delta() -> None:
    rewritten = make_scores(RUNS[0], BIOLOGY, {"1": 0.8, "2": 0.0}, unanswered=["2"])
    original = make_scores(RUNS[2], BIOLOGY, {"1": 0.0, "2": 0.9}, unanswered=["1"])
    assert [score.delta for score in variant_scores(scored(rewritten, original), RUNS)] == [None, None]


def test_means_are_of_the_tasks_that_the_original_has_too() -> None:
    scores = variant_scores(
        scored(
            make_scores(RUNS[0], BIOLOGY, {"1": 1.0}),
            make_scores(RUNS[0], PONY, {"1": 0.2, "2": 0.2}),
            make_scores(RUNS[2], PONY, {"1": 0.1, "2": 0.3}),
        ),
        RUNS,
    )
    rewritten, original = mean_scores(scores)
    assert (rewritten.run, rewritten.tasks, rewritten.delta_tasks, rewritten.queries) == (RUNS[0], 2, 1, 3)
    assert rewritten.value == pytest.approx(0.6)
    assert rewritten.delta == pytest.approx(0.0)
    assert rewritten.outcome == Tally(1, 0, 0, 1)
    assert (original.run, original.tasks, original.delta) == (RUNS[2], 1, None)
    assert mean_scores([score for score in scores if score.task == PONY]) == []


def test_texts_of_a_run_and_variants_that_no_run_was_made_with() -> None:
    known = {
        (task, variant): VariantLengths(variant, task, 2, 2, 10.0, 50.0, 5.0, 0.5)
        for task, variant in [(BIOLOGY, "original"), (BIOLOGY, "gpt4"), (BIOLOGY, "lamer")]
    }
    score, of_odd = variant_scores(
        scored(make_scores(RUNS[0], BIOLOGY, {"1": 1.0}), make_scores(RUNS[3], BIOLOGY, {"1": 1.0})), RUNS
    )
    assert lengths_for(score, known, ()) == known[BIOLOGY, "gpt4"]
    assert lengths_for(of_odd, known, ()) is None, "nobody knows which texts those were"
    files = [make_run(0, "bm25@gpt4")]
    assert [each.variant for each in without_run(known.values(), files)] == ["gpt4", "lamer"], "of no task's files"

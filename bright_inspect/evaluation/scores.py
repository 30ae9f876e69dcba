"""Scores of runs: per query, and means over all judged queries with how many were answered."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from bright_inspect.db import Cursor
from bright_inspect.domain.measures import Measure
from bright_inspect.domain.tally import Tally, tally
from bright_inspect.domain.ties import TieRange
from bright_inspect.errors import UsageError
from bright_inspect.evaluation.measures_sql import per_query_sql
from bright_inspect.evaluation.pytrec_engine import pytrec_values
from bright_inspect.evaluation.tie_ranges import tie_ranges
from bright_inspect.store.collections import TaskKey
from bright_inspect.store.session import Run, Session

Engine = Literal["sql", "pytrec_eval"]


@dataclass(frozen=True, slots=True)
class TaskScores:
    """One run's values of one measure on one task.

    ``per_query`` has every judged query (fractions 0–1; 0 where the run has no answer), ``answered`` those that the
    run has a list for. The headline ``mean`` divides by all judged queries, as ``trec_eval -c``. ``ties`` has the range
    of each query that lists a relevant document in a tie; tie order changes no other value.
    """

    run: Run
    task: TaskKey
    measure: Measure
    per_query: dict[str, float]
    answered: frozenset[str]
    ties: Mapping[str, TieRange] = field(default_factory=dict)

    @property
    def mean(self) -> float:
        return math.fsum(self.per_query.values()) / len(self.per_query)

    @property
    def mean_answered(self) -> float | None:
        """The mean over answered queries, or None if none was."""
        values = [value for query_id, value in self.per_query.items() if query_id in self.answered]
        return math.fsum(values) / len(values) if values else None

    @property
    def best(self) -> float:
        """The mean if every tie were in its best order."""
        return self._mean_of(lambda ties: ties.best)

    @property
    def worst(self) -> float:
        """The mean if every tie were in its worst order."""
        return self._mean_of(lambda ties: ties.worst)

    @property
    def expected(self) -> float:
        """The mean to be expected of random tie order."""
        return self._mean_of(lambda ties: ties.expected)

    @property
    def tie_sensitive(self) -> int:
        """How many queries' values tie order alone moves."""
        return sum(ties.tie_sensitive for ties in self.ties.values())

    def _mean_of(self, value: Callable[[TieRange], float]) -> float:
        values = (
            value(self.ties[query_id]) if query_id in self.ties else own for query_id, own in self.per_query.items()
        )
        return math.fsum(values) / len(self.per_query)


def task_scores(
    session: Session, measure: Measure, *, cursor: Cursor | None = None, engine: Engine = "sql"
) -> list[TaskScores]:
    """Every run's scores on each of its judged tasks, runs and tasks in the session's order.

    Raises:
        BrightInspectError: the engine is not installed, or does not know the measure or the tie rule.
    """
    cursor = cursor or session.cursor
    if engine == "pytrec_eval":
        if session.ties != "trec":
            raise UsageError(f"pytrec_eval breaks ties by its own rule, not by {session.ties}.", "Leave out --ties.")
        values = pytrec_values(session, cursor, measure)
    else:
        values = cursor.execute(per_query_sql(measure)).fetchall()
    per_query: dict[tuple[int, str, str], dict[str, float]] = {}
    answered: dict[tuple[int, str, str], set[str]] = {}
    for run_id, dataset, task, query_id, value, has_answer in values:
        key = (run_id, dataset, task)
        per_query.setdefault(key, {})[query_id] = value
        if has_answer:
            answered.setdefault(key, set()).add(query_id)
    ties: dict[tuple[int, str, str], dict[str, TieRange]] = {}
    for (run_id, query), tie_range in tie_ranges(cursor, measure).items():
        ties.setdefault((run_id, query.dataset, query.task), {})[query.query_id] = tie_range
    return [
        TaskScores(run, task, measure, per_query[key], frozenset(answered.get(key, ())), ties.get(key, {}))
        for run in session.runs
        for task in run.tasks
        if (key := (run.run_id, *task)) in per_query
    ]


def macro_mean(scores: Iterable[TaskScores]) -> float | None:
    """The unweighted mean of task means, as BRIGHT's leaderboard; None without a task."""
    means = [score.mean for score in scores]
    return math.fsum(means) / len(means) if means else None


@dataclass(frozen=True, slots=True)
class TaskComparison:
    """A run against the baseline on one task; ``delta`` = run − baseline."""

    run: TaskScores
    baseline: TaskScores

    @property
    def delta(self) -> float:
        return self.run.mean - self.baseline.mean

    @property
    def tally(self) -> Tally:
        return tally(
            (self.run.per_query[query_id], self.baseline.per_query[query_id]) for query_id in self.run.per_query
        )

    def per_query(self) -> list[tuple[str, float, float, float]]:
        """(query_id, run, baseline, delta), largest |delta| first, then by query id."""
        rows = [
            (query_id, value, self.baseline.per_query[query_id], value - self.baseline.per_query[query_id])
            for query_id, value in self.run.per_query.items()
        ]
        return sorted(rows, key=lambda row: (-abs(row[3]), row[0]))


def compare_runs(scores: Sequence[TaskScores], baseline: Run) -> list[TaskComparison]:
    """Each run but the baseline, on each task that both have."""
    of_baseline = {score.task: score for score in scores if score.run is baseline}
    return [
        TaskComparison(score, of_baseline[score.task])
        for score in scores
        if score.run is not baseline and score.task in of_baseline
    ]


@dataclass(frozen=True, slots=True)
class ExclusionEffect:
    """What removing excluded documents did to one run on one task: ``documents`` removed from ``queries`` lists, and
    the mean (a fraction) if they had stayed."""

    documents: int
    queries: int
    mean_without: float


def exclusion_effects(session: Session, cursor: Cursor, measure: Measure) -> dict[tuple[int, TaskKey], ExclusionEffect]:
    """By (run_id, task), for runs that list excluded documents; no others have an effect."""
    removed = {
        (run_id, (dataset, task)): (documents, queries)
        for run_id, dataset, task, documents, queries in cursor.execute("""
            SELECT run_id, dataset, task, count(*), count(DISTINCT query_id) FROM excluded_hits GROUP BY ALL
        """).fetchall()
    }
    if not removed:
        return {}
    means = {
        (run_id, (dataset, task)): mean
        for run_id, dataset, task, mean in cursor.execute(f"""
            SELECT run_id, dataset, task, avg(value) FROM ({per_query_sql(measure, "raw_rank")}) GROUP BY ALL
        """).fetchall()
    }
    return {key: ExclusionEffect(*counts, means[key]) for key, counts in removed.items() if key in means}

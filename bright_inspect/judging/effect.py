"""What judging a document relevant would change: how far it can move one run's mean away from another's.

A judgment of grade 1 changes a list's value twice: by the document's own gain where it stands, and by what is now the
ideal. Both are computed exactly, for all candidates at once, by the definitions of ``evaluation.measures_sql``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from bright_inspect.db import Cursor
from bright_inspect.domain.measures import Measure
from bright_inspect.domain.rankings import QueryKey
from bright_inspect.evaluation.measures_sql import per_query_sql
from bright_inspect.judging.candidates import CandidatePool
from bright_inspect.store.collections import TaskKey
from bright_inspect.store.session import Session

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Floats = npt.NDArray[np.float64]
    Places = npt.NDArray[np.int64]
    Flags = npt.NDArray[np.bool_]


def candidate_effects(session: Session, cursor: Cursor, pool: CandidatePool, measure: Measure) -> Floats:
    """For each candidate, the largest change in the difference of any two runs' means over its task (a fraction, 0 or
    more), if it alone were judged relevant with grade 1. With one run in the task, the change of its own mean.

    That is the largest less the smallest change of a run's mean, because a difference of two means changes by the
    difference of their changes.

    Raises:
        ValueError: the pool does not know ranks as deep as the measure looks (``candidates.ranks_needed``).
    """
    import numpy as np

    shifts = mean_shifts(session, cursor, pool, measure)
    covered = ~np.isnan(shifts)
    largest = np.max(shifts, axis=1, initial=-np.inf, where=covered)
    smallest = np.min(shifts, axis=1, initial=np.inf, where=covered)
    alone = covered.sum(axis=1) == 1
    effects: Floats = np.where(alone, np.abs(largest), largest - smallest)
    return effects


def mean_shifts(session: Session, cursor: Cursor, pool: CandidatePool, measure: Measure) -> Floats:
    """For each candidate and run, by how much the run's mean over the task changes (a fraction, signed) if the document
    were judged relevant; NaN where the run does not cover the task.

    Raises:
        ValueError: as ``candidate_effects``.
    """
    import numpy as np

    known, wanted = pool.ranks_to, measure.cutoff
    if known is not None and (wanted is None or wanted > known):
        raise ValueError(f"{measure} needs ranks that a pool known to {known} does not have")
    judged = _Judged(cursor, pool.queries)
    queries = pool.query_of.astype(np.int64)
    shifts: Floats = np.full(pool.ranks.shape, np.nan)
    totals = judged.sums(measure, cursor)
    for run in session.runs:
        lists = judged.lists(cursor, run.run_id)
        covering = np.array([(key.dataset, key.task) in run.tasks for key in pool.queries], dtype=np.bool_)
        before, after = _values(measure, judged, lists, queries, pool.ranks[:, run.run_id].astype(np.int64))
        # A query without a judgment is in no mean: the first one adds it, and changes what the sum is divided by.
        count = judged.counted[queries]
        new = ~judged.is_judged[queries]
        total = np.array([totals.get((run.run_id, key.dataset, key.task), 0.0) for key in pool.queries])[queries]
        with np.errstate(divide="ignore", invalid="ignore"):
            old_mean = np.where(count > 0, total / count, 0.0)
            moved = np.where(new, (total + after) / (count + 1) - old_mean, (after - before) / count)
        shifts[:, run.run_id] = np.where(covering[queries], moved, np.nan)
    return shifts


class _Lists:
    """One run's judged documents, query by query: the ranks of the relevant ones and of all, each ascending."""

    def __init__(self, query: Places, rank: Places, relevance: Places, depth: Places, queries: int) -> None:
        import numpy as np

        relevant = relevance > 0
        self.query, self.rank, self.grade = query[relevant], rank[relevant], relevance[relevant]
        self.starts = np.searchsorted(self.query, np.arange(queries + 1))
        #: One number a document that sorts by query, then rank.
        self.span = int(rank.max(initial=0)) + 2
        self.keys = self.query * self.span + self.rank
        self.all_query, self.all_rank = query, rank
        self.depth = depth


class _Judged:
    """The judgments of the pool's queries: golds, ideal gains, and how many queries of the task are judged."""

    def __init__(self, cursor: Cursor, queries: Sequence[QueryKey]) -> None:
        import numpy as np

        self._numbers = {key: number for number, key in enumerate(queries)}
        self.is_judged: Flags = np.zeros(len(queries), dtype=np.bool_)
        self.golds: Places = np.zeros(len(queries), dtype=np.int64)
        self.grades: list[list[int]] = [[] for _ in queries]
        of_task: dict[TaskKey, int] = {}
        for dataset, task, query_id, grades in cursor.execute("""
            SELECT dataset, task, query_id, list(relevance ORDER BY relevance DESC) FILTER (relevance > 0)
            FROM qrels GROUP BY ALL
        """).fetchall():
            of_task[dataset, task] = of_task.get((dataset, task), 0) + 1
            number = self._numbers.get(QueryKey(dataset, task, query_id))
            if number is not None:
                self.is_judged[number] = True
                self.grades[number] = grades or []
                self.golds[number] = len(self.grades[number])
        self.counted: Places = np.array([of_task.get((key.dataset, key.task), 0) for key in queries], dtype=np.int64)

    def ideal(self, cutoff: int | None) -> Floats:
        """Each query's ideal gain, 0 without golds."""
        import numpy as np

        gains = np.zeros(len(self.grades))
        for number, grades in enumerate(self.grades):
            top = np.array(grades[:cutoff], dtype=np.float64)
            gains[number] = (top / np.log2(np.arange(2, len(top) + 2))).sum()
        return gains

    def sums(self, measure: Measure, cursor: Cursor) -> dict[tuple[int, str, str], float]:
        """The sum of each run's values by task, which only queries without a judgment need."""
        if self.is_judged.all():
            return {}
        rows = cursor.execute(
            f"SELECT run_id, dataset, task, sum(value) FROM ({per_query_sql(measure)}) GROUP BY ALL"
        ).fetchall()
        return {(run_id, dataset, task): total for run_id, dataset, task, total in rows}

    def lists(self, cursor: Cursor, run_id: int) -> _Lists:
        """Where a run ranks the judged documents, and how deep its lists are without excluded documents."""
        import numpy as np

        rows = [
            (number, rank, relevance)
            for dataset, task, query_id, rank, relevance in cursor.execute(
                "SELECT dataset, task, query_id, rank, relevance FROM judged WHERE run_id = ? AND rank IS NOT NULL",
                [run_id],
            ).fetchall()
            if (number := self._numbers.get(QueryKey(dataset, task, query_id))) is not None
        ]
        rows.sort()
        table = np.array(rows, dtype=np.int64).reshape(-1, 3)
        depth: Places = np.zeros(len(self.golds), dtype=np.int64)
        for dataset, task, query_id, documents in cursor.execute(
            """SELECT dataset, task, query_id, any_value(q.depth) - count(e.doc_id)
               FROM run_queries q LEFT JOIN excluded_hits e USING (run_id, dataset, task, query_id)
               WHERE q.run_id = ? GROUP BY ALL""",
            [run_id],
        ).fetchall():
            number = self._numbers.get(QueryKey(dataset, task, query_id))
            if number is not None:
                depth[number] = documents
        return _Lists(table[:, 0], table[:, 1], table[:, 2], depth, len(self.golds))


def _values(measure: Measure, judged: _Judged, lists: _Lists, queries: Places, ranks: Places) -> tuple[Floats, Floats]:
    """The value of each candidate's query in one run, as it is and with the candidate relevant at its rank (0 = not
    listed)."""
    import numpy as np

    cutoff = int(np.iinfo(np.int64).max) if measure.cutoff is None else measure.cutoff
    listed: Flags = (ranks > 0) & (ranks <= cutoff)
    golds = judged.golds[queries]
    count = len(judged.golds)
    within = lists.rank <= cutoff

    def sums(parts: Floats) -> Floats:
        """By query, the sum over its relevant documents within the cutoff."""
        return np.bincount(lists.query[within], weights=parts[within], minlength=count).astype(np.float64)

    hits = sums(np.ones(len(lists.rank)))[queries]
    if measure.kind == "nDCG":
        gain = sums(lists.grade / np.log2(lists.rank + 1.0))[queries]
        own = np.where(listed, 1 / np.log2(np.maximum(ranks, 1) + 1.0), 0.0)
        ideal = judged.ideal(measure.cutoff)[queries]
        # The new grade of 1 is the least there is: it stands last in the ideal.
        last = np.where(golds + 1 <= cutoff, 1 / np.log2(golds + 2.0), 0.0)
        return _ratio(gain, ideal), _ratio(gain + own, ideal + last)
    if measure.kind == "AP":
        numbers = np.arange(len(lists.rank)) - lists.starts[lists.query] + 1
        total = sums(numbers / lists.rank)[queries]
        key = queries * lists.span + np.minimum(ranks, lists.span - 1)
        place = np.searchsorted(lists.keys, key)
        # Relevant documents after the candidate each have one more before them.
        cumulated = np.concatenate(([0.0], np.cumsum(np.where(within, 1 / np.maximum(lists.rank, 1), 0.0))))
        later = cumulated[lists.starts[queries + 1]] - cumulated[place]
        own = (place - lists.starts[queries] + 1) / np.maximum(ranks, 1)
        return _ratio(total, golds), _ratio(total + np.where(listed, own + later, 0.0), golds + 1)
    if measure.kind == "R":
        return _ratio(hits, golds), _ratio(hits + listed, golds + 1)
    if measure.kind == "P":
        return hits / cutoff, (hits + listed) / cutoff
    if measure.kind == "RR":
        first: Floats = np.zeros(count)
        np.maximum.at(first, lists.query[within], 1 / lists.rank[within])
        before = first[queries]
        return before, np.maximum(before, np.where(listed, 1 / np.maximum(ranks, 1), 0.0))
    seen = np.bincount(lists.all_query[lists.all_rank <= cutoff], minlength=count)[queries]
    shown = np.minimum(lists.depth[queries], cutoff)
    return _ratio(seen, shown), _ratio(seen + listed, shown)


def _ratio(part: npt.NDArray[np.generic], whole: npt.NDArray[np.generic]) -> Floats:
    """The quotient, 0 where there is nothing to divide by."""
    import numpy as np

    parts, wholes = np.asarray(part, np.float64), np.asarray(whole, np.float64)
    return np.divide(parts, wholes, out=np.zeros_like(parts), where=wholes > 0)

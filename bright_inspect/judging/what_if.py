"""What the scores become with the judgments taken so far: live, one query at a time.

A decision overlays what the layer that counts says of its pair: a relevance replaces it, 0 takes a gold out and leaves
it judged, None (unsure, or taken back) leaves what the layer says. A query that nobody had judged joins the mean with
its first judgment.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from bright_inspect.db import Cursor
from bright_inspect.domain.measures import Measure
from bright_inspect.domain.rankings import QueryKey
from bright_inspect.domain.tally import TIE_TOLERANCE
from bright_inspect.domain.ties import JudgedPlace, tie_range
from bright_inspect.judging.candidates import POOL_DEPTH, Pair
from bright_inspect.judging.ranked import document_ranks
from bright_inspect.store.collections import TaskKey
from bright_inspect.store.session import Run, Session

Ranks = tuple[int | None, ...]
"""A document's rank in each run of the session, None where it is not listed."""


@dataclass(frozen=True, slots=True)
class RunChange:
    """One run on one task, before the decisions and with them. Means and shares are fractions.

    ``place_before`` and ``place_after`` are in the order of the runs by mean, from 1, equal means sharing one.
    ``judged_before`` and ``judged_after`` are Judged@k at the pool's depth. ``pooled_depth`` is the rank down to which
    every list of the run is judged without a gap, ``pooled_mean`` the mean of that over the queries; lists that end
    before a gap count in full. ``outside_pool`` says that the run's documents were not pooled.
    """

    run: Run
    before: float
    after: float
    place_before: int
    place_after: int
    judged_before: float
    judged_after: float
    pooled_depth: int
    pooled_mean: float
    outside_pool: bool

    @property
    def delta(self) -> float:
        return self.after - self.before

    @property
    def moved(self) -> int:
        """By how many places the run rose (above 0) or fell."""
        return self.place_before - self.place_after


@dataclass(frozen=True, slots=True)
class DecisionShare:
    """What one decision does: ``deltas`` is each run's mean with all decisions less the mean without this one, None for
    runs without the task. They need not add up to the whole change, because golds share an ideal."""

    query: QueryKey
    doc_id: str
    before: int | None
    after: int
    deltas: tuple[float | None, ...]

    @property
    def largest(self) -> float:
        """The largest change of a run, whichever way."""
        return max((abs(delta) for delta in self.deltas if delta is not None), default=0.0)


@dataclass(slots=True)
class _Query:
    """A query's judgments and decisions, where each of their documents stands, and what every run's list is worth."""

    judged: dict[str, int]
    decided: dict[str, int]
    ranks: dict[str, list[int | None]]
    before: list[_Values] | None = None
    after: list[_Values] | None = None

    @property
    def overlaid(self) -> dict[str, int]:
        return {**self.judged, **self.decided}


@dataclass(frozen=True, slots=True)
class _Values:
    """One list: its value, its Judged@k, and down to which rank it is judged (all of it: its depth or the pool's)."""

    value: float
    judged: float
    pooled: int


class WhatIf:
    """The overlay of decisions on a session's judgments, by the session's runs and one measure.

    Made by ``load_what_if``. A decision re-scores its query alone.
    """

    def __init__(
        self,
        runs: Sequence[Run],
        measure: Measure,
        queries: Mapping[QueryKey, tuple[Mapping[str, int], Mapping[str, Sequence[int | None]]]],
        depths: Mapping[QueryKey, Sequence[int]],
        *,
        pool_depth: int = POOL_DEPTH,
        outside: Collection[int] = (),
    ) -> None:
        """``queries`` has, for every judged query of the runs' tasks, its judgments and the ranks of judged documents;
        ``depths`` how many documents each run lists for a query, excluded ones aside. ``outside`` are the ids of runs
        that were not pooled."""
        self.runs, self.measure, self.pool_depth = tuple(runs), measure, pool_depth
        self._outside = frozenset(outside)
        self._depths = depths
        self._queries: dict[QueryKey, _Query] = {}
        self._by_task: dict[TaskKey, list[_Query]] = {}
        self._shares: dict[QueryKey, list[tuple[str, list[_Values]]]] = {}
        for key, (judged, ranks) in queries.items():
            self._add(key, dict(judged), {doc_id: list(places) for doc_id, places in ranks.items()})

    def _add(self, key: QueryKey, judged: dict[str, int], ranks: dict[str, list[int | None]]) -> _Query:
        query = self._queries[key] = _Query(judged, {}, ranks)
        self._by_task.setdefault((key.dataset, key.task), []).append(query)
        if judged:
            query.before = query.after = self._values(key, query, judged)
        return query

    @property
    def tasks(self) -> tuple[TaskKey, ...]:
        """The tasks that have a judgment or a decision."""
        return tuple(
            task
            for task, queries in self._by_task.items()
            if any(query.before is not None or query.after is not None for query in queries)
        )

    @property
    def decisions(self) -> dict[Pair, int]:
        """The relevance of each decided pair."""
        return {
            (key.dataset, key.task, key.query_id, doc_id): relevance
            for key, query in self._queries.items()
            for doc_id, relevance in query.decided.items()
        }

    def decide(self, query: QueryKey, doc_id: str, relevance: int | None, ranks: Ranks | None = None) -> None:
        """Overlay a decision, or with None take away what is overlaid. ``ranks`` of the document must be given once,
        unless a judgment has them: as deep as the measure looks, as ``Candidate.ranks`` of a pool that knows as much.

        Raises:
            ValueError: nobody knows where the document stands.
        """
        found = self._queries.get(query)
        if found is None:
            if relevance is None:
                return
            found = self._add(query, {}, {})
        if ranks is not None:
            found.ranks[doc_id] = list(ranks)
        if relevance is None:
            if found.decided.pop(doc_id, None) is None:
                return
        else:
            if doc_id not in found.ranks:
                raise ValueError(f"the ranks of {doc_id} are not known")
            found.decided[doc_id] = relevance
        overlaid = found.overlaid
        found.after = self._values(query, found, overlaid) if overlaid else None
        self._shares.pop(query, None)

    def task_changes(self, task: TaskKey) -> list[RunChange]:
        """Every run that has the task, best first with the decisions."""
        queries = self._by_task.get(task, [])
        old = [query.before for query in queries if query.before is not None]
        new = [query.after for query in queries if query.after is not None]
        own = [run for run in self.runs if task in run.tasks]
        before = {run.run_id: _mean(values[run.run_id].value for values in old) for run in own}
        after = {run.run_id: _mean(values[run.run_id].value for values in new) for run in own}
        changes = [
            RunChange(
                run,
                before[run.run_id],
                after[run.run_id],
                _place(before[run.run_id], before.values()),
                _place(after[run.run_id], after.values()),
                _mean(values[run.run_id].judged for values in old),
                _mean(values[run.run_id].judged for values in new),
                min((values[run.run_id].pooled for values in new), default=0),
                _mean(values[run.run_id].pooled for values in new),
                run.run_id in self._outside,
            )
            for run in own
        ]
        return sorted(changes, key=lambda change: (change.place_after, change.run.run_id))

    def order_changed(self, task: TaskKey) -> bool:
        """Whether the decisions change the order of the runs."""
        return any(change.moved for change in self.task_changes(task))

    def decision_shares(self, task: TaskKey) -> list[DecisionShare]:
        """What each decision on the task does, the largest first. Queries that did not change are not scored again."""
        queries = {
            key: query for key, query in self._queries.items() if (key.dataset, key.task) == task and query.decided
        }
        counted = sum(query.after is not None for query in self._by_task.get(task, []))
        totals = [math.fsum(values) for values in zip(*self._after_values(task), strict=True)]
        own = [task in run.tasks for run in self.runs]
        shares = []
        for key, query in queries.items():
            if key not in self._shares:
                self._shares[key] = [(doc_id, self._without(key, query, doc_id)) for doc_id in query.decided]
            for doc_id, without in self._shares[key]:
                deltas: list[float | None] = []
                for run_id, has_task in enumerate(own):
                    now = query.after[run_id].value if query.after else 0.0
                    if not has_task:
                        deltas.append(None)
                    elif without:
                        deltas.append((now - without[run_id].value) / counted)
                    else:  # the query is judged by this decision alone
                        others = (totals[run_id] - now) / (counted - 1) if counted > 1 else 0.0
                        deltas.append(totals[run_id] / counted - others)
                shares.append(
                    DecisionShare(key, doc_id, query.judged.get(doc_id), query.decided[doc_id], tuple(deltas))
                )
        return sorted(shares, key=lambda share: (-share.largest, share.query, share.doc_id))

    def _after_values(self, task: TaskKey) -> list[list[float]]:
        return [
            [values.value for values in query.after] for query in self._by_task.get(task, []) if query.after is not None
        ]

    def _without(self, key: QueryKey, query: _Query, doc_id: str) -> list[_Values]:
        """Each run's list without one of the decisions; nothing if no judgment is left."""
        overlaid = {**query.judged, **{other: grade for other, grade in query.decided.items() if other != doc_id}}
        return self._values(key, query, overlaid) if overlaid else []

    def _values(self, key: QueryKey, query: _Query, judged: Mapping[str, int]) -> list[_Values]:
        depths = self._depths.get(key)
        grades = list(judged.values())
        return [
            self._value_of(
                [
                    (rank, grade)
                    for doc_id, grade in judged.items()
                    if (places := query.ranks.get(doc_id)) is not None and (rank := places[place]) is not None
                ],
                grades,
                depths[place] if depths else 0,
            )
            for place in range(len(self.runs))
        ]

    def _value_of(self, listed: Sequence[tuple[int, int]], grades: Sequence[int], depth: int) -> _Values:
        places = [JudgedPlace(grade, rank - 1) for rank, grade in listed]
        # Without ties the range is a point: the value by the evaluation's definitions.
        value = tie_range(self.measure, places, grades, depth).best if depth else 0.0
        within = {rank for rank, _ in listed if rank <= self.pool_depth}
        shown = min(depth, self.pool_depth)
        pooled = next((rank - 1 for rank in range(1, shown + 1) if rank not in within), self.pool_depth)
        return _Values(value, len(within) / shown if shown else 0.0, pooled)


def _mean(values: Iterable[float]) -> float:
    found = list(values)
    return math.fsum(found) / len(found) if found else 0.0


def _place(mean: float, means: Collection[float]) -> int:
    """The place of a mean among them: 1 + how many are above it."""
    return 1 + sum(other - mean > TIE_TOLERANCE for other in means)


def load_what_if(
    session: Session,
    cursor: Cursor,
    measure: Measure,
    decisions: Mapping[Pair, int | None] | None = None,
    *,
    pool_depth: int = POOL_DEPTH,
    outside: Collection[int] = (),
) -> WhatIf:
    """Read the judgments that count now and where their documents stand, and overlay the decisions, whose documents'
    ranks are looked up. ``outside`` as in ``WhatIf``."""
    queries: dict[QueryKey, tuple[dict[str, int], dict[str, list[int | None]]]] = {}
    for dataset, task, query_id, doc_id, relevance in cursor.execute("""
        SELECT dataset, task, query_id, doc_id, relevance
        FROM qrels SEMI JOIN (SELECT DISTINCT dataset, task FROM run_queries) USING (dataset, task)
    """).fetchall():
        judged, ranks = queries.setdefault(QueryKey(dataset, task, query_id), ({}, {}))
        judged[doc_id] = relevance
        ranks[doc_id] = [None] * len(session.runs)
    for run_id, dataset, task, query_id, doc_id, rank in cursor.execute(
        "SELECT run_id, dataset, task, query_id, doc_id, rank FROM judged WHERE rank IS NOT NULL"
    ).fetchall():
        queries[QueryKey(dataset, task, query_id)][1][doc_id][run_id] = rank
    depths: dict[QueryKey, list[int]] = {}
    for run_id, dataset, task, query_id, depth in cursor.execute("""
        SELECT q.run_id, dataset, task, query_id, any_value(q.depth) - count(e.doc_id)
        FROM run_queries q LEFT JOIN excluded_hits e USING (run_id, dataset, task, query_id) GROUP BY ALL
    """).fetchall():
        depths.setdefault(QueryKey(dataset, task, query_id), [0] * len(session.runs))[run_id] = depth
    what_if = WhatIf(session.runs, measure, queries, depths, pool_depth=pool_depth, outside=outside)
    taken = {
        (QueryKey(dataset, task, query_id), doc_id): relevance
        for (dataset, task, query_id, doc_id), relevance in (decisions or {}).items()
        if relevance is not None
    }
    known = {pair for pair in taken if pair[1] in queries.get(pair[0], ({}, {}))[1]}
    places = document_ranks(session, cursor, taken.keys() - known)
    for (key, doc_id), relevance in taken.items():
        what_if.decide(key, doc_id, relevance, places.get((key, doc_id)))
    return what_if

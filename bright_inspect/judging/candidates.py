"""The pool: every document that some open run ranks near the top and that nobody has judged."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, overload

from bright_inspect.db import Cursor, text_literal
from bright_inspect.domain.measures import Measure
from bright_inspect.domain.rankings import QueryKey
from bright_inspect.errors import UsageError
from bright_inspect.judging.ranked import ranked_sql
from bright_inspect.store.collections import TaskKey
from bright_inspect.store.documents import KEPT_DEPTH
from bright_inspect.store.session import Session

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

#: How deep lists are pooled unless told otherwise, and at most.
POOL_DEPTH = 10
MOST_DEPTH = 100

_POOL, _QUERIES = "triage_pool", "triage_queries"

Pair = tuple[str, str, str, str]
"""(dataset, task, query_id, doc_id)"""


@dataclass(frozen=True, slots=True)
class Candidate:
    """An unjudged document of one query. ``ranks`` and ``scores`` are in the order of the session's runs, None where a
    run does not list the document within the depth that the pool knows."""

    query: QueryKey
    doc_id: str
    ranks: tuple[int | None, ...]
    scores: tuple[float | None, ...]

    @property
    def best_rank(self) -> int:
        """The best rank in any run."""
        return min(rank for rank in self.ranks if rank is not None)

    @property
    def pair(self) -> Pair:
        return self.query.dataset, self.query.task, self.query.query_id, self.doc_id


@dataclass(frozen=True, slots=True, eq=False)
class CandidatePool(Sequence[Candidate]):
    """Candidates by query, in the data's order, and within it by best rank; one is made when it is looked at.

    Pooled to ``depth``; ranks are known down to ``ranks_to`` (None = whole lists). ``ranks`` has a row a candidate and
    a column a run, 0 where it is not listed; ``scores`` NaN there; ``query_of`` the number of its query in ``queries``;
    ``decided`` says which pairs were given as decided. ``held_back`` counts, by task, the candidates that are not in
    the pool because their text is not at hand.
    """

    depth: int
    ranks_to: int | None
    queries: tuple[QueryKey, ...]
    query_of: npt.NDArray[np.int32]
    doc_ids: Sequence[str]
    ranks: npt.NDArray[np.int32]
    scores: npt.NDArray[np.float64]
    decided: npt.NDArray[np.bool_]
    held_back: Mapping[TaskKey, int]

    def __len__(self) -> int:
        return len(self.doc_ids)

    @overload
    def __getitem__(self, index: int) -> Candidate: ...
    @overload
    def __getitem__(self, index: slice) -> list[Candidate]: ...
    def __getitem__(self, index: int | slice) -> Candidate | list[Candidate]:
        if isinstance(index, slice):
            return [self[place] for place in range(*index.indices(len(self)))]
        return Candidate(
            self.queries[self.query_of[index]],
            self.doc_ids[index],
            tuple(rank or None for rank in self.ranks[index].tolist()),
            tuple(None if score != score else score for score in self.scores[index].tolist()),
        )

    @property
    def held_back_count(self) -> int:
        """How many candidates are held back in all tasks."""
        return sum(self.held_back.values())

    def by_query(self) -> Iterator[tuple[QueryKey, range]]:
        """Each query with the places of its candidates, which follow each other."""
        start = 0
        while start < len(self):
            number = self.query_of[start]
            end = int(self.query_of.searchsorted(number, side="right"))
            yield self.queries[number], range(start, end)
            start = end


def ranks_needed(measure: Measure) -> int | None:
    """How deep a pool must know ranks for effects in a measure to be exact; None = whole lists."""
    return None if measure.cutoff is None else max(measure.cutoff, KEPT_DEPTH)


def pool_candidates(
    session: Session,
    cursor: Cursor,
    *,
    depth: int = POOL_DEPTH,
    ranks_to: int | None = KEPT_DEPTH,
    tasks: Collection[TaskKey] | None = None,
    decided: Collection[Pair] = (),
    leave_out_decided: bool = False,
    hold_back: bool = True,
) -> CandidatePool:
    """Pool the unjudged documents in the top ``depth`` of all open runs, each once, of all tasks or of ``tasks``.

    Documents excluded for a query are in none of its lists. Pairs in ``decided`` are marked, or left out. With
    ``hold_back`` False candidates without a text at hand are pooled too.

    Raises:
        UsageError: the depth is not from 1 to 100.
    """
    import numpy as np

    if not 1 <= depth <= MOST_DEPTH:
        raise UsageError(f"a pool of depth {depth}.", f"Give a depth from 1 to {MOST_DEPTH}.")
    known = None if ranks_to is None else max(ranks_to, depth)
    wanted = [task for task in session.tasks if tasks is None or task in tasks]
    numbered = _number_queries(cursor, wanted)
    sql = ranked_sql(session, cursor, wanted, _QUERIES, known) if numbered else None
    runs = range(len(session.runs))
    if sql is None:
        nothing = np.empty((0, len(runs)))
        places = nothing.astype(np.int32)
        return CandidatePool(depth, known, (), places[:, 0], [], places, nothing, nothing[:, 0] > 0, {})
    best = ", ".join(f"max(rank) FILTER (run_id = {run}) AS rank{run}" for run in runs)
    scores = ", ".join(f"max(score) FILTER (run_id = {run}) AS score{run}" for run in runs)
    pairs = [list(column) for column in zip(*decided, strict=True)] or [[], [], [], []]
    cursor.execute(
        f"""
        CREATE OR REPLACE TEMP TABLE {_POOL} AS
        WITH decided AS (
            SELECT DISTINCT number, doc_id, true AS decided
            FROM (SELECT unnest($1::VARCHAR[]) AS dataset, unnest($2::VARCHAR[]) AS task,
                         unnest($3::VARCHAR[]) AS query_id, unnest($4::VARCHAR[]) AS doc_id)
            JOIN {_QUERIES} USING (dataset, task, query_id)
        ), judged AS (
            SELECT number, doc_id FROM qrels JOIN {_QUERIES} USING (dataset, task, query_id)
        ), pooled AS (
            SELECT number, doc_id, min(rank) AS best, {best}, {scores}
            FROM ({sql}) ANTI JOIN judged USING (number, doc_id) GROUP BY number, doc_id HAVING best <= {depth}
        )
        SELECT p.*, q.task_number, coalesce(d.decided, false) AS decided, t.doc_id IS NOT NULL AS has_text
        FROM pooled p JOIN {_QUERIES} q USING (number)
        LEFT JOIN decided d USING (number, doc_id)
        LEFT JOIN ({_texts_sql(session, wanted)}) t USING (task_number, doc_id)
        {"WHERE NOT coalesce(d.decided, false)" if leave_out_decided else ""}
        """,
        pairs,
    )
    held = cursor.execute(f"SELECT task_number, count(*) FROM {_POOL} WHERE NOT has_text GROUP BY ALL").fetchall()
    values = ", ".join(f"coalesce(rank{run}, 0) AS rank{run}, score{run}" for run in runs)
    found = cursor.execute(f"""
        SELECT number, doc_id, decided, {values} FROM {_POOL} {"WHERE has_text" if hold_back else ""}
        ORDER BY number, best, doc_id
    """).fetchnumpy()
    cursor.execute(f"DROP TABLE {_POOL}")
    cursor.execute(f"DROP TABLE {_QUERIES}")
    return CandidatePool(
        depth,
        known,
        numbered,
        np.asarray(found["number"], np.int32),
        found["doc_id"].tolist(),
        np.column_stack([np.asarray(found[f"rank{run}"], np.int32) for run in runs]),
        np.column_stack([np.ma.filled(found[f"score{run}"].astype(np.float64), np.nan) for run in runs]),
        np.asarray(found["decided"], np.bool_),
        {wanted[number]: count for number, count in held} if hold_back else {},
    )


def _number_queries(cursor: Cursor, tasks: Sequence[TaskKey]) -> tuple[QueryKey, ...]:
    """Number the queries that runs have lists for, by task and in the data's order."""
    listed = ", ".join(
        f"({text_literal(dataset)}, {text_literal(task)}, {n})" for n, (dataset, task) in enumerate(tasks)
    )
    if not listed:
        return ()
    cursor.execute(f"""
        CREATE OR REPLACE TEMP TABLE {_QUERIES} AS
        SELECT (row_number() OVER (ORDER BY task_number, position, query_id) - 1)::INTEGER AS number, *
        FROM (SELECT DISTINCT dataset, task, query_id FROM run_queries)
        JOIN (VALUES {listed}) t (dataset, task, task_number) USING (dataset, task)
        LEFT JOIN (SELECT dataset, task, query_id, min(position) AS position FROM queries GROUP BY ALL)
             USING (dataset, task, query_id)
    """)
    rows = cursor.execute(f"SELECT dataset, task, query_id FROM {_QUERIES} ORDER BY number").fetchall()
    return tuple(QueryKey(*row) for row in rows)


def _texts_sql(session: Session, tasks: Sequence[TaskKey]) -> str:
    """SQL for ``(task_number, doc_id)`` of every document of these tasks whose text is at hand."""
    parts = ["SELECT NULL::INTEGER AS task_number, NULL::VARCHAR AS doc_id WHERE false"]
    for number, task in enumerate(tasks):
        source = session.collections.source(task)
        corpus = source.documents_sql(*task) if source else None
        if corpus is not None:
            # Runs made with a prebuilt Lucene index have underscores for the spaces in BRIGHT's ids (FORMATS A.5).
            parts.append(f"""
                SELECT DISTINCT {number}::INTEGER,
                       unnest(if(contains(doc_id, ' '), [doc_id, replace(doc_id, ' ', '_')], [doc_id]))
                FROM ({corpus})""")
    return " UNION ALL ".join(parts)

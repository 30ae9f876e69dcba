"""One row per query: its text, golds, each run's value, what ties leave of it, and where its best gold stands."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from bright_inspect.db import Cursor
from bright_inspect.domain.rankings import QueryKey
from bright_inspect.domain.ties import TieRange
from bright_inspect.evaluation.scores import TaskScores
from bright_inspect.store.session import Session


@dataclass(frozen=True, slots=True)
class QueryRow:
    """A query and what each run of the session made of it (tuples are in the order of the session's runs).

    ``values`` are fractions, None where a run does not cover the task or nothing is judged; ``depths`` how many
    documents each run returned (0 = no answer); ``best_gold_ranks`` the rank of the first gold, None if none is listed;
    ``ties`` the range that tie order leaves the value in, None where it changes nothing; ``removed`` how many excluded
    documents each run lists.
    """

    key: QueryKey
    position: int
    text: str
    golds: int
    values: tuple[float | None, ...]
    depths: tuple[int, ...]
    best_gold_ranks: tuple[int | None, ...]
    ties: tuple[TieRange | None, ...]
    removed: tuple[int, ...]

    def unjudged(self) -> QueryRow:
        """The same query where no judgment of it counts."""
        none = (None,) * len(self.values)
        return replace(self, golds=0, values=none, best_gold_ranks=none, ties=none)


def query_rows(session: Session, cursor: Cursor, scores: Sequence[TaskScores]) -> list[QueryRow]:
    """Every query of every task that a run covers: all judged ones, or the runs' own where nothing is judged."""
    values = {
        (score.run.run_id, *score.task, query_id): value
        for score in scores
        for query_id, value in score.per_query.items()
    }
    ties = {
        (score.run.run_id, *score.task, query_id): tie_range
        for score in scores
        for query_id, tie_range in score.ties.items()
        if tie_range.tie_sensitive
    }
    answers = {
        (run_id, dataset, task, query_id): (depth, best, removed)
        for run_id, dataset, task, query_id, depth, best, removed in cursor.execute("""
            WITH best AS (SELECT run_id, dataset, task, query_id, min(rank) AS rank
                          FROM judged WHERE relevance > 0 GROUP BY ALL),
                 removed AS (SELECT run_id, dataset, task, query_id, count(*) AS documents
                             FROM excluded_hits GROUP BY ALL)
            SELECT q.run_id, q.dataset, q.task, q.query_id, q.depth - coalesce(removed.documents, 0), best.rank,
                   coalesce(removed.documents, 0)
            FROM run_queries q LEFT JOIN best USING (run_id, dataset, task, query_id)
            LEFT JOIN removed USING (run_id, dataset, task, query_id)
        """).fetchall()
    }
    found = cursor.execute("""
        WITH judged_queries AS (
            SELECT dataset, task, query_id, count(*) FILTER (relevance > 0) AS golds FROM qrels GROUP BY ALL
        ), wanted AS (
            SELECT DISTINCT dataset, task, query_id, golds
            FROM judged_queries SEMI JOIN run_queries USING (dataset, task)
            UNION ALL
            SELECT DISTINCT dataset, task, query_id, 0 FROM run_queries ANTI JOIN judged_queries USING (dataset, task)
        )
        SELECT w.dataset, w.task, w.query_id, w.golds, q.position, coalesce(q.text, '')
        FROM wanted w LEFT JOIN queries q USING (dataset, task, query_id)
        ORDER BY w.dataset, w.task, q.position, w.query_id
    """).fetchall()
    rows = []
    for number, (dataset, task, query_id, golds, _, text) in enumerate(found):
        keys = [(run.run_id, dataset, task, query_id) for run in session.runs]
        rows.append(
            QueryRow(
                QueryKey(dataset, task, query_id),
                number,
                text,
                golds,
                tuple(values.get(key) for key in keys),
                tuple(answers.get(key, (0, None, 0))[0] for key in keys),
                tuple(answers.get(key, (0, None, 0))[1] for key in keys),
                tuple(ties.get(key) for key in keys),
                tuple(answers.get(key, (0, None, 0))[2] for key in keys),
            )
        )
    return rows

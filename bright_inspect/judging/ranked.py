"""Ranks and scores in whole runs, as SQL: a session's lists by its tie rule, without excluded documents."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from bright_inspect.db import Cursor, identifier
from bright_inspect.domain.rankings import QueryKey
from bright_inspect.store.collections import TaskKey
from bright_inspect.store.ordering import row_order
from bright_inspect.store.session import RunFile, Session

#: Columns that some tie rule orders by.
_ORDERED_BY = ("score", "given_rank", "position")


def ranked_sql(
    session: Session, cursor: Cursor, tasks: Collection[TaskKey], queries: str, depth: int | None
) -> str | None:
    """SQL for ``(number, run_id, doc_id, score, rank)`` of every run's lists down to ``depth`` (None = whole lists), or
    None if no run has any of the tasks.

    ``queries`` names a relation ``(number, dataset, task, query_id)`` of the queries that are wanted, all of ``tasks``.
    """
    run_of = {file: run.run_id for run in session.runs for file in run.files if set(file.tasks) & set(tasks)}
    if not run_of:
        return None
    own = list(run_of)
    order = row_order(session.ties)
    columns = [name for name in _ORDERED_BY if name == "score" or name in order.order_by]
    tops = {} if depth is None else _tops(cursor, own, depth)
    rows = " UNION ALL ".join(
        f"SELECT {file.file_id} AS file_id, query_id, doc_id, {', '.join(columns)} FROM {identifier(file.rows)} "
        + (f"WHERE above < {tops[file.file_id]}" if file.file_id in tops else "")
        for file in own
    )
    runs = ", ".join(f"({file.file_id}, {run_id})" for file, run_id in run_of.items())
    # Filled for every file of a task that has exclusions.
    excluding = any(map(session.collections.has_exclusions, tasks))
    # Numbers instead of names: to part a million rows by those takes twice as long.
    return f"""
        SELECT number, run_id::INTEGER AS run_id, doc_id, score, rank FROM (
            SELECT l.number, l.run_id, r.doc_id, r.score,
                   (row_number() OVER (PARTITION BY l.list ORDER BY {order.order_by}))::INTEGER AS rank
            FROM ({rows}) r JOIN (
                SELECT q.rowid AS list, file_id, number, run_id, dataset, task, query_id
                FROM file_queries q JOIN (VALUES {runs}) f (file_id, run_id) USING (file_id)
                JOIN {queries} w USING (dataset, task, query_id)
            ) l USING (file_id, query_id)
            {"ANTI JOIN file_excluded e USING (file_id, dataset, task, query_id, doc_id)" if excluding else ""}
        ) {f"WHERE rank <= {depth}" if depth is not None else ""}"""


def _tops(cursor: Cursor, files: Sequence[RunFile], depth: int) -> dict[int, int]:
    """For each converted file below how many better scores a document may be in the top ``depth``.

    ``above`` counts the better scores as float32, which no tie rule and no mended document id brings down: a row with
    as many above it as are wanted and may leave is further down under every rule.
    """
    counted = {name for (name,) in cursor.execute(
        "SELECT table_name FROM duckdb_columns() WHERE column_name = 'above'").fetchall()}  # fmt: skip
    leaving = dict(
        cursor.execute("""
            SELECT file_id, max(documents) FROM (SELECT file_id, count(*) AS documents FROM file_excluded
                                                 GROUP BY file_id, dataset, task, query_id) GROUP BY file_id
        """).fetchall()
    )
    return {file.file_id: depth + leaving.get(file.file_id, 0) for file in files if file.rows in counted}


def document_ranks(
    session: Session, cursor: Cursor, pairs: Collection[tuple[QueryKey, str]]
) -> dict[tuple[QueryKey, str], tuple[int | None, ...]]:
    """The rank of each of the documents in every run of the session for its query; None where a run does not list it or
    it is excluded. The lists of these queries are read whole."""
    keys = list(dict.fromkeys(key for key, _ in pairs))
    found: dict[tuple[QueryKey, str], list[int | None]] = {pair: [None] * len(session.runs) for pair in pairs}
    if not keys:
        return {}
    cursor.execute(
        """CREATE OR REPLACE TEMP TABLE wanted_queries AS
           SELECT unnest(range(len($1::VARCHAR[]))) AS number, unnest($1::VARCHAR[]) AS dataset,
                  unnest($2::VARCHAR[]) AS task, unnest($3::VARCHAR[]) AS query_id""",
        [[key.dataset for key in keys], [key.task for key in keys], [key.query_id for key in keys]],
    )
    sql = ranked_sql(session, cursor, {(key.dataset, key.task) for key in keys}, "wanted_queries", None)
    if sql is not None:
        number_of = {key: number for number, key in enumerate(keys)}
        for number, run_id, doc_id, rank in cursor.execute(
            f"""SELECT number, run_id, doc_id, rank FROM ({sql}) SEMI JOIN (
                    SELECT unnest($1::BIGINT[]) AS number, unnest($2::VARCHAR[]) AS doc_id) USING (number, doc_id)""",
            [[number_of[key] for key, _ in found], [doc_id for _, doc_id in found]],
        ).fetchall():
            found[keys[number], doc_id][run_id] = rank
    cursor.execute("DROP TABLE wanted_queries")
    return {pair: tuple(ranks) for pair, ranks in found.items()}

"""Where judged and excluded documents stand in a run file: all that the measures need of it.

A freshly read file has no ranks yet; those of the few judged documents are counted, which is cheaper than sorting the
whole run. A converted file has them stored.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from bright_inspect.db import Cursor, identifier
from bright_inspect.domain.findings import Finding
from bright_inspect.domain.ordering import TieRule
from bright_inspect.store.collections import Collections, TaskKey, task_condition
from bright_inspect.store.ordering import row_order
from bright_inspect.store.session import Session


def place_documents(
    cursor: Cursor,
    rows: str,
    file_id: int,
    tasks: Sequence[TaskKey],
    collections: Collections,
    ties: TieRule,
    *,
    ranked: bool,
) -> None:
    """Fill ``file_placed`` and ``file_excluded`` for one file with queries of ``tasks``. ``rows`` is its table or view;
    ``ranked`` says that it has the columns of ``run_cache.ranked_sql``."""
    ranked = ranked and ties == "trec"
    judged = _listed_sql(rows, file_id, tasks, "all_qrels", len(tasks) > 1, ranked)
    excluding = [key for key in tasks if collections.has_exclusions(key)]
    judged = _placed(cursor, rows, judged, "placed_judged", ties, ranked)
    if not excluding:
        cursor.execute(f"""
            INSERT INTO file_placed
            SELECT {file_id}, dataset, task, query_id, doc_id, raw_rank, raw_rank, above, tied FROM ({judged})
        """)
        return
    excluded = _listed_sql(rows, file_id, excluding, "exclusions", len(tasks) > 1, ranked)
    excluded = _placed(cursor, rows, excluded, "placed_excluded", ties, ranked)
    cursor.execute(
        f"INSERT INTO file_excluded SELECT {file_id}, dataset, task, query_id, doc_id, raw_rank FROM ({excluded})"
    )
    _insert_placed(cursor, file_id, judged)


def place_new_documents(session: Session, cursor: Cursor) -> None:
    """Fill ``file_placed`` for what layers judge now and did not when the files were opened."""
    for run in session.runs:
        for file in run.files:
            cursor.execute(f"""
                CREATE OR REPLACE TEMP TABLE new_pairs AS
                SELECT DISTINCT dataset, task, query_id, doc_id FROM all_qrels
                SEMI JOIN (FROM file_queries WHERE file_id = {file.file_id}) USING (dataset, task, query_id)
                ANTI JOIN (FROM file_placed WHERE file_id = {file.file_id}) USING (dataset, task, query_id, doc_id)
            """)
            count = cursor.execute("SELECT count(*) FROM new_pairs").fetchone()
            if count and count[0]:
                # Stored ranks go by the ids in the file, which the session may spell otherwise: these are counted.
                listed = _listed_sql(file.rows, file.file_id, file.tasks, "new_pairs", len(file.tasks) > 1, False)
                placed = _placed(cursor, file.rows, listed, "placed_new", session.ties, False)
                _insert_placed(cursor, file.file_id, placed)


def _insert_placed(cursor: Cursor, file_id: int, judged: str) -> None:
    """Add the documents of ``judged`` to ``file_placed``, with their ranks without the excluded documents."""
    cursor.execute(f"""
        INSERT INTO file_placed
        SELECT {file_id}, j.dataset, j.task, j.query_id, j.doc_id, j.raw_rank,
               CASE WHEN list_contains(e.docs, j.doc_id) THEN NULL
                    ELSE j.raw_rank - {_removed("r < j.raw_rank")} END,
               j.above - {_removed("r <= j.above")},
               j.tied - {_removed("r > j.above AND r <= j.above + j.tied")}
        FROM ({judged}) j LEFT JOIN (
            SELECT dataset, task, query_id, list(doc_id) AS docs, list(raw_rank) AS ranks
            FROM file_excluded WHERE file_id = {file_id} GROUP BY ALL) e USING (dataset, task, query_id)
    """)


def _removed(condition: str) -> str:
    """SQL for how many of a query's excluded documents have a rank r for which the condition holds."""
    return f"coalesce(len(list_filter(e.ranks, lambda r: {condition})), 0)"


def _listed_sql(rows: str, file_id: int, tasks: Sequence[TaskKey], table: str, several: bool, ranked: bool) -> str:
    """SQL for the documents of ``all_qrels`` or ``exclusions`` that the file lists.

    ``several`` says that the file's queries are of several tasks, so that a query id alone does not name one.
    """
    # Tasks are named outright, so that DuckDB skips the other tasks' million exclusions.
    of_tasks = " OR ".join(f"({task_condition(key)})" for key in tasks)
    # No other columns: a converted run is read by column.
    wanted = ("rank", "above", "tied") if ranked else ("score", "given_rank", "position")
    columns = ", ".join(f"r.{name}" for name in ("query_id", "doc_id", *wanted))
    own = f"SEMI JOIN (FROM file_queries WHERE file_id = {file_id}) USING (dataset, task, query_id)" if several else ""
    return f"""
        SELECT DISTINCT {columns}, q.dataset, q.task
        FROM {identifier(rows)} r
        JOIN (SELECT dataset, task, query_id, doc_id FROM {table} {own} WHERE {of_tasks}) q
             ON r.query_id = q.query_id AND r.doc_id = q.doc_id"""


def _placed(cursor: Cursor, rows: str, listed: str, table: str, ties: TieRule, ranked: bool) -> str:
    """SQL for ``(dataset, task, query_id, doc_id, raw_rank, above, tied)`` of the documents of ``listed``.

    Rows that are ``ranked`` by the rule tell it; else the documents of the query that precede are counted.
    """
    if ranked:
        return f"SELECT dataset, task, query_id, doc_id, rank AS raw_rank, above, tied FROM ({listed})"
    order = row_order(ties)
    cursor.execute(f"""
        CREATE OR REPLACE TEMP TABLE {table} AS
        SELECT dataset, task, query_id, doc_id, {order.key} AS key, {order.breaker} AS breaker FROM ({listed})
    """)
    cursor.execute(f"""
        CREATE OR REPLACE TEMP TABLE {table} AS
        WITH all_rows AS (SELECT query_id, {order.key} AS key, {order.breaker} AS breaker FROM {identifier(rows)}),
        ranks AS (
            SELECT t.rowid AS place,
                   (count(*) FILTER (r.key > t.key OR r.breaker {order.not_after} t.breaker))::INTEGER AS raw_rank,
                   (count(*) FILTER (r.key > t.key))::INTEGER AS above,
                   (count(*) FILTER (r.key = t.key))::INTEGER AS tied
            FROM {table} t JOIN all_rows r ON r.query_id = t.query_id AND r.key >= t.key
            GROUP BY ALL
        )
        SELECT t.* EXCLUDE (key, breaker), raw_rank, above, tied FROM {table} t JOIN ranks ON ranks.place = t.rowid
    """)
    return f"FROM {table}"


def _named(query_ids: list[str | None]) -> str:
    """Query ids for a message, each cut short; a damaged data set may hold one that is null."""
    return ", ".join("(no id)" if query_id is None else query_id[:80] for query_id in query_ids)


#: What ``standing_findings`` finds.
STANDING_CODES = ("unknown-query", "missing-query", "excluded-document", "short-list")
#: A shorter usual depth says nothing: such lists end where the documents do.
_FULL_LIST = 10


def standing_findings(cursor: Cursor, files: Mapping[int, Path]) -> dict[int, list[Finding]]:
    """What each file has that the judgments do not know, lacks that they have, or should not have.

    ``files`` are the files that there are judgments for; all are asked about at once.
    """
    findings: dict[int, list[Finding]] = {file_id: [] for file_id in files}
    wanted = ", ".join(map(str, files))
    if not wanted:
        return findings
    own = f"(FROM file_queries WHERE file_id IN ({wanted}))"
    for file_id, count, first in cursor.execute(f"""
        SELECT file_id, count(*), list(query_id ORDER BY query_id)[:3]
        FROM {own} ANTI JOIN qrels USING (dataset, task, query_id) GROUP BY file_id
    """).fetchall():
        message = f"{count} query id(s) without judgments are ignored: {_named(first)}."
        findings[file_id].append(Finding("unknown-query", "warning", str(files[file_id]), message, None, count))
    for file_id, dataset, task, count, judged, first in cursor.execute(f"""
        SELECT t.file_id, dataset, task, count(*) FILTER (f.query_id IS NULL) AS missing, count(*),
               list(q.query_id ORDER BY q.query_id) FILTER (f.query_id IS NULL)[:3]
        FROM (SELECT DISTINCT file_id, dataset, task FROM {own}) t
        JOIN (SELECT DISTINCT dataset, task, query_id FROM qrels) q USING (dataset, task)
        LEFT JOIN {own} f USING (file_id, dataset, task, query_id)
        GROUP BY ALL HAVING missing > 0 ORDER BY ALL
    """).fetchall():
        message = f"{count} of {judged} judged queries of {dataset}/{task} are missing and count as 0: {_named(first)}."
        findings[file_id].append(Finding("missing-query", "warning", str(files[file_id]), message, None, count))
    for file_id, count, queries, first in cursor.execute(f"""
        SELECT file_id, count(*), count(DISTINCT (dataset, task, query_id)),
               min({{'rank': raw_rank, 'query': query_id, 'doc': doc_id}})
        FROM file_excluded WHERE file_id IN ({wanted}) GROUP BY file_id
    """).fetchall():
        message = (
            f"{count} excluded document(s) in {queries} queries removed before ranking. "
            f"First: query {first['query']}, {first['doc']}."
        )
        findings[file_id].append(Finding("excluded-document", "warning", str(files[file_id]), message, None, count))
    for file_id, usual, count, shortest, depth in cursor.execute(f"""
        WITH usual AS (
            SELECT file_id, dataset, task, mode(depth) AS depth, count(*) AS queries
            FROM {own} GROUP BY ALL HAVING depth >= {_FULL_LIST}
        )
        SELECT q.file_id, u.depth, count(*) FILTER (q.depth * 2 <= u.depth) AS short,
               min_by(q.query_id, q.depth), min(q.depth)
        FROM {own} q JOIN usual u USING (file_id, dataset, task)
        GROUP BY q.file_id, q.dataset, q.task, u.depth, u.queries
        HAVING short > 0 AND count(*) FILTER (q.depth = u.depth) >= 0.9 * u.queries
        ORDER BY ALL
    """).fetchall():
        message = (
            f"{count} query list(s) of at most half the file's usual {usual} documents, scored as they are. "
            f"First: query {shortest}, {depth} documents."
        )
        findings[file_id].append(Finding("short-list", "warning", str(files[file_id]), message, None, count))
    return findings

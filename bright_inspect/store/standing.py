"""Where judged and excluded documents stand in a run file: all that the measures need of it.

A freshly read file has no ranks yet; those of the few judged documents are counted, which is cheaper than sorting the
whole run. A converted file has them stored.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from bright_inspect.db import Cursor, identifier
from bright_inspect.domain.findings import Finding
from bright_inspect.store.collections import Collections, TaskKey, task_condition
from bright_inspect.store.resolving import Resolution
from bright_inspect.store.run_cache import float32_sql


def place_documents(
    cursor: Cursor, rows: str, file_id: int, resolution: Resolution, collections: Collections, ranked: bool
) -> None:
    """Fill ``file_judged`` and ``file_excluded`` for one file from its table or view ``rows``."""
    several = len(resolution.tasks) > 1
    _find_listed(cursor, rows, file_id, resolution.tasks, "qrels", several, ranked)
    excluding = [key for key in resolution.tasks if collections.has_exclusions(key)]
    if not excluding:
        cursor.execute(f"""
            INSERT INTO file_judged
            SELECT {file_id}, dataset, task, query_id, doc_id, relevance, score, raw_rank, raw_rank FROM placed_qrels
        """)
        return
    _find_listed(cursor, rows, file_id, excluding, "exclusions", several, ranked)
    cursor.execute(
        f"INSERT INTO file_excluded SELECT {file_id}, dataset, task, query_id, doc_id, raw_rank FROM placed_exclusions"
    )
    cursor.execute(f"""
        INSERT INTO file_judged
        SELECT {file_id}, j.dataset, j.task, j.query_id, j.doc_id, j.relevance, j.score, j.raw_rank,
               CASE WHEN e.docs IS NULL THEN j.raw_rank
                    WHEN list_contains(e.docs, j.doc_id) THEN NULL
                    ELSE j.raw_rank - len(list_filter(e.ranks, lambda r: r < j.raw_rank)) END
        FROM placed_qrels j LEFT JOIN (
            SELECT dataset, task, query_id, list(doc_id) AS docs, list(raw_rank) AS ranks
            FROM placed_exclusions GROUP BY ALL) e USING (dataset, task, query_id)
    """)


def _find_listed(
    cursor: Cursor, rows: str, file_id: int, tasks: Sequence[TaskKey], table: str, several: bool, ranked: bool
) -> None:
    """Fill the temporary table ``placed_{table}`` with the documents of ``qrels`` or ``exclusions`` the file lists.

    ``several`` says that the file's queries are of several tasks, so that a query id alone does not name one.
    """
    # Tasks are named outright, so that DuckDB skips the other tasks' million exclusions.
    of_tasks = " OR ".join(f"({task_condition(key)})" for key in tasks)
    own = f"SEMI JOIN (FROM file_queries WHERE file_id = {file_id}) USING (dataset, task, query_id)" if several else ""
    cursor.execute(f"""
        CREATE OR REPLACE TEMP TABLE placed_{table} AS
        SELECT {"DISTINCT" if table == "exclusions" else ""} q.dataset, q.task, r.query_id, r.doc_id, r.score,
               {"q.relevance" if table == "qrels" else "NULL::INTEGER AS relevance"},
               {"r.rank" if ranked else "NULL::INTEGER"} AS raw_rank
        FROM {identifier(rows)} r
        JOIN (SELECT * FROM {table} {own} WHERE {of_tasks}) q ON r.query_id = q.query_id AND r.doc_id = q.doc_id
    """)
    if not ranked:
        _count_ranks(cursor, identifier(rows), f"placed_{table}")


def _count_ranks(cursor: Cursor, rows: str, table: str) -> None:
    """Set ``raw_rank`` in ``table``: one more than the documents of the query that precede by trec_eval's rule."""
    cursor.execute(f"""
        CREATE OR REPLACE TEMP TABLE {table} AS
        WITH placed AS (SELECT rowid AS place, query_id, doc_id, {float32_sql("score")} AS score FROM {table}),
        listed AS (SELECT query_id, doc_id, {float32_sql("score")} AS score FROM {rows}),
        ranks AS (
            SELECT t.place, count(*)::INTEGER AS raw_rank
            FROM placed t JOIN listed r ON r.query_id = t.query_id AND r.score >= t.score
            WHERE r.score > t.score OR r.doc_id >= t.doc_id
            GROUP BY ALL
        )
        SELECT t.* EXCLUDE (raw_rank), ranks.raw_rank FROM {table} t JOIN ranks ON ranks.place = t.rowid
    """)


def standing_findings(cursor: Cursor, rows: str, file_id: int, resolution: Resolution, path: Path) -> list[Finding]:
    """What a file has that the judgments do not know, lacks that they have, or should not have."""
    findings = []
    of_tasks = " OR ".join(f"({task_condition(key)})" for key in resolution.tasks)
    own = f"(SELECT dataset, task, query_id FROM file_queries WHERE file_id = {file_id})"
    # Queries that belong to none of several tasks are only in the rows.
    listed = own if len(resolution.tasks) == 1 else f"(SELECT DISTINCT query_id FROM {identifier(rows)})"
    judged = f"(SELECT DISTINCT dataset, task, query_id FROM qrels WHERE {of_tasks})"
    unknown = cursor.execute(f"""
        SELECT count(*), list(query_id ORDER BY query_id)[:3] FROM {listed}
        WHERE query_id NOT IN (SELECT query_id FROM {own} SEMI JOIN {judged} USING (dataset, task, query_id))
    """).fetchone()
    if unknown and unknown[0]:
        message = f"{unknown[0]} query id(s) without judgments are ignored: {', '.join(unknown[1])}."
        findings.append(Finding("unknown-query", "warning", str(path), message, None, unknown[0]))
    for dataset, task, count, total, first in cursor.execute(f"""
        SELECT dataset, task, count(*) FILTER (f.query_id IS NULL) AS missing, count(*),
               list(q.query_id ORDER BY q.query_id) FILTER (f.query_id IS NULL)[:3]
        FROM {judged} q LEFT JOIN {own} f USING (dataset, task, query_id)
        GROUP BY ALL HAVING missing > 0 ORDER BY ALL
    """).fetchall():
        message = (
            f"{count} of {total} judged queries of {dataset}/{task} are missing and count as 0: {', '.join(first)}."
        )
        findings.append(Finding("missing-query", "warning", str(path), message, None, count))
    excluded = cursor.execute(
        """SELECT count(*), count(DISTINCT query_id), min_by(query_id, raw_rank), min_by(doc_id, raw_rank)
           FROM file_excluded WHERE file_id = ?""",
        [file_id],
    ).fetchone()
    if excluded and excluded[0]:
        message = (
            f"{excluded[0]} excluded document(s) in {excluded[1]} queries removed before ranking. "
            f"First: query {excluded[2]}, {excluded[3]}."
        )
        findings.append(Finding("excluded-document", "warning", str(path), message, None, excluded[0]))
    return findings

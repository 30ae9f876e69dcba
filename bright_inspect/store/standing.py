"""Where judged and excluded documents stand in a run file: all that the measures need of it.

A freshly read file has no ranks yet; those of the few judged documents are counted, which is cheaper than sorting the
whole run. A converted file has them stored.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from bright_inspect.db import Cursor, identifier
from bright_inspect.domain.findings import Finding
from bright_inspect.store.collections import TaskKey, task_condition
from bright_inspect.store.run_cache import ranked_sql


def place_documents(cursor: Cursor, rows: str, file_id: int, tasks: Sequence[TaskKey], ranked: bool) -> None:
    """Fill ``file_judged`` and ``file_excluded`` for one file from its table or view ``rows``."""
    name = identifier(rows)
    # Named outright, so that DuckDB skips the other tasks' million exclusions.
    of_tasks = " OR ".join(f"({task_condition(key)})" for key in tasks)
    for table, judgments, value in (("placed_judged", "qrels", "relevance"), ("placed_excluded", "exclusions", "NULL")):
        cursor.execute(
            f"""
            CREATE OR REPLACE TEMP TABLE {table} AS
            SELECT DISTINCT q.dataset, q.task, r.query_id, r.doc_id, r.score, {value}::INTEGER AS relevance,
                   {"r.rank" if ranked else "NULL::INTEGER"} AS raw_rank
            FROM {name} r
            JOIN (SELECT j.* FROM (SELECT * FROM {judgments} WHERE {of_tasks}) j
                  SEMI JOIN (SELECT * FROM file_queries WHERE file_id = ?) f USING (dataset, task, query_id)) q
              ON r.query_id = q.query_id AND r.doc_id = q.doc_id
            """,
            [file_id],
        )
        if not ranked:
            _count_ranks(cursor, name, table)
    cursor.execute(
        f"INSERT INTO file_excluded SELECT {file_id}, dataset, task, query_id, doc_id, raw_rank FROM placed_excluded"
    )
    cursor.execute(f"""
        INSERT INTO file_judged
        SELECT {file_id}, j.dataset, j.task, j.query_id, j.doc_id, j.relevance, j.score, j.raw_rank,
               CASE WHEN e.docs IS NULL THEN j.raw_rank
                    WHEN list_contains(e.docs, j.doc_id) THEN NULL
                    ELSE j.raw_rank - len(list_filter(e.ranks, lambda r: r < j.raw_rank)) END
        FROM placed_judged j LEFT JOIN (
            SELECT dataset, task, query_id, list(doc_id) AS docs, list(raw_rank) AS ranks
            FROM placed_excluded GROUP BY ALL) e USING (dataset, task, query_id)
    """)


def _count_ranks(cursor: Cursor, rows: str, table: str) -> None:
    """Set ``raw_rank`` in ``table``: one more than the documents of the query that precede by trec_eval's rule."""
    cursor.execute(f"""
        CREATE OR REPLACE TEMP TABLE {table} AS
        WITH ranks AS (
            SELECT t.rowid AS place, count(*)::INTEGER AS raw_rank
            FROM {table} t JOIN {rows} r
              ON r.query_id = t.query_id AND r.score::FLOAT >= t.score::FLOAT
            WHERE r.score::FLOAT > t.score::FLOAT OR r.doc_id >= t.doc_id
            GROUP BY ALL
        )
        SELECT t.* EXCLUDE (raw_rank), ranks.raw_rank FROM {table} t JOIN ranks ON ranks.place = t.rowid
    """)


def depth_sql(rows: str, query: str) -> str:
    """SQL for one query's ranked rows of a file; works for fresh and converted files alike."""
    return ranked_sql(f"(SELECT * FROM {identifier(rows)} WHERE query_id = {query})")


def standing_findings(cursor: Cursor, file_id: int, rows: str, path: Path) -> list[Finding]:
    """What a file has that the judgments do not know, lacks that they have, or should not have."""
    findings = []
    unknown = cursor.execute(
        f"""
        SELECT count(*), list(query_id ORDER BY query_id)[:3] FROM (
            SELECT DISTINCT query_id FROM {identifier(rows)}
            WHERE query_id NOT IN (SELECT query_id FROM file_queries f SEMI JOIN qrels USING (dataset, task, query_id)
                                   WHERE f.file_id = ?))
        """,
        [file_id],
    ).fetchone()
    if unknown and unknown[0]:
        message = f"{unknown[0]} query id(s) without judgments are ignored: {', '.join(unknown[1])}."
        findings.append(Finding("unknown-query", "warning", str(path), message, None, unknown[0]))
    for dataset, task, count, judged, first in cursor.execute(
        """
        SELECT dataset, task, count(*) FILTER (f.query_id IS NULL), count(*),
               list(q.query_id ORDER BY q.query_id) FILTER (f.query_id IS NULL)[:3]
        FROM (SELECT DISTINCT dataset, task, query_id FROM qrels
              SEMI JOIN (SELECT * FROM file_queries WHERE file_id = $file) USING (dataset, task)) q
        LEFT JOIN (SELECT * FROM file_queries WHERE file_id = $file) f USING (dataset, task, query_id)
        GROUP BY ALL HAVING count(*) FILTER (f.query_id IS NULL) > 0
        """,
        {"file": file_id},
    ).fetchall():
        message = (
            f"{count} of {judged} judged queries of {dataset}/{task} are missing and count as 0: {', '.join(first)}."
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

"""Ids that a run spells in another way than the judgments: prefixed query ids, and underscores for spaces.

Some writers put the split's name or a letter before each query id (FORMATS E.10); prebuilt Lucene indexes of BRIGHT
have underscores for the spaces in document ids (FORMATS A.5). Both are mended with a finding, never silently.
"""

from __future__ import annotations

import os.path
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from bright_inspect.db import Cursor, identifier
from bright_inspect.domain.findings import Finding
from bright_inspect.store.collections import Collections, TaskKey, task_condition

#: What may stand between a prefix and the id.
_SEPARATORS = re.compile(r"[^0-9A-Za-z]")


@dataclass(frozen=True, slots=True)
class QueryPrefix:
    """A prefix that every query id of a run has and that the judgments' ids lack."""

    text: str

    @property
    def sql(self) -> str:
        """SQL for a row's query id with the prefix taken off."""
        return f"query_id[{len(self.text) + 1}:]"

    def finding(self, path: Path, queries: int) -> Finding:
        message = (
            f"all {queries} query ids begin with {self.text!r}, which the judgments' ids lack: taken off, so that "
            f"{self.text}0 is query 0. Other tools find no query in common."
        )
        return Finding("prefixed-query-ids", "warning", str(path), message, None, queries)


def query_prefix(cursor: Cursor, rows: str, collections: Collections) -> QueryPrefix | None:
    """The prefix without which the run lists golds of a known task; None if there is none such."""
    bounds = cursor.execute(f"SELECT min(query_id), max(query_id) FROM {identifier(rows)}").fetchone()
    if bounds is None or bounds[0] is None:
        return None
    common = os.path.commonprefix([str(bounds[0]), str(bounds[1])])  # noqa: RUF071 (texts, not paths)
    cuts = [match.end() for match in _SEPARATORS.finditer(common)]
    letters = re.match(r"[A-Za-z]+(?=[0-9]|$)", common)
    for cut in dict.fromkeys([*([letters.end()] if letters else []), *cuts]):
        collections.load_known_golds()
        found = cursor.execute(
            f"""SELECT EXISTS (SELECT 1 FROM {identifier(rows)} r JOIN known_golds g
                               ON g.query_id = r.query_id[{cut + 1}:]
                               AND replace(g.doc_id, ' ', '_') = replace(r.doc_id, ' ', '_'))"""
        ).fetchone()
        if found and found[0]:
            return QueryPrefix(common[:cut])
    return None


def query_count(cursor: Cursor, rows: str) -> int:
    row = cursor.execute(f"SELECT count(DISTINCT query_id) FROM {identifier(rows)}").fetchone()
    return int(row[0]) if row else 0


def document_aliases(
    cursor: Cursor,
    rows: str,
    path: Path,
    tasks: Sequence[TaskKey],
    collections: Collections,
    table: str,
    *,
    run_has_spaces: bool,
) -> tuple[str, Finding] | None:
    """Fill ``table(query_id, alias, known_id)`` with the run's document ids that are a judged or excluded document's
    but for underscores in place of spaces, or the other way round; SQL that gives a row's ``doc_id`` that spelling,
    where ``{query_id}`` stands for the query's mended id, and the finding.

    A list that holds the known spelling keeps both as they are. None, and no table, if there is no such id.
    """
    of_tasks = " OR ".join(f"({task_condition(key)})" for key in tasks)
    known = f"SELECT query_id, doc_id FROM all_qrels WHERE {of_tasks}"
    if any(collections.has_exclusions(key) for key in tasks):
        known += f" UNION SELECT query_id, doc_id FROM exclusions WHERE {of_tasks}"
    spaced = cursor.execute(f"SELECT bool_or(contains(doc_id, ' ')) FROM ({known})").fetchone()
    if not run_has_spaces and (spaced is None or not spaced[0]):
        return None
    cursor.execute(f"""
        CREATE OR REPLACE TABLE {identifier(table)} AS
        WITH known AS MATERIALIZED ({known}),
        listed AS (SELECT DISTINCT query_id, doc_id FROM {identifier(rows)})
        SELECT query_id, min(alias) AS alias, known_id FROM (
            SELECT r.query_id, r.doc_id AS alias, min(k.doc_id) AS known_id
            FROM (FROM listed ANTI JOIN known USING (query_id, doc_id)) r
            JOIN (FROM known ANTI JOIN listed USING (query_id, doc_id)) k
                 ON r.query_id = k.query_id AND replace(r.doc_id, ' ', '_') = replace(k.doc_id, ' ', '_')
            GROUP BY r.query_id, r.doc_id)
        GROUP BY query_id, known_id
    """)
    found = cursor.execute(
        f"SELECT count(*), min({{'q': query_id, 'a': alias, 'k': known_id}}) FROM {identifier(table)}"
    ).fetchone()
    if found is None or not found[0]:
        cursor.execute(f"DROP TABLE {identifier(table)}")
        return None
    count, first = found
    message = (
        f"{count} listed document(s) differ from a judged or excluded one only in '_' for ' ': taken as that one. "
        f"First: query {first['q']}, {first['a']} is {first['k']}. Other tools take them for others."
    )
    sql = (
        f"coalesce((SELECT a.known_id FROM {identifier(table)} a "
        "WHERE a.alias = doc_id AND a.query_id = {query_id}), doc_id)"
    )
    return sql, Finding("document-alias", "warning", str(path), message, None, count)

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

from bright_inspect.db import Cursor, identifier, text_literal
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
                               ON g.query_id = r.query_id[{cut + 1}:] AND g.doc_id = r.doc_id)"""
        ).fetchone()
        if found and found[0]:
            return QueryPrefix(common[:cut])
    return None


def query_count(cursor: Cursor, rows: str) -> int:
    row = cursor.execute(f"SELECT count(DISTINCT query_id) FROM {identifier(rows)}").fetchone()
    return int(row[0]) if row else 0


def document_aliases(
    cursor: Cursor, rows: str, path: Path, tasks: Sequence[TaskKey], table: str, *, run_has_spaces: bool
) -> tuple[str, Finding] | None:
    """Fill ``table(alias, judged_id)`` with the run's document ids that are a judged document's but for underscores in
    place of spaces, or the other way round; SQL that gives a row's own ``doc_id`` its judged spelling, and the finding.
    None, and no table, if there is no such id."""
    of_tasks = " OR ".join(f"({task_condition(key)})" for key in tasks)
    spaced = cursor.execute(f"SELECT bool_or(contains(doc_id, ' ')) FROM all_qrels WHERE {of_tasks}").fetchone()
    if not run_has_spaces and (spaced is None or not spaced[0]):
        return None
    aliases = cursor.execute(f"""
        SELECT r.doc_id, min(q.doc_id) FROM {identifier(rows)} r JOIN all_qrels q
        ON r.query_id = q.query_id AND replace(r.doc_id, ' ', '_') = replace(q.doc_id, ' ', '_')
        WHERE ({of_tasks}) AND r.doc_id <> q.doc_id
              AND r.doc_id NOT IN (SELECT doc_id FROM all_qrels WHERE {of_tasks}) GROUP BY r.doc_id ORDER BY r.doc_id
    """).fetchall()
    if not aliases:
        return None
    values = ", ".join(f"({text_literal(alias)}, {text_literal(doc_id)})" for alias, doc_id in aliases)
    cursor.execute(f"CREATE OR REPLACE TABLE {identifier(table)} AS FROM (VALUES {values}) t(alias, judged_id)")
    message = (
        f"{len(aliases)} document id(s) differ from a judged one only in '_' for ' ': taken as that one. "
        f"First: {aliases[0][0]} is {aliases[0][1]}. Other tools count these golds as not found."
    )
    sql = f"coalesce((SELECT a.judged_id FROM {identifier(table)} a WHERE a.alias = doc_id), doc_id)"
    return sql, Finding("document-alias", "warning", str(path), message, None, len(aliases))

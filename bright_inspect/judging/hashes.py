"""Whether the texts at hand are those that were judged, by their SHA-256."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from bright_inspect.db import Cursor
from bright_inspect.domain.findings import Finding
from bright_inspect.judging.decisions import Decision
from bright_inspect.judging.history import current
from bright_inspect.store.collections import Collections, TaskKey, task_condition

#: Ids that a message names.
_MOST_NAMED = 3


class TextHashes:
    """SHA-256 of the texts of a session's queries and documents; each task is read when it is first asked for."""

    def __init__(self, cursor: Cursor, collections: Collections) -> None:
        self._cursor = cursor
        self._collections = collections
        self._queries: dict[TaskKey, dict[str, str]] = {}
        self._documents: dict[TaskKey, dict[str, str]] = {}

    def queries(self, task: TaskKey) -> dict[str, str]:
        """query_id -> hash of all queries of a task; empty where no data is at hand.

        Raises:
            UnreadableInput: the data is damaged.
        """
        if task not in self._queries:
            if self._collections.find(task[1], task[0]) is not None:
                self._collections.load(task)
            self._queries[task] = query_hashes(self._cursor, task)
        return self._queries[task]

    def documents(self, task: TaskKey) -> dict[str, str]:
        """doc_id -> hash of all documents at hand of a task. Reads the corpus once, which may take seconds."""
        if task not in self._documents:
            self._collections.find(task[1], task[0])
            source = self._collections.source(task)
            sql = source.documents_sql(*task) if source else None
            rows = self._cursor.execute(f"SELECT doc_id, sha256(content) FROM ({sql})").fetchall() if sql else []
            self._documents[task] = dict(rows)
        return self._documents[task]


def query_hashes(cursor: Cursor, task: TaskKey) -> dict[str, str]:
    """query_id -> hash of the queries of a loaded task."""
    return dict(
        cursor.execute(
            f"SELECT query_id, sha256(text) FROM queries WHERE {task_condition(task)} AND text IS NOT NULL"
        ).fetchall()
    )


def read_document_mismatches(cursor: Cursor, decisions: Iterable[Decision], task: TaskKey) -> list[Finding]:
    """Findings for the documents of a task whose texts the session has read."""
    lines = [line for line in decisions if line.query[:2] == task and line.doc_sha256 is not None]
    if not lines:
        return []
    rows = cursor.execute(
        f"""SELECT doc_id, sha256(content) FROM documents
            WHERE {task_condition(task)} AND doc_id IN (SELECT unnest(?))""",
        [list({line.doc_id for line in lines})],
    ).fetchall()
    return document_mismatches(lines, task, dict(rows))


def query_mismatches(cursor: Cursor, decisions: Iterable[Decision], tasks: Sequence[TaskKey]) -> list[Finding]:
    """Findings for loaded tasks: queries that were judged when their text was another."""
    of_task: dict[TaskKey, list[Decision]] = {}
    for line in _counting(decisions):
        if line.query_sha256 is not None:
            of_task.setdefault(line.query[:2], []).append(line)
    findings = []
    for task in tasks:
        if task in of_task:
            at_hand = query_hashes(cursor, task)
            told = [
                line.query_id
                for line in of_task[task]
                if at_hand.get(line.query_id, line.query_sha256) != line.query_sha256
            ]
            findings += _finding(task, "query", "queries", "query-text-differs", told)
    return findings


def document_mismatches(decisions: Iterable[Decision], task: TaskKey, at_hand: dict[str, str]) -> list[Finding]:
    """Findings for documents of a task that were judged when their text was another; ``at_hand`` has doc_id -> hash."""
    told = [
        line.doc_id
        for line in _counting(decisions)
        if line.query[:2] == task
        and line.doc_id is not None
        and line.doc_sha256 is not None
        and at_hand.get(line.doc_id, line.doc_sha256) != line.doc_sha256
    ]
    return _finding(task, "document", "documents", "document-text-differs", told)


def _counting(decisions: Iterable[Decision]) -> list[Decision]:
    """What each annotator last said of each pair."""
    return [line for by_annotator in current(decisions).values() for line in by_annotator.values()]


def _finding(task: TaskKey, noun: str, what: str, code: str, ids: Sequence[str]) -> list[Finding]:
    named = list(dict.fromkeys(ids))
    if not named:
        return []
    first = ", ".join(name[:80] for name in named[:_MOST_NAMED]) + (" ..." if len(named) > _MOST_NAMED else "")
    message = (
        f"{len(named)} {what if len(named) > 1 else noun} had another text when judged: {first}. What was decided "
        "counts as it is; judge again if the difference matters."
    )
    return [Finding(code, "warning", "/".join(task), message, None, len(named))]

"""A run's list for a query as the file has it, with everything a scorer is told of the query."""

from __future__ import annotations

from dataclasses import dataclass

from bright_inspect.db import Cursor, identifier
from bright_inspect.domain.rankings import QueryKey
from bright_inspect.store.collections import TaskKey
from bright_inspect.store.session import Run, Session


@dataclass(frozen=True, slots=True)
class FileRow:
    """One document of a list: its place among the query's lines (from 0), and what the file says of it."""

    position: int
    doc_id: str
    score: float
    given_rank: int | None


@dataclass(frozen=True, slots=True)
class FileList:
    """A run's list for one query in the file's order, with documents that are listed again, or None where the run lacks
    the query; the documents never to be ranked for it; and each layer's judgments, by the layer's name."""

    query_id: str
    rows: tuple[FileRow, ...] | None
    excluded: frozenset[str]
    relevance: dict[str, dict[str, int]]


def task_lists(
    session: Session, cursor: Cursor, run: Run, task: TaskKey, query_id: str | None = None
) -> dict[str, FileList]:
    """By query id, the lists of every query of a task that is judged or answered; or of one query only."""
    parameters: dict[str, object] = {"dataset": task[0], "task": task[1], "query": query_id}
    own = "dataset = $dataset AND task = $task AND query_id = coalesce($query, query_id)"
    relevance: dict[str, dict[str, dict[str, int]]] = {}
    for query, layer, doc_id, grade in cursor.execute(
        f"SELECT query_id, layer, doc_id, relevance FROM all_qrels WHERE {own}", parameters
    ).fetchall():
        relevance.setdefault(query, {}).setdefault(layer, {})[doc_id] = grade
    excluded: dict[str, set[str]] = {}
    for query, doc_id in cursor.execute(f"SELECT query_id, doc_id FROM exclusions WHERE {own}", parameters).fetchall():
        excluded.setdefault(query, set()).add(doc_id)
    rows: dict[str, list[FileRow]] = {}
    for file in run.files:
        if task not in file.tasks:
            continue
        for query, position, doc_id, score, given_rank in cursor.execute(
            f"""SELECT query_id, position, doc_id, score, given_rank
                FROM (SELECT query_id, position, doc_id, score, given_rank FROM {identifier(file.rows)}
                      UNION ALL SELECT query_id, position, doc_id, score, given_rank
                      FROM file_repeats WHERE file_id = {file.file_id})
                SEMI JOIN (FROM file_queries WHERE file_id = {file.file_id} AND {own}) USING (query_id)
                ORDER BY query_id, position""",
            parameters,
        ).fetchall():
            rows.setdefault(query, []).append(FileRow(position, doc_id, score, given_rank))
    return {
        query: FileList(
            query,
            tuple(rows[query]) if query in rows else None,
            frozenset(excluded.get(query, ())),
            relevance.get(query, {}),
        )
        for query in (*relevance, *(query for query in rows if query not in relevance))
    }


def file_list(session: Session, cursor: Cursor, run: Run, key: QueryKey) -> FileList:
    """A run's list for one query."""
    lists = task_lists(session, cursor, run, (key.dataset, key.task), key.query_id)
    return lists.get(key.query_id, FileList(key.query_id, None, frozenset(), {}))

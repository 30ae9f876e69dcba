"""A task's corpus and queries as a retriever is given them."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass

from bright_inspect.db import Cursor, Database
from bright_inspect.domain.names import ORIGINAL
from bright_inspect.errors import UsageError
from bright_inspect.retrieval.protocol import Corpus
from bright_inspect.store.collections import Collections, TaskKey, task_condition
from bright_inspect.store.variants import variant_names, variant_sql

_BATCH = 1000


@dataclass(frozen=True, slots=True)
class TaskQueries:
    """The queries of a task in one variant: ids and texts in the data's order, and each query's excluded documents."""

    query_ids: tuple[str, ...]
    texts: tuple[str, ...]
    excluded: tuple[frozenset[str], ...]


def task_corpus(database: Database, cursor: Cursor, collections: Collections, task: TaskKey) -> Corpus | None:
    """The documents at hand for a task, which may be a part of its corpus, or None if there are none.

    The digest is over ids and texts in order; computing it reads the corpus once.
    """
    source = collections.source(task)
    sql = source.documents_sql(*task) if source else None
    if sql is None:
        return None
    row = cursor.execute(f"""
        SELECT count(*), md5(string_agg(md5(doc_id || chr(31) || content), '' ORDER BY place))
        FROM (SELECT doc_id, content, row_number() OVER () AS place FROM ({sql}))
    """).fetchone()
    size, digest = row if row else (0, None)

    def read() -> Iterator[tuple[str, str]]:
        # A cursor of its own: the caller's may be asked for something else in between.
        reading = database.cursor()
        try:
            reading.execute(sql)
            while rows := reading.fetchmany(_BATCH):
                yield from rows
        finally:
            reading.close()

    return Corpus(*task, int(size), str(digest or "empty"), read, source.whole_size(*task) if source else None)


def corpus_texts_of(
    cursor: Cursor, collections: Collections, task: TaskKey, doc_ids: Collection[str]
) -> dict[str, str]:
    """The texts of those of the documents that the corpus at hand has, in one pass over it (up to seconds)."""
    source = collections.source(task)
    sql = source.documents_sql(*task) if source else None
    if sql is None or not doc_ids:
        return {}
    rows = cursor.execute(
        f"SELECT doc_id, content FROM ({sql}) WHERE doc_id IN (SELECT unnest(?))", [list(doc_ids)]
    ).fetchall()
    return dict(rows)


def task_queries(cursor: Cursor, collections: Collections, task: TaskKey, variant: str) -> TaskQueries:
    """The queries of a loaded task in a variant.

    Raises:
        UsageError: the task has no such variant, or no queries at all.
    """
    variants = variant_names(collections, task)
    if variant != ORIGINAL and variant not in variants:
        known = ", ".join((ORIGINAL, *variants))
        hint = f"There are: {known}. One of a file: --variant NAME=FILE."
        raise UsageError(f"{'/'.join(task)} has no variant {variant!r}.", hint)
    if variant == ORIGINAL:
        rows = cursor.execute(
            f"SELECT query_id, coalesce(text, '') FROM queries WHERE {task_condition(task)} ORDER BY position"
        ).fetchall()
    else:
        rows = cursor.execute(
            f"SELECT query_id, coalesce(text, '') FROM ({variant_sql(collections, task, variant)})"
        ).fetchall()
    if not rows:
        raise UsageError(f"no queries at hand for {'/'.join(task)}.", "Give --data DIR or --queries FILE.")
    excluded: dict[str, set[str]] = {}
    if collections.has_exclusions(task):
        for query_id, doc_id in cursor.execute(
            f"SELECT query_id, doc_id FROM exclusions WHERE {task_condition(task)}"
        ).fetchall():
            excluded.setdefault(query_id, set()).add(doc_id)
    return TaskQueries(
        tuple(query_id for query_id, _ in rows),
        tuple(text for _, text in rows),
        tuple(frozenset(excluded.get(query_id, ())) for query_id, _ in rows),
    )

"""Document texts: those that can be shown are read once per task, others one request at a time."""

from __future__ import annotations

from collections.abc import Collection

from bright_inspect.db import Cursor, identifier, text_literal
from bright_inspect.store.collections import TaskKey, task_condition
from bright_inspect.store.session import Session
from bright_inspect.store.variants import variant_names, variant_sql

#: A run's documents that can come on screen without asking the corpus again.
KEPT_DEPTH = 100


def load_task_texts(session: Session, cursor: Cursor, task: TaskKey) -> int | None:
    """Read the query variants of a task, and the texts of each run's top documents and of all that
    any layer judges.

    Returns how many documents the corpus at hand has, or None if there is no corpus. To be called once per task, in a
    transaction: half of it must not stay when it is interrupted.
    """
    source = session.collections.source(task)
    if source is None:
        return None
    for variant in variant_names(session.collections, task):
        texts = variant_sql(session.collections, task, variant)
        cursor.execute(
            f"""INSERT INTO variants BY NAME SELECT {text_literal(task[0])} AS dataset, {text_literal(task[1])} AS task,
                query_id, {text_literal(variant)} AS variant, text FROM ({texts})"""
        )
    corpus = source.documents_sql(*task)
    if corpus is None:
        return None
    labels = f"{text_literal(task[0])} AS dataset, {text_literal(task[1])} AS task"
    wanted = [f"SELECT doc_id FROM all_qrels WHERE {task_condition(task)}"]
    for run in session.runs:
        for file in run.files:
            if task in file.tasks:
                wanted.append(
                    f"""SELECT doc_id FROM {identifier(file.rows)} WHERE rank <= {KEPT_DEPTH} AND query_id IN (
                            SELECT query_id FROM file_queries WHERE file_id = {file.file_id}
                            AND dataset = {text_literal(task[0])} AND task = {text_literal(task[1])})"""
                )
    # Runs made with a prebuilt Lucene index have underscores for the spaces in BRIGHT's ids (FORMATS A.5).
    cursor.execute(f"""
        INSERT INTO documents BY NAME
        WITH wanted AS MATERIALIZED ({" UNION ".join(wanted)})
        SELECT {labels}, doc_id, content FROM ({corpus}) WHERE doc_id IN (FROM wanted)
        UNION ALL
        SELECT {labels}, replace(doc_id, ' ', '_'), content FROM ({corpus})
        WHERE contains(doc_id, ' ') AND replace(doc_id, ' ', '_') IN (FROM wanted)
    """)
    row = cursor.execute(f"SELECT count(*) FROM ({corpus})").fetchone()
    return int(row[0]) if row else 0


def kept_texts(cursor: Cursor, task: TaskKey, doc_ids: Collection[str]) -> dict[str, str]:
    """The texts among these documents that ``load_task_texts`` has read."""
    rows = cursor.execute(
        "SELECT doc_id, content FROM documents WHERE dataset = ? AND task = ? AND doc_id IN (SELECT unnest(?))",
        [*task, list(doc_ids)],
    ).fetchall()
    return dict(rows)


def short_texts(
    cursor: Cursor, task: TaskKey, doc_ids: Collection[str], most: int
) -> tuple[dict[str, str], frozenset[str]]:
    """Those of the kept texts that have ``most`` characters at most, and the ids of the longer ones."""
    rows = cursor.execute(
        """SELECT doc_id, CASE WHEN length(content) <= ? THEN content END FROM documents
           WHERE dataset = ? AND task = ? AND doc_id IN (SELECT unnest(?))""",
        [most, *task, list(doc_ids)],
    ).fetchall()
    short = {doc_id: content for doc_id, content in rows if content is not None}
    return short, frozenset(doc_id for doc_id, content in rows if content is None)

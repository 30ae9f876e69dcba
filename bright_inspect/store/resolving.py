"""Which dataset and task the queries of a run file belong to: told, read off the path, or seen from its documents."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from bright_inspect.datasets.bright_folder import LONG_SUFFIX
from bright_inspect.db import Cursor, identifier
from bright_inspect.domain.findings import Finding
from bright_inspect.domain.names import BRIGHT_TASKS, PathDescription
from bright_inspect.errors import UsageError
from bright_inspect.store.collections import Collections, TaskKey


@dataclass(frozen=True, slots=True)
class Resolution:
    """The tasks of a file's queries. With one task every query is of that task; with several, each query is of the
    task whose golds its list holds most of (temporary table ``query_tasks(query_id, dataset, task)``). ``sure`` says
    that golds of the tasks were seen in the file."""

    tasks: tuple[TaskKey, ...]
    findings: tuple[Finding, ...] = ()
    sure: bool = False


def resolve_file(
    cursor: Cursor,
    rows: str,
    path: Path,
    described: PathDescription,
    collections: Collections,
    task: str | None,
    dataset: str | None,
) -> Resolution:
    """Find the tasks of the run in table or view ``rows``. Judgments given for a data set's task replace those of that
    task, and draw no run to it that is of another.

    Raises:
        UsageError: the task that was asked for is not at hand.
    """
    if task is not None:
        found = collections.find(task, dataset or (f"bright{LONG_SUFFIX}" if described.long else None))
        if found is None:
            raise _unknown_task(task, dataset, collections)
        overruled = described.task is not None and described.task != found[1]
        return Resolution((found,), (_overruled(path, described.task or "", found),) if overruled else ())
    given = collections.given if len(collections.given) == 1 else ()
    if given and given[0][1] not in BRIGHT_TASKS and collections.source(given[0]) is None:
        # Custom judgments, of a task that no data set has: these judgments are for the runs they were given with.
        return Resolution(given)
    wanted = dataset or (f"bright{LONG_SUFFIX}" if described.long else None)
    by_path = collections.find(described.task, wanted) if described.task else None
    if by_path is not None:
        collections.load(by_path)
        if _golds_listed(cursor, rows, by_path):
            return Resolution((by_path,), sure=True)
    by_documents = _tasks_by_documents(cursor, rows, collections, dataset)
    if by_documents:
        findings = _ambiguous_queries(cursor, path)
        if by_path is not None:
            findings.insert(0, _mismatch(path, by_path, by_documents))
        return Resolution(tuple(by_documents), tuple(findings), sure=True)
    if by_path is not None:
        return Resolution((by_path,))
    if described.task is not None:
        # The path names a BRIGHT task, but its data is not at hand: the run opens without judgments.
        return Resolution(((wanted or "bright", described.task),))
    if given:
        return Resolution(given, (_no_gold(path, given[0]),))
    return Resolution(())


def _golds_listed(cursor: Cursor, rows: str, key: TaskKey) -> bool:
    row = cursor.execute(
        f"""SELECT EXISTS (SELECT 1 FROM {identifier(rows)} JOIN qrels USING (query_id, doc_id)
                           WHERE dataset = ? AND task = ?)""",
        list(key),
    ).fetchone()
    return bool(row and row[0])


def _tasks_by_documents(cursor: Cursor, rows: str, collections: Collections, dataset: str | None) -> list[TaskKey]:
    """Tasks whose golds the file lists for the same query ids; fills ``query_tasks`` and ``query_hits``, which has
    every task whose golds a query's list holds."""
    collections.load_known_golds()
    cursor.execute(
        f"""
        CREATE OR REPLACE TEMP TABLE query_hits AS
        WITH hits AS (
            SELECT query_id, dataset, task, count(*) AS hits
            FROM {identifier(rows)} JOIN known_golds USING (query_id, doc_id)
            WHERE dataset = coalesce(?, dataset) GROUP BY ALL
        ), tasks AS (
            -- A stray match in another task (short ids such as theoremqa's numbers) is not evidence of that task.
            SELECT dataset, task, count(*) AS queries FROM hits GROUP BY dataset, task
            QUALIFY queries * 20 >= max(queries) OVER ()
        )
        SELECT query_id, dataset, task, hits FROM hits SEMI JOIN tasks USING (dataset, task)
        """,
        [dataset],
    )
    cursor.execute("""
        CREATE OR REPLACE TEMP TABLE query_tasks AS
        SELECT query_id, dataset, task FROM query_hits
        QUALIFY row_number() OVER (PARTITION BY query_id ORDER BY hits DESC, dataset, task) = 1
    """)
    rows_found = cursor.execute(
        "SELECT dataset, task FROM query_tasks GROUP BY dataset, task ORDER BY count(*) DESC, dataset, task"
    ).fetchall()
    return [(str(found), str(task)) for found, task in rows_found]


def _ambiguous_queries(cursor: Cursor, path: Path) -> list[Finding]:
    """The finding, if any, that query ids stand for queries of several tasks at once."""
    shared = "SELECT query_id FROM query_hits GROUP BY query_id HAVING count(*) > 1"
    query_ids = [row[0] for row in cursor.execute(f"{shared} ORDER BY query_id").fetchall()]
    if not query_ids:
        return []
    tasks = cursor.execute(f"""
        SELECT dataset, task FROM query_hits SEMI JOIN ({shared}) USING (query_id)
        GROUP BY dataset, task ORDER BY count(*) DESC, dataset, task
    """).fetchall()
    message = (
        f"{len(query_ids)} query id(s) list golds of more than one of {', '.join('/'.join(key) for key in tasks)}: "
        f"{', '.join(query_ids[:3])}. Each is scored as one of them only, and with the others' documents in its list. "
        "Split the file, one for each task."
    )
    return [Finding("ambiguous-query", "error", str(path), message, None, len(query_ids))]


def assign_queries(cursor: Cursor, rows: str, file_id: int, resolution: Resolution) -> None:
    """Write ``file_queries`` for the file: the task and depth of each of its query ids.

    With several tasks, a query none of whose golds is listed goes to the task that has its id, if only one has, and
    to none (NULL) otherwise.
    """
    depths = f"SELECT query_id, count(*)::INTEGER AS depth FROM {identifier(rows)} GROUP BY query_id"
    if len(resolution.tasks) == 1:
        cursor.execute(
            f"INSERT INTO file_queries SELECT ?, ?, ?, query_id, depth FROM ({depths})",
            [file_id, *resolution.tasks[0]],
        )
        return
    cursor.execute(
        f"""
        INSERT INTO file_queries
        WITH only_place AS (
            SELECT query_id, any_value(dataset) AS dataset, any_value(task) AS task
            FROM (SELECT DISTINCT query_id, dataset, task FROM known_golds
                  SEMI JOIN query_tasks USING (dataset, task))
            GROUP BY query_id HAVING count(*) = 1
        )
        SELECT ?, coalesce(t.dataset, o.dataset), coalesce(t.task, o.task), d.query_id, d.depth
        FROM ({depths}) d LEFT JOIN query_tasks t USING (query_id) LEFT JOIN only_place o USING (query_id)
        """,
        [file_id],
    )


def _mismatch(path: Path, by_path: TaskKey, by_documents: list[TaskKey]) -> Finding:
    found = ", ".join("/".join(key) for key in by_documents)
    message = (
        f"the path says {'/'.join(by_path)}, but the documents are golds of {found}; scored as {found}. "
        "Say --task to overrule."
    )
    return Finding("path-task-mismatch", "warning", str(path), message)


def _overruled(path: Path, by_path: str, asked: TaskKey) -> Finding:
    message = (
        f"the path says {by_path}, but --task was given: scored as {'/'.join(asked)}. Leave --task out if it is not."
    )
    return Finding("path-task-mismatch", "warning", str(path), message)


def _no_gold(path: Path, given: TaskKey) -> Finding:
    message = (
        f"no gold of any task at hand is listed; scored as {'/'.join(given)}, whose judgments were given. "
        "Say --task if it is another."
    )
    return Finding("no-gold-listed", "warning", str(path), message)


def _unknown_task(task: str, dataset: str | None, collections: Collections) -> UsageError:
    known = ", ".join(sorted({name for _, name in collections.known()}))
    of = f" of dataset {dataset}" if dataset else ""
    return UsageError(f"no data for task {task!r}{of}.", f"At hand: {known}. Give --data DIR or --qrels FILE.")

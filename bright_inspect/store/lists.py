"""Whole lists of a session's runs, as the commands that make runs of runs read and write them.

The lists are those that everything else sees: ranked by the session's tie rule, excluded documents removed, ids as the
data spells them.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import IO

from bright_inspect.db import Cursor, identifier
from bright_inspect.errors import UsageError
from bright_inspect.retrieval.protocol import Hit
from bright_inspect.store.collections import TaskKey, task_condition
from bright_inspect.store.ordering import row_order
from bright_inspect.store.progress import Progress, ProgressListener
from bright_inspect.store.session import Run, RunFile, Session

#: Ids that a line of blank-separated columns does not give back as they were.
_UNWRITABLE_QUERY = re.compile(r"\s|^$", re.ASCII)
_UNWRITABLE_DOC = re.compile(r"^\s|\s$|[\n\r\t]|^$", re.ASCII)


def files_of_task(run: Run, task: TaskKey) -> list[RunFile]:
    """The files of a run that hold a task."""
    return [file for file in run.files if task in file.tasks]


def listed_queries(cursor: Cursor, runs: Sequence[Run], task: TaskKey) -> list[str]:
    """The queries that any of the runs has a list for, in the data's order, others after them."""
    rows = cursor.execute(
        f"""SELECT query_id FROM (SELECT DISTINCT query_id FROM run_queries
                                  WHERE dataset = $dataset AND task = $task AND list_contains($runs, run_id))
            LEFT JOIN (SELECT query_id, min(position) AS position FROM queries WHERE {task_condition(task)}
                       GROUP BY query_id) USING (query_id)
            ORDER BY position NULLS LAST, query_id""",
        {"dataset": task[0], "task": task[1], "runs": [run.run_id for run in runs]},
    ).fetchall()
    return [query_id for (query_id,) in rows]


def run_lists(
    session: Session, cursor: Cursor, run: Run, task: TaskKey, query_ids: Sequence[str]
) -> dict[str, list[tuple[str, int, float]]]:
    """A run's lists of these queries, best first, without excluded documents; one that had no other is empty."""
    excluding = session.collections.has_exclusions(task)
    kept = (
        f"""ANTI JOIN (SELECT query_id, doc_id FROM exclusions
                       WHERE {task_condition(task)} AND query_id IN (SELECT unnest($queries))) e
            USING (query_id, doc_id)"""
        if excluding
        else ""
    )
    lists: dict[str, list[tuple[str, int, float]]] = {}
    for file in files_of_task(run, task):
        parameters = {"queries": list(query_ids), "file": file.file_id, "dataset": task[0], "task": task[1]}
        own = """SELECT query_id FROM file_queries WHERE file_id = $file AND dataset = $dataset AND task = $task
                 AND query_id IN (SELECT unnest($queries))"""
        found = [query_id for (query_id,) in cursor.execute(own, parameters).fetchall() if query_id not in lists]
        lists |= {query_id: [] for query_id in found}
        rows = cursor.execute(
            f"""SELECT query_id, doc_id, score FROM (FROM {identifier(file.rows)} r
                    WHERE query_id IN (SELECT unnest($queries))) {kept}
                ORDER BY query_id, {row_order(session.ties).order_by}""",
            {"queries": found},
        ).fetchall()
        for query_id, doc_id, score in rows:
            ranked = lists[query_id]
            ranked.append((doc_id, len(ranked) + 1, score))
    return lists


def nine_digits(score: float) -> str:
    """A score as float32 has it: nine digits tell every float32 from its neighbours."""
    return f"{score:.9g}"


def all_digits(score: float) -> str:
    """A score as it is; ``float`` because a retriever of the user's own may give numpy's numbers, whose repr is more
    than a number."""
    return repr(float(score))


def write_list(
    file: IO[str], query_id: str, hits: Sequence[Hit], system: str, form: Callable[[float], str] = all_digits
) -> None:
    """Write a list in TREC format, scores in this form; ``system`` becomes the tag.

    Raises:
        UsageError: an id that a TREC file would not give back as it is.
    """
    check_trec_ids(query_id, [hit.doc_id for hit in hits], "Leave it out of the runs.")
    # Columns are separated by white space, which the folder of a model may have in its name.
    tag = "_".join(system.split()) or "run"
    for rank, hit in enumerate(hits, 1):
        file.write(f"{query_id} Q0 {hit.doc_id} {rank} {form(hit.score)} {tag}\n")


def check_trec_ids(query_id: str, doc_ids: Iterable[str], hint: str) -> None:
    """
    Raises:
        UsageError: an id that a line of blank-separated columns would not give back as it is.
    """
    if _UNWRITABLE_QUERY.search(query_id):
        raise UsageError(f"query {query_id!r} cannot be named in a TREC file.", hint)
    for doc_id in doc_ids:
        if _UNWRITABLE_DOC.search(doc_id):
            raise UsageError(f"document {doc_id!r} (query {query_id}) cannot be named in a TREC file.", hint)


def outs_of_tasks(session: Session, shared: Sequence[TaskKey], out: Path, *, anew: bool = True) -> dict[TaskKey, Path]:
    """Where each task's run goes: ``out`` if the session has one task, else ``out/{task}.trec``.

    Raises:
        UsageError: a file of these is there already though they are to be made ``anew``; ``out`` is a file where a
            folder is wanted, or the other way.
    """
    if len(session.tasks) == 1:
        if out.is_dir():
            raise UsageError(f"{out}: a folder.", f"The runs are of one task: name a file, as {out / 'fused.trec'}.")
        outs = {shared[0]: out}
    else:
        if out.is_file() or out.suffix.lower() in (".trec", ".txt", ".run", ".res"):
            tasks = ", ".join("/".join(task) for task in session.tasks)
            raise UsageError(f"{out}: not a folder, but the runs are of {len(session.tasks)} tasks: {tasks}.",
                             "Name a folder, or one --task.")  # fmt: skip
        several = len({dataset for dataset, _ in shared}) > 1
        outs = {
            (dataset, task): (out / _file_name(dataset) if several else out) / f"{_file_name(task)}.trec"
            for dataset, task in shared
        }
    for path in (each for target in outs.values() if anew for each in (target, beside(target, ".json"))):
        if path.exists():
            raise UsageError(f"{path}: there already.", "Name another --out, or remove it.")
    return outs


def beside(path: Path, suffix: str) -> Path:
    """The path with something added to its name."""
    return path.with_name(path.name + suffix)


def _file_name(name: str) -> str:
    return re.sub(r"[^\w.+-]", "_", name).lstrip(".") or "_"


def digests_of_inputs(
    session: Session, tasks: Sequence[TaskKey], listener: ProgressListener, check: Callable[[], None]
) -> dict[Path, str]:
    """The SHA-256 of the files of these tasks; one of a saved session has it from there."""
    known = {
        file.path: file.digest
        for run in session.runs
        for file in run.files
        if any(task in file.tasks for task in tasks)
    }
    digests = {}
    for number, (path, digest) in enumerate(known.items()):
        check()
        listener(Progress(number, len(known), f"checking {path}"))
        if digest is not None:
            digests[path] = digest
            continue
        with path.open("rb") as file:
            digests[path] = hashlib.file_digest(file, "sha256").hexdigest()
    return digests

"""Runs of a session fused into new ones: a TREC file a task, and beside each a sidecar that says how it was made.

The lists are those that everything else sees: ranked by the session's tie rule, excluded documents removed, ids as the
data spells them.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TextIO, get_args

from bright_inspect import __version__
from bright_inspect.db import Cursor, identifier
from bright_inspect.errors import BrightInspectError, UsageError
from bright_inspect.retrieval.fuse import Normalisation, RankedList, reciprocal_rank_fusion, weighted_score_fusion
from bright_inspect.retrieval.protocol import Hit
from bright_inspect.store.collections import TaskKey, task_condition
from bright_inspect.store.ordering import row_order
from bright_inspect.store.progress import Progress, ProgressListener
from bright_inspect.store.session import Run, RunFile, Session

Method = Literal["rrf", "weighted"]
METHODS: tuple[Method, ...] = get_args(Method)

#: Queries whose lists are read at once: what a cancelled command waits for.
_BATCH = 100
#: Ids that a line of blank-separated columns does not give back as they were.
_UNWRITABLE_QUERY = re.compile(r"\s|^$", re.ASCII)
_UNWRITABLE_DOC = re.compile(r"^\s|\s$|[\n\r\t]|^$", re.ASCII)


@dataclass(frozen=True, slots=True)
class Fusion:
    """How lists are fused. ``weights`` are the runs', in the session's order; ``k`` counts for rrf, ``normalisation``
    for weighted. ``depth`` is how many documents a query are written; the lists are read whole."""

    method: Method
    weights: tuple[float, ...]
    k: float
    normalisation: Normalisation
    depth: int

    def fuse(self, lists: Sequence[RankedList], weights: Sequence[float]) -> list[Hit]:
        """The first ``depth`` documents of the fused list."""
        if self.method == "rrf":
            return reciprocal_rank_fusion(lists, weights, self.k)[: self.depth]
        return weighted_score_fusion(lists, weights, self.normalisation)[: self.depth]


@dataclass(frozen=True, slots=True)
class FusedTask:
    """A task's fused run: where it is, the labels of the runs in it, how many queries it has, and those that only some
    of the runs have, by the labels of those that lack them."""

    task: TaskKey
    out: Path
    runs: tuple[str, ...]
    queries: int
    partial: dict[str, tuple[str, ...]]


def fuse_runs(
    session: Session,
    cursor: Cursor,
    fusion: Fusion,
    out: Path,
    listener: ProgressListener,
    check: Callable[[], None],
) -> list[FusedTask]:
    """Fuse the session's runs on every task that two or more of them have.

    With one task ``out`` is the file, else the folder of ``{task}.trec``. All files appear once all are
    written; a query that some runs lack is fused from the others.

    Raises:
        UsageError: there are fewer than two runs, or they share no task; a file is there already; an id cannot be
            written in a TREC file.
        BrightInspectError: a file cannot be written.
    """
    shared = [task for task in session.tasks if sum(task in run.tasks for run in session.runs) > 1]
    if len(session.runs) < 2:
        raise UsageError(f"only one run given: {session.runs[0].label}.", "fuse needs two or more.")
    if not shared:
        held = "; ".join(f"{run.label}: {', '.join(map('/'.join, run.tasks))}" for run in session.runs)
        raise UsageError("no task is in two of the runs.", f"{held}.")
    outs = _outs(session, shared, out)
    parts: list[Path] = []
    try:
        digests = _digests(session, shared, listener, check)
        fused = []
        for task, target in outs.items():
            target.parent.mkdir(parents=True, exist_ok=True)
            part, sidecar_part = _beside(target, ".part"), _beside(target, ".json.part")
            parts += [part, sidecar_part]
            with part.open("w", encoding="utf-8", newline="\n") as file:
                done = _fuse_task(session, cursor, fusion, task, target, file, listener, check)
                file.flush()
                os.fsync(file.fileno())
            made = json.dumps(_provenance(session, fusion, done, digests), indent=1, ensure_ascii=False)
            sidecar_part.write_text(made + "\n", encoding="utf-8")
            fused.append(done)
        for done in fused:
            os.replace(_beside(done.out, ".json.part"), _beside(done.out, ".json"))
            os.replace(_beside(done.out, ".part"), done.out)
    except OSError as error:
        raise BrightInspectError(
            f"{error.filename or out}: cannot be read or written ({error.strerror or error}).",
            "Free disk, or name another --out.",
        ) from None
    finally:
        for part in parts:
            part.unlink(missing_ok=True)
    return fused


def _beside(path: Path, suffix: str) -> Path:
    return path.with_name(path.name + suffix)


def _outs(session: Session, shared: Sequence[TaskKey], out: Path) -> dict[TaskKey, Path]:
    """Where each task's run goes: none of these files is there."""
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
    for path in (each for target in outs.values() for each in (target, _beside(target, ".json"))):
        if path.exists():
            raise UsageError(f"{path}: there already.", "Name another --out, or remove it.")
    return outs


def _file_name(name: str) -> str:
    return re.sub(r"[^\w.+-]", "_", name).lstrip(".") or "_"


def _digests(
    session: Session, tasks: Sequence[TaskKey], listener: ProgressListener, check: Callable[[], None]
) -> dict[Path, str]:
    paths = dict.fromkeys(
        file.path for run in session.runs for file in run.files if any(task in file.tasks for task in tasks)
    )
    digests = {}
    for number, path in enumerate(paths):
        check()
        listener(Progress(number, len(paths), f"checking {path}"))
        with path.open("rb") as file:
            digests[path] = hashlib.file_digest(file, "sha256").hexdigest()
    return digests


def _files(run: Run, task: TaskKey) -> list[RunFile]:
    return [file for file in run.files if task in file.tasks]


def _fuse_task(
    session: Session,
    cursor: Cursor,
    fusion: Fusion,
    task: TaskKey,
    out: Path,
    file: TextIO,
    listener: ProgressListener,
    check: Callable[[], None],
) -> FusedTask:
    runs = [run for run in session.runs if task in run.tasks]
    query_ids = _query_ids(cursor, runs, task)
    partial: dict[str, tuple[str, ...]] = {}
    for start in range(0, len(query_ids), _BATCH):
        check()
        listener(Progress(start, len(query_ids), f"fusing {task[1]}"))
        batch = query_ids[start : start + _BATCH]
        lists = {run.run_id: _lists(session, cursor, run, task, batch) for run in runs}
        for query_id in batch:
            having = [run for run in runs if query_id in lists[run.run_id]]
            if len(having) < len(runs):
                partial[query_id] = tuple(run.label for run in runs if run not in having)
            of_query = [lists[run.run_id][query_id] for run in having]
            weights = [fusion.weights[run.run_id] for run in having]
            if any(weights):
                _write(file, query_id, fusion.fuse(of_query, weights), f"fused-{fusion.method}")
    return FusedTask(task, out, tuple(run.label for run in runs), len(query_ids), partial)


def _query_ids(cursor: Cursor, runs: Sequence[Run], task: TaskKey) -> list[str]:
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


def _lists(
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
    for file in _files(run, task):
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


def _write(file: TextIO, query_id: str, hits: Sequence[Hit], tag: str) -> None:
    if _UNWRITABLE_QUERY.search(query_id):
        raise UsageError(f"query {query_id!r} cannot be named in a TREC file.", "Leave it out of the runs.")
    for rank, hit in enumerate(hits, 1):
        if _UNWRITABLE_DOC.search(hit.doc_id):
            raise UsageError(
                f"document {hit.doc_id!r} (query {query_id}) cannot be named in a TREC file.",
                "Leave it out of the runs.",
            )
        # Nine digits tell every float32 from its neighbours.
        file.write(f"{query_id} Q0 {hit.doc_id} {rank} {hit.score:.9g} {tag}\n")


def _provenance(session: Session, fusion: Fusion, fused: FusedTask, digests: dict[Path, str]) -> dict[str, Any]:
    runs = [run for run in session.runs if fused.task in run.tasks]
    variants = list(dict.fromkeys(run.name.variant for run in runs))
    return {
        "made_by": f"bright-inspect {__version__} fuse",
        "system": f"fused-{fusion.method}",
        "variant": variants[0] if len(variants) == 1 else None,
        "variants": variants,
        "dataset": fused.task[0],
        "task": fused.task[1],
        "method": fusion.method,
        "k": fusion.k if fusion.method == "rrf" else None,
        "normalisation": fusion.normalisation if fusion.method == "weighted" else None,
        "depth": fusion.depth,
        "ties": session.ties,
        "queries": fused.queries,
        "queries_in_some_runs": len(fused.partial),
        "inputs": [
            {
                "label": run.label,
                "system": run.name.system,
                "variant": run.name.variant,
                "weight": fusion.weights[run.run_id],
                "files": [
                    {"path": str(file.path), "sha256": digests[file.path], "format": file.format}
                    for file in _files(run, fused.task)
                ],
            }
            for run in runs
        ],
    }

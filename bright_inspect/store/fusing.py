"""Runs of a session fused into new ones: a TREC file a task, and beside each a sidecar that says how it was made."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TextIO, get_args

from bright_inspect import __version__
from bright_inspect.db import Cursor
from bright_inspect.errors import BrightInspectError, UsageError
from bright_inspect.retrieval.fuse import Normalisation, RankedList, reciprocal_rank_fusion, weighted_score_fusion
from bright_inspect.retrieval.protocol import Hit
from bright_inspect.store.collections import TaskKey
from bright_inspect.store.lists import (
    beside,
    digests_of_inputs,
    files_of_task,
    listed_queries,
    nine_digits,
    outs_of_tasks,
    run_lists,
    write_list,
)
from bright_inspect.store.progress import Progress, ProgressListener
from bright_inspect.store.session import Session

Method = Literal["rrf", "weighted"]
METHODS: tuple[Method, ...] = get_args(Method)

#: Queries whose lists are read at once: what a cancelled command waits for.
_BATCH = 100


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
    outs = outs_of_tasks(session, shared, out)
    parts: list[Path] = []
    try:
        digests = digests_of_inputs(session, shared, listener, check)
        fused = []
        for task, target in outs.items():
            target.parent.mkdir(parents=True, exist_ok=True)
            part, sidecar_part = beside(target, ".part"), beside(target, ".json.part")
            parts += [part, sidecar_part]
            with part.open("w", encoding="utf-8", newline="\n") as file:
                done = _fuse_task(session, cursor, fusion, task, target, file, listener, check)
                file.flush()
                os.fsync(file.fileno())
            made = json.dumps(_provenance(session, fusion, done, digests), indent=1, ensure_ascii=False)
            sidecar_part.write_text(made + "\n", encoding="utf-8")
            fused.append(done)
        for done in fused:
            os.replace(beside(done.out, ".json.part"), beside(done.out, ".json"))
            os.replace(beside(done.out, ".part"), done.out)
    except OSError as error:
        raise BrightInspectError(
            f"{error.filename or out}: cannot be read or written ({error.strerror or error}).",
            "Free disk, or name another --out.",
        ) from None
    finally:
        for part in parts:
            part.unlink(missing_ok=True)
    return fused


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
    query_ids = listed_queries(cursor, runs, task)
    partial: dict[str, tuple[str, ...]] = {}
    for start in range(0, len(query_ids), _BATCH):
        check()
        listener(Progress(start, len(query_ids), f"fusing {task[1]}"))
        batch = query_ids[start : start + _BATCH]
        lists = {run.run_id: run_lists(session, cursor, run, task, batch) for run in runs}
        for query_id in batch:
            having = [run for run in runs if query_id in lists[run.run_id]]
            if len(having) < len(runs):
                partial[query_id] = tuple(run.label for run in runs if run not in having)
            of_query = [lists[run.run_id][query_id] for run in having]
            weights = [fusion.weights[run.run_id] for run in having]
            if any(weights):
                write_list(file, query_id, fusion.fuse(of_query, weights), f"fused-{fusion.method}", nine_digits)
    return FusedTask(task, out, tuple(run.label for run in runs), len(query_ids), partial)


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
                    for file in files_of_task(run, fused.task)
                ],
            }
            for run in runs
        ],
    }

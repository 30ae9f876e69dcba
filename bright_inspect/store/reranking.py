"""The top of a stored run in a reranker's order: a TREC file a task, with a sidecar that says how it was made."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from bright_inspect import __version__
from bright_inspect.db import Cursor
from bright_inspect.retrieval.protocol import Check, Found, Hit, Reranker, provenance_of
from bright_inspect.retrieval.protocol import Progress as Tell
from bright_inspect.retrieval.rerank import rerank
from bright_inspect.store.collections import TaskKey
from bright_inspect.store.corpus import corpus_texts_of, task_queries
from bright_inspect.store.lists import digests_of_inputs, files_of_task, listed_queries, outs_of_tasks, run_lists
from bright_inspect.store.progress import Progress
from bright_inspect.store.retrieving import Retrieved, Told, refuse_existing, write_run
from bright_inspect.store.session import Session
from bright_inspect.store.sidecars import sidecar_of


@dataclass(frozen=True, slots=True)
class Reranked:
    """A task's reranked run: where it is, its queries, those of them without a text, which keep their order, and what
    is told of the lists."""

    task: TaskKey
    out: Path
    made: Retrieved
    without_text: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Reranking:
    """How a run is reranked: its first ``top`` documents, for the queries' text in ``variant``; ``depth`` documents a
    query are written."""

    reranker: Reranker
    variant: str
    top: int
    depth: int


def rerank_run(session: Session, cursor: Cursor, how: Reranking, out: Path, tell: Tell, check: Check) -> list[Reranked]:
    """Rerank the session's only run, query by query. The documents below the top keep their order below it.

    With one task ``out`` is the file, else the folder of ``{task}.trec``. A run that was broken off goes on where it
    stopped.

    Raises:
        UsageError: a task has no such variant or no queries at hand; a file is there already.
        BrightInspectError: a file cannot be written, or the reranker failed.
    """

    def listen(progress: Progress) -> None:
        tell(progress.done, progress.total, progress.message)

    digests = digests_of_inputs(session, session.tasks, listen, check)
    outs = outs_of_tasks(session, session.tasks, out, anew=len(session.tasks) == 1)
    return [_rerank_task(session, cursor, how, task, target, digests, tell, check) for task, target in outs.items()]


def _rerank_task(
    session: Session,
    cursor: Cursor,
    how: Reranking,
    task: TaskKey,
    out: Path,
    digests: Mapping[Path, str],
    tell: Tell,
    check: Check,
) -> Reranked:
    queries = task_queries(cursor, session.collections, task, how.variant)
    texts = {query_id: text for query_id, text in zip(queries.query_ids, queries.texts, strict=True) if text}
    query_ids = listed_queries(cursor, session.runs[:1], task)
    without = tuple(query_id for query_id in query_ids if query_id not in texts)
    provenance = _provenance(session, how, task, digests, len(without))
    if out.exists():
        # Of several tasks, those that were done before the command was broken off.
        told = _finished(out, provenance)
        if told is not None:
            return Reranked(task, out, Retrieved(len(query_ids), len(query_ids), told), without)
        refuse_existing(out)
    search = partial(_search, session, cursor, how, task, query_ids, texts, tell, check)

    def listen(number: int, total: int) -> None:
        tell(number, total, f"reranking {task[1]}")

    return Reranked(task, out, write_run(query_ids, search, out, provenance, listen, check), without)


def _search(
    session: Session,
    cursor: Cursor,
    how: Reranking,
    task: TaskKey,
    query_ids: Sequence[str],
    texts: Mapping[str, str],
    tell: Tell,
    check: Check,
    batch: slice,
) -> list[Found]:
    wanted = query_ids[batch]
    lists = run_lists(session, cursor, session.runs[0], task, wanted)
    hits = {each: [Hit(doc_id, score) for doc_id, _, score in lists[each][: how.depth]] for each in wanted}
    at_the_top = {hit.doc_id for each in wanted if each in texts for hit in hits[each][: how.top]}
    documents = corpus_texts_of(cursor, session.collections, task, at_the_top)
    found = []
    for each in wanted:
        check()
        if each in texts:
            new, what = rerank(how.reranker, texts[each], hits[each], how.top, documents, tell, check)
            found.append(Found(new, "", what))
        else:
            found.append(Found(hits[each]))
    return found


def _finished(out: Path, provenance: Mapping[str, Any]) -> Told | None:
    """What is told of a run that was made just so, or None for any other file."""
    try:
        made = json.loads(sidecar_of(out).read_text(encoding="utf-8"))
        wanted = json.loads(json.dumps(provenance))
        return Told.from_json(made) if all(made.get(name) == value for name, value in wanted.items()) else None
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None


def _provenance(
    session: Session, how: Reranking, task: TaskKey, digests: Mapping[Path, str], without_text: int
) -> dict[str, Any]:
    run, reranker = session.runs[0], how.reranker
    files = [{"path": str(file.path), "sha256": digests[file.path]} for file in files_of_task(run, task)]
    return {
        "made_by": f"bright-inspect {__version__} rerank",
        "system": f"{run.name.system}+{reranker.name}".replace(" ", "_"),
        "variant": how.variant,
        "dataset": task[0],
        "task": task[1],
        "depth": how.depth,
        "ties": session.ties,
        "input": {"label": run.label, "variant": run.name.variant, "files": files},
        "reranker": reranker.name,
        "reranked_top": how.top,
        "reranker_device": reranker.device,
        "reranker_max_length": reranker.max_length,
        "queries_without_text": without_text,
        **provenance_of(reranker),
    }

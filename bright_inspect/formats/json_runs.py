"""Runs that are one JSON object: BRIGHT's scores, MTEB's predictions, agentic-search results, lists of ids.

The outer levels are walked, and each query's documents are decoded alone, so that memory stays near the file's size.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from bright_inspect.db import Cursor
from bright_inspect.domain.names import BRIGHT_TASKS, normalised_task
from bright_inspect.domain.visible import visible
from bright_inspect.errors import UnreadableInput
from bright_inspect.formats.json_records import add_ranked_list, record_list
from bright_inspect.formats.json_shapes import shape_of
from bright_inspect.formats.json_stream import JsonStream, Pairs
from bright_inspect.formats.parts import Part
from bright_inspect.formats.rows import RowSink, shown

_EXPECTED = "Expected a run, {query_id: {doc_id: score}}; bright-inspect formats lists all formats."


def read_score_json(cursor: Cursor, path: Path, source: Path, table: str) -> list[Part]:
    """Read ``{query_id: {doc_id: score}}`` (FORMATS E.2); key order says nothing, ``given_rank`` is NULL.

    Raises:
        UnreadableInput: no usable score.
        json.JSONDecodeError: the text is cut or no JSON.
    """
    sink = RowSink(cursor, table)
    stream = _stream(source)
    if stream.peek() != "{":
        raise _refusal(path, stream)
    for query_id in stream.members():
        sink.begin_query(query_id)
        _add_scores(sink, query_id, stream.value())
    stream.end()
    return [_part(path, source, sink, "score-json")]


def read_mteb(cursor: Cursor, path: Path, source: Path, table: str) -> list[Part]:
    """Read ``{subset: {split: {query_id: {doc_id: score}}}}`` with ``mteb_model_meta``: one part a subset and split.

    MTEB's order is a heap's, so it is no ranking. The subset is the task where it is not "default"; MTEB's own name of
    the task stands only in the file's name (mteb/abstasks/abstask.py, FORMATS B.3).

    Raises:
        UnreadableInput: no usable score.
        json.JSONDecodeError: the text is cut or no JSON.
    """
    stream = _stream(source)
    parts: list[Part] = []
    tag: str | None = None
    named_task, named_long = _mteb_task(path)
    for subset in stream.members():
        if subset == "mteb_model_meta":
            meta = stream.value()
            name = dict(meta).get("model_name") if isinstance(meta, Pairs) else None
            tag = name if isinstance(name, str) else None
            continue
        if stream.peek() != "{":
            stream.value()
            continue
        for split in stream.members():
            if stream.peek() != "{":
                stream.value()
                continue
            sink = RowSink(cursor, f"{table}_part{len(parts)}" if parts else table)
            for query_id in stream.members():
                sink.begin_query(query_id)
                _add_scores(sink, query_id, stream.value())
            if sink.finish():
                task = named_task if subset == "default" else normalised_task(subset)
                long = {"long": True, "standard": False}.get(split, named_long)
                parts.append(_part(path, source, sink, "mteb", task=task, long=long))
    stream.end()
    for part in parts:
        part.tag = tag
    if not parts:
        raise UnreadableInput(f"{path}: MTEB predictions without a usable score.", _EXPECTED)
    return parts


def _mteb_task(path: Path) -> tuple[str | None, bool | None]:
    """The task and corpus in ``Bright{Task}[Long]Retrieval_predictions.json``, where it is one of BRIGHT's."""
    match = re.match(r"Bright(?:Pro)?(?P<task>\w+?)(?P<long>Long)?Retrieval_predictions", path.name)
    slugs = {task.replace("_", ""): task for task in BRIGHT_TASKS}
    task = slugs.get(match["task"].lower()) if match else None
    return task, (bool(match and match["long"]) if task else None)


def read_retro(cursor: Cursor, path: Path, source: Path, table: str) -> list[Part]:
    """Read ``{model_name, dataset_name, split, ..., search_results: {"split-qid": {doc_id: score}}}`` (FORMATS E.10).

    Raises:
        UnreadableInput: no usable score.
        json.JSONDecodeError: the text is cut or no JSON.
    """
    sink = RowSink(cursor, table)
    stream = _stream(source)
    said: dict[str, str] = {}
    for key in stream.members():
        if key == "search_results" and stream.peek() == "{":
            for query_id in stream.members():
                sink.begin_query(query_id)
                _add_scores(sink, query_id, stream.value())
        else:
            value = stream.value()
            if isinstance(value, str):
                said[key] = value
    stream.end()
    models = [said.get("model_name"), said.get("reranker_name")]
    tag = "+".join(model for model in models if model and not model.lower().startswith("no")) or None
    task = normalised_task(said["dataset_name"]) if said.get("dataset_name") else None
    long = {"long": True, "short": False}.get(said.get("split", ""))
    return [_part(path, source, sink, "retro", tag=tag, task=task, long=long)]


def read_id_lists(cursor: Cursor, path: Path, source: Path, table: str) -> list[Part]:
    """Read ``{query_id: [doc_id, ...]}``, also with [doc_id, score] pairs or objects as items, and Weaviate's
    ``{metadata, queries: [{query_id, retrieved_ids}]}`` (FORMATS E.10, C.4).

    Raises:
        UnreadableInput: no usable list.
        json.JSONDecodeError: the text is cut or no JSON.
    """
    sink = RowSink(cursor, table)
    stream = _stream(source)
    ordered = False
    for key in stream.members():
        if key == "queries" and stream.peek() == "[":
            for _ in stream.items():
                ordered |= _add_record(sink, stream.value())
            continue
        value = stream.value()
        if isinstance(value, list) and not isinstance(value, Pairs):
            sink.begin_query(key)
            ordered |= add_ranked_list(sink, key, value)
        elif not ordered and key in ("metadata", "config", "summary"):
            continue
        else:
            sink.begin_query(key)
            _add_scores(sink, key, value)
    stream.end()
    part = _part(path, source, sink, "id-lists")
    part.ordered = ordered
    return [part]


def _add_record(sink: RowSink, value: Any) -> bool:
    found = record_list(value) if isinstance(value, Pairs) else None
    if found is None:
        sink.problems.add("bad-entry", shown(value))
        return False
    sink.begin_query(found[0])
    return add_ranked_list(sink, *found)


def _add_scores(sink: RowSink, query_id: str, value: Any) -> None:
    if isinstance(value, Pairs):
        sink.add_scored(query_id, value)
    elif value != []:
        sink.problems.add("query-without-scores", f"{query_id}: {shown(value)}")


def _stream(source: Path) -> JsonStream:
    return JsonStream(source.read_text(encoding="utf-8"))


def _part(
    path: Path,
    source: Path,
    sink: RowSink,
    name: str,
    tag: str | None = None,
    task: str | None = None,
    long: bool | None = None,
) -> Part:
    if not sink.finish():
        raise _refusal(path, _stream(source))
    return Part(sink.table, name, tag, task, long, findings=sink.problems.findings(path))


def _refusal(path: Path, stream: JsonStream) -> UnreadableInput:
    """What the file is instead, now that it is known to hold no usable row."""
    shape = shape_of(stream.value())
    stream.end()
    what = f"{visible(shape.instead)}, not a run" if shape.instead else "holds no usable score"
    return UnreadableInput(f"{path}: {what}.", shape.hint)


#: How a format's name in the registry is read; each as ``read_score_json``.
READERS: dict[str, Callable[[Cursor, Path, Path, str], list[Part]]] = {
    "score-json": read_score_json,
    "mteb": read_mteb,
    "retro": read_retro,
}

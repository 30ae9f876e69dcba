"""Runs that are a sequence of JSON entries: a list, several lists after each other, or one entry a line.

An entry is a query with its ranked candidates (rank_llm), a query with a list of ids, or one document of a query.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bright_inspect.db import Cursor
from bright_inspect.domain.findings import Finding
from bright_inspect.domain.visible import visible
from bright_inspect.errors import UnreadableInput
from bright_inspect.formats.files import clean_source
from bright_inspect.formats.json_shapes import shape_of
from bright_inspect.formats.json_stream import JsonStream, Pairs
from bright_inspect.formats.parts import Locate, Part
from bright_inspect.formats.reasons import reason_of
from bright_inspect.formats.records import DOC_KEYS, LIST_KEYS, QUERY_KEYS, RANK_KEYS, first_key, score_candidates
from bright_inspect.formats.rows import Problems, ReasonSink, RowSink, id_text, rank_of, score_problem, shown

_EXPECTED = "bright-inspect formats lists the formats with an example each."
_ID_KEYS = (*DOC_KEYS, "id", "_id")

Record = tuple[int | None, str, Pairs]
"""Line number (None where the entry is not a line), place in words, the entry."""


def records(source: Path, problems: Problems) -> Iterator[Record]:
    """The entries of a JSON list, of several lists, or of JSON Lines; lines that are no object become problems.

    Raises:
        json.JSONDecodeError: a list is cut or no JSON.
    """
    with source.open("r", encoding="utf-8", newline="\n") as file:
        start = next((line.strip() for line in file if line.strip()), "")
    # An object spread over lines is one of several values after each other, as a list is.
    if start[:1] == "[" or start == "{":
        yield from _streamed(JsonStream(source.read_text(encoding="utf-8")), problems)
        return
    with source.open("r", encoding="utf-8", newline="\n") as file:
        for number, line in enumerate(file, 1):
            if not line.strip():
                continue
            entry = parsed_line(line)
            if entry is None:
                problems.add("bad-json-line", shown(line.strip()), number)
            else:
                yield number, f"line {number}", entry


def parsed_line(line: str) -> Pairs | None:
    """The object in a line of JSON Lines, or None if there is none."""
    try:
        value = json.loads(line, object_pairs_hook=Pairs)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, Pairs) else None


def _streamed(stream: JsonStream, problems: Problems) -> Iterator[Record]:
    values = 0
    while start := stream.peek():
        values += 1
        prefix = f"list {values}, " if values > 1 else ""
        if start == "[":
            for number in stream.items():
                value = stream.value()
                if isinstance(value, Pairs):
                    yield None, f"{prefix}entry {number}", value
                else:
                    problems.add("bad-entry", f"{prefix}entry {number}: {shown(value)}")
        else:
            value = stream.value()
            if isinstance(value, Pairs):
                yield None, f"value {values}", value
            else:
                problems.add("bad-entry", f"value {values}: {shown(value)}")


def read_rank_llm(cursor: Cursor, path: Path, source: Path, table: str) -> list[Part]:
    """Read ``{"query": {"qid", "text"}, "candidates": [{"docid", "score", "doc"}]}`` entries; their order ranks.

    The scores of a listwise reranker are the first stage's, put back slot by slot (castorini/rank_llm:
    rerank/listwise/listwise_rankllm.py, FORMATS E.5). ``invocations_history`` becomes reasons about the whole list.

    Raises:
        UnreadableInput: no usable entry.
        json.JSONDecodeError: a list is cut or no JSON.
    """
    sink = RowSink(cursor, table)
    values = set[str]()
    for line, place, entry in records(source, sink.problems):
        row = dict(entry)
        query_id, candidates = query_of(row), row.get("candidates")
        if query_id is None:
            sink.problems.add("bad-query-id", f"{place}: {shown(row.get('query'))}", line)
        elif isinstance(candidates, Pairs) or not isinstance(candidates, list):
            sink.problems.add("query-without-list", f"{place}, query {query_id}", line)
        else:
            if line is None and "entry" in place:
                values.add(place.partition("entry")[0])
            sink.begin_query(query_id)
            sink.add_ranked(query_id, [_candidate_id(candidate) for candidate in candidates])
        if query_id is not None:
            add_invocations(sink, query_id, row.get("invocations_history"))
    part = _part(path, source, sink, "rank-llm", ordered=True)
    if len(values) > 1:
        message = f"{len(values)} JSON lists one after the other (rank_llm's append mode); all are used."
        part.findings.append(Finding("several-lists", "warning", str(path), message, None, len(values)))
    return [part]


def query_of(row: dict[str, Any]) -> str | None:
    """The query id of a rank_llm entry."""
    query = row.get("query")
    inner = dict(query) if isinstance(query, Pairs) else {}
    key = first_key((*QUERY_KEYS, "id", "_id"), inner)
    if key:
        return id_text(inner[key])
    key = first_key(QUERY_KEYS, row)
    return id_text(row[key]) if key else None


def _candidate_id(candidate: Any) -> Any:
    row = dict(candidate) if isinstance(candidate, Pairs) else {}
    key = first_key(_ID_KEYS, row)
    return row[key] if key else candidate


def add_invocations(sink: ReasonSink, query_id: str, history: Any) -> None:
    """Keep what the model thought and said in each of its calls for a query."""
    for invocation in history if isinstance(history, list) else []:
        if isinstance(invocation, Pairs):
            sink.add_reason(query_id, None, *reason_of(dict(invocation)))


def record_list(entry: Pairs) -> tuple[str, list[Any]] | None:
    """The query id and the ranked list of an entry that has both."""
    row = dict(entry)
    query = first_key(QUERY_KEYS, row)
    ranked = first_key(LIST_KEYS, (key for key, value in row.items() if isinstance(value, list)))
    query_id = id_text(row[query]) if query else None
    return (query_id, row[ranked]) if query_id is not None and ranked else None


def add_ranked_list(sink: RowSink, query_id: str, items: list[Any]) -> bool:
    """Rows from ids, from [id, score] pairs or from objects; whether the order was made the scores."""
    scored: list[tuple[Any, Any]] = []
    for item in items:
        if isinstance(item, Pairs):
            row = dict(item)
            key, scores = first_key(_ID_KEYS, row), score_candidates(row)
            if key and scores:
                scored.append((row[key], row[scores[0]]))
        elif isinstance(item, list) and len(item) == 2:
            scored.append((item[0], item[1]))
    if items and len(scored) == len(items):
        sink.add_scored(query_id, scored)
        return False
    sink.add_ranked(query_id, [_candidate_id(item) for item in items])
    return bool(items)


def read_id_list_records(cursor: Cursor, path: Path, source: Path, table: str) -> list[Part]:
    """Read entries of a query id and a list of document ids, as BRIGHT-Pro's agents write (FORMATS C.4).

    Raises:
        UnreadableInput: no usable entry.
        json.JSONDecodeError: a list is cut or no JSON.
    """
    sink = RowSink(cursor, table)
    ordered = False
    for line, place, entry in records(source, sink.problems):
        found = record_list(entry)
        if found is None:
            sink.problems.add("query-without-list", place, line)
        else:
            sink.begin_query(found[0])
            ordered |= add_ranked_list(sink, *found)
    return [_part(path, source, sink, "id-lists", ordered=ordered)]


def read_json_rows(cursor: Cursor, path: Path, source: Path, table: str, field: str | None = None) -> list[Part]:
    """Read one (query, document, score) an entry, as TFRank writes; ``field`` names the score among several.

    A response or reasoning text becomes the reason of its document. Rows with a rank and no score rank by that.

    Raises:
        UnreadableInput: no usable row, or no row has ``field``.
        json.JSONDecodeError: a list is cut or no JSON.
    """
    sink = RowSink(cursor, table)
    chosen, others, by_rank = field, list[str](), 0
    for line, place, entry in records(source, sink.problems):
        row = dict(entry)
        query, doc = first_key(QUERY_KEYS, row), first_key(DOC_KEYS, row)
        query_id, doc_id = id_text(row.get(query or "")), id_text(row.get(doc or ""))
        if query_id is None or doc_id is None:
            code = "bad-query-id" if query_id is None else "bad-document-id"
            sink.problems.add(code, f"{place}: {shown(dict(entry))}", line)
            continue
        candidates = score_candidates(row)
        rank = rank_of(row.get(first_key(RANK_KEYS, row) or ""))
        if chosen is None and candidates:
            chosen, others = candidates[0], candidates[1:]
        if chosen is None and rank is not None:
            sink.add_row(query_id, doc_id, 1 / rank, rank)
            by_rank += 1
        else:
            score = row.get(chosen) if chosen else None
            problem = score_problem(score)
            if problem:
                sink.problems.add(problem, f"{place}: {chosen or 'no score'} is {shown(score)}", line)
            if problem in (None, "infinite-score") and isinstance(score, int | float):
                sink.add_row(query_id, doc_id, float(score), rank)
        sink.add_reason(query_id, doc_id, *reason_of(row))
    part = _part(path, source, sink, "json-lines", ordered=chosen is None)
    part.locate = _row_locator(path)
    if by_rank and chosen is not None:
        message = (
            f"{by_rank} line(s) before the first one with {chosen} have a rank only: their score is 1/rank, which does "
            f"not compare with {chosen}."
        )
        part.findings.append(Finding("rank-for-score", "error", str(path), message, None, by_rank))
    if others:
        message = (
            f"the score is the field {chosen}; there are also {', '.join(others)}: "
            f"--format json-lines:{others[0]} takes that instead."
        )
        part.findings.append(Finding("several-scores", "warning", str(path), message, None, len(others) + 1))
    return [part]


def _row_locator(path: Path) -> Locate:
    def locate(query_id: str, doc_id: str) -> list[int]:
        numbers = []
        with clean_source(path, escape="\\\\") as (source, _, _):
            for line, _, entry in records(source, Problems()):
                row = dict(entry)
                query, doc = first_key(QUERY_KEYS, row), first_key(DOC_KEYS, row)
                if line and (id_text(row.get(query or "")), id_text(row.get(doc or ""))) == (query_id, doc_id):
                    numbers.append(line)
                    if len(numbers) == 2:
                        break
        return numbers

    return locate


def _part(path: Path, source: Path, sink: RowSink, name: str, *, ordered: bool) -> Part:
    if not sink.finish():
        raise _refusal(path, source, sink)
    return Part(
        sink.table, name, reasons=sink.reasons > 0, findings=sink.problems.findings(path), ordered=ordered
    )  # fmt: skip


def _refusal(path: Path, source: Path, sink: RowSink) -> UnreadableInput:
    """What the entries are instead, or what is wrong with the first of them."""
    entry = next((entry for _, _, entry in records(source, Problems())), None)
    shape = shape_of(entry) if entry is not None else None
    if shape is not None and shape.instead and not shape.format:
        return UnreadableInput(f"{path}: {visible(shape.instead)}, not a run.", shape.hint)
    first = next(iter(sink.problems.findings(path)), None)
    if first is None:
        return UnreadableInput(f"{path}: no entry lists a document.", _EXPECTED)
    where = "" if first.line is None else f":{first.line}"
    return UnreadableInput(f"{path}{where}: no usable entry. {first.message}", _EXPECTED)

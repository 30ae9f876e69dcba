"""Any run file into tables: decides which reader a file needs, settles duplicates, and looks at the scores."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from bright_inspect.db import Cursor, identifier
from bright_inspect.domain.findings import Finding
from bright_inspect.errors import UsageError
from bright_inspect.formats.binary_runs import read_cbor
from bright_inspect.formats.column_runs import read_parquet, read_table, read_three_columns
from bright_inspect.formats.duplicates import settle_duplicates
from bright_inspect.formats.files import clean_source, read_head, sha256_of
from bright_inspect.formats.history import add_history
from bright_inspect.formats.json_records import (
    parsed_line,
    read_id_list_records,
    read_json_rows,
    read_rank_llm,
    record_list,
)
from bright_inspect.formats.json_runs import READERS, read_id_lists
from bright_inspect.formats.json_stream import json_errors_told
from bright_inspect.formats.parts import Part, RepeatedRow
from bright_inspect.formats.registry import NAMES
from bright_inspect.formats.score_findings import score_findings
from bright_inspect.formats.sniff import Sniffed, refuse, sniff
from bright_inspect.formats.trec_run import read_trec_run

_EXPECTED = "Expected a run, {query_id: {doc_id: score}}; bright-inspect formats lists all formats."


@dataclass(frozen=True, slots=True)
class ReadRun:
    """One run read from a file. Most files hold one; MTEB's prediction files one for each subset and split.

    ``table`` holds its rows: (query_id VARCHAR, doc_id VARCHAR, score DOUBLE, given_rank INTEGER), in the file's order
    and each (query, document) once. ``digest`` is the SHA-256 of the file as it lies on disk, ``format`` a name of the
    registry, ``tag`` what the file calls its system. ``task`` and ``long`` are what the file itself says of the task
    and corpus, else None. ``reasons`` says whether ``{table}_reasons``(query_id, doc_id, thought, response) was filled;
    there doc_id is NULL where a text is about the whole list. ``repeats`` are the rows that gave way to another of the
    same document; ``spaced_ids`` whether a document id holds a space, as some of BRIGHT's do (FORMATS A.5).
    """

    table: str
    digest: str
    format: str
    tag: str | None
    task: str | None = None
    long: bool | None = None
    reasons: bool = False
    findings: tuple[Finding, ...] = ()
    repeats: tuple[RepeatedRow, ...] = ()
    spaced_ids: bool = False


def read_runs(cursor: Cursor, path: Path, table: str, format: str | None = None) -> tuple[ReadRun, ...]:  # noqa: A002
    """Read every run in a file, the first into ``table``, further ones into ``{table}_part1`` and so on.

    Of a document listed twice for a query the better score is kept, of equal scores the earlier. ``format`` is a name
    of the registry (``json-lines:FIELD`` chooses the score) and overrides what the file's content tells.

    Raises:
        UnreadableInput: the file is absent, empty, binary, cut, something other than a run, or holds no usable line.
        UsageError: there is no such format.
    """
    name, _, field = (format or "").partition(":")
    if format is not None and (name not in NAMES or (field and name != "json-lines")):
        raise UsageError(f"no run format is called {format!r}.", f"Formats: {', '.join(NAMES)}.")
    sniffed = Sniffed(name) if format is not None else sniff(path)
    if sniffed.format is None:
        raise refuse(path, sniffed)
    digest, parts = _read_parts(cursor, path, table, sniffed.format, field or None, forced=format is not None)
    read = []
    for part in parts:
        findings = [*part.findings, *settle_duplicates(cursor, path, part)]
        findings += score_findings(cursor, path, part)
        if part.format == "rank-llm" or (part.format == "trec" and sniffed.tag == "rank_llm"):
            findings += add_history(cursor, path, part)
        read.append(
            ReadRun(
                part.table, digest, part.format, part.tag or sniffed.tag, part.task, part.long, part.reasons,
                tuple(findings), part.repeats, _has_spaced_ids(cursor, part),
            )
        )  # fmt: skip
    return tuple(read)


def _has_spaced_ids(cursor: Cursor, part: Part) -> bool:
    row = cursor.execute(f"SELECT bool_or(contains(doc_id, ' ')) FROM {identifier(part.table)}").fetchone()
    return bool(row and row[0])


def _read_parts(
    cursor: Cursor, path: Path, table: str, name: str, field: str | None, *, forced: bool
) -> tuple[str, list[Part]]:
    if name == "trec":
        if forced:
            read_head(path)
        digest, part = read_trec_run(cursor, path, table)
        return digest, [part]
    if name == "parquet":
        return sha256_of(path), read_parquet(cursor, path, table)
    if name == "ranx-lz4":
        return sha256_of(path), read_cbor(cursor, path, table)
    read_head(path)
    is_json = name not in ("msmarco", "tevatron", "three-columns", "table")
    with clean_source(path, escape="\\\\" if is_json else "\\") as (source, digest, findings):
        if is_json:
            with json_errors_told(path, _EXPECTED):
                parts = _read_json(cursor, path, source, table, name, field)
        elif name == "table":
            parts = read_table(cursor, path, source, table)
        else:
            parts = read_three_columns(cursor, path, source, table, kind=name if forced else None)
    for part in parts:
        part.findings = [*findings, *part.findings]
    return digest, parts


def _read_json(cursor: Cursor, path: Path, source: Path, table: str, name: str, field: str | None) -> list[Part]:
    if name == "rank-llm":
        return read_rank_llm(cursor, path, source, table)
    if name == "json-lines":
        return read_json_rows(cursor, path, source, table, field)
    if name == "id-lists":
        return (read_id_list_records if _has_entries(source) else read_id_lists)(cursor, path, source, table)
    return READERS[name](cursor, path, source, table)


def _has_entries(source: Path) -> bool:
    """Whether a file of id lists is a list or lines of entries, not one object."""
    with source.open("r", encoding="utf-8", newline="\n") as file:
        lines = [line for line, _ in zip((line for line in file if line.strip()), range(20), strict=False)]
    if lines and lines[0].lstrip()[:1] == "[":
        return True
    entries = [parsed_line(line) for line in lines]
    return any(entry is not None and record_list(entry) is not None for entry in entries)

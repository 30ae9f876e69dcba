"""One input file on its way into the session: read or found converted, resolved, its ids mended, its documents placed.

Everybody reads a file's rows through a view, so that nobody sees whether a table or a Parquet file is behind it.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from bright_inspect.datasets.bright_folder import LONG_SUFFIX
from bright_inspect.db import (
    Cursor,
    DatabaseError,
    QueryInterrupted,
    identifier,
    path_literal,
    reason_of,
    transaction,
)
from bright_inspect.domain.findings import Finding
from bright_inspect.domain.names import PathDescription, describe_path
from bright_inspect.domain.ordering import DEFAULT_TIES
from bright_inspect.errors import BrightInspectError, UnreadableInput
from bright_inspect.formats.runs import ReadRun, read_runs
from bright_inspect.store.aliases import document_aliases, query_count, query_prefix
from bright_inspect.store.collections import Collections, custom_task, task_condition
from bright_inspect.store.inputs import RunInput
from bright_inspect.store.request import OpenRequest
from bright_inspect.store.resolving import Resolution, assign_queries, resolve_file
from bright_inspect.store.run_cache import FileState, RunCache, file_state, rank_rows
from bright_inspect.store.sidecars import read_sidecar
from bright_inspect.store.standing import place_documents


@dataclass(slots=True)
class OpenPart:
    """One run of an input file on its way into the session. ``rows`` is the view that everybody reads; ``columns`` is
    what it makes of the table or Parquet file behind it. ``saved`` says that it is of a saved session: the input is
    what it was made of, and not at hand, nor the file of ``metrics`` that was beside it."""

    file_id: int
    input: RunInput
    rows: str
    columns: str
    read: ReadRun
    resolution: Resolution
    findings: list[Finding]
    scored: bool
    saved: bool = False
    metrics: tuple[Path, tuple[tuple[str, float], ...]] | None = None


@dataclass(slots=True)
class OpenFile:
    """An input file and its runs. ``fresh`` says that they are as they were read, neither ranked nor in the cache."""

    input: RunInput
    state: FileState
    parts: list[OpenPart]
    fresh: bool


def is_collection(request: OpenRequest) -> bool:
    """Whether the request gives a collection of its own, whose judgments its qrels are."""
    return request.queries is not None or bool(request.corpus)


def open_file(
    cursor: Cursor, cache: RunCache, file_id: int, run_input: RunInput, request: OpenRequest, collections: Collections
) -> OpenFile:
    """Open a file; its runs get the ids from ``file_id`` on.

    Raises:
        BrightInspectError: the file cannot be used; the message names it.
    """
    path = run_input.path
    state = file_state(path)
    cached = cache.find(path, request.format)
    reads: tuple[ReadRun, ...] = ()
    sources: list[str] = []
    if cached is not None:
        reads = tuple(run.read for run in cached)
        sources = [f"read_parquet({path_literal(run.parquet)})" for run in cached]
        try:
            for number, run in enumerate(cached, file_id):
                _view(cursor, f"rows_{number}", "*", sources[number - file_id])
                if run.reasons is not None:
                    _view(cursor, f"reasons_{number}", "*", f"read_parquet({path_literal(run.reasons)})")
        except QueryInterrupted:
            raise
        except DatabaseError:
            cached = None  # another program has removed it meanwhile
    if cached is None:
        reads = read_runs(cursor, path, f"read_{file_id}", request.format)
        if file_state(path) != state:
            raise UnreadableInput(f"{path}: changed while it was being read.", "Try again when it is written.")
        sources = [identifier(read.table) for read in reads]
        for number, read in enumerate(reads, file_id):
            _view(cursor, f"rows_{number}", _columns({}, ranked=False), sources[number - file_id])
            if read.reasons:
                _view(cursor, f"reasons_{number}", "*", identifier(f"{read.table}_reasons"))
    parts = [
        _open_part(cursor, file_id + number, run_input, read, source, request, collections, ranked=cached is not None)
        for number, (read, source) in enumerate(zip(reads, sources, strict=True))
    ]
    return OpenFile(run_input, state, parts, fresh=cached is None)


def _open_part(
    cursor: Cursor,
    number: int,
    run_input: RunInput,
    read: ReadRun,
    source: str,
    request: OpenRequest,
    collections: Collections,
    *,
    ranked: bool,
) -> OpenPart:
    path, rows = run_input.path, f"rows_{number}"
    described = describe_whole(path, collections.task_names())
    if read.task is not None or read.long is not None:
        # What the file says of itself goes before what its path says.
        described = replace(described, task=read.task or described.task, long=read.long)
    elif described.task is None and (made := read_sidecar(path)) is not None and made.task is not None:
        described = replace(described, task=made.task, long=made.dataset == f"bright{LONG_SUFFIX}")
    resolution = resolve_file(cursor, rows, path, described, collections, request.task, request.dataset)
    spelled: dict[str, str] = {}
    findings = list(read.findings)
    # Ids that are known as they are have no prefix, whatever they begin with.
    known = resolution.sure or _shares_queries(cursor, rows, resolution, collections)
    if not known and (prefix := query_prefix(cursor, rows, collections)):
        spelled["query_id"] = prefix.sql
        findings.append(prefix.finding(path, query_count(cursor, rows)))
        _view(cursor, rows, _columns(spelled, ranked), source)
        resolution = resolve_file(cursor, rows, path, described, collections, request.task, request.dataset)
    if not resolution.tasks:
        # A collection that was given file by file is what its runs are of.
        own = collections.first() if is_collection(request) else custom_task(path, request.dataset)
        resolution = Resolution((own,), resolution.findings)
    for key in resolution.tasks:
        collections.load(key)
    if aliases := document_aliases(
        cursor,
        rows,
        path,
        resolution.tasks,
        collections,
        f"aliases_{number}",
        run_has_spaces=read.spaced_ids,
    ):
        # The names inside the expression are those of the rows behind the view, not the mended ones.
        spelled["doc_id"] = aliases[0].format(query_id=spelled.get("query_id", "query_id"))
        findings.append(aliases[1])
        _view(cursor, rows, _columns(spelled, ranked), source)
    if read.repeats:
        _insert_repeats(cursor, number, read, spelled)
    assign_queries(cursor, rows, number, resolution)
    findings += resolution.findings
    scored = any(collections.has_judgments(key) for key in resolution.tasks)
    if scored:
        if not resolution.sure:
            _require_shared_queries(cursor, number, rows, path, resolution)
        # Ranks are stored by the file's own ids, which break ties otherwise than the mended ones.
        ranked = ranked and "doc_id" not in spelled
        place_documents(
            cursor, rows, number, resolution.tasks, collections, request.ties or DEFAULT_TIES, ranked=ranked
        )
    return OpenPart(number, run_input, rows, _columns(spelled, ranked=True), read, resolution, findings, scored)


def _insert_repeats(cursor: Cursor, number: int, read: ReadRun, spelled: Mapping[str, str]) -> None:
    query_ids, doc_ids, scores, given_ranks, positions = zip(*read.repeats, strict=True)
    cursor.execute(
        f"""INSERT INTO file_repeats
            SELECT {number}, {spelled.get("query_id", "query_id")}, {spelled.get("doc_id", "doc_id")}, score,
                   given_rank, position
            FROM (SELECT unnest($query_ids::VARCHAR[]) AS query_id, unnest($doc_ids::VARCHAR[]) AS doc_id,
                         unnest($scores::DOUBLE[]) AS score, unnest($given_ranks::INTEGER[]) AS given_rank,
                         unnest($positions::BIGINT[]) AS position)""",
        {
            "query_ids": list(query_ids),
            "doc_ids": list(doc_ids),
            "scores": list(scores),
            "given_ranks": list(given_ranks),
            "positions": list(positions),
        },
    )


def _columns(spelled: Mapping[str, str], ranked: bool) -> str:
    """SQL for the columns of a run's view: those behind it, of which some are ``spelled`` in another way, and the place
    in the file, which a table as it was read has in its order."""
    replaced = ", ".join(f"{sql} AS {name}" for name, sql in spelled.items())
    return "*" + (f" REPLACE ({replaced})" if replaced else "") + ("" if ranked else ", rowid AS position")


def _view(cursor: Cursor, name: str, columns: str, source: str) -> None:
    cursor.execute(f"CREATE OR REPLACE VIEW {identifier(name)} AS SELECT {columns} FROM {source}")


def describe_whole(path: Path, tasks: Iterable[str]) -> PathDescription:
    """What the whole path says, less the user's home: what that is called says nothing about the runs in it."""
    whole = Path(os.path.normpath(path.absolute()))
    with suppress(ValueError, RuntimeError):
        whole = whole.relative_to(Path.home())
    return describe_path(str(whole), tasks, typed_parts=sum(part not in ("/", "..") for part in path.parts))


def _shares_queries(cursor: Cursor, rows: str, resolution: Resolution, collections: Collections) -> bool:
    """Whether a query id of the file is that of a judged query of its tasks."""
    for key in resolution.tasks:
        collections.load(key)
        found = cursor.execute(
            f"""SELECT EXISTS (SELECT 1 FROM {identifier(rows)} SEMI JOIN
                               (SELECT query_id FROM qrels WHERE {task_condition(key)}) USING (query_id))"""
        ).fetchone()
        if found and found[0]:
            return True
    return False


def _require_shared_queries(cursor: Cursor, file_id: int, rows: str, path: Path, resolution: Resolution) -> None:
    shared = cursor.execute(
        "SELECT EXISTS (SELECT 1 FROM file_queries SEMI JOIN qrels USING (dataset, task, query_id) WHERE file_id = ?)",
        [file_id],
    ).fetchone()
    if shared and shared[0]:
        return
    dataset, task = resolution.tasks[0]
    ours = cursor.execute(f"SELECT DISTINCT query_id FROM {identifier(rows)} ORDER BY ALL LIMIT 3").fetchall()
    theirs = cursor.execute(
        "SELECT DISTINCT query_id FROM qrels WHERE dataset = ? AND task = ? ORDER BY ALL LIMIT 3", [dataset, task]
    ).fetchall()
    raise UnreadableInput(
        f"{path}: no query in common with the judgments of {dataset}/{task}: the run has "
        f"{', '.join(row[0] for row in ours)}; the judgments have {', '.join(row[0] for row in theirs)}.",
        "Is this run of another task? Say --task, or give its judgments with --qrels.",
    )


def convert_file(cursor: Cursor, cache: RunCache, file: OpenFile, wanted_format: str | None) -> list[Finding]:
    """Write a file's fresh runs to the cache and read them from there; returns the finding if that failed.

    Either way the rows have ranks and are sorted afterwards.

    Raises:
        BrightInspectError: there is not the memory to sort a run.
    """
    for part in file.parts:
        table = part.read.table
        try:
            rank_rows(cursor, table)
            _view(cursor, part.rows, part.columns, identifier(table))
        except QueryInterrupted:
            raise
        except DatabaseError as error:
            raise BrightInspectError(
                f"{file.input.path}: its rows could not be sorted ({reason_of(error)}).",
                "Open fewer runs at once, or free memory and disk.",
            ) from None
    file.fresh = False
    try:
        cached = cache.write(cursor, file.input.path, [part.read for part in file.parts], file.state, wanted_format)
        with transaction(cursor):
            for part, run in zip(file.parts, cached, strict=True):
                _view(cursor, part.rows, part.columns, f"read_parquet({path_literal(run.parquet)})")
                cursor.execute(f"DROP TABLE {identifier(part.read.table)}")
                if run.reasons is not None:
                    source = f"read_parquet({path_literal(run.reasons)})"
                    _view(cursor, f"reasons_{part.file_id}", "*", source)
                    cursor.execute(f"DROP TABLE {identifier(f'{part.read.table}_reasons')}")
    except QueryInterrupted:
        raise
    except (OSError, DatabaseError) as error:
        message = f"the run cache could not be written ({reason_of(error)}); the run is kept in memory."
        return [Finding("cache-not-written", "warning", str(file.input.path), message)]
    return []

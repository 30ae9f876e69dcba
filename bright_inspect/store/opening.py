"""Opens a session: from what the user typed to scored runs, one file at a time, with progress and a way out."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

from bright_inspect.datasets.places import find_sources
from bright_inspect.datasets.source import Source
from bright_inspect.db import (
    Cursor,
    Database,
    DatabaseError,
    QueryInterrupted,
    database_errors_told,
    identifier,
    path_literal,
    reason_of,
    transaction,
)
from bright_inspect.domain.columns import NamedFile, name_runs, need_full_labels
from bright_inspect.domain.findings import Finding
from bright_inspect.domain.names import BRIGHT_TASKS, PathDescription, RunName, describe_path
from bright_inspect.errors import BrightInspectError, UnreadableInput, UsageError
from bright_inspect.formats.runs import ReadRun, read_runs
from bright_inspect.store.aliases import document_aliases, query_count, query_prefix
from bright_inspect.store.collections import Collections, custom_task
from bright_inspect.store.inputs import RunInput
from bright_inspect.store.progress import Cancelled, CancelToken, Progress, ProgressListener, ignore_progress
from bright_inspect.store.provenance import (
    judgment_findings,
    model_name_findings,
    name_other_models,
    output_folder_findings,
    query_set_findings,
)
from bright_inspect.store.request import OpenRequest, check_paths
from bright_inspect.store.resolving import Resolution, assign_queries, resolve_file
from bright_inspect.store.run_cache import FileState, RunCache, cache_folder, file_state, rank_rows
from bright_inspect.store.schema import create_tables
from bright_inspect.store.session import Run, RunFile, Session
from bright_inspect.store.standing import place_documents, standing_findings

#: Fresh rows beyond this are converted before the next file is read, so that memory does not pile up.
_MOST_FRESH_ROWS = 1_000_000


@dataclass(slots=True)
class _OpenPart:
    """One run of an input file on its way into the session. ``rows`` is the view that everybody reads; ``columns`` is
    what it makes of the table or Parquet file behind it."""

    file_id: int
    input: RunInput
    rows: str
    columns: str
    read: ReadRun
    resolution: Resolution
    findings: list[Finding]
    scored: bool


@dataclass(slots=True)
class _OpenFile:
    """An input file and its runs. ``fresh`` says that they are as they were read, neither ranked nor in the cache."""

    input: RunInput
    state: FileState
    parts: list[_OpenPart]
    fresh: bool


@dataclass(slots=True)
class Opening:
    """The steps of opening. ``session`` is complete and scored once ``open_session`` returned it; ``convert`` then
    writes the run cache, which may happen later and while the session is read."""

    session: Session
    _files: list[_OpenFile] = field(default_factory=list)
    _cache: RunCache | None = None
    _format: str | None = None

    def convert(self) -> None:
        """Write freshly read runs to the cache. A cache that cannot be written is a finding, and no more.

        Raises:
            BrightInspectError: there is not the memory to sort a run.
        """
        assert self._cache is not None
        for file in self._files:
            if file.fresh:
                self.session.findings += _convert(self.session.cursor, self._cache, file, self._format)


def open_session(
    request: OpenRequest,
    *,
    sources: Iterable[Source] | None = None,
    progress: ProgressListener = ignore_progress,
    cancel: CancelToken | None = None,
) -> Opening:
    """Read, resolve and place every run.

    Raises:
        BrightInspectError: input that cannot be used; the message names the file.
        Cancelled: the token was cancelled.
    """
    inputs = check_paths(request)
    cancel = cancel or CancelToken()
    database = Database(cache_folder() / "spilled")
    try:
        with database_errors_told():
            cursor = database.cursor()
            cancel.watch(cursor)
            create_tables(cursor)
            collections = Collections(cursor, sources if sources is not None else _sources(request), request.layer)
            for argument in request.qrels if not _is_collection(request) else ():
                collections.add_qrels(argument, request.task, request.dataset)
            return _open_files(request, inputs, database, cursor, collections, progress, cancel)
    except QueryInterrupted:
        cancel.unwatch()  # a late Esc must not interrupt a closed cursor
        database.close()
        raise Cancelled from None
    except BaseException:
        cancel.unwatch()  # a late Esc must not interrupt a closed cursor
        database.close()
        raise


def _is_collection(request: OpenRequest) -> bool:
    """Whether the request gives a collection of its own, whose judgments its qrels are."""
    return request.queries is not None or bool(request.corpus)


def _sources(request: OpenRequest) -> Iterator[Source]:
    if not _is_collection(request):
        return find_sources(request.data)
    name = request.task or (request.dataset or "").removeprefix("custom:") or None
    qrels = [Path(path).expanduser() for path in request.qrels]
    return find_sources(request.data, request.queries, qrels, request.corpus, name)


def _open_files(
    request: OpenRequest,
    inputs: list[RunInput],
    database: Database,
    cursor: Cursor,
    collections: Collections,
    progress: ProgressListener,
    cancel: CancelToken,
) -> Opening:
    cache = RunCache(cache_folder())
    files: list[_OpenFile] = []
    parts: list[_OpenPart] = []
    fresh_rows = 0
    for number, run_input in enumerate(inputs):
        progress(Progress(number, len(inputs), f"reading {run_input.path}"))
        cancel.check()
        file = _open_file(cursor, cache, len(parts), run_input, request, collections)
        files.append(file)
        parts += file.parts
        if file.fresh:
            fresh_rows += sum(_row_count(cursor, part.rows) for part in file.parts)
            if fresh_rows > _MOST_FRESH_ROWS and number + 1 < len(inputs):
                for earlier in files:
                    if earlier.fresh:
                        earlier.parts[0].findings += _convert(cursor, cache, earlier, request.format)
                fresh_rows = 0
    progress(Progress(len(inputs), len(inputs), "scoring"))
    standing = standing_findings(cursor, {part.file_id: part.input.path for part in parts if part.scored})
    for part in parts:
        part.findings += standing.get(part.file_id, [])
        part.findings += _provenance(cursor, part)
    names = name_runs([_named_file(part) for part in parts])
    runs = _group(parts, names)
    cursor.executemany(
        "INSERT INTO files VALUES (?, ?)", [(file.file_id, run.run_id) for run in runs for file in run.files]
    )
    session = Session(
        database,
        cursor,
        collections,
        runs,
        _baseline(runs, request.baseline),
        findings=[
            *collections.findings,
            *_other_judgments(cursor, collections),
            *(finding for part in parts for finding in part.findings),
        ],
        ties=request.ties,
    )
    if request.layer is not None and request.layer not in collections.layers:
        collections.use_layer(cursor, request.layer)
    session.unscored = tuple(key for key in session.tasks if not collections.has_judgments(key))
    return Opening(session, files, cache, request.format)


def _open_file(
    cursor: Cursor, cache: RunCache, file_id: int, run_input: RunInput, request: OpenRequest, collections: Collections
) -> _OpenFile:
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
    return _OpenFile(run_input, state, parts, fresh=cached is None)


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
) -> _OpenPart:
    path, rows = run_input.path, f"rows_{number}"
    described = _describe_whole(path, collections.task_names())
    if read.task is not None or read.long is not None:
        # What the file says of itself goes before what its path says.
        described = replace(described, task=read.task or described.task, long=read.long)
    resolution = resolve_file(cursor, rows, path, described, collections, request.task, request.dataset)
    spelled: dict[str, str] = {}
    findings = list(read.findings)
    if not resolution.sure and (prefix := query_prefix(cursor, rows, collections)):
        spelled["query_id"] = prefix.sql
        findings.append(prefix.finding(path, query_count(cursor, rows)))
        _view(cursor, rows, _columns(spelled, ranked), source)
        resolution = resolve_file(cursor, rows, path, described, collections, request.task, request.dataset)
    if not resolution.tasks:
        # A collection that was given file by file is what its runs are of.
        own = collections.known()[0] if _is_collection(request) else custom_task(path, request.dataset)
        resolution = Resolution((own,), resolution.findings)
    for key in resolution.tasks:
        collections.load(key)
    if aliases := document_aliases(cursor, rows, path, resolution.tasks, f"aliases_{number}"):
        spelled["doc_id"] = aliases[0]
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
        place_documents(cursor, rows, number, resolution.tasks, collections, request.ties, ranked=ranked)
    return _OpenPart(number, run_input, rows, _columns(spelled, ranked=True), read, resolution, findings, scored)


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


def _describe_whole(path: Path, tasks: Iterable[str]) -> PathDescription:
    """What the whole path says, less the user's home: what that is called says nothing about the runs in it."""
    whole = Path(os.path.normpath(path.absolute()))
    with suppress(ValueError, RuntimeError):
        whole = whole.relative_to(Path.home())
    return describe_path(str(whole), tasks, typed_parts=sum(part not in ("/", "..") for part in path.parts))


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


def _convert(cursor: Cursor, cache: RunCache, file: _OpenFile, wanted_format: str | None) -> list[Finding]:
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


def _provenance(cursor: Cursor, part: _OpenPart) -> list[Finding]:
    """Whether a run is what its path says, and of the data that it is scored by."""
    path, read = part.input.path, part.read
    findings: list[Finding] = []
    for dataset, task in part.resolution.tasks:
        if dataset == "bright":
            rows = cursor.execute(
                """SELECT query_id, true FROM file_queries WHERE file_id = $file AND dataset = $dataset AND task = $task
                   UNION ALL
                   SELECT DISTINCT query_id, false FROM qrels WHERE dataset = $dataset AND task = $task""",
                {"file": part.file_id, "dataset": dataset, "task": task},
            ).fetchall()
            own, theirs = ([query_id for query_id, of_run in rows if of_run is which] for which in (True, False))
            if theirs:
                findings += query_set_findings(path, dataset, task, own, theirs)
    where = "mteb_model_meta.model_name" if read.format == "mteb" else "the TREC tag"
    described = describe_path(str(path), [*BRIGHT_TASKS, *(task for _, task in part.resolution.tasks)])
    if read.format == "mteb" or name_other_models(described.system(), read.tag):
        findings += model_name_findings(path, described.system(), read.tag, where)
    with suppress(OSError):
        modified = {entry.name: entry.stat().st_mtime for entry in os.scandir(path.parent) if entry.is_file()}
        findings += output_folder_findings(path, modified)
    return findings


def _other_judgments(cursor: Cursor, collections: Collections) -> list[Finding]:
    """What the number of golds says about judgments that were given."""
    findings: list[Finding] = []
    for path, (dataset, task), layer in collections.given_files():
        row = cursor.execute(
            """SELECT count(*) FROM all_qrels
               WHERE dataset = ? AND task = ? AND layer = ? AND relevance > 0""",
            [dataset, task, layer],
        ).fetchone()
        findings += judgment_findings(path, dataset, task, int(row[0]) if row else 0)
    return findings


def _row_count(cursor: Cursor, rows: str) -> int:
    row = cursor.execute(f"SELECT count(*) FROM {identifier(rows)}").fetchone()
    return int(row[0]) if row else 0


def _named_file(file: _OpenPart) -> NamedFile:
    tasks = frozenset(file.resolution.tasks)
    slugs = list(dict.fromkeys([*BRIGHT_TASKS, *(task for _, task in tasks)]))
    return NamedFile(
        file.input.name,
        describe_path(str(file.input.path), slugs),
        _describe_whole(file.input.path, slugs),
        file.read.tag,
        tasks,
    )


def _group(files: list[_OpenPart], names: list[RunName]) -> tuple[Run, ...]:
    groups: dict[RunName, list[RunFile]] = {}
    for file, name in zip(files, names, strict=True):
        reasons = f"reasons_{file.file_id}" if file.read.reasons else None
        run_file = RunFile(file.file_id, file.input.path, file.rows, file.resolution.tasks, file.read.format, reasons)
        groups.setdefault(name, []).append(run_file)
    in_full = need_full_labels(groups)
    return tuple(
        Run(run_id, name, tuple(run_files), name in in_full) for run_id, (name, run_files) in enumerate(groups.items())
    )


def _baseline(runs: tuple[Run, ...], wanted: str | None) -> Run:
    if wanted is None:
        return runs[-1]
    for run in runs:
        if wanted in (run.label, run.name.in_full, *(str(file.path) for file in run.files)):
            return run
    systems = [run for run in runs if run.name.system == wanted]
    if len(systems) == 1:
        return systems[0]
    raise UsageError(f"no run is called {wanted!r}.", f"Runs: {', '.join(run.label for run in runs)}.")

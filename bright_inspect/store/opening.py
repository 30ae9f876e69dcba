"""Opens a session: from what the user typed to scored runs, one file at a time, with progress and a way out."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from bright_inspect.datasets.places import find_sources
from bright_inspect.datasets.source import Source
from bright_inspect.db import Cursor, Database, DatabaseError, QueryInterrupted, identifier, path_literal
from bright_inspect.domain.columns import NamedFile, name_runs
from bright_inspect.domain.findings import Finding
from bright_inspect.domain.names import BRIGHT_TASKS, RunName, describe_path
from bright_inspect.errors import UnreadableInput, UsageError
from bright_inspect.formats.runs import ReadRun, read_run
from bright_inspect.store.collections import Collections
from bright_inspect.store.inputs import RunInput
from bright_inspect.store.progress import Cancelled, CancelToken, Progress, ProgressListener, ignore_progress
from bright_inspect.store.request import OpenRequest, check_paths
from bright_inspect.store.resolving import Resolution, assign_queries, resolve_file
from bright_inspect.store.run_cache import FileState, RunCache, cache_folder, file_state
from bright_inspect.store.schema import create_tables
from bright_inspect.store.session import Run, RunFile, Session
from bright_inspect.store.standing import place_documents, standing_findings

#: Fresh rows beyond this are converted before the next file is read, so that memory does not pile up.
_MOST_FRESH_ROWS = 1_000_000


@dataclass(slots=True)
class _OpenFile:
    """A file on its way into the session."""

    file_id: int
    input: RunInput
    state: FileState
    rows: str
    read: ReadRun
    resolution: Resolution
    findings: list[Finding]
    scored: bool
    fresh: bool


@dataclass(slots=True)
class Opening:
    """The steps of opening. ``session`` is complete and scored once ``open_session`` returned it; ``convert`` then
    writes the run cache, which may happen later and while the session is read."""

    session: Session
    _files: list[_OpenFile] = field(default_factory=list)
    _cache: RunCache | None = None

    def convert(self) -> None:
        """Write freshly read runs to the cache. A cache that cannot be written is a finding, and no more."""
        assert self._cache is not None
        for file in self._files:
            if file.fresh:
                self.session.findings += _convert(self.session.cursor, self._cache, file)


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
    database = Database()
    try:
        cursor = database.cursor()
        cancel.watch(cursor)
        create_tables(cursor)
        collections = Collections(cursor, sources if sources is not None else find_sources(request.data))
        for path in request.qrels:
            collections.add_qrels(path, request.task, request.dataset)
        return _open_files(request, inputs, database, cursor, collections, progress, cancel)
    except QueryInterrupted:
        database.close()
        raise Cancelled from None
    except BaseException:
        database.close()
        raise


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
    fresh_rows = 0
    for number, run_input in enumerate(inputs):
        progress(Progress(number, len(inputs), f"reading {run_input.path}"))
        cancel.check()
        file = _open_file(cursor, cache, number, run_input, request, collections)
        files.append(file)
        if file.fresh:
            fresh_rows += _row_count(cursor, file.rows)
            if fresh_rows > _MOST_FRESH_ROWS and number + 1 < len(inputs):
                for earlier in files:
                    if earlier.fresh:
                        earlier.findings += _convert(cursor, cache, earlier)
                fresh_rows = 0
    progress(Progress(len(inputs), len(inputs), "scoring"))
    standing = standing_findings(cursor, {file.file_id: file.input.path for file in files if file.scored})
    for file in files:
        file.findings += standing.get(file.file_id, [])
    names = name_runs([_named_file(file) for file in files])
    runs = _group(files, names)
    cursor.executemany(
        "INSERT INTO files VALUES (?, ?)", [(file.file_id, run.run_id) for run in runs for file in run.files]
    )
    session = Session(
        database,
        cursor,
        collections,
        runs,
        _baseline(runs, request.baseline),
        findings=[*collections.findings, *(finding for file in files for finding in file.findings)],
    )
    session.unscored = tuple(key for key in session.tasks if not collections.has_judgments(key))
    return Opening(session, files, cache)


def _open_file(
    cursor: Cursor, cache: RunCache, number: int, run_input: RunInput, request: OpenRequest, collections: Collections
) -> _OpenFile:
    path, rows = run_input.path, f"rows_{number}"
    state = file_state(path)
    cached = cache.find(path)
    if cached is None:
        read = read_run(cursor, path, rows)
        if file_state(path) != state:
            raise UnreadableInput(f"{path}: changed while it was being read.", "Try again when it is written.")
    else:
        read = cached.read
        cursor.execute(f"CREATE VIEW {identifier(rows)} AS FROM read_parquet({path_literal(cached.parquet)})")
    described = describe_path(str(path.absolute()), collections.task_names())
    resolution = resolve_file(cursor, rows, path, described, collections, request.task, request.dataset)
    if not resolution.tasks:
        resolution = Resolution((("custom", path.stem),), resolution.findings)
    for key in resolution.tasks:
        collections.load(key)
    assign_queries(cursor, rows, number, resolution)
    findings = [*read.findings, *resolution.findings]
    scored = any(collections.has_judgments(key) for key in resolution.tasks)
    if scored:
        if not resolution.sure:
            _require_shared_queries(cursor, number, rows, path, resolution)
        place_documents(cursor, rows, number, resolution, collections, ranked=cached is not None)
    return _OpenFile(number, run_input, state, rows, read, resolution, findings, scored, fresh=cached is None)


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


def _convert(cursor: Cursor, cache: RunCache, file: _OpenFile) -> list[Finding]:
    """Write a fresh run to the cache and read it from there; returns the finding if that failed.

    Either way the rows have ranks and are sorted afterwards.
    """
    try:
        cached = cache.write(cursor, file.rows, file.input.path, file.read, file.state)
    except QueryInterrupted:
        raise
    except (OSError, DatabaseError) as error:
        file.fresh = False
        message = f"the run cache could not be written ({str(error).splitlines()[0]}); the run is kept in memory."
        return [Finding("cache-not-written", "warning", str(file.input.path), message)]
    name = identifier(file.rows)
    cursor.execute("BEGIN")
    cursor.execute(f"DROP TABLE {name}")
    cursor.execute(f"CREATE VIEW {name} AS FROM read_parquet({path_literal(cached.parquet)})")
    cursor.execute("COMMIT")
    file.fresh = False
    return []


def _row_count(cursor: Cursor, rows: str) -> int:
    row = cursor.execute(f"SELECT count(*) FROM {identifier(rows)}").fetchone()
    return int(row[0]) if row else 0


def _named_file(file: _OpenFile) -> NamedFile:
    tasks = frozenset(file.resolution.tasks)
    slugs = list(dict.fromkeys([*BRIGHT_TASKS, *(task for _, task in tasks)]))
    return NamedFile(
        file.input.name,
        describe_path(str(file.input.path), slugs),
        describe_path(str(file.input.path.absolute()), slugs),
        file.read.tag,
        tasks,
    )


def _group(files: list[_OpenFile], names: list[RunName]) -> tuple[Run, ...]:
    groups: dict[str, list[RunFile]] = {}
    by_label: dict[str, RunName] = {}
    for file, name in zip(files, names, strict=True):
        run_file = RunFile(file.file_id, file.input.path, file.rows, file.resolution.tasks)
        groups.setdefault(str(name), []).append(run_file)
        if by_label.setdefault(str(name), name).variant is None:
            by_label[str(name)] = name
    return tuple(
        Run(run_id, by_label[label], tuple(run_files)) for run_id, (label, run_files) in enumerate(groups.items())
    )


def _baseline(runs: tuple[Run, ...], wanted: str | None) -> Run:
    if wanted is None:
        return runs[-1]
    for run in runs:
        if wanted in (run.label, f"{run.name.system}@{run.name.variant}", *(str(file.path) for file in run.files)):
            return run
    systems = [run for run in runs if run.name.system == wanted]
    if len(systems) == 1:
        return systems[0]
    raise UsageError(f"no run is called {wanted!r}.", f"Runs: {', '.join(run.label for run in runs)}.")

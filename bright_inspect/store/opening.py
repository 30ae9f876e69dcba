"""Opens a session: from what the user typed to scored runs, one file at a time, with progress and a way out."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

from bright_inspect.datasets.places import find_sources, folder_sources
from bright_inspect.datasets.source import Source
from bright_inspect.db import (
    Cursor,
    Database,
    QueryInterrupted,
    database_errors_told,
    identifier,
)
from bright_inspect.domain.columns import NamedFile, name_runs, need_full_labels
from bright_inspect.domain.findings import Finding
from bright_inspect.domain.names import BRIGHT_TASKS, PathDescription, RunName, describe_path
from bright_inspect.domain.ordering import DEFAULT_TIES
from bright_inspect.errors import UsageError
from bright_inspect.store.collections import Collections, split_layer
from bright_inspect.store.inputs import RunInput
from bright_inspect.store.layer_source import LayerSource
from bright_inspect.store.open_file import OpenFile, OpenPart, convert_file, describe_whole, is_collection, open_file
from bright_inspect.store.progress import Cancelled, CancelToken, Progress, ProgressListener, ignore_progress
from bright_inspect.store.provenance import (
    judgment_findings,
    model_name_findings,
    name_other_models,
    output_folder_findings,
    query_set_findings,
)
from bright_inspect.store.request import OpenRequest, check_paths
from bright_inspect.store.run_cache import RunCache, cache_folder
from bright_inspect.store.saved_schema import is_session_file
from bright_inspect.store.saved_session import SavedSession
from bright_inspect.store.schema import create_tables
from bright_inspect.store.session import Run, RunFile, Session
from bright_inspect.store.sidecars import read_sidecar, sidecar_findings
from bright_inspect.store.standing import standing_findings
from bright_inspect.store.variants import load_given_variants

#: Fresh rows beyond this are converted before the next file is read, so that memory does not pile up.
_MOST_FRESH_ROWS = 1_000_000


@dataclass(slots=True)
class Opening:
    """The steps of opening. ``session`` is complete and scored once ``open_session`` returned it; ``convert`` then
    writes the run cache, which may happen later and while the session is read. ``data_findings`` are those of the
    session's that are about the data and judgments."""

    session: Session
    request: OpenRequest
    data_findings: list[Finding] = field(default_factory=list)
    _files: list[OpenFile] = field(default_factory=list)
    _cache: RunCache | None = None
    _format: str | None = None

    @property
    def parts(self) -> list[OpenPart]:
        """The runs of the input files, with what was found in each."""
        return [part for file in self._files for part in file.parts]

    def convert(self) -> None:
        """Write freshly read runs to the cache. A cache that cannot be written is a finding, and no more.

        Raises:
            BrightInspectError: there is not the memory to sort a run.
        """
        assert self._cache is not None
        for file in self._files:
            if file.fresh:
                self.session.findings += convert_file(self.session.cursor, self._cache, file, self._format)


def open_session(
    request: OpenRequest,
    *,
    sources: Iterable[Source] | None = None,
    made: LayerSource | None = None,
    progress: ProgressListener = ignore_progress,
    cancel: CancelToken | None = None,
) -> Opening:
    """Read, resolve and place every run. ``made`` are layers besides those of the data and the request's files.

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
            saved = _attach(cursor, inputs)
            places = sources if sources is not None else _sources(request, inputs, saved)
            collections = Collections(cursor, places, request.layer, made)
            if saved is not None:
                saved.offer_layers(collections)
                request = replace(request, ties=request.ties or saved.ties)
            dataset, task = request.dataset, request.task
            if is_collection(request):
                dataset, task = collections.first()
            for argument in _given_layers(request):
                collections.add_qrels(argument, task, dataset)
            return _open_files(request, inputs, saved, database, cursor, collections, made, progress, cancel)
    except QueryInterrupted:
        cancel.unwatch()  # a late Esc must not interrupt a closed cursor
        database.close()
        raise Cancelled from None
    except BaseException:
        cancel.unwatch()  # a late Esc must not interrupt a closed cursor
        database.close()
        raise


def _attach(cursor: Cursor, inputs: list[RunInput]) -> SavedSession | None:
    paths = list(dict.fromkeys(run_input.path for run_input in inputs if is_session_file(run_input.path)))
    if len(paths) > 1:
        raise UsageError(
            f"two saved sessions cannot be opened at once: {paths[0]} and {paths[1]}.",
            "Their judgments may differ. Open one, with the run files of the other.",
        )
    return SavedSession(cursor, paths[0]) if paths else None


def _sources(request: OpenRequest, inputs: list[RunInput], saved: SavedSession | None) -> Iterator[Source]:
    """What was named is asked first, then a saved session, and other places only for runs that are not of it."""
    if saved is None:
        yield from _places(request)
        return
    if is_collection(request):
        yield next(_places(request))
    if request.data is not None:
        yield from folder_sources(request.data)
    yield saved
    if len(inputs) > 1:
        yield from _places(request)


def _places(request: OpenRequest) -> Iterator[Source]:
    if not is_collection(request):
        return find_sources(request.data)
    name = request.task or (request.dataset or "").removeprefix("custom:") or None
    qrels = [Path(path).expanduser() for path in request.qrels if split_layer(path)[0] is None]
    return find_sources(request.data, request.queries, qrels, request.corpus, name)


def _given_layers(request: OpenRequest) -> tuple[str, ...]:
    """The judgments that are layers beside a data set's own; a collection's are its own unless they are named."""
    named = tuple(path for path in request.qrels if split_layer(path)[0] is not None)
    return named if is_collection(request) else request.qrels


def _open_files(
    request: OpenRequest,
    inputs: list[RunInput],
    saved: SavedSession | None,
    database: Database,
    cursor: Cursor,
    collections: Collections,
    made: LayerSource | None,
    progress: ProgressListener,
    cancel: CancelToken,
) -> Opening:
    cache = RunCache(cache_folder())
    files: list[OpenFile] = []
    parts: list[OpenPart] = []
    fresh_rows = 0
    for number, run_input in enumerate(inputs):
        progress(Progress(number, len(inputs), f"reading {run_input.path}"))
        cancel.check()
        if saved is not None and run_input.path == saved.path:
            file = saved.run_files(cursor, len(parts), run_input, collections, request.ties or DEFAULT_TIES)
        else:
            file = open_file(cursor, cache, len(parts), run_input, request, collections)
        files.append(file)
        parts += file.parts
        if file.fresh:
            fresh_rows += sum(_row_count(cursor, part.rows) for part in file.parts)
            if fresh_rows > _MOST_FRESH_ROWS and number + 1 < len(inputs):
                for earlier in files:
                    if earlier.fresh:
                        earlier.parts[0].findings += convert_file(cursor, cache, earlier, request.format)
                fresh_rows = 0
    progress(Progress(len(inputs), len(inputs), "scoring"))
    standing = standing_findings(cursor, {part.file_id: part.input.path for part in parts if part.scored})
    for part in parts:
        if not part.saved:
            part.findings += _provenance(cursor, part)
            part.findings += sidecar_findings(part.input.path)
        part.findings += standing.get(part.file_id, [])
    names = name_runs([_named_file(part) for part in parts])
    runs = _group(parts, names)
    cursor.executemany(
        "INSERT INTO files VALUES (?, ?)", [(file.file_id, run.run_id) for run in runs for file in run.files]
    )
    tasks = [key for key in dict.fromkeys(key for run in runs for key in run.tasks) if collections.has_judgments(key)]
    collections.findings += load_given_variants(cursor, collections, request.variants, tasks, request.task)
    data_findings = [*(saved.findings_about("data") if saved is not None else ()), *collections.findings]
    session = Session(
        database,
        cursor,
        collections,
        runs,
        _baseline(runs, request.baseline, _saved_baseline(runs, inputs[-1], saved)),
        findings=[
            *data_findings,
            *_other_judgments(cursor, collections),
            *(finding for part in parts for finding in part.findings),
        ],
        ties=request.ties or DEFAULT_TIES,
        measure=saved.measure if saved is not None else None,
    )
    if made is not None:
        session.findings += made.findings(cursor, session.tasks)
    if request.layer is not None and request.layer not in collections.layers:
        collections.use_layer(cursor, request.layer)
    session.unscored = tuple(key for key in session.tasks if not collections.has_judgments(key))
    return Opening(session, request, data_findings, files, cache, request.format)


def _provenance(cursor: Cursor, part: OpenPart) -> list[Finding]:
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


def _named_file(file: OpenPart) -> NamedFile:
    tasks = frozenset(file.resolution.tasks)
    if file.saved:
        nothing = PathDescription(None, None, None, ())
        return NamedFile(file.input.name, nothing, nothing, file.read.tag, tasks)
    slugs = list(dict.fromkeys([*BRIGHT_TASKS, *(task for _, task in tasks)]))
    described = describe_path(str(file.input.path), slugs)
    if described.variant is None and (made := read_sidecar(file.input.path)) is not None:
        described = replace(described, variant=made.variant)
    return NamedFile(
        file.input.name,
        described,
        describe_whole(file.input.path, slugs),
        file.read.tag,
        tasks,
    )


def _group(files: list[OpenPart], names: list[RunName]) -> tuple[Run, ...]:
    groups: dict[RunName, list[RunFile]] = {}
    for file, name in zip(files, names, strict=True):
        reasons = f"reasons_{file.file_id}" if file.read.reasons else None
        digest = file.read.digest if file.saved else None
        run_file = RunFile(
            file.file_id,
            file.input.path,
            file.rows,
            file.resolution.tasks,
            file.read.format,
            reasons,
            digest,
            file.metrics,
        )
        groups.setdefault(name, []).append(run_file)
    in_full = need_full_labels(groups)
    return tuple(
        Run(run_id, name, tuple(run_files), name in in_full) for run_id, (name, run_files) in enumerate(groups.items())
    )


def _saved_baseline(runs: tuple[Run, ...], last: RunInput, saved: SavedSession | None) -> Run | None:
    """The saved session's baseline, if the session comes last, where baselines are."""
    if saved is None or last.path != saved.path:
        return None
    return next((run for run in runs if any(file.file_id == saved.baseline_file for file in run.files)), None)


def _baseline(runs: tuple[Run, ...], wanted: str | None, saved: Run | None) -> Run:
    if wanted is None:
        return saved or runs[-1]
    for run in runs:
        if wanted in (run.label, run.name.in_full, *(str(file.path) for file in run.files)):
            return run
    systems = [run for run in runs if run.name.system == wanted]
    if len(systems) == 1:
        return systems[0]
    raise UsageError(f"no run is called {wanted!r}.", f"Runs: {', '.join(run.label for run in runs)}.")

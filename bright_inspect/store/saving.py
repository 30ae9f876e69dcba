"""An open session written to one DuckDB file: the tables of ``saved_schema``, filled by SQL from the session's own."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import astuple, dataclass
from pathlib import Path
from typing import Any

from bright_inspect import __version__
from bright_inspect.db import Cursor, DatabaseError, QueryInterrupted, identifier, reason_of, text_literal, transaction
from bright_inspect.domain.findings import Finding
from bright_inspect.domain.measures import Measure
from bright_inspect.errors import BrightInspectError, UsageError
from bright_inspect.formats.files import sha256_of
from bright_inspect.store.collections import ORIGINAL_LAYER, TaskKey, task_condition
from bright_inspect.store.documents import load_task_texts
from bright_inspect.store.lists import beside
from bright_inspect.store.opening import Opening
from bright_inspect.store.ordering import row_order
from bright_inspect.store.progress import Progress, ProgressListener
from bright_inspect.store.provenance import metrics_beside
from bright_inspect.store.run_cache import ranked_sql
from bright_inspect.store.saved_schema import SCHEMA_VERSION, TABLES
from bright_inspect.store.session import Run, RunFile
from bright_inspect.store.standing import STANDING_CODES

_CATALOG = "saving"
#: DuckDB 1.2 and later read it; what later versions add is not needed.
_STORAGE_VERSION = "v1.2.0"
_ROWS_AT_ONCE = 1000
#: What is seen anew on opening, or is of this machine alone.
_NOT_KEPT = {*STANDING_CODES, "cache-not-written"}


@dataclass(frozen=True, slots=True)
class SavedDecision:
    """A line of a journal, with the columns of the table ``decisions``."""

    id: str
    kind: str
    dataset: str
    task: str
    query_id: str
    doc_id: str | None
    relevance: int | None
    annotator: str
    time: str
    note: str
    undoes: str | None
    line: str


@dataclass(frozen=True, slots=True)
class Decided:
    """What goes into a saved session of decisions: their lines, what was odd in the journals, and these files."""

    lines: Sequence[SavedDecision] = ()
    findings: Sequence[Finding] = ()
    journals: Sequence[Path] = ()


def check_target(out: Path) -> None:
    """
    Raises:
        UsageError: there is a file already, or no folder for it.
    """
    for path, hint in (
        (out, "Name another file, or remove it."),
        (beside(out, ".part"), "Another save is writing it, or was cut off: then remove it."),
    ):
        if os.path.lexists(path):
            raise UsageError(f"{path}: there already.", hint)
    if not out.parent.is_dir():
        raise UsageError(f"{out}: no such folder {out.parent}.", "Make the folder, or name another file.")


def save_session(
    opening: Opening,
    cursor: Cursor,
    out: Path,
    decided: Decided,
    measure: Measure | None = None,
    progress: ProgressListener = lambda progress: None,
    check: Callable[[], None] = lambda: None,
    baseline: Run | None = None,
) -> int:
    """Write the session to a new file; its size. It is called ``OUT.part`` until it is whole. The session stays as it
    is and may be read meanwhile; the cursor must be one of this save's own.

    Raises:
        UsageError: as ``check_target``.
        BrightInspectError: the disk is full, or the folder cannot be written.
        UnreadableInput: an input is damaged, or gone.
    """
    check_target(out)
    part = beside(out, ".part")
    try:
        cursor.execute(f"ATTACH {text_literal(str(part.absolute()))} AS {_CATALOG} "
                       f"(TYPE duckdb, STORAGE_VERSION '{_STORAGE_VERSION}')")  # fmt: skip
        try:
            _Saving(opening, cursor, progress, check).fill(decided, measure, baseline)
            cursor.execute(f"CHECKPOINT {_CATALOG}")
        finally:
            with suppress(DatabaseError):
                cursor.execute(f"DETACH {_CATALOG}")
        with part.open("rb") as file:
            os.fsync(file.fileno())
        _publish(part, out)
        return out.stat().st_size
    except QueryInterrupted:
        raise
    except (OSError, DatabaseError, UnicodeEncodeError) as error:
        reason = (error.strerror if isinstance(error, OSError) else None) or reason_of(error).rstrip(".")
        raise BrightInspectError(
            f"{out}: the session was not saved ({reason}).", "Free disk, or name another file."
        ) from None
    finally:
        for left in (part, beside(part, ".wal")):
            left.unlink(missing_ok=True)


def _publish(part: Path, out: Path) -> None:
    """Give the whole file its name, unless somebody else has made one of it meanwhile."""
    try:
        os.link(part, out)
    except FileExistsError:
        raise
    except OSError as error:
        if error.errno not in (errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK):
            raise
        os.rename(part, out)  # a file system without links


class _Saving:
    """One session on its way into the attached file."""

    def __init__(self, opening: Opening, cursor: Cursor, progress: ProgressListener, check: Callable[[], None]) -> None:
        self._opening = opening
        self._session = opening.session
        self._collections = opening.session.collections
        self._cursor = cursor
        self._progress = progress
        self._check = check
        loaded = self._collections.active_layers
        self._tasks: list[TaskKey] = list(dict.fromkeys([*loaded, *self._session.tasks]))
        self._steps = sum(len(run.files) for run in self._session.runs) + len(self._tasks)
        self._done = 0

    def fill(self, decided: Decided, measure: Measure | None, baseline: Run | None) -> None:
        """Make and fill all tables."""
        for table in ("variants", "documents"):  # texts are read in here, beside those that the session shows
            self._cursor.execute(f"CREATE OR REPLACE TEMP TABLE {table} AS FROM {table} LIMIT 0")
        self._create()
        for run in self._session.runs:
            for file in run.files:
                self._step(f"saving {file.path}")
                self._rankings(run.run_id, file)
        for position, task in enumerate(self._tasks):
            self._step(f"saving the texts of {'/'.join(task)}")
            self._task(position, task)
        self._layers()
        self._runs()
        self._insert("decisions", ((number, *astuple(line)) for number, line in enumerate(decided.lines)))
        self._findings(decided)
        self._inputs(decided)
        baseline, layer = baseline or self._session.baseline, self._session.layer
        told = str(measure) if measure is not None else self._session.measure
        settings = (SCHEMA_VERSION, __version__, told, layer, self._session.ties, baseline.label, baseline.run_id)
        self._insert("settings", [settings])

    def _step(self, message: str) -> None:
        self._check()
        self._progress(Progress(self._done, self._steps, message))
        self._done += 1

    def _create(self) -> None:
        for name, table in TABLES.items():
            columns = ", ".join(f"{identifier(column)} {kind}" for column, (kind, _) in table.columns.items())
            self._cursor.execute(f"CREATE TABLE {_CATALOG}.{name} ({columns})")
            self._cursor.execute(f"COMMENT ON TABLE {_CATALOG}.{name} IS {text_literal(table.comment)}")
            for column, (_, comment) in table.columns.items():
                place = f"{_CATALOG}.{name}.{identifier(column)}"
                self._cursor.execute(f"COMMENT ON COLUMN {place} IS {text_literal(comment)}")

    def _insert(self, table: str, rows: Iterable[Sequence[Any]]) -> None:
        """Rows of values; bytes of a path that are no text are spelled out."""
        marks = ", ".join("?" * len(TABLES[table].columns))
        told = [tuple(_spelled(value) for value in row) for row in rows]
        for start in range(0, len(told), _ROWS_AT_ONCE):
            with transaction(self._cursor):
                self._cursor.executemany(
                    f"INSERT INTO {_CATALOG}.{table} VALUES ({marks})", told[start : start + _ROWS_AT_ONCE]
                )

    def _select(self, table: str, sql: str) -> None:
        self._cursor.execute(f"INSERT INTO {_CATALOG}.{table} BY NAME {sql}")

    def _rankings(self, run_id: int, file: RunFile) -> None:
        rows, number = identifier(file.rows), file.file_id
        rank = (
            f"row_number() OVER (PARTITION BY query_id, out IS NULL ORDER BY {row_order(self._session.ties).order_by})"
        )
        self._select(
            "rankings",
            f"""WITH placed AS (FROM ({ranked_sql(rows)}) JOIN (FROM file_queries WHERE file_id = {number})
                                USING (query_id)),
                     marked AS (SELECT p.*, e.doc_id AS out FROM placed p
                                LEFT JOIN (FROM file_excluded WHERE file_id = {number}) e
                                USING (dataset, task, query_id, doc_id))
                SELECT {run_id} AS run_id, {number} AS file_id, dataset, task, query_id,
                       CASE WHEN out IS NULL THEN {rank}::INTEGER END AS rank, doc_id, score, given_rank, position,
                       marked.rank AS raw_rank, above, tied
                FROM marked ORDER BY dataset, task, query_id, raw_rank""",
        )
        self._select("repeats", f"FROM file_repeats WHERE file_id = {number}")
        metrics = file.metrics if file.digest is not None else metrics_beside(file.path)
        if metrics is not None:
            self._insert("metrics", ((number, metrics[0], *item) for item in metrics[1]))
        if file.reasons is not None:
            self._select("reasons", f"SELECT {number} AS file_id, * FROM {identifier(file.reasons)}")

    def _task(self, position: int, task: TaskKey) -> None:
        own = f"WHERE {task_condition(task)}"
        self._select("queries", f"FROM queries {own} ORDER BY position")
        self._select("gold_pages", f"FROM gold_pages {own} ORDER BY query_id, page_id")
        self._select("exclusions", f"SELECT DISTINCT * FROM exclusions {own} ORDER BY ALL")
        self._select("qrels", f"FROM all_qrels {own} ORDER BY rowid")
        source, documents = self._collections.source(task), None
        if source is not None and task in self._session.tasks:
            with transaction(self._cursor):
                documents = load_task_texts(self._session, self._cursor, task)
            # What the corpus was that a session was saved of stays what it was.
            documents = source.whole_size(*task) or documents
            for table, key in (("variants", "variant, query_id"), ("documents", "doc_id")):
                self._select(table, f"FROM {table} {own} ORDER BY {key}")
                self._cursor.execute(f"DELETE FROM {table} {own}")
        self._insert("tasks", [(position, *task, source is not None, documents)])

    def _layers(self) -> None:
        rows = []
        for task in self._tasks:
            given = self._collections.given_layers.get(task, {})
            for position, layer in enumerate(self._collections.layers_of(task)):
                file = given.get(layer)
                of_data = file is None and layer == ORIGINAL_LAYER and self._collections.source(task) is not None
                rows.append(
                    (
                        *task,
                        layer,
                        position,
                        "file" if file is not None else "data" if of_data else "decisions",
                        layer == self._collections.layer_of(task),
                        *((file.path, file.read.digest, file.read.format) if file is not None else (None, None, None)),
                    )
                )
        self._insert("layers", rows)

    def _runs(self) -> None:
        runs = self._session.runs
        self._insert("runs", ((run.run_id, run.label, run.name.system, run.name.variant) for run in runs))
        run_of = {file.file_id: run.run_id for run in runs for file in run.files}
        self._insert(
            "run_files",
            (
                (
                    part.file_id,
                    run_of[part.file_id],
                    part.input.path,
                    part.read.digest,
                    part.read.format,
                    part.read.tag,
                    part.read.spaced_ids,
                )
                for part in self._opening.parts
            ),
        )
        self._insert(
            "file_tasks",
            (
                (part.file_id, position, *task)
                for part in self._opening.parts
                for position, task in enumerate(part.resolution.tasks)
            ),
        )

    def _findings(self, decided: Decided) -> None:
        told: list[tuple[int | None, str, Finding]] = [
            *((None, "data", finding) for finding in self._opening.data_findings),
            *((part.file_id, "run", finding) for part in self._opening.parts for finding in part.findings),
            *((None, "decisions", finding) for finding in decided.findings),
        ]
        kept = [row for row in told if row[2].code not in _NOT_KEPT]
        self._insert(
            "findings",
            ((number, file_id, about, *astuple(found)) for number, (file_id, about, found) in enumerate(kept)),
        )

    def _inputs(self, decided: Decided) -> None:
        rows: dict[tuple[str, str], tuple[Any, ...]] = {}

        def add(kind: str, path: Path, digest: str | None, what: str | None, here: bool = True) -> None:
            size = path.stat().st_size if here and path.is_file() else None
            rows.setdefault((kind, str(path)), (kind, path, digest, size, what))

        for part in self._opening.parts:
            add("run", part.input.path, part.read.digest, part.read.format, not part.saved)
        for task in self._tasks:
            for given in self._collections.given_layers.get(task, {}).values():
                add("qrels", given.path, given.read.digest, given.read.format)
        for path in decided.journals:
            add("journal", path, sha256_of(path) if path.is_file() else None, "journal")
        for task in self._tasks:
            source = self._collections.source(task)
            if source is not None:
                rows.setdefault(("data", source.name), ("data", source.name, None, None, type(source).__name__))
        self._insert("inputs", rows.values())


def _spelled(value: Any) -> Any:
    if isinstance(value, Path):
        value = str(value)
    return value.encode("utf-8", "backslashreplace").decode() if isinstance(value, str) else value

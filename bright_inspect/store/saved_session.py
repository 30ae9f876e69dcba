"""A saved session read back: attached read-only, checked, and given to the session as its data, layers and runs.

Nothing is taken from a file but plain tables of the known names: a view or a macro in it is never asked.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, cast

from bright_inspect import __version__
from bright_inspect.datasets.source import Source
from bright_inspect.db import (
    Cursor,
    Database,
    DatabaseError,
    QueryInterrupted,
    database_errors_told,
    identifier,
    reason_of,
    text_literal,
)
from bright_inspect.domain.findings import Finding, Severity
from bright_inspect.domain.names import RunName
from bright_inspect.domain.ordering import TIE_RULES, TieRule
from bright_inspect.errors import UnreadableInput, UsageError
from bright_inspect.formats.qrels import QrelsRead
from bright_inspect.formats.qrels_sniff import QrelsFormat
from bright_inspect.formats.runs import ReadRun
from bright_inspect.store.collections import ORIGINAL_LAYER, Collections, GivenQrels, TaskKey, task_condition
from bright_inspect.store.inputs import RunInput
from bright_inspect.store.open_file import OpenFile, OpenPart
from bright_inspect.store.resolving import Resolution
from bright_inspect.store.run_cache import file_state
from bright_inspect.store.saved_schema import SCHEMA_VERSION, TABLES
from bright_inspect.store.standing import place_documents

#: What a saved session is attached as.
CATALOG = "saved"
_AGAIN = "Save it again: bright-inspect save RUN... --out FILE.duckdb."


class SavedSession(Source):
    """A saved session, attached to a database. Its tasks, of which a data set had the data, are those of a source."""

    def __init__(self, cursor: Cursor, path: Path) -> None:
        """
        Raises:
            UnreadableInput: the file is damaged, no saved session, or one of a newer version.
        """
        self.path = path
        self._cursor = cursor
        with saved_errors_told(path):
            # Absolute, because DuckDB takes what stands before a colon for the kind of the database.
            place = text_literal(str(path.absolute()))
            cursor.execute(f"ATTACH {place} AS {CATALOG} (TYPE duckdb, READ_ONLY)")
            self._check_tables()
            ties, self.measure, self._baseline = self._rows("SELECT ties, measure, baseline_run_id FROM settings")[0]
            if ties not in TIE_RULES:
                raise UnreadableInput(f"{path}: ties by {ties!r}, which is no rule of this version.", _AGAIN)
            self.ties: TieRule = ties
            #: The id of a file of the baseline, once the runs are open.
            self.baseline_file: int | None = None
            self._tasks: dict[TaskKey, tuple[bool, int | None]] = {
                (dataset, task): (has_data, documents)
                for dataset, task, has_data, documents in self._rows(
                    "SELECT dataset, task, has_data, corpus_documents FROM tasks ORDER BY position"
                )
            }

    @property
    def name(self) -> str:
        return str(self.path)

    def tasks(self) -> dict[str, tuple[str, ...]]:
        found: dict[str, list[str]] = {}
        for (dataset, task), (has_data, _) in self._tasks.items():
            if has_data:
                found.setdefault(dataset, []).append(task)
        return {dataset: tuple(tasks) for dataset, tasks in found.items()}

    def queries_sql(self, dataset: str, task: str) -> str:
        return self._select("queries", "position, query_id, text, reasoning, gold_answer", dataset, task)

    def qrels_sql(self, dataset: str, task: str) -> str:
        own = f"layer = {text_literal(ORIGINAL_LAYER)}"
        return f"{self._select('qrels', 'query_id, doc_id, relevance', dataset, task)} AND {own}"

    def exclusions_sql(self, dataset: str, task: str) -> str:
        return self._select("exclusions", "query_id, doc_id", dataset, task)

    def gold_pages_sql(self, dataset: str, task: str) -> str:
        return self._select("gold_pages", "query_id, page_id", dataset, task)

    def variants(self, dataset: str, task: str) -> tuple[str, ...]:
        rows = self._rows(f"SELECT DISTINCT variant FROM variants WHERE {task_condition((dataset, task))} ORDER BY 1")
        return tuple(variant for (variant,) in rows)

    def variant_sql(self, dataset: str, task: str, variant: str) -> str:
        return f"{self._select('variants', 'query_id, text', dataset, task)} AND variant = {text_literal(variant)}"

    def documents_sql(self, dataset: str, task: str) -> str | None:
        if self.whole_size(dataset, task) is None:
            return None
        # A document that runs spell in two ways was saved under both; it is one.
        spaced = self._select("documents", "replace(doc_id, ' ', '_')", dataset, task) + " AND contains(doc_id, ' ')"
        return f"{self._select('documents', 'doc_id, content', dataset, task)} AND doc_id NOT IN ({spaced})"

    def whole_size(self, dataset: str, task: str) -> int | None:
        return self._tasks.get((dataset, task), (False, None))[1]

    def offer_layers(self, collections: Collections) -> None:
        """Give the layers that came from files to the session, and say which layer counted for each task; the tasks
        are known from here on."""
        given: dict[TaskKey, dict[str, GivenQrels]] = {}
        with saved_errors_told(self.path):
            rows = self._rows(
                "SELECT dataset, task, layer, path, sha256, format FROM layers WHERE made_of = 'file' "
                "ORDER BY dataset, task, position"
            )
            for number, (dataset, task, layer, path, digest, kind) in enumerate(rows):
                table = f"saved_layer_{number}"
                wanted = self._select("qrels", "query_id, doc_id, relevance", dataset, task)
                self._view(table, f"{wanted} AND layer = {text_literal(layer)}")
                # Where there is data, its exclusions have those of files.
                first = not self._tasks.get((dataset, task), (False,))[0] and (dataset, task) not in given
                self._view(f"{table}_exclusions", self.exclusions_sql(dataset, task))
                read = QrelsRead(digest or "", cast(QrelsFormat, kind or "trec"), (), first)
                given.setdefault((dataset, task), {})[layer] = GivenQrels(Path(path or layer), table, read)
            counts = {
                (dataset, task): layer
                for dataset, task, layer in self._rows("SELECT dataset, task, layer FROM layers WHERE counts")
            }
        collections.add_saved(given, counts)
        for key, (has_data, _) in self._tasks.items():
            while has_data and collections.source(key) is None and collections.look_further():
                pass

    def load_tasks(self, collections: Collections) -> None:
        """Load every task that was loaded when the session was saved."""
        for key in self._tasks:
            collections.load(key)

    def run_files(
        self, cursor: Cursor, file_id: int, run_input: RunInput, collections: Collections, ties: TieRule
    ) -> OpenFile:
        """The runs of the saved session as those of one input file; they get the ids from ``file_id`` on.

        Raises:
            UnreadableInput: the file is damaged.
            UsageError: a name was given to a session of several runs.
        """
        with saved_errors_told(self.path):
            runs = {
                run_id: RunName(system, variant)
                for run_id, system, variant in self._rows("SELECT run_id, system, variant FROM runs ORDER BY run_id")
            }
            if run_input.name is not None and len(runs) != 1:
                raise UsageError(
                    f"{self.path}: a saved session of {len(runs)} runs cannot be named {run_input.name}.",
                    "Leave out the name.",
                )
            self.load_tasks(collections)
            parts = []
            for number, (saved_id, run_id, path, *read) in enumerate(
                self._rows(
                    "SELECT file_id, run_id, path, sha256, format, tag, spaced_ids FROM run_files ORDER BY file_id"
                ),
                file_id,
            ):
                named = RunInput(Path(path), run_input.name or runs[run_id])
                if run_id == self._baseline:
                    self.baseline_file = number
                parts.append(self._part(cursor, number, saved_id, named, read, collections, ties))
        return OpenFile(run_input, file_state(self.path), parts, fresh=False)

    def _part(
        self,
        cursor: Cursor,
        number: int,
        saved_id: int,
        named: RunInput,
        read: Sequence[Any],
        collections: Collections,
        ties: TieRule,
    ) -> OpenPart:
        digest, kind, tag, spaced = read
        rows = f"rows_{number}"
        own = f"FROM {CATALOG}.{{}} WHERE file_id = {saved_id}"
        columns = "query_id, doc_id, score, given_rank, position, raw_rank AS rank, above, tied"
        self._view(rows, f"SELECT {columns} {own.format('rankings')}")
        reasons = bool(self._rows(f"SELECT 1 FROM reasons WHERE file_id = {saved_id} LIMIT 1"))
        if reasons:
            self._view(f"reasons_{number}", f"SELECT query_id, doc_id, thought, response {own.format('reasons')}")
        cursor.execute(
            f"""INSERT INTO file_queries SELECT {number}, dataset, task, query_id, count(*)::INTEGER
                {own.format("rankings")} GROUP BY ALL"""
        )
        cursor.execute(
            f"""INSERT INTO file_repeats SELECT {number}, query_id, doc_id, score, given_rank, position
                {own.format("repeats")} ORDER BY rowid"""
        )
        tasks = tuple(
            (dataset, task)
            for dataset, task in self._rows(
                f"SELECT dataset, task FROM file_tasks WHERE file_id = {saved_id} ORDER BY position"
            )
        )
        scored = any(collections.has_judgments(key) for key in tasks)
        if scored:
            place_documents(cursor, rows, number, tasks, collections, ties, ranked=True)
        found = ReadRun(rows, digest, kind, tag, reasons=reasons, spaced_ids=spaced)
        findings = self.findings_about("run", saved_id)
        beside = self._rows(f"SELECT path, name, value FROM metrics WHERE file_id = {saved_id}")
        metrics = (Path(beside[0][0]), tuple((name, value) for _, name, value in beside)) if beside else None
        return OpenPart(
            number, named, rows, "*", found, Resolution(tasks), findings, scored, saved=True, metrics=metrics
        )

    def findings_about(self, about: str, file_id: int | None = None) -> list[Finding]:
        """What was found odd in the inputs: ``run`` with a file, ``data`` or ``decisions``."""
        of_file = "file_id IS NULL" if file_id is None else f"file_id = {file_id}"
        rows = self._rows(
            "SELECT code, severity, file, message, line, count FROM findings "
            f"WHERE about = {text_literal(about)} AND {of_file} ORDER BY position"
        )
        return [
            Finding(code, cast(Severity, severity), file, message, line, count)
            for code, severity, file, message, line, count in rows
        ]

    def decision_lines(self) -> list[str]:
        """The lines of the journals."""
        return [line for (line,) in self._rows("SELECT line FROM decisions ORDER BY position")]

    def _select(self, table: str, columns: str, dataset: str, task: str) -> str:
        return f"SELECT {columns} FROM {CATALOG}.{table} WHERE {task_condition((dataset, task))}"

    def _view(self, name: str, sql: str) -> None:
        self._cursor.execute(f"CREATE OR REPLACE VIEW {identifier(name)} AS {sql}")

    def _rows(self, sql: str) -> list[Any]:
        """The rows of a query over tables of the file, whose names stand behind FROM."""
        return self._cursor.execute(sql.replace("FROM ", f"FROM {CATALOG}.", 1)).fetchall()

    def _check_tables(self) -> None:
        """Each table and column must be there, and a table of the file's own main schema."""
        found: dict[str, dict[str, str]] = {}
        for table, column, kind in self._cursor.execute(
            f"""SELECT table_name, column_name, data_type FROM duckdb_columns() JOIN
                       (SELECT database_name, schema_name, table_name FROM duckdb_tables())
                       USING (database_name, schema_name, table_name)
                WHERE database_name = '{CATALOG}' AND schema_name = 'main'"""
        ).fetchall():
            found.setdefault(table, {})[column] = kind
        if "settings" not in found:
            tables = ", ".join(sorted(found)[:5]) or "none"
            raise UnreadableInput(
                f"{self.path}: a DuckDB file, but no saved session (tables: {tables}).",
                "A saved session is what bright-inspect save writes.",
            )
        if "schema_version" in found["settings"]:
            self._check_version()
        for name, table in TABLES.items():
            if name not in found:
                raise UnreadableInput(f"{self.path}: the saved session lacks the table {name}.", _AGAIN)
            for column, (kind, _) in table.columns.items():
                told = found[name].get(column)
                if told != kind:
                    lacks = "lacks the column" if told is None else f"has {told}, not {kind}, in the column"
                    raise UnreadableInput(f"{self.path}: the saved session {lacks} {name}.{column}.", _AGAIN)

    def _check_version(self) -> None:
        rows = self._cursor.execute(f"SELECT schema_version, tool_version FROM {CATALOG}.settings").fetchall()
        if len(rows) != 1 or not isinstance(rows[0][0], int):
            raise UnreadableInput(f"{self.path}: the saved session has {len(rows)} rows of settings, not one.", _AGAIN)
        version, tool = rows[0]
        if version > SCHEMA_VERSION:
            raise UnreadableInput(
                f"{self.path}: saved by bright-inspect {tool} in version {version} of the tables; this is "
                f"{__version__}, which reads up to {SCHEMA_VERSION}.",
                "Update bright-inspect.",
            )


@contextmanager
def saved_errors_told(path: Path) -> Iterator[None]:
    """What DuckDB says about a saved session reaches the user as one line.

    Raises:
        UnreadableInput: instead of a DatabaseError.
    """
    try:
        yield
    except QueryInterrupted:
        raise
    except (DatabaseError, UnicodeEncodeError, KeyError, TypeError) as error:
        # Another program may have written the file: a row that names one that is not there, or a value missing.
        reason = reason_of(error).replace(str(path.absolute()), "it").rstrip(".")
        if isinstance(error, KeyError | TypeError):
            reason = "its tables do not fit together"
        raise UnreadableInput(
            f"{path}: the saved session cannot be read ({reason}).", f"If it was copied, copy it again. {_AGAIN}"
        ) from None


def saved_decisions(path: Path) -> tuple[list[str], list[Finding]]:
    """The lines of decisions in a saved session, and what was found odd in the journals.

    Raises:
        UnreadableInput: as ``SavedSession``.
    """
    with database_errors_told(), Database() as database:
        saved = SavedSession(database.cursor(), path)
        with saved_errors_told(path):
            return saved.decision_lines(), saved.findings_about("decisions")

"""The tasks that runs can belong to: which source has each, and its rows in the session's tables."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from bright_inspect.datasets.bright_folder import LONG_SUFFIX
from bright_inspect.datasets.source import Source
from bright_inspect.db import Cursor, DatabaseError, QueryInterrupted, identifier, reason_of, text_literal
from bright_inspect.domain.findings import Finding
from bright_inspect.domain.names import BRIGHT_TASKS, describe_path, normalised_task
from bright_inspect.errors import UnreadableInput, UsageError
from bright_inspect.formats.trec_qrels import QrelsFile, read_trec_qrels

TaskKey = tuple[str, str]
"""(dataset, task)"""

#: The layer of judgments that come with the data.
ORIGINAL_LAYER = "original"


@dataclass(frozen=True, slots=True)
class GivenQrels:
    """Judgments from ``--qrels``; they replace the source's for their task."""

    path: Path
    file: QrelsFile


class Collections:
    """Finds tasks in the sources and loads each into the session once."""

    def __init__(self, cursor: Cursor, sources: Iterable[Source]) -> None:
        self._cursor = cursor
        self._waiting: Iterator[Source] = iter(sources)
        self._sources: dict[TaskKey, Source] = {}
        self._given: dict[TaskKey, GivenQrels] = {}
        self._loaded: set[TaskKey] = set()
        self._excluding: list[TaskKey] = []
        self._all_qrels = False
        self.findings: list[Finding] = []

    def add_qrels(self, path: Path, task: str | None, dataset: str | None) -> None:
        """Read a judgment file for a task: the one named, or the one in its file name, or a custom one of its own.

        Raises:
            UnreadableInput: as ``read_trec_qrels``.
            UsageError: there is one for this task already.
        """
        file = read_trec_qrels(path)
        described = describe_path(path.name, self.task_names())
        task = normalised_task(task) if task else described.task
        if task is None:
            key = custom_task(path, dataset)
        else:
            long = described.long or _names_long(path.stem)
            key = self.find(task, dataset or (f"bright{LONG_SUFFIX}" if long else None)) or (
                dataset or ("bright" if task in BRIGHT_TASKS else f"custom:{path.stem}"),
                task,
            )
        if key in self._given:
            other = self._given[key].path
            raise UsageError(f"two judgment files for {'/'.join(key)}: {other} and {path}.", "Give one for each task.")
        self._given[key] = GivenQrels(path, file)
        self.findings += file.findings

    @property
    def given(self) -> tuple[TaskKey, ...]:
        """The tasks whose judgments came from ``--qrels``."""
        return tuple(self._given)

    def layer_of(self, key: TaskKey) -> str:
        """Which set of judgments counts for a task: the name of the file given for it, or the data's own."""
        return self._given[key].path.name if key in self._given else ORIGINAL_LAYER

    def find(self, task: str, dataset: str | None = None) -> TaskKey | None:
        """The first source's task of this name; of ``dataset`` if one is named."""
        wanted = normalised_task(task)
        for key in (*self._given, *self._sources):
            if key[1] == wanted and (key[0] == dataset or (dataset is None and not key[0].endswith(LONG_SUFFIX))):
                return key
        return self.find(task, dataset) if self._next_source() else None

    def known(self) -> list[TaskKey]:
        """Every task of every source."""
        while self._next_source():
            pass
        return list(dict.fromkeys([*self._given, *self._sources]))

    def task_names(self) -> list[str]:
        """Task names for reading paths: BRIGHT's, and those of the sources looked at so far (at least one)."""
        if not self._sources:
            self._next_source()
        return list(dict.fromkeys([*BRIGHT_TASKS, *(task for _, task in (*self._given, *self._sources))]))

    def source(self, key: TaskKey) -> Source | None:
        """The source of a task's texts and documents, or None if only judgments were given."""
        return self._sources.get(key)

    def has_judgments(self, key: TaskKey) -> bool:
        return key in self._given or key in self._sources

    def has_exclusions(self, key: TaskKey) -> bool:
        """Whether any document is excluded for any query of a loaded task."""
        return key in self._excluding

    def load(self, key: TaskKey) -> None:
        """Fill the session's tables with this task, once.

        Raises:
            UnreadableInput: the source's files are damaged or hold something else.
        """
        if key in self._loaded:
            return
        self._loaded.add(key)
        with self._readable(key):
            self._fill(key)

    def _fill(self, key: TaskKey) -> None:
        labels = f"{text_literal(key[0])} AS dataset, {text_literal(key[1])} AS task"
        source = self._sources.get(key)
        if source is not None:
            for table, sql in (
                ("queries", source.queries_sql(*key)),
                ("gold_pages", source.gold_pages_sql(*key)),
            ):
                self._cursor.execute(f"INSERT INTO {table} BY NAME SELECT {labels}, * FROM ({sql})")
            self._load_exclusions(key, source)
            if key not in self._given:
                self._cursor.execute(f"INSERT INTO qrels BY NAME SELECT {labels}, * FROM ({source.qrels_sql(*key)})")
        if key in self._given:
            self._insert_given(key)

    def _load_exclusions(self, key: TaskKey, source: Source) -> None:
        """Add the task's exclusions, if it has any, to the view ``exclusions``.

        A table of its own for each task, without the columns that are the same in a million rows.
        """
        table = identifier(f"exclusions_{len(self._excluding)}")
        self._cursor.execute(f"CREATE TABLE {table} AS {source.exclusions_sql(*key)}")
        filled = self._cursor.execute(f"SELECT EXISTS (FROM {table})").fetchone()
        if not (filled and filled[0]):
            self._cursor.execute(f"DROP TABLE {table}")
            return
        self._excluding.append(key)
        self._cursor.execute(
            "CREATE OR REPLACE VIEW exclusions AS "
            + " UNION ALL ".join(
                f"SELECT {text_literal(dataset)} AS dataset, {text_literal(task)} AS task, query_id, doc_id "
                f"FROM {identifier(f'exclusions_{number}')}"
                for number, (dataset, task) in enumerate(self._excluding)
            )
        )

    @contextmanager
    def _readable(self, key: TaskKey) -> Iterator[None]:
        """Turn what DuckDB says about a source's files into a message for the user."""
        try:
            yield
        except QueryInterrupted:
            raise
        except DatabaseError as error:
            source = self._sources.get(key)
            place = self._given[key].path if source is None else source.name
            hint = "" if source is None else "Is it a snapshot of xlangai/BRIGHT? Fetch it again."
            message = f"{place}: the data of {'/'.join(key)} cannot be read ({reason_of(error)})."
            raise UnreadableInput(message, hint) from None

    def _insert_given(self, key: TaskKey) -> None:
        rows = self._given[key].file.rows
        self._cursor.execute(
            """INSERT INTO qrels SELECT $dataset, $task, unnest($query_ids::VARCHAR[]), unnest($doc_ids::VARCHAR[]),
                                        unnest($relevances::INTEGER[])""",
            {
                "dataset": key[0],
                "task": key[1],
                "query_ids": [row[0] for row in rows],
                "doc_ids": [row[1] for row in rows],
                "relevances": [row[2] for row in rows],
            },
        )

    def load_known_golds(self) -> None:
        """Fill the temporary table ``known_golds(dataset, task, query_id, doc_id)`` with every known task's golds."""
        if self._all_qrels:
            return
        self._all_qrels = True
        self._cursor.execute(
            "CREATE TEMP TABLE known_golds (dataset VARCHAR, task VARCHAR, query_id VARCHAR, doc_id VARCHAR)"
        )
        for key in self.known():
            labels = f"{text_literal(key[0])} AS dataset, {text_literal(key[1])} AS task"
            if key in self._given:
                self.load(key)
                golds = (
                    f"SELECT dataset, task, query_id, doc_id FROM qrels WHERE {task_condition(key)} AND relevance > 0"
                )
            else:
                golds = f"SELECT {labels}, query_id, doc_id FROM ({self._sources[key].qrels_sql(*key)})"
            with self._readable(key):
                self._cursor.execute(f"INSERT INTO known_golds {golds}")

    def _next_source(self) -> bool:
        source = next(self._waiting, None)
        if source is None:
            return False
        for dataset, tasks in source.tasks().items():
            for task in tasks:
                self._sources.setdefault((dataset, task), source)
        return True


def custom_task(path: Path, dataset: str | None = None) -> TaskKey:
    """The task of a file that tells none."""
    return dataset or f"custom:{path.stem}", path.stem


def _names_long(stem: str) -> bool:
    """Whether a judgment file's name says it judges the long documents, as ``qrels.bright-pony-long`` does."""
    return "long" in stem.lower().replace("_", "-").replace(".", "-").split("-")


def task_condition(key: TaskKey) -> str:
    """SQL that is true for the rows of one task."""
    return f"dataset = {text_literal(key[0])} AND task = {text_literal(key[1])}"

"""The tasks that runs can belong to: which source has each, and its rows in the session's tables."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from bright_inspect.datasets.bright_folder import LONG_SUFFIX
from bright_inspect.datasets.source import Source
from bright_inspect.db import Cursor, DatabaseError, QueryInterrupted, identifier, reason_of, text_literal, transaction
from bright_inspect.domain.findings import Finding
from bright_inspect.domain.names import BRIGHT_TASKS, describe_path, normalised_task
from bright_inspect.errors import UnreadableInput, UsageError
from bright_inspect.formats.qrels import QrelsRead, read_qrels_into
from bright_inspect.store.layer_source import LayerSource, MadeLayers, has_rows

TaskKey = tuple[str, str]
"""(dataset, task)"""

#: The layer of judgments that come with the data.
ORIGINAL_LAYER = "original"


@dataclass(frozen=True, slots=True)
class GivenQrels:
    """Judgments from ``--qrels``: one layer of one task. Their rows are in ``table`` and ``{table}_exclusions``."""

    path: Path
    table: str
    read: QrelsRead

    @property
    def only_excludes(self) -> bool:
        """Whether the file lists documents never to be ranked, and judges none."""
        return self.read.format == "exclusions"


class Collections:
    """Finds tasks in the sources and loads each into the session once."""

    def __init__(
        self, cursor: Cursor, sources: Iterable[Source], layer: str | None = None, made: LayerSource | None = None
    ) -> None:
        """``layer`` is the one that counts for each task that has it; without it, that is the one given with
        ``--qrels`` if it is one only, else the data's own. ``made`` makes further layers, which count only if asked
        for, or where there is no other."""
        self._cursor = cursor
        self._waiting: Iterator[Source] = iter(sources)
        self._sources: dict[TaskKey, Source] = {}
        self._given: dict[TaskKey, dict[str, GivenQrels]] = {}
        self._wanted_layer = layer
        self._active: dict[TaskKey, str] = {}
        self.made = MadeLayers(made, layer)
        self._excluding: list[TaskKey] = []
        self._all_qrels = False
        self._preferred: Mapping[TaskKey, str] = {}
        self.findings: list[Finding] = []
        #: Variants of files of rewrites that were joined to each task.
        self.given_variants: dict[TaskKey, tuple[str, ...]] = {}

    def add_qrels(self, argument: str, task: str | None, dataset: str | None) -> None:
        """Read judgments, ``PATH`` or ``LAYER=PATH`` of a file or of a folder of them, each for a task: the one named,
        or the one in its file name, or a custom one of its own.

        Raises:
            UnreadableInput: as ``read_qrels_into``, or the folder is empty.
            UsageError: there is the same layer of this task already.
        """
        layer, path = split_layer(argument)
        paths = [path]
        if path.is_dir():
            paths = sorted(file for file in path.iterdir() if file.is_file() and not file.name.startswith("."))
            if not paths:
                raise UnreadableInput(f"{path}: an empty folder.", "Give --qrels a judgment file or a folder of them.")
        for file in paths:
            self._add_file(layer, file, task, dataset)

    def _add_file(self, layer: str | None, path: Path, task: str | None, dataset: str | None) -> None:
        table = f"given_qrels_{sum(map(len, self._given.values()))}"
        read = read_qrels_into(self._cursor, path, table)
        described = describe_path(path.name, self.task_names())
        layer = layer or described.system() or "qrels"
        task = normalised_task(task) if task else described.task
        if task is None:
            key = custom_task(path, dataset)
        else:
            long = described.long or _names_long(path.stem)
            key = self.find(task, dataset or (f"bright{LONG_SUFFIX}" if long else None)) or (
                dataset or ("bright" if task in BRIGHT_TASKS else f"custom:{path.stem}"),
                task,
            )
        layers = self._given.setdefault(key, {})
        if layer in layers:
            raise UsageError(
                f"two judgment files for {'/'.join(key)}, layer {layer}: {layers[layer].path} and {path}.",
                "Name their layers: --qrels NAME=FILE.",
            )
        layers[layer] = GivenQrels(path, table, read)
        self.findings += read.findings

    def add_saved(self, given: Mapping[TaskKey, dict[str, GivenQrels]], counts: Mapping[TaskKey, str]) -> None:
        """Layers that a saved session has, and which of its layers counts for each task unless one is asked for."""
        self._given |= given
        self._preferred = counts
        self.made.want(counts.values())

    @property
    def given_layers(self) -> Mapping[TaskKey, Mapping[str, GivenQrels]]:
        """The judgments from files, by task and layer."""
        return self._given

    @property
    def given(self) -> tuple[TaskKey, ...]:
        """The tasks that judgments were given for with ``--qrels``."""
        return tuple(self._given)

    def given_files(self) -> list[tuple[Path, TaskKey, str]]:
        """The file, task and layer of the given judgments of loaded tasks."""
        return [
            (given.path, key, layer)
            for key, layers in self._given.items()
            if key in self._active
            for layer, given in layers.items()
        ]

    def layers_of(self, key: TaskKey) -> tuple[str, ...]:
        """The layers at hand for a task, the data's own first. A list of exclusions judges nothing: it is none."""
        read = self._read_layers(key)
        return (*read, *self.made.names(key, read))

    def _read_layers(self, key: TaskKey) -> tuple[str, ...]:
        """The data's own layer and those of files."""
        own = (ORIGINAL_LAYER,) if key in self._sources else ()
        given = (layer for layer, file in self._given.get(key, {}).items() if not file.only_excludes)
        return tuple(dict.fromkeys((*own, *given)))

    def offer(self, cursor: Cursor, layer: str) -> bool:
        """Make a layer that is not listed, such as one that stands alone, for each loaded task that can have it;
        returns whether any has it now."""
        self.made.offer(cursor, layer, {key: self._read_layers(key) for key in self._active})
        return layer in self.layers

    @contextmanager
    def remaking_layers(self, cursor: Cursor, made: LayerSource) -> Iterator[None]:
        """Make the layers that are made anew, of what ``made`` holds now; a layer that counted and is no more gives way
        to the task's first. Others see it only after what is done inside; if that fails, nothing has changed."""
        source, active = self.made.source, self._active
        self.made.source, self._active = made, dict(active)
        try:
            with transaction(cursor):
                for key in active:
                    self._remake(cursor, key)
                yield
        except BaseException:
            self.made.source, self._active = source, active
            raise

    def _remake(self, cursor: Cursor, key: TaskKey) -> None:
        read = self._read_layers(key)
        made = self.made.names(key, read)
        cursor.execute(
            "DELETE FROM all_qrels WHERE dataset = ? AND task = ? AND NOT list_contains(?::VARCHAR[], layer)",
            [*key, list(read)],
        )
        for layer in made:
            self.made.insert(cursor, key, layer, read)
        if self._active[key] not in (*read, *made) and (read or made):
            self._active[key] = (*read, *made)[0]
            cursor.execute(
                "UPDATE active_layers SET layer = ? WHERE dataset = ? AND task = ?", [self._active[key], *key]
            )

    def layer_of(self, key: TaskKey) -> str:
        """Which layer's judgments count for a task."""
        return self._active.get(key, ORIGINAL_LAYER)

    @property
    def layers(self) -> tuple[str, ...]:
        """Every layer that a loaded task has."""
        return tuple(dict.fromkeys(layer for key in self._active for layer in self.layers_of(key)))

    def use_layer(self, cursor: Cursor, layer: str) -> None:
        """Let a layer count for each loaded task that has it, and the data's own (or first) for the others.

        Raises:
            UsageError: no loaded task has the layer.
        """
        with self.using_layer(cursor, layer):
            pass

    @contextmanager
    def using_layer(self, cursor: Cursor, layer: str) -> Iterator[None]:
        """As ``use_layer``, but others see it only after what is done inside, on the same cursor; if that fails,
        nothing has changed.

        Raises:
            UsageError: no loaded task has the layer.
        """
        if not self.offer(cursor, layer):
            raise UsageError(
                f"no layer is called {layer!r}.", f"At hand: {', '.join(self.layers)}. Add one: --qrels [NAME=]FILE."
            )
        active = {key: layer if layer in self.layers_of(key) else self.layers_of(key)[0] for key in self._active}
        with transaction(cursor):
            cursor.execute("DELETE FROM active_layers")
            cursor.executemany("INSERT INTO active_layers VALUES (?, ?, ?)", [(*key, active[key]) for key in active])
            yield
        self._active = active

    @property
    def active_layers(self) -> dict[TaskKey, str]:
        """Which layer counts for each loaded task."""
        return dict(self._active)

    def find(self, task: str, dataset: str | None = None) -> TaskKey | None:
        """The first source's task of this name; of ``dataset`` if one is named."""
        wanted = normalised_task(task)
        for key in (*self._given, *self._sources):
            if key[1] == wanted and (key[0] == dataset or (dataset is None and not key[0].endswith(LONG_SUFFIX))):
                return key
        if self.look_further():
            return self.find(task, dataset)
        return next((key for key in self.made.tasks() if key[1] == wanted and dataset in (None, key[0])), None)

    def known(self) -> list[TaskKey]:
        """Every task of every source."""
        while self.look_further():
            pass
        return list(dict.fromkeys([*self._given, *self._sources]))

    def first(self) -> TaskKey:
        """The first task of the first source."""
        if not self._sources:
            self.look_further()
        return next(iter(self._sources))

    def task_names(self) -> list[str]:
        """Task names for reading paths: BRIGHT's, and those of the sources looked at so far (at least one)."""
        if not self._sources:
            self.look_further()
        return list(dict.fromkeys([*BRIGHT_TASKS, *(task for _, task in (*self._given, *self._sources))]))

    def source(self, key: TaskKey) -> Source | None:
        """The source of a task's texts and documents, or None if only judgments were given."""
        return self._sources.get(key)

    def has_judgments(self, key: TaskKey) -> bool:
        return bool(self.layers_of(key))

    def has_exclusions(self, key: TaskKey) -> bool:
        """Whether any document is excluded for any query of a loaded task."""
        return key in self._excluding

    def load(self, key: TaskKey) -> None:
        """Fill the session's tables with this task, once.

        Raises:
            UnreadableInput: the source's files are damaged or hold something else.
        """
        layers = self.layers_of(key)
        if key in self._active or not layers:
            return
        given = tuple(layer for layer in self._given.get(key, ()) if layer in layers)
        # One that was given is wanted; of several nobody knows which, unless there is no other.
        first = given[0] if len(given) == 1 else layers[0]
        wanted = (self._wanted_layer, self._preferred.get(key))
        self._active[key] = next((layer for layer in wanted if layer in layers), None) or first
        self._cursor.execute("INSERT INTO active_layers VALUES (?, ?, ?)", [*key, self._active[key]])
        with self._readable(key):
            self._fill(key)
        given_as_own = ORIGINAL_LAYER in self._given.get(key, ())
        if len(layers) > 1 and self._active[key] == ORIGINAL_LAYER and not given_as_own:
            self._leave_empty_layer(key)

    def _leave_empty_layer(self, key: TaskKey) -> None:
        """Let the first other layer count where the data has no judgments of its own."""
        if not has_rows(self._cursor, key, ORIGINAL_LAYER):
            self._active[key] = next(layer for layer in self.layers_of(key) if layer != ORIGINAL_LAYER)
            self._cursor.execute(
                "UPDATE active_layers SET layer = ? WHERE dataset = ? AND task = ?", [self._active[key], *key]
            )

    def _fill(self, key: TaskKey) -> None:
        labels = f"{text_literal(key[0])} AS dataset, {text_literal(key[1])} AS task"
        source = self._sources.get(key)
        if source is not None:
            for table, sql in (
                ("queries", source.queries_sql(*key)),
                ("gold_pages", source.gold_pages_sql(*key)),
                ("all_qrels", f"SELECT {text_literal(ORIGINAL_LAYER)} AS layer, * FROM ({source.qrels_sql(*key)})"),
            ):
                if table != "all_qrels" or ORIGINAL_LAYER not in self._given.get(key, {}):
                    self._cursor.execute(f"INSERT INTO {table} BY NAME SELECT {labels}, * FROM ({sql})")
            self.findings += source.findings(self._cursor, *key)
        exclusions = [source.exclusions_sql(*key)] if source is not None else []
        exclusions += [
            f"SELECT query_id, doc_id FROM {identifier(f'{given.table}_exclusions')}"
            for given in self._given.get(key, {}).values()
            if given.read.has_exclusions
        ]
        if exclusions:
            self._load_exclusions(key, " UNION ALL ".join(exclusions))
        for layer, given in self._given.get(key, {}).items():
            self._insert_given(key, layer, given)
        read = self._read_layers(key)
        for layer in self.made.names(key, read):
            self.made.insert(self._cursor, key, layer, read)

    def _load_exclusions(self, key: TaskKey, exclusions: str) -> None:
        """Add the task's exclusions, if it has any, to the view ``exclusions``.

        A table of its own for each task, without the columns that are the same in a million rows.
        """
        table = identifier(f"exclusions_{len(self._excluding)}")
        self._cursor.execute(f"CREATE OR REPLACE TABLE {table} AS {exclusions}")
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
            place = next(iter(self._given[key].values())).path if source is None else source.name
            hint = "" if source is None else "Is it a snapshot of xlangai/BRIGHT? Fetch it again."
            message = f"{place}: the data of {'/'.join(key)} cannot be read ({reason_of(error)})."
            raise UnreadableInput(message, hint) from None

    def _insert_given(self, key: TaskKey, layer: str, given: GivenQrels) -> None:
        labels = f"{text_literal(key[0])} AS dataset, {text_literal(key[1])} AS task, {text_literal(layer)} AS layer"
        self._cursor.execute(f"INSERT INTO all_qrels BY NAME SELECT {labels}, * FROM {identifier(given.table)}")

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
                golds = f"""SELECT DISTINCT dataset, task, query_id, doc_id FROM all_qrels
                            WHERE {task_condition(key)} AND relevance > 0"""
            else:
                golds = f"SELECT {labels}, query_id, doc_id FROM ({self._sources[key].qrels_sql(*key)})"
            with self._readable(key):
                self._cursor.execute(f"INSERT INTO known_golds {golds}")

    def look_further(self) -> bool:
        """Ask the next source what tasks it has; whether there was one."""
        source = next(self._waiting, None)
        if source is None:
            return False
        for dataset, tasks in source.tasks().items():
            for task in tasks:
                self._sources.setdefault((dataset, task), source)
        return True


def split_layer(argument: str) -> tuple[str | None, Path]:
    """``LAYER=PATH``, or a path, which may hold ``=`` itself if it exists."""
    name, equals, path = argument.partition("=")
    if not equals or not name or not path or "/" in name or Path(argument).exists():
        return None, Path(argument).expanduser()
    return name, Path(path).expanduser()


def custom_task(path: Path, dataset: str | None = None) -> TaskKey:
    """The task of a file that tells none."""
    return dataset or f"custom:{path.stem}", path.stem


def _names_long(stem: str) -> bool:
    """Whether a judgment file's name says it judges the long documents, as ``qrels.bright-pony-long`` does."""
    return "long" in stem.lower().replace("_", "-").replace(".", "-").split("-")


def task_condition(key: TaskKey) -> str:
    """SQL that is true for the rows of one task."""
    return f"dataset = {text_literal(key[0])} AND task = {text_literal(key[1])}"

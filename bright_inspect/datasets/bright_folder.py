"""BRIGHT and its relatives as a folder of ``{config}/{task}-*.parquet``, ``{config}/{task}.jsonl`` or ``….json``.

Configs are those of the dataset card of xlangai/BRIGHT: ``examples``, ``documents``, ``long_documents`` and
``{name}_reason``. The corpus may be missing or a part of the original. BRIGHT-Pro has ``aspects`` beside them, numbers
as ids and no exclusions (FORMATS C.1); MM-BRIGHT has ``examples_multimodal``, and ``negative_ids`` that its code
excludes (FORMATS D.1, D.3). Columns come and go between uploads: one that is missing is NULL in every row.
"""

from __future__ import annotations

from pathlib import Path

from bright_inspect.datasets.source import Source
from bright_inspect.db import Cursor, paths_literal
from bright_inspect.domain.findings import Finding
from bright_inspect.errors import UnreadableInput

#: BRIGHT writes "none" as ["N/A"], [] or null (FORMATS A.3).
_NONE = "('N/A', '')"
_LIST_COLUMNS = ("excluded_ids", "negative_ids", "gold_ids", "gold_ids_long")
LONG_SUFFIX = "-long"
#: Configs that only one of the relatives has.
_MARKS = {"aspects": "bright-pro", "examples_multimodal": "mm-bright", "document_images": "mm-bright"}
_SUFFIXES = (".parquet", ".jsonl", ".json")


class BrightFolder(Source):
    """One folder in BRIGHT's layout. ``dataset`` is what its tasks belong to, by default the relative whose configs it
    has; the long corpus of a task of BRIGHT, where its golds are listed, is the dataset ``{dataset}-long``."""

    def __init__(self, folder: Path, dataset: str | None = None) -> None:
        """Look at the folder.

        Raises:
            UnreadableInput: there is no ``examples`` folder with task files in it.
        """
        self._folder = folder
        self._files: dict[tuple[str, str], list[Path]] = {}
        if not folder.is_dir():
            raise UnreadableInput(f"{folder}: no such folder.", "Give the folder of a BRIGHT snapshot.")
        for path in sorted(path for suffix in _SUFFIXES for path in folder.glob(f"*/*{suffix}")):
            if not path.is_file():  # reading a pipe would wait for ever
                continue
            config, task = path.parent.name, task_of(path)
            files = self._files.setdefault((config, task), [])
            if not files or files[0].suffix == path.suffix:  # the same rows in another format count once
                files.append(path)
        configs = {config for config, _ in self._files}
        self._dataset = dataset or next((name for mark, name in _MARKS.items() if mark in configs), "bright")
        self._has_long = self._dataset not in _MARKS.values()
        self._tasks = tuple(task for config, task in self._files if config == "examples")
        if not self._tasks:
            raise UnreadableInput(
                f"{folder}: no examples/{{task}}-*.parquet in it.",
                "Give the folder of a snapshot of xlangai/BRIGHT (it holds examples/, documents/ and others).",
            )

    @property
    def name(self) -> str:
        return str(self._folder)

    def tasks(self) -> dict[str, tuple[str, ...]]:
        tasks = {self._dataset: self._tasks}
        return tasks | {self._dataset + LONG_SUFFIX: self._tasks} if self._has_long else tasks

    def queries_sql(self, dataset: str, task: str) -> str:
        rows = self._columns("examples", task, ("id", "query", "reasoning", "gold_answer", "reference_answer"))
        return f"""
            SELECT row_number() OVER () AS position, id::VARCHAR AS query_id, query AS text,
                   {_text_or_null("reasoning")} AS reasoning,
                   coalesce({_text_or_null("gold_answer")}, {_text_or_null("reference_answer")}) AS gold_answer
            FROM ({rows})"""

    def qrels_sql(self, dataset: str, task: str) -> str:
        column = "gold_ids_long" if dataset.endswith(LONG_SUFFIX) else "gold_ids"
        return f"SELECT query_id, doc_id, 1 AS relevance FROM ({self._id_lists_sql(task, column)})"

    def exclusions_sql(self, dataset: str, task: str) -> str:
        if dataset.endswith(LONG_SUFFIX):
            return "SELECT NULL::VARCHAR AS query_id, NULL::VARCHAR AS doc_id WHERE false"
        column = "negative_ids" if self._dataset == "mm-bright" else "excluded_ids"
        return self._id_lists_sql(task, column, distinct=False)

    def gold_pages_sql(self, dataset: str, task: str) -> str:
        return f"SELECT query_id, doc_id AS page_id FROM ({self._id_lists_sql(task, 'gold_ids_long')})"

    def variants(self, dataset: str, task: str) -> tuple[str, ...]:
        return tuple(config for config, name in self._files if name == task and config.endswith("_reason"))

    def variant_sql(self, dataset: str, task: str, variant: str) -> str:
        return f"SELECT id::VARCHAR AS query_id, query AS text FROM ({self._columns(variant, task, ('id', 'query'))})"

    def findings(self, cursor: Cursor, dataset: str, task: str) -> list[Finding]:
        """Variants whose queries or golds are not those of the examples: they are of another upload (FORMATS A.3)."""
        own = self._golds_sql("examples", task)
        findings: list[Finding] = []
        for variant in self.variants(dataset, task):
            row = cursor.execute(f"""
                SELECT count(*) FILTER (theirs.id IS NULL), count(*) FILTER (own.id IS NULL),
                       count(*) FILTER (own.golds <> theirs.golds)
                FROM ({own}) own FULL JOIN ({self._golds_sql(variant, task)}) theirs USING (id)""").fetchone()
            assert row is not None
            for code, count, what in (
                ("variant-lacks-queries", row[0], f"queries of {task} have no text in the variant {variant}"),
                ("variant-unknown-queries", row[1], f"texts of {variant} are of no query of {task} and left out"),
                ("variant-other-golds", row[2], f"queries of {task} have other golds in {variant}, which do not count"),
            ):
                if count:
                    message = f"{count} {what}. Is it of another upload of the queries?"
                    place = str(self._files[variant, task][0])
                    findings.append(Finding(code, "warning", place, message, count=int(count)))
        return findings

    def _golds_sql(self, config: str, task: str) -> str:
        return f"""SELECT id::VARCHAR AS id, list_sort(list_distinct(gold_ids)) AS golds
                   FROM ({self._columns(config, task, ("id", "gold_ids"))})"""

    def documents_sql(self, dataset: str, task: str) -> str | None:
        config = "long_documents" if dataset.endswith(LONG_SUFFIX) else "documents"
        if (config, task) not in self._files:
            return None
        return f"SELECT id::VARCHAR AS doc_id, content FROM ({self._columns(config, task, ('id', 'content'))})"

    def _columns(self, config: str, task: str, names: tuple[str, ...]) -> str:
        """SQL for these columns of a config; those of ids lists as ``VARCHAR[]`` whatever they are in the file."""
        files = self._files[config, task]
        if files[0].suffix == ".parquet":
            read = f"read_parquet({paths_literal(files)}, union_by_name=true)"
            # A single "N/A" in place of a list is no list, but an id like any other.
            lists = "coalesce(try_cast({name} AS VARCHAR[]), [{name}::VARCHAR])"
        else:
            columns = ", ".join(f"'{name}': '{'JSON' if name in _LIST_COLUMNS else 'VARCHAR'}'" for name in names)
            style = "newline_delimited" if files[0].suffix == ".jsonl" else "auto"
            read = f"read_json({paths_literal(files)}, format='{style}', columns={{{columns}}})"
            lists = "if(json_type({name}) = 'ARRAY', {name}::VARCHAR[], [{name}->>'$'])"
        needed = ("id", "query", "content", *(["gold_ids"] if config == "examples" else []))
        optional = [name for name in names if name not in needed]
        chosen = [lists.format(name=name) if name in _LIST_COLUMNS else name for name in names]
        missing = ", ".join(["1 AS one", *(f"NULL::VARCHAR AS {name}" for name in optional)])
        places = ", ".join(f"c{place}" for place in range(len(names)))
        # A column that the files have not got is looked for one level up, where it is NULL.
        return f"""
            SELECT {", ".join(f"present.c{place} AS {name}" for place, name in enumerate(names))}
            FROM (SELECT {missing}) AS missing,
                 LATERAL (SELECT {", ".join(chosen)} FROM {read}) AS present({places})"""

    def _id_lists_sql(self, task: str, column: str, *, distinct: bool = True) -> str:
        return f"""
            SELECT {"DISTINCT" if distinct else ""} query_id, doc_id
            FROM (SELECT id::VARCHAR AS query_id, unnest({column}) AS doc_id
                  FROM ({self._columns("examples", task, ("id", column))}))
            WHERE doc_id IS NOT NULL AND doc_id NOT IN {_NONE}"""


def _text_or_null(column: str) -> str:
    """SQL for a text column, NULL where BRIGHT writes that there is none."""
    return f"nullif(nullif(nullif({column}, 'N/A'), 'empty'), '')"


def task_of(path: Path) -> str:
    """``earth_science`` from ``earth_science-00000-of-00001.parquet`` or ``earth_science.jsonl``."""
    return path.stem.split("-", 1)[0]

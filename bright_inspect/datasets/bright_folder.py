"""BRIGHT as a Hugging Face snapshot folder: ``{config}/{task}-*.parquet`` (or ``{config}/{task}.jsonl``).

Configs are those of the dataset card of xlangai/BRIGHT: ``examples``, ``documents``, ``long_documents`` and
``{name}_reason``. The corpus may be missing or a part of the original.
"""

from __future__ import annotations

from pathlib import Path

from bright_inspect.datasets.source import Source
from bright_inspect.db import paths_literal
from bright_inspect.errors import UnreadableInput

#: BRIGHT writes "none" as ["N/A"], [] or null (FORMATS A.3).
_NONE = "('N/A', '')"
_EXAMPLE_COLUMNS = (
    "{'id': 'VARCHAR', 'query': 'VARCHAR', 'reasoning': 'VARCHAR', 'gold_answer': 'VARCHAR', "
    "'excluded_ids': 'VARCHAR[]', 'gold_ids': 'VARCHAR[]', 'gold_ids_long': 'VARCHAR[]'}"
)
_DOCUMENT_COLUMNS = "{'id': 'VARCHAR', 'content': 'VARCHAR'}"
LONG_SUFFIX = "-long"


class BrightFolder(Source):
    """One folder in BRIGHT's layout. ``dataset`` is what its tasks belong to; the long corpus of a task, where its
    golds are listed, is the dataset ``{dataset}-long``."""

    def __init__(self, folder: Path, dataset: str = "bright") -> None:
        """Look at the folder.

        Raises:
            UnreadableInput: there is no ``examples`` folder with task files in it.
        """
        self._folder = folder
        self._dataset = dataset
        self._files: dict[tuple[str, str], list[Path]] = {}
        if not folder.is_dir():
            raise UnreadableInput(f"{folder}: no such folder.", "Give the folder of a BRIGHT snapshot.")
        for path in sorted([*folder.glob("*/*.parquet"), *folder.glob("*/*.jsonl")]):
            if not path.is_file():  # reading a pipe would wait for ever
                continue
            config, task = path.parent.name, _task_of(path)
            self._files.setdefault((config, task), []).append(path)
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
        return {self._dataset: self._tasks, self._dataset + LONG_SUFFIX: self._tasks}

    def queries_sql(self, dataset: str, task: str) -> str:
        return f"""
            SELECT row_number() OVER () AS position, query_id, text,
                   {_text_or_null("reasoning")} AS reasoning, {_text_or_null("gold_answer")} AS gold_answer
            FROM (SELECT NULL::VARCHAR AS gold_answer) AS missing,
                 -- Uploads before 2024-11 have no gold_answer; the name then means the NULL of "missing".
                 LATERAL (SELECT id::VARCHAR AS query_id, query AS text, reasoning, gold_answer
                          FROM {self._rows("examples", task)}) AS examples(query_id, text, reasoning, gold_answer)"""

    def qrels_sql(self, dataset: str, task: str) -> str:
        column = "gold_ids_long" if dataset.endswith(LONG_SUFFIX) else "gold_ids"
        return f"SELECT query_id, doc_id, 1 AS relevance FROM ({self._id_lists_sql(task, column)})"

    def exclusions_sql(self, dataset: str, task: str) -> str:
        if dataset.endswith(LONG_SUFFIX):
            return "SELECT NULL::VARCHAR AS query_id, NULL::VARCHAR AS doc_id WHERE false"
        return self._id_lists_sql(task, "excluded_ids", distinct=False)

    def gold_pages_sql(self, dataset: str, task: str) -> str:
        return f"SELECT query_id, doc_id AS page_id FROM ({self._id_lists_sql(task, 'gold_ids_long')})"

    def variants(self, dataset: str, task: str) -> tuple[str, ...]:
        return tuple(config for config, name in self._files if name == task and config.endswith("_reason"))

    def variant_sql(self, dataset: str, task: str, variant: str) -> str:
        return f"SELECT id::VARCHAR AS query_id, query AS text FROM {self._rows(variant, task)}"

    def documents_sql(self, dataset: str, task: str) -> str | None:
        config = "long_documents" if dataset.endswith(LONG_SUFFIX) else "documents"
        if (config, task) not in self._files:
            return None
        return f"SELECT id::VARCHAR AS doc_id, content FROM {self._rows(config, task)}"

    def _rows(self, config: str, task: str) -> str:
        files = self._files[config, task]
        if files[0].suffix == ".jsonl":
            columns = _DOCUMENT_COLUMNS if config.endswith("documents") else _EXAMPLE_COLUMNS
            return f"read_json({paths_literal(files)}, format='newline_delimited', columns={columns})"
        return f"read_parquet({paths_literal(files)}, union_by_name=true)"

    def _id_lists_sql(self, task: str, column: str, *, distinct: bool = True) -> str:
        return f"""
            SELECT {"DISTINCT" if distinct else ""} query_id, doc_id
            FROM (SELECT id::VARCHAR AS query_id, unnest({column}) AS doc_id FROM {self._rows("examples", task)})
            WHERE doc_id IS NOT NULL AND doc_id NOT IN {_NONE}"""


def _text_or_null(column: str) -> str:
    """SQL for a text column, NULL where BRIGHT writes that there is none."""
    return f"nullif(nullif(nullif(examples.{column}, 'N/A'), 'empty'), '')"


def _task_of(path: Path) -> str:
    """``earth_science`` from ``earth_science-00000-of-00001.parquet`` or ``earth_science.jsonl``."""
    return path.stem.split("-", 1)[0]

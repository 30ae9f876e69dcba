"""A folder in BEIR's layout: ``corpus.jsonl``, ``queries.jsonl``, ``qrels/{split}.tsv`` (FORMATS E.6); also packed."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path

from bright_inspect.datasets.judged_task import JudgedTask
from bright_inspect.datasets.judgment_files import JudgmentFiles
from bright_inspect.datasets.plain_files import documents_sql, queries_sql
from bright_inspect.db import Cursor
from bright_inspect.domain.findings import Finding
from bright_inspect.domain.names import normalised_task
from bright_inspect.errors import UnreadableInput
from bright_inspect.formats.tables import TextTable

DATASET = "beir"
_COMPRESSED = ("", ".gz", ".zst", ".bz2", ".xz")
_SPLIT = "test"


class BeirFolder(JudgedTask):
    """One task, called as the folder is. Its queries are those that the split judges: BEIR's file holds all splits'."""

    def __init__(self, folder: Path, split: str | None = None) -> None:
        """Look at the folder.

        Raises:
            UnreadableInput: a file of the layout is missing, or ``split`` is; without ``test`` a split must be named,
                unless there is only one.
        """
        self._queries_path = _file(folder, "queries.jsonl")
        self._corpus_path = _file(folder, "corpus.jsonl")
        splits = _splits(folder)
        if self._queries_path is None or not splits:
            missing = "queries.jsonl" if self._queries_path is None else "qrels/*.tsv"
            raise UnreadableInput(
                f"{folder}: no {missing} in it.", "Expected BEIR's corpus.jsonl, queries.jsonl, qrels/."
            )
        self.split = split or (_SPLIT if _SPLIT in splits or len(splits) > 1 else next(iter(splits)))
        if self.split not in splits:
            raise UnreadableInput(
                f"{folder}: no qrels/{self.split}.tsv; there are {', '.join(splits)}.",
                "Give the judgments of one with --qrels.",
            )
        judgments = JudgmentFiles([splits[self.split]])
        super().__init__(str(folder), DATASET, normalised_task(folder.absolute().name), judgments)

    def queries_sql(self, dataset: str, task: str) -> str:
        return f"""FROM ({queries_sql([self._queries])}) SEMI JOIN ({self._judgments.qrels_sql}) USING (query_id)
                   ORDER BY position"""

    def documents_sql(self, dataset: str, task: str) -> str | None:
        return documents_sql([self._documents] if self._documents else [])

    def findings(self, cursor: Cursor, dataset: str, task: str) -> list[Finding]:
        findings = [*self._queries.findings(cursor), *self._judgments.findings()]
        if self.split != _SPLIT:
            message = f"judged by the split {self.split}; published BEIR values are of {_SPLIT}."
            findings.append(Finding("other-split", "warning", str(self._judgments.paths[0]), message))
        return findings

    def document_findings(self, cursor: Cursor, dataset: str, task: str) -> list[Finding]:
        return self._documents.findings(cursor) if self._documents else []

    @cached_property
    def _queries(self) -> TextTable:
        assert self._queries_path is not None
        return TextTable(self._queries_path)

    @cached_property
    def _documents(self) -> TextTable | None:
        return TextTable(self._corpus_path, titled=True) if self._corpus_path else None


def is_beir_folder(folder: Path) -> bool:
    """Whether the folder has BEIR's queries and judgments; the corpus may be missing."""
    return _file(folder, "queries.jsonl") is not None and bool(_splits(folder))


def _file(folder: Path, name: str) -> Path | None:
    return next((path for suffix in _COMPRESSED if (path := folder / f"{name}{suffix}").is_file()), None)


def _splits(folder: Path) -> dict[str, Path]:
    files = sorted((folder / "qrels").glob("*.tsv*")) if (folder / "qrels").is_dir() else []
    return {file.name.split(".tsv", 1)[0]: file for file in files if file.is_file()}

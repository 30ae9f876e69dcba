"""A collection given file by file: queries, judgments and a corpus of one task, in any of the usual formats."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from bright_inspect.datasets.judged_task import JudgedTask
from bright_inspect.datasets.judgment_files import JudgmentFiles
from bright_inspect.db import Cursor
from bright_inspect.domain.findings import Finding
from bright_inspect.domain.names import normalised_task
from bright_inspect.errors import UsageError
from bright_inspect.formats.tables import TextTable, text_tables

NO_PAIRS = "SELECT NULL::VARCHAR AS query_id, NULL::VARCHAR AS doc_id WHERE false"
# What files are called when their folder has the name of the collection.
_GENERIC = re.compile(r"(queries|query|topics|qrels?|corpus|test|dev|train|collection|documents)", re.IGNORECASE)
_SUFFIXES = re.compile(r"(\.(gz|zst|bz2|xz|tsv|csv|txt|jsonl?|ndjson|parquet))+$", re.IGNORECASE)
_ROLES = re.compile(r"^(queries|topics|qrels?|corpus)[._-]|[._-](queries|topics|qrels?|corpus)$", re.IGNORECASE)


class PlainFiles(JudgedTask):
    """One task, called ``name`` or what the files are called, of the dataset ``custom:{name}``."""

    def __init__(
        self,
        queries: Path | None = None,
        qrels: Sequence[Path] = (),
        corpus: Sequence[Path] = (),
        name: str | None = None,
    ) -> None:
        """Look at the heads of the files. A corpus may be files, and folders of files.

        Raises:
            UsageError: there is no file at all.
            UnreadableInput: as ``TextTable``.
        """
        paths = [*([queries] if queries else []), *qrels, *corpus]
        if not paths:
            raise UsageError("no file of queries, judgments or documents.", "Give --queries, --qrels or --corpus.")
        task = normalised_task(name or collection_name(paths[0]))
        super().__init__(", ".join(map(str, paths)), f"custom:{task}", task, JudgmentFiles(qrels))
        self._queries = TextTable(queries) if queries else None
        self._documents = text_tables(corpus, titled=True)

    def queries_sql(self, dataset: str, task: str) -> str:
        return queries_sql([self._queries] if self._queries else [])

    def documents_sql(self, dataset: str, task: str) -> str | None:
        return documents_sql(self._documents)

    def findings(self, cursor: Cursor, dataset: str, task: str) -> list[Finding]:
        queries = self._queries.findings(cursor) if self._queries else []
        return [*queries, *self._judgments.findings()]

    def document_findings(self, cursor: Cursor, dataset: str, task: str) -> list[Finding]:
        return [finding for table in self._documents for finding in table.findings(cursor)]


def collection_name(path: Path) -> str:
    """What a collection is called by one of its files: ``nfc`` for ``nfc.queries.tsv`` and ``nfc/queries.jsonl``."""
    stem = _SUFFIXES.sub("", path.name)
    if _GENERIC.fullmatch(stem):
        folder = path.absolute().parent
        stem = folder.parent.name if _GENERIC.fullmatch(folder.name) else folder.name
    return _ROLES.sub("", stem) or stem or "collection"


def queries_sql(tables: Sequence[TextTable]) -> str:
    """A source's queries from tables of ids and texts; of a repeated id the first row."""
    if not tables:
        return """SELECT NULL::BIGINT AS position, NULL::VARCHAR AS query_id, NULL::VARCHAR AS text,
                         NULL::VARCHAR AS reasoning, NULL::VARCHAR AS gold_answer WHERE false"""
    rows = " UNION ALL ".join(f"SELECT {number} AS file, * FROM ({table.sql})" for number, table in enumerate(tables))
    return f"""SELECT row_number() OVER (ORDER BY file, position) AS position, id AS query_id, text,
                      NULL::VARCHAR AS reasoning, NULL::VARCHAR AS gold_answer
               FROM (FROM ({rows}) QUALIFY row_number() OVER (PARTITION BY id ORDER BY file, position) = 1)"""


def documents_sql(tables: Sequence[TextTable]) -> str | None:
    """A source's documents from tables of ids and texts; None without tables."""
    return " UNION ALL ".join(f"SELECT id AS doc_id, text AS content FROM ({table.sql})" for table in tables) or None

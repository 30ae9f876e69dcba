"""The tables of a saved session: one DuckDB file that any DuckDB client can query, and this program opens.

Each table and column carries what it holds as a comment (``duckdb_tables()``, ``duckdb_columns()``). A table may get
more columns without a new version; what is renamed, or means something else, makes a new one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

#: Raised when older programs would misread a file.
SCHEMA_VERSION = 1
#: What DuckDB writes at this place of every file of its own.
_MAGIC, _MAGIC_AT = b"DUCK", 8


@dataclass(frozen=True, slots=True)
class SavedTable:
    """A table: what it holds, and column name -> (SQL type, what it holds)."""

    comment: str
    columns: Mapping[str, tuple[str, str]]


_QUERY = {
    "dataset": ("VARCHAR", "dataset of the task"),
    "task": ("VARCHAR", "task of the query"),
    "query_id": ("VARCHAR", "with dataset and task the key of a query"),
}
_TASK = {name: _QUERY[name] for name in ("dataset", "task")}
_DOC = {"doc_id": ("VARCHAR", "the document, as the data spells it")}
_FILE = {"file_id": ("INTEGER", "which of run_files")}

TABLES: Mapping[str, SavedTable] = {
    "settings": SavedTable(
        "One row: what was chosen when the session was saved.",
        {
            "schema_version": ("INTEGER", "version of these tables"),
            "tool_version": ("VARCHAR", "version of bright-inspect that wrote them"),
            "measure": ("VARCHAR", "measure to open with; NULL: that of the dataset"),
            "layer": ("VARCHAR", "judgments that count; mixed: see layers.counts"),
            "ties": ("VARCHAR", "what ranks documents of equal score: trec, float64, file or rank"),
            "baseline": ("VARCHAR", "label of the run that others are compared with"),
            "baseline_run_id": ("INTEGER", "the same in runs"),
        },
    ),
    "runs": SavedTable(
        "The runs, a column on screen each.",
        {
            "run_id": ("INTEGER", "place of the run, from 0"),
            "label": ("VARCHAR", "what the run is called"),
            "system": ("VARCHAR", "what made the run"),
            "variant": ("VARCHAR", "texts that queries were searched by; NULL: not known"),
        },
    ),
    "run_files": SavedTable(
        "The files of each run.",
        {
            **_FILE,
            "run_id": ("INTEGER", "which of runs"),
            "path": ("VARCHAR", "path as it was given"),
            "sha256": ("VARCHAR", "of the file"),
            "format": ("VARCHAR", "as bright-inspect formats lists them"),
            "tag": ("VARCHAR", "what the file calls its system"),
            "spaced_ids": ("BOOLEAN", "whether a document id in the file holds a space"),
        },
    ),
    "file_tasks": SavedTable(
        "The tasks of each file.", {**_FILE, "position": ("INTEGER", "place among the file's tasks"), **_TASK}
    ),
    "rankings": SavedTable(
        "Every row of every run, by file, task, query and raw_rank.",
        {
            "run_id": ("INTEGER", "which of runs"),
            **_FILE,
            **_QUERY,
            "rank": ("INTEGER", "1-based, by settings.ties, excluded documents left out; NULL: excluded"),
            **_DOC,
            "score": ("DOUBLE", "score in the file"),
            "given_rank": ("INTEGER", "rank in the file"),
            "position": ("BIGINT", "place of the row in the file"),
            "raw_rank": ("INTEGER", "1-based, score as float32 then document id descending, with excluded documents"),
            "above": ("INTEGER", "documents of the query with a greater score"),
            "tied": ("INTEGER", "documents of the query with this score, itself included"),
        },
    ),
    "repeats": SavedTable(
        "Rows of files that gave way to a better one of the same document.",
        {
            **_FILE,
            "query_id": _QUERY["query_id"],
            **_DOC,
            "score": ("DOUBLE", "score in the file"),
            "given_rank": ("INTEGER", "rank in the file"),
            "position": ("BIGINT", "place of the row in the file"),
        },
    ),
    "reasons": SavedTable(
        "Texts in which a run explains its ranking.",
        {
            **_FILE,
            "query_id": _QUERY["query_id"],
            "doc_id": ("VARCHAR", "the document; NULL: the whole list"),
            "thought": ("VARCHAR", "what was thought"),
            "response": ("VARCHAR", "what was answered"),
        },
    ),
    "metrics": SavedTable(
        "Numbers in a file of metrics that lay beside a file of scores.",
        {
            **_FILE,
            "path": ("VARCHAR", "the file of metrics"),
            "name": ("VARCHAR", "name of the number there"),
            "value": ("DOUBLE", "the number"),
        },
    ),
    "tasks": SavedTable(
        "The tasks at hand.",
        {
            "position": ("INTEGER", "order of the tasks"),
            **_TASK,
            "has_data": ("BOOLEAN", "whether a data set had the task; else only judgments were given, or nothing"),
            "corpus_documents": ("BIGINT", "documents of the corpus that was at hand; NULL: none"),
        },
    ),
    "queries": SavedTable(
        "The queries.",
        {
            **_QUERY,
            "position": ("BIGINT", "order in the data"),
            "text": ("VARCHAR", "the original text"),
            "reasoning": ("VARCHAR", "a human's reasoning; NULL: none"),
            "gold_answer": ("VARCHAR", "an answer; NULL: none"),
        },
    ),
    "variants": SavedTable(
        "Other texts of the queries.",
        {**_QUERY, "variant": ("VARCHAR", "name of the variant"), "text": ("VARCHAR", "the text")},
    ),
    "layers": SavedTable(
        "The layers of judgments of each task.",
        {
            **_TASK,
            "layer": ("VARCHAR", "name of the layer"),
            "position": ("INTEGER", "place among the task's layers"),
            "made_of": ("VARCHAR", "data: the data set's own; file: given with --qrels; decisions: of annotators"),
            "counts": ("BOOLEAN", "whether its judgments counted"),
            "path": ("VARCHAR", "of a file its path as it was given"),
            "sha256": ("VARCHAR", "of the file"),
            "format": ("VARCHAR", "of the file"),
        },
    ),
    "qrels": SavedTable(
        "The judgments of every layer.",
        {
            **_TASK,
            "layer": ("VARCHAR", "which of layers"),
            "query_id": _QUERY["query_id"],
            **_DOC,
            "relevance": ("INTEGER", "above 0: gold"),
        },
    ),
    "exclusions": SavedTable("Documents never to be ranked for the query.", {**_QUERY, **_DOC}),
    "gold_pages": SavedTable(
        "Pages that the golds of a query come from.", {**_QUERY, "page_id": ("VARCHAR", "the page (long document)")}
    ),
    "documents": SavedTable(
        "Texts of the documents that are shown: the top 100 of each run and all that are judged.",
        {**_TASK, **_DOC, "content": ("VARCHAR", "the text")},
    ),
    "decisions": SavedTable(
        "What annotators decided, a row for each line of the journals, in their order.",
        {
            "position": ("INTEGER", "order of the lines"),
            "id": ("VARCHAR", "id of the line"),
            "kind": ("VARCHAR", "judgment, skip, undo, note, tag or untag"),
            **_QUERY,
            "doc_id": ("VARCHAR", "the document; NULL: the query is meant"),
            "relevance": ("INTEGER", "of a judgment; NULL: unsure"),
            "annotator": ("VARCHAR", "who decided"),
            "time": ("VARCHAR", "ISO 8601, UTC"),
            "note": ("VARCHAR", "free text"),
            "undoes": ("VARCHAR", "of an undo: the id of the line that no longer counts"),
            "line": ("VARCHAR", "the whole line, JSON"),
        },
    ),
    "findings": SavedTable(
        "What was odd in the inputs.",
        {
            "position": ("INTEGER", "order"),
            "file_id": ("INTEGER", "which of run_files; NULL: of none"),
            "about": ("VARCHAR", "run, data or decisions"),
            "code": ("VARCHAR", "kind of oddity"),
            "severity": ("VARCHAR", "error, warning or note"),
            "file": ("VARCHAR", "where it was found"),
            "message": ("VARCHAR", "what was found and done"),
            "line": ("BIGINT", "first line; NULL: no lines"),
            "count": ("BIGINT", "how often"),
        },
    ),
    "inputs": SavedTable(
        "The files that the session was made of.",
        {
            "kind": ("VARCHAR", "run, qrels, journal or data"),
            "path": ("VARCHAR", "path as it was given"),
            "sha256": ("VARCHAR", "of the file; NULL: a folder"),
            "size": ("BIGINT", "bytes; NULL: a folder"),
            "format": ("VARCHAR", "what it was read as"),
        },
    ),
}


def is_session_file(path: Path) -> bool:
    """Whether a file is to be opened as a saved session: DuckDB's own, or called so."""
    try:
        if path.suffix.lower() == ".duckdb" and path.is_file():
            return True
        with path.open("rb") as file:
            return file.read(_MAGIC_AT + len(_MAGIC))[_MAGIC_AT:] == _MAGIC
    except OSError:
        return False

"""Rows on their way from a Python reader into a table, in batches, with what was left out on the way."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bright_inspect.db import Cursor, identifier
from bright_inspect.domain.findings import Finding, Severity
from bright_inspect.domain.visible import visible

_BATCH = 200_000
_REASONS_BATCH = 2_000
_COLUMNS = "query_id VARCHAR, doc_id VARCHAR, score DOUBLE, given_rank INTEGER"
_REASON_COLUMNS = "query_id VARCHAR, doc_id VARCHAR, thought VARCHAR, response VARCHAR"
_MOST_RANK = 2**31 - 1

#: What may be said about a place in a file: code -> severity and message.
PROBLEMS: dict[str, tuple[Severity, str]] = {
    "query-without-scores": ("error", "Queries whose value is not an object of scores are left out."),
    "query-without-list": ("error", "Queries without a list of documents are left out."),
    "bad-query-id": ("error", "Entries whose query id is neither a text nor a whole number are left out."),
    "bad-document-id": ("error", "Documents whose id is neither a text nor a whole number are left out."),
    "bad-score": ("error", "Documents whose score is not a number are left out."),
    "bad-rank": ("error", "Lines whose rank is not a whole number from 1 on are left out."),
    "nan-score": ("error", "Documents with score NaN are left out (NaN has no place in an order)."),
    "too-few-columns": ("error", "Lines with too few columns are left out."),
    "too-many-columns": ("error", "Lines with more columns than the header are left out."),
    "bad-json-line": ("error", "Lines that are no JSON object are left out."),
    "bad-entry": ("error", "Entries of another shape are left out."),
    "comment-line": ("warning", "Comment lines are skipped."),
    "infinite-score": ("warning", "Infinite scores are kept and ordered as such."),
    "repeated-query": (
        "warning",
        "Queries occur more than once as a key, and all lists are used (other readers keep the last only).",
    ),
}


class _ArrowStream:
    """A polars frame for DuckDB, which would otherwise ask for pyarrow."""

    def __init__(self, frame: Any) -> None:
        self._frame = frame

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return self._frame.__arrow_c_stream__(requested_schema)


@dataclass(slots=True)
class _Problem:
    place: str
    line: int | None
    count: int


@dataclass(slots=True)
class Problems:
    """What was odd, counted by kind with the first place."""

    by_code: dict[str, _Problem] = field(default_factory=dict)

    def add(self, code: str, place: str, line: int | None = None, count: int = 1) -> None:
        known = self.by_code.setdefault(code, _Problem(visible(place), line, 0))
        known.count += count

    def findings(self, path: Path) -> list[Finding]:
        return [
            Finding(
                code, PROBLEMS[code][0], str(path), f"{PROBLEMS[code][1]} First: {problem.place}", problem.line,
                problem.count,
            )
            for code, problem in self.by_code.items()
        ]  # fmt: skip


class ReasonSink:
    """Fills ``{table}_reasons(query_id, doc_id, thought, response)``, which is made when there is something for it."""

    def __init__(self, cursor: Cursor, table: str) -> None:
        self.table = table
        self.reasons = 0
        self._cursor = cursor
        self._texts: dict[str, list[Any]] = {"query_id": [], "doc_id": [], "thought": [], "response": []}

    def add_reason(self, query_id: str, doc_id: str | None, thought: str, response: str) -> None:
        """A text about a document of a query, or about its whole list; nothing is kept of an empty one."""
        if thought or response:
            self.reasons += 1
            for name, value in zip(self._texts, (query_id, doc_id, thought, response), strict=True):
                self._texts[name].append(value)
            if len(self._texts["query_id"]) >= _REASONS_BATCH:
                self.finish_reasons()

    def finish_reasons(self) -> int:
        """Write what is left; the number of texts."""
        if self._texts["query_id"]:
            table = f"{self.table}_reasons"
            self._cursor.execute(f"CREATE TABLE IF NOT EXISTS {identifier(table)} ({_REASON_COLUMNS})")
            _write(self._cursor, table, self._texts, {})
        return self.reasons


class RowSink(ReasonSink):
    """Fills ``table(query_id VARCHAR, doc_id VARCHAR, score DOUBLE, given_rank INTEGER)`` in the order of the calls."""

    def __init__(self, cursor: Cursor, table: str) -> None:
        super().__init__(cursor, table)
        self.problems = Problems()
        self.rows = 0
        self._seen: set[str] = set()
        self._batch: dict[str, list[Any]] = {"query_id": [], "doc_id": [], "score": [], "given_rank": []}
        cursor.execute(f"CREATE OR REPLACE TABLE {identifier(table)} ({_COLUMNS})")
        cursor.execute(f"DROP TABLE IF EXISTS {identifier(f'{table}_reasons')}")

    def begin_query(self, query_id: str) -> None:
        """Note that the file says this query once more as a key."""
        if query_id in self._seen:
            self.problems.add("repeated-query", query_id)
        self._seen.add(query_id)

    def add_scored(self, query_id: str, docs: Sequence[tuple[Any, Any]]) -> None:
        """Rows of one query from (document id, score) pairs of any type; what is no row becomes a problem."""
        if not docs:
            return
        ids, scores = zip(*docs, strict=True)
        # The usual case in a few calls, however many documents: a sum is finite only if every score is.
        usual = set(map(type, ids)) == {str} and set(map(type, scores)) <= {float, int}
        try:
            usual = usual and math.isfinite(sum(scores))
        except OverflowError:
            usual = False
        if usual:
            self._extend(query_id, ids, map(float, scores), [None] * len(ids))
            return
        for doc_id, score in docs:
            name = id_text(doc_id)
            code = "bad-document-id" if name is None else score_problem(score)
            if code:
                self.problems.add(code, f"{query_id} / {doc_id}: {shown(score)}")
            if name is not None and code in (None, "infinite-score"):
                self._extend(query_id, [name], [float(score)], [None])

    def add_ranked(self, query_id: str, docs: Iterable[Any], ranks: Iterable[int] | None = None) -> None:
        """Rows of one query whose order is the ranking: score 1/rank, as Pyserini's evaluator gives it
        (castorini/pyserini:pyserini/eval/trec_eval.py)."""
        for rank, doc_id in enumerate(docs, 1) if ranks is None else zip(ranks, docs, strict=True):
            name = id_text(doc_id)
            if name is None:
                self.problems.add("bad-document-id", f"{query_id} / {rank}: {shown(doc_id)}")
            else:
                self._extend(query_id, [name], [1 / rank], [rank])

    def add_row(self, query_id: str, doc_id: str, score: float, rank: int | None) -> None:
        """One row as it is."""
        self._extend(query_id, [doc_id], [score], [rank])

    def finish(self) -> int:
        """Write what is left; the number of rows."""
        self._flush()
        self.finish_reasons()
        return self.rows

    def _extend(
        self, query_id: str, doc_ids: Iterable[str], scores: Iterable[float], ranks: Sequence[int | None]
    ) -> None:
        batch = self._batch
        batch["query_id"] += [query_id] * len(ranks)
        batch["doc_id"] += doc_ids
        batch["score"] += scores
        batch["given_rank"] += ranks
        self.rows += len(ranks)
        if len(batch["query_id"]) >= _BATCH:
            self._flush()

    def _flush(self) -> None:
        if self._batch["query_id"]:
            _write(self._cursor, self.table, self._batch, {"score": "Float64", "given_rank": "Int32"})


def _write(cursor: Cursor, table: str, columns: dict[str, list[Any]], types: Mapping[str, str]) -> None:
    """Append the columns to a table and empty them; those without a type are texts."""
    import polars

    schema = {name: getattr(polars, types.get(name, "String")) for name in columns}
    texts = {name: values if name in types else storable(values) for name, values in columns.items()}
    cursor.register("arriving_rows", _ArrowStream(polars.DataFrame(texts, schema=schema)))
    try:
        cursor.execute(f"INSERT INTO {identifier(table)} FROM arriving_rows")
    finally:
        cursor.unregister("arriving_rows")
    for values in columns.values():
        values.clear()


def storable(texts: list[str | None]) -> list[str | None]:
    """The texts; half of a surrogate pair, which JSON can spell and UTF-8 cannot, stays spelled out."""
    try:
        "".join(filter(None, texts)).encode()
    except UnicodeEncodeError:
        return [None if text is None else text.encode("utf-8", "backslashreplace").decode() for text in texts]
    return texts


def id_text(value: object) -> str | None:
    """An id as text: whole numbers are ids too (rank_llm's qid may be one); None for anything else."""
    if isinstance(value, str):
        return value
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    return None


def score_problem(score: object) -> str | None:
    """The code of what is wrong with a score, or None; ``infinite-score`` can be kept."""
    if isinstance(score, bool) or not isinstance(score, int | float):
        return "bad-score"
    try:
        value = float(score)
    except OverflowError:
        return "bad-score"
    if math.isnan(value):
        return "nan-score"
    return "infinite-score" if math.isinf(value) else None


def rank_of(value: object) -> int | None:
    """A rank from 1 on, or None."""
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= _MOST_RANK:
        return None
    return value


def shown(value: object) -> str:
    """A value in a message."""
    text = repr(value)
    return text if len(text) <= 60 else text[:59] + "…"

"""BRIGHT's score files: one JSON object ``{query_id: {doc_id: score}}``, under whatever name.

DuckDB reads a regular file without holding Python's lock. What it refuses (a repeated key, a cut file, another shape)
is read again with Python's parser, which can say where and why.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from bright_inspect.db import Cursor, DatabaseError, QueryInterrupted, identifier, path_literal
from bright_inspect.domain.findings import Finding, Severity
from bright_inspect.errors import UnreadableInput
from bright_inspect.formats.files import clean_copy, scan_file

_EXPECTED = "Expected a run, {query_id: {doc_id: score}}."
_Pairs = list[tuple[str, Any]]


def read_score_json(cursor: Cursor, path: Path, table: str) -> tuple[str, list[Finding]]:
    """Read a score file into ``table(query_id VARCHAR, doc_id VARCHAR, score DOUBLE, given_rank INTEGER)``.

    ``given_rank`` is NULL: the file holds no ranks. Returns the file's SHA-256 and the findings.

    Raises:
        UnreadableInput: the file is cut or damaged, holds metrics or another shape, or no usable score.
    """
    scan = scan_file(path)
    with ExitStack() as stack:
        source, findings = path, list[Finding]()
        if not scan.clean:
            source, findings = stack.enter_context(clean_copy(path, escape="\\\\"))
        if not _read_regular(cursor, source, table):
            findings += _read_with_python(cursor, path, source, table)
    return scan.digest, findings


def _read_regular(cursor: Cursor, source: Path, table: str) -> bool:
    try:
        cursor.execute(f"""
            CREATE OR REPLACE TABLE {identifier(table)} AS
            WITH file AS (SELECT unnest(map_entries(try_cast(content AS JSON)::MAP(VARCHAR, JSON))) AS query
                          FROM read_text({path_literal(source)})),
                 queries AS (SELECT query.key AS query_id, unnest(map_entries(query.value::MAP(VARCHAR, JSON))) AS doc
                             FROM file WHERE query.value::VARCHAR <> 'null' OR error('no scores')::BOOLEAN)
            SELECT query_id, doc.key AS doc_id, try_cast(doc.value::VARCHAR AS DOUBLE) AS score,
                   NULL::INTEGER AS given_rank
            FROM queries
        """)
        row = cursor.execute(
            f"SELECT count(*) > 0 AND count(*) = count(score) AND bool_and(isfinite(score)) FROM {identifier(table)}"
        ).fetchone()
    except QueryInterrupted:
        raise
    except DatabaseError:
        return False
    return bool(row and row[0])


def _read_with_python(cursor: Cursor, path: Path, source: Path, table: str) -> list[Finding]:
    queries = _query_pairs(path, source.read_text(encoding="utf-8"))
    rows: dict[str, list[Any]] = {"query_id": [], "doc_id": [], "score": []}
    problems: dict[str, list[str]] = {}
    for query_id, docs in queries:
        if not isinstance(docs, list):
            problems.setdefault("query-without-scores", []).append(f"{query_id}: {docs!r:.60}")
            continue
        for doc_id, score in docs:
            code = _score_problem(score)
            if code:
                problems.setdefault(code, []).append(f"{query_id} / {doc_id}: {_shown(score)}")
            if code is None or code == "infinite-score":
                rows["query_id"].append(query_id)
                rows["doc_id"].append(doc_id)
                rows["score"].append(float(score))
    for query_id, count in Counter(query_id for query_id, _ in queries).items():
        if count > 1:
            problems.setdefault("repeated-query", []).append(f"{query_id}: {count} times, all lists used")
    if not rows["score"]:
        raise UnreadableInput(f"{path}: holds no usable score.", _EXPECTED)
    _insert(cursor, table, rows)
    return [
        Finding(
            code, _SEVERITIES.get(code, "error"), str(path), f"{_MESSAGES[code]} First: {places[0]}", None, len(places)
        )
        for code, places in problems.items()
    ]


def _insert(cursor: Cursor, table: str, rows: dict[str, list[Any]]) -> None:
    cursor.execute(
        f"""CREATE OR REPLACE TABLE {identifier(table)} AS
            SELECT unnest($query_id::VARCHAR[]) AS query_id, unnest($doc_id::VARCHAR[]) AS doc_id,
                   unnest($score::DOUBLE[]) AS score, NULL::INTEGER AS given_rank""",
        rows,
    )


_SEVERITIES: dict[str, Severity] = {"infinite-score": "warning", "repeated-query": "warning"}
_MESSAGES = {
    "query-without-scores": "Queries whose value is not an object of scores are left out.",
    "bad-score": "Documents whose score is not a number are left out.",
    "nan-score": "Documents with score NaN are left out (NaN has no place in an order).",
    "infinite-score": "Infinite scores are kept and ordered as such.",
    "repeated-query": "Queries occur more than once as a key (other readers keep the last list only).",
}


def _score_problem(score: object) -> str | None:
    if isinstance(score, bool) or not isinstance(score, int | float):
        return "bad-score"
    try:
        value = float(score)
    except OverflowError:
        return "bad-score"
    if math.isnan(value):
        return "nan-score"
    return "infinite-score" if math.isinf(value) else None


def _storable(text: str) -> str:
    """The id; half of a surrogate pair, which JSON can spell and UTF-8 cannot, stays spelled out."""
    return text.encode("utf-8", "backslashreplace").decode()


def _shown(value: object) -> str:
    pairs = _as_pairs(value)
    text = json.dumps(dict(pairs) if isinstance(pairs, list) else value, default=str)
    return text if len(text) <= 60 else text[:59] + "…"


def _query_pairs(path: Path, text: str) -> _Pairs:
    """The file's (query id, [(document id, score), ...]) pairs, repeated keys included."""
    try:
        loaded: Any = json.loads(text, object_pairs_hook=list)
    except json.JSONDecodeError as error:
        place = len(text[: error.pos].encode())
        cut = error.pos >= len(text.rstrip()) or "Unterminated" in error.msg
        what = "the JSON ends in mid-value" if cut else f"not valid JSON ({error.msg})"
        message = f"{path}:{error.lineno}: {what} at byte {place}."
        raise UnreadableInput(message, "Write or fetch the file again.") from None
    except ValueError:
        raise UnreadableInput(f"{path}: a number with thousands of digits.", _EXPECTED) from None
    except RecursionError:
        raise UnreadableInput(f"{path}: JSON nested too deeply.", _EXPECTED) from None
    if text.lstrip()[:1] == "[":
        raise UnreadableInput(f"{path}: a JSON list, not a run.", _EXPECTED)
    pairs: _Pairs = loaded
    if not pairs:
        raise UnreadableInput(f"{path}: an empty JSON object.", _EXPECTED)
    if any(key == "mteb_model_meta" for key, _ in pairs):
        raise UnreadableInput(f"{path}: MTEB predictions, which are not read yet.", _EXPECTED)
    if all(isinstance(value, int | float) for _, value in pairs):
        names = ", ".join(key for key, _ in pairs[:3])
        raise UnreadableInput(f"{path}: metrics ({names}, ...), not a run.", _EXPECTED)
    if not any(isinstance(value, list) for _, value in pairs):
        raise UnreadableInput(f"{path}: a JSON object without score lists.", _EXPECTED)
    nested = [value for _, value in pairs if isinstance(value, list) and value]
    if nested and all(isinstance(inner, tuple) and isinstance(inner[1], list) for inner in nested[0]):
        raise UnreadableInput(f"{path}: JSON with more levels than a run has.", _EXPECTED)
    return [(_storable(key), _as_pairs(value)) for key, value in pairs]


def _as_pairs(value: Any) -> Any:
    """A JSON object's pairs as they are; anything else (numbers, texts, lists of other things) unchanged."""
    if isinstance(value, list) and all(isinstance(item, tuple) and len(item) == 2 for item in value):
        return [(_storable(key), inner) for key, inner in value]
    return repr(value)

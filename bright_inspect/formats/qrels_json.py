"""Judgments as one JSON object ``{query_id: {doc_id: relevance}}`` (FORMATS E.6), which has the shape of a run.

DuckDB reads a regular file; what it refuses is read again with Python's parser, which can say where and why.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from bright_inspect.db import Cursor, DatabaseError, QueryInterrupted, identifier, path_literal
from bright_inspect.domain.findings import Finding
from bright_inspect.errors import UnreadableInput
from bright_inspect.formats.qrels_lines import repeated_judgments
from bright_inspect.formats.qrels_sniff import EXPECTED

_LEAST, _MOST = -(2**31), 2**31 - 1
# A run orders its documents; an assessor of ten documents gives two of them the same grade.
_RANKED_DEPTH = 10


def read_json_rows(cursor: Cursor, path: Path, source: Path, table: str, *, forced: bool) -> list[Finding]:
    """Read ``source``, which is ``path`` made clean, into ``table(query_id, doc_id, relevance)`` in file order, of each
    pair the first. ``forced`` says that they are judgments although they look like a run.

    Raises:
        UnreadableInput: damaged or other JSON, a run, or no usable judgment.
    """
    findings = [] if _read_regular(cursor, source, table) else _read_with_python(cursor, path, source, table)
    if not forced:
        _refuse_run(cursor, path, table)
    return findings


def _read_regular(cursor: Cursor, source: Path, table: str) -> bool:
    name = identifier(table)
    try:
        cursor.execute(f"""
            CREATE OR REPLACE TABLE {name} AS
            WITH file AS (SELECT unnest(map_entries(try_cast(content AS JSON)::MAP(VARCHAR, JSON))) AS query
                          FROM read_text({path_literal(source)})),
                 queries AS (SELECT query.key AS query_id, unnest(map_entries(query.value::MAP(VARCHAR, JSON))) AS doc
                             FROM file WHERE query.value::VARCHAR <> 'null' OR error('no judgments')::BOOLEAN)
            SELECT query_id, doc.key AS doc_id,
                   CASE WHEN regexp_matches(doc.value::VARCHAR, '^-?[0-9]+$')
                        THEN try_cast(doc.value::VARCHAR AS INTEGER) END AS relevance
            FROM queries
        """)
        row = cursor.execute(f"SELECT count(*) > 0 AND count(*) = count(relevance) FROM {name}").fetchone()
    except QueryInterrupted:
        raise
    except DatabaseError:
        return False
    return bool(row and row[0])


def _read_with_python(cursor: Cursor, path: Path, source: Path, table: str) -> list[Finding]:
    problems: dict[str, list[str]] = {}
    judged: dict[tuple[str, str], int] = {}
    repeats = disagreeing = fractions = usable = 0
    for query_id, docs in _queries(path, source.read_text(encoding="utf-8")):
        if not isinstance(docs, _Object):
            problems.setdefault("bad-judgment", []).append(f"{query_id}: {_shown(docs)}")
            continue
        for doc_id, value in docs.pairs:
            place = f"{query_id} / {doc_id}: {_shown(value)}"
            relevance = _relevance(value)
            if relevance is None:
                fraction = isinstance(value, float) and not value.is_integer()
                fractions += fraction
                problems.setdefault("fractional-relevance" if fraction else "bad-judgment", []).append(place)
            elif (query_id, doc_id) in judged:
                repeats += 1
                disagreeing += judged[query_id, doc_id] != relevance
            else:
                usable += 1
                judged[query_id, doc_id] = relevance
    if fractions > usable:
        first = problems["fractional-relevance"][0]
        raise UnreadableInput(f"{path}: scores ({first}): a run, not judgments.", "Name runs without --qrels.")
    if not judged:
        raise UnreadableInput(f"{path}: holds no usable judgment.", EXPECTED)
    cursor.execute(
        f"""CREATE OR REPLACE TABLE {identifier(table)} AS
            SELECT unnest($query_ids::VARCHAR[]) AS query_id, unnest($doc_ids::VARCHAR[]) AS doc_id,
                   unnest($relevances::INTEGER[]) AS relevance""",
        {
            "query_ids": [query_id for query_id, _ in judged],
            "doc_ids": [doc_id for _, doc_id in judged],
            "relevances": list(judged.values()),
        },
    )
    findings = [
        Finding(code, "error", str(path), f"{_MESSAGES[code]} First: {places[0]}", None, len(places))
        for code, places in problems.items()
    ]
    return findings + ([repeated_judgments(path, repeats, disagreeing)] if repeats else [])


_MESSAGES = {
    "bad-judgment": "Entries that are no judgment are left out; their documents count as unjudged.",
    "fractional-relevance": "Relevances that are no whole number are left out; their documents count as unjudged "
    "(pytrec_eval refuses them, trec_eval cuts the fraction off).",
}


class _Object:
    """A JSON object with its repeated keys."""

    def __init__(self, pairs: list[tuple[str, Any]]) -> None:
        # Half of a surrogate pair, which JSON can spell and UTF-8 cannot, stays spelled out.
        self.pairs = [(key.encode("utf-8", "backslashreplace").decode(), value) for key, value in pairs]


def _queries(path: Path, text: str) -> list[tuple[str, Any]]:
    try:
        loaded: Any = json.loads(text, object_pairs_hook=_Object)
    except json.JSONDecodeError as error:
        cut = error.pos >= len(text.rstrip()) or "Unterminated" in error.msg
        if error.msg.startswith("Extra data"):
            what = "more than one JSON value (JSON Lines?)"
        else:
            what = "the JSON ends in mid-value" if cut else f"not valid JSON ({error.msg})"
        place = len(text[: error.pos].encode())
        raise UnreadableInput(f"{path}:{error.lineno}: {what} at byte {place}.", EXPECTED) from None
    except ValueError:
        raise UnreadableInput(f"{path}: a number with thousands of digits.", EXPECTED) from None
    except RecursionError:
        raise UnreadableInput(f"{path}: JSON nested too deeply.", EXPECTED) from None
    if not isinstance(loaded, _Object):
        raise UnreadableInput(f"{path}: a JSON {type(loaded).__name__}, not judgments.", EXPECTED)
    if not loaded.pairs:
        raise UnreadableInput(f"{path}: an empty JSON object.", EXPECTED)
    if any(key == "mteb_model_meta" for key, _ in loaded.pairs):
        raise UnreadableInput(f"{path}: MTEB predictions, a run, not judgments.", "Name runs without --qrels.")
    if all(isinstance(value, int | float) for _, value in loaded.pairs):
        names = ", ".join(key for key, _ in loaded.pairs[:3])
        raise UnreadableInput(f"{path}: metrics ({names}, ...), not judgments.", EXPECTED)
    return loaded.pairs


def _relevance(value: object) -> int | None:
    """The whole number of 32 bits that a value is; true and false are 1 and 0, as for pytrec_eval (FORMATS F.9)."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return int(value) if isinstance(value, int) and _LEAST <= value <= _MOST else None


def _shown(value: object) -> str:
    text = f"{{{len(value.pairs)} entries}}" if isinstance(value, _Object) else json.dumps(value, default=str)
    return text if len(text) <= 60 else text[:59] + "…"


def _refuse_run(cursor: Cursor, path: Path, table: str) -> None:
    row = cursor.execute(f"""
        SELECT max(docs), bool_and(docs = grades) FILTER (docs > 1) FROM (
            SELECT count(*) AS docs, count(DISTINCT relevance) AS grades FROM {identifier(table)} GROUP BY query_id)
    """).fetchone()
    if row and row[0] >= _RANKED_DEPTH and row[1]:
        raise UnreadableInput(
            f"{path}: every document of a query has another value (up to {row[0]} of them): the scores of a run, not "
            "judgments.",
            'Name runs without --qrels. If they are judgments, say so: format "json".',
        )

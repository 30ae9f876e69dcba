"""Tells what kind of judgment file a file is, and names what else it may be.

The rules look at the lines at the head, of which a few may be damaged: what most of them are counts. Three columns may
be judgments or a run without ranks or scores, two columns may be anything, so these need more than their number.
"""

from __future__ import annotations

import codecs
import csv
import json
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from bright_inspect.errors import UnreadableInput
from bright_inspect.formats.files import read_head
from bright_inspect.formats.parquet import is_parquet, parquet_columns

QrelsFormat = Literal["trec", "triples", "beir", "json", "jsonl", "parquet", "exclusions"]
"""``trec``: query_id 0 doc_id relevance; ``triples``: query_id doc_id relevance; ``beir``: the same with a header;
``json``: {query_id: {doc_id: relevance}}; ``jsonl`` and ``parquet``: rows with columns of BEIR's or like names, as MTEB
has them on the Hub; ``exclusions``: query_id doc_id."""

EXPECTED = (
    "Expected judgments: query_id 0 doc_id relevance (TREC), query-id corpus-id score with a header (BEIR), "
    "or JSON {query_id: {doc_id: relevance}}."
)
# Other blanks, such as a no-break space, belong to ids.
_BLANKS = " \t\r\f"
_INTEGER = re.compile(r"[+-]?[0-9]+(\.0*)?")
_NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
_QUERY_NAMES = {"query-id", "query_id", "qid", "queryid", "q_id", "topic", "topic_id"}
_DOC_NAMES = {"corpus-id", "corpus_id", "doc_id", "docid", "doc-id", "docno", "did", "pid", "document_id"}
_RELEVANCE_NAMES = {"score", "relevance", "rel", "label", "grade", "relevancy", "judgment", "qrel"}
_NAMES = (_QUERY_NAMES, _DOC_NAMES, _RELEVANCE_NAMES)
#: Lines looked at.
_LINES = 400
# From so many documents of a query on, 1, 2, 3 ... are ranks: no assessor's grades run on like that.
_RANKED_DEPTH = 4


@dataclass(frozen=True, slots=True)
class QrelsKind:
    """The format and the delimiter, by which ids may hold blanks; for a file with a header that line, how many
    columns it has, and the places (from 0) of query, document and relevance; for rows the ``names`` of these three."""

    format: QrelsFormat
    delimiter: str = "\t"
    columns: tuple[int, int, int] = (0, 1, 2)
    width: int = 3
    header: str = ""
    names: tuple[str, str, str] = ("", "", "")


def sniff_qrels(path: Path, wanted: QrelsFormat | None = None) -> QrelsKind:
    """Look at the head of a file; ``wanted`` says what it is, whatever it looks like.

    Raises:
        UnreadableInput: as ``read_head``; or the file is something else, or could be something else.
    """
    if is_parquet(path):
        return _rows(path, "parquet", parquet_columns(path))
    lines = _head_lines(path)
    if wanted == "jsonl" or (wanted is None and (keys := _json_keys(lines)) and _row_names(keys)):
        return _rows(path, "jsonl", _json_keys(lines))
    header = _header(lines[0]) if lines else None
    if wanted == "beir":
        if header is None:
            found = lines[0][:80] if lines else ""
            raise UnreadableInput(f'{path}: no header with query-id, corpus-id and score: "{found}".', EXPECTED)
        return header
    delimiter = "\t" if any("\t" in line for line in lines) else " "
    if wanted is not None:
        return QrelsKind(wanted, delimiter)
    if header is not None:
        return header
    kinds = Counter(kind for kind in map(_line_kind, lines) if kind)
    if lines and lines[0].lstrip()[:1] in ("{", "[") and kinds["trec"] <= len(lines) // 2:
        return QrelsKind("json")
    if not kinds:
        raise UnreadableInput(f"{path}: no line is a judgment.", EXPECTED)
    kind = kinds.most_common(1)[0][0]
    if kind == "run":
        raise UnreadableInput(
            f"{path}: a run (6 columns: query_id Q0 doc_id rank score tag), not judgments.",
            "Name runs without --qrels.",
        )
    if kind == "triples":
        _require_grades(path, lines)
        return QrelsKind("triples", delimiter)
    if kind == "pairs":
        return _exclusions(path, lines, delimiter)
    return QrelsKind("trec", delimiter)


def _head_lines(path: Path) -> list[str]:
    head = read_head(path)
    utf16 = head[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
    text = head.decode("utf-16", "replace") if utf16 else head.decode("utf-8-sig", "replace")
    lines = [line for line in re.split(r"[\r\n]+", text) if line.strip()]
    unremarked = [line for line in lines if not line.startswith("#") or _line_kind(line) == "trec"]
    return unremarked[:_LINES]


def _json_keys(lines: list[str]) -> list[str]:
    """The names in the first line that is a JSON object; none if there is no such line at the head."""
    for line in lines[:10]:
        if line.lstrip()[:1] == "{":
            try:
                value = json.loads(line)
            except (ValueError, RecursionError):
                continue
            if isinstance(value, dict):
                return list(value)
    return []


def _row_names(columns: Sequence[str]) -> tuple[str, str, str] | None:
    """Which columns are query, document and relevance; None if one is missing or there are two of it."""
    found = [[name for name in columns if name.lower() in known] for known in _NAMES]
    return (found[0][0], found[1][0], found[2][0]) if all(len(names) == 1 for names in found) else None


def _rows(path: Path, format: QrelsFormat, columns: Sequence[str]) -> QrelsKind:  # noqa: A002
    names = _row_names(columns)
    if names is None:
        held = ", ".join(columns[:8]) or "none"
        raise UnreadableInput(f"{path}: no columns query-id, corpus-id and score among {held}.", EXPECTED)
    return QrelsKind(format, names=names)


def fields_of(line: str) -> list[str]:
    """The columns of a line: by tabs if there are any, else by blanks."""
    line = line.strip(_BLANKS)
    return [field.strip(_BLANKS) for field in line.split("\t")] if "\t" in line else re.split(f"[{_BLANKS}]+", line)


def _header(line: str) -> QrelsKind | None:
    for delimiter in ("\t", ",", " "):
        names = [name.strip().lower() for name in next(csv.reader([line], delimiter=delimiter), [])]
        places = [[place for place, name in enumerate(names) if name in known] for known in _NAMES]
        if all(len(found) == 1 for found in places):
            query, doc, relevance = (found[0] for found in places)
            return QrelsKind("beir", delimiter, (query, doc, relevance), len(names), line)
    return None


def _line_kind(line: str) -> str | None:
    fields = fields_of(line)
    count = len(fields)
    if count >= 6 and _INTEGER.fullmatch(fields[-3]) and _NUMBER.fullmatch(fields[-2]):
        return "run"
    if count >= 4 and _NUMBER.fullmatch(fields[-1]):
        return "trec"
    if count == 3 and _NUMBER.fullmatch(fields[-1]):
        return "triples"
    return "pairs" if count == 2 else None


def _require_grades(path: Path, lines: list[str]) -> None:
    """Three columns are judgments only if the third cannot be a rank or a score, nor the second TREC's 0.

    Raises:
        UnreadableInput: it can.
    """
    rows = [fields for fields in map(fields_of, lines) if len(fields) == 3]
    hint = 'If they are judgments, say so: format "triples". ' + EXPECTED
    if all(iteration in ("0", "Q0") for _, iteration, _ in rows):
        raise UnreadableInput(f"{path}: 3 columns, query_id 0 doc_id: the relevance is missing.", EXPECTED)
    values = [value for _, _, value in rows]
    integral = sum(bool(_INTEGER.fullmatch(value)) for value in values)
    if integral <= len(values) // 2:
        raise UnreadableInput(
            f"{path}: 3 columns, the third holds scores ({values[0]}): a run as Tevatron writes it, not judgments.",
            hint,
        )
    ranks: dict[str, list[str]] = {}
    for query_id, _, value in rows:
        ranks.setdefault(query_id, []).append(value)
    ascending = all(
        found == [str(rank) for rank in range(int(found[0]), int(found[0]) + len(found))]
        for found in ranks.values()
        if _INTEGER.fullmatch(found[0]) and "." not in found[0]
    )
    if ascending and max(map(len, ranks.values())) >= _RANKED_DEPTH:
        raise UnreadableInput(
            f"{path}: 3 columns, the third counts up within each query: the ranks of a run, not judgments.", hint
        )


def _exclusions(path: Path, lines: list[str], delimiter: str) -> QrelsKind:
    """Two columns are exclusions if the file is called so: queries and their texts have two columns as well.

    Raises:
        UnreadableInput: it is called otherwise.
    """
    if "exclu" in path.name.lower():
        return QrelsKind("exclusions", delimiter)
    raise UnreadableInput(
        f'{path}: no line is a judgment; lines have 2 columns: "{lines[0][:80]}".',
        "A list of excluded documents (query_id doc_id) has exclude in its name. " + EXPECTED,
    )

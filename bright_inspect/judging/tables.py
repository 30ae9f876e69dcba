"""A journal's lines as CSV, one row a line with every field, and back."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Iterator
from typing import IO, Any

from bright_inspect.judging.decisions import BadDecision, Decision, as_fields, relevance_of

COLUMNS = (
    "dataset", "task", "query_id", "doc_id", "relevance", "annotator", "time", "kind", "note", "why", "tags",
    "evidence", "repeat", "undoes", "query_sha256", "doc_sha256", "tool", "id", "others",
)  # fmt: skip
#: Columns that hold JSON.
_JSON = ("tags", "evidence", "repeat", "others")
#: The longest cell that is read, in characters.
_LONGEST_CELL = 2**30


def write_csv(file: IO[str], decisions: Iterable[Decision]) -> None:
    """Write a header and a row for each line. An empty relevance of a judgment means unsure."""
    # Quotes everywhere: Python 3.11 leaves a lone carriage return bare, and what is read back then is two rows.
    writer = csv.writer(file, lineterminator="\n", quoting=csv.QUOTE_ALL)
    writer.writerow(COLUMNS)
    for decision in decisions:
        fields = as_fields(decision) | {"others": dict(decision.others)}
        writer.writerow([_cell(name, fields.get(name)) for name in COLUMNS])


def _cell(name: str, value: Any) -> str:
    if name in _JSON:
        return json.dumps(value, ensure_ascii=False) if value else ""
    return "" if value is None else str(value)


def read_csv(file: IO[str]) -> Iterator[tuple[int, dict[str, Any] | BadDecision]]:
    """Rows as (line number, fields), or what is wrong with the row. Columns may be in any order; of those known here,
    query_id, doc_id and relevance must be there.

    Raises:
        BadDecision: the header lacks one of them.
    """
    csv.field_size_limit(_LONGEST_CELL)
    reader = csv.reader(file)
    header = [name.strip().removeprefix("\ufeff") for name in next(reader, [])]
    missing = [name for name in ("query_id", "doc_id", "relevance") if name not in header]
    if missing:
        raise BadDecision(f"no column {', '.join(missing)}")
    line = reader.line_num
    try:
        for row in reader:
            # A row begins behind the lines that the one before took.
            line, begins = reader.line_num, line + 1
            if row:
                yield begins, _fields(header, row)
    except csv.Error as error:
        yield line + 1, BadDecision(f"no row of CSV ({error})")


def _fields(header: list[str], row: list[str]) -> dict[str, Any] | BadDecision:
    if len(row) != len(header):
        return BadDecision(f"{len(row)} cells, the header has {len(header)}")
    cells = dict(zip(header, row, strict=True))
    fields: dict[str, Any] = {}
    try:
        for name in _JSON:
            if text := cells.pop(name, ""):
                fields[name] = json.loads(text)
        relevance = cells.pop("relevance")
        if (cells.get("kind") or "judgment") == "judgment":
            fields["relevance"] = relevance_of(relevance)
    except BadDecision as error:
        return error
    except ValueError:
        return BadDecision(f"{name} is not JSON")
    others = fields.pop("others", {})
    if not isinstance(others, dict):
        return BadDecision("others is not a JSON object")
    return {name: value for name, value in cells.items() if value} | fields | others

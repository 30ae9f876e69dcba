"""Reported values in text: tables with a header, and what trec_eval and ir_measures print."""

from __future__ import annotations

import csv
import io
import re
from dataclasses import replace
from pathlib import Path

from bright_inspect.domain.findings import Finding
from bright_inspect.errors import UnreadableInput
from bright_inspect.formats.reported_entries import Entries, Entry, as_number, dataset_and_task, measure_or_none

_COLUMNS = {
    "measure": "measure", "metric": "measure", "value": "value", "score": "value", "run": "run", "system": "run",
    "model": "run", "task": "task", "dataset": "dataset", "query_id": "query_id", "qid": "query_id",
}  # fmt: skip
#: What stands for the mean where a query id could.
_ALL = "all"
_NAME = re.compile(r"[A-Za-z][\w.@-]*")


def text_entries(path: Path, text: str) -> Entries:
    """The values of a table, or of lines.

    Raises:
        UnreadableInput: the table cannot be read as such.
    """
    first = next((line for line in text.splitlines() if line.strip()), "")
    for delimiter in ("\t", ",", ";"):
        columns = [_COLUMNS.get(name.strip().strip('"').lower()) for name in first.split(delimiter)]
        if "measure" in columns and "value" in columns:
            return _table(path, text, delimiter)
    return _lines(path, text)


def _table(path: Path, text: str, delimiter: str) -> Entries:
    read = Entries()
    bad: list[int] = []
    rows = csv.reader(io.StringIO(text), delimiter=delimiter)
    header: list[str | None] = []
    unused: list[str] = []
    try:
        for row in rows:
            cells = [cell.strip() for cell in row]
            if not any(cells):
                continue
            if not header:
                header = [_COLUMNS.get(cell.lower()) for cell in cells]
                unused = [cell for cell, name in zip(cells, header, strict=True) if name is None]
            elif len(cells) != len(header):
                bad.append(rows.line_num)
            else:
                named = {name: cell for name, cell in zip(header, cells, strict=True) if name}
                read.entries.append(_row_entry(named, rows.line_num))
    except csv.Error as error:
        raise UnreadableInput(f"{path}:{rows.line_num}: not a table ({error}).", "Check how it was written.") from None
    if unused:
        message = f"columns that are not used: {', '.join(unused)}."
        read.findings.append(Finding("unused-column", "warning", str(path), message, 1, len(unused)))
    if bad:
        message = f"{len(bad)} line(s) left out that have not the header's {len(header)} columns."
        read.findings.append(Finding("bad-line", "error", str(path), message, bad[0], len(bad)))
    return read


def _row_entry(cells: dict[str, str], line: int) -> Entry:
    dataset, task = dataset_and_task(cells.get("task", ""))
    query_id = cells.get("query_id") or None
    return Entry(
        cells["measure"],
        as_number(cells["value"]),
        f"line {line}",
        cells.get("run") or None,
        cells.get("dataset") or dataset,
        task,
        None if query_id == _ALL else query_id,
        line,
    )


def _lines(path: Path, text: str) -> Entries:
    """trec_eval's ``measure query value``, ir_measures' ``measure value`` and ``query measure value``; the query is
    ``all`` for the mean."""
    read = Entries()
    bad: list[tuple[int, str]] = []
    run: str | None = None
    for number, line in enumerate(text.split("\n"), 1):
        fields = line.split("\t") if line.count("\t") >= 1 else line.split()
        fields = [part.strip() for part in fields]
        if fields == [""] or not fields:
            continue
        if fields[:2] == ["runid", _ALL] and len(fields) == 3:
            run = fields[2]
        elif (entry := _line_entry(fields, number)) is not None:
            read.entries.append(entry)
        else:
            bad.append((number, line))
    if bad:
        message = f"{len(bad)} line(s) that report no value left out: {bad[0][1][:80]!a}"
        read.findings.append(Finding("bad-line", "error", str(path), message, bad[0][0], len(bad)))
    if run is not None:
        read.entries = [replace(entry, run=run) for entry in read.entries]
    return read


def _line_entry(fields: list[str], line: int) -> Entry | None:
    if len(fields) not in (2, 3):
        return None
    name, query_id, value = fields[0], fields[1] if len(fields) == 3 else _ALL, as_number(fields[-1])
    if len(fields) == 3 and query_id != _ALL and measure_or_none(name) is None and measure_or_none(query_id):
        name, query_id = query_id, name
    # A name that is not known must at least stand before a number to be one.
    if measure_or_none(name) is None and (value is None or not _NAME.fullmatch(name)):
        return None
    return Entry(name, value, f"line {line}", query_id=None if query_id == _ALL else query_id, line=line)

"""What tests of run formats share: each run of a file with its rows and reasons; findings apart."""

from __future__ import annotations

import atexit
import functools
from dataclasses import dataclass
from pathlib import Path

from bright_inspect.db import Database, identifier
from bright_inspect.domain.findings import Finding
from bright_inspect.formats.runs import ReadRun, read_runs
from bright_inspect.formats.score_findings import CODES
from tests.support import Table

Row = tuple[str, str, float, int | None]
Reason = tuple[str, str | None, str, str]


@dataclass(frozen=True)
class Run:
    """A run of a file: what was said of it, its rows in the order of the table, and its reasons."""

    read: ReadRun
    rows: list[Row]
    reasons: list[Reason]

    @property
    def codes(self) -> list[str]:
        return sorted(finding.code for finding in self.read.findings)

    def finding(self, code: str) -> Finding:
        (found,) = [finding for finding in self.read.findings if finding.code == code]
        return found


@functools.cache
def _database() -> Database:
    database = Database()
    atexit.register(database.close)
    return database


def runs_of(path: Path, format: str | None = None) -> list[Run]:  # noqa: A002
    """Every run in a file."""
    cursor = _database().cursor()
    found = []
    for read in read_runs(cursor, path, "run", format):
        table, reasons = identifier(read.table), identifier(f"{read.table}_reasons")
        rows = cursor.execute(f"SELECT query_id, doc_id, score, given_rank FROM {table} ORDER BY rowid").fetchall()
        texts = cursor.execute(f"FROM {reasons} ORDER BY rowid").fetchall() if read.reasons else []
        found.append(Run(read, [tuple(row) for row in rows], [tuple(row) for row in texts]))
    cursor.close()
    return found


def run_of(folder: Path, content: bytes | str, name: str = "file", format: str | None = None) -> Run:  # noqa: A002
    """The only run in a file of this content."""
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    (run,) = runs_of(path, format)
    return run


def reading(table: Table) -> tuple[Finding, ...]:
    """The findings about how a file reads, apart from those about its scores."""
    return tuple(finding for finding in table.findings if finding.code not in CODES)


def reading_codes(table: Table) -> list[str]:
    return sorted(finding.code for finding in reading(table))

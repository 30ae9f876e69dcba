"""Judgment files as Python lists, as tests compare them."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from bright_inspect.db import Database
from bright_inspect.domain.findings import Finding
from bright_inspect.formats.qrels import read_qrels_into
from bright_inspect.formats.qrels_sniff import QrelsFormat


@dataclass(frozen=True, slots=True)
class QrelsFile:
    """``rows`` are (query_id, doc_id, relevance), ``exclusions`` (query_id, doc_id); in file order, each pair once."""

    rows: list[tuple[str, str, int]]
    findings: list[Finding]
    exclusions: list[tuple[str, str]] = field(default_factory=list)


def read_qrels(path: Path, format: QrelsFormat | None = None) -> QrelsFile:  # noqa: A002
    """Read a judgment file into Python lists; for tests."""
    with Database() as database:
        cursor = database.cursor()
        read = read_qrels_into(cursor, path, "judgments", format)
        rows = cursor.execute("SELECT query_id, doc_id, relevance FROM judgments ORDER BY rowid").fetchall()
        excluded = cursor.execute("SELECT query_id, doc_id FROM judgments_exclusions ORDER BY rowid").fetchall()
    return QrelsFile(
        [(str(query_id), str(doc_id), int(relevance)) for query_id, doc_id, relevance in rows],
        list(read.findings),
        [(str(query_id), str(doc_id)) for query_id, doc_id in excluded],
    )

"""Judgment files in every format they are passed around in, as one relation of judgments and one of exclusions.

Formats (FORMATS E.3, E.6): TREC's four columns; three columns without a header; BEIR's TSV with a header, and the same
columns as JSON Lines or Parquet; a JSON object ``{query_id: {doc_id: relevance}}``; and Anserini's lists of excluded
documents, two columns. One set of rules tells them apart from the head of the file; where it cannot, it asks for the
format instead of guessing.
"""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from bright_inspect.db import Cursor, identifier
from bright_inspect.domain.findings import Finding
from bright_inspect.formats.files import clean_copy, scan_file
from bright_inspect.formats.qrels_json import read_json_rows
from bright_inspect.formats.qrels_lines import read_line_rows
from bright_inspect.formats.qrels_sniff import QrelsFormat, sniff_qrels

#: ir_datasets writes BRIGHT's excluded documents as judgments of exactly this relevance (FORMATS E.6).
EXCLUDED_RELEVANCE = -100


@dataclass(frozen=True, slots=True)
class QrelsRead:
    """What came with the rows: the SHA-256 of the file, its format, the findings, and whether it excludes documents."""

    digest: str
    format: QrelsFormat
    findings: tuple[Finding, ...]
    has_exclusions: bool


def read_qrels_into(cursor: Cursor, path: Path, table: str, format: QrelsFormat | None = None) -> QrelsRead:  # noqa: A002
    """Read a judgment file into ``table(query_id VARCHAR, doc_id VARCHAR, relevance INTEGER)`` and
    ``{table}_exclusions(query_id VARCHAR, doc_id VARCHAR)``, both in file order, each pair once.

    Of a pair judged twice the first judgment counts. A relevance of exactly -100 is an exclusion; other negative ones
    stay as they are (trec_eval treats them as unjudged, FORMATS F.6). ``format`` overrules what the file looks like.

    Raises:
        UnreadableInput: absent, empty, binary, something else than judgments, ambiguous, or no line is a judgment.
    """
    kind = sniff_qrels(path, format)
    scan = scan_file(path)
    with ExitStack() as stack:
        source, findings = path, list[Finding]()
        if not scan.clean and kind.format != "parquet":
            escape = "\\\\" if kind.format in ("json", "jsonl") else "\\"
            source, findings = stack.enter_context(clean_copy(path, escape))
        if kind.format == "json":
            findings += read_json_rows(cursor, path, source, table, forced=format is not None)
        else:
            findings += read_line_rows(cursor, path, source, table, kind)
    excluded, lowest = _split_exclusions(cursor, table, all_excluded=kind.format == "exclusions")
    if excluded and kind.format != "exclusions":
        message = (
            f"{excluded} pair(s) of relevance {EXCLUDED_RELEVANCE} are exclusions (as ir_datasets writes them): "
            "removed before ranking, whichever layer of judgments counts. trec_eval leaves them in, without gain."
        )
        findings.append(Finding("excluded-by-relevance", "warning", str(path), message, count=excluded))
    if lowest is not None and lowest < 0:
        message = f"relevances below 0 (down to {lowest}) give no gain and count as unjudged, as in trec_eval."
        findings.append(Finding("negative-relevance", "warning", str(path), message))
    return QrelsRead(scan.digest, kind.format, tuple(findings), excluded > 0)


def _split_exclusions(cursor: Cursor, table: str, *, all_excluded: bool) -> tuple[int, int | None]:
    """Move excluded pairs out of ``table``; returns how many, and the lowest relevance that stays."""
    rows, exclusions = identifier(table), identifier(f"{table}_exclusions")
    condition = "true" if all_excluded else f"relevance = {EXCLUDED_RELEVANCE}"
    cursor.execute(f"CREATE OR REPLACE TABLE {exclusions} AS SELECT query_id, doc_id FROM {rows} WHERE {condition}")
    found = cursor.execute(f"SELECT count(*) FROM {exclusions}").fetchone()
    excluded = int(found[0]) if found else 0
    if excluded:
        cursor.execute(f"CREATE OR REPLACE TABLE {rows} AS FROM {rows} WHERE NOT ({condition})")
    lowest = cursor.execute(f"SELECT min(relevance) FROM {rows}").fetchone()
    return excluded, None if lowest is None or lowest[0] is None else int(lowest[0])

"""Any run file into one table: decides which reader a file needs, and settles duplicate documents."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from bright_inspect.db import Cursor, identifier
from bright_inspect.domain.findings import Finding
from bright_inspect.errors import UnreadableInput
from bright_inspect.formats.score_json import read_score_json
from bright_inspect.formats.sniff import Sniffed, sniff
from bright_inspect.formats.trec_run import find_line_pairs, read_trec_run

_EXPECTED = "Expected a TREC run (query_id Q0 doc_id rank score tag) or BRIGHT's score JSON."


@dataclass(frozen=True, slots=True)
class ReadRun:
    """One run read from a file. Most files hold one; MTEB's older prediction files one for each subset and split."""

    table: str
    digest: str
    format: str
    tag: str | None
    task: str | None = None
    long: bool | None = None
    reasons: bool = False
    findings: tuple[Finding, ...] = ()


def read_runs(cursor: Cursor, path: Path, table: str, wanted_format: str | None = None) -> tuple[ReadRun, ...]:
    return (read_run(cursor, path, table),)


def read_run(cursor: Cursor, path: Path, table: str) -> ReadRun:
    """Read a run file into ``table(query_id, doc_id, score, given_rank)``, each pair once, in no given order.

    Of a document listed twice for a query the better score is kept.

    Raises:
        UnreadableInput: the file is absent, empty, binary, cut, or holds no usable line.
    """
    sniffed = sniff(path)
    if sniffed.kind == "json":
        digest, findings = read_score_json(cursor, path, table)
    else:
        _refuse_other_formats(path, sniffed)
        digest, findings = read_trec_run(cursor, path, table)
    findings = [*findings, *_settle_duplicates(cursor, path, table, sniffed)]
    return ReadRun(table, digest, "json" if sniffed.kind == "json" else "trec", sniffed.tag, findings=tuple(findings))


def _refuse_other_formats(path: Path, sniffed: Sniffed) -> None:
    if sniffed.kind == "trec_qrels":
        raise UnreadableInput(f"{path}: judgments (4 columns), not a run.", "Give judgments with --qrels.")
    if sniffed.kind == "three_columns":
        raise UnreadableInput(f"{path}: 3 columns (query, document, rank or score), which are not read yet.", _EXPECTED)


def _settle_duplicates(cursor: Cursor, path: Path, table: str, sniffed: Sniffed) -> list[Finding]:
    name = identifier(table)
    # Hashes first, over the whole file: they may collide, so they only say whether to look closer.
    unlike = cursor.execute(f"SELECT count(*) = count(DISTINCT hash(query_id, doc_id)) FROM {name}").fetchone()
    if unlike and unlike[0]:
        return []
    suspects = cursor.execute(f"""
        SELECT list(query_id) FROM (
            SELECT query_id FROM {name} GROUP BY query_id HAVING count(*) <> count(DISTINCT hash(doc_id)))
    """).fetchone()
    if suspects is None or not suspects[0]:
        return []
    repeats = cursor.execute(
        f"""SELECT query_id, doc_id, count(*) FROM {name} WHERE query_id IN (SELECT unnest(?::VARCHAR[]))
            GROUP BY ALL HAVING count(*) > 1 ORDER BY ALL""",
        [suspects[0]],
    ).fetchall()
    if not repeats:
        return []
    cursor.execute(f"""
        CREATE OR REPLACE TABLE {name} AS
        SELECT query_id, doc_id, max(score) AS score, arg_max(given_rank, score) AS given_rank FROM {name} GROUP BY ALL
    """)
    query_id, doc_id, _ = repeats[0]
    lines = [] if sniffed.kind == "json" else find_line_pairs(path, query_id, doc_id)
    places = f" on lines {' and '.join(map(str, lines))}" if lines else ""
    message = (
        f"{len(repeats)} document(s) listed more than once for a query; the best score is kept (trec_eval stops). "
        f"First: query {query_id}, {doc_id}{places}."
    )
    return [Finding("duplicate-document", "error", str(path), message, lines[0] if lines else None, len(repeats))]

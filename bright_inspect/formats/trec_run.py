"""TREC run files: ``query_id Q0 doc_id rank score tag``, read from both ends because BRIGHT's ids hold spaces.

A regular file takes DuckDB's parallel reader. A file with anything odd in it is read again as whole lines, split in
SQL, and every line that is not used ends up in a finding with its line number.
"""

from __future__ import annotations

import re
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

from bright_inspect.db import Cursor, DatabaseError, QueryInterrupted, identifier, path_literal
from bright_inspect.domain.findings import Finding, Severity
from bright_inspect.errors import UnreadableInput
from bright_inspect.formats.files import clean_copy, first_lines, scan_file
from bright_inspect.formats.parts import Part

# DuckDB's cast takes digit separators, which no other reader of runs does.
_SCORE = r"^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$"
_INFINITE = r"(?i)^[+-]?inf(inity)?$"
_NOT_A_NUMBER = r"(?i)^[+-]?nan$"
_READER = "header=false, quote='', escape='', comment='', auto_detect=false"
# No line has a second column, and no line is NULL: these strings occur in no file.
_NO_DELIMITER = "\x1f\x1e\x1f\x1e"
_NO_NULL = "nullstr='\x1e\x1f\x1e\x1f'"
_SIX_COLUMNS = "{'q': 'VARCHAR', 'i': 'VARCHAR', 'd': 'VARCHAR', 'r': 'VARCHAR', 's': 'VARCHAR', 't': 'VARCHAR'}"
_FROM_BOTH_ENDS = r"^\s*(\S+)\s+(\S+)\s+(\S.*?)\s+(\S+)\s+(\S+)\s+(\S+)\s*$"
#: Longest line that is read; DuckDB's own default is 2 MB.
MAX_LINE_BYTES = 16_000_000


def read_trec_run(cursor: Cursor, path: Path, table: str) -> tuple[str, Part]:
    """Read a run into ``table(query_id VARCHAR, doc_id VARCHAR, score DOUBLE, given_rank INTEGER)``, in file order.

    Returns the file's SHA-256 and the part; the tag is for the caller. Duplicate documents are still in the table.

    Raises:
        UnreadableInput: no line of the file can be used.
    """
    with ThreadPoolExecutor(1) as pool:
        scanning = pool.submit(scan_file, path)
        regular = _read_regular(cursor, path, table)
        scan = scanning.result()
    part = Part(table, "trec", locate=lambda query_id, doc_id: find_line_pairs(path, query_id, doc_id))
    if scan.clean and regular and not scan.tabs:
        return scan.digest, part
    with ExitStack() as stack:
        source = path
        if not scan.clean:
            source, part.findings = stack.enter_context(clean_copy(path))
            if not scan_file(source).tabs and _read_regular(cursor, source, table):
                return scan.digest, part
        part.findings = [*part.findings, *_read_lines(cursor, path, source, table)]
    return scan.digest, part


def _read_regular(cursor: Cursor, path: Path, table: str) -> bool:
    """Read a file of six blank-separated columns with numeric ranks and scores; False if it is anything else."""
    try:
        # A blank at the start of a line, or after another blank, leaves an empty field, which DuckDB reads as NULL.
        # A digit separator is made to fail the cast, which is cheaper here than a condition; ranks need the condition,
        # because 1.5, 1e1 and 0x1 can be cast to whole numbers. Written back they read otherwise.
        cursor.execute(f"""
            CREATE OR REPLACE TABLE {identifier(table)} AS
            SELECT q AS query_id, d AS doc_id, try_cast(replace(s, '_', '?') AS DOUBLE) AS score,
                   CASE WHEN i IS NOT NULL AND t IS NOT NULL AND try_cast(r AS INTEGER)::VARCHAR = r
                        THEN try_cast(r AS INTEGER) END AS given_rank
            FROM read_csv({path_literal(path)}, delim=' ', columns={_SIX_COLUMNS}, {_READER})
        """)
        row = cursor.execute(f"""
            SELECT count(*) > 0 AND count(*) = count(score) AND count(*) = count(given_rank)
                   AND count(*) = count(query_id) AND count(*) = count(doc_id)
                   AND bool_and(isfinite(score)) AND NOT bool_or(query_id >= '#' AND query_id < '$')
            FROM {identifier(table)}
        """).fetchone()
    except QueryInterrupted:
        raise
    except DatabaseError:
        # Too few or too many columns, or bytes that are not UTF-8: the line reader says which and where.
        return False
    return bool(row and row[0])


def _read_lines(cursor: Cursor, path: Path, source: Path, table: str) -> list[Finding]:
    lines = identifier(f"{table}_lines")
    try:
        _split_lines(cursor, source, lines)
    except QueryInterrupted:
        raise
    except DatabaseError as error:
        reason = (
            f"a line is longer than {MAX_LINE_BYTES // 1_000_000} MB"
            if "max_line_size" in str(error)
            else f"it cannot be split into lines ({str(error).splitlines()[0]})"
        )
        raise UnreadableInput(f"{path}: {reason}.", "Check how it was written.") from None
    states = {
        str(state): (int(count), str(line))
        for state, count, line in cursor.execute(
            f"SELECT state, count(*), arg_min(line, rowid) FROM {lines} GROUP BY state"
        ).fetchall()
    }
    usable = sum(states.get(state, (0, ""))[0] for state in _USABLE)
    if not usable:
        raise _unreadable(cursor, path, lines)
    findings = _line_findings(path, source, states)
    cursor.execute(f"""
        CREATE OR REPLACE TABLE {identifier(table)} AS
        SELECT query_id, doc_id, score, given_rank FROM {lines}
        WHERE list_contains({list(_USABLE)}, state) ORDER BY rowid
    """)
    cursor.execute(f"DROP TABLE {lines}")
    return findings


def _split_lines(cursor: Cursor, source: Path, lines: str) -> None:
    """Fill ``lines``: every line of the file in its order, its fields, and ``state``: what is to become of it."""
    cursor.execute(f"""
        CREATE OR REPLACE TABLE {lines} AS
        WITH source AS (
            SELECT line, if(contains(line, chr(9)),
                            list_transform(string_split(trim(line, ' \t'), chr(9)), lambda f: trim(f)), []) AS tabbed
            FROM read_csv({path_literal(source)}, delim='{_NO_DELIMITER}', columns={{'line': 'VARCHAR'}}, {_READER},
                          {_NO_NULL}, strict_mode=false,
                          max_line_size={MAX_LINE_BYTES}, buffer_size={2 * MAX_LINE_BYTES})
        ), split AS (
            SELECT line, len(tabbed) >= 6 AS by_tab, len(tabbed) AS tabs,
                   CASE WHEN len(tabbed) >= 6 THEN struct_pack(
                       q := tabbed[1], d := array_to_string(tabbed[3:-4], ' '), r := tabbed[-3], s := tabbed[-2])
                   ELSE regexp_extract(line, '{_FROM_BOTH_ENDS}', ['q', 'i', 'd', 'r', 's', 't'])
                   END AS f
            FROM (SELECT line, tabbed FROM source)
        ), fields AS (
            SELECT line, f.q AS query_id, f.d AS doc_id, f.r AS rank_text, f.s AS score_text,
                   CASE WHEN regexp_full_match(f.r, '[+-]?\\d+') THEN try_cast(f.r AS INTEGER) END AS given_rank,
                   CASE WHEN by_tab THEN tabs ELSE len(string_split_regex(trim(line, ' \t'), '\\s+')) END AS columns
            FROM split
        )
        SELECT *, try_cast(score_text AS DOUBLE) AS score,
            CASE WHEN trim(line, ' \t') = '' THEN 'blank'
                 WHEN columns < 6 AND starts_with(trim(line, ' \t'), '#') THEN 'comment'
                 WHEN columns < 6 THEN 'columns'
                 WHEN given_rank IS NULL AND starts_with(trim(line, ' \t'), '#') THEN 'comment'
                 WHEN given_rank IS NULL AND (columns > 6 OR regexp_matches(rank_text, '[A-Za-z]')) THEN 'rank'
                 WHEN regexp_matches(score_text, '{_NOT_A_NUMBER}') THEN 'nan'
                 WHEN regexp_matches(score_text, '{_INFINITE}') THEN 'infinite'
                 WHEN NOT regexp_matches(score_text, '{_SCORE}') THEN 'score'
                 WHEN isinf(try_cast(score_text AS DOUBLE)) THEN 'infinite'
                 WHEN given_rank IS NULL THEN 'odd-rank'
                 ELSE 'ok' END AS state
        FROM fields
    """)


_USABLE = ("ok", "infinite", "odd-rank")
_STATE_FINDINGS: dict[str, tuple[str, Severity, str]] = {
    "comment": ("comment-line", "warning", "{n} comment line(s) skipped (trec_eval 9 stops at them)."),
    "columns": ("too-few-columns", "error", "{n} line(s) with fewer than 6 columns left out: {line}"),
    "rank": ("bad-rank", "error", "{n} line(s) left out, the third column from the end is no rank: {line}"),
    "odd-rank": ("odd-rank", "warning", "{n} rank(s) that are no whole number; the scores count, not ranks: {line}"),
    "nan": ("nan-score", "error", "{n} line(s) with score NaN left out (NaN has no place in an order): {line}"),
    "score": ("bad-score", "error", "{n} line(s) left out, the score is not a number (trec_eval reads 0): {line}"),
    "infinite": ("infinite-score", "warning", "{n} infinite score(s) kept and ordered as such: {line}"),
}


def _line_findings(path: Path, source: Path, states: dict[str, tuple[int, str]]) -> list[Finding]:
    odd = {state: value for state, value in states.items() if state in _STATE_FINDINGS}
    numbers = first_lines(source, {line for _, line in odd.values()})
    findings = []
    for state, (count, line) in sorted(odd.items(), key=lambda item: numbers.get(item[1][1], 0)):
        code, severity, template = _STATE_FINDINGS[state]
        message = template.format(n=count, line=_shown(line))
        findings.append(Finding(code, severity, str(path), message, numbers.get(line), count))
    return findings


def _shown(line: str, length: int = 120) -> str:
    return ascii(line if len(line) <= length else line[: length - 1] + "…") if not line.isprintable() else line[:length]


def _unreadable(cursor: Cursor, path: Path, lines: str) -> UnreadableInput:
    rows = cursor.execute(f"""
        SELECT state, columns, count(*) AS n, arg_min(line, rowid) FROM {lines}
        WHERE state NOT IN ('blank', 'comment') GROUP BY ALL ORDER BY n DESC LIMIT 1
    """).fetchone()
    if rows is None:
        return UnreadableInput(f"{path}: holds no run, only blank lines or comments.", "Check how it was written.")
    state, columns, _, line = str(rows[0]), int(rows[1]), rows[2], str(rows[3])
    expected = "A TREC run has 6 columns: query_id Q0 doc_id rank score tag."
    if state == "columns":
        found = f"{path}: no usable line; lines have {columns} columns"
        return UnreadableInput(f'{found}{_missing_column(line, columns)}: "{_shown(line)}".', expected)
    problem = {"rank": "the rank is not a number", "nan": "every score is NaN", "score": "no score is a number"}[state]
    return UnreadableInput(f'{path}: no usable line, {problem}: "{_shown(line)}".', expected)


def _missing_column(line: str, columns: int) -> str:
    if columns == 4:
        return " (judgments? give them with --qrels)"
    if columns != 5:
        return ""
    fields = line.split()
    numeric = [bool(re.match(_SCORE, field)) for field in fields]
    if numeric[-1] and numeric[-2]:
        return ", the tag is missing"
    if numeric[-2]:
        return ", the score or the rank is missing"
    return ""


def _ids_of(line: str) -> tuple[str, str] | None:
    """The query and document of a usable line, split as ``_read_lines`` does; None for any other line."""
    fields = [field.strip(" ") for field in line.strip(" \t\n").split("\t")]
    if len(fields) >= 6:
        query_id, doc_id, score = fields[0], " ".join(fields[2:-3]), fields[-2]
    elif match := re.match(_FROM_BOTH_ENDS, line, re.ASCII):
        query_id, doc_id, score = match[1], match[3], match[5]
    else:
        return None
    return (query_id, doc_id) if re.match(_SCORE, score) or re.match(_INFINITE, score) else None


def find_line_pairs(path: Path, query_id: str, doc_id: str) -> list[int]:
    """Line numbers (at most two) of the lines of this query and document; for messages about duplicates."""
    numbers: list[int] = []
    with ExitStack() as stack:
        source = path if scan_file(path).clean else stack.enter_context(clean_copy(path))[0]
        with source.open("r", encoding="utf-8", newline="\n") as file:
            for number, line in enumerate(file, 1):
                if _ids_of(line) == (query_id, doc_id):
                    numbers.append(number)
                    if len(numbers) == 2:
                        break
    return numbers

"""Runs in columns without TREC's six: query, document and a rank or score; and tables with a header of named columns.

Every line that is not blank becomes a row or is counted in a finding with its number.
"""

from __future__ import annotations

import csv
import itertools
import re
from collections.abc import Callable, Iterator
from pathlib import Path

from bright_inspect.db import Cursor, QueryInterrupted, identifier, path_literal
from bright_inspect.domain.findings import Finding, Severity
from bright_inspect.domain.visible import visible
from bright_inspect.errors import UnreadableInput
from bright_inspect.formats.files import clean_source
from bright_inspect.formats.parts import Locate, Part
from bright_inspect.formats.records import DOC_KEYS, QUERY_KEYS, RANK_KEYS, SCORE_KEYS, first_key
from bright_inspect.formats.regular_columns import read_regular_three
from bright_inspect.formats.rows import Problems, RowSink, score_problem, shown
from bright_inspect.formats.sniff import THREE_COLUMNS, THREE_HINT, Header, header_of, third_column

_SCORE = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?|[+-]?(inf|infinity|nan)", re.ASCII | re.IGNORECASE)
_RANK = re.compile(r"\+?\d{1,9}", re.ASCII)
_THREE = re.compile(r"[ \t\r\f]*([^ \t\r\f]+)[ \t\r\f]+(.*[^ \t\r\f])[ \t\r\f]+([^ \t\r\f]+)[ \t\r\f]*", re.DOTALL)
#: An id longer than this is no id; the standard library's limit is 128 KB.
_MAX_FIELD = 16_000_000


def _three_fields(line: str) -> tuple[str, str, str] | None:
    """(query, document, third column) of a line: by tabs, or from both ends because ids hold blanks."""
    fields = [field.strip(" \r\f") for field in line.strip(" \n\r\f").split("\t")]
    if len(fields) >= 3:
        query_id, doc_id, third = fields[0], "\t".join(fields[1:-1]), fields[-1]
        return (query_id, doc_id, third) if query_id and doc_id else None
    match = _THREE.fullmatch(line.rstrip("\n"))
    return (match[1], match[2], match[3]) if match else None


def _lines(source: Path) -> Iterator[tuple[int, str]]:
    with source.open("r", encoding="utf-8", newline="\n") as file:
        for number, line in enumerate(file, 1):
            if line.strip(" \t\r\f\n"):
                yield number, line


def read_three_columns(cursor: Cursor, path: Path, source: Path, table: str, *, kind: str | None = None) -> list[Part]:
    """Read Pyserini's msmarco output (query, document, rank) or Tevatron's (query, document, score).

    ``kind`` is ``msmarco`` or ``tevatron``; without it the whole file decides (FORMATS E.3, E.4).

    Raises:
        UnreadableInput: no usable line, or the third column may be either.
    """
    locate = _locator(path, lambda source: ((n, (_three_fields(line) or ())[:2]) for n, line in _lines(source)))
    if regular := read_regular_three(cursor, source, table, kind):
        return [Part(table, regular, ordered=regular == "msmarco", locate=locate)]
    rows: list[tuple[str, str, str, int]] = []
    sink = RowSink(cursor, table)
    for number, line in _lines(source):
        fields = _three_fields(line)
        if fields is not None and _SCORE.fullmatch(fields[2]):
            rows.append((*fields, number))
        elif line.lstrip().startswith("#"):
            sink.problems.add("comment-line", shown(line.strip()), number)
        else:
            sink.problems.add("too-few-columns" if fields is None else "bad-score", shown(line.strip()), number)
    kind = kind or third_column([(query_id, third) for query_id, _, third, _ in rows])
    if rows and kind is None:
        raise UnreadableInput(f"{path}: {THREE_COLUMNS}, so perhaps not a run.", THREE_HINT)
    for query_id, doc_id, third, number in rows:
        if kind == "msmarco":
            if _RANK.fullmatch(third) and int(third) > 0:
                sink.add_row(query_id, doc_id, 1 / int(third), int(third))
            else:
                sink.problems.add("bad-rank", f"{query_id} / {doc_id}: {third}", number)
        else:
            _add_score(sink, query_id, doc_id, third, None, number)
    part = _part(path, sink, kind or "tevatron")
    part.ordered = kind == "msmarco"
    part.locate = locate
    return [part]


def _add_score(sink: RowSink, query_id: str, doc_id: str, text: str, rank: int | None, line: int) -> None:
    place = f"{query_id} / {doc_id}: {text[:60]}"
    problem = score_problem(float(text)) if _SCORE.fullmatch(text) else "bad-score"
    if problem:
        sink.problems.add(problem, place, line)
    if problem in (None, "infinite-score"):
        sink.add_row(query_id, doc_id, float(text), rank)


def _locator(path: Path, ids_of: Callable[[Path], Iterator[tuple[int, tuple[str, ...]]]]) -> Locate:
    """Finds lines by reading the file again: ``ids_of`` gives (line number, (query, document)) of its clean copy."""

    def locate(query_id: str, doc_id: str) -> list[int]:
        with clean_source(path) as (source, _, _):
            numbers = (number for number, ids in ids_of(source) if ids == (query_id, doc_id))
            return list(itertools.islice(numbers, 2))

    return locate


def _part(path: Path, sink: RowSink, name: str) -> Part:
    findings = sink.problems.findings(path)
    if not sink.finish():
        said = f" {findings[0].message}" if findings else ""
        where = f":{findings[0].line}" if findings and findings[0].line else ""
        raise UnreadableInput(f"{path}{where}: no usable line.{said}", "See bright-inspect formats.")
    return Part(sink.table, name, findings=findings)


def read_table(cursor: Cursor, path: Path, source: Path, table: str) -> list[Part]:
    """Read CSV, TSV or any table whose first line names a query, a document, and a score or rank column.

    With both, the score counts and the rank is the file's own; with a rank alone the score is 1/rank. Quotes are CSV's,
    as BEIR's and pandas' writers set them.

    Raises:
        UnreadableInput: no header, or no usable line.
    """
    sink = RowSink(cursor, table)
    header = _header(path, source)
    for query_id, doc_id, score, rank_text, number in _table_rows(source, header, sink.problems):
        rank = int(rank_text) if rank_text is not None and _RANK.fullmatch(rank_text) else None
        if score is not None:
            _add_score(sink, query_id, doc_id, score, rank, number)
        elif rank:
            sink.add_row(query_id, doc_id, 1 / rank, rank)
        else:
            sink.problems.add("bad-rank", f"{query_id} / {doc_id}: {rank_text}", number)
    part = _part(path, sink, "table")
    part.ordered = header.score is None
    part.locate = _locator(path, lambda source: ((r[4], r[:2]) for r in _table_rows(source, header, Problems())))
    return [part]


def _header(path: Path, source: Path) -> Header:
    first = next(_lines(source), (1, ""))
    header = header_of(first[1])
    if header is None or (header.score is None and header.rank is None):
        raise UnreadableInput(
            f"{path}:{first[0]}: no header that names a query, a document, and a score or rank column.",
            f"Names: {', '.join(QUERY_KEYS[:4])}; {', '.join(DOC_KEYS[:4])}; {SCORE_KEYS[0]}; {RANK_KEYS[0]}.",
        )
    return header


def _table_rows(
    source: Path, header: Header, problems: Problems
) -> Iterator[tuple[str, str, str | None, str | None, int]]:
    """(query, document, score, rank, line number) of each row under the header."""
    csv.field_size_limit(_MAX_FIELD)
    with source.open("r", encoding="utf-8", newline="") as file:
        reader = csv.reader(file, delimiter=header.delimiter)
        started, before = False, 0
        while True:
            try:
                fields = next(reader)
            except StopIteration:
                return
            except csv.Error as error:
                problems.add("too-many-columns", str(error), before + 1, max(reader.line_num - before, 1))
                before = reader.line_num
                continue
            lines, first = reader.line_num - before, before + 1
            before = reader.line_num
            if not any(field.strip() for field in fields):
                continue
            if not started:
                started = True
            elif lines > 1:
                # An open quote swallows lines up to the next one; no id has a line break in it.
                problems.add("too-few-columns", shown(header.delimiter.join(fields)), first, lines)
            elif len(fields) != header.columns:
                code = "too-few-columns" if len(fields) < header.columns else "too-many-columns"
                problems.add(code, shown(header.delimiter.join(fields)), first)
            else:
                query_id, doc_id = fields[header.query].strip(), fields[header.doc].strip()
                if query_id and doc_id:
                    score = None if header.score is None else fields[header.score].strip()
                    yield query_id, doc_id, score, None if header.rank is None else fields[header.rank].strip(), first
                else:
                    problems.add("too-few-columns", shown(header.delimiter.join(fields)), first)


def read_parquet(cursor: Cursor, path: Path, table: str) -> list[Part]:
    """Read a Parquet file with columns as ``read_table`` names them; ranx writes q_id, doc_id, score.

    Raises:
        UnreadableInput: damaged, without these columns, or with ids that are neither texts nor whole numbers.
    """
    from bright_inspect.db import DatabaseError, reason_of

    try:
        described = cursor.execute(f"DESCRIBE SELECT * FROM read_parquet({path_literal(path)})").fetchall()
    except QueryInterrupted:
        raise
    except DatabaseError as error:
        reason = reason_of(error).replace(str(path), "the file")
        raise UnreadableInput(f"{path}: damaged Parquet ({reason}).", "Make or fetch it again.") from None
    types = {str(row[0]): str(row[1]) for row in described}
    lower = {name.lower(): name for name in types}
    query, doc = first_key(QUERY_KEYS, lower), first_key(DOC_KEYS, lower)
    score, rank = first_key(SCORE_KEYS, lower), first_key(RANK_KEYS, lower)
    if not (query and doc and (score or rank)):
        raise UnreadableInput(
            f"{path}: a Parquet table with the columns {visible(', '.join(list(types)[:8]))}, not a run.",
            "A run has a query, a document, and a score or rank column (query_id, doc_id, score).",
        )
    for name in (lower[query], lower[doc]):
        if not re.fullmatch(r"VARCHAR|U?(TINY|SMALL|BIG|HUGE)?INT(EGER)?", types[name]):
            raise UnreadableInput(f"{path}: column {visible(name)} is {types[name]}, not texts.", "Write ids as texts.")
    query_sql, doc_sql = (f"{identifier(lower[key])}::VARCHAR" for key in (query, doc))
    rank_sql = f"try_cast({identifier(lower[rank])} AS INTEGER)" if rank else "NULL::INTEGER"
    score_sql = f"1 / if({rank_sql} > 0, {rank_sql}, NULL)"
    if score:
        score_sql = f"try_cast({identifier(lower[score])} AS DOUBLE)"
    try:
        cursor.execute(f"""
            CREATE OR REPLACE TABLE {identifier(table)} AS
            SELECT {query_sql} AS query_id, {doc_sql} AS doc_id, ({score_sql})::DOUBLE AS score,
                   {rank_sql} AS given_rank
            FROM read_parquet({path_literal(path)})
        """)
        counted = cursor.execute(f"""
            SELECT count(*), count(*) FILTER (query_id IS NULL OR doc_id IS NULL OR score IS NULL),
                   count(*) FILTER (isnan(score)), count(*) FILTER (isinf(score)) FROM {identifier(table)}
        """).fetchone()
        cursor.execute(f"""
            DELETE FROM {identifier(table)}
            WHERE query_id IS NULL OR doc_id IS NULL OR score IS NULL OR isnan(score)
        """)
    except QueryInterrupted:
        raise
    except DatabaseError as error:
        reason = reason_of(error).replace(str(path), "the file")
        raise UnreadableInput(f"{path}: damaged Parquet ({reason}).", "Make or fetch it again.") from None
    rows, absent, nans, infinite = counted or (0, 0, 0, 0)
    if rows == absent + nans:
        raise UnreadableInput(f"{path}: no row has a query, a document and a score.", "Check how it was written.")
    part = Part(table, "parquet", ordered=score is None)
    oddities: list[tuple[str, int, Severity, str]] = [
        ("bad-row", absent, "error", "row(s) without a query, a document or a score left out."),
        ("nan-score", nans, "error", "row(s) with score NaN left out (NaN has no place in an order)."),
        ("infinite-score", infinite, "warning", "infinite score(s) kept and ordered as such."),
    ]
    for code, count, severity, message in oddities:
        if count:
            part.findings.append(Finding(code, severity, str(path), f"{count} {message}", None, count))
    return [part]

"""Judgments a line each: TREC's columns, three columns, BEIR's TSV or CSV, and lists of excluded documents.

Ids hold blanks, so a line without tabs is read from both ends. Lines are split in SQL; one that is not used ends up in
a finding with its number.
"""

from __future__ import annotations

import re
from pathlib import Path

from bright_inspect.db import Cursor, DatabaseError, QueryInterrupted, identifier, path_literal, reason_of, text_literal
from bright_inspect.domain.findings import Finding, Severity
from bright_inspect.errors import UnreadableInput
from bright_inspect.formats.lines import MAX_LINE_BYTES, line_numbers, lines_sql, shown
from bright_inspect.formats.qrels_sniff import EXPECTED, QrelsKind

# Only these separate columns, as in run files; other blanks, such as a no-break space, belong to ids.
_BLANKS = "' ' || chr(9) || chr(12) || chr(13)"
_INTEGRAL = r"^[+-]?[0-9]+(\.0*)?$"
_FRACTIONAL = r"^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?$"

# Columns of lines by format: query, document, relevance, and TREC's second one, which means nothing.
_COLUMNS = {"trec": "qidr", "triples": "qdr", "exclusions": "qd"}
# A file with as many different relevances is read line by line.
_MOST_GRADES = 1000


def read_line_rows(cursor: Cursor, path: Path, source: Path, table: str, kind: QrelsKind) -> list[Finding]:
    """Read the lines of ``source``, which is ``path`` made clean, into ``table(query_id, doc_id, relevance)`` in file
    order, of each pair the first. The relevance of lists of exclusions is NULL.

    Raises:
        UnreadableInput: no line is a judgment, or one is too long.
    """
    lines = identifier(f"{table}_lines")
    if kind.names[0] or not _read_regular(cursor, source, lines, kind):
        try:
            _split_lines(cursor, source, lines, kind)
        except QueryInterrupted:
            raise
        except DatabaseError as error:
            too_long = "max_line_size" in str(error) or "Maximum line size" in str(error)
            reason = f"a line is longer than {MAX_LINE_BYTES // 1_000_000} MB" if too_long else reason_of(error)
            raise UnreadableInput(f"{path}: cannot be split into lines ({reason}).", EXPECTED) from None
    states = {
        str(state): (int(count), int(number), str(line))
        for state, count, number, line in cursor.execute(
            f"SELECT state, count(*), min(number), arg_min(line, number) FROM {lines} GROUP BY state"
        ).fetchall()
    }
    if "ok" not in states:
        raise _no_judgment(path, states)
    repeated = _keep_first(cursor, lines, table)
    cursor.execute(f"DROP TABLE {lines}")
    places = [number for state, (_, number, _) in states.items() if state in _FINDINGS]
    numbers = {} if kind.format == "parquet" else line_numbers(source, [*places, *([repeated[2]] if repeated else [])])
    findings = [
        Finding(code, severity, str(path), template.format(n=count, line=shown(line)), numbers.get(number), count)
        for state, (count, number, line) in sorted(states.items(), key=lambda item: item[1][1])
        for code, severity, template in _FINDINGS.get(state, ())
    ]
    if repeated:
        findings.append(repeated_judgments(path, repeated[0], repeated[1], numbers.get(repeated[2])))
    return findings


def _read_regular(cursor: Cursor, source: Path, lines: str, kind: QrelsKind) -> bool:
    """As ``_split_lines``, for a file in which every line is a judgment in the same columns; False if any is not."""
    names, quote, header = list(_COLUMNS.get(kind.format, "")), "", 0
    if kind.format == "beir":
        names = [f"c{place}" for place in range(kind.width)]
        for name, place in zip("qdr", kind.columns, strict=True):
            names[place] = name
        quote, header = '"', 1
    columns = "{" + ", ".join(f"'{name}': 'VARCHAR'" for name in names) + "}"
    grade = "r" if "r" in names else "'0'"
    # Only tabs leave blanks around a field, and only quotes a line end inside one.
    blanks = "query_id <> trim(query_id) OR doc_id <> trim(doc_id)" if kind.delimiter != " " else "false"
    ends = "contains(doc_id, chr(10)) OR contains(query_id, chr(10))" if quote else "false"
    try:
        cursor.execute(f"""
            CREATE OR REPLACE TABLE {lines} AS
            SELECT row_number() OVER () + {header} AS number, q AS query_id, d AS doc_id, {grade} AS grade,
                   try_cast({grade} AS INTEGER) AS relevance, 'ok' AS state, '' AS line
            FROM read_csv({path_literal(source)}, delim={text_literal(kind.delimiter)}, columns={columns}, header=false,
                          skip={header}, quote={text_literal(quote)}, escape={text_literal(quote)}, comment='',
                          auto_detect=false)
        """)
        row = cursor.execute(f"""
            SELECT count(*) > 0 AND count(*) = count(query_id) AND count(*) = count(doc_id)
                   AND count(*) = count(relevance)
                   AND NOT bool_or(starts_with(query_id, '#') OR contains(doc_id, chr(0)) OR {blanks} OR {ends})
            FROM {lines}
        """).fetchone()
        grades = cursor.execute(f"SELECT DISTINCT grade FROM {lines} LIMIT {_MOST_GRADES}").fetchall()
        # The cast alone would round fractions and take digit separators.
        whole = all(re.fullmatch(r"[+-]?[0-9]+", str(found)) for (found,) in grades)
        return bool(row and row[0]) and whole and len(grades) < _MOST_GRADES
    except QueryInterrupted:
        raise
    except DatabaseError:
        return False


_FINDINGS: dict[str, list[tuple[str, Severity, str]]] = {
    "comment": [("comment-line", "warning", "{n} comment line(s) skipped (trec_eval 9 stops at them).")],
    "bad": [("bad-judgment", "error", "{n} line(s) that are no judgment left out, their documents count as unjudged: "
             "{line}")],
    "nul": [("bad-judgment", "error", "{n} line(s) with NUL bytes left out, their documents count as unjudged: "
             "{line}")],
    "fraction": [("fractional-relevance", "error", "{n} line(s) left out, their documents count as unjudged: the "
                  "relevance is no whole number (trec_eval cuts the fraction off: 0.5 is 0, 1.9 is 1): {line}")],
}  # fmt: skip


def _split_lines(cursor: Cursor, source: Path, lines: str, kind: QrelsKind) -> None:
    """Fill ``lines(number, line, query_id, doc_id, relevance, state)``; ``number`` counts lines that are not empty."""
    cursor.execute(f"""
        CREATE OR REPLACE TABLE {lines} AS
        WITH split AS ({_split_sql(source, kind)}),
             fields AS (SELECT number, line, f.q AS query_id, f.d AS doc_id, f.r AS grade,
                               regexp_matches(f.r, '{_INTEGRAL}') AS integral FROM split)
        SELECT number, line, query_id, doc_id,
               CASE WHEN integral THEN try_cast(split_part(grade, '.', 1) AS INTEGER) END AS relevance,
               CASE WHEN trim(line, {_BLANKS}) = '' THEN 'blank'
                    WHEN line = {text_literal(kind.header)} THEN 'header'
                    WHEN contains(line, chr(0)) THEN 'nul'
                    WHEN coalesce(query_id, '') <> '' AND coalesce(doc_id, '') <> ''
                         AND {"true" if kind.format == "exclusions" else "relevance IS NOT NULL"}
                         {"AND NOT starts_with(line, '#')" if kind.format == "exclusions" else ""} THEN 'ok'
                    WHEN starts_with(line, '#') THEN 'comment'
                    WHEN coalesce(query_id, '') <> '' AND coalesce(doc_id, '') <> '' AND NOT integral
                         AND regexp_matches(grade, '{_FRACTIONAL}') THEN 'fraction'
                    ELSE 'bad' END AS state
        FROM fields
    """)


def _split_sql(source: Path, kind: QrelsKind) -> str:
    """``SELECT number, line, f``; ``f`` is as in ``_fields_sql``."""
    if kind.format == "parquet":
        query, doc, relevance = (f"{identifier(name)}::VARCHAR" for name in kind.names)
        return f"""SELECT row_number() OVER () AS number, concat_ws(' ', {query}, {doc}, {relevance}) AS line,
                          struct_pack(q := {query}, d := {doc}, r := {relevance}) AS f
                   FROM read_parquet({path_literal(source)})"""
    return f"SELECT number, line, {_fields_sql(kind)} AS f FROM ({lines_sql(source)})"


def _fields_sql(kind: QrelsKind) -> str:
    """SQL for a line's ``STRUCT(q, d, r)``, of NULLs or empty strings where it has other columns."""
    if kind.format == "jsonl":
        query, doc, relevance = (f"try_cast(line AS JSON)->>{text_literal(_json_path(name))}" for name in kind.names)
        return f"struct_pack(q := {query}, d := {doc}, r := {relevance})"
    if kind.format == "beir":
        return _delimited_sql(kind)
    pattern = {"q": r"(\S+)", "i": r"(\S+)", "d": r"(\S.*?)", "r": r"(\S+)"}
    names = _COLUMNS[kind.format]
    expression = _spaced(r"^\s*" + r"\s+".join(pattern[name] for name in names) + r"\s*$")
    by_ends = f"regexp_extract(line, '(?s){expression}', {list(names)})"
    if kind.delimiter == "\t":
        tabbed = _spaced(r"^\s*" + r"[ \r\f]*\t[ \r\f]*".join(r"([^\t]+?)" for _ in names) + r"\s*$")
        by_tabs = f"regexp_extract(line, '(?s){tabbed}', {list(names)})"
        by_ends = f"CASE WHEN contains(line, chr(9)) AND ({by_tabs}).q <> '' THEN {by_tabs} ELSE {by_ends} END"
    if "r" in names:
        return by_ends
    return f"struct_pack(q := ({by_ends}).q, d := ({by_ends}).d, r := '')"


def _json_path(name: str) -> str:
    return f'$."{name}"'


def _spaced(pattern: str) -> str:
    r"""The expression with only blanks that separate columns in place of ``\s`` and ``\S``."""
    return pattern.replace(r"\S", r"[^ \t\r\f]").replace(r"\s", r"[ \t\r\f]")


def _delimited_sql(kind: QrelsKind) -> str:
    """Columns under a header, quoted where Python's csv module quotes them (BEIR:beir/datasets/data_loader.py)."""
    query, doc, relevance = kind.columns
    delimiter = text_literal(kind.delimiter)
    plain = f"string_split(line, {delimiter})"
    one = rf'"(?:[^"]|"")*"|[^"{_escaped(kind.delimiter)}][^{_escaped(kind.delimiter)}]*|'
    pattern = "^" + _escaped(kind.delimiter).join([f"({one})"] * kind.width) + "$"
    names = "[" + ", ".join(f"'c{place}'" for place in range(kind.width)) + "]"
    quoted = f"regexp_extract(line, {text_literal(pattern)}, {names})"

    def field(place: int) -> str:
        part = f"({quoted}).c{place}"
        return f"if(starts_with({part}, '\"'), replace({part}[2:-2], '\"\"', '\"'), {part})"

    return f"""CASE WHEN contains(line, '"') THEN
                        struct_pack(q := {field(query)}, d := {field(doc)}, r := trim({field(relevance)}, {_BLANKS}))
                    WHEN len({plain}) = {kind.width} THEN
                        struct_pack(q := {plain}[{query + 1}], d := {plain}[{doc + 1}],
                                    r := trim({plain}[{relevance + 1}], {_BLANKS})) END"""


def _escaped(delimiter: str) -> str:
    return {"\t": r"\t", ",": ",", " ": " "}[delimiter]


def _keep_first(cursor: Cursor, lines: str, table: str) -> tuple[int, int, int] | None:
    """Fill ``table`` from the usable lines. Returns how many lines repeat a pair, how many of these disagree with the
    first, and the number of the first such line; None if no line does."""
    name = identifier(table)
    ok = f"{lines} WHERE state = 'ok'"
    # Hashes may collide, so they only say whether to look closer.
    unlike = cursor.execute(f"SELECT count(*) = count(DISTINCT hash(query_id, doc_id)) FROM {ok}").fetchone()
    if unlike and unlike[0]:
        cursor.execute(f"CREATE OR REPLACE TABLE {name} AS SELECT query_id, doc_id, relevance FROM {ok}")
        return None
    pairs = f"""
        SELECT number, query_id, doc_id, relevance, row_number() OVER pair AS turn,
               first_value(relevance) OVER pair AS first_relevance
        FROM {ok} WINDOW pair AS (PARTITION BY query_id, doc_id ORDER BY number)
    """
    cursor.execute(
        f"CREATE OR REPLACE TABLE {name} AS SELECT query_id, doc_id, relevance FROM ({pairs}) WHERE turn = 1 "
        "ORDER BY number"
    )
    row = cursor.execute(
        f"SELECT count(*), count(*) FILTER (relevance IS DISTINCT FROM first_relevance), min(number) FROM ({pairs}) "
        "WHERE turn > 1"
    ).fetchone()
    return (int(row[0]), int(row[1]), int(row[2])) if row and row[0] else None


def repeated_judgments(path: Path, repeats: int, disagreeing: int, line: int | None = None) -> Finding:
    """The finding about pairs judged more than once."""
    worse = f", {disagreeing} of them with another relevance" if disagreeing else ""
    message = f"{repeats} pair(s) judged more than once{worse}; the first judgment counts (trec_eval stops)."
    severity: Severity = "error" if disagreeing else "warning"
    return Finding("repeated-judgment", severity, str(path), message, line, repeats)


def _no_judgment(path: Path, states: dict[str, tuple[int, int, str]]) -> UnreadableInput:
    odd = {state: value for state, value in states.items() if state in ("bad", "nul", "fraction")}
    if not odd:
        return UnreadableInput(f"{path}: no line is a judgment, only blank lines, comments or a header.", EXPECTED)
    state = max(odd, key=lambda name: odd[name][0])
    why = ", every relevance is a fraction (scores of a run?)" if state == "fraction" else ""
    return UnreadableInput(f'{path}: no line is a judgment{why}: "{shown(odd[state][2])}".', EXPECTED)

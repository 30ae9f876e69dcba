"""Files of ids and texts (queries, documents) as relations: TSV, CSV, JSON Lines, a JSON list, Parquet.

Columns are found by the names that the field's tools use; a TSV without header is id, tab, text, as MS MARCO's and
castorini's are. The rows stay in the file: what is handed out is SQL, so a corpus may be larger than memory.
"""

from __future__ import annotations

import codecs
import csv
import re
import weakref
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Literal

from bright_inspect.db import Cursor, DatabaseError, identifier, path_literal, reason_of, text_literal
from bright_inspect.domain.findings import Finding
from bright_inspect.errors import UnreadableInput
from bright_inspect.formats.files import clean_copy, read_head, scan_file
from bright_inspect.formats.json_stream import JsonStream
from bright_inspect.formats.lines import line_numbers, lines_sql, shown
from bright_inspect.formats.parquet import is_parquet, parquet_columns

TableFormat = Literal["tsv", "csv", "jsonl", "json", "parquet"]
#: What columns of ids are called.
ID_NAMES = ("_id", "id", "query_id", "query-id", "qid", "doc_id", "docid", "docno", "did", "pid", "corpus-id")
#: What columns of texts are called.
TEXT_NAMES = ("text", "query", "content", "contents", "question", "passage", "body", "title")
#: What columns of rewritten texts are called, where the original may stand beside them as text or query.
REWRITE_NAMES = (
    "rewrite", "rewritten", "rewritten_query", "reformulated", "reformulated_query", "expanded_query", "expansion",
)  # fmt: skip
_SUFFIXES = (".tsv", ".csv", ".jsonl", ".ndjson", ".json", ".parquet", ".txt")
_COMPRESSED = (".gz", ".zst", ".bz2", ".xz")
_HEAD_BYTES = 1 << 18
_LONG_HEAD_BYTES = 1 << 26
_MOST_COLUMNS_SHOWN = 8


@dataclass(frozen=True, slots=True)
class _Layout:
    """How the file is laid out, and its columns: by name, or by place (from 0) in a delimited file."""

    format: TableFormat
    columns: tuple[str, ...]
    header: bool
    quoted: bool = False


class TextTable:
    """One file of ids and texts.

    ``titled`` says that a title is part of the text, before it, as BEIR's models read documents
    (BEIR:beir/retrieval/models: title, blank, text). ``rewritten`` says that a column of rewrites is the text where
    there is one. ``also`` are columns to hand out besides, as texts, NULL where the file lacks them; lists come as
    JSON.
    """

    def __init__(self, path: Path, *, titled: bool = False, rewritten: bool = False, also: Sequence[str] = ()) -> None:
        """Look at the head of the file.

        Raises:
            UnreadableInput: absent, empty, damaged, or without columns of ids and texts.
        """
        self.path = path
        self._layout = _layout_of(path)
        self._id = self._column(ID_NAMES, "ids")
        self._text = self._column((*REWRITE_NAMES, *TEXT_NAMES) if rewritten else TEXT_NAMES, "texts")
        self._title = "title" if titled and self._text != "title" and "title" in self._layout.columns else None
        self._also = {name: name if name in self._layout.columns else None for name in also}
        self._mended: list[Finding] = []
        self._kept = ExitStack()
        weakref.finalize(self, self._kept.close)

    @property
    def sql(self) -> str:
        """``SELECT position, id, text`` and what was asked for ``also``, of every row with an id, in file order;
        ``text`` is never NULL."""
        text = "coalesce(text, '')"
        if self._title:
            text = f"trim(concat_ws(' ', title, {text}))"
        also = "".join(
            f", {'NULL::VARCHAR' if column is None else f'also_{place}'} AS {name}"
            for place, (name, column) in enumerate(self._also.items())
        )
        return f"SELECT number AS position, id, {text} AS text{also} FROM ({self._rows}) WHERE coalesce(id, '') <> ''"

    def findings(self, cursor: Cursor) -> list[Finding]:
        """What is odd in the file: rows without id, without text, and repeated ids. Reads the file once.

        Raises:
            UnreadableInput: a row breaks the file's format in a way that the others cannot be told from.
        """
        try:
            row = cursor.execute(f"""
                SELECT count(*) FILTER (coalesce(id, '') = ''), min(number) FILTER (coalesce(id, '') = ''),
                       count(*) FILTER (id <> '' AND coalesce(text, '') = ''),
                       count(id) - count(DISTINCT id), count(*)
                FROM ({self._rows})
            """).fetchone()
        except DatabaseError as error:
            raise UnreadableInput(
                f"{self.path}: cannot be read ({reason_of(error)}).", "Fetch or write it again."
            ) from None
        assert row is not None
        unnamed, first, empty, repeated, rows = (0 if value is None else int(value) for value in row)
        file = str(self.path)
        if unnamed == rows:
            raise UnreadableInput(f"{self.path}: none of its {rows} rows has an id.", "Is it the right file?")
        findings = list(self._mended)
        if unnamed:
            numbers = {} if self._layout.format == "parquet" else line_numbers(self._source, [first])
            message = f"{unnamed} row(s) without an id, or damaged, left out; nothing can refer to them."
            findings.append(Finding("row-without-id", "error", file, message, numbers.get(first), unnamed))
        if empty:
            message = f"{empty} row(s) without text; shown as empty, scores are as they are."
            findings.append(Finding("row-without-text", "warning", file, message, count=empty))
        if repeated:
            message = f"{repeated} id(s) more than once; shown with the first text, scores are as they are."
            findings.append(Finding("repeated-id", "warning", file, message, count=repeated))
        return findings

    def _column(self, names: Sequence[str], what: str) -> str:
        for name in names:
            if name in self._layout.columns:
                return name
        found = ", ".join(shown(column, 30) for column in self._layout.columns[:_MOST_COLUMNS_SHOWN])
        raise UnreadableInput(
            f"{self.path}: no column of {what} among {found or 'none'}.", f"Expected one of {', '.join(names)}."
        )

    @cached_property
    def _source(self) -> Path:
        """The file that DuckDB reads: this one, or a clean copy that lives as long as this object."""
        if self._layout.format == "parquet" or scan_file(self.path).clean:
            return self.path
        escape = "\\\\" if self._layout.format in ("json", "jsonl") else "\\"
        copy, self._mended = self._kept.enter_context(clean_copy(self.path, escape))
        return copy

    @property
    def _rows(self) -> str:
        """SQL for ``(number, id, text[, title])`` of every row, NULL where a row has none; ``number`` from 1."""
        layout, source = self._layout, path_literal(self._source)
        names = {"id": self._id, "text": self._text} | ({"title": self._title} if self._title else {})
        names |= {f"also_{place}": column for place, column in enumerate(self._also.values()) if column is not None}
        if layout.format in ("tsv", "csv") and not layout.quoted:
            return self._split_rows(names)
        if layout.format == "parquet":
            read = f"read_parquet({source})"
        elif layout.format in ("jsonl", "json"):
            columns = "{" + ", ".join(f"{text_literal(name)}: 'VARCHAR'" for name in set(names.values())) + "}"
            style = "'newline_delimited', ignore_errors=true" if layout.format == "jsonl" else "'array'"
            read = f"read_json({source}, format={style}, columns={columns})"
        else:
            columns = "{" + ", ".join(f"{text_literal(name)}: 'VARCHAR'" for name in layout.columns) + "}"
            delimiter = "','" if layout.format == "csv" else "chr(9)"
            read = (
                f"read_csv({source}, delim={delimiter}, quote='\"', escape='\"', comment='', auto_detect=false, "
                f"header=false, skip={int(layout.header)}, columns={columns}, strict_mode=true, max_line_size=16000000)"
            )
        as_json = layout.format == "parquet"  # where a list is no text yet
        chosen = ", ".join(
            f"to_json({identifier(column)}) ->> '$' AS {name}"
            if as_json and name.startswith("also_")
            else f"{identifier(column)}::VARCHAR AS {name}"
            for name, column in names.items()
        )
        offset = 1 if layout.header and layout.format in ("tsv", "csv") else 0
        return f"SELECT row_number() OVER () + {offset} AS number, {chosen} FROM {read}"

    def _split_rows(self, names: dict[str, str]) -> str:
        """Unquoted lines split at tabs (or commas); the last column has the rest of the line."""
        delimiter = "','" if self._layout.format == "csv" else "chr(9)"
        width = len(self._layout.columns)
        parts = f"string_split(line, {delimiter})"
        chosen = []
        for name, column in names.items():
            place = self._layout.columns.index(column) + 1
            value = f"{parts}[{place}]" if place < width else f"array_to_string({parts}[{place}:], {delimiter})"
            chosen.append(f"if(len({parts}) >= {width}, {value}, NULL) AS {name}")
        skipped = "WHERE number > 1" if self._layout.header else ""
        return f"SELECT number, {', '.join(chosen)} FROM ({lines_sql(self._source)}) {skipped}"


def text_tables(paths: Sequence[Path], *, titled: bool = False) -> list[TextTable]:
    """A table for each file, and for each file of these kinds in a folder, in the order of their names.

    Raises:
        UnreadableInput: as ``TextTable``; or a folder holds no such file.
    """
    tables = []
    for path in paths:
        files = [path]
        if path.is_dir():
            files = sorted(file for file in path.iterdir() if file.is_file() and _is_table_name(file.name))
            if not files:
                raise UnreadableInput(
                    f"{path}: no file of texts in it.", f"Expected files named {', '.join(_SUFFIXES)}, also compressed."
                )
        tables += [TextTable(file, titled=titled) for file in files]
    return tables


def _is_table_name(name: str) -> bool:
    lowered = name.lower()
    for suffix in _COMPRESSED:
        lowered = lowered.removesuffix(suffix)
    return not name.startswith(".") and lowered.endswith(_SUFFIXES)


def _layout_of(path: Path) -> _Layout:
    if is_parquet(path):
        return _Layout("parquet", parquet_columns(path), header=True)
    head = read_head(path, _HEAD_BYTES)
    text = decoded_head(head)
    start = text.lstrip()[:1]
    if start == "[" or (start == "{" and "\t" not in text.split("\n", 1)[0].split('"', 1)[0]):
        read = _json_columns if start == "[" else _json_lines_columns
        columns = read(path, text, len(head) == _HEAD_BYTES)
        if len(head) == _HEAD_BYTES and not ({*columns} & {*ID_NAMES} and {*columns} & {*REWRITE_NAMES, *TEXT_NAMES}):
            # The first text is longer than what was looked at, and what is missing comes after it.
            head = read_head(path, _LONG_HEAD_BYTES)
            columns = read(path, decoded_head(head), len(head) == _LONG_HEAD_BYTES)
        return _Layout("json" if start == "[" else "jsonl", columns, header=False)
    lines = [line for line in re.split(r"\r\n|\r|\n", text) if line]
    return _delimited(path, lines, cut=len(head) == _HEAD_BYTES)


def decoded_head(head: bytes) -> str:
    """The beginning of a text file, whichever Unicode it is in."""
    utf16 = head[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
    return head.decode("utf-16" if utf16 else "utf-8-sig", "replace")


def _json_lines_columns(path: Path, text: str, cut: bool) -> tuple[str, ...]:
    """The names in the first lines that are objects; ``cut`` says that the file goes on."""
    names: dict[str, None] = {}
    lines = re.split(r"\r\n|\r|\n", text.lstrip())  # in JSON other line separators are text
    for number, line in enumerate(lines[:100], 1):
        if line.startswith("{"):
            names |= dict.fromkeys(_object_names(line, cut and number == len(lines)))
    if not names:
        raise UnreadableInput(
            f"{path}: no line at its start is a JSON object.", "Expected JSON Lines, an object a line."
        )
    return tuple(names)


def _json_columns(path: Path, text: str, cut: bool) -> tuple[str, ...]:
    """The names in the first object of a list; ``cut`` says that the file goes on."""
    first = text.lstrip()[1:].lstrip()
    names = _object_names(first, cut) if first.startswith("{") else []
    if not names:
        raise UnreadableInput(f"{path}: a JSON list, but not of objects.", "Expected [{id, text}, ...].")
    return tuple(names)


def _object_names(text: str, cut: bool) -> list[str]:
    """The names in an object; as far as the text goes if it is ``cut``, else none of one that is damaged."""
    stream, names = JsonStream(text), []
    try:
        for name in stream.members():
            names.append(name)
            stream.value()
    except (ValueError, RecursionError):
        return names if cut else []
    return names


def _delimited(path: Path, lines: list[str], *, cut: bool) -> _Layout:
    for written_as, delimiter in (("tsv", "\t"), ("csv", ",")):
        columns = tuple(name.strip() for name in next(csv.reader([lines[0]], delimiter=delimiter), []))
        lowered = tuple(name.lower() for name in columns)
        if len(set(lowered)) > 1 and set(lowered) & set(ID_NAMES) and set(lowered) & set(TEXT_NAMES):
            quoted = written_as == "csv" or _is_quoted(lines[1:], delimiter, cut)
            return _Layout("csv" if written_as == "csv" else "tsv", lowered, header=True, quoted=quoted)
    quoted = "\t" in lines[0] and _is_quoted(lines, "\t", cut)
    if quoted or sum("\t" in line for line in lines) > len(lines) // 2:
        return _Layout("tsv", ("id", "text"), header=False, quoted=quoted)
    raise UnreadableInput(
        f'{path}: neither a header with id and text nor lines of id, tab, text: "{shown(lines[0])}".',
        "Expected TSV, CSV with a header, JSON Lines or Parquet.",
    )


def _is_quoted(lines: list[str], delimiter: str, cut: bool) -> bool:
    """Whether quotes around fields belong to the format, as Python's csv module writes them.

    They do if no field that begins with a quote goes on behind its end, and if one needs them: it has a doubled quote,
    runs on into a line that has no delimiter, or is a line's first. A text that merely begins with a quotation, or is
    one, is no sign. ``cut`` says that the last line is not whole.
    """
    needed = False
    for line, following in zip(lines, lines[1:] if cut else [*lines[1:], ""], strict=False):
        for place, field in enumerate(line.split(delimiter)):
            if not field.startswith('"'):
                continue
            if re.fullmatch(r'"(?:[^"]|"")*"', field):
                needed = needed or '""' in field[1:-1] or place == 0
            elif re.match(r'"(?:[^"]|"")*"(?!")', field) or not following or delimiter in following:
                return False
            else:
                needed = True
    return needed

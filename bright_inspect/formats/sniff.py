"""Tells what a file is from its first bytes, whatever it is called, so that a wrong file is named for what it is."""

from __future__ import annotations

import codecs
import json
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from bright_inspect.domain.visible import visible
from bright_inspect.errors import UnreadableInput
from bright_inspect.formats.files import peek, read_head
from bright_inspect.formats.json_shapes import Shape, shape_of
from bright_inspect.formats.json_stream import Pairs, first_value
from bright_inspect.formats.packing import PARQUET_MAGIC, looks_like_cbor_map
from bright_inspect.formats.records import DOC_KEYS, QUERY_KEYS, RANK_KEYS, SCORE_KEYS, first_key

# Most files are told by the first of these; a reranker's first answer may be longer than the others.
_HEADS = (1 << 12, 1 << 16, 1 << 21)
_INTEGER = re.compile(r"[+-]?\d+")
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?|[+-]?(inf(inity)?|nan)", re.IGNORECASE)
_LINES = 200


@dataclass(frozen=True, slots=True)
class Sniffed:
    """``format`` is a name of the registry, or None where the file is no run: then ``instead`` says what it is and
    ``hint`` what to do. ``tag`` is the sixth column of a TREC run. Where not ``sure``, only reading it will tell;
    ``three-columns`` is then one of two formats."""

    format: str | None
    tag: str | None = None
    instead: str = ""
    hint: str = ""
    sure: bool = True


def sniff(path: Path) -> Sniffed:
    """Look at the head of a file.

    Raises:
        UnreadableInput: as ``read_head``.
    """
    magic = peek(path, 64)
    if magic.startswith(PARQUET_MAGIC):
        return _sniff_parquet(path)
    if magic and looks_like_cbor_map(magic):
        return Sniffed("ranx-lz4")
    sniffed = Sniffed(None)
    for size in _HEADS:
        head = read_head(path, size)
        whole = len(head) < size
        sniffed = _sniff_text(_decoded(head), whole)
        if sniffed.sure or whole:
            break
    return sniffed


#: What Git LFS leaves where the file itself was not fetched (git-lfs/git-lfs: docs/spec.md).
_LFS_POINTER = "version https://git-lfs.github.com/spec/"


def _sniff_parquet(path: Path) -> Sniffed:
    """By the names of the columns, which stand at the end of the file."""
    import polars

    try:
        names = [name.lower() for name in polars.read_parquet_schema(path)]
    except (polars.exceptions.PolarsError, OSError):
        # Damaged: the reader says how.
        return Sniffed("parquet", sure=False)
    if first_key(QUERY_KEYS, names) and first_key(DOC_KEYS, names) and first_key((*SCORE_KEYS, *RANK_KEYS), names):
        return Sniffed("parquet")
    return Sniffed(
        None, None, f"a Parquet table with the columns {', '.join(names[:8])}",
        "A run has a query, a document, and a score or rank column (query_id, doc_id, score).",
    )  # fmt: skip


def _decoded(head: bytes) -> str:
    if head[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE):
        return head.decode("utf-16", "replace")
    return head.decode("utf-8-sig", "replace")


def _sniff_text(text: str, whole: bool) -> Sniffed:
    pieces = re.split(r"[\r\n]+", text)
    # The last line may be cut.
    lines = [line for line in (pieces if whole or len(pieces) == 1 else pieces[:-1]) if line.strip()][:_LINES]
    if not lines:
        return Sniffed("trec", sure=False)
    if lines[0].startswith(_LFS_POINTER):
        return Sniffed(None, None, "a Git LFS pointer in place of the file", "Fetch the file itself: git lfs pull.")
    if lines[0].lstrip().lower().startswith(("<!doctype html", "<html")):
        return Sniffed(None, None, "a web page", "It may be the error page of a download that failed: fetch it again.")
    if text.lstrip()[:1] in ("{", "[") and not _is_ranked(fields_of(lines[0])):
        return _sniff_json(text, lines, whole)
    header = header_of(lines[0])
    if header:
        return _sniff_header(header, lines)
    if _json_lines(lines) * 2 > len(lines):
        return _sniff_json(text, lines, whole)
    kinds = [_line_kind(line) for line in lines]
    # One odd line does not make a file something else: the kind of most lines counts, of equally many the first.
    counts = Counter(kind for kind, _ in kinds if kind != "unknown")
    most = counts.most_common(1)[0][0] if counts else "unknown"
    if most == "trec":
        # Six words of prose are six columns too; a line with rank and score in their places is none.
        sure = any(_is_ranked(fields_of(line)) for line in lines)
        return Sniffed("trec", next(tag for kind, tag in kinds if kind == most), sure=sure)
    if most == "qrels":
        return Sniffed(None, None, "judgments (4 columns)", "Give judgments with --qrels.")
    if most == "three":
        return _sniff_three(lines)
    if most == "metrics":
        return Sniffed(None, None, "metrics, as trec_eval or ir_measures prints them")
    # The TREC reader says which column is missing, or that there is nothing like a run.
    return Sniffed("trec", sure=False)


def _sniff_json(text: str, lines: Sequence[str], whole: bool) -> Sniffed:
    objects = [value for line in lines if isinstance(value := _parsed(line), Pairs)]
    shape: Shape | None = None
    if len(objects) > 1 or (len(lines) > 1 and text.lstrip()[:1] == "{" and objects and len(objects) * 2 > len(lines)):
        shape = next((found for value in objects if (found := shape_of(value)).format), shape_of(objects[0]))
        if shape.format in (None, "rank-llm", "json-lines", "id-lists"):
            return _sniffed(shape)
    parsed = first_value(text, whole)
    if parsed is None:
        # Cut or damaged: the reader of what it would have been says where.
        parsed = first_value(text, False) if whole else None
        begun = _sniffed(shape_of(parsed[0])) if parsed else None
        return begun if begun and begun.format else Sniffed("score-json", sure=False)
    value, complete = parsed
    sniffed = _sniffed(shape_of(value))
    if sniffed.format is None and not complete and (isinstance(value, Pairs) or len(value) < 2):
        # The first entry goes on: what tells its shape may still come.
        return replace(sniffed, sure=False)
    return sniffed


def _sniffed(shape: Shape) -> Sniffed:
    return Sniffed(shape.format, None, shape.instead, shape.hint, shape.sure)


def _parsed(line: str) -> object:
    try:
        return json.loads(line, object_pairs_hook=Pairs)
    except (ValueError, RecursionError):
        return None


def _json_lines(lines: Sequence[str]) -> int:
    return sum(line.lstrip()[:1] == "{" and isinstance(_parsed(line), Pairs) for line in lines)


@dataclass(frozen=True, slots=True)
class Header:
    """The named columns of a table: what separates them, how many there are, and where the ones we need are."""

    delimiter: str
    columns: int
    query: int
    doc: int
    score: int | None
    rank: int | None


def header_of(line: str) -> Header | None:
    """The line as the header of a table of results, or None if it does not name a query and a document column."""
    for delimiter in "\t,;|":
        names = [name.strip().strip('"').lower() for name in line.split(delimiter)]
        query, doc = first_key(QUERY_KEYS, names), first_key(DOC_KEYS, names)
        if len(names) > 1 and query and doc:
            score, rank = first_key(SCORE_KEYS, names), first_key(RANK_KEYS, names)
            return Header(
                delimiter, len(names), names.index(query), names.index(doc),
                names.index(score) if score else None, names.index(rank) if rank else None,
            )  # fmt: skip
    return None


def _sniff_header(header: Header, lines: Sequence[str]) -> Sniffed:
    names = [name.strip().strip('"').lower() for name in lines[0].split(header.delimiter)]
    if names == ["query-id", "corpus-id", "score"]:
        # BEIR's judgments have this very header (beir/datasets/data_loader.py), with whole numbers as grades.
        rest = [line.split(header.delimiter)[-1].strip() for line in lines[1:]]
        if all(re.fullmatch(r"-?\d{1,2}", value) for value in rest):
            return Sniffed(
                None, None, "judgments with BEIR's header (query-id, corpus-id, score)",
                "Give judgments with --qrels; if it is a run, say --format table.",
            )  # fmt: skip
    if header.score is None and header.rank is None:
        return Sniffed(
            None, None, f"a table without a score or rank column ({', '.join(names)})",
            "Name the column score (or rank).",
        )  # fmt: skip
    return Sniffed("table")


def fields_of(line: str) -> list[str]:
    """The columns of a line: by tabs if there are two or more, else by blanks."""
    return [field.strip() for field in line.strip().split("\t")] if line.count("\t") >= 2 else line.split()


def _is_ranked(fields: list[str]) -> bool:
    """Whether these are the columns of a TREC run, with rank and score where they belong."""
    return len(fields) >= 6 and bool(_INTEGER.fullmatch(fields[-3]) and _NUMBER.fullmatch(fields[-2]))


def _line_kind(line: str) -> tuple[str, str | None]:
    fields = fields_of(line)
    if _is_ranked(fields):
        return "trec", fields[-1]
    if line.startswith("#"):
        return "unknown", None
    if len(fields) == 6 or (len(fields) > 6 and _INTEGER.fullmatch(fields[-3])):
        return "trec", fields[-1]
    if len(fields) == 4 and _INTEGER.fullmatch(fields[3]):
        return "qrels", None
    if len(fields) == 3 and fields[1] == "all":
        return "metrics", None
    # Tevatron and Pyserini separate by tabs, so that what is left of an id with blanks is no column.
    if (len(fields) == 3 or (line.count("\t") < 2 and len(fields) == 4)) and _NUMBER.fullmatch(fields[-1]):
        return "three", None
    return ("five" if len(fields) == 5 else "unknown"), None


THREE_COLUMNS = "3 columns that may be ranks, scores or judgments"
THREE_HINT = (
    "Say --format msmarco (query, document, rank), --format tevatron (query, document, score), or give judgments with "
    "--qrels."
)


def _sniff_three(lines: Sequence[str]) -> Sniffed:
    kind = third_column([(fields[0], fields[-1]) for line in lines if len(fields := fields_of(line)) >= 3])
    if kind is None:
        return Sniffed("three-columns", None, THREE_COLUMNS, THREE_HINT, sure=False)
    return Sniffed(kind)


def third_column(rows: Sequence[tuple[str, str]]) -> str | None:
    """What the third of three columns is, from (query, text) in file order: ``msmarco`` where it counts 1..n for each
    query, ``tevatron`` where it is a score, None where it may be either.

    Pyserini writes ranks without scores, Tevatron scores without ranks, in the same three columns (FORMATS E.3, E.4).
    """
    last: dict[str, int] = {}
    counting = longer = fractions = numbers = falling = rising = 0
    for query_id, text in rows:
        if not _NUMBER.fullmatch(text):
            continue
        numbers += 1
        if not _INTEGER.fullmatch(text) or len(text) > 10:
            fractions += 1
            continue
        value, before = int(text), last.get(query_id)
        counting += value == (before or 0) + 1
        longer += before is not None
        falling += before is not None and value < before
        rising += before is not None and value > before
        last[query_id] = value
    if numbers and longer and counting >= 0.95 * numbers:
        return "msmarco"
    if fractions:
        return "tevatron"
    return "tevatron" if falling and not rising else None


def refuse(path: Path, sniffed: Sniffed) -> UnreadableInput:
    """The error for a file that is no run."""
    return UnreadableInput(f"{path}: {visible(sniffed.instead)}, not a run.", sniffed.hint)

"""Tells what a file is from its first bytes, so that a wrong file is named for what it is."""

from __future__ import annotations

import codecs
import re
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from bright_inspect.formats.files import read_head

FileKind = Literal["json", "trec_run", "trec_qrels", "three_columns", "five_columns", "unknown"]
_INTEGER = re.compile(r"[+-]?\d+")
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")


@dataclass(frozen=True, slots=True)
class Sniffed:
    """``kind`` by the lines at the start; ``tag`` is the sixth column of a TREC run."""

    kind: FileKind
    tag: str | None = None


def sniff(path: Path) -> Sniffed:
    """Look at the head of a file.

    Raises:
        UnreadableInput: as ``read_head``.
    """
    head = read_head(path)
    if head[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE):
        text = head.decode("utf-16", "replace")
    else:
        text = head.decode("utf-8-sig", "replace")
    lines = [line for line in re.split(r"[\r\n]+", text) if line.strip()]
    if text.lstrip()[:1] in ("{", "[") and not _is_ranked(_fields(lines[0])):
        return Sniffed("json")
    kinds = [_line_kind(line) for line in lines[:200]]
    # One odd line does not make a file something else: the kind of most lines counts, of equally many the first.
    counts = Counter(kind.kind for kind in kinds if kind.kind != "unknown")
    if not counts:
        return Sniffed("unknown")
    most = counts.most_common(1)[0][0]
    return next(kind for kind in kinds if kind.kind == most)


def _fields(line: str) -> list[str]:
    return [field.strip() for field in line.strip().split("\t")] if line.count("\t") >= 2 else line.split()


def _is_ranked(fields: list[str]) -> bool:
    """Whether these are the columns of a TREC run, with rank and score where they belong."""
    return len(fields) >= 6 and bool(_INTEGER.fullmatch(fields[-3]) and _NUMBER.fullmatch(fields[-2]))


def _line_kind(line: str) -> Sniffed:
    fields = _fields(line)
    if _is_ranked(fields):
        return Sniffed("trec_run", fields[-1])
    if line.startswith("#"):
        return Sniffed("unknown")
    if len(fields) == 6 or (len(fields) > 6 and _INTEGER.fullmatch(fields[-3])):
        return Sniffed("trec_run", fields[-1])
    if len(fields) == 5:
        return Sniffed("five_columns")
    if len(fields) == 4 and _INTEGER.fullmatch(fields[3]):
        return Sniffed("trec_qrels")
    if len(fields) == 3 and _NUMBER.fullmatch(fields[2]):
        return Sniffed("three_columns")
    return Sniffed("unknown")

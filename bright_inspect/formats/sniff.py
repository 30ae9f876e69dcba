"""Tells what a file is from its first bytes, so that a wrong file is named for what it is."""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from bright_inspect.formats.files import read_head

FileKind = Literal["json", "trec_run", "trec_qrels", "three_columns", "five_columns", "unknown"]
_INTEGER = re.compile(r"[+-]?\d+")
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")


@dataclass(frozen=True, slots=True)
class Sniffed:
    """``kind`` by the first telling line; ``tag`` is the sixth column of a TREC run."""

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
    if text.lstrip()[:1] in ("{", "["):
        return Sniffed("json")
    lines = [line for line in re.split(r"[\r\n]+", text) if line.strip()]
    for line in lines[:200]:
        if not line.startswith("#"):
            kind = _line_kind(line)
            if kind.kind != "unknown":
                return kind
    return Sniffed("unknown")


def _line_kind(line: str) -> Sniffed:
    fields = line.strip().split("\t") if line.count("\t") >= 2 else line.split()
    if len(fields) >= 6 and _INTEGER.fullmatch(fields[-3].strip()):
        return Sniffed("trec_run", fields[-1].strip())
    if len(fields) == 6:
        return Sniffed("trec_run", fields[-1].strip())
    if len(fields) == 5:
        return Sniffed("five_columns")
    if len(fields) == 4 and _INTEGER.fullmatch(fields[3].strip()):
        return Sniffed("trec_qrels")
    if len(fields) == 3 and _NUMBER.fullmatch(fields[2].strip()):
        return Sniffed("three_columns")
    return Sniffed("unknown")

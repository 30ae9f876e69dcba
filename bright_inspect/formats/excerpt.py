"""The lines of a file around one of them, to be read beside what was found odd there.

Reads from the start up to the last line wanted, in blocks, and keeps only the lines wanted: files have millions.
"""

from __future__ import annotations

import codecs
import io
import zlib
from collections.abc import Callable
from pathlib import Path

from bright_inspect.errors import UnreadableInput
from bright_inspect.formats.files import open_decompressed

_BLOCK = 1 << 20
#: Of a longer line only the beginning is kept.
MOST_CHARACTERS = 2_000
_MARKS = {codecs.BOM_UTF16_LE: "utf-16-le", codecs.BOM_UTF16_BE: "utf-16-be"}


def _do_nothing() -> None:
    """For callers that never stop it."""


def lines_around(
    path: Path, line: int, around: int = 3, check: Callable[[], None] = _do_nothing
) -> list[tuple[int, str]]:
    """``line`` (1-based) and up to ``around`` lines before and after it, as (number, text without the line end).

    Any of the three line ends counts, gzip is unpacked, undecodable bytes are spelled ``\\xNN``; a long line is cut to
    MOST_CHARACTERS. Empty if the file has fewer lines. ``check`` is called for every block and may raise to stop.

    Raises:
        UnreadableInput: the file is absent by now, not readable or damaged.
    """
    first, last = max(1, line - around), line + around
    found: list[tuple[int, str]] = []
    kept = ""  # the beginning of the line that the present block continues
    number = 1
    try:
        with open_decompressed(path) as file:
            start = file.read(3)
            encoding = _MARKS.get(start[:2], "utf-8")
            start = start[2:] if start[:2] in _MARKS else start.removeprefix(codecs.BOM_UTF8)
            decoder = codecs.getincrementaldecoder(encoding)("backslashreplace")
            newlines = io.IncrementalNewlineDecoder(None, translate=True)
            final = False
            while not final and number <= last:
                check()
                block = file.read(_BLOCK)
                final = not block
                text = newlines.decode(decoder.decode(start + block, final=final), final=final)
                start = b""
                ends = text.count("\n")
                if number + ends >= first:
                    kept, number = _keep(kept, text, number, (first, last), found)
                else:
                    number += ends
    except (EOFError, OSError, zlib.error) as error:
        raise UnreadableInput(f"{path}: cannot be read ({error}).", "Was it changed meanwhile?") from None
    if kept and first <= number <= last:
        found.append((number, kept))
    return found if found and found[-1][0] >= line else []


def _keep(kept: str, text: str, number: int, wanted: tuple[int, int], found: list[tuple[int, str]]) -> tuple[str, int]:
    """Add a block's wanted lines to ``found``; returns the beginning of the line that it ends in, and its number."""
    first, last = wanted
    place = 0
    while number < first:
        place = text.find("\n", place) + 1
        number += 1
    while number <= last and (end := text.find("\n", place)) >= 0:
        found.append((number, (kept + text[place : min(end, place + MOST_CHARACTERS)])[:MOST_CHARACTERS]))
        kept, place, number = "", end + 1, number + 1
    if number > last:
        return "", number
    return (kept + text[place : place + MOST_CHARACTERS])[:MOST_CHARACTERS], number

"""Files as whole lines for DuckDB, and the numbers of lines for messages about them."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from bright_inspect.db import path_literal

#: Longest line that is read; DuckDB's own default is 2 MB.
MAX_LINE_BYTES = 16_000_000
# No line has a second column, and no line is NULL: these strings occur in no file.
_NO_DELIMITER = "\x1f\x1e\x1f\x1e"
_NO_NULL = "\x1e\x1f\x1e\x1f"


def lines_sql(source: Path) -> str:
    """``SELECT number, line`` over the lines that are not empty; ``number`` counts these from 1."""
    return f"""
        SELECT row_number() OVER () AS number, line
        FROM read_csv({path_literal(source)}, delim='{_NO_DELIMITER}', nullstr='{_NO_NULL}', auto_detect=false,
                      columns={{'line': 'VARCHAR'}}, header=false, quote='', escape='', comment='', strict_mode=false,
                      max_line_size={MAX_LINE_BYTES}, buffer_size={2 * MAX_LINE_BYTES})"""


def line_numbers(source: Path, wanted: Iterable[int]) -> dict[int, int]:
    """The number in the file of the n-th line that is not empty, for each n wanted; all from 1."""
    missing = set(wanted)
    numbers: dict[int, int] = {}
    count = 0
    with source.open("rb") as file:
        for number, line in enumerate(file, 1):
            if not missing:
                break
            if line != b"\n":
                count += 1
                if count in missing:
                    numbers[count] = number
                    missing.discard(count)
    return numbers


def shown(line: str, length: int = 80) -> str:
    """A line as messages show it: cut, and escaped unless all of it is printable."""
    cut = line if len(line) <= length else line[: length - 1] + "…"
    return cut if cut.isprintable() else ascii(cut)

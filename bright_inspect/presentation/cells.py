"""What a screen shows, before any terminal is involved: spans of text with the name of a style.

A style name says what the text means ("gold", "gain", "run2"); the terminal program decides how that looks in the
theme at hand. Texts are plain data: nothing here or above ever parses them as markup.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

#: Every style name that presentation may use; the themes must know all of them.
STYLE_NAMES = (
    "",
    "dim",
    "strong",
    "accent",
    "gold",
    "gain",
    "loss",
    "match",
    "error",
    "warning",
    "struck",
    "added",
    "removed",
    "run1",
    "run2",
    "run3",
    "run4",
)


def run_style(run_id: int) -> str:
    """A run's own colour, the same everywhere."""
    return f"run{run_id % 4 + 1}"


@dataclass(frozen=True, slots=True)
class Span:
    """A piece of text in one style; ``style`` is one of STYLE_NAMES."""

    text: str
    style: str = ""


Cell = tuple[Span, ...]


def column_title(text: str) -> Cell:
    """The title of a column that stands back."""
    return (Span(text, "dim"),)


@dataclass(frozen=True, slots=True)
class Column:
    """A table column. ``width`` is in terminal cells; with ``flex`` > 0 it is the least width, and the room left is
    shared in proportion to ``flex``. ``elide`` says where a text that does not fit loses its characters."""

    key: str
    title: Cell
    width: int
    flex: int = 0
    align: Literal["left", "right"] = "left"
    elide: Literal["end", "middle"] = "end"


@dataclass(frozen=True, slots=True)
class TableRow:
    """One line of a table; ``key`` names what the row is about (a query, a document) and may repeat."""

    key: str
    cells: tuple[Cell, ...]

"""From spans of text to lines of exactly so many terminal cells: measuring, eliding, padding, columns and wrapping.

Pure functions. Widths come from Rich, as Textual's compositor measures by the same functions. Wide characters, emoji
and combining marks are never cut in two, since half of one shifts everything to its right.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Sequence
from itertools import accumulate, groupby
from operator import attrgetter
from typing import Literal

from rich.cells import cell_len, get_character_cell_size, split_graphemes
from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from bright_inspect.domain.visible import visible
from bright_inspect.presentation.cells import Cell, Column, Span

ELLIPSIS = "…"
COLUMN_GAP = 1
TAB_WIDTH = 4

#: Characters that are certainly one cell wide each and joined to nothing: a text without others is measured by ``len``.
_NOT_SIMPLE = re.compile(
    "[^\x20-\x7e\xa0-\xac\xae-\u02ff\u0370-\u0482\u2010-\u2027\u2030-\u205e\u2190-\u22ff\u2500-\u25fc]"
)

#: No text of a cell is looked at beyond this many characters for each terminal cell it may fill.
_CHARACTERS_PER_CELL = 8

#: A stretch to be measured is taken this many lines at a time.
_MEASURED_LINES = 8

Painter = Callable[[str], Style]
"""Gives the Rich style of a style name."""


# --- measuring and slicing -------------------------------------------------------------------------------------------


def is_simple(text: str, start: int = 0, end: int | None = None) -> bool:
    """Say whether every character between two offsets is one cell wide and shown as it is."""
    found = _NOT_SIMPLE.search(text, start) if end is None else _NOT_SIMPLE.search(text, start, end)
    return found is None


def cell_width(cell: Cell) -> int:
    """Count the terminal cells the spans of a cell take when shown."""
    return cell_len(visible("".join(span.text for span in cell)))


def _grapheme_starts(shown: str) -> list[int]:
    return [start for start, _, _ in split_graphemes(shown)[0]]


def _fitting_prefix(shown: str, width: int) -> int:
    """Return how many leading characters fit in ``width`` cells."""
    if is_simple(shown, 0, width + 1):  # with the character after: it could be a mark
        return min(width, len(shown))
    used = 0
    for start, _, cells in split_graphemes(shown)[0]:
        used += cells
        if used > width:
            return start
    return len(shown)


def _fitting_suffix(shown: str, width: int) -> int:
    """Return where the trailing characters that fit in ``width`` cells begin."""
    if is_simple(shown):
        return max(0, len(shown) - width)
    used = 0
    for _start, end, cells in reversed(split_graphemes(shown)[0]):
        used += cells
        if used > width:
            return end
    return 0


def _slice_spans(shown: str, cell: Cell, start: int, end: int) -> list[Span]:
    """Cut the characters ``start`` to ``end`` of a cell's shown text back into its spans.

    A span boundary inside a grapheme moves to its end: a mark must not be measured apart from its letter.
    """
    boundaries = list(accumulate(len(span.text) for span in cell))
    if len(cell) > 1 and not is_simple(shown):
        starts = [*_grapheme_starts(shown), len(shown)]
        boundaries = [starts[min(bisect_right(starts, edge - 1), len(starts) - 1)] for edge in boundaries]
    pieces: list[Span] = []
    left = 0
    for span, right in zip(cell, boundaries, strict=True):
        if text := shown[max(left, start) : min(right, end)]:
            pieces.append(Span(text, span.style))
        left = right
    return pieces


def _bounded(cell: Cell, width: int, elide: Literal["end", "middle"]) -> tuple[Cell, bool]:
    """Leave out what could never be shown of a very long cell, so that a text of 200,000 characters costs nothing.

    Returns the cell and whether anything was left out.
    """
    limit = _CHARACTERS_PER_CELL * (width + 1)
    length = sum(len(span.text) for span in cell)
    if length <= limit:
        return cell, False
    if elide == "end":
        return _cut(cell, 0, limit), True
    return (*_cut(cell, 0, limit // 2), *_cut(cell, length - limit // 2, length)), True


def _cut(cell: Cell, start: int, end: int) -> Cell:
    """Cut characters ``start`` to ``end`` out of a cell, without regard to graphemes."""
    pieces: list[Span] = []
    left = 0
    for span in cell:
        if text := span.text[max(0, start - left) : max(0, end - left)]:
            pieces.append(Span(text, span.style))
        left += len(span.text)
    return tuple(pieces)


def _padded(pieces: list[Span], missing: int, align: Literal["left", "right"]) -> Cell:
    """Add the missing cells as unstyled spaces: padding is neither underlined nor struck."""
    if missing > 0:
        padding = Span(" " * missing)
        pieces = [padding, *pieces] if align == "right" else [*pieces, padding]
    return tuple(pieces)


def fit(
    cell: Cell, width: int, *, align: Literal["left", "right"] = "left", elide: Literal["end", "middle"] = "end"
) -> Cell:
    """Return the cell as visible text of exactly ``width`` terminal cells: padded, or elided with "…"."""
    if width <= 0:
        return ()
    if not cell:
        return (Span(" " * width),)
    if len(cell) == 1 and len(cell[0].text) <= width and is_simple(cell[0].text):  # what most cells are
        return _padded([cell[0]], width - len(cell[0].text), align)
    bounded, cut = _bounded(cell, width, elide)
    shown = visible("".join(span.text for span in bounded))
    used = cell_len(shown)
    if used <= width and not cut:
        pieces = _slice_spans(shown, bounded, 0, len(shown))
    else:
        tail_width = (width - 1) // 2 if elide == "middle" else 0
        head_end = _fitting_prefix(shown, width - 1 - tail_width)
        tail_start = max(head_end, _fitting_suffix(shown, tail_width)) if tail_width else len(shown)
        head = _slice_spans(shown, bounded, 0, head_end)
        tail = _slice_spans(shown, bounded, tail_start, len(shown))
        mark = Span(ELLIPSIS, head[-1].style if head else tail[0].style if tail else "")
        pieces = [*head, mark, *tail]
        used = 1 + cell_len(shown[:head_end]) + cell_len(shown[tail_start:])
    return _padded(pieces, width - used, align)


# --- columns ---------------------------------------------------------------------------------------------------------


def layout_columns(columns: Sequence[Column], available_width: int) -> list[int]:
    """Share the width of a line, less one cell between neighbours, among its columns.

    Every column gets its ``width``; what is left goes to the flexible ones in proportion to ``flex``, to the last cell.
    Where even that does not fit, the columns at the right are clipped, down to nothing.
    """
    gaps = COLUMN_GAP * max(0, len(columns) - 1)
    spare = available_width - gaps - sum(column.width for column in columns)
    shares = sum(column.flex for column in columns)
    widths: list[int] = []
    left = 0
    flex_before = 0
    for column in columns:
        width = column.width
        if spare > 0 and shares:
            # Differences of running totals: the rounded shares add up to exactly what is spare.
            flex_after = flex_before + column.flex
            width += spare * flex_after // shares - spare * flex_before // shares
            flex_before = flex_after
        widths.append(max(0, min(width, available_width - left)))
        left += width + COLUMN_GAP
    return widths


def column_at(widths: Sequence[int], x: int) -> int | None:
    """Return which column the cell ``x`` of a line belongs to, or None for a gap or the room at the right."""
    left = 0
    for index, width in enumerate(widths):
        if left <= x < left + width:
            return index
        left += width + COLUMN_GAP
    return None


def row_cells(cells: Sequence[Cell], columns: Sequence[Column], widths: Sequence[int], available_width: int) -> Cell:
    """Lay the cells of a row out as one cell of exactly ``available_width``; cells that are missing are blank."""
    line: list[Span] = []
    used = 0
    for index, (column, width) in enumerate(zip(columns, widths, strict=True)):
        if width <= 0:
            break
        if index:
            line.append(Span(" " * COLUMN_GAP))
            used += COLUMN_GAP
        cell = cells[index] if index < len(cells) else ()
        line.extend(fit(cell, width, align=column.align, elide=column.elide))
        used += width
    if used < available_width:
        line.append(Span(" " * (available_width - used)))
    return tuple(line)


def strip_of(cell: Cell, paint: Painter, width: int | None = None) -> Strip:
    """Make the strip of spans that are visible text already, as ``fit`` and ``row_cells`` return them.

    Neighbours of one style become one segment: Textual's work on a line grows with its segments.
    """
    segments = [
        Segment("".join(span.text for span in spans), paint(style))
        for style, spans in groupby(cell, key=attrgetter("style"))
    ]
    return Strip([segment for segment in segments if segment.text], width)


def centred(cell: Cell, width: int) -> Cell:
    """Return the cell in the middle of ``width`` terminal cells, elided at the end if it is wider."""
    before = max(0, width - cell_width(cell)) // 2
    padding = (Span(" " * before),) if before else ()
    return (*padding, *fit(cell, width - before))


# --- wrapping --------------------------------------------------------------------------------------------------------


class _CharacterWidths(dict[str, int]):
    """Remembers the width of every character seen; a dict lookup per character is what makes wrapping fast."""

    def __missing__(self, character: str) -> int:
        width = get_character_cell_size(character)
        self[character] = width
        return width


_character_widths = _CharacterWidths()


def _paragraph_widths(paragraph: str) -> list[int]:
    """Return the width each character adds to a line, so that the sum over any stretch is at least its true width."""
    shown = visible(paragraph)
    widths = list(map(_character_widths.__getitem__, shown))
    if "\t" in paragraph:
        for match in re.finditer("\t", paragraph):
            widths[match.start()] = TAB_WIDTH
    if "\ufe0f" in shown or "\u200d" in shown:
        for match in re.finditer(r"(.)\ufe0f|\u200d(.)", shown):
            if match[1]:  # variation selector 16 makes some narrow signs wide
                widths[match.start() + 1] = cell_len(match[0]) - cell_len(match[1])
            else:  # what a joiner joins takes no room of its own
                widths[match.start() + 1] = 0
    return widths


def _wrap_simple(text: str, start: int, end: int, width: int, lines: list[tuple[int, int]], until: int) -> int:
    """Wrap one-cell characters by looking for the last space in each slice, as far as whole lines end before ``until``;
    returns where the next line begins, ``end`` when the paragraph is done."""
    rfind = text.rfind
    while end - start > width:
        if start + width >= until:
            return start
        cut = rfind(" ", start, start + width + 1)
        if cut <= start or text[start:cut].isspace():  # one word fills the line, or only its indentation would be left
            lines.append((start, start + width))
            start += width
            continue
        lines.append((start, cut))
        start = cut + 1
        while start < end and text[start] == " ":
            start += 1
    if until < end:
        return start
    if start < end:
        lines.append((start, end))
    return end


def _wrap_paragraph(text: str, start: int, end: int, width: int, lines: list[tuple[int, int]]) -> None:
    """Wrap a paragraph, measuring only around characters that need it: a 200,000-character line may hold one."""
    while start < end:
        odd = _NOT_SIMPLE.search(text, start, end)
        start = _wrap_simple(text, start, end, width, lines, odd.start() if odd else end)
        if odd is None or start >= end:
            return
        stop = min(end, start + _MEASURED_LINES * width + _CHARACTERS_PER_CELL)
        measured: list[tuple[int, int]] = []
        _wrap_measured(text, start, stop, width, measured)
        if stop < end and len(measured) < 2:  # so many characters without width that no line was filled
            stop = end
            measured.clear()
            _wrap_measured(text, start, stop, width, measured)
        if stop == end:
            lines += measured
            return
        # The last line was cut short by the end of what was measured.
        lines += measured[:-1]
        start = measured[-1][0]


def _last_break(paragraph: str, widths: list[int], start: int, limit: int) -> int:
    """Return where the line ends that begins at ``start`` and has room up to ``limit``: after a space, or beside a
    wide character, since CJK text has no spaces; at the limit when there is neither."""
    for at in range(limit, start, -1):
        if paragraph[at] in " \t\u3000" and not paragraph[start:at].isspace():
            return at
        if widths[at] and (widths[at] == 2 or widths[at - 1] == 2):
            return at
    return limit


def _wrap_measured(text: str, start: int, end: int, width: int, lines: list[tuple[int, int]]) -> None:
    """Wrap a paragraph with characters of other widths than one, by the running total of its widths."""
    paragraph = text[start:end]
    widths = _paragraph_widths(paragraph)
    totals = list(accumulate(widths, initial=0))
    length = len(paragraph)
    begin = 0
    while begin < length:
        limit = bisect_right(totals, totals[begin] + width, begin + 1) - 1
        if limit >= length:
            lines.append((start + begin, start + length))
            return
        # A sign and the selector that widens it stay together; and every line takes something, however narrow it is.
        if paragraph[limit] == "\ufe0f" and limit - 1 > begin:
            limit -= 1
        stop = _last_break(paragraph, widths, begin, limit) if limit > begin else begin
        stop = max(stop, begin + 1)
        lines.append((start + begin, start + stop))
        begin = stop
        while begin < length and paragraph[begin] == " ":
            begin += 1


def wrap(text: str, width: int) -> list[tuple[int, int]]:
    """Wrap a text at word boundaries into lines of at most ``width`` cells, given as (start, end) offsets into it.

    Line feeds begin a new line, also after a carriage return. Spaces at a break belong to no line.
    """
    width = max(1, width)
    lines: list[tuple[int, int]] = []
    start = 0
    length = len(text)
    all_simple = is_simple(text)
    while start <= length:
        found = -1 if all_simple else text.find("\n", start)
        stop = found if found >= 0 else length
        end = stop - 1 if stop > start and text[stop - 1] == "\r" and found >= 0 else stop
        before = len(lines)
        if all_simple:
            _wrap_simple(text, start, end, width, lines, end)
        else:
            _wrap_paragraph(text, start, end, width, lines)
        if len(lines) == before:
            lines.append((start, end))
        start = stop + 1
    return lines


def wrap_cell(cell: Cell, width: int) -> list[Cell]:
    """Wrap a cell, keeping its styles: for a message that may be longer than the place it is shown in."""
    text = "".join(span.text for span in cell)
    return [_cut(cell, start, end) for start, end in wrap(text, width)]

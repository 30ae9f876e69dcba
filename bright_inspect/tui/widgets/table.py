"""A table drawn line by line: any number of rows costs what is on the screen, and a refill costs no layout of cells.

Textual's ``DataTable`` measures every cell it is given; two of them take ten times a key press's budget to refill.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, NamedTuple, Protocol

from rich.style import Style
from textual import events
from textual.binding import Binding, BindingType
from textual.cache import LRUCache
from textual.geometry import Region
from textual.message import Message
from textual.reactive import reactive
from textual.scroll_view import ScrollView
from textual.strip import Strip

from bright_inspect.presentation.cells import Cell, Column, Span, TableRow
from bright_inspect.tui.strips import centred, column_at, layout_columns, row_cells, strip_of, wrap_cell
from bright_inspect.tui.themes import TERMINAL, RowState, row_style, style_for, without_colour
from bright_inspect.tui.widgets.scrolling import set_contents_height

#: One column at either side; the left one shows what the line is, so that colour is not needed to see it.
SIDE_PADDING = 1
_SIDE_MARKS: dict[RowState, Span] = {
    "cursor": Span("▌", "accent"),
    "cursor-blurred": Span("▌", "dim"),
    "marked": Span("▎", "accent"),
}
_NO_MARK = Span(" " * SIDE_PADDING)
_CACHED_LINES = 512


class Look(NamedTuple):
    """What all lines of one painting have in common. Textual works each of these out anew whenever it is asked."""

    width: int
    base: Style
    theme: str
    colourless: bool


class Rows(Protocol):
    """Rows that may be made only when they are looked at. A list or tuple of ``TableRow`` is one."""

    def __len__(self) -> int: ...

    def __getitem__(self, index: int, /) -> TableRow: ...


class LineTable(ScrollView, can_focus=True, inherit_bindings=False):
    """A list of rows in columns, with a cursor, a fixed header line and rows that light up by key.

    It has no border; the screen adds one where panes meet. Columns always fit the width, so nothing scrolls sideways.
    """

    ALLOW_SELECT = False

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,k", "move(-1)", "Up", show=False, id="table-up"),
        Binding("down,j", "move(1)", "Down", show=False, id="table-down"),
        Binding("pageup", "move_page(-1)", "Page up", show=False, id="table-page-up"),
        Binding("pagedown", "move_page(1)", "Page down", show=False, id="table-page-down"),
        Binding("home,g", "move_first", "First", show=False, id="table-first"),
        Binding("end,G", "move_last", "Last", show=False, id="table-last"),
        Binding("enter", "choose", "Choose", show=False, id="table-choose"),
    ]

    DEFAULT_CSS = """
    LineTable {
        background: $background;
        color: $foreground;
        overflow-x: hidden;
        overflow-y: scroll;
        scrollbar-size-vertical: 1;
    }
    """

    cursor: reactive[int] = reactive(0, repaint=False)
    """Index of the row under the cursor, kept within the rows. Setting it moves the cursor without a message."""

    class RowMessage(Message):
        """Something about the row at ``index``, whose key is ``key``."""

        def __init__(self, table: LineTable, index: int, key: str) -> None:
            self.table = table
            self.index = index
            self.key = key
            super().__init__()

        @property
        def control(self) -> LineTable:
            """The table, so that ``@on(…, "#id")`` can select by it."""
            return self.table

    class RowHighlighted(RowMessage):
        """The row under the cursor is another one: the user moved, or ``set_rows`` brought it."""

    class RowChosen(RowMessage):
        """The user pressed Enter on a row or double-clicked it."""

    class HeaderClicked(Message):
        """The user clicked a column's title."""

        def __init__(self, table: LineTable, column_key: str) -> None:
            self.table = table
            self.column_key = column_key
            super().__init__()

        @property
        def control(self) -> LineTable:
            """The table, so that ``@on(…, "#id")`` can select by it."""
            return self.table

    def __init__(
        self,
        *,
        show_header: bool = True,
        empty_message: Cell | str = "",
        name: str | None = None,
        id: str | None = None,  # noqa: A002  (Textual's name for it)
        classes: str | None = None,
    ) -> None:
        super().__init__(name=name, id=id, classes=classes)
        self._header_height = int(show_header)
        self._columns: tuple[Column, ...] = ()
        self._rows: Rows = ()
        self._row_count = 0
        self._marked_keys: frozenset[str] = frozenset()
        self._empty_message = empty_message
        self._strips: LRUCache[tuple[object, ...], Strip] = LRUCache(_CACHED_LINES)
        self._widths: tuple[int, list[int]] = (-1, [])
        self._painting: Look | None = None

    # --- what it shows ---------------------------------------------------------------------------------------------

    @property
    def columns(self) -> tuple[Column, ...]:
        """The columns as last set."""
        return self._columns

    @property
    def rows(self) -> Rows:
        """The rows as last set."""
        return self._rows

    @property
    def row_count(self) -> int:
        """How many rows there are."""
        return self._row_count

    @property
    def row(self) -> TableRow | None:
        """The row under the cursor, or None when there are no rows."""
        return self._rows[self.cursor] if self._row_count else None

    @property
    def marked_keys(self) -> frozenset[str]:
        """Rows with one of these keys are drawn marked: the document looked at elsewhere lights up here."""
        return self._marked_keys

    @marked_keys.setter
    def marked_keys(self, keys: frozenset[str]) -> None:
        if keys == self._marked_keys:
            return
        changed = keys ^ self._marked_keys
        self._marked_keys = keys
        for index in self._visible_indices():
            if self._rows[index].key in changed:
                self._refresh_row(index)

    @property
    def empty_message(self) -> Cell | str:
        """Shown dim in the middle while there are no rows: why, and which key helps."""
        return self._empty_message

    @empty_message.setter
    def empty_message(self, message: Cell | str) -> None:
        self._empty_message = message
        if not self._row_count:
            self.refresh()

    def set_rows(self, columns: Sequence[Column], rows: Rows, *, cursor: int = 0, keep_scroll: bool = False) -> None:
        """Show other rows, with the cursor on the given one.

        Args:
            columns: The columns; each row's cells are in their order.
            rows: The rows, or an object that makes them when asked; only those in view are asked for.
            cursor: Index of the cursor's row, brought within the rows.
            keep_scroll: Stay scrolled as now, as far as the cursor remains in view; otherwise start from the top.
        """
        previous_row = self.row
        self._columns = tuple(columns)
        self._rows = rows
        self._row_count = len(rows)
        self._widths = (-1, [])
        self._strips.clear()
        self.set_reactive(LineTable.cursor, self._bounded(cursor))
        set_contents_height(self, self._row_count + self._header_height)
        self._scroll_to_row(self.cursor, top=round(self.scroll_y) if keep_scroll else 0)
        self.refresh()
        if (row := self.row) is not None and row != previous_row:
            self.post_message(self.RowHighlighted(self, self.cursor, row.key))

    # --- the cursor ------------------------------------------------------------------------------------------------

    def _bounded(self, index: int) -> int:
        return max(0, min(index, self._row_count - 1))

    def validate_cursor(self, index: int) -> int:
        """Keep the cursor within the rows."""
        return self._bounded(index)

    def watch_cursor(self, old: int, new: int) -> None:
        """Repaint the two lines that look different now, and scroll no further than needed."""
        self._refresh_row(old)
        self._refresh_row(new)
        self._scroll_to_row(new)

    def _move_to(self, index: int) -> None:
        """Move the cursor because the user did."""
        before = self.cursor
        self.cursor = index
        if self.cursor != before and (row := self.row) is not None:
            self.post_message(self.RowHighlighted(self, self.cursor, row.key))

    @property
    def _page_height(self) -> int:
        """How many rows are in view at once."""
        return max(1, self.size.height - self._header_height)

    def _scroll_to_row(self, index: int, top: int | None = None) -> None:
        """Bring a row into view by the least movement from ``top``, the present first row by default."""
        if not self.size.height:  # before the first layout; on_resize comes
            return
        present = round(self.scroll_y) if top is None else top
        lowest_top = max(0, self._row_count - self._page_height)
        target = min(max(present, index - self._page_height + 1), index, lowest_top)
        if target != self.scroll_y:
            # Forced, because whether the scrollbar shows is only known after the layout to come.
            self.scroll_to(y=target, animate=False, force=True)

    def on_resize(self, event: events.Resize) -> None:
        """Lay the columns out anew (``render_line`` does, by the width) and keep the cursor in view."""
        self._scroll_to_row(self.cursor)

    def action_move(self, rows: int) -> None:
        """Move the cursor by some rows."""
        self._move_to(self.cursor + rows)

    def action_move_page(self, pages: int) -> None:
        """Move the cursor by as many rows as are in view."""
        self._move_to(self.cursor + pages * self._page_height)

    def action_move_first(self) -> None:
        """Move the cursor to the first row."""
        self._move_to(0)

    def action_move_last(self) -> None:
        """Move the cursor to the last row."""
        self._move_to(self._row_count - 1)

    def action_choose(self) -> None:
        """Say that the user chose the row under the cursor."""
        if (row := self.row) is not None:
            self.post_message(self.RowChosen(self, self.cursor, row.key))

    def on_click(self, event: events.Click) -> None:
        """Move the cursor by a click, choose by a double click, and say so when a title was clicked."""
        offset = event.get_content_offset(self)
        if offset is None:
            return
        event.stop()
        if offset.y < self._header_height:
            index = column_at(self._column_widths(self._inner_width), offset.x - SIDE_PADDING)
            if index is not None:
                self.post_message(self.HeaderClicked(self, self._columns[index].key))
            return
        index = round(self.scroll_y) + offset.y - self._header_height
        if index < self._row_count:
            self._move_to(index)
            if event.chain == 2:
                self.action_choose()

    def on_focus(self) -> None:
        """Draw the cursor strongly."""
        self._refresh_row(self.cursor)

    def on_blur(self) -> None:
        """Draw the cursor weakly."""
        self._refresh_row(self.cursor)

    # --- drawing ---------------------------------------------------------------------------------------------------

    def _visible_indices(self) -> range:
        top = round(self.scroll_y)
        return range(top, min(top + self._page_height, self._row_count))

    def _refresh_row(self, index: int) -> None:
        """Repaint one row's line, if it is in view."""
        y = index - round(self.scroll_y) + self._header_height
        if self._header_height <= y < self.size.height:
            self.refresh(Region(0, y, self.size.width, 1))

    @property
    def _inner_width(self) -> int:
        """The room for columns; the scrollbar's place is kept free, so that nothing moves when it appears."""
        return max(0, self.scrollable_content_region.width - 2 * SIDE_PADDING)

    def _column_widths(self, inner_width: int) -> list[int]:
        if self._widths[0] != inner_width:
            self._widths = (inner_width, layout_columns(self._columns, inner_width))
        return self._widths[1]

    def _row_state(self, index: int, row: TableRow) -> RowState:
        if index == self.cursor:
            return "cursor" if self.has_focus else "cursor-blurred"
        return "marked" if row.key in self._marked_keys else "plain"

    def _look(self) -> Look:
        return self._painting or Look(self.size.width, self.rich_style, self.app.theme, self.app.no_color)

    def render_lines(self, crop: Region) -> list[Strip]:
        """Draw some lines of the viewport, which all look at the theme only once."""
        self._painting = self._look()
        try:
            return super().render_lines(crop)
        finally:
            self._painting = None

    def render_line(self, y: int) -> Strip:
        """Draw one line of the viewport: the header, a row, part of the empty message, or nothing."""
        look = self._look()
        if y < self._header_height:
            return self._line_strip(-1, "header", tuple(column.title for column in self._columns), look)
        if not self._row_count:
            return self._empty_strip(y, look)
        index = round(self.scroll_y) + y - self._header_height
        if index >= self._row_count:
            return Strip.blank(look.width, look.base)
        row = self._rows[index]
        return self._line_strip(index, self._row_state(index, row), row.cells, look)

    def _line_strip(self, index: int, state: RowState, cells: tuple[Cell, ...], look: Look) -> Strip:
        """Return a row's line from the cache, or lay it out."""
        key = (index, state, look)
        if (cached := self._strips.get(key)) is not None:
            return cached
        under = look.base + row_style(state, look.theme, colourless=look.colourless)
        uniform = state == "cursor" and (look.colourless or look.theme == TERMINAL)

        def paint(name: str) -> Style:
            if not name:
                return under
            style = style_for(name, look.theme)
            return under + (without_colour(style) if uniform else style)

        inner_width = self._inner_width
        line = row_cells(cells, self._columns, self._column_widths(inner_width), inner_width)
        # The line goes on under the scrollbar, so that the cursor's reaches the edge when there is none.
        padding = Span(" " * (look.width - SIDE_PADDING - inner_width))
        strip = strip_of((_SIDE_MARKS.get(state, _NO_MARK), *line, padding), paint, look.width)
        self._strips[key] = strip
        return strip

    def _empty_strip(self, y: int, look: Look) -> Strip:
        """Draw one line of the message that stands in for rows."""
        lines = message_lines(self._empty_message, self._inner_width)
        first = self._header_height + max(0, (self._page_height - len(lines)) // 2)
        if not first <= y < first + len(lines):
            return Strip.blank(look.width, look.base)
        return message_strip(lines[y - first], look.width, look.base, look.theme)


def message_lines(message: Cell | str, width: int) -> list[Cell]:
    """Wrap an empty pane's message to the width of the pane; a plain text is dim."""
    cell = (Span(message, "dim"),) if isinstance(message, str) else message
    return wrap_cell(tuple(Span(span.text, span.style or "dim") for span in cell), width)


def message_strip(line: Cell, width: int, base: Style, theme: str) -> Strip:
    """Draw one line of an empty pane's message in the middle of the pane."""
    strip = strip_of(centred(line, width), lambda name: base + style_for(name, theme))
    return strip.adjust_cell_length(width, base)

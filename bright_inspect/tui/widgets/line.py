"""One line of spans: titles, headlines, notes."""

from __future__ import annotations

from typing import Literal

from rich.style import Style
from textual.strip import Strip
from textual.widget import Widget

from bright_inspect.presentation.cells import Cell, Span
from bright_inspect.tui.strips import cell_width, fit, strip_of
from bright_inspect.tui.themes import style_for


class CellLine(Widget):
    """A line with a left text, which gives way, and a right text, which stays whole while there is room."""

    ALLOW_SELECT = False
    DEFAULT_CSS = """
    CellLine { height: 1; width: 1fr; padding: 0 1; background: $background; }
    """

    def __init__(
        self,
        left: Cell = (),
        right: Cell = (),
        *,
        elide: Literal["end", "middle"] = "end",
        id: str | None = None,  # noqa: A002  (Textual's name for it)
        classes: str | None = None,
    ) -> None:
        super().__init__(id=id, classes=classes)
        self._left, self._right, self._elide = left, right, elide

    def set_cells(self, left: Cell, right: Cell = ()) -> None:
        """Show other texts."""
        if (left, right) != (self._left, self._right):
            self._left, self._right = left, right
            self.refresh()

    @property
    def text(self) -> str:
        """What the line says, without styles."""
        return "".join(span.text for span in (*self._left, *self._right))

    def render_line(self, y: int) -> Strip:
        width = self.content_size.width if y == 0 else 0
        base, theme = self.rich_style, self.app.theme
        if width <= 0:
            return Strip.blank(self.content_size.width, base)

        def paint(name: str) -> Style:
            return base + style_for(name, theme)

        right_width = cell_width(self._right)
        right = fit(self._right, min(right_width, width), elide="end") if right_width else ()
        left_width = width - min(right_width, width) - (2 if right_width and right_width + 2 < width else 0)
        left = fit(self._left, left_width, elide=self._elide) if left_width > 0 else ()
        gap = (Span(" " * max(0, width - left_width - min(right_width, width))),)
        return strip_of((*left, *gap, *right), paint, width).adjust_cell_length(width, base)

"""Reads one long untrusted text: wrapped once for the width at hand, drawn only where it is looked at.

The text and its styled stretches are kept as they came; offsets into the original are what everything refers to, so
that matches, scrolling and what is in view survive every re-wrapping.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from itertools import pairwise
from typing import ClassVar

from rich.cells import split_graphemes
from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.binding import Binding, BindingType
from textual.cache import LRUCache
from textual.geometry import Region
from textual.scroll_view import ScrollView
from textual.selection import Selection
from textual.strip import Strip

from bright_inspect.domain.visible import visible
from bright_inspect.presentation.cells import Cell
from bright_inspect.tui.strips import TAB_WIDTH, is_simple, wrap
from bright_inspect.tui.themes import style_for
from bright_inspect.tui.widgets.scrolling import set_contents_height
from bright_inspect.tui.widgets.table import SIDE_PADDING, Look, message_lines, message_strip

StyledRange = tuple[int, int, str]
"""Start and end offset into the text, and the name of the style between them."""

#: A text opened at a place shows this many lines before it, so that the place is read in its context.
CONTEXT_LINES = 2
_CACHED_LINES = 512


def flatten_ranges(ranges: Sequence[StyledRange], length: int) -> list[tuple[int, int, tuple[str, ...]]]:
    """Turn ranges that may overlap into ones that do not, each with all of its styles, later ones on top."""
    bounded = [(max(0, start), min(end, length), name) for start, end, name in ranges]
    bounded = [item for item in bounded if item[0] < item[1]]
    if all(one[1] <= other[0] for one, other in pairwise(bounded)):  # as the matches of a query are
        return [(start, end, (name,)) for start, end, name in bounded]
    edges = sorted({edge for start, end, _ in bounded for edge in (start, end)})
    opening: dict[int, list[int]] = {}
    closing: dict[int, list[int]] = {}
    for order, (start, end, _) in enumerate(bounded):
        opening.setdefault(start, []).append(order)
        closing.setdefault(end, []).append(order)
    open_orders: set[int] = set()
    flat: list[tuple[int, int, tuple[str, ...]]] = []
    for left, right in pairwise(edges):
        open_orders.difference_update(closing.get(left, ()))
        open_orders.update(opening.get(left, ()))
        if open_orders:
            flat.append((left, right, tuple(bounded[order][2] for order in sorted(open_orders))))
    return flat


class TextReader(ScrollView, can_focus=True, inherit_bindings=False):
    """Shows a text of any length. It has no border; the screen adds one where panes meet."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,k", "scroll_lines(-1)", "Line up", show=False, id="reader-up"),
        Binding("down,j", "scroll_lines(1)", "Line down", show=False, id="reader-down"),
        Binding("pageup", "scroll_pages(-1)", "Page up", show=False, id="reader-page-up"),
        Binding("pagedown,space", "scroll_pages(1)", "Page down", show=False, id="reader-page-down"),
        Binding("home,g", "scroll_first", "Top", show=False, id="reader-first"),
        Binding("end,G", "scroll_last", "Bottom", show=False, id="reader-last"),
    ]

    DEFAULT_CSS = """
    TextReader {
        background: $background;
        color: $foreground;
        overflow-x: hidden;
        overflow-y: scroll;
        scrollbar-size-vertical: 1;
    }
    """

    def __init__(
        self,
        *,
        empty_message: Cell | str = "",
        name: str | None = None,
        id: str | None = None,  # noqa: A002  (Textual's name for it)
        classes: str | None = None,
    ) -> None:
        super().__init__(name=name, id=id, classes=classes)
        self._text = ""
        self._ranges: list[tuple[int, int, tuple[str, ...]]] = []
        self._range_ends: list[int] = []
        self._lines: list[tuple[int, int]] = []
        self._wrapped_width = 0
        self._anchor_offset = 0
        self._context_lines = 0
        self._empty_message = empty_message
        self._painting: Look | None = None
        self._strips: LRUCache[tuple[object, ...], Strip] = LRUCache(_CACHED_LINES)

    # --- what it shows ---------------------------------------------------------------------------------------------

    @property
    def text(self) -> str:
        """The text as it was set."""
        return self._text

    @property
    def line_count(self) -> int:
        """How many lines the text takes at the present width; 0 before the first layout and without text."""
        return len(self._lines)

    @property
    def empty_message(self) -> Cell | str:
        """Shown dim in the middle while there is no text: why, and which key helps."""
        return self._empty_message

    @empty_message.setter
    def empty_message(self, message: Cell | str) -> None:
        self._empty_message = message
        if not self._text:
            self.refresh()

    def set_text(self, text: str, *, spans: Sequence[StyledRange] = (), scroll_to: int | None = None) -> None:
        """Show another text.

        Args:
            text: The text, as untrusted as it comes.
            spans: Styled ranges over the text; where they overlap, later ones win.
            scroll_to: An offset to open at, with some lines of context above; the beginning by default.
        """
        wrapped = text == self._text and bool(self._lines) and self._wrapped_width == self._text_width
        self._text = text
        self._ranges = flatten_ranges(spans, len(text))
        self._range_ends = [end for _, end, _ in self._ranges]
        self._anchor_offset = scroll_to or 0
        self._context_lines = CONTEXT_LINES if scroll_to else 0
        if wrapped:  # only what is lit changes
            self._strips.clear()
            self._scroll_to_anchor()
            self.refresh()
        else:
            self._wrap()

    def set_lines(self, lines: Sequence[Cell]) -> None:
        """Show prepared lines of styled spans, wrapped like any text."""
        parts: list[str] = []
        spans: list[StyledRange] = []
        offset = 0
        for line in lines:
            for span in line:
                parts.append(span.text)
                if span.style:
                    spans.append((offset, offset + len(span.text), span.style))
                offset += len(span.text)
            parts.append("\n")
            offset += 1
        self.set_text("".join(parts[:-1]), spans=spans)

    # --- scrolling -------------------------------------------------------------------------------------------------

    @property
    def first_visible_offset(self) -> int:
        """Offset of the first character in view; hand it to ``scroll_to_offset`` to come back here."""
        return self._anchor_offset

    def scroll_to_offset(self, char_offset: int, *, lines_above: int = 0) -> None:
        """Bring a character to the top of the view, or below some lines of context."""
        self._anchor_offset = max(0, min(char_offset, len(self._text)))
        self._context_lines = lines_above
        self._scroll_to_anchor()

    def line_of(self, char_offset: int) -> int:
        """Return the line a character is on at the present width."""
        return max(0, bisect_right(self._lines, char_offset, key=lambda line: line[0]) - 1)

    def _scroll_to_anchor(self) -> None:
        """Scroll to where the anchor is at this width, and make what is in view then the anchor if it is another."""
        if not self._lines:
            return
        anchor_line = self.line_of(self._anchor_offset)
        top = max(0, anchor_line - self._context_lines)
        # Forced, because whether the scrollbar shows is only known after the layout to come.
        self.scroll_to(y=top, animate=False, force=True)
        if anchor_line != (shown := round(self.scroll_y)):
            self._anchor_offset = self._lines[min(shown, len(self._lines) - 1)][0]
        self._context_lines = 0

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """Remember what came into view. Not while the width is changing: the lines are still those of the old one."""
        super().watch_scroll_y(old_value, new_value)
        if self._lines and self._wrapped_width == self._text_width:
            top = min(round(new_value), len(self._lines) - 1)
            if self.line_of(self._anchor_offset) != top:
                self._anchor_offset = self._lines[top][0]

    def on_resize(self, event: events.Resize) -> None:
        """Wrap for the new width; the first character in view stays in view."""
        if self._wrapped_width != self._text_width:
            self._wrap()

    def action_scroll_lines(self, lines: int) -> None:
        """Scroll by some lines."""
        self.scroll_to(y=self.scroll_y + lines, animate=False)

    def action_scroll_pages(self, pages: int) -> None:
        """Scroll by pages, one line of which stays in view."""
        self.scroll_to(y=self.scroll_y + pages * max(1, self.size.height - 1), animate=False)

    def action_scroll_first(self) -> None:
        """Scroll to the beginning."""
        self.scroll_to(y=0, animate=False)

    def action_scroll_last(self) -> None:
        """Scroll to the end."""
        self.scroll_to(y=self.max_scroll_y, animate=False)

    # --- drawing ---------------------------------------------------------------------------------------------------

    @property
    def _text_width(self) -> int:
        """The room for text; the scrollbar's place is kept free, so that nothing moves when it appears."""
        return self.scrollable_content_region.width - 2 * SIDE_PADDING

    def _wrap(self) -> None:
        """Find the lines for the present width; before the first layout there is none, and ``on_resize`` comes."""
        self._strips.clear()
        width = self._text_width
        if width <= 0:
            return
        # While the lines and the scroll position disagree, no anchor is to be read from them.
        self._wrapped_width = 0
        self._lines = wrap(self._text, width) if self._text else []
        set_contents_height(self, len(self._lines))
        self._scroll_to_anchor()
        self._wrapped_width = width
        self.refresh()

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
        """Draw one line of the viewport."""
        look = self._look()
        if not self._text:
            lines = message_lines(self._empty_message, max(0, self._text_width))
            line_of_message = y - max(0, (self.size.height - len(lines)) // 2)
            if 0 <= line_of_message < len(lines):
                return message_strip(lines[line_of_message], look.width, look.base, look.theme)
            return Strip.blank(look.width, look.base)
        number = round(self.scroll_y) + y
        if number >= len(self._lines):
            return Strip.blank(look.width, look.base)
        selection = self.text_selection
        selected = selection.get_span(number) if selection is not None else None
        key = (number, selected, look)
        if (cached := self._strips.get(key)) is not None:
            return cached
        strip = self._line_strip(number, selected, look).adjust_cell_length(look.width, look.base)
        self._strips[key] = strip
        return strip

    def _line_strip(self, number: int, selected: tuple[int, int] | None, look: Look) -> Strip:
        """Cut a line at its style changes and paint the pieces, on one column of padding."""
        selection_style = self.screen.get_component_rich_style("screen--selection") if selected else Style()
        segments = [Segment(" " * SIDE_PADDING, look.base)]
        position = 0
        for text, names, is_selected in self._line_pieces(number, selected):
            style = look.base
            for name in names:
                style += style_for(name, look.theme)
            if is_selected:
                style += selection_style
            # The offset is what Textual's mouse selection reads from the character under the pointer.
            segments.append(Segment(text, style + Style.from_meta({"offset": (position, number)})))
            position += len(text)
        return Strip(segments)

    def _line_pieces(self, number: int, selected: tuple[int, int] | None) -> list[tuple[str, tuple[str, ...], bool]]:
        """Return the shown text of a line in pieces of one look, whole graphemes each."""
        start, end = self._lines[number]
        original = self._text[start:end]
        shown = visible(original)
        length = len(shown)
        graphemes = None if is_simple(shown) else [grapheme[0] for grapheme in split_graphemes(shown)[0]]
        expanded_at = _expanded_offsets(original) if "\t" in original else range(length + 1)
        cuts = {0, length}
        styles_at: list[tuple[int, int, tuple[str, ...]]] = []
        for left, right, names in self._ranges[bisect_right(self._range_ends, start) :]:
            if left >= end:
                break
            styles_at.append((max(0, left - start), min(length, right - start), names))
            cuts.update(styles_at[-1][:2])
        selection = (0, 0)
        if selected is not None:
            # Textual counts in the characters that are shown, with tabs expanded.
            first, last = (bisect_left(expanded_at, edge) if edge >= 0 else length for edge in selected)
            selection = (min(first, length), min(last, length))
            cuts.update(selection)
        pieces: list[tuple[str, tuple[str, ...], bool]] = []
        left = 0
        for cut in sorted(cuts):
            names = next((names for begin, stop, names in styles_at if begin <= cut - 1 < stop), ())
            is_selected = selection[0] <= cut - 1 < selection[1]
            right = cut
            if graphemes is not None and cut < length:
                following = bisect_left(graphemes, cut)
                right = graphemes[following] if following < len(graphemes) else length
            if right > left:
                piece = shown[left:right]
                if "\t" in original:
                    piece = "".join(" " * TAB_WIDTH if original[at] == "\t" else shown[at] for at in range(left, right))
                pieces.append((piece, names, is_selected))
                left = right
        return pieces

    # --- selecting by mouse ----------------------------------------------------------------------------------------

    def get_selection(self, selection: Selection) -> tuple[str, str] | None:
        """Return the selected text as it is shown, so that copying it carries no escape sequence either."""
        lines = ["".join(piece[0] for piece in self._line_pieces(number, None)) for number in range(len(self._lines))]
        return selection.extract("\n".join(lines)), "\n"

    def selection_updated(self, selection: Selection | None) -> None:
        """Repaint; lines are cached by what is selected in them."""
        self.refresh()


def _expanded_offsets(original: str) -> Sequence[int]:
    """Return where each character of a line is shown once its tabs are expanded, and where the line ends."""
    offsets = [0]
    for character in original:
        offsets.append(offsets[-1] + (TAB_WIDTH if character == "\t" else 1))
    return offsets

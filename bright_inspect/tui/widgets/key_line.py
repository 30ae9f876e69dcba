"""The footer: the keys of the screen on one line, as many as fit, the way out always among them.

Textual's own footer builds a widget for each key anew whenever the focus moves, which costs more than a key press may.
"""

from __future__ import annotations

from textual import events

from bright_inspect.presentation.cells import Cell, Span
from bright_inspect.tui.keymap import KEYS, Key, Scope, display_keys
from bright_inspect.tui.strips import cell_width
from bright_inspect.tui.widgets.line import CellLine

_GAP = Span("  ")
#: Kept on the narrowest screen.
_ALWAYS = ("help", "back")


class KeyLine(CellLine):
    """The shown keys of a scope; a click does what the key does."""

    def __init__(self, scope: Scope) -> None:
        super().__init__(classes="keys")
        self._scope = scope
        self._places: list[tuple[int, int, Key]] = []

    def on_mount(self) -> None:
        self._fill()

    def on_resize(self, event: events.Resize) -> None:
        self._fill()

    def _fill(self) -> None:
        keys = [key for scope in (self._scope, "everywhere") for key in KEYS if key.shown and key.scope == scope]
        keys = [key for key in keys if key.id not in _ALWAYS and key.id != self._scope]  # not the one that led here
        always = [key for key in KEYS if key.id in _ALWAYS]
        while keys and self._width(keys + always) > self.content_size.width:
            keys.pop()
        spans: list[Span] = []
        self._places = []
        for key in keys + always:
            if spans:
                spans.append(_GAP)
            start = cell_width(tuple(spans))
            spans += self._cell(key)
            self._places.append((start, cell_width(tuple(spans)), key))
        self.set_cells(tuple(spans))

    def _cell(self, key: Key) -> Cell:
        keys = getattr(self.app, "keys_of", lambda key: key.keys)(key)
        return Span(display_keys(keys).split(" ")[0], "accent"), Span(f" {key.label}", "dim")

    def _width(self, keys: list[Key]) -> int:
        return sum(cell_width(self._cell(key)) + len(_GAP.text) for key in keys) - len(_GAP.text)

    async def on_click(self, event: events.Click) -> None:
        """Do what the clicked key does."""
        offset = event.get_content_offset(self)
        for start, end, key in self._places:
            if offset is not None and start <= offset.x < end:
                action = key.action if key.action.startswith("app.") else f"screen.{key.action}"
                await self.app.run_action(action)

"""A line to write: a note, a tag, why a document helps."""

from __future__ import annotations

from collections.abc import Sequence

from textual import events, on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.suggester import SuggestFromList
from textual.widgets import Input, OptionList
from textual.widgets.option_list import Option

from bright_inspect.presentation.cells import Span
from bright_inspect.tui.screens.dialog import Dialog
from bright_inspect.tui.widgets.line import CellLine


class TextEntry(Dialog[str]):
    """Returns what was written or chosen, without blanks around it, or None."""

    def __init__(self, title: str, text: str = "", offered: Sequence[str] = ()) -> None:
        super().__init__()
        self._title, self._text, self._offered = title, text, tuple(offered)

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog narrow"):
            yield CellLine(
                (Span(self._title, "strong"),),
                (
                    Span(
                        "Enter keeps · Tab completes · ↓ chooses" if self._offered else "Enter keeps · Esc leaves",
                        "dim",
                    ),
                ),
            )
            suggester = SuggestFromList(self._offered, case_sensitive=False) if self._offered else None
            yield Input(self._text, id="entry", suggester=suggester)
            if self._offered:
                yield OptionList(*(Option(text, id=text) for text in self._offered), markup=False)

    def on_mount(self) -> None:
        for entry in self.query(Input):
            entry.focus()

    def on_key(self, event: events.Key) -> None:
        """Down goes from the line to what is offered; Tab takes the suggestion over, as Right does."""
        offered = next(iter(self.query(OptionList)), None)
        line = next(iter(self.query(Input)), None)
        if event.key == "tab" and offered is not None and line is not None and line.has_focus and line.value:
            event.stop()
            event.prevent_default()
            line.action_end()
            line.action_cursor_right()
            return
        if event.key == "down" and offered is not None and not offered.has_focus:
            event.stop()
            event.prevent_default()
            offered.focus()
            offered.highlighted = 0

    @on(Input.Submitted)
    def keep(self, message: Input.Submitted) -> None:
        """Keep what was written."""
        self.dismiss(message.value.strip())

    @on(OptionList.OptionSelected)
    def choose(self, message: OptionList.OptionSelected) -> None:
        """Keep what was chosen."""
        self.dismiss(str(message.option.id))

"""A text to edit that may come from anywhere: what a terminal would obey is shown as a symbol, and stays as it is."""

from __future__ import annotations

from rich.text import Text
from textual.widgets import TextArea

from bright_inspect.domain.visible import visible


class Editor(TextArea):
    """Textual's TextArea, which writes control characters to the terminal as they are."""

    def __init__(self, text: str, *, id: str) -> None:  # noqa: A002  (Textual's name)
        super().__init__(text, id=id, soft_wrap=True, tab_behavior="focus")

    def get_line(self, line_index: int) -> Text:
        """A line as it is drawn, one character for one; tabs are the TextArea's to expand."""
        parts = super().get_line(line_index).plain.split("\t")
        return Text("\t".join(map(visible, parts)), end="", no_wrap=True)

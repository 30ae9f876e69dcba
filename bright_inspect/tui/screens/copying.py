"""Copying ids and texts from a screen: OSC 52 reaches the local clipboard over ssh and tmux."""

from __future__ import annotations

from bright_inspect.tui.screens.base import DeskScreen
from bright_inspect.tui.widgets.reader import TextReader

_SENT = "sent to the terminal's clipboard (OSC 52; tmux needs: set -s set-clipboard on)"


class CopyingScreen(DeskScreen):
    """A screen with a document at hand and a reader."""

    @property
    def document(self) -> str | None:
        """The id of the document at hand."""
        return None

    def action_copy_id(self) -> None:
        """Copy the document's id."""
        if self.document:
            self.app.copy_to_clipboard(self.document)
            self.notify(f"{self.document}\n{_SENT}", markup=False)

    def action_copy_text(self) -> None:
        """Copy what the reader shows."""
        self.copy(self.query_one(TextReader).text)

    def copy(self, text: str) -> None:
        """Copy a text, and say so."""
        if text:
            self.app.copy_to_clipboard(text)
            self.notify(f"{len(text):,} characters {_SENT}", markup=False)
        else:
            self.notify("There is no text to copy.", markup=False)

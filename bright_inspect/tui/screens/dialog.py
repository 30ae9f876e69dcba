"""A page over the screen, left with the same keys as everything else."""

from __future__ import annotations

from typing import ClassVar, TypeVar

from textual import events
from textual.await_complete import AwaitComplete
from textual.binding import Binding, BindingType
from textual.screen import ModalScreen
from textual.widgets import Input

T = TypeVar("T")


class Dialog(ModalScreen[T | None]):
    """Bindings of the app do not reach a modal screen: it has its own way out."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q", "close", "close", show=False, id="back"),
        Binding("question_mark,f1", "close", "close", show=False, id="help"),
    ]

    def dismiss(self, result: T | None = None) -> AwaitComplete:
        """Leave with a result. The second of two fast keys finds the dialog left already, and does nothing."""
        return super().dismiss(result) if self.app.screen is self else AwaitComplete()

    def action_close(self) -> None:
        """Leave without choosing anything."""
        self.dismiss(None)


class TypingDialog(Dialog[T]):
    """A dialog with a list and a line for what is not in it. The line is not to be selected on focus: the first
    character typed would be replaced by the second."""

    def on_key(self, event: events.Key) -> None:
        """Typing goes to the line, wherever the focus is."""
        line = next(iter(self.query(Input)), None)
        if line is None:  # the key came before the dialog was built
            return
        if event.is_printable and event.character and not line.has_focus:
            event.stop()
            event.prevent_default()
            line.focus()
            line.insert_text_at_cursor(event.character)

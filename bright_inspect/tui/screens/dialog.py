"""A page over the screen, left with the same keys as everything else."""

from __future__ import annotations

from typing import ClassVar, TypeVar

from textual.await_complete import AwaitComplete
from textual.binding import Binding, BindingType
from textual.screen import ModalScreen

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

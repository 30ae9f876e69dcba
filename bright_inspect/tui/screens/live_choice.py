"""A list of retrievers or rerankers to search with, and a line for any other."""

from __future__ import annotations

from collections.abc import Sequence

from textual import on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.widgets import Input, OptionList
from textual.widgets.option_list import Option

from bright_inspect.presentation.cells import Span
from bright_inspect.tui.live_desk import Choice
from bright_inspect.tui.screens.dialog import TypingDialog
from bright_inspect.tui.widgets.line import CellLine

#: Stands for "none of them": no reranking.
NONE = ""


class LiveChoice(TypingDialog[str]):
    """Returns the chosen name, NONE where that is offered, or None if nothing was chosen."""

    def __init__(self, title: str, choices: Sequence[Choice], present: str | None, *, none: str | None = None) -> None:
        """``none`` is what choosing none is called, where that is possible."""
        super().__init__()
        self._title, self._present = title, present or NONE
        own = "dense" if none is None else "cross-encoder"
        self._others = f"{own}:MODEL, endpoint:MODEL@URL, package.module:factory"
        self._choices = [*([Choice(NONE, none, None)] if none else []), *choices]

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog"):
            yield CellLine((Span(self._title, "strong"),), (Span("Enter chooses · Esc keeps", "dim"),))
            yield OptionList(*(Option(_shown(choice)) for choice in self._choices), markup=False, id="choices")
            yield CellLine(id="choice-note")
            yield Input(placeholder=f"or type: {self._others}", id="other", select_on_focus=False)

    def on_mount(self) -> None:
        names = [choice.name for choice in self._choices]
        for choices in self.query(OptionList):  # none is left if a fast key closed the dialog already
            choices.highlighted = names.index(self._present) if self._present in names else 0
            choices.focus()

    @on(OptionList.OptionHighlighted)
    def tell_needs(self, message: OptionList.OptionHighlighted) -> None:
        """Say what is missing for the one under the cursor."""
        choice = self._choices[message.option_index]
        needs = (Span(choice.needs, "warning"),) if choice.needs else (Span(choice.title, "dim"),)
        for line in self.query("#choice-note").results(CellLine):
            line.set_cells(needs)

    @on(OptionList.OptionSelected)
    def choose(self, message: OptionList.OptionSelected) -> None:
        """Choose it, if it can be used here."""
        choice = self._choices[message.option_index]
        if choice.needs is None:
            self.dismiss(choice.name)

    @on(Input.Submitted)
    def choose_other(self, message: Input.Submitted) -> None:
        """Choose what was typed; whether there is such a one shows when it is asked."""
        if message.value.strip():
            self.dismiss(message.value.strip())


def _shown(choice: Choice) -> str:
    if choice.name == NONE:
        return choice.title
    return f"{choice.name}  {'– not here' if choice.needs else choice.title}"

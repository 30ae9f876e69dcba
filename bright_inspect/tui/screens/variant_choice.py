"""Which run, and which variant it was made with."""

from __future__ import annotations

from collections.abc import Sequence

from textual import events, on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.widgets import Input, OptionList
from textual.widgets.option_list import Option

from bright_inspect.domain.names import ORIGINAL
from bright_inspect.domain.visible import visible
from bright_inspect.presentation.cells import Cell, Span
from bright_inspect.store.session import Run
from bright_inspect.tui.screens.dialog import TypingDialog
from bright_inspect.tui.widgets.line import CellLine

#: Stands for a variant that nobody knows.
UNKNOWN = ""


class NameChoice(TypingDialog[str]):
    """Returns the value of the chosen option, what was typed, or None."""

    def __init__(
        self, title: str, options: Sequence[tuple[str, str]], present: str, *, note: Cell = (), typed: str | None = None
    ) -> None:
        """``options`` are (value, text) pairs; ``typed`` is what the line for others reminds of, None for no line."""
        super().__init__()
        self._title, self._options, self._present, self._note, self._typed = title, options, present, note, typed

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog"):
            yield CellLine((Span(self._title, "strong"),), (Span("Enter chooses · Esc keeps", "dim"),))
            yield OptionList(*(Option(visible(text)) for _, text in self._options), markup=False, id="choices")
            if self._note:
                yield CellLine(self._note)
            if self._typed is not None:
                yield Input(placeholder=self._typed, id="other", select_on_focus=False)

    def on_mount(self) -> None:
        values = [value for value, _ in self._options]
        for choices in self.query(OptionList):  # none is left if a fast key closed the dialog already
            choices.highlighted = values.index(self._present) if self._present in values else 0
            choices.focus()

    def on_key(self, event: events.Key) -> None:
        """j and k move in the list, as everywhere; other letters go to the line."""
        choices = next(iter(self.query(OptionList)), None)
        if choices is not None and choices.has_focus and event.key in ("j", "k"):
            event.stop()
            event.prevent_default()
            if event.key == "j":
                choices.action_cursor_down()
            else:
                choices.action_cursor_up()

    @on(OptionList.OptionSelected)
    def choose(self, message: OptionList.OptionSelected) -> None:
        """Choose the one under the cursor."""
        self.dismiss(self._options[message.option_index][0])

    @on(Input.Submitted)
    def choose_other(self, message: Input.Submitted) -> None:
        """Choose what was typed."""
        if message.value.strip():
            self.dismiss(message.value.strip())


def variant_choice(run: Run, names: Sequence[str]) -> NameChoice:
    """Ask which of these variants a run was made with, or which other."""
    options = [(name, f"{name}  the queries as posted" if name == ORIGINAL else name) for name in names]
    present = UNKNOWN if run.name.variant is None else run.name.variant
    if present not in (UNKNOWN, *names):
        options.append((present, present))
    options.append((UNKNOWN, "not known"))
    note = (Span("It is compared with the run of its system on the original queries.", "dim"),)
    title = f"Which variant was {run.name.system} made with?"
    return NameChoice(visible(title), options, present, note=note, typed="or type another name")


def run_choice(runs: Sequence[Run], present: int) -> NameChoice:
    """Ask which of the runs to name the variant of."""
    options = [
        (str(run.run_id), run.name.in_full + ("  variant not known" if run.name.variant is None else ""))
        for run in runs
    ]
    unknown = next((run.run_id for run in runs if run.name.variant is None), present)
    return NameChoice("Of which run?", options, str(unknown))

"""A list of measures and cutoffs to score by, and a line for any other."""

from __future__ import annotations

from textual import on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.widgets import Input, OptionList
from textual.widgets.option_list import Option

from bright_inspect.domain.measures import Measure, parse_measure
from bright_inspect.errors import UsageError
from bright_inspect.presentation.cells import Span
from bright_inspect.tui.screens.dialog import TypingDialog
from bright_inspect.tui.widgets.line import CellLine

#: The measures in the list; any other can be typed.
OFFERED = (
    "nDCG@10", "nDCG@1", "nDCG@5", "nDCG@25", "nDCG@50", "nDCG@100", "R@1", "R@10", "R@50", "R@100", "P@1", "P@5",
    "P@10", "AP@10", "AP@100", "AP", "RR@10", "RR",
)  # fmt: skip


class MeasureChoice(TypingDialog[Measure]):
    """Returns the chosen measure, or None."""

    def __init__(self, present: Measure) -> None:
        super().__init__()
        self._present = str(present)

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog narrow"):
            yield CellLine((Span("Score by", "strong"),), (Span("Enter chooses · Esc keeps", "dim"),))
            yield OptionList(*(Option(name, id=name) for name in OFFERED), markup=False)
            yield Input(placeholder="or type any, such as nDCG@20", id="other", select_on_focus=False)
            yield CellLine(id="measure-error")

    def on_mount(self) -> None:
        for choices in self.query(OptionList):  # none is left if a fast key closed the dialog already
            choices.highlighted = OFFERED.index(self._present) if self._present in OFFERED else 0
            choices.focus()

    @on(OptionList.OptionSelected)
    def choose(self, message: OptionList.OptionSelected) -> None:
        """Score by the chosen one."""
        self.dismiss(parse_measure(str(message.option.id)))

    @on(Input.Submitted)
    def choose_other(self, message: Input.Submitted) -> None:
        """Score by what was typed, if it is a measure."""
        try:
            self.dismiss(parse_measure(message.value))
        except UsageError as error:
            self.query_one("#measure-error", CellLine).set_cells((Span(str(error), "error"),))

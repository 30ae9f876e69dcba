"""Who rewrites the text, and by which prompt: a list of models, a line for any other, and the prompt to edit."""

from __future__ import annotations

from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.widgets import Input, OptionList, TextArea

from bright_inspect.errors import UsageError
from bright_inspect.presentation.cells import Span
from bright_inspect.rewriting.prompts import PLACE, Prompt, checked
from bright_inspect.tui.rewriting_desk import Order, RewritingDesk, Writers
from bright_inspect.tui.runner import Runner
from bright_inspect.tui.screens.dialog import Dialog
from bright_inspect.tui.widgets.editor import Editor
from bright_inspect.tui.widgets.line import CellLine

_LANE = "rewrite-models"


class RewriteChoice(Dialog[Order]):
    """Returns what is to be written, or None."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("f5,f10", "write", "write", show=False, id="rewrite-write")]

    def __init__(self, desk: RewritingDesk, runner: Runner, what: str, text: str, prompt: Prompt) -> None:
        """``what`` is the text called, and ``text`` is it."""
        super().__init__()
        self._desk, self._runner, self._what, self._text, self._prompt = desk, runner, what, text, prompt

    def compose(self) -> ComposeResult:
        words = f"{len(self._text.split()):,} words"
        with Vertical(classes="dialog"):
            yield CellLine(
                (Span("Rewrite", "strong"), Span(f" · {self._what} · {words}", "dim")),
                (Span("Enter or F5 writes · Esc leaves", "dim"),),
            )
            yield OptionList(markup=False, id="writers")
            yield CellLine((Span("models are looked for …", "dim"),), id="writers-note")
            yield Input(
                self._desk.writer, placeholder="endpoint:MODEL, endpoint:MODEL@URL, transformers:MODEL", id="writer",
                select_on_focus=False,
            )  # fmt: skip
            yield CellLine(
                (Span("Prompt", "strong"), Span(f" · {PLACE} stands for the text", "dim")),
                (Span(self._prompt.source, "dim"),),
                id="prompt-title",
            )
            yield Editor(self._prompt.template, id="prompt")

    def on_mount(self) -> None:
        for line in self.query("#writer").results(Input):
            line.focus()
        self._runner.start(_LANE, self._desk.writers, self._show)

    def _show(self, writers: Writers) -> None:
        """List the models; the first is taken unless another was before."""
        if self.app.screen is not self:
            return
        options, line = self.query_one("#writers", OptionList), self.query_one("#writer", Input)
        names = [choice.name for choice in writers.choices if choice.needs is None]
        options.add_options(names)
        options.set_class(not names, "hidden")
        if names:
            options.highlighted = names.index(line.value) if line.value in names else 0
            if not line.value:
                line.value = names[0]
                line.cursor_position = len(line.value)
        self._say(writers.note, "warning")

    def _say(self, text: str, style: str) -> None:
        note = self.query_one("#writers-note", CellLine)
        note.set_cells((Span(text, style),) if text else (Span("or type another model", "dim"),))

    def action_close(self) -> None:
        """Leave, and ask no server any longer."""
        self._runner.cancel(_LANE)
        super().action_close()

    @on(OptionList.OptionSelected, "#writers")
    def choose(self, message: OptionList.OptionSelected) -> None:
        """Take the model under the cursor, and write."""
        self.query_one("#writer", Input).value = str(message.option.prompt)
        self.action_write()

    @on(Input.Submitted, "#writer")
    def take(self) -> None:
        """Write with the model that was typed."""
        self.action_write()

    def action_write(self) -> None:
        """Write, if a writer is named and the prompt has a place for the text."""
        lines = list(self.query("#writer").results(Input))
        areas = list(self.query("#prompt").results(TextArea))
        if not lines or not areas:  # the key came before the dialog was built
            return
        name, template = lines[0].value.strip(), areas[0].text
        if not name:
            self._say("no model is named: choose one above, or type it below", "error")
            return
        prompt = self._prompt
        if template != prompt.template:
            try:
                prompt = checked(template, "edited")
            except UsageError as error:
                self._say(f"{error.message} {error.hint}", "error")
                return
        self._runner.cancel(_LANE)
        self.dismiss(Order(name, prompt, self._text))

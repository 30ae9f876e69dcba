"""Layers: the sets of judgments at hand; Enter makes one count, d lists what it would change."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, cast

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical

from bright_inspect.presentation.cells import Span
from bright_inspect.presentation.layers import (
    ONE_LAYER,
    ChangeRows,
    LayerLine,
    change_columns,
    changes_title,
    layer_columns,
    layer_rows,
)
from bright_inspect.store.layers import JudgmentChange
from bright_inspect.tui.screens.dialog import Dialog
from bright_inspect.tui.widgets.line import CellLine
from bright_inspect.tui.widgets.table import LineTable

if TYPE_CHECKING:
    from bright_inspect.tui.app import BrightInspect

_LANE = "layers"


class LayersScreen(Dialog[str]):
    """Returns the chosen layer, or None."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("d", "show_changes", "difference", show=False)]

    def __init__(self) -> None:
        super().__init__()
        self._lines: list[LayerLine] = []
        self._shows_changes = False

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog"):
            yield CellLine(id="layers-title")
            yield LineTable(id="layers", empty_message="counting the judgments …")
            yield LineTable(id="layer-changes", classes="hidden")
            yield CellLine(id="layers-note")

    def on_mount(self) -> None:
        program = self._program
        for table in self.query("#layers").results(LineTable):  # none is left if a fast key closed the dialog already
            table.focus()
            self._say("Which judgments count", "Enter makes it count · d difference · Esc keeps")
            program.runner.start(_LANE, program.desk.layer_lines, self._show_layers)

    @property
    def _program(self) -> BrightInspect:
        return cast("BrightInspect", self.app)

    def _say(self, title: str, keys: str) -> None:
        self.query_one("#layers-title", CellLine).set_cells((Span(title, "strong"),), (Span(keys, "dim"),))

    def _show_layers(self, lines: list[LayerLine]) -> None:
        if self.app.screen is not self:
            return
        self._lines = lines
        table = self.query_one("#layers", LineTable)
        if not lines:
            table.empty_message = "no judgments at hand: give --data DIR or --qrels FILE"
        cursor = max(range(len(lines)), key=lambda index: lines[index].counting, default=0)
        tasks = len(self._program.desk.scored.layers)
        table.set_rows(layer_columns(lines, self.size.width), layer_rows(lines, tasks), cursor=cursor)
        tasks_text = "one open task" if tasks == 1 else f"{tasks} open tasks"
        note = ONE_LAYER if len(lines) == 1 else f"over {tasks_text}; a task without the layer keeps the data's own"
        self.query_one("#layers-note", CellLine).set_cells((Span(note, "dim"),))

    @on(LineTable.RowChosen, "#layers")
    def choose(self, message: LineTable.RowChosen) -> None:
        """Let the layer count."""
        self.dismiss(message.key)

    def action_show_changes(self) -> None:
        """List what the highlighted layer judges otherwise than what counts now."""
        row = self.query_one("#layers", LineTable).row
        if row is None or self._shows_changes:
            return
        layer, program = row.key, self._program
        self._shows_changes = True
        table = self.query_one("#layer-changes", LineTable)
        table.empty_message = "comparing the judgments …"
        table.set_rows(change_columns(), [])
        self._swap()

        def done(changes: list[JudgmentChange]) -> None:
            if self.app.screen is not self or not self._shows_changes:
                return
            title = changes_title(changes, layer, program.desk.session.layer)
            table.empty_message = title
            table.set_rows(change_columns(), ChangeRows(changes))
            self._say(title, "Esc layers")

        program.runner.start(_LANE, lambda token: program.desk.layer_changes(layer, token), done)

    def _swap(self) -> None:
        layers, changes = self.query_one("#layers", LineTable), self.query_one("#layer-changes", LineTable)
        layers.set_class(self._shows_changes, "hidden")
        changes.set_class(not self._shows_changes, "hidden")
        (changes if self._shows_changes else layers).focus()

    def action_close(self) -> None:
        """Leave the list of differences, then the dialog."""
        self._program.runner.cancel(_LANE)
        if self._shows_changes and self.is_current:
            self._shows_changes = False
            self._swap()
            self._say("Which judgments count", "Enter makes it count · d difference · Esc keeps")
        else:
            self.dismiss(None)

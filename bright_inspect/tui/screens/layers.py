"""Layers: the sets of judgments at hand, and what the one under the cursor would change; Enter makes it count."""

from __future__ import annotations

from functools import partial
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
from bright_inspect.store.progress import CancelToken
from bright_inspect.tui.screens.dialog import Dialog
from bright_inspect.tui.widgets.line import CellLine
from bright_inspect.tui.widgets.table import LineTable

if TYPE_CHECKING:
    from bright_inspect.tui.app import BrightInspect

_COUNTS, _CHANGES = "layers", "layer changes"


class LayersScreen(Dialog[str]):
    """Returns the chosen layer, or None."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("d", "show_changes", "difference", show=False)]

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog"):
            keys = "Enter makes it count · d its difference · Esc keeps"
            yield CellLine((Span("Judgments", "strong"),), (Span(keys, "dim"),))
            yield LineTable(id="layers", empty_message="counting the judgments …")
            yield CellLine(id="layers-caption")
            yield LineTable(id="layer-changes")
            yield CellLine(id="layers-note")

    def on_mount(self) -> None:
        program = self._program
        for table in self.query("#layers").results(LineTable):  # none is left if a fast key closed the dialog already
            # Room for every layer, before they are counted.
            table.styles.height = 1 + max(1, len(program.desk.layers))
            table.focus()
            program.runner.start(_COUNTS, program.desk.layer_lines, self._show_layers)

    @property
    def _program(self) -> BrightInspect:
        return cast("BrightInspect", self.app)

    def _show_layers(self, lines: list[LayerLine]) -> None:
        if self.app.screen is not self:
            return
        table, tasks = self.query_one("#layers", LineTable), len(self._program.desk.scored.layers)
        if not lines:
            table.empty_message = "no judgments at hand: give --data DIR or --qrels FILE"
        if len(lines) < 2:
            self.query_one("#layer-changes", LineTable).empty_message = ONE_LAYER
        else:
            open_tasks = "over the open task" if tasks == 1 else f"over {tasks} open tasks"
            note = f"{open_tasks}; a task that lacks the layer keeps its own"
            self.query_one("#layers-note", CellLine).set_cells((Span(note, "dim"),))
        cursor = max(range(len(lines)), key=lambda index: lines[index].counting, default=0)
        table.set_rows(layer_columns(lines, self.size.width), layer_rows(lines, tasks), cursor=cursor)

    @on(LineTable.RowHighlighted, "#layers")
    def compare(self, message: LineTable.RowHighlighted) -> None:
        """List what the layer judges otherwise than what counts now."""
        if self.app.screen is not self or message.table.row_count < 2:
            return
        desk, layer = self._program.desk, message.key

        def work(token: CancelToken) -> list[JudgmentChange]:
            return desk.layer_changes(layer, token)

        self._program.runner.start(_CHANGES, work, partial(self._show_changes, layer))

    def _show_changes(self, layer: str, changes: list[JudgmentChange]) -> None:
        if self.app.screen is not self or not self.query("#layer-changes"):
            return
        title = changes_title(changes, layer, self._program.desk.session.layer)
        self.query_one("#layers-caption", CellLine).set_cells((Span(title, "strong" if changes else "dim"),))
        self.query_one("#layer-changes", LineTable).set_rows(change_columns(), ChangeRows(changes))

    @on(LineTable.RowChosen, "#layers")
    def choose(self, message: LineTable.RowChosen) -> None:
        """Let the layer count."""
        self._stop()
        self.dismiss(message.key)

    def action_show_changes(self) -> None:
        """Go to the list of differences, and back."""
        tables = list(self.query("#layers, #layer-changes").results(LineTable))
        # None is there if a fast key left the dialog before it was built.
        for table in tables:
            if not table.has_focus and (any(other.has_focus for other in tables) or table.id == "layer-changes"):
                table.focus()
                break

    def action_close(self) -> None:
        """Leave the list of differences, then the dialog."""
        if any(table.has_focus for table in self.query("#layer-changes")):
            self.action_show_changes()
        else:
            self._stop()
            self.dismiss(None)

    def _stop(self) -> None:
        self._program.runner.cancel(_COUNTS)
        self._program.runner.cancel(_CHANGES)

"""Overview: every task of every run at a glance; Enter opens a task's queries."""

from __future__ import annotations

from collections import Counter

from textual import events, on
from textual.app import ComposeResult
from textual.containers import Vertical

from bright_inspect.presentation.cells import Span
from bright_inspect.presentation.conditions import partial_corpus_note
from bright_inspect.presentation.overview import MEAN_ROW, overview_columns, overview_notes, overview_rows, tag_notes
from bright_inspect.store.collections import TaskKey
from bright_inspect.tui import keymap
from bright_inspect.tui.screens.base import DeskScreen
from bright_inspect.tui.widgets.key_line import KeyLine
from bright_inspect.tui.widgets.line import CellLine
from bright_inspect.tui.widgets.table import LineTable

_MOST_NOTES = 5


class OverviewScreen(DeskScreen):
    """One row a task, one column a run."""

    BINDINGS = keymap.bindings("overview")

    def compose(self) -> ComposeResult:
        yield CellLine(id="top")
        yield LineTable(id="tasks")
        with Vertical(id="overview-notes"):
            for _ in range(_MOST_NOTES):
                yield CellLine(classes="note")
        yield CellLine(
            (Span("Enter opens a task's queries · A all queries · v variants · ? all keys", "dim"),), id="hint"
        )
        yield KeyLine("overview")

    def on_mount(self) -> None:
        for table in self.query(LineTable):
            table.focus()

    def on_resize(self, event: events.Resize) -> None:
        if not self.left:
            self.desk_changed()

    def desk_changed(self) -> None:
        desk, table = self.desk, self.query_one(LineTable)
        scored, compared = desk.scored, desk.compared
        columns = overview_columns(compared, self.size.width)
        queries = Counter((row.key.dataset, row.key.task) for row in scored.rows)
        rows = overview_rows(desk.session.tasks, scored.scores, scored.fates, queries, compared, columns)
        table.set_rows(columns, rows, cursor=table.cursor, keep_scroll=True)
        self.query_one("#top", CellLine).set_cells(*self.top_cells())
        notes = [
            *partial_corpus_note(desk.session, compared.runs),
            *overview_notes(compared, scored.scores, scored.effects, self.size.width),
            *tag_notes(desk.tags),
        ]
        for index, line in enumerate(self.query(".note").results(CellLine)):
            line.set_cells(notes[index] if index < len(notes) else ())
            line.set_class(index >= len(notes), "hidden")

    @on(LineTable.RowChosen)
    def open_task(self, message: LineTable.RowChosen) -> None:
        """Open the row's task; the row of means opens all. A second fast Enter opens nothing more."""
        if self.app.screen is not self:
            return
        if message.key == MEAN_ROW:
            self.action_all_queries()
        else:
            self.program.open_task((self.desk.session.tasks[message.index],))

    def action_all_queries(self) -> None:
        """Open the queries of all tasks in one list."""
        self.program.open_task(self.desk.session.tasks)

    def audit_target(self) -> tuple[tuple[TaskKey, ...], int] | None:
        """The mean of the row's task in the compared run, or in another that covers it; of the row of means, the mean
        of the dataset's tasks that the compared run has."""
        table, desk = self.query_one(LineTable), self.desk
        if table.row is None:
            return None
        tasks = desk.session.tasks
        runs = (desk.compared.run, *desk.session.runs)
        if table.row.key != MEAN_ROW:
            task = tasks[table.cursor]
            covering = [run for run in runs if (run.run_id, task) in desk.scored.scores]
            return ((task,), covering[0].run_id) if covering else None
        datasets = [name for name in dict.fromkeys(name for name, _ in tasks) if self._count(name) > 1]
        dataset = datasets[min(table.cursor - len(tasks), len(datasets) - 1)]
        own = tuple(task for task in tasks if task[0] == dataset and (runs[0].run_id, task) in desk.scored.scores)
        return (own, runs[0].run_id) if own else None

    def _count(self, dataset: str) -> int:
        return sum(name == dataset for name, _ in self.desk.session.tasks)

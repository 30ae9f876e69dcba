"""Variants: what each rewriting of the queries does to each run, task by task and query by query."""

from __future__ import annotations

from collections.abc import Sequence

from textual import events, on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.message import Message
from textual.widgets import Input

from bright_inspect.domain.names import ORIGINAL
from bright_inspect.domain.rankings import QueryKey
from bright_inspect.evaluation.query_rows import QueryRow
from bright_inspect.presentation.cells import Cell, Span
from bright_inspect.presentation.conditions import partial_corpus_note
from bright_inspect.presentation.variant_queries import delta_of, means_line, variant_runs
from bright_inspect.presentation.variants import TASK_LEGEND, VariantLine, variant_lines, variant_notes
from bright_inspect.rewriting.comparison import variant_scores
from bright_inspect.store.collections import TaskKey
from bright_inspect.store.progress import CancelToken
from bright_inspect.tui import keymap
from bright_inspect.tui.screens.base import AuditTarget, are_same
from bright_inspect.tui.screens.filtering import FilteringScreen
from bright_inspect.tui.strips import wrap_cell
from bright_inspect.tui.widgets.key_line import KeyLine
from bright_inspect.tui.widgets.line import CellLine
from bright_inspect.tui.widgets.table import LineTable
from bright_inspect.tui.widgets.variant_tables import TasksTable, VariantQueriesTable, VariantTable

_LANE = "variant texts"
_MOST_NOTE_LINES, _MOST_ON_LOW_SCREEN = 8, 4


class TextsRead(Message):
    """So many tasks' texts are measured."""

    def __init__(self, done: int) -> None:
        super().__init__()
        self.done = done


class VariantsScreen(FilteringScreen):
    """Two tables over some tasks: the tasks, and their queries, all of them or those of the task that was chosen."""

    BINDINGS = keymap.bindings("variants")

    def __init__(self, tasks: tuple[TaskKey, ...], query: QueryKey | None = None) -> None:
        """``query`` is where the cursor goes first."""
        super().__init__()
        self._tasks, self._query = tasks, query
        self._chosen: tuple[TaskKey, ...] | None = None
        self._by_query = len(tasks) == 1
        self._read = 0
        self._lines_made: tuple[tuple[object, ...], list[VariantLine]] = ((), [])
        self._means_made: tuple[tuple[object, ...], Cell] = ((), ())

    @property
    def tasks(self) -> tuple[TaskKey, ...]:
        """The tasks at hand: the one that was chosen, or all."""
        return self._chosen or self._tasks

    @property
    def shown(self) -> Sequence[QueryRow]:
        """The queries in the table, in their order."""
        return self.filtered_table.shown

    @property
    def tasks_table(self) -> TasksTable:
        return self.query_one(TasksTable)

    @property
    def filtered_table(self) -> VariantQueriesTable:
        return self.query_one(VariantQueriesTable)

    @property
    def table(self) -> VariantTable:
        """The table in view."""
        return self.filtered_table if self._by_query else self.tasks_table

    def compose(self) -> ComposeResult:
        yield CellLine(id="top")
        yield CellLine(id="variant-tabs")
        yield CellLine(id="headline")
        yield TasksTable(empty_message="no judgments at hand: give --data DIR or --qrels FILE")
        yield VariantQueriesTable(empty_message="no query matches the filter · Esc clears it")
        with Vertical(id="variant-notes"):
            for _ in range(_MOST_NOTE_LINES):
                yield CellLine(classes="note hidden")
        yield CellLine(id="status")
        yield self.filter_line()
        yield KeyLine("variants")

    def on_mount(self) -> None:
        super().on_mount()
        if not self.ready:  # a fast key left the screen before it was built
            return
        if self._query is not None:
            self.filtered_table.point_at(self._query)
        self._show_table()
        if self._reading:
            self.runner.start(_LANE, self._read_texts, lambda _: self._show_if_ready())

    def _read_texts(self, token: CancelToken) -> None:
        def tell(done: int) -> None:
            self.post_message(TextsRead(done))

        self.desk.variants.read(self._tasks, tell, token)

    @property
    def _reading(self) -> bool:
        return not self.desk.variants.is_read(self._tasks)

    def on_texts_read(self, message: TextsRead) -> None:
        self._read = message.done
        if self.ready and self._reading:
            self._show_status()

    def on_resize(self, event: events.Resize) -> None:
        self._show_if_ready()

    def desk_changed(self) -> None:
        self.parse_filter_anew()
        self.show_rows()

    # --- the tables ----------------------------------------------------------------------------------------------

    def _show_table(self) -> None:
        for table in self.query(VariantTable):
            table.set_class(table is not self.table, "hidden")
        self.table.focus()
        self.show_rows()

    def action_next_table(self) -> None:
        """The tasks, or the queries."""
        self.query_one("#filter", Input).add_class("hidden")
        self._by_query = not self._by_query
        if not self._by_query:
            self._chosen = None
        self._show_table()

    def _show_if_ready(self) -> None:
        if self.ready:
            self.show_rows()

    def show_rows(self) -> None:
        """Fill the table in view anew; the cursor stays on what it is on."""
        if not self.size.width:
            return
        desk = self.desk
        lengths, lines = desk.variants.lengths(self.tasks), self._lines()
        with self.app.batch_update():
            self.query_one("#top", CellLine).set_cells(*self.top_cells())
            self._show_tabs()
            if self._by_query:
                self._show_queries()
            else:
                self.tasks_table.fill(lines, desk.scored.measure, self.size.width, reading=self._reading)
                self.query_one("#headline", CellLine).set_cells((Span(TASK_LEGEND, "dim"),))
            notes = variant_notes(lines, lengths, reading=self._reading, texts=not self._by_query)
            self._show_notes([*partial_corpus_note(desk.session, desk.session.runs), *notes])
            self._show_status()

    def _lines(self) -> list[VariantLine]:
        """The lines of the tasks; they cost too much to be made anew with every key."""
        desk, runs = self.desk, self.desk.session.runs
        lengths = desk.variants.lengths(self.tasks)
        made_of = (desk.scored, runs, self.tasks, len(lengths))
        if not are_same(self._lines_made[0], made_of):
            scores = variant_scores(desk.scored.scores, runs)
            self._lines_made = (made_of, variant_lines(self.tasks, scores, runs, lengths))
        return self._lines_made[1]

    def _show_queries(self) -> None:
        of = variant_runs(self.desk.session.runs, self.tasks)
        of_tasks = [row for row in self.desk.scored.rows if (row.key.dataset, row.key.task) in self.tasks]
        matching = [row for row in of_tasks if self.row_filter(row)]
        self.filtered_table.fill(matching, of_tasks, of, self.size.width)
        title = self.tasks[0][1] if len(self.tasks) == 1 else f"mean of {len(self.tasks)} tasks"
        if self.row_filter.text:
            title = f"{len(matching):,} of {len(of_tasks):,} queries"
        made_of = (self.desk.scored, self.desk.session.runs, self.tasks, self.row_filter)
        if not are_same(self._means_made[0], made_of):
            self._means_made = (made_of, means_line(matching, of, by_task=not self.row_filter.text))
        self.query_one("#headline", CellLine).set_cells((Span(f"{title}  ", "strong"), *self._means_made[1]))

    def _show_tabs(self) -> None:
        titles = ((not self._by_query, "Tasks"), (self._by_query, "Queries"))
        spans = [Span(f"[{title}]" if on else f" {title} ", "accent" if on else "dim") for on, title in titles]
        tabs: Cell = (spans[0], Span("│", "dim"), spans[1])
        legend = f"Δ = run − its system's original · ▲ best ▼ worst of a {'query' if self._by_query else 'task'}"
        self.query_one("#variant-tabs", CellLine).set_cells(tabs, (Span(legend, "dim"),))

    def _show_notes(self, notes: Sequence[Cell]) -> None:
        most = _MOST_ON_LOW_SCREEN if self.size.height < 30 else _MOST_NOTE_LINES
        lines = [line for note in notes for line in wrap_cell(note, self.size.width - 2)][:most]
        for index, line in enumerate(self.query(".note").results(CellLine)):
            line.set_cells(lines[index] if index < len(lines) else ())
            line.set_class(index >= len(lines), "hidden")

    def _show_status(self) -> None:
        text, hint = self.table.order, "Enter its queries · V names its variant · s sorts"
        if self._by_query:
            window, hint = self.filtered_table.window, "Enter opens · / filters"
            text = f"{len(self.shown):,} queries · by {text}"
            if not window.all:
                text = f"runs {window.first + 1}–{window.first + window.count} of {window.of} ← → · {text}"
            if self.row_filter.text:
                text += f" · filter {self.row_filter.text} · Esc clears it"
        elif self._reading:
            text = f"reading the texts of {len(self._tasks)} tasks, {self._read} done … · {text}"
        self.query_one("#status", CellLine).set_cells((Span(text, "dim"),), (Span(hint, "dim"),))

    def action_shift_runs(self, step: int) -> None:
        """Show the runs further left or right."""
        if self._by_query and self.filtered_table.shift(step):
            self.show_rows()

    # --- sorting -------------------------------------------------------------------------------------------------

    def action_sort_spread(self) -> None:
        """Queries between whose variants most lies; tasks in their order."""
        self.table.sort_by(*(("spread", True) if self._by_query else ("order", False)))
        self.show_rows()

    def action_sort_loss(self) -> None:
        """What a variant harms most."""
        self.table.sort_by("loss" if self._by_query else "delta", False)
        self.show_rows()

    def action_sort_gain(self) -> None:
        """What a variant helps most."""
        self.table.sort_by("gain" if self._by_query else "delta", True)
        self.show_rows()

    def action_next_sort(self) -> None:
        """Sort by the next column; a run's has its value and its Δ."""
        self.table.sort_by_next()
        self.show_rows()

    def action_reverse_sort(self) -> None:
        """Turn the order around."""
        key, descending = self.table.sort
        self.table.sort_by(key, not descending)
        self.show_rows()

    @on(LineTable.HeaderClicked)
    def sort_by_column(self, message: LineTable.HeaderClicked) -> None:
        """Sort by the clicked column, or turn its order around."""
        self.table.sort_by_column(message.column_key)
        self.show_rows()

    # --- going on ------------------------------------------------------------------------------------------------

    @on(LineTable.RowChosen)
    def open_row(self, message: LineTable.RowChosen) -> None:
        """Show the queries of the row's task, of a mean of all its tasks; open the query. A second fast Enter opens
        nothing more."""
        if self.app.screen is not self or message.table is not self.table:
            return
        if self._by_query:
            row = self.shown[message.index]
            self.open_lens(row.key, self._telling_variant(row))
            return
        tasks = self.tasks_table.lines[message.index].tasks
        self._chosen = tasks if tasks != self._tasks else None
        self._by_query = True
        self.filtered_table.forget_place()
        self._show_table()

    def _telling_variant(self, row: QueryRow) -> str | None:
        """The variant that moves a query most; None if no run is of a variant besides the original."""
        of = self.filtered_table.runs
        variants = [run for run in of.runs if run.name.variant not in (None, ORIGINAL)]
        telling = max(variants, key=lambda run: abs(delta_of(row, run.run_id, of) or 0.0), default=None)
        return telling.name.variant if telling else None

    def open_lens(self, key: QueryKey, variant: str | None) -> None:
        """Look at one query of the list and what a variant of it did."""
        from bright_inspect.tui.screens.lens import LensScreen

        keys = [row.key for row in self.shown]
        self.app.push_screen(LensScreen(keys, keys.index(key), variant, self.point_at))

    def point_at(self, key: QueryKey) -> None:
        """Put the cursor on the query that was left; the order may be another by now."""
        if self.ready:
            self.filtered_table.point_at(key)

    def action_name_variant(self) -> None:
        """Say which variant a run was made with: that of the row, or one that is chosen first."""
        from bright_inspect.tui.screens.variant_choice import run_choice

        runs, line = self.desk.session.runs, self.tasks_table.line
        if not self._by_query and line is not None and line.run is not None:
            self.program.ask_variant(line.run.run_id)
        elif len(runs) == 1:
            self.program.ask_variant(0)
        else:

            def chosen(run_id: str | None) -> None:
                if run_id is not None:
                    self.program.ask_variant(int(run_id))

            self.app.push_screen(run_choice(runs, self.desk.compared.run.run_id), chosen)

    def leave_level(self) -> bool:
        """Esc leaves the filter, then the queries of one task, then the screen."""
        if super().leave_level():
            return True
        if self._by_query and len(self._tasks) > 1:
            self.action_next_table()
            return True
        self.runner.cancel(_LANE)
        return False

    def audit_target(self) -> tuple[AuditTarget, int] | None:
        """The row's mean, or the value of the query under the cursor in the compared run, or in another that has it."""
        if not self._by_query:
            line = self.tasks_table.line
            if line is None or line.run is None:
                return None
            return tuple(task for task in line.tasks if task in line.run.tasks), line.run.run_id
        row = self.filtered_table.query_row
        if row is None:
            return None
        compared = self.desk.compared
        runs = [run.run_id for run in (compared.run, *compared.runs) if row.values[run.run_id] is not None]
        return (row.key, runs[0]) if runs else None

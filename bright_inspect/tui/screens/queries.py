"""Queries: one row a query, largest |Δ| first; sort, filter, and Enter to inspect."""

from __future__ import annotations

from collections.abc import Sequence

from textual import events, on
from textual.app import ComposeResult

from bright_inspect.domain.rankings import QueryKey
from bright_inspect.evaluation.query_rows import QueryRow
from bright_inspect.presentation.cells import Cell, Column, Span, TableRow
from bright_inspect.presentation.conditions import exclusion_note, partial_corpus_note
from bright_inspect.presentation.queries import Comparison as Compared
from bright_inspect.presentation.queries import SortKey, headline, query_columns, query_row, sort_rows
from bright_inspect.store.collections import TaskKey
from bright_inspect.tui import keymap
from bright_inspect.tui.screens.filtering import FilteringScreen
from bright_inspect.tui.strips import cell_width
from bright_inspect.tui.widgets.key_line import KeyLine
from bright_inspect.tui.widgets.line import CellLine
from bright_inspect.tui.widgets.table import LineTable

#: Lines below the headline for what must be known of the numbers.
_MOST_NOTE_LINES = 4
_BETWEEN_NOTES = (Span(" · ", "dim"),)


def _packed(notes: Sequence[Cell], width: int) -> list[Cell]:
    """The notes on as few lines of ``width`` cells as they need, in their order; one too long has a line of its own."""
    lines: list[Cell] = []
    for note in notes:
        joined = (*lines[-1], *_BETWEEN_NOTES, *note) if lines else note
        if lines and cell_width(joined) <= width:
            lines[-1] = joined
        else:
            lines.append(note)
    return lines


class _QueryLines(Sequence[TableRow]):
    """Table rows made when they are looked at."""

    def __init__(self, rows: Sequence[QueryRow], columns: Sequence[Column], compared: Compared) -> None:
        self._rows, self._columns, self._compared = rows, columns, compared

    def __len__(self) -> int:
        return len(self._rows)

    def __getitem__(self, index: int) -> TableRow:  # type: ignore[override]
        return query_row(self._rows[index], self._columns, self._compared)


class QueriesScreen(FilteringScreen):
    """The queries of one task, or of several."""

    BINDINGS = keymap.bindings("queries")

    def __init__(self, tasks: tuple[TaskKey, ...]) -> None:
        super().__init__()
        self._tasks = tasks
        self._sort: SortKey = "change"
        self._descending = True
        self._shown: list[QueryRow] = []
        self._note_lines = 1

    @property
    def tasks(self) -> tuple[TaskKey, ...]:
        """The tasks whose queries are listed."""
        return self._tasks

    def compose(self) -> ComposeResult:
        yield CellLine(id="top")
        yield CellLine(id="headline")
        for number in range(_MOST_NOTE_LINES):
            yield CellLine(id="notes" if number == 0 else f"notes{number + 1}", classes="notes")
        yield LineTable(id="queries", empty_message="no query matches the filter · Esc clears it")
        yield CellLine(id="status")
        yield self.filter_line()
        yield KeyLine("queries")

    def on_mount(self) -> None:
        if not self.desk.compared.paired:
            # One run: nothing to compare, so the queries it answers worst come first.
            self._sort, self._descending = self.desk.compared.run.run_id, False
        for table in self.query(LineTable):
            table.focus()

    def on_resize(self, event: events.Resize) -> None:
        if not self.left:
            self.show_rows()

    def desk_changed(self) -> None:
        self.parse_filter_anew()
        self.show_rows()

    @property
    def shown(self) -> Sequence[QueryRow]:
        """The rows in the table, in their order; Inspect walks along them."""
        return self._shown

    @property
    def order(self) -> str:
        """How the rows are sorted, in words."""
        compared = self.desk.compared
        if isinstance(self._sort, int):
            name = compared.runs[self._sort].label
        else:
            name = {"change": "|Δ|", "delta": "Δ", "rank": "best gold rank"}.get(self._sort, self._sort)
        return name

    def show_rows(self) -> None:
        """Fill the table anew; the cursor stays on its query."""
        desk, table = self.desk, self.query_one(LineTable)
        if not table.is_mounted or not self.size.width:
            return
        compared = desk.compared
        current = self._shown[table.cursor].key if self._shown else None
        of_tasks = [row for row in desk.scored.rows if (row.key.dataset, row.key.task) in self._tasks]
        matching = [row for row in of_tasks if self.row_filter(row)]
        self._shown = sort_rows(matching, self._sort, self._descending, compared)
        columns = query_columns(of_tasks, compared, self.size.width, self._sort, self._descending, len(self._tasks))
        cursor = next((index for index, row in enumerate(self._shown) if row.key == current), 0)
        table.set_rows(columns, _QueryLines(self._shown, columns, compared), cursor=cursor, keep_scroll=True)
        lines = headline(matching, compared, by_task=not self.row_filter.text, narrow=self.size.width < 100)
        notes = (*partial_corpus_note(desk.session, (compared.run, compared.baseline)), *lines.notes)
        if excluded := exclusion_note(
            list(dict.fromkeys((compared.run, compared.baseline))), desk.scored.scores, desk.scored.effects, self._tasks
        ):
            notes = (*notes, excluded)
        task = self._tasks[0][1] if len(self._tasks) == 1 else f"mean of {len(self._tasks)} tasks"
        if self.row_filter.text:
            task = f"{len(matching):,} of {len(of_tasks):,} queries"
        title = (Span(f"{task}  ", "strong"),)
        self.query_one("#top", CellLine).set_cells(*self.top_cells())
        gap = (Span("   "),) if lines.outcome else ()
        # On a narrow screen the outcome moves to the second line, before the notes.
        narrow = cell_width((*title, *lines.means, *gap, *lines.outcome)) > self.size.width - 2
        first, more = ((), (lines.outcome, *notes)) if narrow else ((*gap, *lines.outcome), notes)
        means = lines.means if cell_width((*title, *lines.means)) <= self.size.width - 2 else lines.short_means
        self.query_one("#headline", CellLine).set_cells((*title, *means, *first))
        self._show_notes(_packed([note for note in more if note], self.size.width - 2))
        self._show_status(len(of_tasks))

    def _show_notes(self, notes: Sequence[Cell]) -> None:
        # A filter does not take lines away: the table would jump with every letter typed.
        self._note_lines = len(notes) if not self.row_filter.text else max(self._note_lines, len(notes))
        for index, line in enumerate(self.query(".notes").results(CellLine)):
            line.set_cells(notes[index] if index < len(notes) else ())
            line.set_class(index >= max(1, self._note_lines), "hidden")

    def _show_status(self, queries: int) -> None:
        left = [Span(f"{len(self._shown):,} of {queries:,} queries · by {self.order}", "dim")]
        if self.row_filter.text:
            left += [Span(" · filter ", "dim"), Span(self.row_filter.text, "accent"), Span(" · Esc clears it", "dim")]
        hint = (Span("Enter inspects · / filters · = < > sort", "dim"),)
        self.query_one("#status", CellLine).set_cells(tuple(left), hint)

    # --- sorting -------------------------------------------------------------------------------------------------

    def _sort_by(self, key: SortKey, descending: bool) -> None:
        self._sort, self._descending = key, descending
        self._shown = []  # the cursor goes to the first row of the new order
        self.show_rows()

    def action_sort_change(self) -> None:
        """Largest |Δ| first."""
        self._sort_by("change", True)

    def action_sort_worst(self) -> None:
        """Largest losses first; with one run, its lowest values."""
        paired = self.desk.compared.paired
        self._sort_by("delta" if paired else self.desk.compared.run.run_id, False)

    def action_sort_best(self) -> None:
        """Largest wins first; with one run, its highest values."""
        paired = self.desk.compared.paired
        self._sort_by("delta" if paired else self.desk.compared.run.run_id, True)

    def action_next_sort(self) -> None:
        """Sort by the next column."""
        keys = [key for key in map(self._sort_key_of, self.query_one(LineTable).columns) if key is not None]
        present = "delta" if self._sort == "change" else self._sort
        index = keys.index(present) if present in keys else -1
        key = keys[(index + 1) % len(keys)]
        self._sort_by(key, key not in ("id", "query", "task", "rank"))

    def action_reverse_sort(self) -> None:
        """Turn the order around."""
        self._sort_by(self._sort, not self._descending)

    @staticmethod
    def _sort_key_of(column: Column) -> SortKey | None:
        if column.key == "bar":
            return None
        if column.key.startswith("run"):
            return int(column.key.removeprefix("run"))
        return column.key  # type: ignore[return-value]

    @on(LineTable.HeaderClicked)
    def sort_by_column(self, message: LineTable.HeaderClicked) -> None:
        """Sort by the clicked column, or turn its order around."""
        column = next(column for column in self.query_one(LineTable).columns if column.key == message.column_key)
        key = self._sort_key_of(column)
        if key is None:  # the bar
            key = "delta"
        self._sort_by(key, not self._descending if key == self._sort else key not in ("id", "query", "task", "rank"))

    # --- inspecting ----------------------------------------------------------------------------------------------

    @on(LineTable.RowChosen)
    def inspect_query(self, message: LineTable.RowChosen) -> None:
        """Inspect the query under the cursor; a second fast Enter opens nothing more."""
        if self.app.screen is not self:
            return
        from bright_inspect.tui.screens.inspect import InspectScreen

        self.app.push_screen(InspectScreen(self._shown, message.index, self.order, self._point_at))

    def _point_at(self, key: QueryKey) -> None:
        """Put the cursor on the query that was left; the order may be another by now."""
        index = next((index for index, row in enumerate(self._shown) if row.key == key), None)
        if index is not None and self.ready:
            self.query_one(LineTable).cursor = index

    def audit_target(self) -> tuple[QueryKey, int] | None:
        """The value of the query under the cursor in the compared run, or in another that covers its task."""
        row = self._shown[self.query_one(LineTable).cursor] if self._shown else None
        if row is None:
            return None
        compared = self.desk.compared
        runs = [run.run_id for run in (compared.run, *compared.runs) if row.values[run.run_id] is not None]
        return (row.key, runs[0]) if runs else None

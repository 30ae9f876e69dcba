"""The two tables of the Variants screen: each knows what it lists, how it is sorted, and keeps the cursor's place."""

from __future__ import annotations

from collections.abc import Sequence

from bright_inspect.domain.measures import Measure
from bright_inspect.domain.rankings import QueryKey
from bright_inspect.evaluation.query_rows import QueryRow
from bright_inspect.presentation.cells import Column, TableRow
from bright_inspect.presentation.variant_queries import (
    VariantRuns,
    Window,
    sort_name,
    sort_queries,
    variant_query_columns,
    variant_query_row,
)
from bright_inspect.presentation.variants import (
    FILLER,
    TASK_SORTS,
    TaskSort,
    VariantLine,
    sort_lines,
    task_columns,
    task_rows,
    task_sort_name,
)
from bright_inspect.tui.widgets.table import LineTable

#: Sorted upwards when first sorted by.
_ASCENDING_FIRST = ("id", "task", "query", "run")


class VariantTable(LineTable):
    """A table with an order: ``sort`` is by what, and whether downwards."""

    sort: tuple[str, bool]

    @property
    def order(self) -> str:
        """The order in words."""
        raise NotImplementedError

    def sort_keys(self) -> list[str]:
        """What can be sorted by, column by column."""
        raise NotImplementedError

    def sort_by(self, key: str, descending: bool | None = None) -> None:
        """Sort otherwise, from the first row on, once the table is filled again."""
        self.sort = (key, key not in _ASCENDING_FIRST if descending is None else descending)
        self.forget_place()

    def forget_place(self) -> None:
        """Let the cursor go to the first row when the table is filled again."""
        raise NotImplementedError

    def sort_by_next(self) -> None:
        """Sort by the next column."""
        keys, present = self.sort_keys(), self.sort[0]
        self.sort_by(keys[(keys.index(present) + 1) % len(keys)] if present in keys else keys[0])

    def sort_by_column(self, column_key: str) -> None:
        """Sort by a column, or turn its order around."""
        if column_key == FILLER:
            return
        present, descending = self.sort
        key = "delta" if column_key == "bar" else column_key
        self.sort_by(key, not descending if key == present else None)


class TasksTable(VariantTable):
    """One row for each task and run."""

    sort = ("order", False)
    lines: Sequence[VariantLine] = ()

    @property
    def line(self) -> VariantLine | None:
        """The line under the cursor."""
        return self.lines[self.cursor] if self.lines else None

    @property
    def order(self) -> str:
        return task_sort_name(self._by)

    @property
    def _by(self) -> TaskSort:
        return next(key for key in TASK_SORTS if key == self.sort[0])

    def sort_keys(self) -> list[str]:
        return [column.key for column in self.columns if column.key not in ("bar", FILLER)]

    def forget_place(self) -> None:
        self.lines = ()

    def fill(self, lines: Sequence[VariantLine], measure: Measure, width: int, *, reading: bool) -> None:
        """Show these lines; ``reading`` says that the texts are still being read."""
        current = self.line.place if self.line else None
        self.lines = sort_lines(lines, self._by, self.sort[1])
        columns = task_columns(self.lines, measure, width, self._by, self.sort[1])
        cursor = next((index for index, line in enumerate(self.lines) if line.place == current), 0)
        self.set_rows(columns, task_rows(self.lines, columns, reading=reading), cursor=cursor, keep_scroll=True)


class _QueryLines(Sequence[TableRow]):
    """Table rows made when they are looked at."""

    def __init__(self, rows: Sequence[QueryRow], columns: Sequence[Column], of: VariantRuns) -> None:
        self._rows, self._columns, self._of = rows, columns, of

    def __len__(self) -> int:
        return len(self._rows)

    def __getitem__(self, index: int) -> TableRow:  # type: ignore[override]
        return variant_query_row(self._rows[index], self._columns, self._of)


class VariantQueriesTable(VariantTable):
    """One row a query, a column for each run; ``window`` says which of them there is room for."""

    sort = ("spread", True)
    shown: Sequence[QueryRow] = ()
    runs = VariantRuns((), {}, ())
    window = Window(0, 0, 0)
    _first = 0
    _point: QueryKey | None = None

    @property
    def order(self) -> str:
        return sort_name(self.sort[0], self.runs)

    @property
    def query_row(self) -> QueryRow | None:
        """The query under the cursor."""
        return self.shown[self.cursor] if self.shown else None

    def sort_keys(self) -> list[str]:
        keys = [column.key for column in self.columns if column.key in ("id", "task", "query")]
        for run in self.runs.runs:
            of_run = [f"value{run.run_id}", f"delta{run.run_id}"]
            keys += of_run if self.runs.bases[run.run_id] is not None else of_run[:1]
        return [*keys, "spread"]

    def sort_by_next(self) -> None:
        super().sort_by_next()
        if self.sort[0].startswith(("value", "delta")):
            self._bring(int(self.sort[0][5:]))

    def sort_by_column(self, column_key: str) -> None:
        """A run's column sorts by its value, then by its Δ."""
        if not column_key.startswith("run"):
            super().sort_by_column(column_key)
            return
        run_id = int(column_key.removeprefix("run"))
        by_value = self.sort == (f"value{run_id}", True)
        self.sort_by(f"{'delta' if by_value and self.runs.bases[run_id] is not None else 'value'}{run_id}")

    def forget_place(self) -> None:
        self.shown = ()

    def point_at(self, key: QueryKey) -> None:
        """Put the cursor on a query, now or once it is listed."""
        index = next((index for index, row in enumerate(self.shown) if row.key == key), None)
        if index is None:
            self._point = key
        else:
            self.cursor = index

    def shift(self, step: int) -> bool:
        """Show the runs further left or right, once the table is filled again; whether there are any."""
        window = self.window
        first = max(0, min(window.of - window.count, window.first + step))
        self._first, changed = first, first != window.first
        return changed

    def _bring(self, run_id: int) -> None:
        """Bring a run's column into view."""
        place = [run.run_id for run in self.runs.runs].index(run_id)
        if place < self.window.first:
            self._first = place
        elif place >= self.window.first + self.window.count:
            self._first = place - self.window.count + 1

    def fill(self, rows: Sequence[QueryRow], of_tasks: Sequence[QueryRow], of: VariantRuns, width: int) -> None:
        """Show these of the tasks' queries; the columns are as wide as those of all need."""
        current = self._point or (self.query_row.key if self.query_row else None)
        self._point, self.runs = None, of
        if self.sort[0][5:].isdigit() and int(self.sort[0][5:]) not in of.bases:  # a run that other tasks have
            self.sort = ("spread", True)
        self.shown = sort_queries(rows, *self.sort, of)
        first = max(0, min(self._first, len(of.runs) - 1))
        columns, self.window = variant_query_columns(of_tasks, of, first, width, *self.sort)
        self._first = self.window.first
        cursor = next((index for index, row in enumerate(self.shown) if row.key == current), 0)
        self.set_rows(columns, _QueryLines(self.shown, columns, of), cursor=cursor, keep_scroll=True)

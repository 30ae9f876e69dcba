"""The Variants screen's queries: one row a query, a column for each run with its value and Δ to its original."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bright_inspect.domain.names import ORIGINAL
from bright_inspect.evaluation.query_rows import QueryRow
from bright_inspect.presentation.cells import Cell, Column, Span, TableRow, run_style
from bright_inspect.presentation.conditions import tie_mark
from bright_inspect.presentation.numbers import delta_style, percent, signed_percent
from bright_inspect.presentation.queries import NAMING, naming_cell
from bright_inspect.presentation.sorting import sorted_by
from bright_inspect.presentation.variants import extremes, mark_span
from bright_inspect.rewriting.comparison import base_of, in_groups
from bright_inspect.store.collections import TaskKey
from bright_inspect.store.session import Run

QuerySort = str
"""What the table is sorted by: ``spread``, ``gain`` and ``loss`` (the largest of any variant), ``id``, ``task``,
``query``, or ``valueN`` and ``deltaN`` of the run with id N."""

#: A mark, 100.0, ≈, and a Δ.
_VALUE_WIDTH, _WITH_DELTA = 8, 15
_LEAST_QUERY_WIDTH = 20


@dataclass(frozen=True, slots=True)
class VariantRuns:
    """The runs side by side, those of a system beside each other. ``bases`` has the id of each run's original, None for
    the original itself and where there is none; ``rivals`` the ids of runs between which a spread tells something: of
    each system that has several, else of all."""

    runs: tuple[Run, ...]
    bases: dict[int, int | None]
    rivals: tuple[tuple[int, ...], ...]


def variant_runs(runs: Sequence[Run], tasks: Sequence[TaskKey]) -> VariantRuns:
    """The runs that have one of these tasks."""
    ordered = tuple(run for run in in_groups(runs) if set(run.tasks) & set(tasks))
    bases = {run.run_id: base_of(run, runs) for run in ordered}
    systems = dict.fromkeys(run.name.system for run in ordered)
    groups = [tuple(run.run_id for run in ordered if run.name.system == system) for system in systems]
    rivals = [ids for ids in groups if len(ids) > 1] or [tuple(run.run_id for run in ordered)]
    return VariantRuns(
        ordered, {run_id: base.run_id if base else None for run_id, base in bases.items()}, tuple(rivals)
    )


def value_of(row: QueryRow, run_id: int) -> float | None:
    """A run's value for a query (a fraction); None where it has no list for it."""
    return row.values[run_id] if row.depths[run_id] else None


def delta_of(row: QueryRow, run_id: int, of: VariantRuns) -> float | None:
    """Run − original of its system, or None where one has no list."""
    base_id = of.bases[run_id]
    value, base = value_of(row, run_id), None if base_id is None else value_of(row, base_id)
    return None if value is None or base is None else value - base


def spread_of(row: QueryRow, of: VariantRuns) -> float | None:
    """The largest difference between two variants of one system; where no system has two, between any two runs."""
    found = [[value for run_id in ids if (value := value_of(row, run_id)) is not None] for ids in of.rivals]
    return max((max(values) - min(values) for values in found if len(values) > 1), default=None)


def sort_queries(rows: Sequence[QueryRow], by: QuerySort, descending: bool, of: VariantRuns) -> list[QueryRow]:
    """Sorted rows; those without a value come last either way, equals in the order of the data set."""

    def value(row: QueryRow) -> float | str | None:
        if by == "spread":
            return spread_of(row, of)
        if by in ("gain", "loss"):
            deltas = [d for run in of.runs if (d := delta_of(row, run.run_id, of)) is not None]
            return (max if by == "gain" else min)(deltas, default=None)
        if by.startswith("value"):
            return value_of(row, int(by[5:]))
        if by.startswith("delta"):
            return delta_of(row, int(by[5:]), of)
        return row.text.casefold() if by == "query" else row.key.task if by == "task" else row.position

    return sorted_by(sorted(rows, key=lambda row: row.position), value, descending)


def sort_name(by: QuerySort, of: VariantRuns) -> str:
    """The order in words."""
    labels = {run.run_id: run.label for run in of.runs}
    if by.startswith("value"):
        return labels[int(by[5:])]
    if by.startswith("delta"):
        return f"Δ of {labels[int(by[5:])]}"
    return {
        "spread": "spread between variants", "gain": "largest gain of a variant", "loss": "largest loss of a variant",
    }.get(by, by)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Window:
    """Which of the runs' columns are shown, from ``first`` on; the first and the last that there is room for."""

    first: int
    count: int
    of: int

    @property
    def all(self) -> bool:
        return self.count == self.of


def variant_query_columns(
    rows: Sequence[QueryRow], of: VariantRuns, first: int, width: int, by: QuerySort, descending: bool
) -> tuple[list[Column], Window]:
    """The columns that fit in ``width`` cells with at least one run's from the ``first`` on, and which those are. Where
    all runs fit but for the spread, that stays out."""
    arrow = "▼" if descending else "▲"

    def title(text: str, key: QuerySort, style: str = "dim") -> Cell:
        return (Span(text, style), Span(arrow if key == by else "", "accent"))

    longest_id = max((len(row.key.query_id) for row in rows), default=2)
    fixed = [Column("id", title("id", "id"), max(4, min(longest_id, width // 8)), elide="middle")]
    if len(tasks := {row.key.task for row in rows}) > 1:
        longest = max(map(len, tasks))
        fixed.append(Column("task", title("task", "task"), min(longest, 9 if width < 100 else 19), elide="middle"))
    spread = Column("spread", title("spread", "spread"), 7, align="right")
    query = Column("query", title("query", "query"), _LEAST_QUERY_WIDTH, flex=1)
    # One cell between columns, one at either side and the scrollbar's.
    room = width - 3 - sum(column.width + 1 for column in (*fixed, query)) + 1
    last = [spread]
    if _needed(shown := _fitting(of.runs, of, room)) + spread.width + 1 > room and len(shown) == len(of.runs):
        last, first = [], 0
    else:
        room -= spread.width + 1
        shown = _fitting(of.runs[first:], of, room)
        # As many as fit before the last one, so that no room is left empty.
        while first and len(shown) == len(of.runs) - first < len(more := _fitting(of.runs[first - 1 :], of, room)):
            shown, first = more, first - 1
    spare = max(0, room - _needed(shown) - (8 if width >= 100 else 0))
    columns = []
    for run, least in shown:
        sign = {f"delta{run.run_id}": "Δ" + arrow, f"value{run.run_id}": arrow}.get(by, "")
        wanted = min(max(least, len(run.label) + len(sign)), least + spare)
        spare -= wanted - least
        label = (Span(run.label, run_style(run.run_id)), Span(sign, "accent"))
        columns.append(Column(f"run{run.run_id}", label, wanted, align="right", elide="middle"))
    return [*fixed, query, *columns, *last], Window(first, len(shown), len(of.runs))


def _needed(shown: Sequence[tuple[Run, int]]) -> int:
    return sum(least + 1 for _, least in shown)


def _fitting(runs: Sequence[Run], of: VariantRuns, room: int) -> list[tuple[Run, int]]:
    """As many of the runs as there is room for, at least one, with the width that each needs."""
    shown: list[tuple[Run, int]] = []
    for run in runs:
        least = _WITH_DELTA if of.bases[run.run_id] is not None else _VALUE_WIDTH
        if shown and _needed(shown) + least + 1 > room:
            break
        shown.append((run, least))
    return shown


def variant_query_row(row: QueryRow, columns: Sequence[Column], of: VariantRuns) -> TableRow:
    """One line of the table."""
    values = {run.run_id: v for run in of.runs if (v := value_of(row, run.run_id)) is not None}
    marks = extremes(values)
    cells: list[Cell] = []
    for column in columns:
        if column.key in NAMING:
            cells.append(naming_cell(row, column.key))
        elif column.key == "spread":
            cells.append((Span(percent(spread_of(row, of)), ""),))
        else:
            run_id = int(column.key.removeprefix("run"))
            cells.append(_run_cell(row, run_id, values.get(run_id), marks.get(run_id), of))
    return TableRow(row.key.query_id, tuple(cells))


def _run_cell(row: QueryRow, run_id: int, value: float | None, mark: str | None, of: VariantRuns) -> Cell:
    ties = tie_mark(value is not None and row.ties[run_id] is not None)
    spans = [mark_span(mark), Span(percent(value).rjust(5), "" if value else "dim"), ties]
    if of.bases[run_id] is not None:
        delta = delta_of(row, run_id, of)
        spans.append(Span(f" {signed_percent(delta):>6}", delta_style(delta)))
    return tuple(spans)


def means_line(rows: Sequence[QueryRow], of: VariantRuns, *, by_task: bool) -> Cell:
    """Each run's mean over some rows, with its Δ: of the tasks' means (``by_task``), or of the rows."""
    spans: list[Span] = []
    for run in of.runs:
        own = [(row, value) for row in rows if (value := row.values[run.run_id]) is not None]
        if not own:
            continue
        deltas = [(row, delta) for row in rows if (delta := delta_of(row, run.run_id, of)) is not None]
        spans += [
            Span(" · " if spans else "", "dim"), Span(run.label, run_style(run.run_id)),
            Span(f" {percent(_mean(own, by_task))}", "strong"),
        ]  # fmt: skip
        if deltas and run.name.variant != ORIGINAL:
            delta = _mean(deltas, by_task)
            spans.append(Span(f" {signed_percent(delta)}", delta_style(delta)))
    return tuple(spans)


def _mean(values: Sequence[tuple[QueryRow, float]], by_task: bool) -> float:
    groups: dict[object, list[float]] = {}
    for row, value in values:
        groups.setdefault((row.key.dataset, row.key.task) if by_task else None, []).append(value)
    return sum(sum(group) / len(group) for group in groups.values()) / len(groups)

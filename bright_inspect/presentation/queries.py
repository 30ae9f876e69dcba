"""The Queries screen's rows, columns and headline, from query rows and scores."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from bright_inspect.domain.measures import Measure
from bright_inspect.domain.tally import tally
from bright_inspect.domain.ties import TieRange
from bright_inspect.evaluation.query_rows import QueryRow
from bright_inspect.presentation.cells import Cell, Column, Span, TableRow, run_style
from bright_inspect.presentation.conditions import mean_range, row_range, tie_mark, tie_note
from bright_inspect.presentation.filters import row_delta
from bright_inspect.presentation.numbers import delta_bar, delta_style, percent, signed_percent
from bright_inspect.presentation.sorting import sorted_by
from bright_inspect.store.collections import TaskKey
from bright_inspect.store.session import Run, differs

SortKey = Literal["change", "delta", "id", "query", "gold", "rank", "task"] | int
"""What the table is sorted by; ``change`` is |Δ|, a number the value of that run."""


#: Fewer cells than this say nothing of a query.
_LEAST_QUERY_WIDTH = 28


@dataclass(frozen=True, slots=True)
class Comparison:
    """Which runs are compared: all of the session, the one looked at (``run``) and the ``baseline``; equal when the
    session has one run only."""

    runs: tuple[Run, ...]
    run: Run
    baseline: Run
    measure: Measure

    @property
    def paired(self) -> bool:
        return self.run is not self.baseline

    def style(self, run: Run) -> str:
        """The run's own colour, the same everywhere."""
        return run_style(run.run_id)


def sort_rows(rows: Sequence[QueryRow], by: SortKey, descending: bool, compared: Comparison) -> list[QueryRow]:
    """Sorted rows; queries without a value come last either way, equals in the order of the data set."""
    run, baseline = compared.run.run_id, compared.baseline.run_id

    def value(row: QueryRow) -> float | str | None:
        if isinstance(by, int):
            return row.values[by]
        if by in ("change", "delta"):
            delta = row_delta(row, run, baseline)
            return None if delta is None else abs(delta) if by == "change" else delta
        if by == "rank":
            return row.best_gold_ranks[run]
        if by == "gold":
            return row.golds
        return row.text.casefold() if by == "query" else row.key.task if by == "task" else row.position

    return sorted_by(sorted(rows, key=lambda row: row.position), value, descending)


def best_rank_text(row: QueryRow, run: int) -> str:
    """The rank of the run's first gold; ``>100`` when its list of 100 holds none, a dash without a list or a gold."""
    if not row.golds or not row.depths[run]:
        return "–"
    best = row.best_gold_ranks[run]
    return f">{row.depths[run]}" if best is None else str(best)


def query_columns(
    rows: Sequence[QueryRow], compared: Comparison, width: int, by: SortKey, descending: bool, tasks: int
) -> list[Column]:
    """The columns that fit in ``width`` cells: where there is no room the bar goes first, then best ranks and golds."""
    longest_id = max((len(row.key.query_id) for row in rows), default=2)
    longest_task = max((len(row.key.task) for row in rows), default=4)
    arrow = " ▼" if descending else " ▲"

    def title(text: str, key: SortKey, style: str = "") -> Cell:
        return (Span(text, style), Span(arrow if key == by else "", "accent"))

    columns = [Column("id", title("id", "id"), max(4, min(longest_id, width // 6)), elide="middle")]
    if tasks > 1:
        columns.append(Column("task", title("task", "task"), min(longest_task, width // 6), elide="middle"))
    columns.append(Column("query", title("query", "query"), 12, flex=1))
    for run in compared.runs:
        run_width = max(8, min(len(run.label) + 2, 9 if width < 100 else width // 8))
        run_title = title(run.label, run.run_id, compared.style(run))
        columns.append(Column(f"run{run.run_id}", run_title, run_width, align="right", elide="middle"))
    gold = Column("gold", title("golds", "gold"), 7, align="right")
    rank = Column("rank", title("best gold rank", "rank"), max(8 * len(compared.runs) - 3, 16), align="right")
    if not compared.paired:
        return [*columns, gold, *([rank] if width >= 90 else [])]
    heading: SortKey = "change" if by == "change" else "delta"
    delta = Column("delta", title("|Δ|" if by == "change" else "Δ", heading), 8, align="right")
    bar = Column("bar", (Span("loss │ win", "dim"),), 13 if width < 160 else 25)
    # The query's text comes first: the bar and the ranks stay out where they would leave it too little.
    for extra in ([bar, gold, rank], [gold, rank], [bar, gold], [gold]):
        chosen = [*columns, delta, *extra]
        if width - sum(column.width + 1 for column in chosen if not column.flex) >= _LEAST_QUERY_WIDTH:
            return chosen
    return [*columns, delta, gold]


#: The columns that say which query a row is.
NAMING = ("id", "task", "query")


def naming_cell(row: QueryRow, key: str) -> Cell:
    """A query's id, task or text; ``key`` is one of NAMING."""
    if key == "query":
        return (Span(" ".join(row.text[:400].split())),) if row.text else (Span("no text at hand", "dim"),)
    return (Span(row.key.query_id, "dim"),) if key == "id" else (Span(row.key.task),)


def query_row(row: QueryRow, columns: Sequence[Column], compared: Comparison) -> TableRow:
    """One line of the table."""
    delta = row_delta(row, compared.run.run_id, compared.baseline.run_id) if compared.paired else None
    cells: list[Cell] = []
    for column in columns:
        if column.key in NAMING:
            cells.append(naming_cell(row, column.key))
        elif column.key == "delta":
            cells.append((Span(signed_percent(delta), delta_style(delta)),))
        elif column.key == "bar":
            cells.append(delta_bar(delta, column.width))
        elif column.key == "gold":
            cells.append((Span(str(row.golds) if row.golds else "–", "" if row.golds else "dim"),))
        elif column.key == "rank":
            texts = [best_rank_text(row, run.run_id) for run in compared.runs]
            found = any(text.isdigit() for text in texts)
            cells.append((Span(" | ".join(text.rjust(5) for text in texts).strip(), "" if found else "dim"),))
        else:
            run_id = int(column.key.removeprefix("run"))
            answered = row.depths[run_id] > 0
            value = Span(percent(row.values[run_id]), "" if answered and row.values[run_id] else "dim")
            cells.append((value, tie_mark(row.ties[run_id] is not None)))
    return TableRow(row.key.query_id, tuple(cells))


_DELTA = "   Δ "


@dataclass(frozen=True, slots=True)
class Headline:
    """What stands above the table: the means with Δ, the wins and losses, and what the reader must know of them, most
    important first."""

    means: Cell
    outcome: Cell
    notes: tuple[Cell, ...]

    @property
    def short_means(self) -> Cell:
        """The means for where there is no room to spell Δ: it is still run − baseline, in the order they stand."""
        return tuple(Span(_DELTA, span.style) if span.text.startswith(_DELTA) else span for span in self.means)


def headline(rows: Sequence[QueryRow], compared: Comparison, *, by_task: bool, narrow: bool = False) -> Headline:
    """The headline over some rows: the mean of their tasks' means (``by_task``, as the leaderboard), or of the rows.
    ``narrow`` asks for fewer words."""
    run, baseline = compared.run, compared.baseline
    own = [(row, value) for row in rows if (value := row.values[run.run_id]) is not None]
    scored = [(row, value, base) for row, value in own if (base := row.values[baseline.run_id]) is not None]
    means: list[Span] = [Span(run.label, compared.style(run))]
    if not scored:
        if own:
            means.append(Span(f" {percent(_mean([(_task_of(row), value) for row, value in own], by_task))}", "strong"))
        return Headline((*means, Span(f"  {_nothing_compared(rows, compared)}", "warning")), (), ())
    mean = _mean([(_task_of(row), value) for row, value, _ in scored], by_task)
    means.append(Span(f" {percent(mean)}", "strong"))
    outcome: list[Span] = []
    notes: list[Cell] = []
    if compared.paired:
        base_mean = _mean([(_task_of(row), base) for row, _, base in scored], by_task)
        delta = mean - base_mean
        means += [
            Span(" against ", "dim"), Span(baseline.label, compared.style(baseline)),
            Span(f" {percent(base_mean)}", "strong"),
            Span(f"{_DELTA}= {run.label} − {baseline.label} = ", "dim"),
            Span(signed_percent(delta), delta_style(delta)),
        ]  # fmt: skip
        counts = tally((value, base) for _, value, base in scored)
        outcome = [
            Span(f"win {counts.win}", "gain"), Span(f" · tie {counts.tie} ({counts.tie_both_zero} both 0) · "),
            Span(f"loss {counts.loss}", "loss"),
        ]  # fmt: skip
        notes += _differs_note(run, baseline)
    notes += _tie_notes([row for row, _, _ in scored], compared, by_task, narrow)
    for which in dict.fromkeys((run, baseline)):
        answered = sum(row.depths[which.run_id] > 0 for row, _, _ in scored)
        if answered < len(scored):
            of_answered = sum(row.values[which.run_id] or 0 for row, _, _ in scored if row.depths[which.run_id])
            mean_answered = percent(of_answered / answered) if answered else "–"
            text = f"{which.label} answers {answered} of {len(scored)} queries (mean of those {mean_answered})"
            notes.append((Span(text, "warning"),))
    return Headline(tuple(means), tuple(outcome), tuple(notes))


def _nothing_compared(rows: Sequence[QueryRow], compared: Comparison) -> str:
    """Why no query has a value of both runs."""
    if not rows:
        return "no query matches the filter"
    if all(value is None for row in rows for value in row.values):
        return "no judgments at hand: give --data DIR or --qrels FILE"
    missing = [
        which.label
        for which in dict.fromkeys((compared.run, compared.baseline))
        if all(row.values[which.run_id] is None for row in rows)
    ]
    tasks = ", ".join(dict.fromkeys(row.key.task for row in rows))
    have = "have" if len(missing) > 1 else "has"
    return f"{' and '.join(missing)} {have} no run of {tasks} · b another baseline, c another run"


def _task_of(row: QueryRow) -> TaskKey:
    return row.key.dataset, row.key.task


def _mean(values: Sequence[tuple[TaskKey, float]], by_task: bool) -> float:
    """The mean of (task, value) pairs, or of the tasks' means."""
    groups: dict[TaskKey | None, list[float]] = {}
    for task, value in values:
        groups.setdefault(task if by_task else None, []).append(value)
    return sum(sum(group) / len(group) for group in groups.values()) / len(groups)


def _tie_notes(rows: Sequence[QueryRow], compared: Comparison, by_task: bool, narrow: bool) -> list[Cell]:
    """How many of the queries tie order moves, and between which means it leaves each run."""
    notes: list[Cell] = []
    for which in dict.fromkeys((compared.run, compared.baseline)):
        run_id = which.run_id
        sensitive = sum(row.ties[run_id] is not None for row in rows)
        if not sensitive:
            continue
        groups: dict[TaskKey | None, list[TieRange]] = {}
        for row in rows:
            if (ties := row_range(row, run_id)) is not None:
                groups.setdefault(_task_of(row) if by_task else None, []).append(ties)
        queries = f"{sensitive:,} of {len(rows):,} {'query' if len(rows) == 1 else 'queries'}"
        mean = mean_range([mean_range(group) for group in groups.values()])
        notes.append(tie_note(which.label, mean, narrow, queries))
    return notes


def _differs_note(run: Run, baseline: Run) -> list[Cell]:
    what = differs(run.name, baseline.name)
    if "variant" not in what:
        return []
    text = f"they differ in {' and '.join(what)}"
    unknown = [each.name.system for each in (run, baseline) if each.name.variant is None]
    if unknown:
        text += f" · variant of {unknown[0]} unknown, name it: v V, or {unknown[0]}@VARIANT=PATH"
    return [(Span(text, "warning"),)]

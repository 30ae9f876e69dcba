"""The Overview screen: one row a task, one column a run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence

from bright_inspect.domain.measures import Measure
from bright_inspect.domain.rankings import QueryKey
from bright_inspect.evaluation.defaults import default_measure
from bright_inspect.evaluation.gold_fate import FAR, NEAR, GoldFate
from bright_inspect.evaluation.scores import TaskScores
from bright_inspect.presentation.cells import Cell, Column, Span, TableRow
from bright_inspect.presentation.conditions import (
    Effects,
    exclusion_note,
    mean_range,
    range_of,
    tie_mark,
    tie_note,
)
from bright_inspect.presentation.numbers import delta_style, percent, signed_percent, stacked_bar
from bright_inspect.presentation.queries import Comparison
from bright_inspect.store.collections import TaskKey
from bright_inspect.store.session import Run, differs

MEAN_ROW = "mean"
#: A value, its Δ and on how many tasks: `` 54.1≈ +26.9 (2)``, and with a number of two figures.
_VALUE_AND_DELTA, _WITH_MORE_TASKS = 16, 17


def task_title(key: TaskKey, datasets: int) -> str:
    """A task's name; with its dataset when several are open."""
    return key[1] if datasets == 1 else f"{key[0]}/{key[1]}"


def overview_columns(compared: Comparison, width: int) -> list[Column]:
    """Task, n, one column a run with its value and Δ, and the golds' fate in the compared run where there is room."""
    task_width, n_width = (13, 4) if width < 100 else (20, 5)
    if width < 100 and len(compared.runs) > 3:
        task_width = 10
    others = max(1, len(compared.runs) - 1)
    baseline_width = 10 if width < 100 else max(10, min(16, len(compared.baseline.label) + 1))
    room = width - task_width - baseline_width - len(compared.runs) - 12
    columns = [
        Column("task", (Span("task", "dim"),), task_width, flex=1, elide="middle"),
        Column("n", (Span("n", "dim"),), n_width, align="right"),
    ]
    for run in compared.runs:
        name = (Span(run.label, compared.style(run)),)
        needed = min(max(_WITH_MORE_TASKS, len(run.label) + 1), 24)
        run_width = baseline_width if run is compared.baseline else min(needed, max(_VALUE_AND_DELTA, room // others))
        columns.append(Column(f"run{run.run_id}", name, run_width, elide="middle"))
    if width - sum(column.width + 1 for column in columns) >= 36:
        title = (
            Span("gold of ", "dim"), Span(compared.run.label, compared.style(compared.run)),
            Span(f": █≤{NEAR} ▒{NEAR + 1}–{FAR} ░>{FAR}", "dim"),
        )  # fmt: skip
        columns.append(Column("fate", title, 36, flex=1))
    return columns


def overview_rows(
    tasks: Sequence[TaskKey],
    scores: Mapping[tuple[int, TaskKey], TaskScores],
    fates: Mapping[tuple[int, TaskKey], GoldFate],
    queries: Mapping[TaskKey, int],
    compared: Comparison,
    columns: Sequence[Column],
) -> list[TableRow]:
    """One row a task in the session's order, then the mean of tasks of each dataset."""
    datasets = list(dict.fromkeys(dataset for dataset, _ in tasks))
    rows = []
    for key in tasks:
        cells: list[Cell] = [(Span(task_title(key, len(datasets))),), (Span(str(queries.get(key, 0)), "dim"),)]
        base = scores.get((compared.baseline.run_id, key))
        for run in compared.runs:
            cells.append(_value_cell(run, scores.get((run.run_id, key)), base, compared))
        if columns[-1].key == "fate":
            cells.append(_fate_cell(fates.get((compared.run.run_id, key)), 20))
        rows.append(TableRow("/".join(key), tuple(cells)))
    for dataset in datasets:
        of_dataset = [key for key in tasks if key[0] == dataset]
        if len(of_dataset) > 1:
            rows.append(_mean_row(dataset, of_dataset, scores, compared, columns, len(datasets)))
    return rows


def _value_cell(run: Run, score: TaskScores | None, base: TaskScores | None, compared: Comparison) -> Cell:
    if score is None:
        return (Span("   –", "dim"),)
    spans = [Span(percent(score.mean).rjust(5)), tie_mark(score.tie_sensitive > 0)]
    if compared.paired and run is not compared.baseline and base is not None:
        delta = score.mean - base.mean
        spans.append(Span(f" {signed_percent(delta):>5}", delta_style(delta)))
    if len(score.answered & score.per_query.keys()) < len(score.per_query):
        spans.append(Span(" !", "warning"))
    return tuple(spans)


def _mean_row(
    dataset: str,
    tasks: list[TaskKey],
    scores: Mapping[tuple[int, TaskKey], TaskScores],
    compared: Comparison,
    columns: Sequence[Column],
    datasets: int,
) -> TableRow:
    title = f"mean of {len(tasks)} tasks" if datasets == 1 else f"mean of {len(tasks)} {dataset} tasks"
    cells: list[Cell] = [(Span(title, "strong"),), ()]
    base_tasks = [key for key in tasks if (compared.baseline.run_id, key) in scores]
    for run in compared.runs:
        own = [key for key in tasks if (run.run_id, key) in scores]
        if not own:
            cells.append((Span("   –", "dim"),))
            continue
        mean = sum(scores[run.run_id, key].mean for key in own) / len(own)
        sensitive = any(scores[run.run_id, key].tie_sensitive for key in own)
        spans = [Span(percent(mean).rjust(5), "strong"), tie_mark(sensitive)]
        common = [key for key in own if key in base_tasks]
        if compared.paired and run is not compared.baseline and common:
            delta = sum(
                scores[run.run_id, key].mean - scores[compared.baseline.run_id, key].mean for key in common
            ) / len(common)
            spans.append(Span(f" {signed_percent(delta):>5}", delta_style(delta)))
            if len(common) < len(own):
                spans.append(Span(f" Δ({len(common)})", "warning"))
        if len(own) < len(tasks):
            spans.append(Span(f" ({len(own)})", "warning"))
        cells.append(tuple(spans))
    if columns[-1].key == "fate":
        cells.append(())
    return TableRow(MEAN_ROW, tuple(cells))


def _fate_cell(fate: GoldFate | None, width: int) -> Cell:
    if fate is None or not fate.golds:
        return (Span("–", "dim"),)
    shares = [fate.near / fate.golds, fate.far / fate.golds, fate.beyond / fate.golds]
    bar = stacked_bar([(shares[0], "█", "gold"), (shares[1], "▒", "gold"), (shares[2], "░", "dim")], width)
    return (*bar, Span("  " + " · ".join(f"{100 * share:.0f}".rjust(3) for share in shares) + " %", "dim"))


def overview_notes(
    compared: Comparison, scores: Mapping[tuple[int, TaskKey], TaskScores], effects: Effects, width: int
) -> list[Cell]:
    """What must be known to read the table: what tie order and exclusions do to the means, other variants, runs
    without all tasks, queries not answered."""
    tasks = list(dict.fromkeys(task for _, task in scores))
    notes = _tie_notes(compared, scores, width)
    if excluded := exclusion_note(compared.runs, scores, effects, tasks):
        notes.append(excluded)
    differing = {run: differs(run.name, compared.baseline.name) for run in compared.runs}
    others = [run.label for run, what in differing.items() if "variant" in what]
    if others:
        also = "also " if any("system" in what for what in differing.values()) else ""
        verb = also + ("differ" if len(others) > 1 else "differs")
        names = ", ".join(others)
        notes.append((Span(f"{names} {verb} from {compared.baseline.label} in variant", "warning"),))
    covered = {run.run_id: {task for run_id, task in scores if run_id == run.run_id} for run in compared.runs}
    base_tasks = covered[compared.baseline.run_id]
    if any(covered[run.run_id] != base_tasks for run in compared.runs):
        base = compared.baseline.label
        text = f"Δ of means: over the tasks shared with {base}, Δ(n) if n only · (n): the mean of n tasks only"
        notes.append((Span(text, "dim"),))
    if any(len(s.answered & s.per_query.keys()) < len(s.per_query) for s in scores.values()):
        notes.append((Span("! some queries of the task have no list in the run; they count as 0", "warning"),))
    return notes


def _tie_notes(compared: Comparison, scores: Mapping[tuple[int, TaskKey], TaskScores], width: int) -> list[Cell]:
    """What tie order does to each run's mean of tasks; of each dataset, where there are several."""
    datasets = list(dict.fromkeys(dataset for _, (dataset, _) in scores))
    notes: list[Cell] = []
    for run in dict.fromkeys((compared.run, compared.baseline, *compared.runs)):
        for dataset in datasets:
            own = [score for (run_id, task), score in scores.items() if run_id == run.run_id and task[0] == dataset]
            if any(score.tie_sensitive for score in own):
                label = run.label if len(datasets) == 1 else f"{run.label} ({dataset})"
                notes.append(tie_note(label, mean_range([range_of(score) for score in own]), width < 100))
    return notes


def opening_measure(tasks: Sequence[TaskKey]) -> Measure:
    """The measure to open with: that of the first task's dataset."""
    return default_measure(tasks[0][0])


def tag_notes(tags: Mapping[QueryKey, Collection[str]]) -> list[Cell]:
    """How many queries have each tag, the most frequent first; nothing where there is none."""
    counts = Counter(tag for of_query in tags.values() for tag in of_query)
    if not counts:
        return []
    spans = [Span("tags: ", "dim")]
    for number, (tag, count) in enumerate(sorted(counts.items(), key=lambda item: (-item[1], item[0]))):
        spans += [Span(" · " if number else "", "dim"), Span(tag), Span(f" {count}", "dim")]
    return [(*spans, Span(" · tag:NAME filters queries", "dim"))]

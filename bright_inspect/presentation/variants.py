"""The Variants screen's tasks: one row for each task and run, beside the run of its system on the original queries."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, cast, get_args

from bright_inspect.domain.measures import Measure
from bright_inspect.domain.names import ORIGINAL
from bright_inspect.domain.tally import TIE_TOLERANCE
from bright_inspect.presentation.cells import Cell, Column, Span, TableRow, run_style
from bright_inspect.presentation.conditions import tie_mark
from bright_inspect.presentation.numbers import delta_bar, delta_style, percent, signed_percent
from bright_inspect.presentation.overview import task_title
from bright_inspect.presentation.sorting import sorted_by
from bright_inspect.rewriting.comparison import VariantScore, lengths_for, mean_scores, without_run
from bright_inspect.rewriting.lengths import VariantLengths
from bright_inspect.store.collections import TaskKey
from bright_inspect.store.session import Run

Lengths = Mapping[tuple[TaskKey, str], VariantLengths]
TaskSort = Literal["order", "task", "run", "n", "value", "delta", "win", "tie", "loss", "words", "growth", "kept"]
"""What the table is sorted by; ``order`` is that of the tasks, systems beside each other."""
TASK_SORTS: tuple[TaskSort, ...] = get_args(TaskSort)
TASK_LEGEND = "words: mean length · ×: of the original's · kept: share of its words left"

BEST, WORST = "▲", "▼"
_MOST_NAMED = 3


def extremes(values: Mapping[int, float]) -> dict[int, str]:
    """A mark for each of some values that is the best or the worst of them; none where all are the same."""
    if not values or max(values.values()) - min(values.values()) <= TIE_TOLERANCE:
        return {}
    best, worst = max(values.values()), min(values.values())
    marks = {key: BEST for key, value in values.items() if best - value <= TIE_TOLERANCE}
    return marks | {key: WORST for key, value in values.items() if value - worst <= TIE_TOLERANCE}


def mark_span(mark: str | None) -> Span:
    """A best or worst mark, or a blank as wide."""
    return Span(mark or " ", "gain" if mark == BEST else "loss" if mark == WORST else "")


@dataclass(frozen=True, slots=True)
class VariantLine:
    """A row: a run on ``tasks``, several for a mean, or a variant that no run was made with (no ``score``)."""

    tasks: tuple[TaskKey, ...]
    variant: str | None
    score: VariantScore | None
    lengths: VariantLengths | None
    mark: str | None

    @property
    def run(self) -> Run | None:
        return self.score.run if self.score else None

    @property
    def place(self) -> tuple[object, ...]:
        """What tells the line from others, whatever its values are."""
        return self.tasks, self.variant if self.run is None else self.run.run_id


def variant_lines(
    tasks: Sequence[TaskKey], scores: Sequence[VariantScore], runs: Sequence[Run], lengths: Lengths
) -> list[VariantLine]:
    """The means of each dataset of several tasks first, then task by task; variants without a run last of each."""
    lines = []
    means = mean_scores([score for score in scores if score.task in tasks])
    for dataset in dict.fromkeys(mean.task[0] for mean in means):
        own = tuple(task for task in tasks if task[0] == dataset)
        of_dataset = [mean for mean in means if mean.task[0] == dataset]
        # Means of other tasks are not better or worse.
        alike = all(mean.tasks == of_dataset[0].tasks for mean in of_dataset)
        marks = extremes({mean.run.run_id: mean.value for mean in of_dataset}) if alike else {}
        lines += [
            VariantLine(own, s.run.name.variant, s, lengths_for(s, lengths, own), marks.get(s.run.run_id))
            for s in of_dataset
        ]
    for task in tasks:
        of_task = [score for score in scores if score.task == task]
        marks = extremes({score.run.run_id: score.value for score in of_task})
        lines += [
            VariantLine((task,), s.run.name.variant, s, lengths_for(s, lengths, ()), marks.get(s.run.run_id))
            for s in of_task
        ]
        unused = without_run([each for (key, _), each in lengths.items() if key == task], runs)
        lines += [VariantLine((task,), each.variant, None, each, None) for each in unused]
    return lines


def sort_lines(lines: Sequence[VariantLine], by: TaskSort, descending: bool) -> list[VariantLine]:
    """Sorted lines: means stay above, lines without what is asked for come last either way."""
    if by == "order":
        return list(lines)

    def value(line: VariantLine) -> float | str | None:
        if by == "task":
            return line.tasks[0][1]
        if by == "run":
            return line.run.name.in_full if line.run else f"~{line.variant}"
        if by in ("words", "growth", "kept"):
            found = line.lengths
            if found is None:
                return None
            return {"words": found.words, "growth": found.growth, "kept": found.surviving}[by]
        score = line.score
        if score is None:
            return None
        if by in ("win", "tie", "loss"):
            return None if score.outcome is None else float(getattr(score.outcome, by))
        return {"n": float(score.queries), "value": score.value, "delta": score.delta}[by]

    means = [line for line in lines if len(line.tasks) > 1]
    rest = [line for line in lines if len(line.tasks) == 1]
    done: list[VariantLine] = []
    for part in (means, rest):
        done += sorted_by(part, value, descending)
    return done


def task_sort_name(by: TaskSort) -> str:
    """The order in words."""
    return {
        "order": "tasks in their order", "n": "by queries", "delta": "by Δ", "growth": "by × the original's length",
        "kept": "by words kept",
    }.get(by, f"by {by}")  # fmt: skip


def task_columns(
    lines: Sequence[VariantLine], measure: Measure, width: int, by: TaskSort, descending: bool
) -> list[Column]:
    """The columns that fit in ``width`` cells: where there is no room how many queries there are goes out, if all are
    answered, and the ties that are both 0."""
    wide = width >= 100
    partial = any(line.score is not None and line.score.partial for line in lines)

    def column(key: TaskSort, title: str, least: int, text: bool = False) -> Column:
        cell = (Span(title, "dim"), Span(("▼" if descending else "▲") if key == by else "", "accent"))
        needed = max(least, len(title) + (key == by))
        return Column(key, cell, needed, align="left" if text else "right", elide="middle" if text else "end")

    def count(key: Literal["win", "tie", "loss"], title: str) -> Column:
        outcomes = [line.score.outcome for line in lines if line.score is not None and line.score.outcome is not None]
        digits = max((len(str(getattr(outcome, key))) for outcome in outcomes), default=0)
        return column(key, title, digits + (2 if wide else 0) + (digits + 3 if wide and key == "tie" else 0))

    lists = max((len(_lists(line.score)) for line in lines if line.score is not None), default=1)
    numbers = (
        [column("n", "lists" if partial else "n", max(6, lists + 1) if wide else lists)] if wide or partial else []
    )
    numbers += [column("value", str(measure) if wide else "value", 10 if wide else 7), column("delta", "Δ", 6)]
    if width >= 150:
        numbers.append(Column("bar", (Span("loss │ win", "dim"),), 25))
    numbers += [count("win", "win"), count("tie", "tie (0)" if wide else "tie"), count("loss", "loss")]
    for key, title, least in (("words", "words", 6), ("growth", "×", 4), ("kept", "kept", 5)):
        numbers.append(column(cast("TaskSort", key), title, least + (2 if wide else 0)))
    # One cell between columns, one at either side and the scrollbar's. The names come beside the numbers.
    room = width - 4 - sum(each.width + 1 for each in numbers)
    datasets = _datasets(lines)
    longest_task = max((len(_title(line, datasets)) for line in lines), default=4)
    longest_run = max((len("".join(span.text for span in _run_cell(line))) for line in lines), default=3)
    run_width = min(longest_run, max(room - longest_task, room * 4 // 7))
    task_width = min(longest_task, room - run_width)
    names = [column("task", "task", task_width, True), column("run", "run", run_width, True)]
    return [*names, *numbers, Column(FILLER, (), 0, flex=1)]


#: The last column, without anything: what room there is stays at the right.
FILLER = "filler"


def task_rows(lines: Sequence[VariantLine], columns: Sequence[Column], *, reading: bool) -> list[TableRow]:
    """The lines as they stand; a task's name is dim where it is that of the line above. ``reading`` says that the texts
    are still being read."""
    datasets = _datasets(lines)
    rows, above = [], ""
    for line in lines:
        title = _title(line, datasets)
        partly = line.score is not None and 1 < len(line.tasks) != line.score.tasks
        style = "warning" if partly else "dim" if title == above else "strong" if len(line.tasks) > 1 else ""
        cells = [
            (Span(title, style),) if column.key == "task" else _cell(line, column, reading=reading)
            for column in columns
        ]
        rows.append(TableRow("/".join(line.tasks[0]), tuple(cells)))
        above = title
    return rows


def _datasets(lines: Sequence[VariantLine]) -> int:
    return len({task[0] for line in lines for task in line.tasks})


def _title(line: VariantLine, datasets: int) -> str:
    """The task's name; of a mean, of how many tasks it is."""
    if len(line.tasks) == 1 or line.score is None:
        return task_title(line.tasks[0], datasets)
    tasks = f"{line.score.tasks} {line.tasks[0][0]}" if datasets > 1 else str(line.score.tasks)
    return f"mean of {tasks}"


def _lists(score: VariantScore) -> str:
    """How many queries; where lists are missing, of how many there is what is to be compared."""
    some = score.shared if score.outcome is not None else score.answered
    return f"{some}/{score.queries}" if score.partial else f"{score.queries:,}"


def _run_cell(line: VariantLine) -> Cell:
    if line.score is None:
        return (Span(f"no run @{line.variant}", "dim"),)
    return (Span(line.score.run.name.in_full, run_style(line.score.run.run_id)),)


_NOTHING: Cell = (Span("–", "dim"),)


def _cell(line: VariantLine, column: Column, *, reading: bool) -> Cell:
    key, score = column.key, line.score
    if key in ("words", "growth", "kept"):
        return _length_cell(line, key, reading=reading)
    if key == "run":
        return _run_cell(line)
    if score is None or key == FILLER:
        return _NOTHING if key == "value" else ()
    if key == "n":
        return (Span(_lists(score), "warning" if score.partial else "dim"),)
    if key == "value":
        return (mark_span(line.mark), Span(percent(score.value).rjust(5)), tie_mark(score.tie_sensitive))
    if score.run.name.variant == ORIGINAL:
        return ()  # it is what the others are compared with
    if key == "bar":
        return delta_bar(score.delta, column.width)
    if key == "delta":
        return (Span(signed_percent(score.delta), delta_style(score.delta)),)
    if score.outcome is None:
        return ()
    if key == "tie":
        both = f" ({score.outcome.tie_both_zero})" if column.title[0].text != "tie" else ""
        return (Span(str(score.outcome.tie)), Span(both, "dim"))
    number = getattr(score.outcome, key)
    return (Span(str(number), {"win": "gain", "loss": "loss"}[key] if number else "dim"),)


def _length_cell(line: VariantLine, key: str, *, reading: bool) -> Cell:
    found = line.lengths
    if found is None:
        shown = "…" if reading and line.variant is not None else "–"
        return (Span(f"{shown} " if key == "words" else shown, "dim"),)
    if key == "words":
        queries = line.score.queries if line.score and len(line.tasks) > 1 else found.queries
        return (Span(f"{found.words:,.0f}"), Span("!" if found.texts < queries else " ", "warning"))
    if line.variant == ORIGINAL:
        return ()
    if key == "growth":
        return (Span("–", "dim"),) if found.growth is None else (Span(f"{found.growth:.1f}"),)
    return _NOTHING if found.surviving is None else (Span(f"{100 * found.surviving:.0f} %"),)


def variant_notes(
    lines: Sequence[VariantLine], lengths: Lengths, *, reading: bool, texts: bool = True, on_screen: bool = True
) -> list[Cell]:
    """What must be known to read the table, most important first; ``texts`` also of the texts. Off the screen there are
    no keys that help."""
    notes: list[Cell] = []
    single = [line for line in lines if len(line.tasks) == 1]
    scored = [line.score for line in single if line.score is not None]
    unknown = [score.run for score in scored if score.run.name.variant is None]
    if unknown:
        names = _named(run.name.system for run in unknown)
        how = "V says which" if on_screen else "name it: NAME@VARIANT=PATH"
        notes.append((Span(f"{names}: variant not known, {how}", "warning"),))
    if scored and all(score.run.name.variant == ORIGINAL for score in scored):
        text = "only runs on the original queries are open. "
        notes.append(
            (Span(text), Span("Open others too, NAME@VARIANT=PATH; bright-inspect retrieve makes them", "dim"))
        )
    notes += _missing_originals(scored)
    if any(score.partial for score in scored):
        text = "lists: Δ, wins and losses are over the queries that run and original both have a list for; "
        notes.append((Span(f"{text}in the value the others count as 0", "warning"),))
    if texts and not reading:
        notes += _text_notes(single, lengths)
    if on_screen and any(score.tie_sensitive for score in scored):
        notes.append((Span("≈ tie order alone moves the value (a says how far)", "dim"),))
    return notes


def _how_to_pair(originals: Collection[str]) -> str:
    """What to do where a system has no run on the original queries; ``originals`` are the systems that have one."""
    named = ", ".join(f"{system}@original" for system in sorted(originals)[:3])
    open_ones = f" · runs pair by name, open: {named}" if originals else ""
    return f"Open one too: NAME@original=PATH, or bright-inspect retrieve makes it{open_ones}"


def _missing_originals(scores: Sequence[VariantScore]) -> list[Cell]:
    """Of which systems there is no Δ because there is no run on the original queries."""
    missing: dict[str, list[TaskKey]] = {}
    for score in scores:
        if score.delta is None and score.run.name.variant not in (None, ORIGINAL):
            missing.setdefault(score.run.name.system, []).append(score.task)
    if not missing:
        return []
    anywhere = {score.run.name.system for score in scores if score.run.name.variant == ORIGINAL}
    never = [system for system in missing if system not in anywhere]
    notes: list[Cell] = []
    if never:
        text = f"{_named(never)}: no run of that name on the original queries, so no Δ. "
        notes.append(
            (
                Span(text, "warning"),
                Span(_how_to_pair(anywhere), "dim"),
            )
        )
    for system, tasks in missing.items():
        if system in anywhere:
            text = f"{system}@original has no list of {_named(task for _, task in tasks)}, so no Δ there"
            notes.append((Span(text, "warning"),))
    return notes


def _text_notes(lines: Sequence[VariantLine], lengths: Lengths) -> list[Cell]:
    notes: list[Cell] = []
    unused = _named(line.variant or "" for line in lines if line.score is None)
    if unused:
        notes.append(
            (Span(f"no run with {unused}: ", ""), Span("bright-inspect retrieve --variant NAME[=FILE]", "dim"))
        )
    absent: dict[str, set[TaskKey]] = {}
    for line in lines:
        if line.variant not in (None, ORIGINAL) and line.lengths is None:
            absent.setdefault(line.variant or "", set()).update(line.tasks)
    if absent:
        tasks = _count(len(set().union(*absent.values())), "task")
        text = f"! texts of {_named(absent)} are not at hand for {tasks}: "
        notes.append((Span(text, "warning"), Span("--data DIR, or --variant NAME=FILE", "dim")))
    for each in lengths.values():
        if each.texts < each.queries and each.variant != ORIGINAL:
            text = f"! {each.variant} has texts of {each.texts} of {each.queries} queries of {each.task[1]}"
            notes.append((Span(text, "warning"),))
    return notes


def _named(names: Iterable[str]) -> str:
    distinct = list(dict.fromkeys(names))
    more = f" and {len(distinct) - _MOST_NAMED} more" if len(distinct) > _MOST_NAMED else ""
    return ", ".join(distinct[:_MOST_NAMED]) + more


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"

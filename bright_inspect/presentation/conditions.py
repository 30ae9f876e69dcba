"""What a value hangs on besides the run: the order of tied documents (≈) and the removal of excluded ones (✗).

A published reranker's file scores anything between 24.2 and 50.3 by tie order alone (FORMATS F.8), and leaving excluded
documents in moves leetcode by up to 13 points (FORMATS, trap 9): the screens say both wherever they show the value.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from bright_inspect.domain.ties import TieRange
from bright_inspect.evaluation.query_rows import QueryRow
from bright_inspect.evaluation.scores import ExclusionEffect, TaskScores
from bright_inspect.presentation.cells import Cell, Span
from bright_inspect.presentation.numbers import percent
from bright_inspect.store.collections import TaskKey
from bright_inspect.store.session import Run, Session
from bright_inspect.store.sidecars import PARTIAL_CORPUS

TIE_MARK = "≈"
#: Tasks that a note on exclusions names at most.
_MOST_TASKS = 3

Effects = Mapping[tuple[int, TaskKey], ExclusionEffect]
"""By (run_id, task), for the runs that list excluded documents."""


def partial_corpus_note(session: Session, runs: Sequence[Run]) -> list[Cell]:
    """Which of these runs say that they were made over a part of the corpus, first thing to know of a difference."""
    files = {finding.file for finding in session.findings if finding.code == PARTIAL_CORPUS}
    partial = [run.label for run in dict.fromkeys(runs) if any(str(file.path) in files for file in run.files)]
    if not partial:
        return []
    text = f"{', '.join(partial)}: over a part of the corpus, no match for runs over all of it (! says how much)"
    return [(Span(text, "warning"),)]


def tie_mark(tie_sensitive: bool) -> Span:
    """``≈`` where tie order alone moves a value; as wide where it does not, so that columns stay straight."""
    return Span(TIE_MARK if tie_sensitive else " ", "warning")


def range_text(ties: TieRange, expected: bool = True) -> str:
    """The range of one value, with what is to be expected: ``0.0–63.1, 33.0``."""
    return f"{percent(ties.worst)}–{percent(ties.best)}" + (f", {percent(ties.expected)}" if expected else "")


def tie_note(label: str, ties: TieRange, narrow: bool, queries: str = "") -> Cell:
    """What tie order does to a mean: ``≈ tie order alone moves rader between 24.2 and 50.3 (expected 33.0)``, and
    ``queries`` after it, such as how many it moves. A range that one decimal does not show is said to be small."""
    after = f"; {queries}" if queries else ""
    if percent(ties.worst) == percent(ties.best):
        text = f"tie order alone moves {label} by less than 0.1"
    elif narrow:
        text = f"ties: {label} {percent(ties.worst)}–{percent(ties.best)}, expected {percent(ties.expected)}"
    else:
        between = f"between {percent(ties.worst)} and {percent(ties.best)}"
        text = f"tie order alone moves {label} {between} (expected {percent(ties.expected)})"
    return (Span(f"{TIE_MARK} {text}{after}", "warning"),)


def mean_range(ranges: Sequence[TieRange]) -> TieRange:
    """The range of a mean: ties of different queries are broken independently, so best, worst and expected average."""
    count = len(ranges)
    return TieRange(
        sum(each.best for each in ranges) / count,
        sum(each.worst for each in ranges) / count,
        sum(each.expected for each in ranges) / count,
    )


def range_of(score: TaskScores) -> TieRange:
    """The range of a task's mean."""
    return TieRange(score.best, score.worst, score.expected)


def row_range(row: QueryRow, run_id: int) -> TieRange | None:
    """A query's value as a range: one of no width where tie order changes nothing; None without a value."""
    value, ties = row.values[run_id], row.ties[run_id]
    return ties or (None if value is None else TieRange(value, value, value))


def exclusion_note(
    runs: Sequence[Run], scores: Mapping[tuple[int, TaskKey], TaskScores], effects: Effects, tasks: Sequence[TaskKey]
) -> Cell:
    """How many excluded documents were removed from each run, and the task's values if they had stayed: those that
    change most. Empty where no run lists any."""
    parts = []
    for run in runs:
        own = [(task, effects[run.run_id, task]) for task in tasks if (run.run_id, task) in effects]
        if not own:
            continue
        means = {task: scores[run.run_id, task].mean for task, _ in own if (run.run_id, task) in scores}
        changed = sorted(
            (each for each in own if each[0] in means and percent(means[each[0]]) != percent(each[1].mean_without)),
            key=lambda each: -abs(means[each[0]] - each[1].mean_without),
        )
        several = len(tasks) > 1
        values = [
            f"{task[1] + ' ' if several else ''}{percent(means[task])}, with them {percent(effect.mean_without)}"
            for task, effect in changed[:_MOST_TASKS]
        ]
        values += ["…"] if len(changed) > _MOST_TASKS else []
        number = sum(effect.documents for _, effect in own)
        parts.append(f"{number:,} from {run.label} ({'; '.join(values) or 'no value changes'})")
    return (Span(f"✗ excluded documents removed: {' · '.join(parts)}", "warning"),) if parts else ()

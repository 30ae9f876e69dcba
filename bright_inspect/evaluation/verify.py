"""Reported values against recomputed ones, and for each difference the rule that explains it, found by trying them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from bright_inspect.db import Cursor
from bright_inspect.domain.measures import Measure
from bright_inspect.evaluation.audit import our_convention, query_case
from bright_inspect.evaluation.conventions import CONVENTIONS, OURS, Convention
from bright_inspect.evaluation.scores import TaskScores, macro_mean, task_scores
from bright_inspect.formats.reported import ReportedValue
from bright_inspect.store.cases import FileList, task_lists
from bright_inspect.store.collections import TaskKey
from bright_inspect.store.session import Run, Session

Verdict = Literal["equal", "explained", "unexplained", "not compared"]

#: What a table calls the mean over a run's tasks.
_MEAN_NAMES = {"mean", "avg", "average", "all", "macro", "overall", "mean_of_tasks"}
#: Rules that are one cause each come first: a tool's rule is made of several.
_CAUSES = ("file-order", "missing-dropped", "no-exclusion", "ideal-from-retrieved", "exponential-gain")
#: Cutoffs whose value may stand under another's name.
_OTHER_CUTOFFS = (1, 3, 5, 10, 20, 25, 50, 100, 1000)


@dataclass(frozen=True, slots=True)
class Verified:
    """One reported value beside the recomputed one (fractions). ``reason`` says what explains a difference, or why
    nothing was compared; ``exact`` that the explanation gives the reported value to its last digit."""

    reported: ReportedValue
    run: Run | None
    task: TaskKey | None
    recomputed: float | None
    verdict: Verdict
    reason: str = ""
    exact: bool = False

    @property
    def difference(self) -> float | None:
        """Reported − recomputed."""
        return None if self.recomputed is None else self.reported.value - self.recomputed


@dataclass(slots=True)
class Verifier:
    """Compares values of one session. Scores and lists are computed once, when first asked for."""

    session: Session
    cursor: Cursor
    _scores: dict[Measure, list[TaskScores]] = field(default_factory=dict)
    _lists: dict[tuple[int, TaskKey], list[FileList]] = field(default_factory=dict)

    def verify(self, reported: ReportedValue) -> Verified:
        """Find the run and the task that a value is of, recompute it, and explain a difference beyond rounding."""
        run, reason = self._run_of(reported)
        if run is None:
            return Verified(reported, None, None, None, "not compared", reason)
        if reported.task is not None and reported.task.lower() in _MEAN_NAMES:
            return self._verify_mean(reported, run)
        tasks = [
            task
            for task in run.tasks
            if (reported.task in (None, task[1]))
            and (reported.dataset in (None, task[0], "bright"))
            and task not in self.session.unscored
        ]
        if reported.dataset is not None and len(tasks) > 1:
            tasks = [task for task in tasks if task[0] == reported.dataset] or tasks
        if len(tasks) != 1:
            known = ", ".join("/".join(task) for task in run.tasks)
            what = f"no task is named, and {run.label} has {known}" if tasks else f"{run.label} has only {known}"
            return Verified(reported, run, None, None, "not compared", what)
        return self._verify_task(reported, run, tasks[0])

    def _verify_mean(self, reported: ReportedValue, run: Run) -> Verified:
        own = [score for score in self._scores_of(reported.measure) if score.run is run]
        recomputed = macro_mean(own)
        if recomputed is None or abs(reported.value - recomputed) <= _tolerance(reported):
            verdict: Verdict = "not compared" if recomputed is None else "equal"
            return Verified(reported, run, None, recomputed, verdict, f"mean of {len(own)} tasks")
        reason = f"the mean of {len(own)} tasks is another; verify the tasks' own values to see which"
        return Verified(reported, run, None, recomputed, "unexplained", reason)

    def _verify_task(self, reported: ReportedValue, run: Run, task: TaskKey) -> Verified:
        score = next(
            (score for score in self._scores_of(reported.measure) if score.run is run and score.task == task), None
        )
        if score is None:
            return Verified(reported, run, task, None, "not compared", f"nothing is judged for {'/'.join(task)}")
        recomputed = score.mean if reported.query_id is None else score.per_query.get(reported.query_id)
        if recomputed is None:
            return Verified(reported, run, task, None, "not compared", f"query {reported.query_id} is not judged")
        if abs(reported.value - recomputed) <= _tolerance(reported):
            return Verified(reported, run, task, recomputed, "equal")
        reasons, nearest = [], (float("inf"), "")
        for reason, value in self._candidates(reported, run, task, score):
            off = abs(value - reported.value)
            if off <= _tolerance(reported):
                reasons.append(reason)
            nearest = min(nearest, (off, f"{reason} gives {value:.5f}"))
        if reasons:
            others = f" (so do: {'; '.join(reasons[1:4])})" if len(reasons) > 1 else ""
            return Verified(reported, run, task, recomputed, "explained", reasons[0] + others, exact=True)
        if loose := _loose_reason(reported, score, self.session, recomputed, self._depth(run, task)):
            return Verified(reported, run, task, recomputed, "explained", loose)
        reason = f"no rule that was tried gives it; nearest: {nearest[1]}" if nearest[1] else "nothing to try"
        return Verified(reported, run, task, recomputed, "unexplained", reason)

    # --- what may explain it -------------------------------------------------------------------------------------

    def _candidates(
        self, reported: ReportedValue, run: Run, task: TaskKey, score: TaskScores
    ) -> Iterator[tuple[str, float]]:
        """What else the value could be: (reason, value), single causes first."""
        measure, query_id = reported.measure, reported.query_id
        lists = self._lists_of(run, task)
        if query_id is not None:
            lists = [listed for listed in lists if listed.query_id == query_id]
        layer = self.session.collections.layer_of(task)
        others = [name for name in self.session.collections.layers_of(task) if name != layer]
        ours = our_convention(self.session.ties)
        conventions = sorted(
            (convention for convention in CONVENTIONS if convention.name != OURS.name),
            key=lambda convention: convention.name not in _CAUSES,
        )
        for convention in conventions:
            yield from _mean_by(convention, measure, lists, layer, convention_reason(convention))
        for name in others:
            yield from _mean_by(ours, measure, lists, name, f"judged by layer {name} instead of {layer}")
        if score.ties:
            yield "every tie in its best order", score.best
            yield "every tie in its worst order", score.worst
            yield "the expected value over tie orders", score.expected
        for name in others:
            for convention in conventions:
                reason = f"layer {name} and {convention_reason(convention)}"
                yield from _mean_by(convention, measure, lists, name, reason)
        if query_id is None:
            for cutoff in _OTHER_CUTOFFS:
                if measure.cutoff is not None and cutoff != measure.cutoff:
                    other = Measure(measure.kind, cutoff)
                    yield from _mean_by(ours, other, lists, layer, f"it is the value of {other}")
            for other_score in self._scores_of(measure):
                if other_score.task == task and other_score.run is not run:
                    yield f"it is the value of {other_score.run.label}: a stale or exchanged file", other_score.mean

    # --- what a value is of --------------------------------------------------------------------------------------

    def _run_of(self, reported: ReportedValue) -> tuple[Run | None, str]:
        """The run that a value is of: the one beside the file, or the one of that name, or the only one there is."""
        runs = self.session.runs
        folder = Path(reported.file).absolute().parent
        beside = [run for run in runs if any(file.path.absolute().parent == folder for file in run.files)]
        named = [run for run in runs if reported.run is not None and _names(run, reported.run)]
        for found in ([run for run in beside if run in named], named):
            if len(found) == 1:
                return found[0], ""
        if len(beside) == 1 and not named:
            return beside[0], ""
        of_task = [run for run in runs if any(reported.task in (None, task[1]) for task in run.tasks)]
        if not named and reported.run is None and len(of_task) == 1:
            return of_task[0], ""
        known = ", ".join(run.label for run in runs)
        if len(named) > 1:
            return None, f"{reported.run} may be any of {', '.join(run.label for run in named)}"
        if reported.run is None:
            return None, f"it names no run, and there are {known}"
        if len(runs) == 1:
            return runs[0], ""  # there is no other that could be meant
        return None, f"no run here is called {reported.run}: there are {known}"

    def _scores_of(self, measure: Measure) -> list[TaskScores]:
        if measure not in self._scores:
            self._scores[measure] = task_scores(self.session, measure, cursor=self.cursor)
        return self._scores[measure]

    def _lists_of(self, run: Run, task: TaskKey) -> list[FileList]:
        key = (run.run_id, task)
        if key not in self._lists:
            self._lists[key] = list(task_lists(self.session, self.cursor, run, task).values())
        return self._lists[key]

    def _depth(self, run: Run, task: TaskKey) -> int:
        return max((len(listed.rows or ()) for listed in self._lists_of(run, task)), default=0)


def convention_reason(convention: Convention) -> str:
    """A convention as an explanation of a value."""
    return f"scored as {convention.name} ({convention.title})"


def _mean_by(
    convention: Convention, measure: Measure, lists: Sequence[FileList], layer: str, reason: str
) -> Iterator[tuple[str, float]]:
    cases = [query_case(listed, layer) for listed in lists if layer in listed.relevance]
    mean = convention.mean(measure, cases)
    if mean.value is not None:
        counted = f", over {mean.counted} of {mean.queries} queries" if mean.counted < mean.queries else ""
        yield reason + counted, mean.value


def _loose_reason(reported: ReportedValue, score: TaskScores, session: Session, recomputed: float, depth: int) -> str:
    """What leaves room for the value without giving it to the last digit; empty if nothing does."""
    ties = score.ties.get(reported.query_id) if reported.query_id is not None else None
    worst, best = (ties.worst, ties.best) if ties else (score.worst, score.best)
    if reported.query_id is not None and ties is None:
        worst = best = recomputed
    slack = _tolerance(reported)
    reasons = []
    reach = reported.measure.cutoff
    if (reach is None or reach > depth) and reported.value > recomputed:
        looks = "all ranks" if reach is None else f"{reach} ranks"
        reasons.append(f"the file lists at most {depth} documents a query and {reported.measure} looks at {looks}")
    if best - worst > slack and worst - slack <= reported.value <= best + slack:
        reasons.append(f"another order of ties can give it, {worst:.5f} to {best:.5f}")
    return ", or ".join(reasons)


def _tolerance(reported: ReportedValue) -> float:
    """How far a value may be off by the rounding of its last digit."""
    return 0.5 * 10.0**-reported.decimals + 1e-9


def _names(run: Run, text: str) -> bool:
    """Whether a reported name is the run's: its label, system or file, whatever the case and the separators."""
    wanted = _plain(text)
    files = [str(file.path) for file in run.files] + [file.path.name for file in run.files]
    return wanted in {_plain(name) for name in (run.label, run.name.in_full, run.name.system, *files)}


def _plain(name: str) -> str:
    return re.sub(r"[\s_./-]+", "-", name.strip().lower())

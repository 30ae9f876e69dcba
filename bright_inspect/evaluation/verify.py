"""Reported values against recomputed ones, and for each difference the rule that explains it, found by trying them."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

from bright_inspect.db import Cursor
from bright_inspect.domain.measures import Measure
from bright_inspect.evaluation.audit import our_convention, query_case
from bright_inspect.evaluation.conventions import CONVENTIONS, OURS, Convention, ListedDoc, QueryCase
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
_TIE_ORDERS = {
    "best": "every tie in its best order",
    "worst": "every tie in its worst order",
    "expected": "the value expected of ties in random order",
}
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


@dataclass(frozen=True, slots=True)
class _Rule:
    """One thing that may explain a value: a convention, a layer of judgments, another cutoff, or tie order."""

    reason: str
    convention: Convention
    layer: str | None = None  # None: the one that counts
    cutoff: int | None = None  # None: the measure's own


@dataclass(slots=True)
class Verifier:
    """Compares values of one session. Scores, lists and what the rules give are computed when first asked for."""

    session: Session
    cursor: Cursor
    check: Callable[[], None] = lambda: None
    _scores: dict[Measure, list[TaskScores]] = field(default_factory=dict)
    _lists: dict[tuple[int, TaskKey], list[FileList]] = field(default_factory=dict)
    _cases: dict[tuple[int, TaskKey, str], list[QueryCase]] = field(default_factory=dict)
    _means: dict[tuple[int, TaskKey, Measure, str], float | None] = field(default_factory=dict)

    def verify(self, reported: ReportedValue) -> Verified:
        """Find the run and the task that a value is of, recompute it, and explain a difference beyond rounding."""
        run, reason = self._run_of(reported)
        if run is None:
            return Verified(reported, None, None, None, "not compared", reason)
        if reported.task is not None and reported.task.lower() in _MEAN_NAMES:
            return self._verify_tasks(reported, run, [score.task for score in self._of_run(run, reported.measure)])
        tasks = [
            task
            for task in run.tasks
            if reported.task in (None, task[1])
            and reported.dataset in (None, task[0])
            and task not in self.session.unscored
        ]
        if len(tasks) != 1:
            wanted = "/".join(filter(None, (reported.dataset, reported.task)))
            what = f"{run.label} has no {wanted}" if not tasks else f"no task is named, and {run.label} has several"
            return Verified(reported, run, None, None, "not compared", what)
        return self._verify_tasks(reported, run, tasks)

    def _verify_tasks(self, reported: ReportedValue, run: Run, tasks: list[TaskKey]) -> Verified:
        """Compare a task's value, or the mean of several tasks' means."""
        scores = [score for score in self._of_run(run, reported.measure) if score.task in tasks]
        task = tasks[0] if len(tasks) == 1 else None
        if len(scores) != len(tasks) or not tasks:
            names = ", ".join("/".join(key) for key in tasks)
            return Verified(reported, run, task, None, "not compared", f"nothing is judged for {names or 'the run'}")
        query_id = reported.query_id
        recomputed = macro_mean(scores) if query_id is None else scores[0].per_query.get(query_id)
        if recomputed is None:
            return Verified(reported, run, task, None, "not compared", f"query {reported.query_id} is not judged")
        other = reported.run is not None and not _names(run, reported.run)
        called = f"the file calls it {reported.run}" if other else ""
        if abs(reported.value - recomputed) <= _tolerance(reported):
            return Verified(reported, run, task, recomputed, "equal", called)
        verdict, reason, exact = self._explain(reported, run, tasks, scores)
        return Verified(reported, run, task, recomputed, verdict, "; ".join(filter(None, (reason, called))), exact)

    # --- what may explain it -------------------------------------------------------------------------------------

    def _explain(
        self, reported: ReportedValue, run: Run, tasks: list[TaskKey], scores: list[TaskScores]
    ) -> tuple[Verdict, str, bool]:
        reasons, nearest = [], (float("inf"), "")
        for reason, value in self._candidates(reported, run, tasks, scores):
            self.check()
            off = abs(value - reported.value)
            if off <= _tolerance(reported):
                reasons.append(reason)
            nearest = min(nearest, (off, f"{reason} gives {value:.5f}"))
        if reasons:
            others = f" (so do: {'; '.join(reasons[1:4])})" if len(reasons) > 1 else ""
            return "explained", reasons[0] + others, True
        if loose := self._loose_reason(reported, run, scores):
            return "explained", loose, False
        return "unexplained", f"no rule that was tried gives it; nearest: {nearest[1]}", False

    def _candidates(
        self, reported: ReportedValue, run: Run, tasks: list[TaskKey], scores: list[TaskScores]
    ) -> Iterator[tuple[str, float]]:
        """What else the value could be: (reason, value), single causes first."""
        measure = reported.measure
        single, double = self._rules(tasks, measure)
        for rule in single:
            yield from self._value(rule, reported, run, tasks)
        if any(score.ties for score in scores):
            for which, reason in _TIE_ORDERS.items():
                values = [_tied_value(score, reported.query_id, which) for score in scores]
                yield reason, math.fsum(values) / len(values)
        if reported.query_id is None:
            for other in self.session.runs:
                theirs = [score for score in self._of_run(other, measure) if score.task in tasks]
                if other is not run and len(theirs) == len(tasks) and (mean := macro_mean(theirs)) is not None:
                    yield f"it is the value of {other.label}: a stale or exchanged file", mean
        for rule in double:
            yield from self._value(rule, reported, run, tasks)

    def _rules(self, tasks: list[TaskKey], measure: Measure) -> tuple[list[_Rule], list[_Rule]]:
        """The rules with one cause, and those with two."""
        collections = self.session.collections
        ours = our_convention(self.session.ties)
        others = [
            layer
            for layer in collections.layers
            if all(layer in collections.layers_of(task) for task in tasks)
            and any(layer != collections.layer_of(task) for task in tasks)
        ]
        conventions = sorted(
            (convention for convention in CONVENTIONS if convention.name != OURS.name),
            key=lambda convention: convention.name not in _CAUSES,
        )
        single = [_Rule(convention_reason(convention), convention) for convention in conventions]
        single += [_Rule(f"judged by layer {layer} instead of {self.session.layer}", ours, layer) for layer in others]
        if measure.cutoff is not None:
            cutoffs = [cutoff for cutoff in _OTHER_CUTOFFS if cutoff != measure.cutoff]
            single += [
                _Rule(f"it is the value of {Measure(measure.kind, cutoff)}", ours, cutoff=cutoff) for cutoff in cutoffs
            ]
        double = [
            _Rule(f"layer {layer} and {convention_reason(convention)}", convention, layer)
            for layer in others
            for convention in conventions
        ]
        return single, double

    def _value(
        self, rule: _Rule, reported: ReportedValue, run: Run, tasks: list[TaskKey]
    ) -> Iterator[tuple[str, float]]:
        measure = reported.measure if rule.cutoff is None else Measure(reported.measure.kind, rule.cutoff)
        if reported.query_id is not None:
            cases = self._cases_of(run, tasks[0], rule.layer)
            found = [rule.convention.query_value(measure, case) for case in cases if case.query_id == reported.query_id]
            values = [value.value for value in found]
        else:
            values = [self._mean(rule, measure, run, task) for task in tasks]
        if values and None not in values:
            yield rule.reason, math.fsum(value for value in values if value is not None) / len(values)

    def _mean(self, rule: _Rule, measure: Measure, run: Run, task: TaskKey) -> float | None:
        key = (run.run_id, task, measure, rule.reason)
        if key not in self._means:
            self.check()
            self._means[key] = rule.convention.mean(measure, self._cases_of(run, task, rule.layer)).value
        return self._means[key]

    def _loose_reason(self, reported: ReportedValue, run: Run, scores: list[TaskScores]) -> str:
        """What leaves room for the value without giving it to the last digit; empty if nothing does."""
        query_id, slack, reasons = reported.query_id, _tolerance(reported), []
        depth, bound = self._deeper_bound(reported, run, [score.task for score in scores])
        own = macro_mean(scores) if query_id is None else scores[0].per_query[query_id]
        if own is not None and own < reported.value <= bound + slack:
            looks = "all ranks" if reported.measure.cutoff is None else f"{reported.measure.cutoff} ranks"
            reasons.append(
                f"the file lists at most {depth} documents a query and {reported.measure} looks at {looks}; deeper "
                f"lists can reach {bound:.5f}"
            )
        worst, best = (
            math.fsum(_tied_value(score, query_id, which) for score in scores) / len(scores)
            for which in ("worst", "best")
        )
        if best - worst > slack and worst - slack <= reported.value <= best + slack:
            reasons.append(f"another order of ties can give it, {worst:.5f} to {best:.5f}")
        return ", or ".join(reasons)

    def _deeper_bound(self, reported: ReportedValue, run: Run, tasks: list[TaskKey]) -> tuple[int, float]:
        """How deep the lists are, and the most that the value could be if they went on: every gold that they lack
        right behind their last document."""
        depth, means, ours = 0, list[float](), our_convention(self.session.ties)
        for task in tasks:
            values = []
            for case in self._cases_of(run, task, None):
                if reported.query_id not in (None, case.query_id):
                    continue
                listed = case.listed or ()
                depth = max(depth, len(listed))
                lowest = min((doc.score for doc in listed), default=0.0)
                missing = case.relevance.keys() - {doc.doc_id for doc in listed}
                golds = sorted(missing, key=lambda doc_id: -case.relevance[doc_id])
                deeper = [ListedDoc(doc_id, lowest - 1 - number) for number, doc_id in enumerate(golds)]
                longer = replace(case, listed=(*listed, *deeper) if case.listed is not None else None)
                values.append(ours.query_value(reported.measure, longer).value or 0.0)
            means.append(math.fsum(values) / len(values) if values else 0.0)
        return depth, math.fsum(means) / len(means)

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

    def _of_run(self, run: Run, measure: Measure) -> list[TaskScores]:
        if measure not in self._scores:
            self._scores[measure] = task_scores(self.session, measure, cursor=self.cursor)
        return [score for score in self._scores[measure] if score.run is run]

    def _cases_of(self, run: Run, task: TaskKey, layer: str | None) -> list[QueryCase]:
        layer = layer or self.session.collections.layer_of(task)
        if (run.run_id, task) not in self._lists:
            lists = task_lists(self.session, self.cursor, run, task)
            self._lists[run.run_id, task] = list(lists.values())
        if (run.run_id, task, layer) not in self._cases:
            self._cases[run.run_id, task, layer] = [
                query_case(listed, layer) for listed in self._lists[run.run_id, task] if layer in listed.relevance
            ]
        return self._cases[run.run_id, task, layer]


def convention_reason(convention: Convention) -> str:
    """A convention as an explanation of a value."""
    return f"scored as {convention.name} ({convention.title})"


def _tied_value(score: TaskScores, query_id: str | None, which: str) -> float:
    """The best, worst or expected value over tie order, of a query or of the mean."""
    if query_id is None:
        return float(getattr(score, which))
    ties = score.ties.get(query_id)
    return float(getattr(ties, which)) if ties is not None else score.per_query[query_id]


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

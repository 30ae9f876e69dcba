"""Where the mean of a task comes from: the same lists by the rules of other tools, and by other layers."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from bright_inspect.db import Cursor
from bright_inspect.domain.measures import Measure
from bright_inspect.domain.ordering import TieRule
from bright_inspect.domain.tally import TIE_TOLERANCE
from bright_inspect.evaluation.audit import our_convention, query_case
from bright_inspect.evaluation.conventions import CONVENTIONS, OURS, Convention, TaskMean
from bright_inspect.store.cases import FileList, task_lists
from bright_inspect.store.collections import TaskKey
from bright_inspect.store.session import Run, Session

Check = Callable[[], None]
"""Called between two conventions; raises to stop."""


def _go_on() -> None:
    return


@dataclass(frozen=True, slots=True)
class ConventionMean:
    """What a tool's rule makes of a task; ``differing`` is in how many queries its value is not ours."""

    convention: Convention
    mean: TaskMean
    differing: int


@dataclass(frozen=True, slots=True)
class TaskAudit:
    """One run's mean of one measure over one task (fractions): ours, by each layer, and by every other rule."""

    run: Run
    task: TaskKey
    measure: Measure
    tie_rule: TieRule
    layer: str
    mean: float
    queries: int
    layers: dict[str, float]
    conventions: tuple[ConventionMean, ...]


def mean_audit(audits: Sequence[TaskAudit]) -> TaskAudit:
    """The mean over tasks of what their audits say; a rule that gives no mean for one task gives none for all."""
    first = audits[0]

    def over_tasks(values: Sequence[float | None]) -> float | None:
        return None if None in values else math.fsum(value or 0.0 for value in values) / len(audits)

    conventions = []
    for rows in zip(*(audit.conventions for audit in audits), strict=True):
        counted, queries = (sum(getattr(row.mean, name) for row in rows) for name in ("counted", "queries"))
        notes = dict.fromkeys(row.mean.note for row in rows if row.mean.value is None)
        mean = TaskMean(over_tasks([row.mean.value for row in rows]), counted, queries, next(iter(notes), ""))
        conventions.append(ConventionMean(rows[0].convention, mean, sum(row.differing for row in rows)))
    common = [name for name in first.layers if all(name in audit.layers for audit in audits)]
    return replace(
        first,
        task=(first.task[0], f"mean of {len(audits)} tasks"),
        layer=first.layer if all(audit.layer == first.layer for audit in audits) else "mixed",
        mean=math.fsum(audit.mean for audit in audits) / len(audits),
        queries=sum(audit.queries for audit in audits),
        layers={name: math.fsum(audit.layers[name] for audit in audits) / len(audits) for name in common},
        conventions=tuple(conventions),
    )


def layer_mean(lists: Sequence[FileList], measure: Measure, layer: str, convention: Convention) -> TaskMean:
    """The mean of a convention over the queries that a layer judges."""
    return convention.mean(measure, [query_case(listed, layer) for listed in lists if layer in listed.relevance])


def audit_task(
    session: Session, cursor: Cursor, run: Run, task: TaskKey, measure: Measure, check: Check = _go_on
) -> TaskAudit:
    """Take a task's mean apart. A run of 1,000 documents a query takes seconds: call it off the event loop."""
    lists = list(task_lists(session, cursor, run, task).values())
    layer = session.collections.layer_of(task)
    ours = our_convention(session.ties)
    cases = [query_case(listed, layer) for listed in lists if layer in listed.relevance]
    own = [ours.query_value(measure, case).value or 0.0 for case in cases]
    conventions = []
    for convention in CONVENTIONS:
        if convention.name == OURS.name:
            continue
        check()
        values = convention.query_values(measure, cases)
        differing = sum(
            found.value is None or abs(found.value - mine) > TIE_TOLERANCE
            for found, mine in zip(values, own, strict=True)
        )
        conventions.append(ConventionMean(convention, convention.mean(measure, cases, values), differing))
    layers = {}
    for name in session.collections.layers_of(task):
        check()
        layers[name] = layer_mean(lists, measure, name, ours).value or 0.0
    mean = sum(own) / len(own) if own else 0.0
    return TaskAudit(run, task, measure, session.ties, layer, mean, len(cases), layers, tuple(conventions))

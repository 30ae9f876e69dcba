"""The audit of a task's mean: the same lists by the rules of other tools, and by other layers."""

from __future__ import annotations

import math
from collections.abc import Sequence

from bright_inspect.domain.tally import TIE_TOLERANCE
from bright_inspect.evaluation.scores import ExclusionEffect, TaskScores
from bright_inspect.evaluation.task_audit import TaskAudit
from bright_inspect.presentation.audit import AuditSection, convention_details, fraction
from bright_inspect.presentation.cells import Cell, Column, Span, TableRow
from bright_inspect.presentation.numbers import percent

#: A tool rounds to 4 or 5 digits: less than this is not a difference.
_ROUNDING = 5.1e-5


def task_headline(audit: TaskAudit) -> Cell:
    """The mean and what it is of."""
    return (
        Span(f"{audit.measure} ", "dim"),
        Span(fraction(audit.mean), "strong"),
        Span(f" ({percent(audit.mean)})", "dim"),
        Span(f"  {audit.run.label} · {audit.task[1]} · mean of {audit.queries} judged queries"),
    )


def task_facts(audit: TaskAudit, scores: Sequence[TaskScores], effects: Sequence[ExclusionEffect | None]) -> list[Cell]:
    """What the mean rests on, one line a thing: answered queries, ties, exclusions, layers. With several tasks it is
    the mean of their means."""
    missing = audit.queries - sum(len(score.answered & score.per_query.keys()) for score in scores)
    answered: list[Span] = [Span("answered    ", "dim"), Span(f"{audit.queries - missing} of {audit.queries}")]
    if missing:
        of_those = fraction(math.fsum(score.mean_answered or 0.0 for score in scores) / len(scores))
        answered.append(Span(f" · the others count as 0; the mean of the answered is {of_those}", "warning"))
    ties: list[Span] = [Span("ties        ", "dim")]
    worst, best, expected = (
        math.fsum(getattr(score, name) for score in scores) / len(scores) for name in ("worst", "best", "expected")
    )
    sensitive = sum(score.tie_sensitive for score in scores)
    if sensitive:
        text = (
            f"≈ {fraction(worst)} to {fraction(best)} by tie order alone, "
            f"expected {fraction(expected)}; it matters in {sensitive} queries"
        )
        ties.append(Span(text, "warning"))
    else:
        ties.append(Span("tie order changes no query"))
    excluded: list[Span] = [Span("exclusions  ", "dim")]
    if any(effects):
        documents, queries = (
            sum(getattr(effect, name) for effect in effects if effect) for name in ("documents", "queries")
        )
        kept = [effect.mean_without if effect else score.mean for score, effect in zip(scores, effects, strict=True)]
        text = f"{documents:,} excluded documents of {queries} queries removed; if they had stayed, "
        excluded.append(Span(text + fraction(math.fsum(kept) / len(kept)), "warning"))
    else:
        excluded.append(Span("no excluded document is listed"))
    layers = [Span("layers      ", "dim")]
    for number, (layer, value) in enumerate(audit.layers.items()):
        style = "strong" if layer == audit.layer else ""
        layers.append(Span((" · " if number else "") + f"{layer} {fraction(value)}", style))
    return [tuple(answered), tuple(ties), tuple(excluded), tuple(layers)]


def task_convention_section(audit: TaskAudit) -> AuditSection:
    """The mean by the rules of other tools: value, difference, in how many queries, and over how many."""
    columns = (
        Column("tool", (Span("scored by", "dim"),), 22),
        Column("value", (Span("mean", "dim"),), 7, align="right"),
        Column("delta", (Span("− ours", "dim"),), 8, align="right"),
        Column("differs", (Span("queries", "dim"),), 7, align="right"),
        Column("why", (Span("rule", "dim"),), 20, flex=1),
    )
    rows = []
    for row in audit.conventions:
        value = row.mean.value
        delta = None if value is None else value - audit.mean
        same = delta is None or abs(delta) <= (_ROUNDING if row.convention.decimals else TIE_TOLERANCE)
        note = row.mean.note or row.convention.rule
        rows.append(
            TableRow(
                row.convention.name,
                (
                    (Span(row.convention.name, "dim" if same else "strong"),),
                    (Span(fraction(value)),),
                    (Span("" if same else f"{delta:+.4f}".replace("-", "−"), "warning"),),
                    (Span(str(row.differing) if row.differing else "", "dim"),),
                    (Span(note, "dim" if same else ""),),
                ),
            )
        )
    title = (Span("other rules ", "strong"), Span("queries: how many have another value than ours", "dim"))
    details = convention_details(row.convention for row in audit.conventions)
    return AuditSection(title, columns, tuple(rows), details=details)

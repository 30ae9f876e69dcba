"""The top line of every screen: what is open, and what is measured against what."""

from __future__ import annotations

from bright_inspect.presentation.cells import Cell, Span
from bright_inspect.presentation.queries import Comparison
from bright_inspect.store.session import Session


def top_line(session: Session, compared: Comparison, queries: int, findings: int, width: int) -> tuple[Cell, Cell]:
    """The left and the right part. A narrow screen (below 100 cells) shows less on the left."""
    tasks, runs = len(session.tasks), len(session.runs)
    parts = [_count(runs, "run"), _count(tasks, "task") if tasks > 1 else session.tasks[0][1]]
    parts.append(f"{queries:,} queries")
    if width >= 100 or session.layer != "original":
        parts.append(f"layer {session.layer}")
    left: list[Span] = [Span("bright-inspect", "accent"), Span("  "), Span(" · ".join(parts), "dim")]
    right: list[Span] = [Span(str(compared.measure), "strong")]
    if compared.paired:
        right += [Span("  baseline ", "dim"), Span(compared.baseline.label, compared.style(compared.baseline))]
    if findings:
        right.append(Span(f"  ! {_count(findings, 'finding')}", "warning"))
    return tuple(left), tuple(right)


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"

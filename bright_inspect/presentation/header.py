"""The top line of every screen: what is open, and what is measured against what."""

from __future__ import annotations

from collections.abc import Sequence

from bright_inspect.domain.findings import NOTHING, Finding, changes
from bright_inspect.presentation.cells import Cell, Span
from bright_inspect.presentation.queries import Comparison
from bright_inspect.store.session import Session


def top_line(
    session: Session, compared: Comparison, queries: int, findings: Sequence[Finding], width: int
) -> tuple[Cell, Cell]:
    """The left and the right part. A narrow screen (below 100 cells) shows less on the left, and not how many of the
    findings are errors."""
    tasks, runs = len(session.tasks), len(session.runs)
    parts = [_count(runs, "run"), _count(tasks, "task") if tasks > 1 else session.tasks[0][1]]
    if session.layer != "original":  # first, so that it is the last to be cut
        parts.insert(0, f"layer {session.layer}")
    parts.append(f"{queries:,} queries")
    if width >= 100 and session.layer == "original":
        parts.append("layer original")
    left: list[Span] = [Span("bright-inspect", "accent"), Span("  "), Span(" · ".join(parts), "dim")]
    right: list[Span] = [Span(str(compared.measure), "strong")]
    if compared.paired:
        right += [Span("  baseline ", "dim"), Span(compared.baseline.label, compared.style(compared.baseline))]
    room = width - 4 - sum(len(span.text) for span in (*left, *right))
    right += _findings_cell(findings, room)
    return tuple(left), tuple(right)


def _findings_cell(findings: Sequence[Finding], room: int) -> Cell:
    """``! 3 errors · 9 findings``, or ``! 9 findings`` where that does not fit; dim if none changes anything."""
    if not findings:
        return ()
    errors = sum(finding.severity == "error" for finding in findings)
    all_of_them = _count(len(findings), "finding")
    both = f"  ! {_count(errors, 'error')} · {all_of_them}"
    if errors and len(both) <= room:
        return Span(f"  ! {_count(errors, 'error')}", "error"), Span(f" · {all_of_them}", "warning")
    quiet = all(changes(finding.code) == NOTHING for finding in findings)
    return (Span(f"  ! {all_of_them}", "error" if errors else "dim" if quiet else "warning"),)


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"

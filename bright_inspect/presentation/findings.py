"""The findings on screen: a list by what they change, one of them in full, and the lines of its file around it."""

from __future__ import annotations

from collections.abc import Sequence

from bright_inspect.domain.findings import Finding, changes, grouped
from bright_inspect.presentation.cells import Cell, Column, Span, TableRow

_MARKS = {"error": Span("✗", "error"), "warning": Span("!", "warning"), "note": Span("·", "dim")}


def finding_columns(width: int) -> list[Column]:
    """Severity, how often, the place, and what was found."""
    return [
        Column("mark", (), 1),
        Column("count", (Span("count", "dim"),), 7, align="right"),
        Column("place", (Span("place", "dim"),), 16 if width < 100 else 24, flex=1, elide="middle"),
        Column("message", (Span("finding", "dim"),), 24, flex=2),
    ]


def finding_rows(findings: Sequence[Finding]) -> list[tuple[TableRow, Finding | None]]:
    """The table's rows, each with its finding; None for the heading of a group."""
    rows: list[tuple[TableRow, Finding | None]] = []
    for group, of_group in grouped(findings):
        heading = (Span(f"changes {group}", "accent"), Span(f" · {counted(of_group)}", "dim"))
        rows.append((TableRow("", ((), (), (), heading)), None))
        for finding in of_group:
            cells: tuple[Cell, ...] = (
                (_MARKS[finding.severity],),
                (Span(f"{finding.count:,}"),),
                (Span(finding.place, "strong"),),
                (Span(finding.message),),
            )
            rows.append((TableRow(finding.code, cells), finding))
    return rows


def counted(findings: Sequence[Finding]) -> str:
    """``3 errors, 6 warnings, 1 note``."""
    counts = [(sum(each.severity == kind for each in findings), kind) for kind in ("error", "warning", "note")]
    return ", ".join(f"{number:,} {noun}{'' if number == 1 else 's'}" for number, noun in counts if number)


def finding_in_full(finding: Finding) -> list[Cell]:
    """Everything that is known of a finding."""
    times = "once" if finding.count == 1 else f"{finding.count:,} times"
    return [
        (
            Span(f"{finding.severity} ", "dim" if finding.severity == "note" else finding.severity),
            Span(finding.place, "strong"),
        ),
        (Span(finding.message),),
        (Span(f"{finding.code} · {times} · changes {changes(finding.code)}", "dim"),),
    ]


def group_in_full(findings: Sequence[Finding], group: str) -> list[Cell]:
    """What a group's heading says below the list."""
    return [(Span(f"changes {group}", "strong"),), (Span(counted(findings)),)]


def excerpt_lines(finding: Finding, lines: Sequence[tuple[int, str]], width: int) -> list[Cell]:
    """The file's lines with their numbers; the finding's own stands out and is whole, the others are elided to
    ``width`` cells."""
    digits = len(f"{lines[-1][0]:,}") if lines else 0
    room = max(8, width - digits - 3)
    return [
        (
            Span("▌ " if number == finding.line else "  ", "accent"),
            Span(f"{number:,}".rjust(digits) + " ", "dim"),
            Span(text, "strong") if number == finding.line else Span(_elided(text, room), "dim"),
        )
        for number, text in lines
    ]


def _elided(text: str, room: int) -> str:
    """The ends of a text, which tell a run's query and score."""
    tail = (room - 1) // 2
    return text if len(text) <= room else f"{text[: room - 1 - tail]}…{text[-tail:]}"


def no_excerpt(finding: Finding) -> str:
    """Why no lines are shown of the file of a finding without a line."""
    if any(name in finding.file.lower() for name in (".json", ".jsonl")):
        return "JSON has no lines to show: the message names the place by its keys"
    return "it is about the file as a whole: there is no line to show"

"""What the Live screen says of a search: its value, and how far it compares with stored runs."""

from __future__ import annotations

from bright_inspect.domain.measures import Measure
from bright_inspect.evaluation.live import LiveResult
from bright_inspect.presentation.cells import Cell, Span
from bright_inspect.presentation.numbers import percent


def result_note(result: LiveResult, restricted: bool) -> tuple[Cell, Cell]:
    """How many documents were searched, and what that means; on the right how long it took and where."""
    of = "" if result.of is None else f" of {result.of:,}"
    spans = [Span(f"searched {result.searched:,}{of} documents", "warning" if result.partial else "dim")]
    if result.partial and not restricted:
        spans.append(Span(": moves withheld · F6 restricts the run", "warning"))
    elif result.partial:
        spans.append(Span(": the run is restricted to them · F6 undoes", "warning"))
    if result.shortfall:
        spans.append(Span(f" · {result.shortfall}", "warning"))
    where = f" on {result.device}" if result.device else ""
    return tuple(spans), (Span(f"{1000 * result.seconds:,.0f} ms{where}", "dim"),)


def stored_title(name: str, style: str, measure: Measure, value: float | None, note: str = "") -> Cell:
    """The title of a list: whose, and its value."""
    spans = [Span(name, style), Span(f"  {measure} ", "dim"), Span(percent(value), "strong")]
    return (*spans, Span(note, "warning")) if note else tuple(spans)

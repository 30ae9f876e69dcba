"""Numbers as they stand on screen: ×100 with one decimal, signed differences, bars in eighth blocks."""

from __future__ import annotations

from bright_inspect.domain.tally import TIE_TOLERANCE
from bright_inspect.presentation.cells import Cell, Span

_EIGHTHS = " ▏▎▍▌▋▊▉█"


def percent(value: float | None) -> str:
    """A fraction ×100 with one decimal; a dash for none."""
    return "–" if value is None else f"{100 * value:.1f}"


def signed_percent(value: float | None) -> str:
    """A difference of fractions ×100 with its sign, one decimal, a true minus."""
    if value is None:
        return "–"
    text = f"{100 * value:+.1f}".replace("-", "−")
    return "0.0" if text in ("+0.0", "−0.0") and abs(value) <= TIE_TOLERANCE else text


def delta_style(delta: float | None) -> str:
    """The style of a difference: gain, loss, or dim for a tie."""
    if delta is None or abs(delta) <= TIE_TOLERANCE:
        return "dim"
    return "gain" if delta > 0 else "loss"


def bar(fraction: float, width: int) -> str:
    """A bar of ``width`` cells filled from the left in eighths; the fraction is held to 0–1."""
    eighths = round(max(0.0, min(1.0, fraction)) * width * 8)
    full, rest = divmod(eighths, 8)
    return ("█" * full + (_EIGHTHS[rest] if rest else "")).ljust(width)


def delta_bar(delta: float | None, width: int) -> Cell:
    """A difference in fractions as a bar of ``width`` cells: losses grow to the left of the middle, gains to the right.

    The scale is fixed: a full half stands for 1 (100 points).
    """
    half = width // 2
    if delta is None:
        return (Span(" " * width),)
    if delta >= 0:
        return (Span(" " * half + "│", "dim"), Span(bar(delta, width - half - 1), "gain"))
    # There are no right-aligned eighth blocks in every font: the left half grows by whole and half cells.
    halves = round(min(1.0, -delta) * half * 2)
    blocks = ("▐" if halves % 2 else "") + "█" * (halves // 2)
    return (Span(blocks.rjust(half), "loss"), Span("│", "dim"), Span(" " * (width - half - 1)))


def stacked_bar(parts: list[tuple[float, str, str]], width: int) -> Cell:
    """Shares of a whole as runs of characters: ``parts`` are (share, character, style); shares add up to 1 at most."""
    spans, used, total = [], 0, 0.0
    for share, char, style in parts:
        total += share
        end = round(min(1.0, total) * width)
        spans.append(Span(char * (end - used), style))
        used = end
    return (*spans, Span(" " * (width - used)))

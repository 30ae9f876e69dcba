"""Wins, ties and losses over queries."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

#: Differences smaller than this are rounding of the last bits, not a win (DESIGN: win = delta > 1e-9).
TIE_TOLERANCE = 1e-9


@dataclass(frozen=True, slots=True)
class Tally:
    """How many queries a run wins, ties and loses against the baseline. ``tie_both_zero`` is part of ``tie``."""

    win: int
    tie: int
    tie_both_zero: int
    loss: int

    @property
    def queries(self) -> int:
        return self.win + self.tie + self.loss


def tally(pairs: Iterable[tuple[float, float]]) -> Tally:
    """Count (run value, baseline value) pairs."""
    win = tie = tie_both_zero = loss = 0
    for run, baseline in pairs:
        delta = run - baseline
        if delta > TIE_TOLERANCE:
            win += 1
        elif delta < -TIE_TOLERANCE:
            loss += 1
        else:
            tie += 1
            tie_both_zero += abs(run) <= TIE_TOLERANCE and abs(baseline) <= TIE_TOLERANCE
    return Tally(win, tie, tie_both_zero, loss)

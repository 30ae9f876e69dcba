"""Work that may take minutes: what it does, how far it is, how long it has taken, and the key that stops it."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

from bright_inspect.presentation.cells import Span
from bright_inspect.retrieval.protocol import Progress
from bright_inspect.store.progress import CancelToken
from bright_inspect.tui.runner import do_nothing
from bright_inspect.tui.screens.base import SLOW_SECONDS, DeskScreen
from bright_inspect.tui.widgets.line import CellLine

T = TypeVar("T")
_REFRESH_SECONDS = 0.25


class Working:
    """Runs work in a lane and shows its progress in a line of a screen."""

    def __init__(self, screen: DeskScreen, lane: str, line: str) -> None:
        self._screen, self._lane, self._line = screen, lane, line
        self._began = 0.0
        self._said = ""
        self._request = 0

    @property
    def busy(self) -> bool:
        return self._screen.runner.busy(self._lane)

    def start(
        self,
        work: Callable[[Progress, CancelToken], T],
        done: Callable[[T], None],
        failed: Callable[[], None] = do_nothing,
        said: str = "working",
    ) -> None:
        """Run the work; ``said`` is shown until it tells of itself."""
        self._began, self._said = time.monotonic(), said
        self._request += 1
        request = self._request

        def tell(made: int, total: int, message: str) -> None:
            # Only read by the timer below: a worker must not touch widgets, and may tell a thousand times a second.
            if request == self._request:
                self._said = f"{message} {made:,} of {total:,}" if total > 1 else message

        self._screen.runner.start(self._lane, lambda token: work(tell, token), done, failed)
        self._screen.set_timer(SLOW_SECONDS, self._show)

    def _show(self) -> None:
        if self.busy and self._screen.ready:
            seconds = time.monotonic() - self._began
            left = (Span(f"{self._said} …", "dim"),)
            right = (Span(f"{seconds:,.0f} s · ", "dim"), Span("Esc", "accent"), Span(" stops", "dim"))
            self._screen.query_one(self._line, CellLine).set_cells(left, right)
            self._screen.set_timer(_REFRESH_SECONDS, self._show)

"""The first frame: what is being opened, how far it is, and how to leave."""

from __future__ import annotations

import time

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.message import Message
from textual.screen import Screen

from bright_inspect.presentation.cells import Span
from bright_inspect.store.progress import Progress
from bright_inspect.tui.widgets.line import CellLine

_BAR_WIDTH = 30


class ProgressMade(Message):
    """Sent by the opening worker; several waiting ones may become one."""

    def __init__(self, progress: Progress) -> None:
        super().__init__()
        self.progress = progress

    def can_replace(self, message: Message) -> bool:
        return isinstance(message, ProgressMade)


class LoadingScreen(Screen[None]):
    """Shown until the runs are read and scored."""

    def __init__(self) -> None:
        super().__init__()
        self._started = time.monotonic()
        self._progress: Progress | None = None

    def compose(self) -> ComposeResult:
        with Vertical(id="loading"):
            yield CellLine((Span("bright-inspect", "accent"), Span("  opening …", "dim")), id="loading-title")
            yield CellLine(id="loading-bar")
            yield CellLine((Span("Esc leaves", "dim"),))

    def on_mount(self) -> None:
        self._clock = self.set_interval(0.5, self._show_time)

    def on_screen_suspend(self) -> None:
        """Another screen is above: the runs are open."""
        self._clock.stop()

    def show(self, progress: Progress) -> None:
        """Show how far the work is."""
        self._progress = progress
        self._show_time()

    def _show_time(self) -> None:
        progress = self._progress
        if progress is None:
            return
        filled = round(_BAR_WIDTH * progress.done / max(1, progress.total))
        bar = (Span("━" * filled, "accent"), Span("─" * (_BAR_WIDTH - filled), "dim"))
        seconds = f"  {progress.done} of {progress.total} · {time.monotonic() - self._started:.0f} s"
        self.query_one("#loading-bar", CellLine).set_cells((*bar, Span(seconds, "dim")))
        title = (Span("bright-inspect", "accent"), Span(f"  {progress.message}", "dim"))
        self.query_one("#loading-title", CellLine).set_cells(title)

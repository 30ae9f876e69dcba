"""Progress and cancellation of anything that may take over a second."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bright_inspect.errors import BrightInspectError

if TYPE_CHECKING:  # The screen makes tokens before DuckDB is loaded.
    from bright_inspect.db import Cursor


class Cancelled(BrightInspectError):
    """The user left while something was loading."""

    exit_code = 130

    def __init__(self) -> None:
        super().__init__("Cancelled.")


@dataclass(frozen=True, slots=True)
class Progress:
    """``done`` of ``total`` steps; ``message`` says what is being done now."""

    done: int
    total: int
    message: str


ProgressListener = Callable[[Progress], None]


def ignore_progress(progress: Progress) -> None:
    """A listener for callers that show no progress."""


class CancelToken:
    """Stops a piece of work between its steps, and the query that runs on the work's cursor."""

    def __init__(self) -> None:
        self._cancelled = threading.Event()
        self._lock = threading.Lock()
        self._cursor: Cursor | None = None

    def watch(self, cursor: Cursor) -> None:
        """Interrupt queries of this cursor on ``cancel``; at once if that has happened."""
        with self._lock:
            self._cursor = cursor
        self.check()

    def unwatch(self) -> None:
        """Forget the cursor, which is about to be closed: a closed one must not be interrupted."""
        with self._lock:
            self._cursor = None

    def cancel(self) -> None:
        self._cancelled.set()
        with self._lock:
            if self._cursor is not None:
                self._cursor.interrupt()

    @property
    def cancelled(self) -> bool:
        return self._cancelled.is_set()

    def check(self) -> None:
        """Raises Cancelled after ``cancel``."""
        if self._cancelled.is_set():
            raise Cancelled

"""Work off the event loop, so that no key waits for the database.

Rules: a piece of work runs in a thread of its own, with its own cursor, and returns a value or raises. It touches no
widget. Its result arrives as a message and is used only if no newer work was started in the same lane meanwhile; the
superseded work's token is cancelled and its cursor interrupted. On exit everything is interrupted.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any, TypeVar

from textual.message import Message
from textual.message_pump import MessagePump

from bright_inspect.errors import BrightInspectError
from bright_inspect.store.progress import CancelToken

T = TypeVar("T")

#: How long leaving the program waits for interrupted work.
_EXIT_SECONDS = 2.0


def do_nothing() -> None:
    """For work whose failure needs no more than being told."""


class WorkFinished(Message):
    """A piece of work returned or raised. Handled by the app, which calls ``Runner.deliver``."""

    def __init__(self, lane: str, request: int, value: object, error: BaseException | None) -> None:
        super().__init__()
        self.lane = lane
        self.request = request
        self.value = value
        self.error = error


class Runner:
    """Starts work in lanes; in each lane only the latest counts."""

    def __init__(self, app: MessagePump, on_error: Callable[[BaseException], None]) -> None:
        self._app = app
        self._on_error = on_error
        self._requests: dict[str, int] = {}
        self._tokens: dict[str, CancelToken] = {}
        self._done: dict[str, Callable[[Any], None]] = {}
        self._failed: dict[str, Callable[[], None]] = {}
        self._threads: dict[threading.Thread, CancelToken] = {}

    def start(
        self,
        lane: str,
        work: Callable[[CancelToken], T],
        done: Callable[[T], None],
        failed: Callable[[], None] = do_nothing,
    ) -> None:
        """Run ``work`` in a thread and hand its value to ``done`` on the event loop, unless superseded. If it raises,
        ``failed`` is called there, after the error was told."""
        self.cancel(lane)
        request = self._requests[lane] = self._requests.get(lane, 0) + 1
        token = self._tokens[lane] = CancelToken()
        self._done[lane], self._failed[lane] = done, failed

        def run() -> None:
            value: T | None = None
            error: BaseException | None = None
            try:
                value = work(token)
            except BaseException as raised:  # noqa: BLE001  (delivered to the app, which tells the user)
                error = raised
            if not token.cancelled:
                self._app.post_message(WorkFinished(lane, request, value, error))
            self._threads.pop(thread, None)

        thread = threading.Thread(target=run, name=f"bright-inspect {lane} {request}", daemon=True)
        self._threads[thread] = token
        thread.start()

    def cancel(self, lane: str) -> None:
        """Stop the lane's work, if there is any; its result will not be delivered."""
        token = self._tokens.pop(lane, None)
        if token is not None:
            self._requests[lane] += 1
            token.cancel()

    @property
    def idle(self) -> bool:
        """Whether no result is waited for in any lane."""
        return not self._tokens

    def busy(self, lane: str) -> bool:
        return lane in self._tokens

    def deliver(self, finished: WorkFinished) -> None:
        """Use a result, or drop it if it is not the lane's latest."""
        if finished.request != self._requests.get(finished.lane):
            return
        self._tokens.pop(finished.lane, None)
        if finished.error is not None:
            self._on_error(finished.error)
            self._failed[finished.lane]()
        else:
            self._done[finished.lane](finished.value)

    def close(self) -> None:
        """Stop everything and wait briefly."""
        for lane in list(self._tokens):
            self.cancel(lane)
        deadline = time.monotonic() + _EXIT_SECONDS
        while (running := list(self._threads.items())) and time.monotonic() < deadline:
            for thread, token in running:
                # Again: an interrupt that comes between two queries stops neither.
                token.cancel()
                thread.join(0.05)


def message_of(error: BaseException) -> tuple[str, str]:
    """What to tell the user of an error: (message, hint)."""
    if isinstance(error, BrightInspectError):
        return error.message, error.hint
    return f"unexpected {type(error).__name__}: {error}", "This is a defect of bright-inspect; please report it."

"""Work off the event loop: only the latest of a lane counts, what is superseded stops, and leaving is quick."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

import pytest
from textual.app import App

from bright_inspect.db import Database
from bright_inspect.errors import UsageError
from bright_inspect.store.progress import Cancelled, CancelToken
from bright_inspect.tui.runner import Runner, WorkFinished, message_of


class WorkApp(App[None]):
    """An app that only runs work."""

    def __init__(self) -> None:
        super().__init__()
        self.errors: list[BaseException] = []
        self.values: list[object] = []
        self.runner = Runner(self, self.errors.append)

    def on_work_finished(self, message: WorkFinished) -> None:
        self.runner.deliver(message)

    def start(self, work: Callable[[CancelToken], object], lane: str = "query") -> None:
        self.runner.start(lane, work, self.values.append)


class Gate:
    """Work that waits until it is let go, and then returns or raises."""

    def __init__(self, outcome: object) -> None:
        self.outcome = outcome
        self.opened, self.entered, self.left = threading.Event(), threading.Event(), threading.Event()
        self.token: CancelToken | None = None

    def __call__(self, token: CancelToken) -> object:
        self.token = token
        self.entered.set()
        assert self.opened.wait(30)
        self.left.set()
        if isinstance(self.outcome, BaseException):
            raise self.outcome
        return self.outcome


async def until(condition: Callable[[], bool], app: WorkApp) -> None:
    deadline = time.monotonic() + 30
    async with app.run_test() as pilot:
        while not condition() and time.monotonic() < deadline:
            await pilot.pause()
        assert condition()
        await pilot.pause()


async def test_a_value_and_an_error_are_delivered() -> None:
    app = WorkApp()
    app.start(lambda token: "value")
    app.start(lambda token: 1 / 0, "other")
    assert not app.runner.idle
    assert app.runner.busy("query")
    await until(lambda: app.runner.idle, app)
    assert app.values == ["value"]
    assert [type(error) for error in app.errors] == [ZeroDivisionError]


@pytest.mark.parametrize("outcome", ["old", ValueError("old")])
async def test_superseded_work_is_never_delivered(outcome: object) -> None:
    app = WorkApp()
    old, new = Gate(outcome), Gate("new")
    app.start(old)
    assert old.entered.wait(30)
    app.start(new)
    assert old.token is not None
    assert old.token.cancelled
    for gate in (new, old):
        gate.opened.set()
    await until(lambda: app.runner.idle and old.left.is_set(), app)
    assert (app.values, app.errors) == (["new"], [])


async def test_a_result_on_its_way_is_dropped_too() -> None:
    """It was posted before the newer work began, and is handled after."""
    app = WorkApp()
    app.start(lambda token: "old")
    finished = WorkFinished("query", 1, "old", None)
    gate = Gate("new")
    app.start(gate)
    app.runner.deliver(finished)
    app.runner.deliver(WorkFinished("query", 1, None, ValueError("old")))
    assert (app.values, app.errors) == ([], [])
    gate.opened.set()
    await until(lambda: app.runner.idle, app)
    assert app.values == ["new"]


async def test_lanes_do_not_disturb_each_other() -> None:
    app = WorkApp()
    first, second = Gate("first"), Gate("second")
    app.start(first, "one")
    app.start(second, "two")
    app.runner.cancel("two")
    app.runner.cancel("none")
    for gate in (first, second):
        gate.opened.set()
    await until(lambda: app.runner.idle and second.left.is_set(), app)
    assert app.values == ["first"]


async def test_many_starts_in_a_row_deliver_the_last() -> None:
    app = WorkApp()
    for number in range(50):
        app.start(lambda token, number=number: number)  # type: ignore[misc]
    await until(lambda: app.runner.idle, app)
    assert app.values == [49]


def slow_query(database: Database, started: threading.Event) -> Callable[[CancelToken], object]:
    def work(token: CancelToken) -> object:
        cursor = database.cursor()
        try:
            token.watch(cursor)
            started.set()
            return cursor.execute("SELECT sum(a.range * b.range) FROM range(10000000) a, range(1000000) b").fetchall()
        finally:
            token.unwatch()
            cursor.close()

    return work


async def test_a_superseded_query_is_interrupted() -> None:
    app, started = WorkApp(), threading.Event()
    with Database() as database:
        app.start(slow_query(database, started))
        assert started.wait(30)
        ((thread, token),) = app.runner._threads.items()
        app.start(lambda token: "new")
        assert token.cancelled
        while thread.is_alive():
            # The first interrupt may have come before the query began.
            token.cancel()
            thread.join(0.05)
        await until(lambda: app.runner.idle, app)
    assert (app.values, app.errors) == (["new"], [])


def test_closing_stops_a_running_query_quickly() -> None:
    app, started = WorkApp(), threading.Event()
    with Database() as database:
        app.start(slow_query(database, started))
        assert started.wait(30)
        (thread,) = app.runner._threads
        began = time.monotonic()
        app.runner.close()
        assert time.monotonic() - began < 1.5
        assert not thread.is_alive()
    assert app.runner.idle


def test_closing_does_not_wait_for_work_that_cannot_be_stopped() -> None:
    app, gate = WorkApp(), Gate("late")
    app.start(gate)
    began = time.monotonic()
    app.runner.close()
    assert time.monotonic() - began < 3
    gate.opened.set()


def test_cancelling_work_whose_cursor_is_closed_already() -> None:
    """It has returned, and its result was not handled yet."""
    app, done = WorkApp(), threading.Event()
    with Database() as database:

        def work(token: CancelToken) -> None:
            cursor = database.cursor()
            token.watch(cursor)
            token.unwatch()
            cursor.close()
            done.set()

        app.start(work)
        assert done.wait(30)
        app.runner.cancel("query")
    assert app.runner.idle


def test_a_cancelled_token_stops_at_once() -> None:
    token = CancelToken()
    token.check()
    token.cancel()
    with pytest.raises(Cancelled):
        token.check()
    with Database() as database, pytest.raises(Cancelled):
        token.watch(database.cursor())


def test_what_the_user_is_told() -> None:
    assert message_of(UsageError("a.", "b.")) == ("a.", "b.")
    message, hint = message_of(KeyError("[/foo]"))
    assert message == "unexpected KeyError: '[/foo]'"
    assert "report" in hint

"""Driving the program without a terminal: opening runs, waiting until it is done, and reading what it shows."""

from __future__ import annotations

import atexit
import functools
import shutil
import tempfile
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, TypeVar

import pytest
import textual._wait
from textual.pilot import Pilot
from textual.screen import Screen
from textual.widgets import Input, OptionList

from bright_inspect.demo import demo_runs
from bright_inspect.errors import BrightInspectError
from bright_inspect.store.request import OpenRequest
from bright_inspect.store.run_cache import CACHE_VARIABLE, cache_folder
from bright_inspect.tui.app import BrightInspect, make_app
from bright_inspect.tui.screens.inspect import InspectScreen
from bright_inspect.tui.screens.queries import QueriesScreen
from bright_inspect.tui.widgets.line import CellLine
from bright_inspect.tui.widgets.reader import TextReader
from bright_inspect.tui.widgets.table import LineTable
from tests.support import opened_runs

AppPilot = Pilot[BrightInspectError]
AnyScreen = TypeVar("AnyScreen", bound=Screen[Any])

WIDE = (120, 34)
NARROW = (80, 24)
_SECONDS = 60.0


def app_of(
    *runs: str | Path,
    data: Path | None = None,
    dataset: str | None = None,
    task: str | None = None,
    qrels: Sequence[str] = (),
    layer: str | None = None,
    keys: Mapping[str, str] | None = None,
) -> BrightInspect:
    """The program over these arguments; nothing moves by itself."""
    request = OpenRequest(tuple(map(str, runs)), data, dataset, task, tuple(qrels), layer=layer)
    app = make_app(request, dict(keys or {}))
    app.animation_level = "none"
    return app


def demo_app(keys: Mapping[str, str] | None = None, *, fresh: bool = False) -> BrightInspect:
    """The program over the demo, as ``bright-inspect demo`` opens it the second time; the first time if ``fresh``.

    Once it is settled there is no difference, but that converting the runs takes a third of a short test.
    """
    if not fresh:
        shutil.copytree(_converted_demo(), cache_folder(), dirs_exist_ok=True)
    return app_of(*demo_runs(), dataset="demo", keys=keys)


@functools.cache
def _converted_demo() -> Path:
    """The run cache after the demo was opened once: made once, and copied for each test."""
    folder = Path(tempfile.mkdtemp(prefix="bright-inspect-demo-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.setenv(CACHE_VARIABLE, str(folder))
        with opened_runs(*demo_runs(), dataset="demo") as opening:
            opening.convert()
            assert opening.session.findings == []
    return folder


async def settle(pilot: AppPilot) -> None:
    """Wait until no work is under way, no message waits, and everything is painted; or the program has ended."""
    app = pilot.app
    assert isinstance(app, BrightInspect)
    deadline = time.monotonic() + _SECONDS
    while time.monotonic() < deadline:
        await pilot.pause()
        if app.return_code is not None:
            return
        if app.has_desk and app.runner.idle:
            # What the last result brought may have started more.
            await pilot.pause()
            if app.runner.idle:
                return
    raise AssertionError(f"not settled in {_SECONDS:.0f} s: {type(app.screen).__name__}")


async def ended(pilot: AppPilot) -> BrightInspect:
    """Wait until the program has ended."""
    app = pilot.app
    assert isinstance(app, BrightInspect)
    deadline = time.monotonic() + _SECONDS
    while app.return_code is None and time.monotonic() < deadline:
        await pilot.pause()
    assert app.return_code is not None
    return app


@asynccontextmanager
async def driven(app: BrightInspect, size: tuple[int, int] = WIDE) -> AsyncIterator[AppPilot]:
    """The program running without a terminal, opened and settled."""
    with pytest.MonkeyPatch.context() as monkeypatch:
        # Textual calls the program idle once it has done nothing for 20 ms, several times a key: most of a test's time.
        # ``settle`` asks the program itself whether work is under way, so that a shorter look suffices.
        monkeypatch.setattr(textual._wait, "SLEEP_GRANULARITY", 1 / 250)
        monkeypatch.setattr(textual._wait, "SLEEP_IDLE", 1 / 2500)
        async with app.run_test(size=size, notifications=True) as pilot:
            await settle(pilot)
            yield pilot


async def press(pilot: AppPilot, *keys: str) -> None:
    """Press keys, each once the one before has had its effect."""
    for key in keys:
        await pilot.press(key)
        await settle(pilot)


def screen_of(pilot: AppPilot, kind: type[AnyScreen]) -> AnyScreen:
    """The present screen, which must be one of this kind."""
    screen = pilot.app.screen
    assert isinstance(screen, kind), f"{type(screen).__name__} is shown"
    return screen


def queries(pilot: AppPilot) -> QueriesScreen:
    return screen_of(pilot, QueriesScreen)


def inspect(pilot: AppPilot) -> InspectScreen:
    return screen_of(pilot, InspectScreen)


def line(pilot: AppPilot, selector: str) -> str:
    """What a line says, without styles."""
    return pilot.app.screen.query_one(selector, CellLine).text


def table_of(pilot: AppPilot) -> LineTable:
    """The screen's table: the only one, or that with the cursor."""
    focused = pilot.app.focused
    return focused if isinstance(focused, LineTable) else pilot.app.screen.query_one(LineTable)


def reader_of(pilot: AppPilot) -> TextReader:
    return pilot.app.screen.query_one(TextReader)


def query_ids(pilot: AppPilot) -> list[str]:
    """The ids of the Queries screen's rows, in order."""
    return [row.key.query_id for row in queries(pilot).shown]


def shown(pilot: AppPilot) -> str:
    """The text of everything the present screen draws, widget by widget, line by line."""
    lines: list[str] = []
    for widget in pilot.app.screen.query("CellLine, LineTable, TextReader"):
        if isinstance(widget, CellLine | LineTable | TextReader) and widget.size and _displayed(widget):
            lines += [widget.render_line(y).text.rstrip() for y in range(widget.size.height)]
    return "\n".join(lines)


def _displayed(widget: CellLine | LineTable | TextReader) -> bool:
    return all(getattr(each, "display", True) for each in widget.ancestors_with_self)


def messages(pilot: AppPilot) -> list[str]:
    """The notifications so far."""
    app = pilot.app
    assert isinstance(app, BrightInspect)
    return [notification.message for notification in app._notifications]


async def type_text(pilot: AppPilot, text: str) -> None:
    """Type into the focused line, as if pasted."""
    focused = pilot.app.focused
    assert isinstance(focused, Input)
    focused.insert_text_at_cursor(text)
    await settle(pilot)


def option_names(pilot: AppPilot) -> Sequence[str]:
    options = pilot.app.screen.query_one(OptionList)
    return [str(options.get_option_at_index(index).prompt) for index in range(options.option_count)]

"""The program over the demo and other small data: what it opens on, every key of every screen, and leaving."""

from __future__ import annotations

from pathlib import Path

import pytest

from bright_inspect.demo import demo_runs
from bright_inspect.tui.screens.findings import FindingsScreen
from bright_inspect.tui.screens.help import HelpScreen
from bright_inspect.tui.screens.inspect import InspectScreen
from bright_inspect.tui.screens.measure_choice import MeasureChoice
from bright_inspect.tui.screens.overview import OverviewScreen
from bright_inspect.tui.screens.queries import QueriesScreen
from bright_inspect.tui.themes import THEMES
from tests.support import example, write_bright, write_trec
from tests.tui.driving import (
    NARROW,
    WIDE,
    app_of,
    demo_app,
    driven,
    ended,
    inspect,
    line,
    messages,
    press,
    queries,
    query_ids,
    reader_of,
    screen_of,
    settle,
    shown,
    table_of,
    type_text,
)


def probe(): ...


async def test_probe() -> None:
    async with driven(demo_app()) as pilot:
        print(shown(pilot))
        await press(pilot, "A")
        print(shown(pilot))
        await press(pilot, "enter")
        print(shown(pilot))
        await press(pilot, "m")
        print(shown(pilot))
        await press(pilot, "left")
        print(shown(pilot))
        await press(pilot, "d")
        print(shown(pilot))
        assert 0

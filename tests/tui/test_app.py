"""What every screen can do: baseline, measure, palette, help, findings, themes, the key line."""

from __future__ import annotations

from pathlib import Path

import pytest

from bright_inspect.tui.screens.findings import FindingsScreen
from bright_inspect.tui.screens.help import HelpScreen
from bright_inspect.tui.screens.measure_choice import MeasureChoice
from bright_inspect.tui.screens.overview import OverviewScreen
from bright_inspect.tui.themes import THEMES
from tests.tui.driving import (
    NARROW,
    app_of,
    demo_app,
    driven,
    inspect,
    line,
    press,
    queries,
    reader_of,
    screen_of,
    settle,
    shown,
    table_of,
    type_text,
)
from tests.tui.small import odd_run, palette_found, small_data

# --- baseline and measure --------------------------------------------------------------------------------------------


async def test_the_baseline_changes_sides_and_the_place_is_kept() -> None:
    async with driven(demo_app()) as pilot:
        await press(pilot, "A", "j", "j", "j")
        screen = queries(pilot)
        query = screen.shown[table_of(pilot).cursor].key
        headline = line(pilot, "#headline")
        await press(pilot, "b")
        assert "Δ = bm25 − bm25@demo_reason = −" in line(pilot, "#headline")
        assert screen.shown[table_of(pilot).cursor].key == query
        await press(pilot, "enter", "j", "j")
        document = inspect(pilot).document
        assert "Δ −" in line(pilot, "#pane-title1")
        await press(pilot, "b")
        assert "Δ +" in line(pilot, "#pane-title0")
        assert "baseline" in line(pilot, "#pane-title1")
        assert (inspect(pilot).row.key, inspect(pilot).document) == (query, document)
        await press(pilot, "q")
        assert line(pilot, "#headline") == headline
        assert screen.shown[table_of(pilot).cursor].key == query
        await press(pilot, "q", "b")
        assert "baseline bm25@demo_reason" in line(pilot, "#top")


async def test_the_measure_changes_and_values_follow() -> None:
    async with driven(demo_app()) as pilot:
        before = shown(pilot)
        await press(pilot, "M")
        screen_of(pilot, MeasureChoice)
        await press(pilot, "down", "enter")
        screen_of(pilot, OverviewScreen)
        assert "nDCG@1 " in line(pilot, "#top")
        assert shown(pilot) != before
        await press(pilot, "A", "enter", "j")
        document = inspect(pilot).document
        await press(pilot, "M", "tab")
        await type_text(pilot, "recall@100")
        await press(pilot, "enter")
        assert "R@100 100.0" in line(pilot, "#pane-title0")
        assert inspect(pilot).document == document
        await press(pilot, "q", "q")
        assert "R@100 " in line(pilot, "#top")
        await press(pilot, "M", "home", "enter")
        assert "nDCG@10 " in line(pilot, "#top")
        assert shown(pilot) == before


async def test_a_measure_that_is_none_keeps_the_dialog(tmp_path: Path) -> None:
    async with driven(demo_app()) as pilot:
        await press(pilot, "M", "tab")
        await type_text(pilot, "[/foo]")
        await press(pilot, "enter")
        assert "unknown measure '[/foo]'" in line(pilot, "#measure-error")
        await press(pilot, "escape")
        assert "nDCG@10 " in line(pilot, "#top")


async def test_the_palette_lists_what_is_possible_and_does_it() -> None:
    async with driven(demo_app()) as pilot:
        await pilot.press("colon")
        await settle(pilot)
        await pilot.press(*"score by R@50")
        await settle(pilot)
        await palette_found(pilot)
        await pilot.press("enter")
        await settle(pilot)
        assert "R@50 " in line(pilot, "#top")
        await pilot.press("colon")
        await pilot.press(*"kitchen")
        await palette_found(pilot)
        await pilot.press("enter")
        await settle(pilot)
        assert {row.key.task for row in queries(pilot).shown} == {"kitchen_science"}
        await press(pilot, "colon", "escape")
        queries(pilot)


# --- help, findings, themes ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("key", ["escape", "q", "question_mark", "f1"])
async def test_help_opens_and_closes(key: str) -> None:
    async with driven(demo_app(), NARROW) as pilot:
        await press(pilot, "A", "enter", "?")
        screen_of(pilot, HelpScreen)
        assert "this list: keys, marks, filter terms" in shown(pilot)
        top = shown(pilot)
        await press(pilot, "G")
        assert "keys of your own" in shown(pilot) or "numbers" in shown(pilot)
        await press(pilot, "g")
        assert shown(pilot) == top
        await press(pilot, key)
        inspect(pilot)


@pytest.mark.parametrize("key", ["escape", "q", "question_mark"])
async def test_findings_open_and_close(tmp_path: Path, key: str) -> None:
    run = odd_run(tmp_path)
    async with driven(app_of(run, data=small_data(tmp_path))) as pilot:
        assert "! 2 errors · 4 findings" in line(pilot, "#top")
        await press(pilot, "!")
        screen_of(pilot, FindingsScreen)
        assert f"{run}:2" in reader_of(pilot).text
        await press(pilot, "down", key)
        queries(pilot)


async def test_no_findings() -> None:
    async with driven(demo_app()) as pilot:
        await press(pilot, "!")
        assert "no findings: the files are as they should be" in shown(pilot)
        await press(pilot, "!", "q")
        screen_of(pilot, OverviewScreen)


async def test_themes_go_round() -> None:
    async with driven(demo_app()) as pilot:
        names = []
        for _ in range(len(THEMES) + 1):
            names.append(pilot.app.theme)
            await press(pilot, "T", "A", "enter", "q", "q")
        assert names == [*[theme.name for theme in THEMES], THEMES[0].name]


async def test_a_click_on_the_key_line_does_what_the_key_does() -> None:
    async with driven(demo_app()) as pilot:
        keys = line(pilot, ".keys")
        await pilot.click(".keys", offset=(1 + keys.index("? help") + 3, 0))
        await settle(pilot)
        assert isinstance(pilot.app.screen, HelpScreen)

"""All of BRIGHT at once: twenty-four files, and a walk along every query."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import pytest

from bright_inspect.db import Database, path_literal
from bright_inspect.domain.rankings import QueryKey
from bright_inspect.evaluation.query_rows import QueryRow
from bright_inspect.tui.screens.overview import OverviewScreen
from bright_inspect.tui.widgets.reading_pane import ReadingPane
from tests.tui.driving import (
    NARROW,
    WIDE,
    AppPilot,
    app_of,
    driven,
    inspect,
    line,
    press,
    queries,
    reader_of,
    screen_of,
    shown,
    table_of,
)


def query_texts(data: Path) -> dict[QueryKey, str]:
    """Every query of every task, from the data set itself."""
    texts: dict[QueryKey, str] = {}
    with Database() as database:
        cursor = database.cursor()
        for path in sorted((data / "bright" / "examples").glob("*.parquet")):
            task = path.stem.split("-")[0]
            for query_id, text in cursor.execute(f"SELECT id, query FROM {path_literal(path)}").fetchall():
                texts[QueryKey("bright", task, query_id)] = text
    return texts


async def walk_on(pilot: AppPilot, by: int, wanted: QueryRow) -> None:
    """Walk one query on or back, and wait until it is on screen: without the rest that ``Pilot`` takes after a key."""
    screen = inspect(pilot)
    if by > 0:
        screen.action_next_query()
    else:
        screen.action_previous_query()
    while screen.row is not wanted:  # noqa: ASYNC110  (nothing tells when a query is on screen)
        await asyncio.sleep(0.001)


#: Queries walked from either end: all of them, or in CI, which must be done in minutes, some from each end.
WALKED = 110 if os.environ.get("CI") == "true" else 692


@pytest.mark.slow
@pytest.mark.parametrize("by", [1, -1], ids=["from the first", "from the last"])
async def test_every_query_of_bright(bright_data: Path, by: int) -> None:
    """The queries from either end of the list to its middle."""
    texts = query_texts(bright_data)
    assert len(texts) == 1384
    app = app_of(bright_data / "runs" / "reasonir", bright_data / "rader", data=bright_data / "bright")
    async with driven(app, WIDE) as pilot:
        screen_of(pilot, OverviewScreen)
        assert line(pilot, "#top").startswith("bright-inspect  2 runs · 12 tasks · 1,384 queries")
        assert table_of(pilot).row_count == 13
        await press(pilot, "A")
        assert len(queries(pilot).shown) == 1384
        await press(pilot, "home" if by > 0 else "end", "enter", "right")
        screen = inspect(pilot)
        pane = screen.query_one(ReadingPane)
        assert {row.key for row in screen.rows} == set(texts)
        half = screen.rows[::by][:WALKED]
        for row, following in zip(half, [*half[1:], None], strict=True):
            assert screen.row is row
            text = texts[row.key]
            assert row.text == text
            start = f"original · {len(text):,} characters\n{text}"
            assert pane.tab == "Query"
            assert pane.reader.text.startswith(start), row.key
            assert line(pilot, "#title").startswith(f"{row.key.task} {row.key.query_id}  ")
            assert " ".join(text.split())[:60] in line(pilot, "#title")
            if row.key.task == "robotics" and row.key.query_id in ("2", "17", "28"):
                await pilot.pause()
                assert text in reader_of(pilot).text
                shown(pilot)
            if following is not None:
                await walk_on(pilot, by, following)
        await pilot.resize_terminal(*NARROW)
        await press(pilot, "m", "m", "q")
        assert table_of(pilot).cursor == (WALKED - 1 if by > 0 else 1384 - WALKED)


async def test_the_main_job(bright_data: Path) -> None:
    """Show B of the issue: earth_science, reasonir against bm25."""
    runs = [bright_data / "runs/reasonir/earth_science.txt", bright_data / "outputs/earth_science_bm25_long_False"]
    async with driven(app_of(*runs, data=bright_data / "bright"), WIDE) as pilot:
        headline = line(pilot, "#headline") + line(pilot, "#notes")
        assert "reasonir 43.0 against bm25 27.2" in headline
        assert "Δ = reasonir − bm25 = +15.8" in headline
        assert "win 62" in headline
        assert "tie 28 (23 both 0)" in headline
        assert "loss 26" in headline
        assert "they differ in system" in headline
        assert "variant of reasonir unknown" in headline
        await press(pilot, "enter")
        screen = inspect(pilot)
        assert screen.row is screen.rows[0]
        assert "★ 1" in line(pilot, "#pane-title0")
        assert "★" in line(pilot, "#pane-title1")
        await press(pilot, "]")
        assert len(reader_of(pilot).text) > 100, "the gold's text is at hand"
        await press(pilot, "right", "right")
        assert reader_of(pilot).text.startswith("human reasoning\n")
        assert "none recorded" not in reader_of(pilot).text.split("\n")[1]


async def test_pony_has_no_reasoning(bright_data: Path) -> None:
    runs = [bright_data / "runs/reasonir/pony.txt", bright_data / "rader/pony/gpt4_score.json"]
    async with driven(app_of(*runs, data=bright_data / "bright"), WIDE) as pilot:
        await press(pilot, "enter", "right", "right")
        assert "none recorded for this query" in reader_of(pilot).text
        await press(pilot, "left", "left")
        assert "no text at hand: there is no corpus of pony · give --data DIR with documents/" in shown(pilot)


async def test_three_and_four_real_runs(bright_data: Path) -> None:
    outputs = bright_data / "outputs"
    runs = [
        bright_data / "runs/reasonir/earth_science.txt",
        bright_data / "rader/earth_science/gpt4_score.json",
        outputs / "earth_science_bm25_gpt4_reason_long_False",
        outputs / "earth_science_bm25_long_False",
    ]
    for count in (3, 4):
        async with driven(app_of(*runs[-count:], data=bright_data / "bright"), NARROW) as pilot:
            assert line(pilot, "#top").startswith(f"bright-inspect  {count} runs")
            await press(pilot, "enter", "n", "n", "c", "b", "]", "u", "m", "m", "q")
            queries(pilot)
            for size in (WIDE, (200, 60)):
                await pilot.resize_terminal(*size)
                await press(pilot, "enter", "n", "q")


async def test_fast_keys_on_a_fresh_task_show_each_variant_once(bright_data: Path) -> None:
    """Going on before a task's texts are read must not leave half of them."""
    runs = [bright_data / "runs/reasonir/leetcode.txt", bright_data / "outputs/leetcode_bm25_long_False"]
    async with driven(app_of(*runs, data=bright_data / "bright"), WIDE) as pilot:
        await pilot.press("enter", "n", "n", "q", "enter", "p", "q", "j", "enter", "n")
        await press(pilot, "right")
        assert reader_of(pilot).text.count("gpt4_reason · ") == 1

"""Opening, and the Queries screen: sorting, filtering, and what it says."""

from __future__ import annotations

from pathlib import Path

import pytest

from bright_inspect.tui.screens.help import HelpScreen
from bright_inspect.tui.screens.overview import OverviewScreen
from tests.support import write_trec
from tests.tui.driving import (
    NARROW,
    WIDE,
    app_of,
    demo_app,
    driven,
    ended,
    inspect,
    line,
    press,
    queries,
    query_ids,
    screen_of,
    settle,
    shown,
    table_of,
    type_text,
)
from tests.tui.small import small_data, small_runs, table_rows

# --- opening ---------------------------------------------------------------------------------------------------------


async def test_several_tasks_open_on_the_overview() -> None:
    async with driven(demo_app()) as pilot:
        screen_of(pilot, OverviewScreen)
        assert line(pilot, "#top").startswith("bright-inspect  2 runs · 4 tasks · 20 queries")
        table = table_of(pilot)
        assert table.has_focus
        assert [row.key for row in table_rows(pilot)] == [
            "demo/city_ecology", "demo/contest_maths", "demo/home_computing", "demo/kitchen_science", "mean",
        ]  # fmt: skip
        await press(pilot, "j", "enter")
        assert {row.key.task for row in queries(pilot).shown} == {"contest_maths"}
        assert line(pilot, "#headline").startswith("contest_maths  bm25@demo_reason ")
        await press(pilot, "q", "G", "enter")
        assert len(query_ids(pilot)) == 20
        await press(pilot, "escape", "A")
        assert len(query_ids(pilot)) == 20


async def test_one_task_opens_on_the_queries(tmp_path: Path) -> None:
    async with driven(app_of(*small_runs(tmp_path), data=small_data(tmp_path))) as pilot:
        assert query_ids(pilot) == ["3", "1", "2", "0"]
        assert line(pilot, "#headline").startswith("biology  qwen 73.4 against bm25 75.0   Δ = qwen − bm25 = −1.6")
        await press(pilot, "q")
        assert (await ended(pilot)).return_code == 0


async def test_one_run_has_nothing_to_compare(tmp_path: Path) -> None:
    app = app_of(small_runs(tmp_path)[0], data=small_data(tmp_path))
    async with driven(app) as pilot:
        assert queries(pilot).order == "qwen"
        values = [row.values[0] or 0 for row in queries(pilot).shown]
        assert values == sorted(values), "the worst come first"
        assert "Δ" not in shown(pilot).replace("= |Δ|", "")
        assert "baseline" not in line(pilot, "#top")
        await press(pilot, "b", "c", "<", ">", "=", "s", "S", "enter", "m", "m", "b", "]", "u", "q")
        assert queries(pilot).is_current


@pytest.mark.parametrize("size", [NARROW, WIDE, (200, 60)])
async def test_four_runs(tmp_path: Path, size: tuple[int, int]) -> None:
    runs = [f"{name}={path}" for name, path in zip("abcd", small_runs(tmp_path) * 2, strict=True)]
    async with driven(app_of(*runs, data=small_data(tmp_path)), size) as pilot:
        assert line(pilot, "#top").startswith("bright-inspect  4 runs · biology")
        assert "a 73.4 against d 75.0" in line(pilot, "#headline")
        await press(pilot, "c")
        assert "b 75.0 against d 75.0" in line(pilot, "#headline")
        await press(pilot, "b")
        assert "b 75.0 against a 73.4" in line(pilot, "#headline")
        await press(pilot, "enter")
        assert inspect(pilot).merged == (size[0] < 180)
        await press(pilot, "m", "n", "n", "p", "m", "tab", "tab", "q")


async def test_runs_of_different_tasks(tmp_path: Path) -> None:
    """A query that only one of the runs covers has no Δ, and says so where its list would be."""
    data = small_data(tmp_path, tasks=("biology", "pony"))
    qwen, bm25 = small_runs(tmp_path)
    pony = write_trec(tmp_path / "qwen" / "pony.trec", {"0": {"g0": 1.0}})
    async with driven(app_of(qwen, pony, bm25, data=data)) as pilot:
        assert "(2)" not in shown(pilot)
        await press(pilot, "A")
        assert query_ids(pilot)[-4:] == ["0", "1", "2", "3"], "without Δ they come last"
        await press(pilot, "G", "enter")
        assert "bm25 does not cover pony" in shown(pilot)
        assert "qwen has no list for this query" in shown(pilot)
        await press(pilot, "]", "u", "m")
        assert "no run has a list" not in shown(pilot), "its gold is listed"


# --- queries: sorting ------------------------------------------------------------------------------------------------


async def test_sort_keys(tmp_path: Path) -> None:
    async with driven(app_of(*small_runs(tmp_path), data=small_data(tmp_path))) as pilot:
        for key, ids, order in [
            ("<", ["1", "2", "0", "3"], "Δ"),
            (">", ["3", "0", "2", "1"], "Δ"),
            ("=", ["3", "1", "2", "0"], "|Δ|"),
            ("S", ["0", "2", "1", "3"], "|Δ|"),
        ]:
            await press(pilot, "down", key)
            assert query_ids(pilot) == ids, key
            assert table_of(pilot).cursor == 0
            assert f"by {order}" in line(pilot, "#status")
        orders = []
        for _ in range(7):
            await press(pilot, "s")
            orders.append(queries(pilot).order)
        assert orders == ["gold", "best gold rank", "id", "query", "qwen", "bm25", "Δ"]


async def test_a_click_on_a_title_sorts_and_again_reverses(tmp_path: Path) -> None:
    async with driven(app_of(*small_runs(tmp_path), data=small_data(tmp_path))) as pilot:
        title = table_of(pilot).render_line(0).text
        await pilot.click("#queries", offset=(title.index("qwen") + 1, 0))
        await settle(pilot)
        assert queries(pilot).order == "qwen"
        assert query_ids(pilot) == ["0", "3", "2", "1"]
        await pilot.click("#queries", offset=(title.index("qwen") + 1, 0))
        await settle(pilot)
        assert query_ids(pilot) == ["1", "2", "0", "3"]
        await pilot.click("#queries", offset=(title.index("id"), 0))
        await settle(pilot)
        assert query_ids(pilot) == ["0", "1", "2", "3"]
        await pilot.click("#queries", offset=(3, 2), times=2)
        await settle(pilot)
        assert inspect(pilot).row.key.query_id == "1"


@pytest.mark.parametrize("size", [NARROW, WIDE])
async def test_the_difference_is_whole_on_any_width(size: tuple[int, int]) -> None:
    async with driven(demo_app(), size) as pilot:
        await press(pilot, "A")
        assert line(pilot, "#headline").rstrip().endswith("+61.4")
        assert "…" not in shown(pilot).splitlines()[1]


# --- queries: filtering ----------------------------------------------------------------------------------------------


async def test_filtering_as_one_types(tmp_path: Path) -> None:
    async with driven(app_of(*small_runs(tmp_path), data=small_data(tmp_path))) as pilot:
        await press(pilot, "down", "down", "/")
        await type_text(pilot, "delta<")
        assert len(query_ids(pilot)) == 4, "an unfinished term changes nothing"
        assert "unknown filter term 'delta<'" in line(pilot, "#status")
        await type_text(pilot, "0")
        assert query_ids(pilot) == ["1", "2"]
        assert table_of(pilot).row is not None
        assert "2 of 4 queries" in line(pilot, "#status")
        assert "filter delta<0" in line(pilot, "#status")
        assert line(pilot, "#headline").startswith("2 of 4 queries  qwen 46.9 against bm25 100.0")
        await press(pilot, "space", "q", "enter")
        assert table_of(pilot).has_focus
        assert "unknown" not in line(pilot, "#status")


async def test_a_bad_term_cannot_be_accepted(tmp_path: Path) -> None:
    async with driven(app_of(*small_runs(tmp_path), data=small_data(tmp_path))) as pilot:
        await press(pilot, "/")
        await type_text(pilot, "win foo>3")
        await press(pilot, "enter")
        assert pilot.app.screen.query_one("#filter").has_focus
        assert "unknown filter term 'foo>3'" in line(pilot, "#status")
        assert "Known: words, delta<-30" in line(pilot, "#status")


async def test_escape_leaves_the_line_then_the_filter_then_the_screen() -> None:
    async with driven(demo_app()) as pilot:
        await press(pilot, "A", "/")
        await type_text(pilot, "loss")
        found = query_ids(pilot)
        assert 0 < len(found) < 20
        await press(pilot, "escape")
        assert table_of(pilot).has_focus
        assert not pilot.app.screen.query_one("#filter").display
        assert query_ids(pilot) == found
        await press(pilot, "escape")
        assert len(query_ids(pilot)) == 20
        await press(pilot, "escape")
        screen_of(pilot, OverviewScreen)
        await press(pilot, "escape")
        assert (await ended(pilot)).return_code == 0


async def test_a_filter_that_nothing_matches() -> None:
    async with driven(demo_app()) as pilot:
        await press(pilot, "A", "/")
        await type_text(pilot, "nosuchword [/foo]")
        await press(pilot, "enter", "enter", "down", "s")
        assert query_ids(pilot) == []
        assert "no query matches the filter · Esc clears it" in shown(pilot)
        assert "0 of 20 queries" in line(pilot, "#status")
        await press(pilot, "/")
        assert pilot.app.screen.query_one("#filter").has_focus
        await press(pilot, "f1")
        screen_of(pilot, HelpScreen)


async def test_the_filter_follows_baseline_and_measure(tmp_path: Path) -> None:
    async with driven(app_of(*small_runs(tmp_path), data=small_data(tmp_path))) as pilot:
        await press(pilot, "/")
        await type_text(pilot, "win")
        await press(pilot, "enter")
        assert query_ids(pilot) == ["3"]
        await press(pilot, "b")
        assert query_ids(pilot) == ["1", "2"]

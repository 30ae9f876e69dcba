"""The Audit screen: from every screen, for every run, and back."""

from __future__ import annotations

from pathlib import Path

from bright_inspect.tui.screens.audit import AuditScreen
from bright_inspect.tui.screens.overview import OverviewScreen
from bright_inspect.tui.widgets.line import CellLine
from tests.support import write_qrels
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
    table_of,
)
from tests.tui.small import small_data, small_runs
from tests.unit.making import text_of


async def test_of_a_query_in_all_its_tables(tmp_path: Path) -> None:
    async with driven(app_of(*small_runs(tmp_path), data=small_data(tmp_path)), NARROW) as pilot:
        key = queries(pilot).shown[0].key
        await press(pilot, "a")
        screen = screen_of(pilot, AuditScreen)
        assert line(pilot, "#audit-value").startswith("nDCG@10 1.0000 (100.0)  qwen · layer original")
        told = [str(fact.text) for fact in screen.query(".fact").results(CellLine) if not fact.has_class("hidden")]
        assert told[0] == f"query       biology {key.query_id}"
        assert len(told) == 7
        titles = []
        for _ in range(3):
            titles.append(line(pilot, "#audit-tabs").split("]")[0].split("[")[1])
            await press(pilot, "right")
        assert titles == ["rank by rank", "the ideal list", "other rules"]
        await press(pilot, "left", "end")
        assert "exponential-gain" in text_of(table_of(pilot).rows[table_of(pilot).cursor].cells[0])
        assert "gains 2^relevance - 1" in reader_of(pilot).text
        await press(pilot, "o")
        assert "bm25 · layer original" in line(pilot, "#audit-value")
        await press(pilot, "M", "down", "enter")
        assert line(pilot, "#audit-value").startswith("nDCG@1 ")
        await press(pilot, "q")
        assert queries(pilot).shown[table_of(pilot).cursor].key == key


async def test_of_the_run_whose_list_has_the_cursor(tmp_path: Path) -> None:
    async with driven(app_of(*small_runs(tmp_path), data=small_data(tmp_path))) as pilot:
        await press(pilot, "enter", "tab", "a")
        assert "bm25 · layer" in line(pilot, "#audit-value")
        await press(pilot, "escape")
        assert inspect(pilot).row is inspect(pilot).rows[0]


async def test_of_a_tasks_mean() -> None:
    async with driven(demo_app()) as pilot:
        await press(pilot, "j", "a")
        assert "mean of 5 judged queries" in line(pilot, "#audit-value")
        names = [row.key for row in table_of(pilot).rows]  # type: ignore[attr-defined]
        assert names[:3] == ["bright", "trec_eval-9", "trec_eval-10"]
        await press(pilot, "q", "end", "a")
        assert "mean of 4 tasks · mean of 20 judged queries" in line(pilot, "#audit-value")
        await press(pilot, "q")
        assert screen_of(pilot, OverviewScreen)


async def test_another_layer_changes_it(tmp_path: Path) -> None:
    qrels = write_qrels(tmp_path / "biology.mine.txt", {"3": {"x0": 1}})
    app = app_of(*small_runs(tmp_path), data=small_data(tmp_path), qrels=[str(qrels)], layer="original")
    async with driven(app) as pilot:
        await press(pilot, "a")
        assert "original 1.0000 · mine 0.6309" in "\n".join(
            fact.text for fact in pilot.app.screen.query(".fact").results(CellLine)
        )


async def test_fast_keys_do_no_harm() -> None:
    async with driven(demo_app()) as pilot:
        for keys in (
            ("a", "q"),
            ("a", "a", "right", "q"),
            ("A", "a", "o", "left", "escape", "escape"),
            ("a", "escape", "L", "d", "escape", "a", "q", "L", "d", "d", "escape"),
        ):
            for key in keys:
                await pilot.press(key)
            await press(pilot, "question_mark", "q")
        assert pilot.app.return_code is None

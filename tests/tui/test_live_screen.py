"""The Live screen: search the query at hand, edited or not, beside the compared run."""

from __future__ import annotations

from pathlib import Path

from textual.widgets import TextArea

from bright_inspect.tui.screens.inspect import InspectScreen
from bright_inspect.tui.screens.live import LiveScreen
from bright_inspect.tui.widgets.table import LineTable
from tests.support import example, write_bright, write_trec
from tests.tui.driving import NARROW, AppPilot, app_of, demo_app, driven, line, messages, press, screen_of, settle
from tests.tui.small import small_data, small_runs


def listed(pilot: AppPilot, name: str) -> list[str]:
    table = pilot.app.screen.query_one(f"#{name}", LineTable)
    return [table.rows[index].key for index in range(table.row_count)]


async def test_the_whole_corpus_is_searched_and_moves_are_shown() -> None:
    async with driven(demo_app()) as pilot:
        await press(pilot, "A", "enter", "r")
        screen = screen_of(pilot, LiveScreen)
        assert screen.query_one(TextArea).has_focus
        assert "retriever bm25 F3 · text original F2 · rerank no F4 · depth 100 F7" in line(pilot, "#live-options")
        await press(pilot, "f5")
        assert line(pilot, "#live-title").startswith("bm25 live  nDCG@10 ")
        assert "searched" in line(pilot, "#live-note")
        table = screen.query_one("#live-list", LineTable)
        assert table.has_focus
        assert len(listed(pilot, "live-list")) > 5
        assert [column.key for column in table.columns][-1] == "move"
        await press(pilot, "f3", "down", "enter", "f5")
        assert line(pilot, "#live-title").startswith("bm25-lucene live")
        await press(pilot, "escape")
        screen_of(pilot, InspectScreen)


async def test_edited_text_is_searched_and_kept(tmp_path: Path) -> None:
    rows = [example("0", ["moss"])]
    documents = [{"id": name, "content": f"{name} grows on {name} stones"} for name in ("moss", "fern", "lichen")]
    data = write_bright(write_bright(tmp_path / "data", {"garden": rows}), {"garden": documents}, "documents")
    run = write_trec(tmp_path / "garden.trec", {"0": {"fern": 2.5, "moss": 1.5}})
    async with driven(app_of(run, data=data), NARROW) as pilot:
        await press(pilot, "enter", "r")
        area = pilot.app.screen.query_one(TextArea)
        area.text = "lichen"
        await press(pilot, "f5")
        assert listed(pilot, "live-list") == ["lichen"]
        assert "share no term" in line(pilot, "#live-note")
        assert "text edited F2" in line(pilot, "#live-options")
        assert "nDCG@10 0.0" in line(pilot, "#live-title")
        await press(pilot, "f2")
        assert area.text == "question 0"
        await press(pilot, "f2")
        assert area.text == "lichen", "what was typed is not lost"
        area.text = "moss"
        await press(pilot, "f5")
        assert "nDCG@10 100.0" in line(pilot, "#live-title")
        area.text = "   "
        await press(pilot, "f5")
        assert messages(pilot)[-1] == "There is no text to search."


async def test_a_part_of_the_corpus_withholds_moves_until_the_run_is_restricted(tmp_path: Path) -> None:
    data = small_data(tmp_path, documents=("g0", "x0"))
    async with driven(app_of(*small_runs(tmp_path), data=data)) as pilot:
        await press(pilot, "enter", "r")
        pilot.app.screen.query_one(TextArea).text = "text g0"
        await press(pilot, "f5")
        assert "searched 2 of 57,359 documents: no deltas" in line(pilot, "#live-note")
        live = pilot.app.screen.query_one("#live-list", LineTable)
        assert "move" not in [column.key for column in live.columns]
        stored = listed(pilot, "stored-list0")
        assert not set(stored) <= {"g0", "x0"}
        await press(pilot, "f6")
        assert set(listed(pilot, "stored-list0")) <= {"g0", "x0"}
        assert "move" in [column.key for column in live.columns]
        assert "among 1 of its documents at hand" in line(pilot, "#stored-title0")
        await press(pilot, "f6")
        assert listed(pilot, "stored-list0") == stored


async def test_without_a_corpus_it_says_what_to_do(tmp_path: Path) -> None:
    app = app_of(*small_runs(tmp_path), data=small_data(tmp_path, corpus=False))
    async with driven(app) as pilot:
        await press(pilot, "enter", "r", "f5")
        assert "there is no corpus of biology at hand. Give --data DIR with documents/." in messages(pilot)[-1]
        assert listed(pilot, "live-list") == []


async def test_fast_keys_do_no_harm() -> None:
    async with driven(demo_app()) as pilot:
        await press(pilot, "A", "enter")
        for keys in (("r", "escape"), ("r", "f5", "escape"), ("r", "f5", "f3", "f5", "f2", "f6", "tab", "j")):
            for key in keys:
                await pilot.press(key)
            await settle(pilot)
        assert pilot.app.return_code is None

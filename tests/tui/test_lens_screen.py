"""The Lens screen over the demo: words, terms, documents and passages of a query and its rewrite; traces."""

from __future__ import annotations

import gc
import weakref
from pathlib import Path

from textual.widgets import Input

from bright_inspect.presentation.traces import find_all
from bright_inspect.tui.screens.ablation import AblationScreen
from bright_inspect.tui.screens.inspect import InspectScreen
from bright_inspect.tui.screens.lens import LensScreen
from bright_inspect.tui.screens.live import LiveScreen
from bright_inspect.tui.screens.trace import TraceScreen
from bright_inspect.tui.widgets.reader import TextReader
from bright_inspect.tui.widgets.table import LineTable
from tests.support import example, write_bright, write_trec
from tests.tui.driving import NARROW, AppPilot, app_of, demo_app, driven, line, messages, press, screen_of, settle


def side(pilot: AppPilot, name: str) -> TextReader:
    return pilot.app.screen.query_one(f"#lens-{name}", TextReader)


def outline_of(table: LineTable) -> str:
    """The marks of the outline's rows: open or folded."""
    return "".join(table.rows[place].cells[0][0].text for place in range(table.row_count))


async def test_every_tab_of_a_query_and_the_next() -> None:
    async with driven(demo_app()) as pilot:
        await press(pilot, "A", "enter", "v")
        screen = screen_of(pilot, LensScreen)
        view = screen.view
        assert view is not None
        rewrite = dict(view.variants)["demo_reason"]
        assert "demo_reason 1 of 1 F2" in line(pilot, "#lens-words")
        assert "survive" in line(pilot, "#lens-words")
        assert side(pilot, "left").text == view.text
        assert side(pilot, "right").text == rewrite
        assert line(pilot, "#lens-scores").startswith("bm25 here  nDCG@10 ")
        assert "bm25@demo_reason recomputed over " in line(pilot, "#lens-stored")
        assert line(pilot, "#lens-stored").count("the same scores") == 2

        await press(pilot, "pagedown")
        place = side(pilot, "right").scroll_y
        screen._show(first=True)  # as when more is worked out
        assert side(pilot, "right").scroll_y == place

        table = screen.query_one(LineTable)
        await press(pilot, "right")
        assert table.has_focus
        assert line(pilot, "#lens-caption").startswith("2 of 2 golds here · idf: bm25 index of 39 documents · ")
        row = table.row
        assert row is not None
        gold = "".join(span.text for span in row.cells[-1])
        assert gold in {judgment.doc_id for judgment in view.golds}
        assert side(pilot, "right").text.startswith(f"{gold}\n\n")
        assert side(pilot, "left").text == rewrite

        await press(pilot, "right", "right")
        assert "[Documents" in line(pilot, "#lens-tabs")
        lines = side(pilot, "left").text.splitlines()
        before, after, difference = (float(word.replace("−", "-").replace("–", "0")) for word in lines[1].split()[:3])
        parts = [[float(word.replace("−", "-").replace("–", "0")) for word in part.split()[:3]] for part in lines[2:]]
        # Each is shown with three decimals.
        slack = 0.0006 * len(parts)
        assert abs(sum(part[0] for part in parts) - before) < slack
        assert abs(sum(part[1] for part in parts) - after) < slack
        assert abs(after - before - difference) < 0.002
        first = table.row
        assert first is not None
        await press(pilot, "down", "y")
        assert table.row is not None
        assert messages(pilot)[-1].startswith(table.row.key)
        assert side(pilot, "right").text.startswith(table.row.key)

        # While the next query is read, a result of this one stands under this one's name.
        title = line(pilot, "#top")
        screen._wanted = 1
        screen._show()
        assert line(pilot, "#top") == title
        screen._wanted = 0
        await press(pilot, "n")
        assert line(pilot, "#top").endswith("2 of 20")
        following = screen.view
        assert following is not None
        assert following is not view
        await press(pilot, "f3")
        assert line(pilot, "#lens-scores").startswith("bm25-lucene here")
        await press(pilot, "f9")
        screen_of(pilot, AblationScreen)
        await press(pilot, "q", "r")
        screen_of(pilot, LiveScreen)
        await press(pilot, "escape", "q")
        # Back on Inspect, the query is the one that was on screen last.
        assert screen_of(pilot, InspectScreen).row.key == following.key


async def test_screens_that_were_left_are_not_kept() -> None:
    async with driven(demo_app()) as pilot:
        await press(pilot, "A", "enter")
        left = []
        for _ in range(4):
            await press(pilot, "v", "n")
            left.append(weakref.ref(screen_of(pilot, LensScreen)))
            await press(pilot, "q")
        gc.collect()
        # The first was there when what searching loaded was kept out of collections; the last one's work is at hand.
        assert [screen() for screen in left[1:-1]] == [None, None]


async def test_one_text_where_there_is_room_for_one() -> None:
    async with driven(demo_app(), NARROW) as pilot:
        await press(pilot, "A", "enter", "v")
        assert not side(pilot, "left").display
        assert "left out and added in one text" in line(pilot, "#lens-caption")
        await press(pilot, "right")
        assert not side(pilot, "left").display
        await press(pilot, "right", "right")
        assert side(pilot, "left").display
        assert not side(pilot, "right").display


async def test_without_a_corpus_and_without_a_rewrite(tmp_path: Path) -> None:
    data = write_bright(tmp_path / "data", {"pony": [example("1", ["g"]), example("2", ["g"])]})
    write_bright(data, {"pony": [{"id": "1", "query": "question one, asked in other words"}]}, "gpt4_reason")
    write_bright(data, {"pony": [{"id": "1", "query": "another's words"}]}, "claude_reason")
    run = write_trec(tmp_path / "pony.trec", {"1": {"g": 2.0, "d": 1.0}, "2": {"g": 1.0}})
    async with driven(app_of(f"bm25@gpt4_reason={run}", data=data)) as pilot:
        await press(pilot, "enter", "v")
        assert "gpt4_reason 2 of 2" in line(pilot, "#lens-words"), "the text that the run was made by"
        assert "survive" in line(pilot, "#lens-words")
        assert "nothing was searched here" in line(pilot, "#lens-scores")
        assert "there is no corpus of pony at hand" in messages(pilot)[-1]
        await press(pilot, "right")
        assert pilot.app.screen.query_one(LineTable).row_count == 0
        await press(pilot, "n")
        assert "there is no rewrite of this query at hand: --variant NAME=FILE" in line(pilot, "#lens-words")


async def test_a_trace_is_folded_and_searched() -> None:
    async with driven(demo_app()) as pilot:
        await press(pilot, "A", "enter", "o")
        screen = screen_of(pilot, TraceScreen)
        reader, table = screen.query_one(TextReader), screen.query_one(LineTable)
        text = reader.text
        assert "demo_reason" in line(pilot, "#trace-line")
        assert table.row_count > 1
        await press(pilot, "y")
        assert messages(pilot)[-1].startswith(f"{len(text):,} characters"), "no part of it is final"
        await press(pilot, "z")
        assert len(reader.text) < len(text)
        assert "▸" in reader.text
        folded = outline_of(table)
        word = text.split()[-1].strip(".,")
        await press(pilot, "slash")
        screen.query_one("#filter", Input).value = word
        await settle(pilot)
        assert f"“{word}” 1 of {len(find_all(reader.text, word))}" in line(pilot, "#trace-line")
        # What it stands in was opened, in the outline as in the text.
        assert outline_of(table).count("▸") == reader.text.count("▸ ") < folded.count("▸")
        await press(pilot, "enter", "n", "escape", "o")
        assert "reasoning" in line(pilot, "#trace-line")
        await press(pilot, "q")
        screen_of(pilot, InspectScreen)

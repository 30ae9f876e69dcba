"""The Inspect screen: walking along the queries, documents, golds, tabs, and what is not at hand."""

from __future__ import annotations

from pathlib import Path

import pytest

from bright_inspect.tui.screens.overview import OverviewScreen
from bright_inspect.tui.screens.queries import QueriesScreen
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
from tests.tui.small import query_tab_text, small_data, small_runs, tables

# --- inspect: walking ------------------------------------------------------------------------------------------------


async def test_walking_and_coming_back_to_the_query_that_was_left() -> None:
    async with driven(demo_app()) as pilot:
        await press(pilot, "A")
        rows = list(queries(pilot).shown)
        await press(pilot, "j", "enter")
        for key, index in [("n", 2), ("n", 3), ("p", 2), ("n", 3), ("n", 4)]:
            await press(pilot, key)
            assert inspect(pilot).row is rows[index]
            assert line(pilot, "#title").startswith(f"{rows[index].key.task} {rows[index].key.query_id}  ")
            assert line(pilot, "#title").endswith(f"{index + 1} of 20 by |Δ|")
            assert str(inspect(pilot).document) in shown(pilot) or inspect(pilot).document
        await press(pilot, "q")
        assert table_of(pilot).cursor == 4
        await press(pilot, "k", "enter")
        assert inspect(pilot).row is rows[3]


async def test_the_ends_of_the_list_say_so() -> None:
    async with driven(demo_app()) as pilot:
        await press(pilot, "A", "enter", "p")
        assert messages(pilot) == ["This is the first query of the list."]
        await press(pilot, "q", "end", "enter", "n")
        assert messages(pilot)[-1] == "This is the last query of the list."
        assert inspect(pilot).row is inspect(pilot).rows[-1]


async def test_walking_stays_within_the_filter() -> None:
    async with driven(demo_app()) as pilot:
        await press(pilot, "A", "/")
        await type_text(pilot, "loss")
        await press(pilot, "enter")
        found = query_ids(pilot)
        await press(pilot, "enter")
        assert [row.key.query_id for row in inspect(pilot).rows] == found


async def test_fast_keys_end_consistent() -> None:
    """Keys that come before the last one's work is done: the screen ends on the query that its title names."""
    async with driven(demo_app()) as pilot:
        await pilot.press("A", "enter", *"nnn]]pu", "right", "right", *"nm]nnpd", "escape", *"nnj")
        await settle(pilot)
        screen = inspect(pilot)
        row = screen.row
        assert line(pilot, "#title").startswith(f"{row.key.task} {row.key.query_id}  ")
        reader_text = await query_tab_text(pilot)
        assert row.text in reader_text
        await pilot.press(*"nnn")
        await settle(pilot)
        await press(pilot, "q")
        assert table_of(pilot).cursor == screen.rows.index(row) + 3
        await pilot.press("enter", "n", "q", "enter", "p", "q", "q")
        await settle(pilot)
        screen_of(pilot, OverviewScreen)
        await pilot.press("A", "enter", "q", "enter", "n", "b", "M", "escape", "q", "q", "q")
        assert (await ended(pilot)).return_code == 0


# --- inspect: documents ----------------------------------------------------------------------------------------------


async def test_gold_and_unjudged_keys(tmp_path: Path) -> None:
    async with driven(app_of(*small_runs(tmp_path), data=small_data(tmp_path))) as pilot:
        await press(pilot, "<", "enter")
        screen = inspect(pilot)
        assert screen.row.key.query_id == "1"
        assert screen.document == "x0"
        documents = []
        for key in ["]", "]", "]", "[", "u", "u", "u", "U", "U"]:
            await press(pilot, key)
            documents.append(screen.document)
        # The golds of query 1 are g1 (third in qwen's list) and h1, which qwen does not list.
        assert documents == ["g1", "h1", "g1", "h1", "x2", "x2", "x2", "x1", "x0"]
        assert "No more unjudged documents this way." in messages(pilot)
        await press(pilot, "tab", "]")
        assert screen.document == "h1", "the next gold by its rank in the focused list"


async def test_the_same_document_lights_up_in_every_list(tmp_path: Path) -> None:
    async with driven(app_of(*small_runs(tmp_path), data=small_data(tmp_path))) as pilot:
        await press(pilot, "<", "enter", "j")
        screen = inspect(pilot)
        first, second = tables(pilot)
        assert first.has_focus
        assert screen.document == "x1"
        assert first.marked_keys == second.marked_keys == {"x1"}
        await press(pilot, "tab")
        assert second.has_focus
        assert second.row is not None
        assert second.row.key == "x1", "its cursor comes to the document at hand"
        assert "bm25 4" in line(pilot, "#document-line")


async def test_tab_goes_round_the_lists_and_the_reader() -> None:
    async with driven(demo_app()) as pilot:
        await press(pilot, "A", "enter")
        order = []
        for _ in range(4):
            await press(pilot, "tab")
            assert pilot.app.focused is not None
            order.append(pilot.app.focused.id)
        assert order == ["list1", "reader", "list0", "list1"]
        await press(pilot, "tab")
        before = inspect(pilot).document
        await press(pilot, "j", "n", "p")
        assert inspect(pilot).document == before
        assert reader_of(pilot).has_focus, "focus survives n and p"


async def test_tabs_of_the_reader() -> None:
    async with driven(demo_app()) as pilot:
        await press(pilot, "A", "enter")
        row = inspect(pilot).row
        for key, title in [("right", "original · "), ("l", "human reasoning"), ("right", "1 of 2"), ("right", "")]:
            await press(pilot, key)
            assert reader_of(pilot).text.startswith(title)
        assert "1 of 2" not in reader_of(pilot).text
        await press(pilot, "h", "left", "left")
        assert row.text in reader_of(pilot).text
        assert "demo_reason · " in reader_of(pilot).text
        await press(pilot, "n")
        assert inspect(pilot).row.text in reader_of(pilot).text, "the tab stays"
        await press(pilot, "j")
        assert inspect(pilot).row.text not in reader_of(pilot).text, "moving in a list shows the document"
        await pilot.click("#tabs", offset=(13, 0))
        await settle(pilot)
        assert reader_of(pilot).text.startswith("original · ")


@pytest.mark.parametrize(("size", "merged"), [(NARROW, True), (WIDE, False)])
async def test_the_merged_list(size: tuple[int, int], merged: bool) -> None:
    async with driven(demo_app(), size) as pilot:
        await press(pilot, "A", "enter")
        screen = inspect(pilot)
        assert screen.merged == merged
        assert table_of(pilot).id == ("merged" if merged else "list0")
        await press(pilot, "j", "j")
        document = screen.document
        for _ in range(2):
            await press(pilot, "m")
            merged = not merged
            assert screen.merged == merged
            assert screen.document == document
            table = table_of(pilot)
            assert table.has_focus
            assert table.row is not None
            assert table.row.key == document, "the cursor stays on the document"
        await press(pilot, "m", "n")
        assert screen.merged != (size == NARROW), "the choice stays"


async def test_the_full_reader() -> None:
    async with driven(demo_app()) as pilot:
        await press(pilot, "A", "enter", "d")
        assert reader_of(pilot).has_focus
        assert reader_of(pilot).size.height > 25
        assert not any(table.display and table.size for table in tables(pilot))
        index = inspect(pilot).rows.index(inspect(pilot).row)
        await press(pilot, "n", "right")
        assert inspect(pilot).row is inspect(pilot).rows[index + 1]
        await press(pilot, "escape")
        assert inspect(pilot).is_current
        assert table_of(pilot).has_focus
        await press(pilot, "d", "d", "d", "q", "q")
        queries(pilot)


async def test_resizing_keeps_the_document() -> None:
    async with driven(demo_app()) as pilot:
        await press(pilot, "A", "enter", "j", "j", "j")
        document = inspect(pilot).document
        for size in [NARROW, (200, 60), (60, 15), (30, 8), WIDE]:
            await pilot.resize_terminal(*size)
            await settle(pilot)
            assert inspect(pilot).document == document, size
            assert inspect(pilot).merged == (size[0] < 90)
            row = table_of(pilot).row
            assert row is not None
            assert row.key == document, size
        await press(pilot, "q")
        await pilot.resize_terminal(*NARROW)
        await settle(pilot)
        assert table_of(pilot).cursor == 0


async def test_copying() -> None:
    async with driven(demo_app()) as pilot:
        await press(pilot, "A", "enter", "y")
        assert pilot.app.clipboard == inspect(pilot).document
        await press(pilot, "Y")
        assert pilot.app.clipboard == reader_of(pilot).text
        await press(pilot, "right", "Y")
        assert pilot.app.clipboard.startswith("original · ")


# --- what is not at hand ---------------------------------------------------------------------------------------------


async def test_no_reasoning_no_corpus_and_no_gold(tmp_path: Path) -> None:
    data = small_data(tmp_path, corpus=False)
    async with driven(app_of(*small_runs(tmp_path), data=data)) as pilot:
        await press(pilot, "enter")
        assert "no text at hand: there is no corpus of biology · give --data DIR with documents/" in shown(pilot)
        await press(pilot, "right", "right")
        assert reader_of(pilot).text.count("none recorded for this query") == 2
        await press(pilot, "right")
        assert "no text at hand" in reader_of(pilot).text


async def test_a_query_without_golds(tmp_path: Path) -> None:
    data = write_bright(tmp_path / "data", {"biology": [example("0", ["g0"]), example("1", [])]})
    runs = [write_trec(tmp_path / name / "biology.trec", {"0": {"g0": 1}, "1": {"x": 1}}) for name in ("qwen", "bm25")]
    async with driven(app_of(*runs, data=data)) as pilot:
        await press(pilot, "/")
        await type_text(pilot, "id:1")
        await press(pilot, "enter", "enter")
        if queries_shown := isinstance(pilot.app.screen, QueriesScreen):
            assert query_ids(pilot) == []
        else:
            await press(pilot, "]")
            assert "Nothing is judged relevant for this query." in messages(pilot)
            await press(pilot, "left")
            assert "no gold: nothing is judged relevant for this query" in reader_of(pilot).text
        assert queries_shown in (True, False)


async def test_a_document_outside_the_part_of_the_corpus_at_hand(tmp_path: Path) -> None:
    async with driven(app_of(*small_runs(tmp_path), data=small_data(tmp_path, documents=("g0", "g1")))) as pilot:
        await press(pilot, "<", "enter")
        assert "no text at hand: it is not among the 2 documents of biology here" in shown(pilot)
        await press(pilot, "]")
        assert reader_of(pilot).text == "text of g1"


async def test_runs_without_any_data(tmp_path: Path) -> None:
    """BRIGHT's names in the path, but no data set on this machine: the lists can be read, the values are dashes."""
    async with driven(app_of(*small_runs(tmp_path))) as pilot:
        assert "no judgments at hand: give --data DIR or --qrels FILE" in line(pilot, "#headline")
        assert "no text at hand" in shown(pilot)
        values = {value for row in queries(pilot).shown for value in row.values}
        assert values == {None}
        await press(pilot, "s", "<", "=", "S", "enter")
        assert line(pilot, "#title").startswith("biology ")
        assert "no query text at hand" in line(pilot, "#title")
        assert "nDCG@10 –" in shown(pilot)
        await press(pilot, "]", "u", "m", "m")
        for _ in range(4):
            await press(pilot, "right")
        assert "no text at hand: there is no corpus of biology" in shown(pilot)
        await press(pilot, "M", "enter", "b", "q", "q")
        assert (await ended(pilot)).return_code == 0


async def test_several_tasks_without_any_data(tmp_path: Path) -> None:
    for task in ("biology", "pony"):
        for system in ("qwen", "bm25"):
            write_trec(tmp_path / system / f"{task}.trec", {"0": {"a": 1.0}})
    async with driven(app_of(tmp_path / "qwen", tmp_path / "bm25")) as pilot:
        screen_of(pilot, OverviewScreen)
        assert "–" in shown(pilot)
        await press(pilot, "M", "down", "enter", "b", "A", "enter", "q", "q", "q")
        assert (await ended(pilot)).return_code == 0

"""The program over the demo and other small data: what it opens on, every key of every screen, and leaving."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from textual.command import CommandList

from bright_inspect.presentation.cells import TableRow
from bright_inspect.tui.screens.findings import FindingsScreen
from bright_inspect.tui.screens.help import HelpScreen
from bright_inspect.tui.screens.measure_choice import MeasureChoice
from bright_inspect.tui.screens.overview import OverviewScreen
from bright_inspect.tui.screens.queries import QueriesScreen
from bright_inspect.tui.themes import THEMES
from bright_inspect.tui.widgets.table import LineTable
from tests.support import example, write_bright, write_trec
from tests.tui.driving import (
    NARROW,
    WIDE,
    AppPilot,
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

#: Δ of nDCG@10, query by query: 0, −69.3, −36.9, +100.
QWEN = {
    "0": {"g0": 4.0, "x0": 3.0},
    "1": {"x0": 4.0, "x1": 3.0, "g1": 2.0, "x2": 1.0},
    "2": {"x0": 4.0, "g2": 3.0},
    "3": {"g3": 4.0, "x0": 3.0},
}
BM25 = {
    "0": {"g0": 4.0, "x0": 3.0},
    "1": {"h1": 6.0, "g1": 5.0, "x0": 4.0, "x1": 3.0},
    "2": {"g2": 4.0, "x0": 3.0},
    "3": {"x0": 4.0, "x1": 3.0},
}


def small_runs(folder: Path) -> list[Path]:
    """A run and a baseline over four queries of biology."""
    return [write_trec(folder / name / "biology.trec", run) for name, run in (("qwen", QWEN), ("bm25", BM25))]


def small_data(
    folder: Path,
    *,
    tasks: Sequence[str] = ("biology",),
    corpus: bool = True,
    documents: Sequence[str] = ("g0", "g1", "h1", "g2", "g3", "x0", "x1", "x2"),
) -> Path:
    """A data set of four queries a task; query 1 has two golds."""
    rows = [example("0", ["g0"]), example("1", ["g1", "h1"]), example("2", ["g2"]), example("3", ["g3"])]
    data = write_bright(folder / "data", dict.fromkeys(tasks, rows))
    if corpus:
        texts = [{"id": doc_id, "content": f"text of {doc_id}"} for doc_id in documents]
        write_bright(data, dict.fromkeys(tasks, texts), "documents")
    return data


def odd_run(folder: Path) -> Path:
    """A run with a bad score, a duplicate document and a comment."""
    path = folder / "qwen" / "biology.trec"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(
        "0 Q0 g0 1 2.5 t\n0 Q0 x0 2 abc t\n# why\n0 Q0 g0 3 .2 t\n1 Q0 g1 1 1 t\n2 Q0 x 1 1 t\n3 Q0 x 1 1 t\n"
    )
    return path


def table_rows(pilot: AppPilot) -> list[TableRow]:
    table = table_of(pilot)
    return [table.rows[index] for index in range(table.row_count)]


def tables(pilot: AppPilot) -> list[LineTable]:
    """The lists side by side."""
    return [pilot.app.screen.query_one(f"#list{number}", LineTable) for number in range(2)]


async def query_tab_text(pilot: AppPilot) -> str:
    """What the Query tab says."""
    for _ in range(4):
        if reader_of(pilot).text.startswith("original · "):
            break
        await press(pilot, "right")
    return reader_of(pilot).text


async def palette_found(pilot: AppPilot) -> None:
    """Wait until the palette has an entry to choose."""
    for _ in range(200):
        found = pilot.app.screen.query_one(CommandList)
        if found.option_count and found.highlighted is not None:
            return
        await pilot.pause(0.02)
    raise AssertionError("the palette found nothing")


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
        assert line(pilot, "#headline").rstrip().endswith("+57.1")
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
        await pilot.press(*"nnnq")
        await settle(pilot)
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
        assert "! 3 findings" in line(pilot, "#top")
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
        screen_of(pilot, HelpScreen)

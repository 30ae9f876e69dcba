"""Layers of judgments: choosing one, and that everything on every screen follows it, with the place kept."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from bright_inspect.domain.measures import parse_measure
from bright_inspect.judging.journal import Journal
from bright_inspect.store.progress import Cancelled, CancelToken
from bright_inspect.store.request import OpenRequest
from bright_inspect.tui.app import BrightInspect
from bright_inspect.tui.desk import Desk, open_desk
from bright_inspect.tui.screens.layers import LayersScreen
from bright_inspect.tui.screens.overview import OverviewScreen
from bright_inspect.tui.widgets.table import LineTable
from tests.judging.making import judged
from tests.support import write_qrels
from tests.tui.driving import (
    NARROW,
    WIDE,
    app_of,
    demo_app,
    driven,
    inspect,
    line,
    press,
    queries,
    query_ids,
    reader_of,
    screen_of,
    settle,
    shown,
    table_of,
)
from tests.tui.small import palette_found, small_data, small_runs, table_rows, tables

#: As the data's own, but query 1 has a gold that qwen ranks first, query 2 another, and query 3 is not judged.
MINE = {"0": {"g0": 1}, "1": {"g1": 1, "h1": 1, "x0": 1}, "2": {"x0": 2, "g2": 0}}


def request(folder: Path, layer: str | None = None) -> OpenRequest:
    runs, data = small_runs(folder), small_data(folder)
    qrels = write_qrels(folder / "biology.txt", MINE)
    return OpenRequest(tuple(map(str, runs)), data, task="biology", qrels=(f"mine={qrels}",), layer=layer)


@pytest.fixture
def app(tmp_path: Path) -> BrightInspect:
    """Two layers, of which the data's own counts at first."""
    wanted = request(tmp_path, "original")
    return app_of(*wanted.runs, data=wanted.data, task=wanted.task, qrels=wanted.qrels, layer=wanted.layer)


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    desk = open_desk(request(tmp_path, "original"), lambda progress: None, CancelToken())
    yield desk
    desk.close()


async def test_the_dialog_lists_layers_and_what_they_would_change(app: BrightInspect) -> None:
    async with driven(app, NARROW) as pilot:
        await press(pilot, "L")
        screen = screen_of(pilot, LayersScreen)
        assert [" ".join("".join(span.text for span in cell) for cell in row.cells) for row in table_rows(pilot)] == [
            "original ● yes 4 5 ", "mine – 3 5 4 pairs in 3 queries",
        ]  # fmt: skip
        assert line(pilot, "#layers-caption") == "original is what counts now"
        await press(pilot, "j")
        assert line(pilot, "#layers-caption") == "original → mine: 4 pairs of 3 queries differ, 4 in gold"
        await press(pilot, "d")
        assert table_of(pilot).id == "layer-changes"
        assert "x0" in shown(pilot)
        assert "– → 2" in shown(pilot)
        await press(pilot, "G", "escape")
        assert screen.is_current
        assert table_of(pilot).id == "layers"
        await press(pilot, "escape")
        assert "layer" not in line(pilot, "#top"), "Esc keeps what counts"
        assert query_ids(pilot) == ["3", "1", "2", "0"]


async def test_scores_rows_and_the_header_follow(app: BrightInspect) -> None:
    async with driven(app) as pilot:
        before = line(pilot, "#headline")
        await press(pilot, "L", "j", "enter")
        assert line(pilot, "#top").startswith("bright-inspect  layer mine · 2 runs · biology · 3 queries")
        assert sorted(query_ids(pilot)) == ["0", "1", "2"]
        assert line(pilot, "#headline") != before
        golds = {row.key.query_id: row.golds for row in queries(pilot).shown}
        assert golds == {"0": 1, "1": 3, "2": 1}
        await press(pilot, "L")
        assert table_of(pilot).cursor == 1, "the dialog opens on what counts"
        await press(pilot, "k", "enter")
        assert line(pilot, "#headline") == before


async def test_the_open_query_is_judged_anew_in_its_place(app: BrightInspect) -> None:
    async with driven(app) as pilot:
        await press(pilot, "j", "enter", "j")
        screen = inspect(pilot)
        assert (screen.row.key.query_id, screen.document) == ("1", "x1")
        assert "nDCG@10 30.7" in line(pilot, "#pane-title0")
        await press(pilot, "L", "j", "enter")
        assert (screen.row.key.query_id, screen.document) == ("1", "x1")
        assert tables(pilot)[0].cursor == 1
        assert [row.cells[0][0].text for row in map(tables(pilot)[0].rows.__getitem__, range(4))] == [
            "★",
            "·",
            "★",
            "·",
        ]
        assert "nDCG@10 70.4" in line(pilot, "#pane-title0")
        assert "Gold 3" in line(pilot, "#tabs")
        await press(pilot, "n")
        assert "★2" in shown(pilot)
        await press(pilot, "left")
        assert "text of x0" in reader_of(pilot).text, "texts of every layer's golds are at hand"
        await press(pilot, "L", "k", "enter")
        assert "★2" not in shown(pilot)


async def test_a_query_that_the_layer_does_not_judge_stays_open(app: BrightInspect) -> None:
    async with driven(app) as pilot:
        await press(pilot, "enter")
        assert inspect(pilot).row.key.query_id == "3"
        await press(pilot, "L", "j", "enter")
        assert inspect(pilot).row.key.query_id == "3"
        assert "nDCG@10 –" in line(pilot, "#pane-title0")
        assert "Gold 0" in line(pilot, "#tabs")
        await press(pilot, "n", "p", "q")
        assert sorted(query_ids(pilot)) == ["0", "1", "2"]


async def test_a_measure_chosen_meanwhile_does_not_lose_the_layer(app: BrightInspect) -> None:
    async with driven(app) as pilot:
        app.use_layer("mine")
        app.use_measure(parse_measure("R@1"))
        app.use_layer("mine")
        await settle(pilot)
        assert "layer mine" in line(pilot, "#top")
        assert "R@1" in line(pilot, "#top")
        assert set(app.desk.scored.layers.values()) == {"mine"}


async def test_the_palette_chooses_a_layer(app: BrightInspect) -> None:
    async with driven(app) as pilot:
        await pilot.press("colon")
        await pilot.press(*"judgments of mine")
        await palette_found(pilot)
        await pilot.press("enter")
        await settle(pilot)
        assert "layer mine" in line(pilot, "#top")


@pytest.mark.parametrize("size", [NARROW, WIDE])
async def test_one_layer_says_how_to_add_another(size: tuple[int, int]) -> None:
    async with driven(demo_app(), size) as pilot:
        await press(pilot, "L")
        assert "--qrels FILE" in shown(pilot)
        assert "● all tasks" in shown(pilot)
        await press(pilot, "d", "escape", "enter")
        screen_of(pilot, OverviewScreen)


async def test_without_judgments(tmp_path: Path) -> None:
    async with driven(app_of(*small_runs(tmp_path))) as pilot:
        await press(pilot, "L")
        assert "no judgments at hand" in shown(pilot)
        await press(pilot, "enter", "d", "escape", "escape")
        queries(pilot)


async def test_fast_keys(app: BrightInspect) -> None:
    async with driven(app) as pilot:
        await pilot.press(*"LjdL", "escape", "escape", *"Lj", "enter", *"Lk", "enter", *"L!Lq", "enter", "L", "q")
        await settle(pilot)
        assert pilot.app.return_value is None
        assert set(app.desk.scored.layers.values()) == {app.desk.session.layer}


def test_what_is_stopped_changes_nothing(desk: Desk) -> None:
    measure = desk.scored.measure
    token = CancelToken()
    token.cancel()
    with pytest.raises(Cancelled):
        desk.score(measure, "mine", token)
    assert desk.session.layer == "original"
    assert desk.score(measure, None, CancelToken()).scores.keys() == desk.scored.scores.keys()
    mine = desk.score(measure, "mine", CancelToken())
    assert desk.session.layer == "mine"
    assert set(mine.layers.values()) == {"mine"}
    assert mine.scores[0, ("bright", "biology")].mean != desk.scored.scores[0, ("bright", "biology")].mean


async def test_real_layers(bright_data: Path) -> None:
    runs = (bright_data / "runs" / "reasonir", bright_data / "rader")
    app = app_of(*runs, data=bright_data / "bright", qrels=[str(bright_data / "qrels")], layer="original")
    async with driven(app) as pilot:
        await press(pilot, "L")
        counts = ["".join(span.text for span in row.cells[-1]) for row in table_rows(pilot)]
        assert counts == ["", "625 pairs in 28 queries", "nothing"]
        await press(pilot, "j")
        assert "625 pairs of 28 queries differ" in line(pilot, "#layers-caption")
        before = {key: score.mean for key, score in app.desk.scored.scores.items()}
        await press(pilot, "enter")
        assert isinstance(table_of(pilot), LineTable)
        changed = {key[1][1] for key, score in app.desk.scored.scores.items() if abs(score.mean - before[key]) > 1e-9}
        assert changed == {"biology", "earth_science", "stackoverflow", "sustainable_living"}
        assert "layer fixed" in line(pilot, "#top")


async def test_layers_of_decisions_are_listed_and_count(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Journal().append(judged("x0", 2, query_id="2"), judged("g2", 0, query_id="2"), judged("g1", 1, "bob", "1"))
    wanted = request(tmp_path)
    async with driven(app_of(*wanted.runs, data=wanted.data, task=wanted.task)) as pilot:
        await press(pilot, "L")
        listed = ["".join(span.text for span in row.cells[0]).strip() for row in table_rows(pilot)]
        assert listed == ["original", "mine:anna", "mine:bob", "majority", "unanimous", "union"]
        await press(pilot, "j", "enter")
        assert line(pilot, "#top").startswith("bright-inspect  layer mine:anna · ")
        assert {row.key.query_id: row.golds for row in queries(pilot).shown}["2"] == 1

"""The Live screen: search the query at hand, edited or not, beside the compared run."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from textual.widgets import Input, TextArea

from bright_inspect.tui.screens.ablation import AblationScreen
from bright_inspect.tui.screens.explain import ExplainScreen
from bright_inspect.tui.screens.inspect import InspectScreen
from bright_inspect.tui.screens.live import LiveScreen
from bright_inspect.tui.widgets.table import LineTable
from tests.support import example, write_bright, write_trec
from tests.tui.driving import (
    NARROW,
    AppPilot,
    app_of,
    demo_app,
    driven,
    line,
    messages,
    option_names,
    press,
    reader_of,
    screen_of,
    settle,
    table_of,
)
from tests.tui.own_retrievers import DEAF_SECONDS
from tests.tui.small import small_data, small_runs


def listed(pilot: AppPilot, name: str) -> list[str]:
    table = pilot.app.screen.query_one(f"#{name}", LineTable)
    return [table.rows[index].key for index in range(table.row_count)]


async def until(pilot: AppPilot, true: Callable[[], object]) -> None:
    """Wait until something is so."""
    deadline = time.monotonic() + 30
    while not true():
        assert time.monotonic() < deadline
        await pilot.pause(0.05)


async def test_the_whole_corpus_is_searched_and_moves_are_shown() -> None:
    async with driven(demo_app()) as pilot:
        await press(pilot, "A", "enter", "r")
        screen = screen_of(pilot, LiveScreen)
        assert screen.query_one(TextArea).has_focus
        assert "by bm25 F3 · text original F2 · rerank no F4 · depth 100 F7" in line(pilot, "#live-options")
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
        assert " · 1 at hand" in line(pilot, "#stored-title0")
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


OWN = "tests.tui.own_retrievers"


async def test_any_retriever_can_be_typed_and_what_is_sent_is_shown() -> None:
    async with driven(demo_app()) as pilot:
        await press(pilot, "A", "enter", "r", "f3")
        names = option_names(pilot)
        assert names[0].startswith("bm25  ")
        assert any(name.startswith("sbert  ") for name in names)
        await press(pilot, *"own")
        line_of = pilot.app.screen.query_one(Input)
        assert line_of.has_focus
        line_of.value = f"{OWN}:make_by_sentence"
        await press(pilot, "enter", "f5")
        assert line(pilot, "#live-title").startswith("by-sentence live  nDCG@10 ")
        model = line(pilot, "#live-model")
        assert "tokens, cut at 8" in model
        assert "query “ask:⏎” · documents – (BRIGHT's table)" in model


async def test_a_reranker_is_chosen_and_its_cuts_are_told() -> None:
    async with driven(demo_app()) as pilot:
        await press(pilot, "A", "enter", "r", "f4")
        assert option_names(pilot)[0] == "no reranking"
        pilot.app.screen.query_one(Input).value = f"{OWN}:make_by_length"
        pilot.app.screen.query_one(Input).focus()
        await press(pilot, "enter")
        assert f"rerank top 100 {OWN}:make_by_length F4" in line(pilot, "#live-options")
        await press(pilot, "f5")
        assert line(pilot, "#live-title").startswith("bm25+by-length live")
        assert re.search(
            r"reranked \d+, \d+ of them cut at 30 tokens|reranked \d+, \d+ of them cut", line(pilot, "#live-model")
        )
        await press(pilot, "f4", "home", "enter", "f5")
        assert line(pilot, "#live-title").startswith("bm25 live")
        assert line(pilot, "#live-model") == ""


async def test_a_long_encoding_is_shown_stopped_and_left_behind() -> None:
    async with driven(demo_app()) as pilot:
        await press(pilot, "A", "enter", "r")
        screen = screen_of(pilot, LiveScreen)
        screen.desk.live.retriever = f"{OWN}:make_deaf"
        await pilot.press("f5")
        await until(pilot, lambda: "encoding documents on cpu" in line(pilot, "#live-note"))
        assert "Esc stops" in line(pilot, "#live-note")
        await pilot.press("escape")
        assert "stopped" in line(pilot, "#live-note")
        assert not screen.runner.busy("live")
        screen.desk.live.retriever = "bm25"
        started = time.monotonic()
        await press(pilot, "f5")
        assert line(pilot, "#live-title").startswith("bm25 live"), "the stopped work holds nobody else up"
        assert time.monotonic() - started < DEAF_SECONDS
        screen.desk.live.retriever = f"{OWN}:make_slow"
        await pilot.press("f5")
        await until(pilot, lambda: re.search(r"encoding documents on cpu [1-9]\d* of 400", line(pilot, "#live-note")))
        await pilot.press("escape")
        assert not screen.runner.busy("live")


async def test_lists_of_as_many_runs_as_there_is_room_for(tmp_path: Path) -> None:
    data = small_data(tmp_path)
    for width, shown_lists in ((80, 1), (120, 1), (200, 2)):
        async with driven(app_of(*small_runs(tmp_path / str(width)), data=data), (width, 40)) as pilot:
            await press(pilot, "enter", "r")
            panes = [pane for pane in pilot.app.screen.query(".following") if pane.display]
            assert len(panes) == shown_lists
            compared = screen_of(pilot, LiveScreen).desk.compared.run.label
            assert line(pilot, "#stored-title0").startswith(compared)


async def test_a_list_is_kept_as_a_run_with_its_sidecar(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    data = small_data(tmp_path)
    async with driven(app_of(*small_runs(tmp_path), data=data)) as pilot:
        await press(pilot, "enter", "r", "f8")
        assert messages(pilot)[-1] == "There is nothing to keep yet: F5 searches."
        pilot.app.screen.query_one(TextArea).text = "text g0"
        await press(pilot, "f5")
        found = listed(pilot, "live-list")
        query_id = screen_of(pilot, LiveScreen)._view.key.query_id
        await press(pilot, "f8", "f8")
    _check_kept(tmp_path, found, query_id)


def _check_kept(tmp_path: Path, found: list[str], query_id: str) -> None:
    kept = sorted((tmp_path / "runs" / "live" / "bm25@edited" / "biology").glob("*.trec"))
    assert len(kept) == 2, "nothing is overwritten"
    lines = [entry.split() for entry in kept[0].read_text().splitlines()]
    assert [entry[2] for entry in lines] == found
    assert {(entry[0], entry[5]) for entry in lines} == {(query_id, "bm25")}
    made = json.loads(Path(f"{kept[0]}.json").read_text())
    assert (made["system"], made["variant"], made["text"], made["query_id"]) == ("bm25", "edited", "text g0", query_id)


async def test_a_score_is_explained_by_term() -> None:
    async with driven(demo_app()) as pilot:
        await press(pilot, "A", "enter", "r", "f5", "e")
        screen = screen_of(pilot, ExplainScreen)
        explanation = screen._explanation
        assert explanation is not None
        assert explanation.score is not None
        live = next(each for each in pilot.app.screen_stack if isinstance(each, LiveScreen))
        result = live._result
        assert result is not None
        assert explanation.doc_id == result.ranking.docs[0].doc_id
        assert explanation.score == pytest.approx(result.ranking.docs[0].score, rel=1e-9)
        assert f"score {explanation.score:.4f} · " in line(pilot, "#explain-summary")
        assert "idf over " in line(pilot, "#explain-summary")
        rows = table_of(pilot).rows
        assert len(rows) == len(explanation.terms)
        assert explanation.document is not None
        assert reader_of(pilot).text == explanation.document
        best = explanation.terms[0]
        assert explanation.places is not None
        for start, end in explanation.places[best.term]:
            assert explanation.document[start:end].lower()[:3] == best.term[:3]
        await press(pilot, "j", "q", "q")
        screen_of(pilot, InspectScreen)
        await press(pilot, "e")
        assert line(pilot, "#top").startswith("bm25 · text original · ")


async def test_a_score_is_explained_by_sentence(tmp_path: Path) -> None:
    rows = [example("0", ["moss"])]
    text = "A long sentence about nothing at all. Short one. Another that is long and comes later on."
    data = write_bright(
        write_bright(tmp_path / "data", {"garden": rows}), {"garden": [{"id": "moss", "content": text}]}, "documents"
    )
    run = write_trec(tmp_path / "garden.trec", {"0": {"moss": 1.5}})
    async with driven(app_of(run, data=data)) as pilot:
        await press(pilot, "enter", "r")
        screen_of(pilot, LiveScreen).desk.live.retriever = f"{OWN}:make_by_sentence"
        await press(pilot, "f5", "e")
        assert "3 sentences, each scored alone, the closest first" in line(pilot, "#explain-summary")
        assert "1 of them after the model's max length" in line(pilot, "#explain-summary")
        rows_shown = table_of(pilot).rows
        assert [row.cells[-1][0].text for row in (rows_shown[0],)] == ["Short one"]


async def test_sentences_are_left_out_in_turn(tmp_path: Path) -> None:
    rows = [example("0", ["moss"])]
    documents = [{"id": name, "content": f"{name} grows on {name} stones"} for name in ("moss", "fern", "lichen")]
    data = write_bright(write_bright(tmp_path / "data", {"garden": rows}), {"garden": documents}, "documents")
    run = write_trec(tmp_path / "garden.trec", {"0": {"fern": 2.5, "moss": 1.5}})
    async with driven(app_of(run, data=data)) as pilot:
        await press(pilot, "enter", "r", "f9")
        assert "there is nothing to leave out" in messages(pilot)[-1]
        screen_of(pilot, LiveScreen)
        pilot.app.screen.query_one(TextArea).text = "I look for moss. A fern is near."
        await press(pilot, "f9")
        screen_of(pilot, AblationScreen)
        assert "with all 2 sentences" in line(pilot, "#ablation-summary")
        first = table_of(pilot).rows[0]
        assert first.cells[-1][0].text == "I look for moss."
        assert first.cells[0][0].text.startswith("−")
        assert reader_of(pilot).text == "I look for moss. A fern is near."
        await press(pilot, "q")
        screen_of(pilot, LiveScreen)

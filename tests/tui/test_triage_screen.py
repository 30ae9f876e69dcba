"""The Triage screen: one key a decision, kept before the next document comes up, taken back at any depth."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from textual.widgets import Input

from bright_inspect.errors import BrightInspectError
from bright_inspect.judging.decisions import Decision, text_sha256
from bright_inspect.judging.journal import DEFAULT_JOURNAL, Journal
from bright_inspect.presentation.overview import tag_notes
from bright_inspect.store.request import OpenRequest
from bright_inspect.store.triage_request import TriageRequest
from bright_inspect.tui.app import BrightInspect, make_app
from bright_inspect.tui.screens.audit import AuditScreen
from bright_inspect.tui.screens.queries import QueriesScreen
from bright_inspect.tui.screens.triage import TriageScreen
from bright_inspect.tui.widgets.reader import TextReader
from bright_inspect.tui.widgets.table import LineTable
from tests.tui.driving import (
    NARROW,
    AppPilot,
    driven,
    inspect,
    line,
    messages,
    press,
    query_ids,
    screen_of,
    type_text,
)
from tests.tui.driving import shown as text_of_screen
from tests.tui.small import small_data, small_runs


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working folder, where the journal is."""
    work = tmp_path / "work"
    work.mkdir()
    monkeypatch.chdir(work)
    return work


def program(tmp_path: Path, **triage: Any) -> BrightInspect:
    runs = tuple(map(str, small_runs(tmp_path / "runs")))
    request = TriageRequest(**{"annotator": "anna", "order": "agreement", **triage})
    app = make_app(OpenRequest(runs, small_data(tmp_path / "data"), triage=request), {})
    app.animation_level = "none"
    return app


def lines(folder: Path) -> list[dict[str, Any]]:
    path = folder / DEFAULT_JOURNAL
    return [json.loads(each) for each in path.read_text().splitlines()] if path.exists() else []


def shown(pilot: AppPilot) -> tuple[str, str]:
    """The query and document to judge."""
    triage = screen_of(pilot, TriageScreen)._triage
    assert triage is not None
    item = triage.queue.current
    assert item is not None
    return item.query.query_id, item.doc_id


def evidence(pilot: AppPilot) -> list[str]:
    rows = pilot.app.screen.query_one(LineTable).rows
    return [" ".join(span.text for cell in rows[n].cells for span in cell) for n in range(len(rows))]


async def test_each_key_is_a_line_in_the_journal_and_brings_the_next(tmp_path: Path, folder: Path) -> None:
    async with driven(program(tmp_path)) as pilot:
        await press(pilot, "J")
        judged = []
        for key in ("0", "1", "2", "x"):
            judged.append(shown(pilot))
            await press(pilot, key)
        kept = lines(folder)
        assert [(each["query_id"], each["doc_id"]) for each in kept] == judged
        assert [each["relevance"] for each in kept] == [0, 1, 2, None]
        assert {each["annotator"] for each in kept} == {"anna"}
        assert all(len(each["query_sha256"]) == len(each["doc_sha256"]) == 64 for each in kept)
        assert all(any(said.startswith("agreement ") for said in each["evidence"]) for each in kept)
        assert line(pilot, "#triage-progress").startswith("4 of ")
        text = pilot.app.screen.query_one("#triage-candidate", TextReader).text
        assert shown(pilot)[1] in text
        await press(pilot, "q")
        screen_of(pilot, QueriesScreen)


async def test_it_can_be_opened_on_judging(tmp_path: Path) -> None:
    async with driven(program(tmp_path, at_once=True)) as pilot:
        screen_of(pilot, TriageScreen)


async def test_undo_at_any_depth_brings_the_document_back(tmp_path: Path, folder: Path) -> None:
    async with driven(program(tmp_path)) as pilot:
        await press(pilot, "J")
        first = shown(pilot)
        await press(pilot, "1")
        second = shown(pilot)
        await press(pilot, "0", "s", "z")
        await press(pilot, "z")
        assert shown(pilot) == second
        await press(pilot, "z")
        assert shown(pilot) == first
        await press(pilot, "z")
        assert messages(pilot)[-1] == "There is nothing of yours to take back."
        kept = lines(folder)
        assert [each["kind"] for each in kept] == ["judgment", "judgment", "skip", "undo", "undo", "undo"]
        assert [each["undoes"] for each in kept[3:]] == [kept[2]["id"], kept[1]["id"], kept[0]["id"]]
        assert line(pilot, "#triage-progress").startswith("0 of ")


async def test_what_is_decided_does_not_come_up_again(tmp_path: Path, folder: Path) -> None:
    async with driven(program(tmp_path)) as pilot:
        await press(pilot, "J")
        first = shown(pilot)
        await press(pilot, "0", "q", "J")
        assert shown(pilot) != first
    async with driven(program(tmp_path / "again")) as pilot:
        await press(pilot, "J")
        assert shown(pilot) != first
        assert " · 1 judged before" in line(pilot, "#triage-progress")
        await press(pilot, "z")
        assert f"z again takes back your last: judgment of {first[1]}" in messages(pilot)[-1]
        assert len(lines(folder)) == 1
        await press(pilot, "z")
        assert "from before this queue" in messages(pilot)[-1]
    assert [each["kind"] for each in lines(folder)] == ["judgment", "undo"]


async def test_nothing_is_acknowledged_that_was_not_kept(
    tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(self: Journal, *decisions: object) -> None:
        raise BrightInspectError("the decision was not kept (No space left on device).", "Free disk and decide again.")

    async with driven(program(tmp_path)) as pilot:
        await press(pilot, "J")
        item = shown(pilot)
        with monkeypatch.context() as patched:
            patched.setattr(Journal, "append", full)
            await press(pilot, "1")
            assert shown(pilot) == item
            assert "was not kept" in messages(pilot)[-1]
            assert line(pilot, "#triage-progress").startswith("0 of ")
        await press(pilot, "1")
        assert shown(pilot) != item
    assert len(lines(folder)) == 1


async def test_fast_keys_judge_only_what_was_on_screen(tmp_path: Path, folder: Path) -> None:
    async with driven(program(tmp_path)) as pilot:
        await press(pilot, "J")
        for key in ("1", "1", "0", "z", "n", "p", "w", "q", "0"):
            await pilot.press(key)
        await press(pilot, "q", "q")
    judged = [each for each in lines(folder) if each["kind"] == "judgment"]
    assert len({(each["query_id"], each["doc_id"]) for each in judged}) >= len(judged) - 1


async def test_note_why_and_tags_go_with_the_decision(tmp_path: Path, folder: Path) -> None:
    async with driven(program(tmp_path, why_needed=True)) as pilot:
        await press(pilot, "J", "semicolon")
        await press(pilot, *"odd?", "enter", "t")
        await press(pilot, "down", "enter")
        assert "#lexical-gap" in line(pilot, "#triage-right-title")
        await press(pilot, "t", "W", "tab", "enter")
        assert "#wrong-entity" in line(pilot, "#triage-right-title")
        item = shown(pilot)
        await press(pilot, "1")
        entry = pilot.app.screen.query_one(Input)
        entry.value = "names the cause"
        await press(pilot, "enter")
        assert shown(pilot) != item
        await press(pilot, "1", "escape")
    (kept,) = lines(folder)
    assert (kept["note"], kept["why"], kept["tags"]) == ("odd?", "names the cause", ["lexical-gap", "wrong-entity"])


async def test_blind_judging_tells_nothing_until_it_is_judged(tmp_path: Path, folder: Path) -> None:
    async with driven(program(tmp_path, blind=True, seed=3)) as pilot:
        await press(pilot, "J")
        doc_id = shown(pilot)[1]
        assert line(pilot, "#top").endswith("blind" + "anna · bright-inspect.judgments.jsonl")
        assert doc_id not in line(pilot, "#top")
        assert evidence(pilot) == ["hidden until judged: runs, ranks, evidence"]
        await press(pilot, "w", "0", "p")
        assert messages(pilot)[-1].startswith("Blind judging")
        assert any("qwen" in row for row in evidence(pilot))
    assert lines(folder)[0]["evidence"] == ["blind"]


async def test_what_the_judgments_change(tmp_path: Path) -> None:
    async with driven(program(tmp_path)) as pilot:
        await press(pilot, "J", "1", "w")
        assert "with 1 judgment" in line(pilot, "#triage-below-title")
        assert len(evidence(pilot)) == 2
        await press(pilot, "w")
        assert "1 judgment of biology" in line(pilot, "#triage-below-title")
        assert len(evidence(pilot)) == 1
        await press(pilot, "q")
        screen_of(pilot, TriageScreen)
        await press(pilot, "q")
        screen_of(pilot, QueriesScreen)


async def test_a_layer_of_ones_own_counts_when_it_is_chosen(tmp_path: Path) -> None:
    async with driven(program(tmp_path)) as pilot:
        await press(pilot, "J", "1", "1", "q", "L")
        rows = pilot.app.screen.query_one("#layers", LineTable).rows
        names = [rows[n].key for n in range(len(rows))]
        assert "mine:anna" in names
        await press(pilot, *["j"] * names.index("mine:anna"), "enter")
        app = pilot.app
        assert isinstance(app, BrightInspect)
        assert set(app.desk.scored.layers.values()) == {"mine:anna"}


async def test_a_narrow_screen_shows_one_text_at_a_time(tmp_path: Path) -> None:
    async with driven(program(tmp_path), NARROW) as pilot:
        await press(pilot, "J")
        panes = [pilot.app.screen.query_one(f"#triage-{name}") for name in ("left", "middle", "right")]
        assert [pane.display for pane in panes] == [False, False, True]
        await press(pilot, "tab")
        assert [pane.display for pane in panes] == [True, False, False]
        assert line(pilot, "#triage-left-title") == "query"
        await press(pilot, "tab", "tab")
        assert line(pilot, "#triage-left-title") == "golds"
        await press(pilot, "0")
        assert [pane.display for pane in panes] == [False, False, True], "the next document"


async def test_a_document_is_judged_on_the_inspect_screen_too(tmp_path: Path, folder: Path) -> None:
    async with driven(program(tmp_path)) as pilot:
        await press(pilot, "enter", "0")
        (kept,) = lines(folder)
        assert (kept["relevance"], kept["annotator"]) == (0, "anna")
        assert "z takes it back" in messages(pilot)[-1]
        assert "anna 0" in text_of_screen(pilot)
        await press(pilot, "z")
        assert [each["kind"] for each in lines(folder)] == ["judgment", "undo"]


async def test_when_all_are_judged_it_says_so(tmp_path: Path) -> None:
    async with driven(program(tmp_path, depth=1)) as pilot:
        await press(pilot, "J")
        triage = screen_of(pilot, TriageScreen)._triage
        assert triage is not None
        for _ in range(triage.queue.progress().total):
            await press(pilot, "0")
        assert line(pilot, "#top").startswith("all judged")
        await press(pilot, "0", "s", "n", "w", "q", "q")


async def test_guidelines_are_read_beside_the_document(tmp_path: Path) -> None:
    text = tmp_path / "how.txt"
    text.write_text("Judge what helps.")
    async with driven(program(tmp_path, guidelines=text)) as pilot:
        await press(pilot, "J", "i")
        assert pilot.app.screen.query_one("#triage-query", TextReader).text == "Judge what helps."


async def test_tags_on_queries_are_filtered_by_and_counted(tmp_path: Path, folder: Path) -> None:
    async with driven(program(tmp_path)) as pilot:
        await press(pilot, "enter")
        tagged = inspect(pilot).row.key.query_id
        await press(pilot, "t")
        pilot.app.screen.query_one(Input).value = "odd-one"
        await press(pilot, "enter", "semicolon")
        pilot.app.screen.query_one(Input).value = "look again"
        await press(pilot, "enter", "q", "slash")
        await type_text(pilot, "tag:odd")
        await press(pilot, "enter")
        assert query_ids(pilot) == [tagged]
    assert [(each["kind"], each["doc_id"]) for each in lines(folder)] == [("tag", None), ("note", None)]
    async with driven(program(tmp_path / "again")) as pilot:
        app = pilot.app
        assert isinstance(app, BrightInspect)
        (note,) = tag_notes(app.desk.tags)
        assert "".join(span.text for span in note).startswith("tags: odd-one 1 · ")


async def test_a_text_that_is_another_now_is_a_finding(tmp_path: Path, folder: Path) -> None:
    pair = ("bright", "biology", "1", "x0")
    Journal(folder / DEFAULT_JOURNAL).append(Decision(*pair, "anna", 0, doc_sha256=text_sha256("another text")))
    async with driven(program(tmp_path)) as pilot:
        before = line(pilot, "#top")
        await press(pilot, "enter")
        assert messages(pilot)[-1].startswith("1 document had another text when judged: x0.")
        await press(pilot, "q")
        assert ("! 3 findings" in before, "! 4 findings" in line(pilot, "#top")) == (True, True)


async def test_conflicts_of_others_are_settled(tmp_path: Path, folder: Path) -> None:
    pair = ("bright", "biology", "0", "x0")
    Journal(folder / DEFAULT_JOURNAL).append(
        Decision(*pair, "bob", 0), Decision(*pair, "eve", 1), Decision("bright", "biology", "1", "x1", "bob", 1)
    )
    async with driven(program(tmp_path, order="conflicts")) as pilot:
        await press(pilot, "J")
        assert shown(pilot) == ("0", "x0")
        assert line(pilot, "#triage-below-title") == "what speaks for it · bob 0 · eve 1"
        await press(pilot, "1")
        assert line(pilot, "#top").startswith("all judged")
        assert "conflict: bob 0, eve 1" in lines(folder)[-1]["evidence"]
        await press(pilot, "q", "J")
        assert line(pilot, "#top").startswith("nothing to judge")
        assert "1 conflict you settled before" in line(pilot, "#triage-progress")
    async with driven(program(tmp_path / "bob", order="conflicts", annotator="bob")) as pilot:
        await press(pilot, "J")
        assert line(pilot, "#triage-below-title") == "what speaks for it · bob 0 · eve 1 · anna 1"


async def test_what_was_searched_live_speaks_for_a_candidate(tmp_path: Path) -> None:
    async with driven(program(tmp_path)) as pilot:
        await press(pilot, "enter", "r", "f5", "q", "J")
        triage = screen_of(pilot, TriageScreen)._triage
        assert triage is not None
        kinds = {piece.kind for _, _, pieces in triage.candidates.values() for piece in pieces}
        assert "similarity" in kinds


async def test_what_is_written_stays_with_its_document(tmp_path: Path, folder: Path) -> None:
    async with driven(program(tmp_path)) as pilot:
        await press(pilot, "J", "semicolon", *"keep", "enter", "n", "p")
        assert "“keep”" in line(pilot, "#triage-right-title")
        await press(pilot, "1", "p")
        assert "you said 1 · “keep”" in line(pilot, "#triage-right-title")
        await press(pilot, "z", "0")
    judged = [each for each in lines(folder) if each["kind"] == "judgment"]
    assert [(each["relevance"], each["note"]) for each in judged] == [(1, "keep"), (0, "keep")]


async def test_layers_and_marks_follow_the_decisions(tmp_path: Path) -> None:
    async with driven(program(tmp_path)) as pilot:
        await press(pilot, "enter", "0", "L")
        rows = pilot.app.screen.query_one("#layers", LineTable).rows
        names = [rows[n].key for n in range(len(rows))]
        await press(pilot, *["j"] * names.index("mine:anna"), "enter")
        screen = inspect(pilot)
        assert screen.view is not None
        assert {judged.doc_id: judged.relevance for judged in screen.view.judgments}[str(screen.document)] == 0
        await press(pilot, "1")
        assert {judged.doc_id: judged.relevance for judged in screen.view.judgments}[str(screen.document)] == 1


async def test_a_value_is_audited_from_here(tmp_path: Path) -> None:
    async with driven(program(tmp_path)) as pilot:
        await press(pilot, "J", "a")
        screen_of(pilot, AuditScreen)
        await press(pilot, "q", "i", "q")
        screen_of(pilot, TriageScreen)

"""A rewrite made on the Live screen: asked for, written as it comes, stopped, undone, searched, kept."""

from __future__ import annotations

import itertools
import json
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from textual.widgets import Input, OptionList, TextArea

from bright_inspect.tui.screens.live import LiveScreen
from bright_inspect.tui.screens.rewrite_choice import RewriteChoice
from tests.retrieval import chat_faults
from tests.retrieval import server as faults
from tests.retrieval.server import ModelServer, model_server
from tests.tui.driving import (
    NARROW,
    AppPilot,
    demo_app,
    driven,
    line,
    messages,
    option_names,
    press,
    screen_of,
    settle,
)

__all__ = ["model_server"]


@pytest.fixture(autouse=True)
def server_of_the_environment(
    model_server: ModelServer, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> ModelServer:
    monkeypatch.setenv("BRIGHT_INSPECT_ENDPOINT", model_server.url)
    monkeypatch.chdir(tmp_path)
    return model_server


async def until(pilot: AppPilot, true: Callable[[], object]) -> None:
    deadline = time.monotonic() + 20
    while not true():
        assert time.monotonic() < deadline
        await pilot.pause(0.01)


def text(pilot: AppPilot) -> str:
    return pilot.app.screen.query_one("#live-text", TextArea).text


def note(pilot: AppPilot) -> str:
    return line(pilot, "#live-note")


async def asked(pilot: AppPilot) -> str:
    """Open the Live screen of a query and its dialog; the query's text."""
    await press(pilot, "A", "enter", "r")
    before = text(pilot)
    await press(pilot, "f10")
    screen_of(pilot, RewriteChoice)
    return before


async def test_it_is_written_as_it_comes_searched_and_kept(model_server: ModelServer, tmp_path: Path) -> None:
    model_server.slow = 0.01
    model_server.thinks = "what is it about"
    async with driven(demo_app()) as pilot:
        before = await asked(pilot)
        assert option_names(pilot) == ["endpoint:bag-of-words"]
        assert pilot.app.screen.query_one(Input).value == "endpoint:bag-of-words"
        await pilot.press("enter")
        screen_of(pilot, LiveScreen)
        seen: list[str] = []

        def watched() -> bool:
            if text(pilot) not in seen:
                seen.append(text(pilot))
            return note(pilot).startswith("rewritten: ")

        await until(pilot, watched)
        assert len(seen) > 4
        written = [each for each in seen if each != before]
        assert all(later.startswith(earlier) for earlier, later in itertools.pairwise(written))
        rewrite = text(pilot)
        assert rewrite.startswith("What explains: ")
        assert rewrite.endswith(" – because.")
        assert "after 4 of thinking" in note(pilot)
        assert "text edited" in line(pilot, "#live-options")
        sent = model_server.asked[-1].body["messages"][0]["content"]
        assert before.strip() in sent
        await press(pilot, "f12")
        assert text(pilot) == before
        assert "text original" in line(pilot, "#live-options")
        await press(pilot, "f12", "f5", "f8")
        assert text(pilot) == rewrite
        (sidecar,) = (tmp_path / "runs" / "live").rglob("*.json")
        made = json.loads(sidecar.read_text())
        assert made["text"] == rewrite
        assert made["text_from"]["model"] == "bag-of-words"
        assert made["text_from"]["rewritten_from"] == before
        assert made["text_from"]["reasoning"] == "what is it about"
        assert made["text_from"]["edited_after"] is False


async def test_it_is_stopped_and_undone(model_server: ModelServer) -> None:
    async with driven(demo_app(), NARROW) as pilot:
        before = await asked(pilot)
        model_server.fault = chat_faults.stalls_before_a_word
        await pilot.press("enter")
        await until(pilot, lambda: "is asked" in note(pilot))
        await press(pilot, "escape")
        assert "the text is as it was" in note(pilot)
        assert text(pilot) == before
        await press(pilot, "f10")
        model_server.fault = chat_faults.stalls
        await pilot.press("enter")
        await until(pilot, lambda: "writes" in note(pilot) and len(text(pilot).split()) > 3)
        area = pilot.app.screen.query_one("#live-text", TextArea)
        assert area.read_only
        for key in ("f5", "f2", "f10", "f12"):
            await pilot.press(key)
            assert messages(pilot)[-1] == "A rewrite is under way: Esc stops it."
        await press(pilot, "escape")
        screen_of(pilot, LiveScreen)
        part = text(pilot)
        assert part.startswith("What explains: ")
        assert not part.endswith("because.")
        assert note(pilot).startswith("stopped after ")
        assert not pilot.app.screen.query_one("#live-text", TextArea).read_only
        await press(pilot, "f12")
        assert text(pilot) == before
        await press(pilot, "f12")
        assert text(pilot) == part


async def test_what_is_no_whole_answer(model_server: ModelServer) -> None:
    async with driven(demo_app()) as pilot:
        before = await asked(pilot)
        for fault in (chat_faults.cut_midway, chat_faults.dropped_midway):
            model_server.fault = fault
            await press(pilot, "enter")
            assert "the rewrite failed; the text is as it was" in note(pilot)
            assert text(pilot) == before
            assert "expected" in messages(pilot)[-1]
            model_server.fault = None
            await press(pilot, "f10")
        model_server.fault = chat_faults.cut_by_length
        await press(pilot, "enter")
        assert "the answer is cut at the limit of tokens" in note(pilot)
        await press(pilot, "f10")
        model_server.fault = chat_faults.events(chat_faults.said("<think>hm</think>a\x1b[31m b\tc", "stop"))
        await press(pilot, "enter")
        area = pilot.app.screen.query_one("#live-text", TextArea)
        assert area.text == "a\x1b[31m b\tc"
        drawn = "".join(segment.text for segment in area.render_line(0))
        assert "\x1b" not in drawn
        assert drawn.strip().startswith("a␛[31m b")


async def test_the_prompt_is_edited_and_kept_for_the_task(model_server: ModelServer) -> None:
    async with driven(demo_app()) as pilot:
        before = await asked(pilot)
        area = pilot.app.screen.query_one("#prompt", TextArea)
        area.text = "no place for it"
        await press(pilot, "f5")
        screen_of(pilot, RewriteChoice)
        assert "no {query} in the prompt" in line(pilot, "#writers-note")
        area.text = "Only this.\n{query}"
        await press(pilot, "f5")
        assert model_server.asked[-1].body["messages"][0]["content"] == f"Only this.\n{before}"
        pilot.app.screen.query_one("#live-text", TextArea).insert(" and more")
        await press(pilot, "f10")
        assert "text before, anew" in line(pilot, ".dialog CellLine")
        assert pilot.app.screen.query_one("#prompt", TextArea).text == "Only this.\n{query}"
        await press(pilot, "escape", "f5")
        request = screen_of(pilot, LiveScreen)._request
        assert request.text_from is not None
        assert request.text_from["edited_after"] is True
        await press(pilot, "f2")
        assert screen_of(pilot, LiveScreen)._request.text_from is None


async def test_whether_a_rewrite_was_edited_is_known_after_undoing_and_failures(model_server: ModelServer) -> None:
    def edited_after() -> object:
        made = screen_of(pilot, LiveScreen)._request.text_from
        return None if made is None else made["edited_after"]

    async with driven(demo_app()) as pilot:
        await asked(pilot)
        await press(pilot, "enter")
        rewrite = text(pilot)
        assert edited_after() is False
        # Shown as text until the tag tells that it was a thought.
        for fault in (chat_faults.cut_midway, chat_faults.events(chat_faults.said("hm </think>", "stop"))):
            model_server.fault = fault
            await press(pilot, "f10", "enter")
            assert "the text is as it was" in note(pilot).lower()
            assert text(pilot) == rewrite
            assert edited_after() is False
        model_server.fault = None
        pilot.app.screen.query_one("#live-text", TextArea).insert(" and more")
        assert edited_after() is True
        await press(pilot, "f10", "enter")
        assert edited_after() is False
        await press(pilot, "f12")
        assert "and more" in text(pilot)
        assert edited_after() is True


async def test_without_a_server_a_model_is_typed(model_server: ModelServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("BRIGHT_INSPECT_ENDPOINT")
    async with driven(demo_app(), NARROW) as pilot:
        await asked(pilot)
        assert "no server is named" in line(pilot, "#writers-note")
        assert not pilot.app.screen.query_one("#writers", OptionList).display
        await press(pilot, "enter")
        assert "no model is named" in line(pilot, "#writers-note")
        pilot.app.screen.query_one(Input).insert_text_at_cursor("gpt")
        await press(pilot, "enter")
        assert "'gpt' is no model that writes" in messages(pilot)[-1]
        await press(pilot, "f10")
        line_of = pilot.app.screen.query_one(Input)
        assert line_of.value == "gpt", "what was asked last is offered"
        line_of.value = f"endpoint:bag-of-words@{model_server.url}"
        await press(pilot, "enter")
        assert note(pilot).startswith("rewritten: ")
        await settle(pilot)


async def test_nothing_to_put_back_nothing_to_rewrite_and_models_of_odd_names(model_server: ModelServer) -> None:
    names = ["", " ", "a\x1b[31m", "x@https://elsewhere", "[bold]fine[/foo]"]
    model_server.faults = [faults.value({"data": [*({"id": name} for name in names), 7, {"no": "id"}]})]
    async with driven(demo_app()) as pilot:
        await press(pilot, "A", "enter", "r", "f12")
        assert messages(pilot)[-1].startswith("Nothing was rewritten yet: F10")
        area = pilot.app.screen.query_one("#live-text", TextArea)
        area.text = " "
        await press(pilot, "f10")
        assert messages(pilot)[-1] == "There is no text to rewrite."
        area.text = "moss"
        await press(pilot, "f10")
        assert option_names(pilot) == ["endpoint:[bold]fine[/foo]"]

"""The dialog that chooses what searches and reranks: any name can be typed."""

from __future__ import annotations

import pytest
from textual.widgets import Input

from bright_inspect.tui.screens.live import LiveScreen
from bright_inspect.tui.screens.live_choice import LiveChoice
from tests.tui.driving import demo_app, driven, press, screen_of


@pytest.mark.parametrize(("key", "kind"), [("f3", "dense"), ("f4", "cross-encoder")])
async def test_a_name_is_typed_whole(key: str, kind: str) -> None:
    async with driven(demo_app()) as pilot:
        await press(pilot, "A", "enter", "r", key)
        assert f"{kind}:MODEL" in screen_of(pilot, LiveChoice).query_one(Input).placeholder
        await press(pilot, *"own", "enter")
        live = screen_of(pilot, LiveScreen).desk.live
        assert (live.retriever if key == "f3" else live.reranker) == "own"

"""Keys faster than the screens are built: the program lives, and ends where the keys lead."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from textual.events import Key

from tests.tui.driving import demo_app, driven, settle, table_of

_NAMED = {
    "E": "enter", "D": "down", "X": "escape", "?": "question_mark", "!": "exclamation_mark", ":": "colon",
    "/": "slash", "]": "right_square_bracket", "<": "less_than_sign", "T": "tab", "P": "pageup", "N": "pagedown",
    "L": "left", "R": "right", "J": "L",
}  # fmt: skip


@pytest.fixture(autouse=True)
def elsewhere(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Some keys judge: the journal that they begin must not lie where later tests open it."""
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize(
    "keys",
    [
        "EqEqEq", "AEqAEEq", "AEEqq", "MDEE", "MEE", "MXX", ":EE", ":XX", "?q?q??", "!q!q", ":PNPN", "EEm]uTqq",
        "EEnnnpppnqq", "EEM", "EE?", "EE:X", "E/abX<", "bcbcEbEb", "EEdqdq", "EEmmmTTRRLLyYqq",
        "JJEXX", "EJdDXXJEq", "EEJEJXnn", "!DT!XJq", "JE!JqEJdd",
    ],
)  # fmt: skip
async def test_a_burst_of_keys(keys: str) -> None:
    async with driven(demo_app()) as pilot:
        for key in keys:
            name = _NAMED.get(key, key)
            pilot.app.post_message(Key(name, key if len(name) == 1 or name in ("slash", "colon") else None))
        await settle(pilot)
        for _ in range(8):
            if pilot.app._exit:
                break
            pilot.app.post_message(Key("escape", None))
            await settle(pilot)
        assert pilot.app.return_value is None
        assert pilot.app.return_code in (0, None)
        assert pilot.app._exception is None


@pytest.mark.parametrize("seed", [10, 32, 66, 84])
async def test_any_keys(seed: int) -> None:
    chance = random.Random(seed)
    async with driven(demo_app()) as pilot:
        for _ in range(120):
            if pilot.app._exit:
                break
            key = chance.choice("EEEDDX?!:/]<TPNLRnnpuUmdyYbcMqAsS=AEab1@J")
            name = _NAMED.get(key, key)
            pilot.app.post_message(Key(name, key if len(name) == 1 or name in ("slash", "colon") else None))
            if chance.random() < 0.15:
                await pilot.pause(chance.choice([0, 0.01, 0.05]))
        await settle(pilot)
        assert pilot.app._exception is None


async def test_two_fast_enters_open_one_screen() -> None:
    async with driven(demo_app()) as pilot:
        table = table_of(pilot)
        table.action_choose()
        table.action_choose()
        await settle(pilot)
        assert [type(screen).__name__ for screen in pilot.app.screen_stack].count("QueriesScreen") == 1

"""Saving the session from the screen."""

from __future__ import annotations

import time
from pathlib import Path

import duckdb
import pytest

from bright_inspect.store.progress import CancelToken, Progress, ProgressListener
from bright_inspect.tui.desk import Desk
from tests.tui.driving import app_of, driven, line, messages, press, queries, shown
from tests.tui.small import small_data, small_runs


async def test_a_key_saves_the_session_as_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    runs, data = small_runs(tmp_path / "runs"), small_data(tmp_path / "data")
    monkeypatch.chdir(tmp_path)
    out = tmp_path / "session.duckdb"
    async with driven(app_of(*runs, data=data)) as pilot:
        await press(pilot, "enter", "q", "b", "W", "enter")
        assert messages(pilot)[-1].startswith("session.duckdb: saved, ")
        before = queries(pilot).shown
        await press(pilot, "W", "enter")
        assert messages(pilot)[-1].startswith("session.duckdb: there already.")
        await press(pilot, "enter")
        assert "text of g3" in shown(pilot), "what was read before is still there"
    with duckdb.connect(str(out), read_only=True) as saved:
        assert saved.execute("SELECT measure, baseline FROM settings").fetchall() == [("nDCG@10", "qwen")]
        assert saved.execute("SELECT count(*) FROM documents").fetchone() == (8,)
    async with driven(app_of(out)) as pilot:
        assert [row.values for row in queries(pilot).shown] == [row.values for row in before]


async def test_saving_is_stopped_by_the_key_that_leaves(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def endless(desk: Desk, out: Path, progress: ProgressListener, token: CancelToken) -> int:
        while True:
            progress(Progress(1, 3, "saving"))
            token.check()
            time.sleep(0.005)

    monkeypatch.setattr(Desk, "save", endless)
    async with driven(app_of(*small_runs(tmp_path), data=small_data(tmp_path / "data"))) as pilot:
        await press(pilot, "W")
        await pilot.press("enter")
        await pilot.pause(0.3)
        assert line(pilot, "#top").startswith("saving 1 of 3")
        await press(pilot, "q")
        assert messages(pilot)[-1].startswith("Saving was stopped")
        assert line(pilot, "#top").startswith("bright-inspect")

"""Saving the session from the screen."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest

from tests.tui.driving import app_of, driven, messages, press, queries, shown
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

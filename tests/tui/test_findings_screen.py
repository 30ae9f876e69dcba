"""The findings on screen: by what they change, one in full, and the lines of its file around it."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from bright_inspect.tui.screens.findings import FindingsScreen
from tests.support import write_trec
from tests.tui.driving import (
    NARROW,
    WIDE,
    AppPilot,
    app_of,
    driven,
    line,
    press,
    queries,
    reader_of,
    screen_of,
    settle,
    shown,
    table_of,
)
from tests.tui.small import BM25, odd_run, small_data, table_rows


def listed(pilot: AppPilot) -> list[str]:
    """The list's rows without their places."""
    cells = [["".join(span.text for span in cell) for cell in row.cells] for row in table_rows(pilot)]
    return [" ".join(filter(None, (mark, count, message))) for mark, count, _, message in cells]


@pytest.mark.parametrize("size", [NARROW, WIDE, (200, 60)])
async def test_the_list_and_the_lines_around_one(tmp_path: Path, size: tuple[int, int]) -> None:
    run = odd_run(tmp_path)
    async with driven(app_of(run, data=small_data(tmp_path)), size) as pilot:
        await press(pilot, "!")
        screen_of(pilot, FindingsScreen)
        assert line(pilot, "#findings-title").startswith("Findings · 2 errors, 2 warnings")
        assert listed(pilot)[0] == "changes the score · 2 errors, 1 warning"
        assert listed(pilot)[4] == "changes nothing in the score · 1 warning"
        assert table_of(pilot).cursor == 1, "a finding, not the heading"
        page = reader_of(pilot).text.split("\n")
        assert page[0] == f"error {run}:2"
        assert page[2] == "bad-score · once · changes the score"
        assert "▌ 2 0 Q0 x0 2 abc t" in page
        assert "  1 0 Q0 g0 1 2.5 t" in page
        assert "▌ 2 0 Q0 x0 2 abc t" in shown(pilot), "the line is in view at once"
        await press(pilot, "down")
        assert "duplicate-document · once · changes the score" in reader_of(pilot).text
        assert "▌ 1 0 Q0 g0 1 2.5 t" in reader_of(pilot).text
        await press(pilot, "G")
        assert "▌ 3 # why" in reader_of(pilot).text
        await press(pilot, "k")
        assert reader_of(pilot).text == "changes nothing in the score\n1 warning"
        await press(pilot, "tab", "j", "shift+tab", "escape")
        queries(pilot)


async def test_packed_files_and_files_that_changed_meanwhile(tmp_path: Path) -> None:
    plain = odd_run(tmp_path)
    run = tmp_path / "biology.trec.gz"
    run.write_bytes(gzip.compress(plain.read_bytes()))
    async with driven(app_of(run, data=small_data(tmp_path)), NARROW) as pilot:
        await press(pilot, "!")
        assert "▌ 2 0 Q0 x0 2 abc t" in reader_of(pilot).text
        run.write_bytes(gzip.compress(b"one line\n"))
        await press(pilot, "j", "k")
        assert reader_of(pilot).text.endswith(f"{run}: has no line 2 any more.")
        run.unlink()
        await press(pilot, "j", "k")
        assert "no such file" in reader_of(pilot).text
        await press(pilot, "q")
        queries(pilot)


async def test_json_names_the_place_by_its_keys(tmp_path: Path) -> None:
    run = tmp_path / "qwen" / "biology" / "score.json"
    run.parent.mkdir(parents=True)
    run.write_text(json.dumps({**BM25, "0": {"g0": "[/x]\x1b[31m", "x0": 3.0}}))
    async with driven(app_of(run, data=small_data(tmp_path), task="biology"), NARROW) as pilot:
        await press(pilot, "!")
        assert "JSON has no lines to show: the message names the place by its keys" in reader_of(pilot).text
        assert "0 / g0" in reader_of(pilot).text
        assert "\x1b" not in shown(pilot)


async def test_what_changes_nothing_does_not_call(tmp_path: Path) -> None:
    golds = {"0": {"g0": 2.5}, "1": {"g1": 2.5, "h1": 1.5}, "2": {"g2": 2.5}, "3": {"g3": 2.5}}
    run = write_trec(tmp_path / "biology.trec", golds)
    run.write_text("# a comment\n" + run.read_text())
    async with driven(app_of(run, data=small_data(tmp_path))) as pilot:
        (*_, last) = queries(pilot).top_cells()[1]
        assert (last.text, last.style) == ("  ! 1 finding", "dim")


async def test_fast_keys(tmp_path: Path) -> None:
    async with driven(app_of(odd_run(tmp_path), data=small_data(tmp_path))) as pilot:
        for keys in ("!q", "!jjkq", "!j!?q", "!GgG"):
            await pilot.press(*keys)
        await pilot.press("escape", "escape")
        await settle(pilot)
        assert pilot.app.return_value is None

"""Pictures of every screen over the demo, looked at once and compared ever since.

``pytest tests/tui/test_snapshots.py --snapshot-update`` takes them anew; look at what changed before keeping it.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from textual.pilot import Pilot

from bright_inspect.demo import demo_runs
from bright_inspect.tui import keymap
from bright_inspect.tui.app import BrightInspect
from bright_inspect.tui.themes import BRIGHT_LIGHT, TERMINAL
from tests.tui.driving import NARROW, WIDE, app_of, demo_app, press, settle

LARGE = (200, 60)
SnapCompare = Callable[..., bool]


@pytest.fixture(autouse=True)
def same_everywhere(monkeypatch: pytest.MonkeyPatch) -> None:
    """What differs between machines and is shown: where a user's key file would be."""
    path = Path("/home/user/.config/bright-inspect/keys.toml")
    monkeypatch.setattr(keymap, "key_file", lambda: path)


def after(*keys: str, theme: str | None = None) -> Callable[[Pilot[object]], Awaitable[None]]:
    """Open, press these keys one after the other, and wait until all is painted."""

    async def drive(pilot: Pilot[object]) -> None:
        if theme:
            pilot.app.theme = theme
        await settle(pilot)  # type: ignore[arg-type]
        await press(pilot, *keys)  # type: ignore[arg-type]

    return drive


@pytest.mark.parametrize("size", [NARROW, WIDE, LARGE], ids=["80x24", "120x34", "200x60"])
def test_overview(snap_compare: SnapCompare, size: tuple[int, int]) -> None:
    assert snap_compare(demo_app(), terminal_size=size, run_before=after())


@pytest.mark.parametrize("size", [NARROW, WIDE, LARGE], ids=["80x24", "120x34", "200x60"])
def test_queries(snap_compare: SnapCompare, size: tuple[int, int]) -> None:
    assert snap_compare(demo_app(), terminal_size=size, run_before=after("A"))


@pytest.mark.parametrize("size", [NARROW, WIDE, LARGE], ids=["80x24", "120x34", "200x60"])
def test_inspect(snap_compare: SnapCompare, size: tuple[int, int]) -> None:
    assert snap_compare(demo_app(), terminal_size=size, run_before=after("A", "enter", "n"))


VARIANT_RUNS = ("runs/bm25@original.trec", "runs/bm25@demo_reason.trec", "runs/minilm@original.trec")


@pytest.mark.parametrize("table", ["tasks", "queries"])
@pytest.mark.parametrize("size", [NARROW, WIDE, LARGE], ids=["80x24", "120x34", "200x60"])
def test_variants(
    snap_compare: SnapCompare, monkeypatch: pytest.MonkeyPatch, size: tuple[int, int], table: str
) -> None:
    monkeypatch.chdir(Path(__file__).parents[2])
    keys = ("v",) if table == "tasks" else ("v", "tab")
    assert snap_compare(app_of(*VARIANT_RUNS, dataset="demo"), terminal_size=size, run_before=after(*keys))


@pytest.mark.parametrize(
    ("size", "keys"),
    [(NARROW, ("v",)), (WIDE, ("v", "right", "j")), (LARGE, ("v", "right", "right", "right"))],
    ids=["80x24-words", "120x34-bridges", "200x60-documents"],
)
def test_lens(snap_compare: SnapCompare, size: tuple[int, int], keys: tuple[str, ...]) -> None:
    assert snap_compare(demo_app(), terminal_size=size, run_before=after("A", "enter", *keys))


def test_trace(snap_compare: SnapCompare) -> None:
    assert snap_compare(demo_app(), terminal_size=NARROW, run_before=after("A", "enter", "o", "j", "f"))


def test_which_variant(snap_compare: SnapCompare, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(Path(__file__).parents[2])
    app = app_of(*VARIANT_RUNS, dataset="demo")
    assert snap_compare(app, terminal_size=NARROW, run_before=after("v", "j", "V"))


def test_merged(snap_compare: SnapCompare) -> None:
    assert snap_compare(demo_app(), terminal_size=WIDE, run_before=after("A", "enter", "m", "j"))


def test_gold_tab_in_full(snap_compare: SnapCompare) -> None:
    assert snap_compare(demo_app(), terminal_size=NARROW, run_before=after("A", "enter", "left", "d"))


def test_help(snap_compare: SnapCompare) -> None:
    assert snap_compare(demo_app(), terminal_size=WIDE, run_before=after("?"))


def test_measures(snap_compare: SnapCompare) -> None:
    assert snap_compare(demo_app(), terminal_size=NARROW, run_before=after("M"))


def odd_app(monkeypatch: pytest.MonkeyPatch, folder: Path) -> BrightInspect:
    """A run with findings, by a path that is the same everywhere."""
    (folder / "odd.trec").write_text("0 Q0 d1 1 2.5 t\n0 Q0 d2 2 abc t\n# why\n0 Q0 d1 3 .2 t\n")
    monkeypatch.chdir(folder)
    return app_of("odd.trec", task="kitchen_science", dataset="demo")


def test_findings(snap_compare: SnapCompare, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert snap_compare(odd_app(monkeypatch, tmp_path), terminal_size=NARROW, run_before=after("!"))


def test_layers(snap_compare: SnapCompare, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "kitchen_science.mine.txt").write_text("0 0 d1 2\n1 0 d2 1\n")
    monkeypatch.chdir(tmp_path)
    qrels = ["mine=kitchen_science.mine.txt"]
    app = app_of(*demo_runs(), dataset="demo", qrels=qrels, layer="original")
    assert snap_compare(app, terminal_size=NARROW, run_before=after("L", "j"))


def test_filter_line(snap_compare: SnapCompare) -> None:
    keys = ("A", "slash", *"foo", "greater_than_sign", "3")

    async def drive(pilot: Pilot[object]) -> None:
        await after(*keys)(pilot)
        line = pilot.app.screen.query_one("#filter")
        line.cursor_blink = False  # type: ignore[attr-defined]

    assert snap_compare(demo_app(), terminal_size=WIDE, run_before=drive)


def test_without_colour(snap_compare: SnapCompare, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    assert snap_compare(demo_app(), terminal_size=WIDE, run_before=after("A", "enter", "j"))


@pytest.mark.parametrize("theme", [BRIGHT_LIGHT, TERMINAL])
def test_themes(snap_compare: SnapCompare, theme: str) -> None:
    assert snap_compare(demo_app(), terminal_size=WIDE, run_before=after("A", "enter", "n", "]", theme=theme))

"""Opening and leaving, when it goes well and when it does not; and data that means harm to a terminal."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from bright_inspect.errors import UnreadableInput, UsageError
from bright_inspect.store.progress import CancelToken, Progress
from bright_inspect.store.run_cache import cache_folder
from bright_inspect.tui.app import BrightInspect
from bright_inspect.tui.desk import Desk
from bright_inspect.tui.screens.findings import FindingsScreen
from bright_inspect.tui.screens.loading import LoadingScreen
from bright_inspect.tui.screens.overview import OverviewScreen
from tests.support import example, write_bright, write_trec
from tests.tui.driving import (
    NARROW,
    WIDE,
    app_of,
    demo_app,
    driven,
    ended,
    inspect,
    line,
    messages,
    press,
    queries,
    reader_of,
    screen_of,
    settle,
    shown,
    type_text,
)


def one_query(folder: Path, documents: bool = True) -> tuple[Path, Path]:
    """A run and its data."""
    data = write_bright(folder / "data", {"biology": [example("0", ["g"])]})
    if documents:
        write_bright(data, {"biology": [{"id": "g", "content": "text"}]}, "documents")
    return write_trec(folder / "qwen" / "biology.trec", {"0": {"g": 2.0, "x": 1.0}}), data


# --- failing to open -------------------------------------------------------------------------------------------------


async def test_a_file_that_is_removed_meanwhile(tmp_path: Path) -> None:
    run, data = one_query(tmp_path)
    app = app_of(run, data=data)
    run.unlink()
    async with app.run_test() as pilot:
        await ended(pilot)
    assert app.return_code == 2
    assert isinstance(app.return_value, UnreadableInput)
    assert str(run) in app.return_value.message


@pytest.mark.parametrize("folder", ["examples", "documents"])
async def test_damaged_data(tmp_path: Path, folder: str) -> None:
    """Damaged judgments end the program; a damaged corpus is told where a text would be, and the lists stay."""
    run, data = one_query(tmp_path, documents=False)
    (data / folder).mkdir(exist_ok=True)
    damaged = data / folder / "biology-00000-of-00001.parquet"
    damaged.write_bytes(b"PAR1" + b"\x00" * 100 + b"PAR1")
    if folder == "examples":
        (data / "examples" / "biology.jsonl").unlink()
    app = app_of(run, data=data)
    async with app.run_test(size=WIDE, notifications=True) as pilot:
        if folder == "examples":
            await ended(pilot)
        else:
            await settle(pilot)
            await press(pilot, "enter")
            assert any("reading failed" in message or "cannot be read" in message for message in messages(pilot))
            assert not any("defect" in message for message in messages(pilot))
            await press(pilot, "n", "m", "]", "q")
            queries(pilot)
    if folder == "examples":
        assert app.return_code == 2
        assert isinstance(app.return_value, UnreadableInput)
        assert str(data) in app.return_value.message


async def test_an_unexpected_error_while_opening_ends_with_a_message() -> None:
    def open_desk(progress: Callable[[Progress], None], token: CancelToken) -> Desk:
        raise KeyError("[/foo]")

    app = BrightInspect(open_desk)
    async with app.run_test() as pilot:
        await ended(pilot)
    assert app.return_code == 2
    assert app.return_value is not None
    assert "unexpected KeyError: '[/foo]'" in app.return_value.message


async def test_an_error_later_is_told_and_the_program_goes_on() -> None:
    app = demo_app(fresh=True)
    async with driven(app) as pilot:

        def fail(token: CancelToken) -> None:
            raise UsageError("no [/foo] \x1b[31mhere.", "Try [bold]again.")

        app.runner.start("score", fail, lambda _: None)
        await settle(pilot)
        assert messages(pilot) == ["no [/foo] ␛[31mhere. Try [bold]again."]
        await press(pilot, "A")
        queries(pilot)


# --- leaving while it loads ------------------------------------------------------------------------------------------


class SlowOpening:
    """Says how far it is and never ends by itself."""

    def __init__(self) -> None:
        self.told, self.stopped = threading.Event(), threading.Event()

    def __call__(self, progress: Callable[[Progress], None], token: CancelToken) -> Desk:
        progress(Progress(1, 4, "reading [/foo]\x1b[31m.trec"))
        self.told.set()
        try:
            while True:
                token.check()
                time.sleep(0.005)
        finally:
            self.stopped.set()


@pytest.mark.parametrize("key", ["escape", "q"])
async def test_leaving_while_it_loads(key: str) -> None:
    opening = SlowOpening()
    app = BrightInspect(opening)
    async with app.run_test(size=NARROW) as pilot:
        while not opening.told.is_set():
            await pilot.pause()
        await pilot.pause()
        screen_of(pilot, LoadingScreen)
        assert "reading [/foo]␛[31m.trec" in shown(pilot)
        assert "1 of 4 · " in shown(pilot)
        assert "Esc leaves" in shown(pilot)
        began = time.monotonic()
        await pilot.press(key)
        await ended(pilot)
    assert time.monotonic() - began < 1.5
    assert opening.stopped.is_set()
    assert (app.return_code, app.return_value) == (0, None)


@pytest.mark.parametrize("key", ["question_mark", "colon", "M", "b", "c", "exclamation_mark", "T"])
async def test_keys_while_it_loads_lead_nowhere_odd(key: str) -> None:
    """Once the runs are open their first screen is shown, and one q leaves it."""
    go_on = threading.Event()
    demo = demo_app(fresh=True)

    def open_desk(progress: Callable[[Progress], None], token: CancelToken) -> Desk:
        assert go_on.wait(30)
        return demo._open_desk(progress, token)

    app = BrightInspect(open_desk)
    async with app.run_test(size=WIDE) as pilot:
        await pilot.pause()
        await pilot.press(key)
        go_on.set()
        await settle(pilot)
        if not isinstance(app.screen, OverviewScreen):
            await press(pilot, "escape")
        screen_of(pilot, OverviewScreen)
        await pilot.press("q")
        await ended(pilot)
    assert app.return_code == 0


async def test_leaving_while_the_run_cache_is_written(tmp_path: Path) -> None:
    run = {str(query): {f"d{number}": float(-number) for number in range(500)} for query in range(99)}
    runs = [write_trec(tmp_path / name / "biology.trec", run) for name in ("qwen", "bm25")]
    app = app_of(*runs)
    async with app.run_test() as pilot:
        while not app.has_desk:
            await pilot.pause()
        await pilot.press("enter", "q", "q")
        await ended(pilot)
    assert app.return_code == 0


# --- windows and the cache -------------------------------------------------------------------------------------------


async def test_a_cache_file_with_a_flipped_bit_is_rebuilt(tmp_path: Path) -> None:
    run, data = one_query(tmp_path)
    pages = []
    for damage in (False, True, False):
        if damage:
            (parquet,) = cache_folder().rglob("*.parquet")
            content = bytearray(parquet.read_bytes())
            content[len(content) // 2] ^= 1
            parquet.write_bytes(content)
        async with driven(app_of(run, data=data)) as pilot:
            page = shown(pilot)
            await press(pilot, "enter")
            pages.append((page, shown(pilot)))
    assert pages[0] == pages[1] == pages[2]


async def test_two_windows_on_the_same_files(tmp_path: Path) -> None:
    run, data = one_query(tmp_path)
    async with driven(app_of(run, data=data)) as first:
        await press(first, "enter")
        before = shown(first)
        async with driven(app_of(run, data=data)) as second:
            await press(second, "enter")
            assert shown(second) == before
        await press(first, "q", "enter")
        assert shown(first) == before


# --- hostile texts ---------------------------------------------------------------------------------------------------

NASTY = "[/foo] [bold]x[/bold] \x1b[31mred\x07 list[int] [red]r \\[a] \u202eltr\u202c \x9b2J"
SAFE = "[/foo] [bold]x[/bold] ␛[31mred␇ list[int] [red]r \\[a] �ltr� �2J"


@pytest.fixture
def hostile(tmp_path: Path) -> BrightInspect:
    """Markup and terminal escapes in queries, documents, ids, run names, task names and paths."""
    folder = tmp_path / "[bold] \x1b[31m[/foo]"
    query = {**example("[/q]\x1b[1m", ["[/g]\x1b[2m"]), "query": NASTY, "reasoning": NASTY, "gold_answer": NASTY}
    data = write_bright(folder / "data", {"[red]": [query]})
    write_bright(data, {"[red]": [{**query, "query": f"variant {NASTY}"}]}, "nasty_reason")
    write_bright(data, {"[red]": [{"id": "[/g]\x1b[2m", "content": NASTY}, {"id": "[x", "content": "]"}]}, "documents")
    paths = []
    for name in ("a", "b"):
        path = folder / f"{name}.json"
        path.write_text(json.dumps({"[/q]\x1b[1m": {"[/g]\x1b[2m": 2.0, "[x": 1.0, "not [/there]": 0.5, "": "x"}}))
        paths.append(path)
    return app_of(
        f"[bold]\x1b[1m@[red]v={paths[0]}", f"list[int]={paths[1]}", data=data, dataset="bright", task="[red]"
    )


@pytest.mark.parametrize("size", [NARROW, WIDE])
async def test_hostile_texts_are_shown_literally(hostile: BrightInspect, size: tuple[int, int]) -> None:
    async with driven(hostile, size) as pilot:

        def seen() -> str:
            page = shown(pilot)
            assert "\x1b" not in page
            assert "\x9b" not in page
            assert "\u202e" not in page
            return page

        assert pilot.app.return_value is None
        assert "list[int]" in seen()
        assert "[/q]" in seen()
        assert SAFE[:16] in seen()
        await press(pilot, "s", "S", "/")
        await type_text(pilot, "[/foo] [bold")
        await press(pilot, "enter")
        assert len(queries(pilot).shown) == 1
        assert "filter [/foo] [bold" in line(pilot, "#status")
        await press(pilot, "/")
        await type_text(pilot, " [/x]>3")
        seen()
        await press(pilot, "escape", "escape", "!")
        screen_of(pilot, FindingsScreen)
        assert "␛[31m[/foo]" in seen()
        await press(pilot, "q", "enter")
        assert SAFE[:9] in line(pilot, "#title")
        assert reader_of(pilot).text == NASTY
        assert "[/g]␛[2m" in seen()
        for _ in range(4):
            await press(pilot, "right")
            seen()
        await press(pilot, "right")
        assert f"variant {NASTY}" in reader_of(pilot).text
        assert NASTY in reader_of(pilot).text
        await press(pilot, "d", "d", "m", "m", "j", "j", "y")
        assert pilot.app.clipboard == "not [/there]"
        await press(pilot, "Y", "?", "q", "M", "tab")
        await type_text(pilot, NASTY[:20])
        await press(pilot, "enter", "escape", "colon", "escape", "T", "T", "b", "n", "p")
        assert all("\x1b" not in message for message in messages(pilot))
        inspect(pilot)


async def test_the_palette_shows_hostile_task_names_literally(tmp_path: Path) -> None:
    runs = [write_trec(tmp_path / f"[/x]\x1b[31m{name}.trec", {"0": {"a": 1.0}}) for name in "ab"]
    async with driven(app_of(*runs)) as pilot:
        await pilot.press("colon")
        await pilot.press(*"queries of")
        for _ in range(20):
            await pilot.pause()
        assert "\x1b" not in pilot.app.export_screenshot()
        await pilot.press("escape")
        await settle(pilot)

"""Measures the program's screens against the budgets of the design: ``python -m tests.benchmarks.screens [RUN ...]``.

* First frame: from exec to the first painted text on a real pty, against a Textual app of one ``Static``, in turns.
* Key to paint: in one process at 200×60, from the key as a driver hands it over to the last frame it causes, the
  database's answer included (``tests.benchmarks.widgets`` says how frames are seen).

Without arguments it takes the shared data's reasonir and bm25 runs on earth_science, whose longest gold has 231,843
characters; ``BRIGHT_INSPECT_TEST_DATA`` says where they are.
"""

from __future__ import annotations

import asyncio
import compileall
import os
import pty
import select
import signal
import statistics
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from fcntl import ioctl
from pathlib import Path
from termios import TIOCSWINSZ

import bright_inspect
from bright_inspect.store.request import OpenRequest
from bright_inspect.tui.app import BrightInspect, make_app
from bright_inspect.tui.screens.inspect import InspectScreen
from bright_inspect.tui.screens.queries import QueriesScreen
from tests.benchmarks.widgets import SIZE, FrameDriver, press

FIRST_FRAME_LIMIT = 1.3
KEY_LIMIT_MS = 30.0
QUERY_LIMIT_MS = 60.0
LONGEST_GOLD = "reflecting_sunlights/news1.txt"
_BARE_APP = """
from textual.app import App
from textual.widgets import Static
class Bare(App):
    def compose(self):
        yield Static("opening")
Bare().run()
"""


def first_frame_seconds(command: list[str]) -> float:
    """Time a program from exec until its screen says "opening", on a pty of 120×34."""
    started = time.perf_counter()
    process, terminal = pty.fork()
    if process == 0:
        os.environ |= {"TERM": "xterm-256color"}
        os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
        os.execvp(command[0], command)
    ioctl(terminal, TIOCSWINSZ, struct.pack("HHHH", 34, 120, 0, 0))
    seen = b""
    try:
        while b"opening" not in seen:
            ready, _, _ = select.select([terminal], [], [], 20)
            if not ready:
                raise RuntimeError(f"no first frame in 20 s: {command}")
            seen += os.read(terminal, 65536)
        return time.perf_counter() - started
    finally:
        os.kill(process, signal.SIGKILL)
        os.waitpid(process, 0)
        os.close(terminal)


def measure_first_frame(arguments: list[str], rounds: int = 9) -> tuple[float, float]:
    """Median seconds of ours and of the bare app, measured in turns."""
    compileall.compile_dir(str(Path(bright_inspect.__file__).parent), quiet=1)
    ours = [sys.executable, "-m", "bright_inspect", *arguments]
    bare = [sys.executable, "-c", _BARE_APP]
    first_frame_seconds(ours)
    pairs = [(first_frame_seconds(ours), first_frame_seconds(bare)) for _ in range(rounds)]
    return statistics.median(pair[0] for pair in pairs), statistics.median(pair[1] for pair in pairs)


async def settled(app: BrightInspect) -> None:
    """Wait until no work runs and no frame has come for a while."""
    while True:
        last = FrameDriver.frame_felt
        await asyncio.sleep(0.08)
        if last == FrameDriver.frame_felt and not any(
            app.runner.busy(lane) for lane in ("open", "query", "text", "ahead")
        ):
            return


async def timed(app: BrightInspect, cause: Callable[[], None]) -> float:
    """Milliseconds from a cause to the last frame it leads to."""
    await asyncio.sleep(0.02)
    FrameDriver.frame_arrived = asyncio.Event()
    started = time.perf_counter()
    cause()
    try:
        await asyncio.wait_for(FrameDriver.frame_arrived.wait(), timeout=2)
    except TimeoutError:
        raise RuntimeError(f"{cause} painted nothing on {app.screen}") from None
    await settled(app)
    return (FrameDriver.frame_felt - started) * 1e3


async def measure_keys(request: OpenRequest) -> dict[str, tuple[list[float], float]]:
    """Milliseconds of each kind of key, with its limit."""
    app = make_app(request)
    app.driver_class = FrameDriver
    app.animation_level = "none"
    found: dict[str, tuple[list[float], float]] = {}
    async with app.run_test(headless=False, size=SIZE):
        await settled(app)
        assert isinstance(app.screen, QueriesScreen), app.return_value
        await timed(app, press(app, "down"))

        async def measure(name: str, keys: list[str], limit: float = KEY_LIMIT_MS) -> None:
            found[name] = ([await timed(app, press(app, key)) for key in keys], limit)

        await measure("queries: down", ["down"] * 30)
        await measure("queries: page", ["pagedown", "pageup"] * 12)
        await measure("queries: sort", ["less_than_sign", "greater_than_sign"] * 8)
        await timed(app, press(app, "enter"))
        await measure("inspect: down, text included", ["down"] * 30)
        await measure("inspect: next query, text included", ["n"] * 30, QUERY_LIMIT_MS)
        await measure("inspect: next tab", ["right"] * 12)
        await measure("inspect: merged and back", ["m"] * 10)
        inspect = app.screen
        assert isinstance(inspect, InspectScreen)
        if await go_to_query_with(app, inspect, LONGEST_GOLD):
            times = []
            for _ in range(60):
                elapsed = await timed(app, press(app, "right_square_bracket"))
                if inspect.document == LONGEST_GOLD:
                    times.append(elapsed)
            found["inspect: open 231,843 characters"] = (times, KEY_LIMIT_MS)
            while inspect.document != LONGEST_GOLD:
                await timed(app, press(app, "right_square_bracket"))
            await timed(app, press(app, "d"))
            await measure("inspect: page of 231,843 characters", ["pageup", "pagedown"] * 10)
    return found


async def go_to_query_with(app: BrightInspect, inspect: InspectScreen, doc_id: str) -> bool:
    """Go to the query that has the document as one of several golds; False if there is none."""
    row = app.desk.session.cursor.execute("SELECT query_id FROM qrels WHERE doc_id = ?", [doc_id]).fetchone()
    index = next((i for i, shown in enumerate(inspect.rows) if row and shown.key.query_id == row[0]), None)
    if index is None or inspect.rows[index].golds < 2:
        return False
    inspect.go_to(index)
    await settled(app)
    return True


def main() -> None:
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    data = Path(os.environ.get("BRIGHT_INSPECT_TEST_DATA", "../shared/data"))
    runs = sys.argv[1:] or [
        str(data / "runs/reasonir/earth_science.txt"),
        str(data / "outputs/earth_science_bm25_long_False"),
    ]
    with tempfile.TemporaryDirectory() as cache:
        os.environ["BRIGHT_INSPECT_CACHE"] = cache
        ours, bare = measure_first_frame([*runs, "--data", str(data / "bright")])
        print(f"{'first frame':40} {ours * 1e3:7.0f} ms   {ours / bare:5.2f} × a one-Static app ({bare * 1e3:.0f} ms)"
              f"   limit {FIRST_FRAME_LIMIT}")  # fmt: skip
        found = asyncio.run(measure_keys(OpenRequest(tuple(runs), data / "bright")))
    print(f"{'':40} {'median':>7} {'p95':>7} {'max':>7} {'limit (p95)':>12}   ms")
    for name, (times, limit) in found.items():
        p95 = statistics.quantiles(times, n=20)[-1] if len(times) > 1 else times[0]
        print(f"{name:40} {statistics.median(times):7.1f} {p95:7.1f} {max(times):7.1f} {limit:12.0f}   n={len(times)}")
    subprocess.run(["uptime"], check=False)


if __name__ == "__main__":
    main()

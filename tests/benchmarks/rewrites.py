"""Measures the Lens and the outline of a long rewrite against the budgets: ``python -m tests.benchmarks.rewrites``.

A rewrite of 100,000 characters, made of real ones (GPT-4's reasoning on earth_science, one after the other), of queries
of some hundred: opened, compared with the original, searched, paged through and folded, in one process at 200×60
(``tests.benchmarks.widgets`` says how frames are seen). The comparison of two such texts is measured too, which no
query has. It needs the shared data, ``BRIGHT_INSPECT_TEST_DATA``.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import polars as pl

from bright_inspect.rewriting.traces import outline
from bright_inspect.rewriting.word_change import compare_words
from bright_inspect.store.request import OpenRequest
from bright_inspect.tui.app import BrightInspect, make_app
from bright_inspect.tui.screens.lens import LensScreen
from bright_inspect.tui.screens.trace import TraceScreen
from tests.benchmarks.next_item import idle
from tests.benchmarks.widgets import SIZE, FrameDriver, percentile_95, press
from tests.support import BRIGHT_TEST_DATA

LENGTH = 100_000
KEY_LIMIT_MS = 30.0
#: As from query to query: texts are read and compared anew.
OPEN_LIMIT_MS = 60.0


def long_rewrite(data: Path) -> str:
    """Real reasoning of this length."""
    file = data / "bright/gpt4_reason/earth_science-00000-of-00001.parquet"
    text = "\n\n".join(pl.read_parquet(file, columns=["query"])["query"])
    return (text * (1 + LENGTH // len(text)))[:LENGTH]


async def key_times(app: BrightInspect, keys: list[str]) -> list[float]:
    """Milliseconds from each key to the last frame it leads to."""
    times = []
    for key in keys:
        await asyncio.sleep(0.02)
        started = time.perf_counter()
        press(app, key)()
        while True:
            last = FrameDriver.frame_felt
            await asyncio.sleep(0.1)
            if last == FrameDriver.frame_felt and app.runner.idle:
                break
        times.append((FrameDriver.frame_felt - started) * 1e3)
    return times


async def query_times(app: BrightInspect, lens: LensScreen, keys: list[str]) -> list[float]:
    """Milliseconds from each key to the frame with the next query's words; what is searched after that goes on."""
    times = []
    for key in keys:
        await idle(app)
        before = lens._words
        started = time.perf_counter()
        press(app, key)()
        shown = None
        while shown is None or FrameDriver.frame_felt == shown:
            await asyncio.sleep(0.001)
            if shown is None and lens._words is not before and lens._words is not None:
                shown = FrameDriver.frame_felt
        times.append((FrameDriver.frame_felt - started) * 1e3)
    return times


async def measure(data: Path, rewrite: Path) -> dict[str, tuple[list[float], float]]:
    """Milliseconds of each kind of key, with its limit."""
    runs = (str(data / "outputs/earth_science_bm25_gpt4_reason_long_False"),
            str(data / "outputs/earth_science_bm25_long_False"))  # fmt: skip
    app = make_app(OpenRequest(runs, data / "bright", variants=(f"long={rewrite}",)))
    app.driver_class = FrameDriver
    app.animation_level = "none"
    found: dict[str, tuple[list[float], float]] = {}
    async with app.run_test(headless=False, size=SIZE):
        await idle(app)
        await key_times(app, ["enter", "v", "f2"])
        await idle(app)
        lens = app.screen
        assert isinstance(lens, LensScreen), app.return_value
        assert lens.variant == "long", lens.variant

        async def keys(name: str, pressed: list[str], limit: float = KEY_LIMIT_MS) -> None:
            found[name] = (await key_times(app, pressed), limit)

        await keys("lens: page down and up", ["pagedown", "pageup"] * 15)
        await keys("lens: to the end and back", ["end", "home"] * 8)
        await keys("lens: both as one text, and back", ["d"] * 16)
        found["lens: next query, its words"] = (await query_times(app, lens, ["n"] * 12), OPEN_LIMIT_MS)
        await key_times(app, ["f2"])
        await idle(app)
        found["lens: next query of usual length"] = (await query_times(app, lens, ["p"] * 12), OPEN_LIMIT_MS)
        await key_times(app, ["f2"])
        await idle(app)
        await keys("lens: next table", ["right"] * 15)
        while lens._tab != "Documents":
            await key_times(app, ["right"])
        await keys("lens: next document, taken apart", ["down"] * 20)
        await key_times(app, ["o"])
        if not isinstance(app.screen, TraceScreen):
            raise RuntimeError(f"{app.screen} is shown")
        await keys("outline: next part", ["down"] * 30)
        await keys("outline: fold one", ["f"] * 16)
        await keys("outline: fold all, open all", ["z"] * 16)
    return found


def timed(work: Callable[[], object]) -> float:
    """The median milliseconds of three times."""
    times = []
    for _ in range(3):
        started = time.perf_counter()
        work()
        times.append((time.perf_counter() - started) * 1e3)
    return statistics.median(times)


def main() -> int:
    """Print each figure beside its budget."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="exit with 1 if a budget is broken")
    checked = parser.parse_args().check
    if not BRIGHT_TEST_DATA.is_dir():
        print(f"no shared data at {BRIGHT_TEST_DATA}: set BRIGHT_INSPECT_TEST_DATA", file=sys.stderr)
        return 2
    text = long_rewrite(BRIGHT_TEST_DATA)
    with tempfile.TemporaryDirectory() as folder:
        os.environ["BRIGHT_INSPECT_CACHE"] = str(Path(folder) / "cache")
        rewrite = Path(folder) / "earth_science.jsonl"
        ids = [str(number) for number in range(116)]
        rewrite.write_text("".join(json.dumps({"id": each, "query": text}) + "\n" for each in ids))
        found = asyncio.run(measure(BRIGHT_TEST_DATA, rewrite))
    other = text[LENGTH // 2 :] + text[: LENGTH // 2]
    edited = " ".join(word for place, word in enumerate(text.split(" ")) if place % 10)
    found["two texts of 100,000: halves exchanged"] = ([timed(lambda: compare_words(text, other))], OPEN_LIMIT_MS)
    found["two texts of 100,000: every tenth gone"] = ([timed(lambda: compare_words(text, edited))], OPEN_LIMIT_MS)
    found["outline of 100,000"] = ([timed(lambda: outline(text))], KEY_LIMIT_MS)
    print(f"load of the machine: {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    print(f"{'':40} {'median':>7} {'p95':>7} {'max':>7} {'limit (p95)':>12}   ms")
    broken = False
    for name, (times, limit) in found.items():
        p95 = percentile_95(times) if len(times) > 1 else times[0]
        broken |= p95 > limit
        print(f"{name:40} {statistics.median(times):7.1f} {p95:7.1f} {max(times):7.1f} {limit:12.0f}"
              f"{'   BROKEN' * (p95 > limit)}")  # fmt: skip
    return int(checked and broken)


if __name__ == "__main__":
    sys.exit(main())

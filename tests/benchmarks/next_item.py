"""Measures how soon the next document is painted after a judging key: ``python -m tests.benchmarks.next_item``.

Four published runs on earth_science, their top 100 pooled (8,274 documents to judge), in one process at 200×60: from
the key as a driver hands it over to the last frame it causes (``tests.benchmarks.widgets`` says how frames are seen).
Each key is a decision that is written and synced before the next document comes up; what a bare append and fsync of
such a line takes on this disk is measured between the keys. *Work* is the process's time in between, its other threads
included: what the program is answerable for on a busy machine. Two orders: by effect, where a query's documents come
one after the other, and at random, where each is another query's.

It needs the shared data, ``BRIGHT_INSPECT_TEST_DATA``. With ``--check`` the exit code is 1 if a budget is broken.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from bright_inspect.judging.journal import DEFAULT_JOURNAL
from bright_inspect.store.request import OpenRequest
from bright_inspect.store.triage_request import TriageOrder, TriageRequest
from bright_inspect.tui.app import BrightInspect, make_app
from bright_inspect.tui.screens.triage import TriageScreen
from tests.benchmarks.widgets import SIZE, FrameDriver, percentile_95, press
from tests.support import BRIGHT_TEST_DATA

LIMIT_MS = 60.0
#: Nobody judges faster: from one document's paint to the next key, in seconds.
PAUSE = 0.12
_OPENING_SECONDS = 300
RUNS = (
    "runs/reasonir/earth_science.txt",
    "outputs/earth_science_bm25_gpt4_reason_long_False",
    "outputs/earth_science_bm25_long_False",
    "rader/earth_science/gpt4_score.json",
)
ORDERS: tuple[tuple[TriageOrder, int], ...] = (("effect", 200), ("random", 60))


class Step(NamedTuple):
    """Milliseconds of one key: until the next document's last frame, of processor time in that, and of a bare append
    and fsync after it."""

    painted: float
    work: float
    synced: float


def bare_append(folder: Path, line: bytes) -> float:
    """Milliseconds to append a line to a file and sync it."""
    started = time.perf_counter()
    file = os.open(folder / "peer.jsonl", os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    os.write(file, line)
    os.fsync(file)
    os.close(file)
    return (time.perf_counter() - started) * 1e3


async def idle(app: BrightInspect) -> None:
    """Wait until no work has run for a while.

    Raises:
        RuntimeError: the program ended, or is still at work after some minutes.
    """
    quiet, deadline = 0, time.perf_counter() + _OPENING_SECONDS
    while quiet < 5:
        if app.return_code is not None or time.perf_counter() > deadline:
            raise RuntimeError(f"not opened: {app.return_value or app.screen}")
        await asyncio.sleep(0.05)
        quiet = quiet + 1 if app.has_desk and app.runner.idle else 0


async def step(app: BrightInspect, screen: TriageScreen, folder: Path) -> Step:
    """Judge the document at hand, and wait for the next."""
    before = screen._shown
    assert before is not None
    await asyncio.sleep(random.uniform(0, 0.02))  # out of step with the frame timer
    started, work = time.perf_counter(), time.process_time()
    press(app, "0", "0")()
    while screen._shown is before or screen._shown is None:
        if time.perf_counter() - started > 10:
            raise RuntimeError("no document came up within 10 s")
        await asyncio.sleep(0.001)
    await asyncio.sleep(PAUSE)
    painted = (FrameDriver.frame_felt - started) * 1e3
    if painted < 0:
        raise RuntimeError("the next document was not painted")
    return Step(painted, (FrameDriver.frame_work - work) * 1e3, bare_append(folder, b"x" * 600 + b"\n"))


async def measure(data: Path, order: TriageOrder, keys: int, folder: Path) -> tuple[list[Step], int]:
    """The steps of so many keys, and how many documents the queue has."""
    request = OpenRequest(
        tuple(str(data / run) for run in RUNS),
        data / "bright",
        journals=(folder / DEFAULT_JOURNAL,),
        triage=TriageRequest("anna", depth=100, order=order, at_once=True),
    )
    app = make_app(request)
    app.driver_class = FrameDriver
    app.animation_level = "none"
    async with app.run_test(headless=False, size=SIZE):
        await idle(app)
        screen = app.screen
        assert isinstance(screen, TriageScreen), app.return_value
        assert screen._triage is not None
        steps = [await step(app, screen, folder) for _ in range(keys + 1)]
        return steps[1:], screen._triage.queue.progress().total


def report(order: str, steps: Sequence[Step], items: int) -> bool:
    """Print an order's figures beside the budget; whether it is broken."""
    p95 = percentile_95([each.painted for each in steps])
    broken = p95 > LIMIT_MS
    print(f"order {order}: {len(steps)} of {items:,} documents; median, p95, max in ms")
    for name, values in zip(("painted", "work in it", "bare fsync"), zip(*steps, strict=True), strict=True):
        print(f"  {name:12} {statistics.median(values):7.1f} {percentile_95(list(values)):7.1f} {max(values):7.1f}")
    print(f"  budget of painted, p95: {LIMIT_MS:.0f} ms   {'BROKEN' if broken else 'kept'}")
    return broken


def main() -> int:
    """Print both orders' figures beside the budget."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="exit with 1 if a budget is broken")
    checked = parser.parse_args().check
    missing = [run for run in (*RUNS, "bright") if not (BRIGHT_TEST_DATA / run).exists()]
    if missing:
        print(f"needs the shared data: {BRIGHT_TEST_DATA} has no {', '.join(missing)}; set BRIGHT_INSPECT_TEST_DATA.",
              file=sys.stderr)  # fmt: skip
        return 2
    found = []
    with tempfile.TemporaryDirectory() as work:
        os.environ["BRIGHT_INSPECT_CACHE"] = str(Path(work) / "cache")
        for order, keys in ORDERS:
            folder = Path(work) / order
            folder.mkdir()
            (folder / DEFAULT_JOURNAL).touch()
            found.append((order, *asyncio.run(measure(BRIGHT_TEST_DATA, order, keys, folder))))
    broken = [report(*each) for each in found]
    subprocess.run(["uptime"], check=False)
    return int(checked and any(broken))


if __name__ == "__main__":
    sys.exit(main())

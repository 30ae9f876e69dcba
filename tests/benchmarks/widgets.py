"""Measures the two line widgets against the budgets of the design: ``python -m tests.benchmarks.widgets``.

Everything runs in one process at 200×60, so that ratios mean something on a noisy machine. Unset
PYTHONDONTWRITEBYTECODE first, or the imports of every run are compiled anew.

The clock starts when a key is handed to the app as a terminal driver does it, or when a widget is given new contents,
and stops when the app hands its driver the escape sequences of the frame. Textual's headless mode never encodes a
frame, so the driver here says that it is not headless and throws away what it is given. Two figures result:

* *felt*: wall time. It holds the wait for Textual's next frame (at most 60 in a second), which no widget can shorten.
* *work*: processor time of this process over the same stretch, which is what the widgets are answerable for.

The 95th percentiles hold Python's full garbage collections, 35 to 50 ms each with Textual's many small objects. With
``--freeze`` everything alive once an app is mounted is exempt from them (``gc.freeze``), as a program may choose to do
after its first frame. The first timing of each app is a warm-up and not counted.
"""

from __future__ import annotations

import asyncio
import gc
import random
import statistics
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from rich.text import Text
from textual.app import App, ComposeResult
from textual.containers import Horizontal
from textual.drivers.headless_driver import HeadlessDriver
from textual.events import Key
from textual.pilot import Pilot
from textual.widgets import DataTable

from bright_inspect.presentation.cells import Column, Span, TableRow
from bright_inspect.tui.themes import BRIGHT_DARK, THEMES
from bright_inspect.tui.widgets.reader import TextReader
from bright_inspect.tui.widgets.table import LineTable

SIZE = (200, 60)
LONGEST_GOLD = 231_843
KEY_BUDGET_MS = 30.0
REPETITIONS = 15
COLUMNS = (
    Column("mark", (Span(""),), 1),
    Column("rank", (Span("#"),), 4, align="right"),
    Column("id", (Span("document"),), 20, flex=1, elide="middle"),
    Column("score", (Span("score"),), 7, align="right"),
    Column("move", (Span("move"),), 6, align="right"),
)


@dataclass(frozen=True, slots=True)
class Timing:
    """Milliseconds from a cause to its painted frame."""

    felt: float
    work: float


class FrameDriver(HeadlessDriver):
    """Takes frames as a terminal would, notes when, and throws them away."""

    frame_arrived: asyncio.Event | None = None
    frame_felt = 0.0
    frame_work = 0.0

    @property
    def is_headless(self) -> bool:
        """Said not to be, or Textual would not encode the frames."""
        return False

    def write(self, data: str) -> None:
        """Note the time of a frame; synchronisation sequences, which are short, are none."""
        if len(data) > 16:
            FrameDriver.frame_felt = time.perf_counter()
            FrameDriver.frame_work = time.process_time()
            if FrameDriver.frame_arrived is not None:
                FrameDriver.frame_arrived.set()


class BenchmarkApp(App[None]):
    """Two widgets side by side, as the screens have them."""

    def __init__(self, *widgets: LineTable | DataTable[Text] | TextReader) -> None:
        super().__init__(driver_class=FrameDriver)
        self.widgets = widgets
        self.animation_level = "none"

    def compose(self) -> ComposeResult:
        yield Horizontal(*self.widgets)

    def on_mount(self) -> None:
        for theme in THEMES:
            self.register_theme(theme)
        self.theme = BRIGHT_DARK
        self.call_after_refresh(freeze_if_asked)


def freeze_if_asked() -> None:
    """Exempt what is alive now from garbage collection, when the command line says so."""
    gc.collect()
    if "--freeze" in sys.argv:
        gc.freeze()


async def timed(pilot: Pilot[None], cause: Callable[[], None]) -> Timing:
    """Time one cause until its last frame: the app is idle after it, and nothing more was written."""
    await asyncio.sleep(random.uniform(0.03, 0.06))  # out of step with the frame timer
    FrameDriver.frame_arrived = asyncio.Event()
    felt, work = time.perf_counter(), time.process_time()
    cause()
    await FrameDriver.frame_arrived.wait()
    if isinstance(pilot.app, BenchmarkApp) and isinstance(pilot.app.widgets[0], DataTable):
        await asyncio.sleep(0.4)  # it paints first and measures its cells on idle; the last frame shows them
    else:
        await asyncio.sleep(0.05)
    return Timing((FrameDriver.frame_felt - felt) * 1e3, (FrameDriver.frame_work - work) * 1e3)


def press(app: App[Any], key: str, character: str | None = None) -> Callable[[], None]:
    """Hand the app a key as its driver does."""

    def send() -> None:
        app.post_message(Key(key, character))

    return send


def make_rows(count: int, seed: int) -> list[TableRow]:
    """Make rows like those of a ranked list."""
    generator = random.Random(seed)
    return [
        TableRow(
            f"doc{generator.randrange(10_000)}",
            (
                (Span("★", "gold") if number % 9 == 0 else Span("·", "dim"),),
                (Span(str(number + 1)),),
                (Span(f"lapse_rate_{seed}/Lapse_rate_in_the_atmosphere_{generator.randrange(10_000)}.txt"),),
                (Span(f"{generator.random() * 30:.2f}"),),
                (Span(f"▲ {generator.randrange(99)}", "gain"),),
            ),
        )
        for number in range(count)
    ]


async def measure_line_tables() -> dict[str, list[Timing]]:
    """Refill two tables with 1,000 rows each, and move the cursor."""
    tables = (LineTable(), LineTable())
    app = BenchmarkApp(*tables)
    timings: dict[str, list[Timing]] = {"refill": [], "down": [], "down, scrolling": [], "pagedown": []}
    async with app.run_test(headless=False, size=SIZE) as pilot:
        tables[0].focus()
        for number in range(REPETITIONS):
            contents = [make_rows(1_000, 2 * number + side) for side in range(2)]

            def refill(contents: list[list[TableRow]] = contents) -> None:
                for table, rows in zip(tables, contents, strict=True):
                    table.set_rows(COLUMNS, rows)

            timings["refill"].append(await timed(pilot, refill))
        for _ in range(3 * REPETITIONS):
            timings["down"].append(await timed(pilot, press(app, "down")))
        tables[0].cursor = 500
        for _ in range(2 * REPETITIONS):
            timings["down, scrolling"].append(await timed(pilot, press(app, "down")))
            page = "pageup" if tables[0].cursor > 800 else "pagedown"
            timings["pagedown"].append(await timed(pilot, press(app, page)))
    return timings


async def measure_data_tables() -> list[Timing]:
    """Refill two of Textual's own tables with 100 rows each, styled as ours, columns of fixed width."""
    tables: tuple[DataTable[Text], DataTable[Text]] = (DataTable(), DataTable())
    app = BenchmarkApp(*tables)
    timings = []
    async with app.run_test(headless=False, size=SIZE) as pilot:
        for table in tables:
            for column, width in zip(COLUMNS, (1, 4, 60, 7, 6), strict=True):
                table.add_column(column.key, width=width)
        for number in range(REPETITIONS):
            contents = [make_rows(100, 2 * number + side) for side in range(2)]
            cells = [[[Text(cell[0].text) for cell in row.cells] for row in rows] for rows in contents]

            def refill(cells: list[list[list[Text]]] = cells) -> None:
                for table, rows in zip(tables, cells, strict=True):
                    table.clear()
                    table.add_rows(rows)

            timings.append(await timed(pilot, refill))
    return timings


async def measure_reader() -> dict[str, list[Timing]]:
    """Open the longest gold document of BRIGHT, by its length, and page through it."""
    generator = random.Random(1)
    words = ["".join(generator.choices("abcdefghijklmnoprstuvwy", k=generator.randint(2, 9))) for _ in range(60_000)]
    plain = " ".join(words)[:LONGEST_GOLD]
    texts = {
        "ASCII": plain,
        "typographic": plain.replace("e a", "e’ a"),
        "CJK": "".join(generator.choices("日本語の文章を書く漢字", k=LONGEST_GOLD)),
    }
    reader = TextReader()
    app = BenchmarkApp(reader)
    timings: dict[str, list[Timing]] = {}
    async with app.run_test(headless=False, size=SIZE) as pilot:
        reader.focus()
        for name, text in texts.items():
            matches = [(at, at + 4, "match") for at in range(0, len(text), 500)]
            opened, paged = timings.setdefault(f"open {name}", []), timings.setdefault(f"pagedown {name}", [])
            for number in range(REPETITIONS):
                other = str(number) + text  # never the text that is there

                def show(other: str = other, matches: list[tuple[int, int, str]] = matches) -> None:
                    reader.set_text(other, spans=matches, scroll_to=100_000)

                opened.append(await timed(pilot, show))
                paged.append(await timed(pilot, press(app, "pagedown")))
    return timings


def percentile_95(values: list[float]) -> float:
    """The value that 95 of 100 do not exceed."""
    return statistics.quantiles(values, n=20, method="inclusive")[-1]


def print_line(name: str, timings: list[Timing], *, budget: bool) -> None:
    """Print the median and the 95th percentile of what was felt, the median work, and whether the budget is kept."""
    felt, work = [timing.felt for timing in timings[1:]], [timing.work for timing in timings[1:]]
    p95 = percentile_95(felt)
    verdict = "" if not budget else f"≤ {KEY_BUDGET_MS:.0f} ms  {'kept' if p95 <= KEY_BUDGET_MS else 'MISSED'}"
    figures = f"{statistics.median(felt):8.1f}{p95:8.1f}{statistics.median(work):9.1f}{percentile_95(work):9.1f}"
    print(f"{name:<38}{figures}  {verdict}")


async def measure_all() -> None:
    """Measure everything and print one table."""
    tables = await measure_line_tables()
    data_tables = await measure_data_tables()
    reader = await measure_reader()
    print(f"{'milliseconds':<38}{'felt':>8}{'p95':>8}{'work':>9}{'p95':>9}  limit on felt p95")
    print_line("2 LineTables, 1,000 rows: refill", tables["refill"], budget=True)
    print_line("2 DataTables, 100 rows: refill", data_tables, budget=False)
    for key in ("down", "down, scrolling", "pagedown"):
        print_line(f"LineTable: {key}", tables[key], budget=True)
    for name, timings in reader.items():
        print_line(f"TextReader, {LONGEST_GOLD:,}: {name}", timings, budget=True)
    for figure in ("felt", "work"):
        ours, theirs = (
            statistics.median(getattr(timing, figure) for timing in timings[1:])
            for timings in (tables["refill"], data_tables)
        )
        print(f"refill, {figure}: DataTables with a tenth of the rows take {theirs / ours:.1f} times as long")


def main() -> None:
    """Run the benchmark."""
    asyncio.run(measure_all())


if __name__ == "__main__":
    main()

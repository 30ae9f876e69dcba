"""Small data and runs of which every value is known, and ways to look at the screens over them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from textual.command import CommandList

from bright_inspect.presentation.cells import TableRow
from bright_inspect.tui.widgets.table import LineTable
from tests.support import example, write_bright, write_trec
from tests.tui.driving import (
    AppPilot,
    press,
    reader_of,
    table_of,
)

#: Δ of nDCG@10, query by query: 0, −69.3, −36.9, +100.
QWEN = {
    "0": {"g0": 4.0, "x0": 3.0},
    "1": {"x0": 4.0, "x1": 3.0, "g1": 2.0, "x2": 1.0},
    "2": {"x0": 4.0, "g2": 3.0},
    "3": {"g3": 4.0, "x0": 3.0},
}
BM25 = {
    "0": {"g0": 4.0, "x0": 3.0},
    "1": {"h1": 6.0, "g1": 5.0, "x0": 4.0, "x1": 3.0},
    "2": {"g2": 4.0, "x0": 3.0},
    "3": {"x0": 4.0, "x1": 3.0},
}


def small_runs(folder: Path) -> list[Path]:
    """A run and a baseline over four queries of biology."""
    return [write_trec(folder / name / "biology.trec", run) for name, run in (("qwen", QWEN), ("bm25", BM25))]


def small_data(
    folder: Path,
    *,
    tasks: Sequence[str] = ("biology",),
    corpus: bool = True,
    documents: Sequence[str] = ("g0", "g1", "h1", "g2", "g3", "x0", "x1", "x2"),
) -> Path:
    """A data set of four queries a task; query 1 has two golds."""
    rows = [example("0", ["g0"]), example("1", ["g1", "h1"]), example("2", ["g2"]), example("3", ["g3"])]
    data = write_bright(folder / "data", dict.fromkeys(tasks, rows))
    if corpus:
        texts = [{"id": doc_id, "content": f"text of {doc_id}"} for doc_id in documents]
        write_bright(data, dict.fromkeys(tasks, texts), "documents")
    return data


def odd_run(folder: Path) -> Path:
    """A run with a bad score, a duplicate document and a comment."""
    path = folder / "qwen" / "biology.trec"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(
        "0 Q0 g0 1 2.5 t\n0 Q0 x0 2 abc t\n# why\n0 Q0 g0 3 .2 t\n1 Q0 g1 1 1 t\n2 Q0 x 1 1 t\n3 Q0 x 1 1 t\n"
    )
    return path


def table_rows(pilot: AppPilot) -> list[TableRow]:
    table = table_of(pilot)
    return [table.rows[index] for index in range(table.row_count)]


def tables(pilot: AppPilot) -> list[LineTable]:
    """The lists side by side."""
    return [pilot.app.screen.query_one(f"#list{number}", LineTable) for number in range(2)]


async def query_tab_text(pilot: AppPilot) -> str:
    """What the Query tab says."""
    for _ in range(4):
        if reader_of(pilot).text.startswith("original · "):
            break
        await press(pilot, "right")
    return reader_of(pilot).text


async def palette_found(pilot: AppPilot) -> None:
    """Wait until the palette has an entry to choose."""
    for _ in range(200):
        found = pilot.app.screen.query_one(CommandList)
        if found.option_count and found.highlighted is not None:
            return
        await pilot.pause(0.02)
    raise AssertionError("the palette found nothing")

"""What a value hangs on besides the run, on every screen: tie order (≈) and excluded documents (✗)."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from bright_inspect.store.progress import CancelToken
from bright_inspect.store.request import OpenRequest
from bright_inspect.tui.desk import open_desk
from tests.support import example, write_bright, write_trec
from tests.tui.driving import (
    NARROW,
    WIDE,
    app_of,
    driven,
    inspect,
    line,
    press,
    query_ids,
    reader_of,
    shown,
    table_of,
    type_text,
)
from tests.tui.small import query_tab_text, table_rows

RUN = {"0": {"g0": 2.0, "x0": 2.0, "e0": 5.0}, "1": {"g1": 3.0, "x": 1.0}, "2": {"e2": 9.0, "g2": 1.0}}
BASELINE = {"0": {"g0": 2.0}, "1": {"x": 3.0, "g1": 1.0}, "2": {"g2": 1.0}}


@pytest.fixture
def runs(tmp_path: Path) -> list[Path]:
    """A run with a tie and two excluded documents, and one with neither."""
    return [write_trec(tmp_path / name / "biology.trec", run) for name, run in (("qwen", RUN), ("bm25", BASELINE))]


@pytest.fixture
def data(tmp_path: Path) -> Path:
    rows = [
        example("0", ["g0"], excluded=["e0", "e00"]),
        example("1", ["g1"], excluded=[f"n{number}" for number in range(11_224)]),
        example("2", ["g2"], excluded=["e2"]),
    ]
    return write_bright(tmp_path / "data", {"biology": rows})


@pytest.mark.parametrize("size", [NARROW, WIDE])
async def test_the_queries(runs: list[Path], data: Path, size: tuple[int, int]) -> None:
    async with driven(app_of(*runs, data=data), size) as pilot:
        page = shown(pilot)
        moved = "between 87.7 and 100.0 (expected 93.8)" if size == WIDE else "87.7–100.0, expected 93.8"
        assert f"qwen {moved}; 1 of 3 queries" in page
        assert "✗ excluded documents removed: 2 from qwen (" in page
        lines = len(page.splitlines())
        values = {row.key: "".join(span.text for span in row.cells[2]) for row in table_rows(pilot)}
        assert values == {"0": " 63.1≈".strip(), "1": "100.0 ", "2": "100.0 "}
        for term, ids in (("tied", ["0"]), ("excluded", ["0", "2"]), ("excluded tied", ["0"])):
            await press(pilot, "/")
            await type_text(pilot, term)
            await press(pilot, "enter")
            assert sorted(query_ids(pilot)) == ids
            assert len(shown(pilot).splitlines()) == lines, "a filter moves nothing"
            await press(pilot, "escape")


async def test_one_query(runs: list[Path], data: Path) -> None:
    async with driven(app_of(*runs, data=data)) as pilot:
        await press(pilot, "/")
        await type_text(pilot, "id:0")
        await press(pilot, "enter", "enter")
        assert line(pilot, "#pane-title0") == "qwen  nDCG@10 63.1 ≈ 63.1–100.0, 81.5  Δ −36.9  ★ 2"
        await press(pilot, "m")
        assert line(pilot, "#merged-title") == ("nDCG@10  qwen 63.1 −36.9 ≈ 63.1–100.0, 81.5 ★ 2  bm25 100.0 ★ 1")
        assert await query_tab_text(pilot) == (
            "original · 10 characters\nquestion 0\n\nexcluded · 2 documents, removed before ranking\n"
            "✗ e0 · qwen at 1\ne00"
        )
        assert inspect(pilot).row.removed == (1, 0)


async def test_very_many_excluded_documents(runs: list[Path], data: Path) -> None:
    async with driven(app_of(*runs, data=data)) as pilot:
        await press(pilot, "/")
        await type_text(pilot, "id:1")
        await press(pilot, "enter", "enter")
        text = await query_tab_text(pilot)
        assert text.count("\n") == 11_224 + 3
        assert "excluded · 11,224 documents" in text
        await press(pilot, "d", "G")
        assert "n9999" in shown(pilot)
        await press(pilot, "g", "d")
        assert reader_of(pilot).text == text


async def test_a_published_rerankers_run(bright_data: Path) -> None:
    runs = (bright_data / "rader", bright_data / "runs" / "reasonir")
    async with driven(app_of(*runs, data=bright_data / "bright"), NARROW) as pilot:
        assert "≈ ties: rader@gpt4_reason 24.2–50.3, expected 33.0" in shown(pilot)
        values = {row.key: "".join(span.text for span in row.cells[2]) for row in table_rows(pilot)}
        assert values["bright/biology"] == " 50.2≈  +6.7"
        assert values["mean"] == " 31.8≈  +1.2"
        await press(pilot, "A", "/")
        await type_text(pilot, "tied")
        assert table_of(pilot).row_count > 900
        await press(pilot, "enter", "enter")
        assert " ≈ " in line(pilot, "#merged-title")
        assert line(pilot, "#merged-title").count("100.0") >= 1


def test_reading_a_query_with_its_exclusions_stays_within_its_budget(bright_data: Path) -> None:
    """The budget of a query is 60 ms on a machine of its own (DESIGN, 8); here several tests share it."""
    request = OpenRequest((str(bright_data / "runs" / "reasonir" / "aops.txt"),), bright_data / "bright")
    desk = open_desk(request, lambda progress: None, CancelToken())
    desk.convert(CancelToken())
    times, most = [], 0
    for row in desk.scored.rows[:20]:
        start = time.perf_counter()
        view, _ = desk.read_query(row.key, CancelToken())
        times.append(time.perf_counter() - start)
        most = max(most, len(view.excluded))
    desk.close()
    assert most > 9_000
    assert row.key.query_id in view.excluded, "in aops the query is a document"
    assert sorted(times)[len(times) // 2] < 0.2

"""The Variants screen: its two tables, what opens what, and saying which variant a run was made with."""

from __future__ import annotations

from pathlib import Path

from bright_inspect.tui.app import BrightInspect
from bright_inspect.tui.screens.lens import LensScreen
from bright_inspect.tui.screens.overview import OverviewScreen
from bright_inspect.tui.screens.variant_choice import NameChoice
from bright_inspect.tui.screens.variants import VariantsScreen
from tests.support import write_bright, write_trec
from tests.tui.driving import (
    NARROW,
    app_of,
    demo_app,
    driven,
    inspect,
    line,
    messages,
    option_names,
    press,
    queries,
    screen_of,
    settle,
    shown,
    table_of,
    type_text,
)
from tests.tui.small import BM25, QWEN, palette_found, small_data, table_rows


def variants(pilot: object) -> VariantsScreen:
    return screen_of(pilot, VariantsScreen)  # type: ignore[arg-type]


def ids(pilot: object) -> str:
    return "".join(row.key.query_id for row in variants(pilot).shown)


def small_app(folder: Path, *names: str, rewrites: bool = True) -> BrightInspect:
    """Runs of these names over four queries, every other one QWEN's; ``rewrites`` gives texts of gpt4_reason to all but
    one of the queries."""
    runs = []
    for number, name in enumerate(names):
        path = write_trec(folder / f"made{number}" / "biology.trec", BM25 if number % 2 else QWEN)
        runs.append(f"{name}={path}")
    data = small_data(folder)
    if rewrites:
        rows = [
            {"id": number, "query": f"question {number} thought about at length", "gold_ids": [f"g{number}"]}
            for number in ("0", "1", "2")
        ]
        write_bright(data, {"biology": rows}, "gpt4_reason")
    return app_of(*runs, data=data)


async def test_several_tasks_open_on_the_tasks() -> None:
    async with driven(demo_app(), NARROW) as pilot:
        await press(pilot, "v")
        assert line(pilot, "#variant-tabs").startswith("[Tasks]│ Queries")
        rows = [" ".join("".join(span.text for span in cell) for cell in row.cells) for row in table_rows(pilot)]
        assert len(rows) == 10
        assert "mean of 4" in rows[1]
        assert "bm25@demo_reason" in rows[1]
        assert "+61.4" in rows[1]
        assert "38 %" in rows[1]
        await press(pilot, "G", "enter")
        assert line(pilot, "#headline").startswith("kitchen_science  bm25 30.7 · bm25@demo_reason 85.3 +54.6")
        assert {row.key.task for row in variants(pilot).shown} == {"kitchen_science"}
        await press(pilot, "q")
        assert table_of(pilot).cursor == 9, "back on the row that was chosen"
        await press(pilot, "q")
        screen_of(pilot, OverviewScreen)


async def test_queries_open_and_lead_back(tmp_path: Path) -> None:
    async with driven(small_app(tmp_path, "bm25@gpt4_reason", "bm25@original")) as pilot:
        await press(pilot, "v")
        assert ids(pilot) == "3120", "largest spread first"
        await press(pilot, "j", "enter")
        assert screen_of(pilot, LensScreen).key.query_id == "1"
        await press(pilot, "n", "v")
        assert variants(pilot).filtered_table.cursor == 2, "v goes back where the query was opened"
        await press(pilot, "q")
        queries(pilot)
        await press(pilot, "j", "j", "enter", "v", "v")
        assert variants(pilot).filtered_table.cursor == 2, "on the query that was looked at"
        await press(pilot, "enter", "i")
        assert inspect(pilot).row.key.query_id == "2"
        await press(pilot, "n", "q")
        assert screen_of(pilot, LensScreen).key.query_id == "0"
        await press(pilot, "q", "q", "i")
        inspect(pilot)


async def test_orders_and_filter(tmp_path: Path) -> None:
    async with driven(small_app(tmp_path, "bm25@gpt4_reason", "bm25@original")) as pilot:
        await press(pilot, "v")
        for key, expected in [("<", "1203"), (">", "3021"), ("=", "3120"), ("S", "0213")]:
            await press(pilot, key)
            assert ids(pilot) == expected, key
        orders = []
        for _ in range(6):
            await press(pilot, "s")
            orders.append(variants(pilot).table.order)
        assert orders == ["id", "query", "bm25", "bm25@gpt4_reason", "Δ of bm25@gpt4_reason", "spread between variants"]
        await press(pilot, "/")
        await type_text(pilot, "delta<0")
        assert ids(pilot) == "12"
        assert "2 of 4 queries" in line(pilot, "#headline")
        await press(pilot, "enter", "escape")
        assert len(ids(pilot)) == 4
        await press(pilot, "tab", "s", ">", "<", "=")
        assert variants(pilot).table.order == "tasks in their order"


async def test_a_click_on_a_title_sorts(tmp_path: Path) -> None:
    async with driven(small_app(tmp_path, "bm25@gpt4_reason", "bm25@original")) as pilot:
        await press(pilot, "v")
        table = variants(pilot).filtered_table
        for expected in ("bm25@gpt4_reason", "Δ of bm25@gpt4_reason", "bm25@gpt4_reason"):
            table.post_message(table.HeaderClicked(table, "run0"))
            await settle(pilot)
            assert table.order == expected
        table.post_message(table.HeaderClicked(table, "id"))
        await settle(pilot)
        assert ids(pilot) == "0123"


async def test_more_runs_than_fit(tmp_path: Path) -> None:
    names = ["bm25@original", *(f"bm25@variant{number}" for number in range(7))]
    async with driven(small_app(tmp_path, *names), NARROW) as pilot:
        await press(pilot, "v")
        assert line(pilot, "#status").startswith("runs 1–3 of 8 ← →")
        await press(pilot, "right", "right")
        assert line(pilot, "#status").startswith("runs 3–")
        await press(pilot, *"lllll")
        assert " of 8" in line(pilot, "#status")
        assert "variant6" in shown(pilot)
        await press(pilot, "h", "tab")
        assert table_of(pilot).row_count == 9, "and the variant that no run was made with"


async def test_texts_lists_and_originals_that_are_missing(tmp_path: Path) -> None:
    async with driven(small_app(tmp_path, "bm25@gpt4_reason", "dense")) as pilot:
        await press(pilot, "v", "tab")
        said = shown(pilot)
        assert "dense: variant not known, V says which" in said
        assert "bm25: no run of that name on the original queries" in said
        assert "! gpt4_reason has texts of 3 of 4 queries of biology" in said
        await press(pilot, "q", "q")
        queries(pilot)


async def test_saying_which_variant_a_run_was_made_with(tmp_path: Path) -> None:
    async with driven(small_app(tmp_path, "bm25@original", "bm25")) as pilot:
        app = pilot.app
        assert isinstance(app, BrightInspect)
        assert "they differ in variant · variant of bm25 unknown, name it: v V" in shown(pilot)
        await press(pilot, "v", "tab", "j", "V")
        screen_of(pilot, NameChoice)
        assert option_names(pilot) == ["original  the queries as posted", "gpt4_reason", "not known"]
        await press(pilot, "k", "k", "enter")
        assert "another run is bm25@original already" in messages(pilot)[-1]
        await press(pilot, "V", "k", "enter")
        assert [run.name.in_full for run in app.desk.session.runs] == ["bm25@original", "bm25@gpt4_reason"]
        assert {score.run.label for score in app.desk.scored.scores.values()} == {"bm25", "bm25@gpt4_reason"}
        assert "bm25@gpt4_reason until you leave" in messages(pilot)[-1]
        assert "baseline bm25@gpt4_reason" in line(pilot, "#top")
        assert table_of(pilot).cursor == 1
        await press(pilot, "q")
        assert "bm25@gpt4_reason" in line(pilot, "#headline"), "the screens below follow"


async def test_of_several_runs_one_is_chosen_first_and_a_name_can_be_typed(tmp_path: Path) -> None:
    async with driven(small_app(tmp_path, "bm25@original", "dense"), NARROW) as pilot:
        app = pilot.app
        assert isinstance(app, BrightInspect)
        await press(pilot, "v", "V")
        assert option_names(pilot) == ["bm25@original", "dense@?  variant not known"]
        await press(pilot, "enter")
        await press(pilot, *"lamer", "enter")
        assert app.desk.session.runs[1].label == "dense@lamer"
        await press(pilot, "V", "escape", "V", "j", "enter", "escape")
        assert app.desk.session.runs[1].label == "dense@lamer"


async def test_the_palette_asks_too(tmp_path: Path) -> None:
    async with driven(small_app(tmp_path, "dense")) as pilot:
        await pilot.press("colon")
        await pilot.press(*"which variant")
        await palette_found(pilot)
        await pilot.press("enter")
        await settle(pilot)
        screen_of(pilot, NameChoice)


async def test_without_judgments_or_texts(tmp_path: Path) -> None:
    run = write_trec(tmp_path / "bm25" / "biology.trec", BM25)
    async with driven(app_of(run)) as pilot:
        await press(pilot, "v")
        assert len(ids(pilot)) == 4
        await press(pilot, "s", "<", "tab")
        assert "no judgments at hand" in shown(pilot)
        await press(pilot, "enter", "a", "V", "escape", "tab", "enter")
        screen_of(pilot, LensScreen)


async def test_fast_keys(tmp_path: Path) -> None:
    async with driven(small_app(tmp_path, "bm25@original", "dense")) as pilot:
        await pilot.press(
            *"vqvvV", "escape", *"vV", "enter", "enter", "tab", "enter", "enter", *"vqq", "tab", "q", "v", "q"
        )
        await settle(pilot)
        assert pilot.app.return_value is None

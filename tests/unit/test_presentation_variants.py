"""The Variants screen: tasks by run, queries by run, their order, and what must be known to read them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from bright_inspect.domain.measures import parse_measure
from bright_inspect.presentation.variant_queries import (
    VariantRuns,
    delta_of,
    means_line,
    sort_name,
    sort_queries,
    spread_of,
    variant_query_columns,
    variant_query_row,
    variant_runs,
)
from bright_inspect.presentation.variants import (
    TaskSort,
    VariantLine,
    extremes,
    sort_lines,
    task_columns,
    task_rows,
    variant_lines,
    variant_notes,
)
from bright_inspect.rewriting.comparison import variant_scores
from bright_inspect.rewriting.lengths import VariantLengths
from bright_inspect.store.collections import TaskKey
from bright_inspect.store.session import Run, RunFile
from tests.unit.making import BIOLOGY, PONY, make_row, make_run, make_scores, styles_of, text_of

NDCG = parse_measure("nDCG@10")


def run_of(run_id: int, name: str, *tasks: TaskKey) -> Run:
    """A run that has these tasks."""
    made = make_run(run_id, name)
    return Run(run_id, made.name, (RunFile(run_id, Path(name), "rows", tasks),))


RUNS = (
    run_of(0, "bm25@gpt4", BIOLOGY, PONY),
    run_of(1, "bm25@original", BIOLOGY, PONY),
    run_of(2, "dense@gpt4", BIOLOGY),
)
SCORES = {
    (run.run_id, task): make_scores(run, task, values)
    for run, task, values in [
        (RUNS[0], BIOLOGY, {"1": 1.0, "2": 0.0}),
        (RUNS[1], BIOLOGY, {"1": 0.2, "2": 0.0}),
        (RUNS[2], BIOLOGY, {"1": 0.5, "2": 0.3}),
        (RUNS[0], PONY, {"1": 0.1}),
        (RUNS[1], PONY, {"1": 0.3}),
    ]
}
LENGTHS = {
    (BIOLOGY, "original"): VariantLengths("original", BIOLOGY, 2, 2, 50.0, 200.0, 50.0, 1.0),
    (BIOLOGY, "gpt4"): VariantLengths("gpt4", BIOLOGY, 2, 2, 1234.0, 5000.0, 50.0, 0.662),
    (BIOLOGY, "lamer"): VariantLengths("lamer", BIOLOGY, 2, 1, 75.0, 300.0, 50.0, None),
}


def lines(scores: Any = SCORES, runs: tuple[Run, ...] = RUNS, lengths: Any = LENGTHS) -> list[VariantLine]:
    return variant_lines((BIOLOGY, PONY), variant_scores(scores, runs), runs, lengths)


def texts(found: list[VariantLine], width: int = 120, *, reading: bool = False) -> list[list[str]]:
    columns = task_columns(found, NDCG, width, "order", False)
    rows = task_rows(found, columns, reading=reading)
    assert all(len(row.cells) == len(columns) for row in rows)
    return [[" ".join(text_of(cell).split()) for cell in row.cells[:-1]] for row in rows]


def test_tasks_by_run() -> None:
    assert texts(lines()) == [
        ["mean of 2", "bm25@original", "3", "20.0", "", "", "", "", "50!", "", ""],
        ["mean of 2", "bm25@gpt4", "3", "30.0", "+10.0", "1", "1 (1)", "1", "1,234!", "24.7", "66 %"],
        ["mean of 1", "dense@gpt4", "2", "40.0", "–", "", "", "", "1,234", "24.7", "66 %"],
        ["biology", "bm25@original", "2", "▼ 10.0", "", "", "", "", "50", "", ""],
        ["biology", "bm25@gpt4", "2", "▲ 50.0", "+40.0", "1", "1 (1)", "0", "1,234", "24.7", "66 %"],
        ["biology", "dense@gpt4", "2", "40.0", "–", "", "", "", "1,234", "24.7", "66 %"],
        ["biology", "no run @lamer", "", "–", "", "", "", "", "75!", "1.5", "–"],
        ["pony", "bm25@original", "1", "▲ 30.0", "", "", "", "", "–", "–", "–"],
        ["pony", "bm25@gpt4", "1", "▼ 10.0", "−20.0", "0", "0 (0)", "1", "–", "–", "–"],
    ]


def test_notes_say_what_is_missing_and_what_to_do() -> None:
    unknown = (*RUNS, run_of(3, "odd", BIOLOGY))
    scores = {**SCORES, (3, BIOLOGY): make_scores(unknown[3], BIOLOGY, {"1": 1.0, "2": 0.0}, unanswered=["2"])}
    notes = [text_of(note) for note in variant_notes(lines(scores, unknown), LENGTHS, reading=False)]
    assert notes == [
        "odd: variant not known, V says which",
        "dense: no run of that name on the original queries, so no Δ. Open one too: NAME@original=PATH, or "
        "bright-inspect retrieve makes it · runs pair by name, open: bm25@original",
        "lists: Δ, wins and losses are over the queries that run and original both have a list for; in the value the "
        "others count as 0",
        "no run with lamer: bright-inspect retrieve --variant NAME[=FILE]",
        "! texts of gpt4 are not at hand for 1 task: --data DIR, or --variant NAME=FILE",
        "! lamer has texts of 1 of 2 queries of biology",
    ]
    assert len(variant_notes(lines(scores, unknown), LENGTHS, reading=True)) == 3, "of texts only what is known"
    partial = {**SCORES}
    del partial[1, PONY]
    found = [text_of(note) for note in variant_notes(lines(partial), {}, reading=True, texts=False)]
    assert found[1] == "bm25@original has no list of pony, so no Δ there"


def test_tasks_without_texts_are_counted_once() -> None:
    runs = (*RUNS, run_of(3, "other@gpt4", BIOLOGY, PONY))
    scores = {**SCORES, (3, PONY): make_scores(runs[3], PONY, {"1": 0.5})}
    notes = [text_of(note) for note in variant_notes(lines(scores, runs), LENGTHS, reading=False)]
    assert "! texts of gpt4 are not at hand for 1 task: --data DIR, or --variant NAME=FILE" in notes


def test_only_originals_says_how_to_compare() -> None:
    scores = {(1, BIOLOGY): SCORES[1, BIOLOGY]}
    notes = variant_notes(variant_lines((BIOLOGY,), variant_scores(scores, RUNS[1:2]), RUNS[1:2], {}), {}, reading=True)
    assert text_of(notes[0]).startswith("only runs on the original queries are open")


def test_lists_that_are_missing_are_counted() -> None:
    scores = {**SCORES, (0, BIOLOGY): make_scores(RUNS[0], BIOLOGY, {"1": 1.0, "2": 0.0}, unanswered=["2"])}
    found = texts(lines(scores), 80)
    assert found[4][2] == "1/2"
    assert found[3][2] == "2"


@pytest.mark.parametrize("width", [80, 120, 200])
@pytest.mark.parametrize("by", ["order", "loss", "run", "growth"])
def test_columns_fit(width: int, by: TaskSort) -> None:
    columns = task_columns(lines(), NDCG, width, by, True)
    assert sum(column.width for column in columns) + len(columns) - 1 <= width - 3
    assert ("n" in [column.key for column in columns]) == (width > 80)
    assert ("bar" in [column.key for column in columns]) == (width == 200)


@pytest.mark.parametrize(
    ("by", "descending", "first", "last"),
    [
        ("delta", True, "bm25@gpt4", None),
        ("delta", False, "bm25@gpt4", None),
        ("value", True, "bm25@gpt4", None),
        ("run", False, "bm25@gpt4", None),
        ("words", True, "bm25@gpt4", "bm25@gpt4"),
        ("kept", False, "bm25@gpt4", None),
        ("win", True, "bm25@gpt4", None),
        ("n", False, "bm25@original", None),
        ("task", True, "bm25@original", None),
    ],
)
def test_means_stay_above_and_what_has_no_value_comes_last(
    by: TaskSort, descending: bool, first: str, last: str | None
) -> None:
    found = sort_lines(lines(), by, descending)
    assert [len(line.tasks) for line in found] == [2, 2, 2, 1, 1, 1, 1, 1, 1]
    assert found[3].run is not None
    assert found[3].run.name.in_full == first
    assert (found[-1].run.name.in_full if found[-1].run and last else None) == last
    assert {line.place for line in found} == {line.place for line in lines()}


def test_best_and_worst() -> None:
    assert extremes({0: 0.5, 1: 0.1, 2: 0.5}) == {0: "▲", 2: "▲", 1: "▼"}
    assert extremes({0: 0.5, 1: 0.5}) == {}
    assert extremes({}) == {}


# --- queries ---------------------------------------------------------------------------------------------------------

ROWS = [
    make_row("1", 1.0, 0.2, 0.5, text="why [/b]", position=0),
    make_row("2", 0.0, 0.4, 0.3, position=1, text="and"),
    make_row("3", 0.6, 0.6, None, position=2, text="who", depths=[100, 100, 0]),
    make_row("4", 0.0, 0.3, 0.9, position=3, text="zzz", depths=[0, 100, 100]),
]
OF = variant_runs(RUNS, (BIOLOGY,))


def test_value_delta_and_marks() -> None:
    columns, window = variant_query_columns(ROWS, OF, 0, 120, "spread", True)
    assert (window.count, window.all) == (3, True)
    cells = [[" ".join(text_of(cell).split()) for cell in variant_query_row(row, columns, OF).cells] for row in ROWS]
    assert cells == [
        ["1", "why [/b]", "▼ 20.0", "▲100.0 +80.0", "50.0", "80.0"],
        ["2", "and", "▲ 40.0", "▼ 0.0 −40.0", "30.0", "40.0"],
        ["3", "who", "60.0", "60.0 0.0", "–", "0.0"],
        ["4", "zzz", "▼ 30.0", "– –", "▲ 90.0", "–"],
    ]
    best = variant_query_row(ROWS[0], columns, OF).cells[3]
    assert "gain" in styles_of(best)


@pytest.mark.parametrize(
    ("by", "descending", "ids", "name"),
    [
        ("spread", True, "1234", "spread between variants"),
        ("gain", True, "1324", "largest gain of a variant"),
        ("loss", False, "2314", "largest loss of a variant"),
        ("value2", True, "4123", "dense@gpt4"),
        ("delta0", False, "2314", "Δ of bm25@gpt4"),
        ("query", False, "2314", "query"),
        ("id", True, "4321", "id"),
    ],
)
def test_orders(by: str, descending: bool, ids: str, name: str) -> None:
    assert "".join(row.key.query_id for row in sort_queries(ROWS, by, descending, OF)) == ids
    assert sort_name(by, OF) == name


def test_a_query_without_a_list_has_no_delta() -> None:
    assert delta_of(ROWS[3], 0, OF) is None
    assert delta_of(ROWS[2], 2, OF) is None
    assert spread_of(ROWS[3], OF) is None, "of bm25 only one variant has a list"


def test_spread_between_systems_where_none_has_two_variants() -> None:
    of = variant_runs((RUNS[0], RUNS[2]), (BIOLOGY,))
    assert spread_of(ROWS[0], of) == pytest.approx(0.5)
    assert spread_of(ROWS[3], of) is None


def many(count: int) -> VariantRuns:
    names = ["bm25@original", *(f"bm25@variant_number_{number}" for number in range(1, count))]
    return variant_runs([run_of(run_id, name, BIOLOGY) for run_id, name in enumerate(names)], (BIOLOGY,))


@pytest.mark.parametrize("width", [80, 120, 200])
def test_every_run_can_be_reached_however_many_there_are(width: int) -> None:
    rows, of = [make_row("1", *[0.1] * 9)], many(9)
    seen: set[str] = set()
    for first in range(9):
        columns, window = variant_query_columns(rows, of, first, width, "spread", True)
        assert sum(column.width for column in columns) + len(columns) - 1 <= width - 3
        assert window.count >= 2
        assert window.first + window.count <= window.of == 9
        assert first >= window.first
        seen |= {column.key for column in columns if column.key.startswith("run")}
    assert len(seen) == 9
    assert window.first + window.count == 9, "no room is left empty at the end"


def test_the_spread_gives_way_to_the_last_run() -> None:
    columns, window = variant_query_columns([make_row("1", 0.1, 0.2, 0.3)], many(3), 0, 80, "spread", True)
    assert window.all
    assert "spread" in [column.key for column in columns]
    columns, window = variant_query_columns([make_row("a" * 40, 0.1, 0.2, 0.3)], many(3), 0, 80, "spread", True)
    assert window.all
    assert "spread" not in [column.key for column in columns]


def test_means_above_the_table() -> None:
    assert text_of(means_line(ROWS, OF, by_task=True)) == ("bm25 37.5 · bm25@gpt4 40.0 +13.3 · dense@gpt4 56.7")
    assert text_of(means_line([], OF, by_task=False)) == ""

"""The Queries screen's rows: sorting, headline, columns and cells."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bright_inspect.domain.findings import Finding
from bright_inspect.presentation.header import top_line
from bright_inspect.presentation.queries import (
    Headline,
    SortKey,
    best_rank_text,
    headline,
    query_columns,
    query_row,
    sort_rows,
)
from tests.unit.making import BIOLOGY, PONY, make_compared, make_row, make_scores, styles_of, text_of

VALUE = st.one_of(st.none(), st.floats(0, 1))
VALUES = st.lists(st.tuples(VALUE, VALUE), max_size=30)


def notes_of(lines: Headline) -> str:
    return " · ".join(text_of(note) for note in lines.notes)


# --- sorting ---------------------------------------------------------------------------------------------------------

ROWS = [
    make_row("a", 0.1, 0.9, text="banana", golds=3, ranks=(5, 1), position=3),
    make_row("b", None, 0.2, text="Apple", golds=1, ranks=(None, 2), position=1),
    make_row("c", 0.9, 0.4, text="cherry", golds=2, ranks=(1, 3), position=2, task=PONY),
    make_row("d", 0.5, 0.5, text="apple", golds=9, ranks=(None, None), position=4),
]


@pytest.mark.parametrize(
    ("by", "descending", "expected"),
    [
        ("change", True, "acdb"),
        ("delta", False, "adcb"),
        ("delta", True, "cdab"),
        (0, True, "cdab"),
        (0, False, "adcb"),
        (1, True, "adcb"),
        ("id", False, "bcad"),
        ("id", True, "dacb"),
        ("query", False, "bdac"),
        ("gold", True, "dacb"),
        ("rank", False, "cabd"),
        ("rank", True, "acbd"),
        ("task", False, "badc"),
    ],
)
def test_sorting(by: SortKey, descending: bool, expected: str) -> None:
    compared = make_compared("qwen", "bm25")
    assert "".join(row.key.query_id for row in sort_rows(ROWS, by, descending, compared)) == expected


@given(VALUES, st.sampled_from(["change", "delta", 0, 1]), st.booleans())
def test_absent_values_come_last_and_none_is_lost(
    values: list[tuple[float | None, float | None]], by: SortKey, descending: bool
) -> None:
    rows = [make_row(str(number), *pair, position=number) for number, pair in enumerate(values)]
    ordered = sort_rows(rows, by, descending, make_compared("qwen", "bm25"))
    assert sorted(row.position for row in ordered) == list(range(len(rows)))
    absent = [None in row.values if isinstance(by, str) else row.values[by] is None for row in ordered]
    assert absent == sorted(absent)
    present = [row.values[by] for row in ordered if isinstance(by, int) and row.values[by] is not None]
    steps = list(itertools.pairwise(present))
    assert all((one >= other) if descending else (one <= other) for one, other in steps)  # type: ignore[operator]


# --- the headline ----------------------------------------------------------------------------------------------------


@given(st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), min_size=1, max_size=30))
def test_the_means_are_those_of_evaluation(values: list[tuple[float, float]]) -> None:
    compared = make_compared("qwen", "bm25")
    rows = [make_row(str(number), *pair) for number, pair in enumerate(values)]
    run, base = (
        make_scores(each, BIOLOGY, {row.key.query_id: row.values[each.run_id] or 0 for row in rows})
        for each in compared.runs
    )
    means = text_of(headline(rows, compared, by_task=False).means)
    assert means.startswith(f"qwen {100 * run.mean:.1f} against bm25 {100 * base.mean:.1f}   Δ = qwen − bm25 = ")


def test_headline() -> None:
    rows = [
        make_row("1", 1.0, 0.0),
        make_row("2", 0.0, 0.0),
        make_row("3", 0.5, 0.5 + 1e-12),
        make_row("4", 0.0, 0.5),
        make_row("5", None, 0.5),
    ]
    lines = headline(rows, make_compared("qwen@gpt4_reason", "bm25@original"), by_task=False)
    assert text_of(lines.means) == "qwen@gpt4_reason 37.5 against bm25 25.0   Δ = qwen@gpt4_reason − bm25 = +12.5"
    assert text_of(lines.short_means) == "qwen@gpt4_reason 37.5 against bm25 25.0   Δ +12.5"
    assert text_of(lines.outcome) == "win 1 · tie 2 (1 both 0) · loss 1"
    assert notes_of(lines) == "they differ in system and variant"


@pytest.mark.parametrize(
    ("run", "baseline", "expected"),
    [
        ("bm25@gpt4_reason", "bm25@original", "they differ in variant"),
        ("qwen@original", "bm25@original", ""),
        ("qwen", "bm25", ""),
        ("qwen", "bm25@original",
         "they differ in system and variant · variant of qwen unknown, name it: v V, or qwen@VARIANT=PATH"),
        ("bm25@x", "bm25", "they differ in variant · variant of bm25 unknown, name it: v V, or bm25@VARIANT=PATH"),
    ],
)  # fmt: skip
def test_what_differs_is_said(run: str, baseline: str, expected: str) -> None:
    lines = headline([make_row("1", 0.5, 0.5)], make_compared(run, baseline), by_task=False)
    assert notes_of(lines) == expected


def test_the_mean_of_tasks() -> None:
    rows = [make_row("1", 0.8, 0.0), make_row("2", 0.4, 0.0), make_row("1", 0.0, 0.3, task=PONY)]
    compared = make_compared("qwen", "bm25")
    assert text_of(headline(rows, compared, by_task=True).means).startswith("qwen 30.0 against bm25 15.0")
    assert text_of(headline(rows, compared, by_task=False).means).startswith("qwen 40.0 against bm25 10.0")
    assert text_of(headline(rows, compared, by_task=True).outcome) == "win 2 · tie 0 (0 both 0) · loss 1"


def test_tasks_of_one_name_in_two_datasets_count_apart() -> None:
    rows = [
        make_row("1", 1.0, task=PONY),
        make_row("2", 1.0, task=PONY),
        make_row("1", 0.0, task=("bright-long", "pony")),
    ]
    assert text_of(headline(rows, make_compared("qwen"), by_task=True).means) == "qwen 50.0"


def test_queries_without_an_answer_are_said() -> None:
    rows = [make_row("1", 0.8, 0.5), make_row("2", 0.0, 0.5, depths=(0, 100)), make_row("3", 0.0, 0.0, depths=(0, 0))]
    lines = headline(rows, make_compared("qwen", "bm25"), by_task=False)
    assert text_of(lines.means).startswith("qwen 26.7 against bm25 33.3")
    assert notes_of(lines) == (
        "qwen answers 1 of 3 queries (mean of those 80.0) · bm25 answers 2 of 3 queries (mean of those 50.0)"
    )
    nothing = headline([make_row("1", 0.0, depths=(0,))], make_compared("qwen"), by_task=False)
    assert notes_of(nothing) == "qwen answers 0 of 1 queries (mean of those –)"


def test_what_tie_order_leaves_open_is_said_of_both_runs() -> None:
    rows = [
        make_row("1", 0.4, 0.5, ties={0: (0.8, 0.2, 0.5)}),
        make_row("2", 0.4, 0.5),
        make_row("3", 1.0, 0.5, task=PONY, ties={1: (0.5, 0.4998, 0.4999)}),
    ]
    compared = make_compared("qwen", "bm25")
    assert notes_of(headline(rows, compared, by_task=True)) == (
        "≈ tie order alone moves qwen between 65.0 and 80.0 (expected 72.5); 1 of 3 queries · "
        "≈ tie order alone moves bm25 by less than 0.1; 1 of 3 queries"
    )
    assert "qwen between 53.3 and 73.3 (expected 63.3)" in notes_of(headline(rows, compared, by_task=False))
    narrow = notes_of(headline(rows, compared, by_task=True, narrow=True))
    assert narrow.startswith("≈ ties: qwen 65.0–80.0, expected 72.5; 1 of 3 queries · ")
    assert notes_of(headline(rows[1:2], compared, by_task=True)) == ""


def test_headlines_of_one_run_of_nothing_and_without_judgments() -> None:
    one = headline([make_row("1", 0.5), make_row("2", 0.1)], make_compared("qwen"), by_task=False)
    assert (text_of(one.means), one.outcome, one.notes) == ("qwen 30.0", (), ())
    assert text_of(headline([make_row("1", None, None)], make_compared("qwen", "bm25"), by_task=False).means) == (
        "qwen  no judgments at hand: give --data DIR or --qrels FILE"
    )
    assert (
        text_of(headline([], make_compared("qwen", "bm25"), by_task=False).means) == "qwen  no query matches the filter"
    )


# --- cells and columns -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("golds", "depth", "rank", "expected"),
    [(2, 100, 1, "1"), (2, 100, None, ">100"), (2, 37, None, ">37"), (2, 0, None, "–"), (0, 100, None, "–")],
)
def test_best_rank(golds: int, depth: int, rank: int | None, expected: str) -> None:
    assert best_rank_text(make_row("1", 0.0, golds=golds, depths=(depth,), ranks=(rank,)), 0) == expected


@pytest.mark.parametrize("runs", [1, 2, 3, 4])
@pytest.mark.parametrize("width", [60, 80, 99, 100, 120, 160, 200])
@pytest.mark.parametrize("tasks", [1, 3])
def test_every_column_has_a_cell(runs: int, width: int, tasks: int) -> None:
    compared = make_compared(*[f"system{number}@gpt4_reason" for number in range(runs)])
    row = make_row("1", *[0.25] * runs, text="one\ntwo")
    columns = query_columns([row], compared, width, "change", True, tasks)
    shown = query_row(row, columns, compared)
    assert len(shown.cells) == len(columns)
    assert len({column.key for column in columns}) == len(columns)
    if width >= 90 or (width >= 80 and runs <= 2):
        assert sum(column.width + 1 for column in columns) - 1 <= width - 3, "nothing is clipped"
    assert ("delta" in [column.key for column in columns]) == (runs > 1)


def test_the_sorted_column_has_the_arrow() -> None:
    compared = make_compared("qwen", "bm25")
    for by, key in [("change", "delta"), ("delta", "delta"), (0, "run0"), ("rank", "rank"), ("id", "id")]:
        columns = query_columns([], compared, 120, by, True, 1)  # type: ignore[arg-type]
        assert [column.key for column in columns if "▼" in text_of(column.title)] == [key]
        columns = query_columns([], compared, 120, by, False, 1)  # type: ignore[arg-type]
        assert [column.key for column in columns if "▲" in text_of(column.title)] == [key]


def test_cells() -> None:
    compared = make_compared("qwen", "bm25")
    row = make_row("37", 0.0, 1.0, text="Why\n  [/foo]?", golds=2, ranks=(None, 1))
    columns = query_columns([row], compared, 120, "change", True, 2)
    cells = dict(zip([column.key for column in columns], query_row(row, columns, compared).cells, strict=True))
    texts = {key: text_of(cell).strip() for key, cell in cells.items()}
    assert texts == {
        "id": "37", "task": "biology", "query": "Why [/foo]?", "run0": "0.0", "run1": "100.0", "delta": "−100.0",
        "bar": "██████│", "gold": "2", "rank": ">100 |     1",
    }  # fmt: skip
    assert styles_of(cells["delta"]) == {"loss"}
    absent = make_row("1", None, None, golds=0, depths=(0, 0))
    values = query_row(absent, columns, compared).cells
    assert [text_of(cell).strip() for cell in values] == [
        "1", "biology", "no text at hand", "–", "–", "–", "", "–", "–  |     –"
    ] or text_of(values[-1]).split() == ["–", "|", "–"]  # fmt: skip


def test_a_value_that_ties_move_is_marked_and_all_values_stay_in_line() -> None:
    compared = make_compared("qwen", "bm25")
    row = make_row("1", 0.5, 0.25, ties={1: (0.5, 0.0, 0.3)})
    columns = query_columns([row], compared, 80, "change", True, 1)
    cells = dict(zip([column.key for column in columns], query_row(row, columns, compared).cells, strict=True))
    assert (text_of(cells["run0"]), text_of(cells["run1"])) == ("50.0 ", "25.0≈")


@pytest.mark.parametrize(("ranks", "style"), [((None, None), "dim"), ((None, 7), ""), ((1, 7), "")])
def test_ranks_are_dim_where_no_gold_was_found(ranks: tuple[int | None, int | None], style: str) -> None:
    compared = make_compared("qwen", "bm25")
    row = make_row("37", 0.0, 0.0, ranks=ranks)
    columns = query_columns([row], compared, 120, "change", True, 1)
    assert styles_of(query_row(row, columns, compared).cells[-1]) == {style}


def test_each_run_keeps_its_colour() -> None:
    compared = make_compared("a", "b", "c", "d", "e")
    assert [compared.style(run) for run in compared.runs] == ["run1", "run2", "run3", "run4", "run1"]


# --- the top line ----------------------------------------------------------------------------------------------------


class FakeSession:
    """As much of a session as the top line looks at."""

    def __init__(self, runs: int, tasks: int, layer: str = "original") -> None:
        self.runs = (None,) * runs
        self.tasks = (BIOLOGY, PONY)[:tasks]
        self.layer = layer


@pytest.mark.parametrize(
    ("names", "tasks", "codes", "width", "left", "right"),
    [
        (["qwen", "bm25"], 2, "", 120, "bright-inspect  2 runs · 2 tasks · 1,384 queries · layer original",
         "nDCG@10  baseline bm25"),
        (["qwen"], 1, "missing-query", 80, "bright-inspect  1 run · biology · 1,384 queries", "nDCG@10  ! 1 finding"),
        (["qwen"], 1, "utf-16 comment-line", 80, "bright-inspect  1 run · biology · 1,384 queries",
         "nDCG@10  ! 2 findings"),
        (["qwen"], 1, "bad-score missing-query bad-rank", 78, "bright-inspect  1 run · biology · 1,384 queries",
         "nDCG@10  ! 3 findings"),
        (["qwen"], 1, "bad-score missing-query bad-rank", 90, "bright-inspect  1 run · biology · 1,384 queries",
         "nDCG@10  ! 2 errors · 3 findings"),
    ],
)  # fmt: skip
def test_top_line(names: list[str], tasks: int, codes: str, width: int, left: str, right: str) -> None:
    session = FakeSession(len(names), tasks)
    findings = [
        Finding(code, "error" if code.startswith("bad") else "warning", "f", "message") for code in codes.split()
    ]
    cells = top_line(session, make_compared(*names), 1384, findings, width)  # type: ignore[arg-type]
    assert (text_of(cells[0]), text_of(cells[1])) == (left, right)
    if codes == "utf-16 comment-line":
        assert cells[1][-1].style == "dim", "what changes nothing does not call"


def test_other_judgments_are_named_on_any_width() -> None:
    session = FakeSession(1, 1, "qrels.fixed.txt")
    assert "layer qrels.fixed.txt" in text_of(top_line(session, make_compared("qwen"), 3, [], 80)[0])  # type: ignore[arg-type]


@pytest.mark.parametrize("by", ["id", "task", "query", 0, 1, "change", "delta", "gold", "rank"])
@pytest.mark.parametrize("width", [80, 100, 120])
def test_titles_fit_with_their_arrow(width: int, by: SortKey) -> None:
    """Run names apart, which may be longer than their column; also beside long ids and task names."""
    compared = make_compared("qwen", "bm25")
    rows = [make_row("TheoremQA_wenhuchen/optics2.json", 0.5, 0.5, task=("bright", "theoremqa_questions"))]
    columns = query_columns(rows, compared, width, by, True, 12)
    assert sum(column.width + 1 for column in columns) - 1 <= width - 3
    for column in columns:
        if not column.key.startswith("run"):
            assert len(text_of(column.title)) <= column.width, column.key

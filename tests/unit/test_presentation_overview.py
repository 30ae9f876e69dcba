"""The Overview screen: a row a task, means over the tasks that runs share, and what must be known to read them."""

from __future__ import annotations

import pytest

from bright_inspect.evaluation.gold_fate import GoldFate
from bright_inspect.evaluation.scores import ExclusionEffect, TaskScores
from bright_inspect.presentation.conditions import exclusion_note
from bright_inspect.presentation.overview import (
    MEAN_ROW,
    opening_measure,
    overview_columns,
    overview_notes,
    overview_rows,
)
from bright_inspect.presentation.queries import Comparison
from bright_inspect.store.collections import TaskKey
from tests.unit.making import BIOLOGY, PONY, make_compared, make_scores, styles_of, text_of

AOPS: TaskKey = ("bright", "aops")
LONG: TaskKey = ("bright-long", "pony")
Scores = dict[tuple[int, TaskKey], TaskScores]


def scores_of(compared: Comparison, values: dict[tuple[int, TaskKey], float]) -> Scores:
    return {key: make_scores(compared.runs[key[0]], key[1], {"1": value}) for key, value in values.items()}


def texts(compared: Comparison, scores: Scores, tasks: list[TaskKey], width: int = 100) -> dict[str, list[str]]:
    columns = overview_columns(compared, width)
    rows = overview_rows(tasks, scores, {}, dict.fromkeys(tasks, 7), compared, columns)
    assert all(len(row.cells) == len(columns) for row in rows)
    return {row.key: [" ".join(text_of(cell).split()) for cell in row.cells[: 2 + len(compared.runs)]] for row in rows}


def test_rows_and_the_mean_over_common_tasks() -> None:
    compared = make_compared("qwen", "bm25")
    scores = scores_of(compared, {(0, BIOLOGY): 0.5, (0, PONY): 0.3, (0, AOPS): 0.1, (1, BIOLOGY): 0.2, (1, PONY): 0.4})
    assert texts(compared, scores, [BIOLOGY, PONY, AOPS]) == {
        "bright/biology": ["biology", "7", "50.0 +30.0", "20.0"],
        "bright/pony": ["pony", "7", "30.0 −10.0", "40.0"],
        "bright/aops": ["aops", "7", "10.0", "–"],
        MEAN_ROW: ["mean of 3 tasks", "", "30.0 +10.0 Δ(2)", "30.0 (2)"],
    }
    notes = [text_of(note) for note in overview_notes(compared, scores, {}, 120)]
    assert notes == ["Δ of means: over the tasks shared with bm25, Δ(n) if n only · (n): the mean of n tasks only"]


def test_no_mean_of_one_task_and_one_for_each_dataset() -> None:
    compared = make_compared("qwen", "bm25")
    scores = scores_of(compared, {(0, BIOLOGY): 0.5, (0, PONY): 0.3, (0, LONG): 0.1, (1, LONG): 0.1})
    shown = texts(compared, scores, [BIOLOGY, PONY, LONG])
    assert [row[0] for row in shown.values()] == [
        "bright/biology", "bright/pony", "bright-long/pony", "mean of 2 bright tasks",
    ]  # fmt: skip
    assert shown["bright-long/pony"][2:] == ["10.0 0.0", "10.0"]
    assert shown[MEAN_ROW][2:] == ["40.0", "–"]
    assert MEAN_ROW not in texts(compared, scores, [BIOLOGY])


def test_one_run_has_no_differences() -> None:
    compared = make_compared("qwen")
    shown = texts(compared, scores_of(compared, {(0, BIOLOGY): 0.5, (0, PONY): 0.3}), [BIOLOGY, PONY])
    assert [row[2] for row in shown.values()] == ["50.0", "30.0", "40.0"]


def test_queries_without_an_answer_are_marked() -> None:
    compared = make_compared("qwen", "bm25")
    scores = scores_of(compared, {(1, BIOLOGY): 0.2})
    scores[0, BIOLOGY] = make_scores(compared.runs[0], BIOLOGY, {"1": 1.0, "2": 0.0}, unanswered=["2"])
    assert texts(compared, scores, [BIOLOGY])["bright/biology"][2:] == ["50.0 +30.0 !", "20.0"]
    assert text_of(overview_notes(compared, scores, {}, 120)[-1]) == (
        "! some queries of the task have no list in the run; they count as 0"
    )


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (["qwen@gpt4_reason", "bm25@original"], "qwen@gpt4_reason also differs from bm25 in variant"),
        (["bm25@gpt4_reason", "bm25@original"], "bm25@gpt4_reason differs from bm25 in variant"),
        (["a@x", "b@y", "bm25@original"], "a@x, b@y also differ from bm25 in variant"),
        (["qwen@original", "bm25@original"], None),
    ],
)
def test_other_variants_are_said(names: list[str], expected: str | None) -> None:
    compared = make_compared(*names)
    notes = [text_of(note) for note in overview_notes(compared, {}, {}, 120)]
    assert notes == ([expected] if expected else [])


def test_the_fate_of_golds() -> None:
    compared = make_compared("qwen", "bm25")
    scores = scores_of(compared, {(0, BIOLOGY): 0.5, (1, BIOLOGY): 0.2, (1, PONY): 0.2})
    columns = overview_columns(compared, 160)
    fates = {(0, BIOLOGY): GoldFate(10, 5, 5), (1, PONY): GoldFate(1, 0, 0)}
    rows = overview_rows([BIOLOGY, PONY], scores, fates, {}, compared, columns)
    assert text_of(rows[0].cells[-1]) == "██████████▒▒▒▒▒░░░░░   50 ·  25 ·  25 %"
    assert text_of(rows[1].cells[-1]) == "–", "the fate is the compared run's"
    assert text_of(columns[-1].title) == "gold of qwen: █≤10 ▒11–100 ░>100"


@pytest.mark.parametrize("runs", [1, 2, 3, 4])
@pytest.mark.parametrize("width", [80, 100, 120, 200])
def test_columns_fit(runs: int, width: int) -> None:
    compared = make_compared(*[f"system{number}@gpt4_reason" for number in range(runs)])
    columns = overview_columns(compared, width)
    assert sum(column.width + 1 for column in columns) - 1 <= width - 3
    if width == 200:
        assert columns[-1].key == "fate"


def test_values_and_differences_never_touch() -> None:
    compared = make_compared("qwen", "bm25")
    shown = texts(compared, scores_of(compared, {(0, BIOLOGY): 0.0, (1, BIOLOGY): 1.0}), [BIOLOGY])
    assert shown["bright/biology"][2] == "0.0 −100.0"


def test_gains_and_losses_have_their_styles() -> None:
    compared = make_compared("a", "b", "bm25")
    scores = scores_of(compared, {(0, BIOLOGY): 0.5, (1, BIOLOGY): 0.1, (2, BIOLOGY): 0.2})
    (row,) = overview_rows([BIOLOGY], scores, {}, {}, compared, overview_columns(compared, 100))
    assert "gain" in styles_of(row.cells[2])
    assert "loss" in styles_of(row.cells[3])
    assert styles_of(row.cells[4]) == {""}


def test_the_opening_measure() -> None:
    assert str(opening_measure([BIOLOGY, LONG])) == "nDCG@10"
    assert str(opening_measure([LONG])) == "R@1"


def test_values_that_tie_order_moves_are_marked_and_the_range_is_said() -> None:
    compared = make_compared("rader", "bm25")
    ties = {"1": (0.9, 0.1, 0.5)}
    scores = {
        (0, BIOLOGY): make_scores(compared.runs[0], BIOLOGY, {"1": 0.3, "2": 0.5}, ties=ties),
        (0, PONY): make_scores(compared.runs[0], PONY, {"1": 0.3}),
        (1, PONY): make_scores(compared.runs[1], PONY, {"1": 0.3}, ties={"1": (0.3004, 0.3, 0.3)}),
    }
    columns = overview_columns(compared, 100)
    rows = {row.key: row for row in overview_rows([BIOLOGY, PONY], scores, {}, {}, compared, columns)}
    marked = {key: [text_of(cell) for cell in row.cells[2:4]] for key, row in rows.items()}
    assert marked == {
        "bright/biology": [" 40.0≈", "   –"],
        "bright/pony": [" 30.0    0.0", " 30.0≈"],
        MEAN_ROW: [" 35.0≈   0.0 Δ(1)", " 30.0≈ (1)"],
    }
    assert [text_of(note) for note in overview_notes(compared, scores, {}, 120)[:2]] == [
        "≈ tie order alone moves rader between 30.0 and 50.0 (expected 40.0)",
        "≈ tie order alone moves bm25 by less than 0.1",
    ]
    assert text_of(overview_notes(compared, scores, {}, 80)[0]) == "≈ ties: rader 30.0–50.0, expected 40.0"


def test_removed_documents_are_counted_and_the_values_with_them_are_said() -> None:
    compared = make_compared("qwen", "bm25")
    scores = scores_of(compared, {(0, BIOLOGY): 0.5, (0, PONY): 0.3, (0, AOPS): 0.1, (1, PONY): 0.2})
    effects = {
        (0, BIOLOGY): ExclusionEffect(1000, 3, 0.45),
        (0, PONY): ExclusionEffect(2, 1, 0.1),
        (0, AOPS): ExclusionEffect(5, 1, 0.1),
        (1, PONY): ExclusionEffect(7, 2, 0.2),
    }
    tasks = [BIOLOGY, PONY, AOPS]
    assert text_of(exclusion_note(compared.runs, scores, effects, tasks)) == (
        "✗ excluded documents removed: 1,007 from qwen (pony 30.0, with them 10.0; biology 50.0, with them 45.0)"
        " · 7 from bm25 (no value changes)"
    )
    assert text_of(exclusion_note(compared.runs[:1], scores, effects, [PONY])) == (
        "✗ excluded documents removed: 2 from qwen (30.0, with them 10.0)"
    )
    assert exclusion_note(compared.runs, scores, {}, tasks) == ()

"""The layers' rows: what they have, for which tasks they count, and what they judge otherwise."""

from __future__ import annotations

import pytest

from bright_inspect.domain.rankings import QueryKey
from bright_inspect.presentation.layers import (
    ChangeRows,
    change_columns,
    changes_title,
    layer_columns,
    layer_lines,
    layer_rows,
)
from bright_inspect.store.layers import JudgmentChange, LayerCounts
from tests.unit.making import BIOLOGY, PONY, text_of

COUNTS = [
    LayerCounts(BIOLOGY, "original", 103, 372, 372),
    LayerCounts(BIOLOGY, "fixed", 103, 1393, 1393),
    LayerCounts(PONY, "original", 112, 2219, 2219),
    LayerCounts(PONY, "mine", 1, 1, 2),
]
CHANGES = [
    JudgmentChange(QueryKey(*BIOLOGY, "7"), "a/b.txt", None, 1),
    JudgmentChange(QueryKey(*BIOLOGY, "7"), "c.txt", 1, 0),
    JudgmentChange(QueryKey(*BIOLOGY, "9"), "d.txt", 1, 2),
]


def test_rows() -> None:
    active = {BIOLOGY: "fixed", PONY: "original"}
    lines = layer_lines(["original", "fixed", "mine"], COUNTS, {"fixed": CHANGES, "mine": []}, active)
    assert [[text_of(cell) for cell in row.cells] for row in layer_rows(lines, 2)] == [
        ["original", "● 1 of 2", "215", "2,591", ""],
        ["fixed", "● 1 of 2", "103", "1,393", "3 pairs in 2 queries"],
        ["mine", "–", "1", "1", "nothing"],
    ]
    assert text_of(layer_columns(lines, 120)[-1].title) == "differs from original"


@pytest.mark.parametrize(("tasks", "said"), [(1, "● yes"), (2, "● all tasks")])
def test_one_layer_differs_from_nothing(tasks: int, said: str) -> None:
    counts = [LayerCounts(task, "original", 1, 1, 1) for task in (BIOLOGY, PONY)[:tasks]]
    lines = layer_lines(["original"], counts, {}, dict.fromkeys((BIOLOGY, PONY)[:tasks], "original"))
    (row,) = layer_rows(lines, tasks)
    assert text_of(row.cells[1]) == said
    assert [column.key for column in layer_columns(lines, 80)] == ["layer", "counts", "queries", "golds"]


@pytest.mark.parametrize("width", [80, 120, 200])
def test_columns_fit_the_dialog(width: int) -> None:
    lines = layer_lines(["original", "fixed"], COUNTS, {"fixed": CHANGES}, {})
    for columns in (layer_columns(lines, width), change_columns()):
        assert sum(column.width + 1 for column in columns) <= min(0.9 * width, 110) - 7


def test_what_changes_gold_has_its_direction() -> None:
    rows = list(ChangeRows(CHANGES))
    assert [[text_of(cell) for cell in row.cells] for row in rows] == [
        ["biology", "7", "a/b.txt", "– → 1"],
        ["biology", "7", "c.txt", "1 → 0"],
        ["biology", "9", "d.txt", "1 → 2"],
    ]
    assert [row.cells[-1][0].style for row in rows] == ["gain", "loss", ""]
    assert changes_title(CHANGES, "fixed", "original") == ("original → fixed: 3 pairs of 2 queries differ, 2 in gold")
    assert changes_title([], "fixed", "fixed") == "fixed is what counts now"
    assert changes_title([], "qrels", "original") == "qrels judges as what counts now (original)"

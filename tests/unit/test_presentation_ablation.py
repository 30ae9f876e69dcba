"""The table of what each sentence is worth."""

from __future__ import annotations

from bright_inspect.domain.measures import parse_measure
from bright_inspect.evaluation.ablation import Ablation, SentenceLoss
from bright_inspect.presentation.ablation import ablation_columns, ablation_rows, ablation_title
from bright_inspect.presentation.cells import STYLE_NAMES
from tests.unit.making import styles_of, text_of

LOSSES = (
    SentenceLoss(0, 9, "Why  is\nit?", 0.25, -0.381, None, 2),
    SentenceLoss(10, 20, "It [/x] was.", 0.7, 0.069, 1, 2),
    SentenceLoss(21, 30, "w " * 300, 0.631, 0.0, 2, 2),
)
ABLATION = Ablation("bm25", parse_measure("nDCG@10"), 100, 0.631, 2, LOSSES)


def test_rows_say_what_a_sentence_is_worth() -> None:
    rows = ablation_rows(ABLATION, LOSSES)
    assert [row.key for row in rows] == ["0", "10", "21"]
    texts = [[text_of(cell) for cell in row.cells] for row in rows]
    assert texts[0] == ["−38.1", "25.0", "2 → >100", "Why is it?"]
    assert texts[1] == ["+6.9", "70.0", "2 → 1", "It [/x] was."]
    assert texts[2][:3] == ["0.0", "63.1", "2"]
    assert texts[2][3].endswith("w w…")
    assert [styles_of(row.cells[0]) for row in rows] == [{"loss"}, {"gain"}, {"dim"}]
    assert [styles_of(row.cells[2]) for row in rows] == [{"loss"}, {"gain"}, {"dim"}]
    assert {span.style for row in rows for cell in row.cells for span in cell} <= set(STYLE_NAMES)


def test_columns_hold_what_stands_in_them() -> None:
    columns = ablation_columns(ABLATION)
    assert [column.key for column in columns] == ["delta", "value", "gold", "sentence"]
    assert columns[-1].elide == "end"
    for row in ablation_rows(ABLATION, LOSSES):
        for column, cell in zip(columns[:-1], row.cells, strict=False):
            assert len(text_of(cell)) <= column.width
            assert len(text_of(column.title)) <= column.width


def test_the_title() -> None:
    assert text_of(ablation_title(ABLATION)) == "nDCG@10 63.1 with all 3 sentences · best gold 2"

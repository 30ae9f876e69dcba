"""Uploads of BRIGHT told by their counts."""

from __future__ import annotations

import pytest

from bright_inspect.domain.names import BRIGHT_TASKS
from bright_inspect.domain.vintages import CURRENT, VINTAGES, vintage_of

JUNE, JULY, BEFORE, NOW, FIXED, MTEB, PRO = VINTAGES


@pytest.mark.parametrize(
    ("task", "queries", "golds", "expected"),
    [
        ("theoremqa_theorems", 65, None, [JUNE]),
        ("theoremqa_theorems", 76, None, [NOW, FIXED, MTEB]),
        ("theoremqa_theorems", 78, None, [JULY]),
        ("theoremqa_questions", 194, None, [NOW, FIXED, MTEB]),
        ("theoremqa_questions", 196, None, [BEFORE]),
        ("theoremqa_questions", 204, None, [JUNE]),
        ("theoremqa_questions", 205, None, [JUNE]),
        ("theoremqa_questions", 206, None, [JULY]),
        ("stackoverflow", None, 819, [JUNE]),
        ("stackoverflow", 117, 478, [NOW]),
        ("stackoverflow", 117, None, [JUNE, NOW, FIXED]),
        ("stackoverflow", None, 580, [FIXED]),
        ("stackoverflow", 115, 529, [PRO]),
        ("sustainable_living", None, 1073, [FIXED]),
        ("pony", None, 2519, [JUNE]),
        ("economics", 103, 800, [NOW, FIXED]),
        ("biology", 7, None, []),
        ("biology", None, None, []),
        ("unheard_of", 103, 372, []),
    ],
)
def test_counts_tell_the_upload(task: str, queries: int | None, golds: int | None, expected: list[object]) -> None:
    assert vintage_of(task, queries, golds) == expected


def test_the_present_upload_is_whole() -> None:
    assert set(CURRENT.queries) == set(CURRENT.golds) == set(BRIGHT_TASKS)
    assert sum(count for (count,) in CURRENT.queries.values()) == 1384


def test_dates_ascend_and_names_differ() -> None:
    assert len({str(vintage) for vintage in VINTAGES}) == len(VINTAGES)
    dates = [vintage.date for vintage in VINTAGES if vintage.date]
    assert dates == sorted(dates)
    assert str(PRO) == "BRIGHT-Pro (yale-nlp/Bright-Pro)"

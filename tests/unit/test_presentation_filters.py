"""The filter line: every term, on values as they stand on screen."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bright_inspect.errors import UsageError
from bright_inspect.presentation.filters import parse_filter
from bright_inspect.presentation.numbers import percent
from tests.unit.making import PONY, make_row

ROWS = [
    make_row("1", 0.5, 0.2, text="Why does the temperature rise?", golds=2, ranks=(1, 4), removed=(0, 3)),
    make_row("2", 0.0, 0.0, text="The same [bold] temperature", golds=1, ranks=(None, None)),
    make_row(
        "37", 0.1, 0.9, text="ozone layer, it's thin, isn't it", golds=12, ranks=(90, 1), ties={0: (0.9, 0.0, 0.4)}
    ),
    make_row(
        "9a",
        0.3,
        0.3,
        text="x=1 and \\frac{a}{b}",
        golds=1,
        ranks=(101, 2),
        task=PONY,
        ties={1: (0.9, 0.0, 0.4)},
        removed=(1, 0),
    ),
    make_row("5", None, 0.4, text="not covered", golds=1, depths=(0, 100), ranks=(None, 2)),
    make_row("6", 0.0, 0.4, text="no answer", golds=1, depths=(0, 100), ranks=(None, 2)),
    make_row("7", None, None, text="nobody judged this", golds=0, ranks=(None, None)),
]


def matching(text: str) -> list[str]:
    wanted = parse_filter(text, 0, 1)
    return [row.key.query_id for row in ROWS if wanted(row)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", ["1", "2", "37", "9a", "5", "6", "7"]),
        ("temperature", ["1", "2"]),
        ("TEMPERATURE rise", ["1"]),
        ('"the temperature"', ["1"]),
        ('"temperature the"', []),
        ("[bold]", ["2"]),
        ("37", ["37"]),
        ("id:9A", ["9a"]),
        ("id:9", []),
        ("task:pony", ["9a"]),
        ("task:PON", ["9a"]),
        ("task:bio win", ["1"]),
        ("win", ["1"]),
        ("loss", ["37", "6"]),
        ("tie", ["2", "9a"]),
        ("both-zero", ["2"]),
        ("delta<-30", ["37", "6"]),
        ("delta<−30", ["37", "6"]),
        ("delta=30", ["1"]),
        ("delta>=+30", ["1"]),
        ("delta!=0", ["1", "37", "6"]),
        ("DELTA>0", ["1"]),
        ("run>=50", ["1"]),
        ("run=0", ["2", "6"]),
        ("base=0", ["2"]),
        ("base>20.5", ["37", "9a", "5", "6"]),
        ("gold>10", ["37"]),
        ("gold=0", ["7"]),
        ("gold<=1 base>0", ["9a", "5", "6"]),
        ("rank(gold)<=10", ["1"]),
        ("rank(gold)<=100", ["1", "37"]),
        ("rank(gold)=101", ["9a"]),
        ("temperature delta>0", ["1"]),
        ("tied", ["37", "9a"]),
        ("Tied loss", ["37"]),
        ("excluded", ["1", "9a"]),
        ("excluded tied", ["9a"]),
    ],
)
def test_terms(text: str, expected: list[str]) -> None:
    assert matching(text) == expected


def test_golds_that_are_not_listed_are_beyond_every_rank() -> None:
    """Also where the run has no list; but a query without golds, or a task the run does not cover, has no rank."""
    assert matching("rank(gold)>100") == ["2", "9a", "6"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("it's thin", ["37"]),
        ("it's", ["37"]),
        ("isn't it's", ["37"]),
        (r"\frac{a}", ["9a"]),
        ('"unfinished', []),
        ('"the temp', []),
    ],
)
def test_apostrophes_and_backslashes_are_letters(text: str, expected: list[str]) -> None:
    assert matching(text) == expected


@pytest.mark.parametrize("text", ["delta<", "delta<x", "Delta<>3", "foo>3", "rank(gold)=", "ndcg@10", "gold>ten"])
def test_terms_that_are_none(text: str) -> None:
    if text == "ndcg@10":
        assert matching(text) == []
        return
    with pytest.raises(UsageError) as raised:
        parse_filter(f"temperature {text}", 0, 1)
    assert text in str(raised.value)
    assert "delta<-30" in raised.value.hint


def test_values_are_compared_as_they_stand_on_screen() -> None:
    rows = [make_row("a", 0.30049, 0.0), make_row("b", 0.2995, 0.0), make_row("c", 0.00049, 0.0)]
    assert [percent(row.values[0]) for row in rows] == ["30.0", "29.9", "0.0"] or percent(0.2995) == "30.0"
    for row in rows:
        assert parse_filter(f"run={percent(row.values[0])}", 0, 1)(row)
        assert parse_filter(f"delta={percent(row.values[0])}", 0, 1)(row)
    assert parse_filter("run=0", 0, 1)(rows[2])
    assert not parse_filter("tie", 0, 1)(rows[2]), "a tie is one by the tally's tolerance, not by rounding"


@given(st.floats(0, 1))
def test_any_value_is_found_by_what_is_shown(value: float) -> None:
    assert parse_filter(f"run={percent(value)}", 0, 1)(make_row("a", value, 0.0))


@given(st.text(max_size=30))
def test_anything_can_be_typed(text: str) -> None:
    try:
        wanted = parse_filter(text, 0, 1)
    except UsageError:
        return
    assert {wanted(row) for row in ROWS} <= {True, False}


def test_the_text_is_kept() -> None:
    assert parse_filter("  win  x ", 0, 1).text == "win  x"

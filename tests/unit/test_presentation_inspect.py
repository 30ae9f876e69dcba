"""The lists of the Inspect screen: marks, ties, moves, the merged list."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bright_inspect.domain.pages import page_of, page_stem, siblings
from bright_inspect.domain.rankings import RankedDoc, Ranking
from bright_inspect.presentation.cells import Column, TableRow
from bright_inspect.presentation.inspect import (
    RankingRows,
    gold_ranks_text,
    mark_of,
    merged_columns,
    merged_rows,
    merged_title,
    pane_title,
    rank_text,
    ranking_columns,
    tie_brackets,
)
from bright_inspect.store.query_view import QueryView
from tests.support import opened_runs
from tests.unit.making import make_compared, make_ranking, make_row, make_view, styles_of, text_of


def ranked(view: QueryView, ranking: Ranking, baseline: Ranking | None, columns: list[Column]) -> list[TableRow]:
    """All rows of a list."""
    rows = RankingRows(view, ranking, baseline, columns)
    return [rows[index] for index in range(len(rows))]


def test_marks() -> None:
    ranking = make_ranking(0, "a", "b", "c", "d", "e", "f", excluded=["f"])
    view = make_view(ranking, judged={"a": 1, "b": 3, "c": 0, "z": -1}, siblings=["d"])
    rows = ranked(view, ranking, None, ranking_columns(False, 60))
    assert [(row.key, text_of(row.cells[0])) for row in rows] == [
        ("a", "★"), ("b", "★3"), ("c", "○"), ("d", "≡"), ("e", "·"), ("f", "✗"),
    ]  # fmt: skip
    assert [text_of(row.cells[1]).strip() for row in rows] == ["1", "2", "3", "4", "5", ""]
    assert styles_of(rows[0].cells[2]) == {"gold"}
    assert styles_of(rows[5].cells[2]) == {"struck"}
    assert mark_of(view, "z").text == "○"


def test_moves() -> None:
    ours = make_ranking(0, "a", "b", "c", "d", "x", excluded=["x"])
    theirs = make_ranking(1, "b", "a", "c", *[f"other{number}" for number in range(97)])
    view = make_view(ours, theirs)
    columns = ranking_columns(True, 60)
    rows = ranked(view, ours, theirs, columns)
    moves = [text_of(row.cells[-1]) for row in rows]
    assert moves == ["▲ 1", "▼ 1", "=", "▲ >100", ""]
    assert [styles_of(row.cells[-1]) for row in rows] == [{"gain"}, {"loss"}, {"dim"}, {"dim"}, set()]
    assert {text_of(row.cells[-1]) for row in ranked(view, ours, None, columns)} == {""}
    assert len(ranked(view, ours, theirs, ranking_columns(False, 60))[0].cells) == 4
    assert [column.key for column in ranking_columns(True, 35)] == ["mark", "rank", "id"], "no room for more"


@pytest.mark.parametrize(
    ("scores", "expected"),
    [
        ([], []),
        ([1.0], [""]),
        ([3.0, 2.0, 2.0, 2.0, 1.0], ["", "┌", "│", "└", ""]),
        ([2.0, 2.0, 1.0, 1.0], ["┌", "└", "┌", "└"]),
        ([1.0 + 1e-9, 1.0], ["┌", "└"]),
        ([float("inf"), float("inf"), 0.0, -0.0], ["┌", "└", "┌", "└"]),
        ([1e300, 1e200], ["┌", "└"]),
    ],
)
def test_tie_brackets(scores: list[float], expected: list[str]) -> None:
    docs = [RankedDoc(number, number, str(number), score, None) for number, score in enumerate(scores, 1)]
    assert tie_brackets(docs) == expected


@given(st.lists(st.sampled_from([0.1, 0.1 + 1e-10, 0.2, 1.0, 1.0 + 1e-8, -3.0, 1e39, float("inf")]), max_size=12))
def test_brackets_join_what_ties_as_float32(values: list[float]) -> None:
    scores = sorted(values, reverse=True)
    docs = [RankedDoc(number, number, str(number), score, None) for number, score in enumerate(scores, 1)]
    with np.errstate(over="ignore"):
        singles = [float(np.float32(score)) for score in scores]
    for index, bracket in enumerate(tie_brackets(docs)):
        assert (bracket in ("│", "└")) == (index > 0 and singles[index - 1] == singles[index])
        assert (bracket in ("│", "┌")) == (index + 1 < len(singles) and singles[index + 1] == singles[index])


@pytest.mark.parametrize(
    ("scores", "expected"),
    [
        ([0.71, 0.7], ["0.710", "0.700"]),
        ([21.4, 9.25], ["21.40", "9.25"]),
        ([3.0, 2.0], ["3", "2"]),
        ([1234.5, -3.25], ["1234.5", "-3.2"]),
        ([123456.5, -3.25], ["123456", "-3"]),
        ([1.5e9, -2.0], ["1.5e+09", "-2e+00"]),
        ([float("inf"), 0.25], ["inf", "0.250"]),
        ([0.0, -0.5], ["0.000", "-0.500"]),
    ],
)
def test_scores_have_the_same_decimals(scores: list[float], expected: list[str]) -> None:
    ranking = make_ranking(0, "a", "b", scores=scores)
    rows = ranked(make_view(ranking), ranking, None, ranking_columns(False, 60))
    assert [text_of(row.cells[3]) for row in rows] == expected
    assert all(len(text) <= 7 for text in expected)


@given(st.lists(st.floats(allow_nan=False), min_size=1, max_size=5))
def test_any_score_can_be_shown(values: list[float]) -> None:
    scores = sorted(values, reverse=True)
    ranking = make_ranking(0, *map(str, range(len(scores))), scores=scores)
    for row in ranked(make_view(ranking), ranking, None, ranking_columns(False, 60)):
        assert 0 < len(text_of(row.cells[3])) <= 7, "the column has room for it"


def test_ranks() -> None:
    ranking = make_ranking(0, "a", "b", "c", excluded=["b"], deep={"deep": 1500})
    view = make_view(ranking, None, judged={"a": 1, "deep": 1, "lost": 1})
    assert [rank_text(view, 0, doc_id) for doc_id in ("a", "b", "c", "deep", "lost")] == [
        "1", "excl.", "2", "1500", ">2",
    ]  # fmt: skip
    assert rank_text(view, 1, "a") == "–"


def test_gold_ranks() -> None:
    compared = make_compared("qwen", "bm25")
    docs = [f"d{number}" for number in range(1, 101)]
    judged = dict.fromkeys(["d4", "d1", "x", "y", "z"], 1) | {"d2": 0}
    view = make_view(make_ranking(0, *docs), None, judged=judged)
    assert gold_ranks_text(view, compared.runs[0]) == "1, 4, 3 × >100"
    assert gold_ranks_text(view, compared.runs[1]) == "no list"
    many = make_view(make_ranking(0, *docs), judged=dict.fromkeys([*docs[:7], "x"], 1))
    assert gold_ranks_text(many, compared.runs[0]) == "1, 2, 3, 4, 5, …, >100"
    none = make_view(make_ranking(0, "d9"), judged={"x": 1})
    assert gold_ranks_text(none, compared.runs[0]) == ">1"


def test_pane_titles() -> None:
    compared = make_compared("qwen", "bm25")
    view = make_view(make_ranking(0, "a"), make_ranking(1, "b"), judged={"a": 1})
    titles = [text_of(pane_title(view, run, compared, make_row("1", 1.0, 0.25), 60)) for run in compared.runs]
    assert titles == ["qwen  nDCG@10 100.0  Δ +75.0  ★ 1", "bm25  nDCG@10 25.0  baseline  ★ >1"]
    unscored = make_view(make_ranking(0, "a"), make_ranking(1, "b"))
    titles = [text_of(pane_title(unscored, run, compared, make_row("1", None, None), 60)) for run in compared.runs]
    assert titles == ["qwen  nDCG@10 –", "bm25  nDCG@10 –  baseline"]
    single = make_compared("qwen")
    assert text_of(pane_title(unscored, single.runs[0], single, make_row("1", 0.5), 60)) == "qwen  nDCG@10 50.0"


def test_titles_tell_the_range_over_ties_and_leave_out_what_does_not_fit() -> None:
    compared = make_compared("qwen", "bm25")
    view = make_view(make_ranking(0, "a", "b", "c"), make_ranking(1, "b"), judged={"a": 1, "b": 1, "c": 1})
    row = make_row("1", 1.0, 0.25, ties={0: (1.0, 0.5, 0.75)})
    pane = [text_of(pane_title(view, compared.runs[0], compared, row, width)) for width in (80, 56, 50, 20)]
    start = "qwen  nDCG@10 100.0 ≈ 50.0–100.0, 75.0  Δ +75.0"
    assert pane == [f"{start}  ★ 1, 2, 3", f"{start}  ★ 1, …", start, "qwen  100.0 ≈ 50.0–100.0  Δ +75.0"]
    merged = [text_of(merged_title(view, compared, row, width)) for width in (80, 60, 30)]
    assert merged == [
        "nDCG@10  qwen 100.0 +75.0 ≈ 50.0–100.0, 75.0 ★ 1, 2, …  bm25 25.0 ★ 1, 2 × >1",
        "nDCG@10  qwen 100.0 +75.0 ≈ 50.0–100.0, 75.0  bm25 25.0",
        "nDCG@10  qwen 100.0 +75.0 ≈ 50.0–100.0  bm25 25.0",
    ]


def test_the_merged_list() -> None:
    compared = make_compared("qwen", "bm25")
    ours = make_ranking(0, "a", "b", "c", "d", excluded=["b"])
    theirs = make_ranking(1, "c", "x", "a", "y", deep={"lost": 700})
    view = make_view(ours, theirs, judged={"x": 1, "d": 2, "lost": 1}, siblings=["a"])
    rows = merged_rows(view, compared, 2)
    assert [[text_of(cell) for cell in row.cells] for row in rows] == [
        ["≡", "1", "3", "▲ 2", "a"],
        ["·", "2", "1", "▼ 1", "c"],
        ["✗", "excl.", ">4", "", "b"],
        ["★", ">3", "2", "", "x"],
        ["★2", "3", ">4", "▲ >4", "d"],
        ["★", ">3", "700", "", "lost"],
    ]
    assert len(merged_columns(compared)) == len(rows[0].cells)


def test_the_merged_list_of_one_run_and_of_none() -> None:
    single = make_compared("qwen")
    view = make_view(make_ranking(0, "a", "b"), judged={"z": 1})
    assert [[text_of(cell) for cell in row.cells] for row in merged_rows(view, single, 1)] == [
        ["·", "1", "a"], ["★", ">2", "z"],
    ]  # fmt: skip
    assert len(merged_columns(single)) == 3
    assert merged_rows(make_view(None), single, 10) == []


def test_among_equals_the_compared_run_comes_first() -> None:
    view = make_view(make_ranking(0, "z", "y"), make_ranking(1, "a", "b"))
    assert [row.key for row in merged_rows(view, make_compared("qwen", "bm25"), 10)] == ["z", "a", "y", "b"]
    other_way = make_compared("qwen", "bm25", run=1, baseline=0)
    assert [row.key for row in merged_rows(view, other_way, 10)] == ["a", "z", "b", "y"]


@given(st.lists(st.sampled_from("abcdefgh"), unique=True), st.lists(st.sampled_from("abcdefgh"), unique=True))
def test_the_merged_list_has_every_top_document_and_gold_once(one: list[str], other: list[str]) -> None:
    compared = make_compared("qwen", "bm25")
    view = make_view(make_ranking(0, *one), make_ranking(1, *other), judged={"h": 1, "lost": 1})
    keys = [row.key for row in merged_rows(view, compared, 3)]
    assert len(keys) == len(set(keys))
    assert set(keys) == {*one[:3], *other[:3], "h", "lost"}


@pytest.mark.parametrize(
    ("doc_id", "page"),
    [
        ("topic/Page_3.txt", "topic/Page"),
        ("topic/Page_3", "topic/Page"),
        ("topic/Page3.txt", "topic/Page"),
        ("topic/Page6_1.txt", "topic/Page"),
        ("topic/Page__2_1.txt", "topic/Page"),
        ("topic/Page_1_12.txt", "topic/Page_1"),
        ("topic/Year20223.txt", "topic/Year2022"),
        ("topic/Page.txt", None),
        ("topic/Page_.txt", None),
        ("topic/Page_3_.txt", None),
        ("topic/Pages_3.txt", None),
        ("a b/c's #1_0.html", "a b/c's #1"),
        ("", None),
    ],
)
def test_the_page_of_a_passage(doc_id: str, page: str | None) -> None:
    assert page_of(doc_id, {"topic/Page", "topic/Page_1", "topic/Year2022", "a b/c's #1"}) == page


@pytest.mark.parametrize(("task", "least"), [("earth_science", 585), ("stackoverflow", 478), ("biology", 372)])
def test_golds_of_real_tasks_are_known_to_be_of_their_pages(bright_data: Path, task: str, least: int) -> None:
    with opened_runs(bright_data / "runs" / "reasonir" / f"{task}.txt", data=bright_data / "bright") as opening:
        rows = opening.session.cursor.execute("""
            SELECT query_id, list(DISTINCT doc_id), any_value(pages)
            FROM qrels JOIN (SELECT query_id, list(page_id) AS pages FROM gold_pages GROUP BY ALL) USING (query_id)
            GROUP BY query_id""").fetchall()
    assert sum(len(siblings(golds, pages)) for _, golds, pages in rows) == least


def test_siblings() -> None:
    assert page_stem("topic/Page.txt") == "topic/Page"
    assert siblings(["t/P_1.txt", "t/P_20.txt", "t/Q_1.txt", "t/P.txt", "s/P_1.txt"], ["t/P.txt"]) == {
        "t/P_1.txt",
        "t/P_20.txt",
    }
    assert siblings(["t/P_1.txt"], []) == frozenset()

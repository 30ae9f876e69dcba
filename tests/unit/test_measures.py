"""Spellings of measures, and counting wins, ties and losses."""

from __future__ import annotations

import pytest

from bright_inspect.domain.measures import parse_measure, parse_measures
from bright_inspect.domain.tally import Tally, tally
from bright_inspect.errors import UsageError


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("nDCG@10", "nDCG@10"),
        ("NDCG@10", "nDCG@10"),
        ("ndcg_cut_10", "nDCG@10"),
        ("ndcg_cut.10", "nDCG@10"),
        ("ndcg_at_10", "nDCG@10"),
        ("ndcg", "nDCG"),
        ("nDCG", "nDCG"),
        ("MAP@5", "AP@5"),
        ("map_cut_5", "AP@5"),
        ("map_at_5", "AP@5"),
        ("map", "AP"),
        ("AP", "AP"),
        ("Recall@100", "R@100"),
        ("recall_100", "R@100"),
        ("recall.100", "R@100"),
        ("recall_at_100", "R@100"),
        ("R@1", "R@1"),
        ("P@1", "P@1"),
        ("P_5", "P@5"),
        ("precision_at_3", "P@3"),
        ("MRR", "RR"),
        ("recip_rank", "RR"),
        ("RR", "RR"),
        ("RR@10", "RR@10"),
        ("mrr_at_10", "RR@10"),
        ("Judged@10", "Judged@10"),
        (" judged@10 ", "Judged@10"),
    ],
)
def test_spelling(text: str, name: str) -> None:
    assert str(parse_measure(text)) == name


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "unknown measure"),
        ("bpref", "unknown measure"),
        ("nDCG@", "unknown measure"),
        ("nDCG@x", "unknown measure"),
        ("nDCG@-1", "unknown measure"),
        ("10", "unknown measure"),
        ("nDCG@10@5", "unknown measure"),
        ("nDCG@0", "cutoff 0"),
        ("R", "needs a cutoff"),
        ("precision", "needs a cutoff"),
        ("Judged", "needs a cutoff"),
    ],
)
def test_what_is_no_measure(text: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        parse_measure(text)


def test_several_in_one_text_and_repeats_once() -> None:
    assert [str(measure) for measure in parse_measures(["nDCG@10, ndcg_cut_10 RR", "R@5"])] == ["nDCG@10", "RR", "R@5"]


def test_no_text_is_no_measure() -> None:
    assert parse_measures([]) == []


def test_tally() -> None:
    pairs = [(1.0, 0.0), (0.0, 1.0), (0.0, 0.0), (0.5, 0.5), (0.5 + 1e-10, 0.5), (0.5 + 2e-9, 0.5), (0.5, 0.5 + 2e-9)]
    assert tally(pairs) == Tally(win=2, tie=3, tie_both_zero=1, loss=2)
    assert tally(pairs).queries == len(pairs)
    assert tally([]) == Tally(0, 0, 0, 0)

"""Fusion of ranked lists: by hand, against a second implementation, and where scores are odd."""

from __future__ import annotations

import math
import struct
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bright_inspect.errors import UsageError
from bright_inspect.retrieval.fuse import Normalisation, reciprocal_rank_fusion, weighted_score_fusion

Listed = list[tuple[str, int, float]]
INF, NAN = math.inf, math.nan


def listed(**scores: float) -> Listed:
    """A list in this order."""
    return [(doc_id, rank, score) for rank, (doc_id, score) in enumerate(scores.items(), 1)]


def test_reciprocal_ranks_by_hand() -> None:
    # a: 1/61 + 1/63, b: 1/62 + 1/61, c: 1/63, d: 1/62
    fused = reciprocal_rank_fusion([listed(a=9, b=8, c=7), listed(b=0.3, d=0.2, a=0.1)], [1, 1])
    assert [hit.doc_id for hit in fused] == ["b", "a", "d", "c"]
    assert [hit.score for hit in fused] == pytest.approx([0.0325225, 0.0322665, 0.0161290, 0.0158730], abs=1e-7)
    # With k = 0 and weights 1 and 3: a: 1 + 3/3, b: 1/2 + 3, c: 1/3, d: 3/2
    fused = reciprocal_rank_fusion([listed(a=9, b=8, c=7), listed(b=0.3, d=0.2, a=0.1)], [1, 3], k=0)
    assert [(hit.doc_id, round(hit.score, 4)) for hit in fused] == [("b", 3.5), ("a", 2.0), ("d", 1.5), ("c", 0.3333)]


@pytest.mark.parametrize(
    ("normalisation", "expected"),
    [
        # 10, 6, 2 -> 1, 0.5, 0;  0.8, 0.2 -> 1, 0
        ("min-max", {"a": 1.0, "b": 0.5 + 1.0, "c": 0.0, "d": 0.0}),
        # mean 6, deviation sqrt(32/3) -> ±1.2247, 0;  mean 0.5, deviation 0.3 -> 1, -1; what is lacking: the lowest
        ("z-score", {"a": 1.2247449 - 1, "b": 0.0 + 1, "c": -1.2247449 - 1, "d": -1.2247449 - 1}),
        ("none", {"a": 10.0, "b": 6.8, "c": 2.0, "d": 0.2}),
    ],
)
def test_weighted_scores_by_hand(normalisation: Normalisation, expected: dict[str, float]) -> None:
    fused = weighted_score_fusion([listed(a=10, b=6, c=2), listed(b=0.8, d=0.2)], [1, 1], normalisation)
    assert {hit.doc_id: hit.score for hit in fused} == pytest.approx(expected, abs=1e-6)
    assert [hit.doc_id for hit in fused] == sorted(
        expected, key=lambda doc_id: (expected[doc_id], doc_id), reverse=True
    )


def test_weights_count() -> None:
    fused = weighted_score_fusion([listed(a=2, b=1), listed(b=2, a=1)], [0.25, 2])
    assert [(hit.doc_id, hit.score) for hit in fused] == [("b", 2.0), ("a", 0.25)]


@pytest.mark.parametrize(
    ("scores", "normalisation", "expected"),
    [
        ({"a": 3.0, "b": 3.0}, "min-max", {"a": 1.0, "b": 1.0, "z": 0.0}),
        ({"a": -3.0}, "min-max", {"a": 1.0, "z": 0.0}),
        ({"a": 0.1, "b": 0.1, "c": 0.1}, "z-score", {"a": 0.0, "b": 0.0, "c": 0.0, "z": 0.0}),
        ({"a": -3.0}, "z-score", {"a": 0.0, "z": 0.0}),
        ({"a": INF, "b": 4.0, "c": 2.0, "d": -INF}, "min-max", {"a": 1.0, "b": 1.0, "c": 0.0, "d": 0.0, "z": 0.0}),
        ({"a": INF, "b": 4.0, "d": -INF}, "none", {"a": 4.0, "b": 4.0, "d": 4.0, "z": 0.0}),
        ({"a": INF, "d": -INF}, "none", {"a": 1.0, "d": 0.0, "z": 0.0}),
        ({"a": INF, "b": INF}, "min-max", {"a": 1.0, "b": 1.0, "z": 0.0}),
        ({"a": 2.0, "b": NAN, "c": 1.0}, "min-max", {"a": 1.0, "c": 0.0, "z": 0.0}),
        ({"a": NAN}, "z-score", {"z": 0.0}),
        ({"a": 1e308, "b": 0.0, "c": -1e308}, "min-max", {"a": 1.0, "b": 0.5, "c": 0.0, "z": 0.0}),
    ],
)
def test_odd_scores(scores: dict[str, float], normalisation: Normalisation, expected: dict[str, float]) -> None:
    """The second list has one document, which adds nothing by its own score."""
    other: Listed = [("z", 1, 0.0)]
    fused = weighted_score_fusion([listed(**scores), other], [1, 0], normalisation)
    assert {hit.doc_id: hit.score for hit in fused} == pytest.approx(expected)


def test_a_list_without_documents_adds_nothing() -> None:
    assert weighted_score_fusion([[], listed(a=2, b=1)], [5, 1]) == [("a", 1.0), ("b", 0.0)]
    assert reciprocal_rank_fusion([[], []], [1, 1]) == []


def test_ties_are_by_id_descending_and_whatever_the_lists_order() -> None:
    fused = reciprocal_rank_fusion([listed(a=3, b=2, c=1), listed(c=3, a=2, b=1), listed(b=3, c=2, a=1)], [1, 1, 1])
    assert [hit.doc_id for hit in fused] == ["c", "b", "a"]
    assert len({hit.score for hit in fused}) == 1
    one = [[("\uffff", 1, 1.0)], [("\U00010000", 1, 1.0)]]
    assert [hit.doc_id for hit in reciprocal_rank_fusion(one, [1, 1])] == ["\U00010000", "\uffff"], "as bytes"


@pytest.mark.parametrize(
    ("weights", "k", "said"),
    [([1], 60, "1 weights for 2"), ([-1, 1], 60, "weight is -1"), ([NAN, 1], 60, "nan"), ([0, 0], 60, "all weights"),
     ([1, 1], -1, "k is -1"), ([1, 1], INF, "k is inf")],
)  # fmt: skip
def test_what_cannot_be_used(weights: list[float], k: float, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        reciprocal_rank_fusion([listed(a=1), listed(a=1)], weights, k)


# --- a second implementation, document by document

LISTS = st.lists(
    st.dictionaries(st.sampled_from("abcdefgh"), st.floats(-100, 100, width=32), min_size=1).map(
        lambda scores: listed(**dict(sorted(scores.items(), key=lambda item: -item[1])))
    ),
    min_size=1,
    max_size=4,
)


def as_float32(value: float) -> float:
    return float(struct.unpack("f", struct.pack("f", value))[0])


def expected_order(scores: dict[str, float]) -> list[str]:
    return sorted(scores, key=lambda doc_id: (as_float32(scores[doc_id]), doc_id), reverse=True)


def value_of(ranked: Listed, doc_id: str, normalisation: str) -> float:
    scores = {listed_id: score for listed_id, _, score in ranked}
    least, most = min(scores.values()), max(scores.values())
    if normalisation == "none":
        return scores.get(doc_id, 0.0)
    if normalisation == "min-max":
        if doc_id not in scores:
            return 0.0
        return (scores[doc_id] - least) / (most - least) if most > least else 1.0
    mean = sum(scores.values()) / len(scores)
    deviation = (sum((score - mean) ** 2 for score in scores.values()) / len(scores)) ** 0.5
    return (scores.get(doc_id, least) - mean) / deviation if most > least and deviation else 0.0


@given(LISTS, st.lists(st.sampled_from([0.5, 1.0, 3.0]), min_size=4, max_size=4), st.sampled_from([0, 1, 60]))
def test_ranks_as_by_another_implementation(lists: list[Listed], weights: Sequence[float], k: int) -> None:
    weights = weights[: len(lists)]
    found = {hit.doc_id: hit.score for hit in reciprocal_rank_fusion(lists, weights, k)}
    ids = {doc_id for ranked in lists for doc_id, _, _ in ranked}
    expected = {
        doc_id: math.fsum(w / (k + 1 + [d for d, _, _ in ranked].index(doc_id))
                          for ranked, w in zip(lists, weights, strict=True) if doc_id in [d for d, _, _ in ranked])
        for doc_id in ids
    }  # fmt: skip
    assert found == pytest.approx(expected, rel=1e-6)
    assert list(found) == expected_order(expected)


@given(
    LISTS,
    st.lists(st.sampled_from([0.5, 1.0, 3.0]), min_size=4, max_size=4),
    st.sampled_from(["min-max", "z-score", "none"]),
)
def test_scores_as_by_another_implementation(
    lists: list[Listed], weights: Sequence[float], normalisation: Normalisation
) -> None:
    weights = weights[: len(lists)]
    found = {hit.doc_id: hit.score for hit in weighted_score_fusion(lists, weights, normalisation)}
    ids = {doc_id for ranked in lists for doc_id, _, _ in ranked}
    expected = {
        doc_id: math.fsum(
            w * value_of(ranked, doc_id, normalisation) for ranked, w in zip(lists, weights, strict=True)
        )
        for doc_id in ids
    }  # fmt: skip
    assert found == pytest.approx(expected, rel=1e-5, abs=1e-4)
    assert list(found) == expected_order(found)

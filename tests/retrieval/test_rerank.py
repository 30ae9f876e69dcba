"""Lists in a reranker's order: what it does not score stays below, also in float32."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bright_inspect.errors import BrightInspectError
from bright_inspect.retrieval.protocol import Exclusions, Found, Hit, Reranking
from bright_inspect.retrieval.rerank import RerankingRetriever, rerank
from tests.retrieval.encoders import LengthReranker

HITS = [Hit(f"d{place}", 10.0 - place) for place in range(6)]
TEXTS = {"d0": "a", "d1": "abc", "d2": "ab", "d3": "abcd", "d4": "abcde", "d5": "x" * 9}


def ids(hits: list[Hit]) -> list[str]:
    return [hit.doc_id for hit in hits]


def test_the_top_in_the_rerankers_order() -> None:
    reranker = LengthReranker(limit=3)
    hits, what = rerank(reranker, "query", HITS, 4, TEXTS)
    assert ids(hits) == ["d3", "d1", "d2", "d0", "d4", "d5"]
    assert [hit.score for hit in hits[:4]] == [4.0, 3.0, 2.0, 1.0]
    assert [hit.score for hit in hits[4:]] == [0.0, -1.0]
    assert reranker.asked == [("query", ["a", "abc", "ab", "abcd"])]
    assert what == Reranking(scored=4, cut=1, without_text=0)


@pytest.mark.parametrize("top", [6, 7, 1000])
def test_a_top_beyond_the_list(top: int) -> None:
    hits, what = rerank(LengthReranker(), "query", HITS, top, TEXTS)
    assert ids(hits) == ["d5", "d4", "d3", "d1", "d2", "d0"]
    assert what == Reranking(scored=6, cut=None, without_text=0)


def test_documents_without_text_keep_their_order_below() -> None:
    texts = {doc_id: text for doc_id, text in TEXTS.items() if doc_id not in ("d0", "d3")}
    hits, what = rerank(LengthReranker(limit=100), "query", HITS, 5, texts)
    assert ids(hits) == ["d4", "d1", "d2", "d0", "d3", "d5"]
    assert what == Reranking(scored=3, cut=0, without_text=2)
    hits, what = rerank(LengthReranker(), "query", HITS, 3, {})
    assert ids(hits) == ids(HITS)
    assert what == Reranking(scored=0, cut=0, without_text=3)


def test_nothing_to_rerank() -> None:
    reranker = LengthReranker()
    assert rerank(reranker, "query", [], 5, TEXTS) == ([], Reranking(0, 0, 0))
    assert reranker.asked == []


def test_ties_go_by_id() -> None:
    names = ["a", "é", "Z", "\U0001f600", "b"]
    hits, _ = rerank(LengthReranker(), "q", [Hit(name, 1.0) for name in names], 5, dict.fromkeys(names, "same"))
    assert ids(hits) == sorted(names, key=str.encode, reverse=True)


@settings(deadline=None)
@given(
    scores=st.lists(st.floats(-(2.0**100), 2.0**100, width=32), min_size=1, max_size=8),
    below=st.integers(0, 1200),
    data=st.data(),
)
def test_what_is_below_stays_below_in_float32(scores: list[float], below: int, data: st.DataObject) -> None:
    hits = [Hit(f"d{place}", 0.0) for place in range(len(scores) + below)]
    top = len(scores)
    texts = {hit.doc_id: "t" for hit in hits[:top]}
    found, _ = rerank(LengthReranker(scores=scores), "q", hits, top, texts)
    singles = np.array([hit.score for hit in found], dtype=np.float32)
    assert np.isfinite(singles).all()
    assert (np.diff(singles[top - 1 :]) < 0).all()
    assert (np.diff(singles) <= 0).all()
    assert ids(found[top:]) == ids(hits[top:])


@pytest.mark.parametrize(
    ("scores", "message"),
    [
        ([1.0, float("nan"), 2.0], r"length: 1 of 3 scores are no numbers \(nan\)"),
        ([1.0, float("inf"), float("-inf")], r"length: 2 of 3 scores are no numbers \(inf\)"),
        ([1.0, 2.0], "length: it gave 2 scores for 3 documents"),
    ],
)
def test_scores_that_are_none(scores: list[float], message: str) -> None:
    with pytest.raises(BrightInspectError, match=message):
        rerank(LengthReranker(scores=scores), "q", HITS, 3, TEXTS)


def test_numpy_scores_become_floats() -> None:
    scores = list(np.array([0.5, 0.25, 0.75], dtype=np.float32))
    hits, _ = rerank(LengthReranker(scores=scores), "q", HITS, 3, TEXTS)
    assert all(type(hit.score) is float for hit in hits)


class Listed:
    """A retriever of the same list for every text."""

    name, device, provenance = "listed", None, {"k1": 0.9}

    def __init__(self) -> None:
        self.asked: list[tuple[int, Exclusions]] = []

    def search(self, texts: object, k: int, excluded: Exclusions = (), check: object = None) -> list[Found]:
        self.asked.append((k, excluded))
        return [Found(HITS[:k], "" if k <= 6 else "Only 6.") for _ in texts]  # type: ignore[attr-defined]


def test_a_retriever_that_is_reranked() -> None:
    listed, reranker = Listed(), LengthReranker(limit=2)
    asked_texts: list[set[str]] = []

    def texts(doc_ids: object) -> dict[str, str]:
        asked_texts.append(set(doc_ids))  # type: ignore[call-overload]
        return TEXTS

    made = RerankingRetriever(listed, reranker, 4, texts)
    assert (made.name, made.device) == ("listed+length", "cpu")
    assert made.provenance == {
        "k1": 0.9, "retriever": "listed", "reranker": "length", "reranked_top": 4, "reranker_max_length": 2,
    }  # fmt: skip
    first, second = made.search(["a", "b"], 2, [{"d9"}, set()])
    assert ids(list(first.hits)) == ids(list(second.hits)) == ["d3", "d1"], "the depth may be under the top"
    assert listed.asked == [(4, [{"d9"}, set()])]
    assert asked_texts == [{"d0", "d1", "d2", "d3"}]
    assert first.reranking == Reranking(4, 2, 0)
    assert first.shortfall == ""
    (found,) = made.search(["a"], 7)
    assert (ids(list(found.hits)), found.shortfall) == (["d3", "d1", "d2", "d0", "d4", "d5"], "Only 6.")
    (found,) = RerankingRetriever(listed, reranker, 50, texts).search(["a"], 2)
    assert (ids(list(found.hits)), found.shortfall) == (["d5", "d4"], ""), "two were wanted, and two there are"

"""Term parts sum to BM25's scores under both texts; added terms, drift, and recomputed scores."""

from __future__ import annotations

import math
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bright_inspect.domain.rankings import QueryKey, RankedDoc, Ranking
from bright_inspect.errors import BrightInspectError
from bright_inspect.evaluation.live import found_ranking
from bright_inspect.retrieval.bm25 import make_rank_bm25
from bright_inspect.retrieval.protocol import Explains, ExplainsMany, Retriever, ignore_progress, never_stop
from bright_inspect.retrieval.rerank import RerankingRetriever
from bright_inspect.rewriting.added_terms import COMMON, bridge_terms, drift_terms, risen
from bright_inspect.rewriting.recomputed import recompute
from bright_inspect.rewriting.term_changes import TextChange, text_change
from tests.retrieval.corpora import DOCUMENTS, corpus_of, retriever, scores
from tests.rewriting.real import EarthScience

NAMES = ["bm25", "bm25-lucene", "rank-bm25"]
KEY = QueryKey("bright", "earth_science", "0")


def change_of(name: str, folder: Path, original: str, rewrite: str, *doc_ids: str) -> TextChange:
    found = retriever(name, DOCUMENTS, folder)
    return text_change(found, corpus_of(DOCUMENTS), original, rewrite, doc_ids or list(DOCUMENTS))


def assert_sums(change: TextChange, doc_id: str, before: float, after: float) -> None:
    document = change.document(doc_id)

    def same(total: float, wanted: float, scale: float = 0.0) -> bool:
        return math.isclose(total, wanted, rel_tol=1e-9, abs_tol=1e-9 * scale + 1e-12)

    assert same(document.before, before)
    assert same(document.after, after)
    assert same(math.fsum(term.before for term in document.terms), before)
    assert same(math.fsum(term.after for term in document.terms), after)
    total = math.fsum(term.difference for term in document.terms)
    assert same(total, document.difference, max(abs(before), abs(after)))


# --- parts ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_parts_sum_to_the_live_scores_of_real_lists(name: str, earth: EarthScience) -> None:
    found = earth.retriever(name)
    for pair in earth.pairs[::30]:
        lists = [
            {hit.doc_id: hit.score for hit in one.hits} for one in found.search([pair.original, pair.rewrite], 100)
        ]
        shown = list(dict.fromkeys([*lists[0], *lists[1], *pair.golds]))
        change = text_change(found, earth.corpus, pair.original, pair.rewrite, shown)
        assert [*change.doc_ids] == [doc_id for doc_id in shown if doc_id in earth.documents]
        for doc_id in change.doc_ids:
            before, after = (one.get(doc_id, score) for one, score in zip(lists, _scores(change, doc_id), strict=True))
            assert_sums(change, doc_id, before, after)


def _scores(change: TextChange, doc_id: str) -> tuple[float, float]:
    return change.original.scores[doc_id], change.rewrite.scores[doc_id]


words = st.sampled_from(["moon", "moons", "warm", "warming", "the", "Reefs", "l'été", "東京", "3.5", "possibly"])
texts = st.lists(words, max_size=12).map(" ".join)


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=8, deadline=None)
@given(documents=st.lists(texts, min_size=1, max_size=8), original=texts, rewrite=texts)
def test_parts_of_any_texts(name: str, documents: list[str], original: str, rewrite: str) -> None:
    named = {f"d{number}": text for number, text in enumerate(documents)}
    with TemporaryDirectory() as folder:
        found = retriever(name, named, Path(folder))
        change = text_change(found, corpus_of(named), original, rewrite, ["nowhere", *named, "d0"])
        before, after = scores(found, original), scores(found, rewrite)
        assert change.missing == ("nowhere",)
        assert change.doc_ids == tuple(named)
        for doc_id in named:
            assert_sums(change, doc_id, before.get(doc_id, 0.0), after.get(doc_id, 0.0))


def test_long_postings_are_looked_up_as_short_ones_are_read(
    earth: EarthScience, monkeypatch: pytest.MonkeyPatch
) -> None:
    found, pair = earth.retriever("bm25"), earth.pairs[0]
    assert isinstance(found, ExplainsMany)
    assert isinstance(found, Explains)
    listed = [hit.doc_id for hit in found.search([pair.rewrite], 50)[0].hits]
    made = []
    for most in (0, 10, 10_000):
        monkeypatch.setattr("bright_inspect.retrieval.bm25_parts._SHORT", most)
        parts = found.term_parts(pair.rewrite, listed)
        made.append([list(parts.parts(doc_id)) for doc_id in listed])
    assert made[0] == made[1] == made[2]
    assert parts.term_weights(listed[7]) == found.explain(pair.rewrite, listed[7])


def test_a_term_in_both_texts_changes_with_the_query(tmp_path: Path) -> None:
    """BRIGHT's BM25 weighs it by the query's length; plain BM25 by its count alone."""
    original, rewrite = "warm water", "warm water bleaches coral reefs for weeks"
    parts = {term.term: term for term in change_of("bm25", tmp_path, original, rewrite).document("reef").terms}
    assert (parts["warm"].kind, parts["coral"].kind) == ("kept", "added")
    assert 0 < parts["warm"].after < parts["warm"].before
    assert parts["coral"].before == 0.0
    plain = change_of("bm25-lucene", tmp_path, original, rewrite).document("reef")
    assert {term.term: term.difference for term in plain.terms}["warm"] == 0.0
    back = {term.term: term for term in change_of("bm25", tmp_path, rewrite, original).document("reef").terms}
    assert (back["coral"].kind, back["coral"].after, back["coral"].surfaces) == ("removed", 0.0, ("coral",))


def test_terms_say_their_words_and_how_common_they_are(tmp_path: Path) -> None:
    document = change_of("bm25", tmp_path, "tides", "Warming warm warm tides").document("été/Page 1.txt")
    (warm,) = document.terms
    assert (warm.surfaces, warm.tf, warm.documents, warm.share) == (("Warming", "warm"), 2, 3, 3 / 5)


def test_a_reranked_list_is_explained_below_the_reranker_and_others_are_refused(tmp_path: Path) -> None:
    class Nothing:
        name, device, max_length = "nothing", None, None

    found = retriever("bm25", DOCUMENTS, tmp_path)
    reranked = RerankingRetriever(found, Nothing(), 10, lambda ids: {})  # type: ignore[arg-type]
    assert text_change(reranked, corpus_of(DOCUMENTS), "warm", "tides", ["reef"]).doc_ids == ("reef",)
    package: Retriever = make_rank_bm25(corpus_of(DOCUMENTS), tmp_path, ignore_progress, never_stop, "rank_bm25")
    with pytest.raises(BrightInspectError, match="no sums over terms"):
        text_change(package, corpus_of(DOCUMENTS), "warm", "tides", ["reef"])


# --- added terms ------------------------------------------------------------------------------------------------------


def test_bridge_terms_are_added_and_in_a_gold(tmp_path: Path) -> None:
    named = {f"d{number}": f"filler{number}" for number in range(30)} | {
        "gold": "basalt basalt magma", "gold2": "magma lava crust", "drift": "iceland tourism magma",
    }  # fmt: skip
    found = retriever("bm25", named, tmp_path)
    corpus = corpus_of(named)
    change = text_change(
        found, corpus, "lava fields", "lava Basalt basalts magma Iceland", ["gold", "gold2", "lost", "drift"]
    )
    pull = bridge_terms(change, ["gold", "gold2", "lost"], ["drift"])
    assert [(term.term, term.doc_id, term.golds, term.others) for term in pull.over_all.terms] == [
        ("basalt", "gold", 1, 0),
        ("magma", "gold", 2, 1),
    ], "both golds have magma once in three terms; the first is named"
    basalt = pull.over_all.terms[0]
    assert (basalt.surfaces, basalt.times, basalt.tf, basalt.documents) == (("Basalt", "basalts"), 2, 2, 1)
    assert basalt.part == {term.term: term.after for term in change.document("gold").terms}["basalt"]
    assert [term.term for term in pull.in_document("gold2").terms] == ["magma"], "lava was asked for before"
    assert (pull.coverage, pull.of, pull.documents) == ("2 of 3", 3, ("gold", "gold2"))
    assert pull.source == "bm25 index of 33 documents"
    drift = drift_terms(change, ["drift", "gold"], ["gold", "gold2"])
    assert [(term.term, term.golds, term.others) for term in drift.over_all.terms] == [
        ("iceland", 0, 1),
        ("magma", 2, 1),
    ]
    assert bridge_terms(change, [], ["drift"]).over_all.terms == ()
    first = bridge_terms(change, ["gold", "gold2"], most=1).over_all
    assert ([term.term for term in first.terms], first.more) == (["basalt"], 1)


def test_common_terms_are_folded(tmp_path: Path) -> None:
    change = change_of("bm25", tmp_path, "moon", "warm coral")
    pull = bridge_terms(change, ["reef"])
    # One of five documents has coral: all terms of so small a corpus are common.
    assert ([term.term for term in pull.over_all.folded], pull.over_all.terms) == (["coral", "warm"], ())
    assert min(term.share for term in pull.over_all.folded) > COMMON


def test_bridges_of_real_rewrites(earth: EarthScience) -> None:
    found = earth.retriever("bm25")
    with_bridges = 0
    for pair in earth.pairs[::12]:
        before, after = (found_ranking(one, KEY) for one in found.search([pair.original, pair.rewrite], 100))
        rose = risen(before, after, pair.golds)
        change = text_change(found, earth.corpus, pair.original, pair.rewrite, [*pair.golds, *rose])
        pull = bridge_terms(change, pair.golds, rose)
        assert pull.source == "bm25 index of 1,084 of 121,249 documents"
        assert pull.of == len(pair.golds) == len(pull.documents), "the passages at hand have every gold"
        shown = pull.over_all.terms
        with_bridges += bool(shown)
        assert len(shown) <= 10
        assert [term.part for term in shown] == sorted((term.part for term in shown), reverse=True)
        for term in (*shown, *drift_terms(change, rose, pair.golds).over_all.terms):
            assert term.share <= COMMON
            assert term.term not in {each.term for each in change.original.terms}
            assert term.part == pytest.approx(term.part)
            weights = {each.term: each for each in change.document(term.doc_id).terms}
            assert (weights[term.term].after, weights[term.term].tf) == (term.part, term.tf)
        for doc_id in pull.documents:
            terms = pull.in_document(doc_id)
            assert {term.doc_id for term in (*terms.terms, *terms.folded)} <= {doc_id}
    assert with_bridges == len(earth.pairs[::12])


def ranking(*doc_ids: str, excluded: str = "") -> Ranking:
    docs, rank = [], 0
    for place, doc_id in enumerate(doc_ids, 1):
        rank += doc_id != excluded
        docs.append(RankedDoc(None if doc_id == excluded else rank, place, doc_id, 100.0 - place, None))
    return Ranking(0, KEY, tuple(docs), {doc.doc_id: doc.rank for doc in docs}, rank)


def test_what_rose() -> None:
    before, after = ranking("a", "b", "c", "gold"), ranking("new", "gold", "c", "x", "a", "b", excluded="x")
    assert risen(before, after, {"gold"}) == ["new"]
    assert risen(ranking("gold", "z", "c"), ranking("c", "gold", "z"), {"gold"}) == ["c"]
    assert risen(before, after, {"gold"}, depth=0) == []


# --- recomputed scores ------------------------------------------------------------------------------------------------


def test_recomputed_scores_say_how_far_they_are_off(earth: EarthScience) -> None:
    found, pair = earth.retriever("bm25"), earth.pairs[3]
    (one,) = found.search([pair.rewrite], 20)
    docs = list(found_ranking(one, KEY).docs)
    same = recompute(found, earth.corpus, pair.rewrite, docs)
    assert same.reproduced
    assert same.largest == pytest.approx(0, abs=1e-12)
    assert same.coverage == "recomputed over 20 of 20 documents"
    partial = recompute(found, earth.corpus, pair.rewrite, [*docs, RankedDoc(21, 21, "elsewhere", 1.0, None)])
    assert (partial.reproduced, partial.coverage) == (False, "recomputed over 20 of 21 documents")
    other = recompute(found, earth.corpus, pair.original, docs)
    assert not other.reproduced
    assert other.median is not None
    assert other.largest is not None
    assert 0 < other.median < other.largest < 2
    assert [score.doc_id for score in other.scores] == [doc.doc_id for doc in docs]


def test_scores_that_are_zero_or_no_numbers(tmp_path: Path) -> None:
    found, corpus = retriever("bm25", DOCUMENTS, tmp_path), corpus_of(DOCUMENTS)
    docs = [RankedDoc(rank, rank, doc_id, score, None) for rank, (doc_id, score) in enumerate(
        [("reef", math.inf), ("empty", 0.0), ("ozone", 0.0)], 1
    )]  # fmt: skip
    assert [score.difference for score in recompute(found, corpus, "coral", docs).scores] == [2.0, 0.0, 0.0]
    nothing = recompute(found, corpus, "coral", [])
    assert (nothing.largest, nothing.median, nothing.reproduced) == (None, None, False)

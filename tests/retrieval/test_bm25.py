"""BM25 scores are those of gensim, bm25s and rank_bm25 over the same terms; rankings, shortfalls and explanations."""

from __future__ import annotations

import importlib
import math
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import get_args

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bright_inspect.errors import UnreadableInput, UsageError
from bright_inspect.retrieval.analysis import ENGLISH, WHITESPACE, Analysis
from bright_inspect.retrieval.bm25 import Engine, make_rank_bm25
from bright_inspect.retrieval.protocol import Explains, Found, Retriever, ignore_progress, never_stop
from tests.retrieval.corpora import DOCUMENTS, corpus_of, retriever, scores

NAMES = ["bm25", "bm25-lucene", "rank-bm25"]
TOLERANCE = 1e-5

Scorer = Callable[[list[str]], list[float]]
"""A query's terms -> a score a document."""


def gensim_scorer(documents: list[list[str]]) -> Scorer:
    """BRIGHT's own steps up to its index, which only rounds to float32 what is added up here."""
    corpora = importlib.import_module("gensim.corpora")
    models = importlib.import_module("gensim.models")
    dictionary = corpora.Dictionary(documents)
    model = models.LuceneBM25Model(dictionary=dictionary, k1=0.9, b=0.4)
    vectors = [model[dictionary.doc2bow(document)] for document in documents]

    def score(query: list[str]) -> list[float]:
        weights = dict(model[dictionary.doc2bow(query)])
        return [math.fsum(weights.get(term, 0.0) * weight for term, weight in vector) for vector in vectors]

    return score


def bm25s_scorer(documents: list[list[str]]) -> Scorer:
    bm25s = importlib.import_module("bm25s")
    index = bm25s.BM25(method="lucene", k1=0.9, b=0.4, dtype="float64")
    index.index(documents, show_progress=False)
    return lambda query: [float(score) for score in index.get_scores(query)]


def rank_bm25_scorer(documents: list[list[str]]) -> Scorer:
    okapi = importlib.import_module("rank_bm25").BM25Okapi(documents)
    return lambda query: [float(score) for score in okapi.get_scores(query)]


ORACLES: dict[str, tuple[Analysis, Callable[[list[list[str]]], Scorer]]] = {
    "bm25": (ENGLISH, gensim_scorer),
    "bm25-lucene": (ENGLISH, bm25s_scorer),
    "rank-bm25": (WHITESPACE, rank_bm25_scorer),
}


def assert_scores_as_the_oracle(name: str, found: Retriever, documents: dict[str, str], queries: list[str]) -> None:
    analysis, make_scorer = ORACLES[name]

    def terms(text: str) -> list[str]:
        return [term for term, _ in analysis.terms(text)]

    terms_of = {doc_id: terms(text) for doc_id, text in documents.items()}
    known = set().union(*terms_of.values())
    score = make_scorer(list(terms_of.values())) if known else None
    for text in queries:
        # bm25s refuses a query with unknown terms only; none of the oracles scores them.
        query = [term for term in terms(text) if term in known]
        ours = scores(found, text)
        assert set(ours) == {doc_id for doc_id, terms in terms_of.items() if not set(query).isdisjoint(terms)}
        if query and score is not None:
            wanted = dict(zip(documents, score(query), strict=True))
            assert {doc_id: ours.get(doc_id, 0.0) for doc_id in wanted} == pytest.approx(wanted, abs=TOLERANCE, rel=0)


words = st.sampled_from(["moon", "moons", "warm", "warming", "the", "Reefs", "l'été", "東京", "3.5", "possibly"])
texts = st.lists(words, max_size=12).map(" ".join)


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=25, deadline=None)
@given(documents=st.lists(texts, min_size=1, max_size=8), query=texts)
def test_scores_of_small_corpora(name: str, documents: list[str], query: str) -> None:
    named = {f"d{number}": text for number, text in enumerate(documents)}
    with TemporaryDirectory() as folder:
        assert_scores_as_the_oracle(name, retriever(name, named, Path(folder)), named, [query])


@pytest.fixture(scope="module")
def passages(bright_data: Path) -> tuple[dict[str, str], list[str]]:
    """The passages of earth_science at hand, and some of its queries."""
    folder = bright_data / "bright"
    documents = pl.read_parquet(folder / "documents/earth_science-00000-of-00001.parquet", columns=["id", "content"])
    queries = pl.read_parquet(folder / "gpt4_reason/earth_science-00000-of-00001.parquet", columns=["query"])
    return dict(documents.iter_rows()), queries["query"].to_list()[:5]


@pytest.mark.parametrize("name", NAMES)
def test_scores_of_real_passages(name: str, passages: tuple[dict[str, str], list[str]], tmp_path: Path) -> None:
    documents, queries = passages
    found = retriever(name, documents, tmp_path)
    assert_scores_as_the_oracle(name, found, documents, queries)
    assert max(scores(found, queries[0]).values()) > 20, "the tolerance is meant for scores of this size"


def test_rank_bm25_itself_says_the_same(passages: tuple[dict[str, str], list[str]], tmp_path: Path) -> None:
    documents, queries = passages
    excluded = [list(documents)[::3]] * len(queries)
    made = [
        make_rank_bm25(corpus_of(documents), tmp_path, ignore_progress, never_stop, engine)
        for engine in get_args(Engine)
    ]
    ours, theirs = (one.search(queries, 100, excluded) for one in made)
    for mine, other in zip(ours, theirs, strict=True):
        assert [hit.doc_id for hit in mine.hits] == [hit.doc_id for hit in other.hits]
        assert [hit.score for hit in mine.hits] == pytest.approx(
            [hit.score for hit in other.hits], abs=TOLERANCE, rel=0
        )


@pytest.mark.parametrize("name", NAMES)
def test_an_explanation_adds_up(name: str, passages: tuple[dict[str, str], list[str]], tmp_path: Path) -> None:
    documents, queries = passages
    found = retriever(name, documents, tmp_path)
    assert isinstance(found, Explains)
    for hit in found.search(queries[:1], 1000)[0].hits[::100]:
        parts = found.explain(queries[0], hit.doc_id)
        assert sum(part.contribution for part in parts) == pytest.approx(hit.score, abs=1e-9)
        assert all(part.contribution == part.query_weight * part.document_weight for part in parts)
        assert [part.contribution for part in parts] == sorted((part.contribution for part in parts), reverse=True)


def test_an_explanation_names_words_and_counts(tmp_path: Path) -> None:
    found = retriever("bm25-lucene", DOCUMENTS, tmp_path)
    assert isinstance(found, Explains)
    parts = {part.term: part for part in found.explain("Warming, warm zebras?", "été/Page 1.txt")}
    warm = parts["warm"]
    assert (warm.surfaces, warm.query_weight, warm.tf) == (("Warming", "warm"), 2.0, 2)
    # Three of five documents have it; 7 terms here, 38 in all.
    length = sum(1 for _ in ENGLISH.terms(DOCUMENTS["été/Page 1.txt"]))
    mean = sum(1 for text in DOCUMENTS.values() for _ in ENGLISH.terms(text)) / 5
    assert warm.idf == pytest.approx(math.log(6 / 3.5))
    assert warm.document_weight == pytest.approx(warm.idf * 2 / (2 + 0.9 * (0.6 + 0.4 * length / mean)))
    assert (parts["zebra"].contribution, parts["zebra"].idf, parts["zebra"].tf) == (0.0, 0.0, 0)
    with pytest.raises(UsageError, match="'nowhere' is not in the corpus"):
        found.explain("warm", "nowhere")


# --- rankings ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_ties_go_by_document_id_descending_also_at_the_cut(name: str, tmp_path: Path) -> None:
    ids = ["a", "B", "é", "z", "10", "9", "𝑥", "ﬁ"]
    found = retriever(name, {**dict.fromkeys(ids, "same words"), "other": "unlike"}, tmp_path)
    by_bytes = sorted(ids, key=str.encode, reverse=True)
    for k in (1, 3, 8):
        assert [hit.doc_id for hit in found.search(["same"], k)[0].hits] == by_bytes[:k]


@settings(max_examples=40, deadline=None)
@given(documents=st.lists(texts, min_size=1, max_size=12), query=texts, k=st.integers(0, 14), data=st.data())
def test_a_cut_ranking_begins_the_whole_one(documents: list[str], query: str, k: int, data: st.DataObject) -> None:
    named = {f"d{number}": text for number, text in enumerate(documents)}
    excluded = data.draw(st.sets(st.sampled_from([*named, "elsewhere"])))
    with TemporaryDirectory() as folder:
        found = retriever("bm25", named, Path(folder))
        whole = found.search([query], 100)[0].hits
        cut = found.search([query], k, [excluded])[0]
        again = found.search([" ".join(reversed(query.split()))], 100)[0].hits
    assert list(cut.hits) == [hit for hit in whole if hit.doc_id not in excluded][:k]
    assert bool(cut.shortfall) == (len(cut.hits) < k)
    by_id = sorted(whole, key=lambda hit: hit.doc_id.encode(), reverse=True)
    assert list(whole) == sorted(by_id, key=lambda hit: -hit.score)
    assert list(again) == list(whole), "word order changes nothing, not even the last bit"


NO_OTHERS = "of 5 documents can be ranked: the others share no term with the text"
NO_TERM = "The text has no term to search by: it is empty, or of stop words and marks only."


@pytest.mark.parametrize(
    ("text", "k", "excluded", "hits", "shortfall"),
    [
        ("warm", 2, [], 2, ""),
        ("warm", 9, [], 3, f"Only 3 {NO_OTHERS}."),
        ("warm", 3, ["reef", "gone"], 2, f"Only 2 {NO_OTHERS} or are excluded (1)."),
        ("warm", 1, list(DOCUMENTS), 0, f"Only 0 {NO_OTHERS} or are excluded (3)."),
        ("", 5, [], 0, NO_TERM),
        ("the of -- !", 5, [], 0, NO_TERM),
        ("zebra zebra", 5, [], 0, "The corpus has none of the text's 1 term."),
        ("warm", 0, [], 0, ""),
    ],
)
def test_why_there_are_fewer(text: str, k: int, excluded: list[str], hits: int, shortfall: str, tmp_path: Path) -> None:
    (found,) = retriever("bm25", DOCUMENTS, tmp_path).search([text], k, [excluded])
    assert (len(found.hits), found.shortfall) == (hits, shortfall)


def test_k_beyond_the_corpus(tmp_path: Path) -> None:
    found = retriever("bm25", {"a": "warm", "b": "warm reef"}, tmp_path)
    assert found.search(["warm"], 3)[0].shortfall == "The corpus has only 2 documents."
    assert found.search(["warm"], 2, [["a"]])[0].shortfall == "The corpus has only 2 documents (1 excluded)."


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("documents", [{}, {"a": "", "b": " "}])
def test_nothing_to_search_in(name: str, documents: dict[str, str], tmp_path: Path) -> None:
    (found,) = retriever(name, documents, tmp_path).search(["warm"], 5)
    wanted = "The corpus has none of the text's 1 term." if documents else "The corpus has no documents."
    assert found == Found([], wanted)


@pytest.mark.parametrize("engine", get_args(Engine))
def test_documents_that_share_an_id(engine: Engine, tmp_path: Path) -> None:
    corpus = corpus_of([("a", "x"), ("b", "y"), ("a", "z")], name="earth")
    with pytest.raises(UnreadableInput, match="earth: several documents have the id 'a'"):
        make_rank_bm25(
            corpus, tmp_path, ignore_progress, never_stop, "rank_bm25" if engine == "rank_bm25" else "postings"
        )
    assert not list(tmp_path.rglob("*.npy"))


@pytest.mark.parametrize("name", NAMES)
def test_a_very_long_document(name: str, tmp_path: Path) -> None:
    documents = {**DOCUMENTS, "long": "warm water " * 40_000 + "x" * 231_843}
    found = retriever(name, documents, tmp_path)
    assert_scores_as_the_oracle(name, found, documents, ["warm water reef"])
    assert isinstance(found, Explains)
    assert {part.tf for part in found.explain("warm", "long")} == {40_000}


def test_documents_below_zero_are_listed_too(tmp_path: Path) -> None:
    """rank_bm25's floor for idf is negative where most words are in most documents."""
    documents = {"a": "warm water", "b": "warm water", "c": "warm"}
    found = retriever("rank-bm25", documents, tmp_path)
    assert max(scores(found, "warm").values()) < 0
    assert_scores_as_the_oracle("rank-bm25", found, documents, ["warm water"])


def test_half_valid_unicode_is_kept(tmp_path: Path) -> None:
    found = retriever("bm25", {"\ud800": "warm \udfff", "b": "cold"}, tmp_path)
    assert list(scores(found, "warm")) == ["\ud800"]


def test_the_inner_loop_is_scipys_product(tmp_path: Path) -> None:
    """It is not among scipy's documented functions."""
    from scipy.sparse import csc_array
    from scipy.sparse._sparsetools import csc_matvec

    rng = np.random.default_rng(0)
    matrix = csc_array(rng.random((50, 4)) * (rng.random((50, 4)) < 0.3))
    weights, total = rng.random(4), np.zeros(50)
    csc_matvec(50, 4, matrix.indptr, matrix.indices, matrix.data, weights, total)
    assert total == pytest.approx(matrix @ weights)

"""Dense retrieval against brute force, with vectors whose products are exact."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bright_inspect.errors import BrightInspectError
from bright_inspect.retrieval import dense as dense_module
from bright_inspect.retrieval.dense import NumpyScorer
from bright_inspect.retrieval.protocol import ExplainsBySentence, Provenance, Retriever, Sends, never_stop
from tests.retrieval.corpora import DOCUMENTS, corpus_of
from tests.retrieval.encoders import HashEncoder, TableEncoder, Vectors, dense

WORDS = {f"{name}{number}": f"text {number % 40}" for number in range(60) for name in ("d", "é")}


def test_it_is_all_that_a_dense_retriever_offers(tmp_path: Path) -> None:
    made = dense(corpus_of(DOCUMENTS), tmp_path)
    for offered in (Retriever, ExplainsBySentence, Sends, Provenance):
        assert isinstance(made, offered)
    assert made.provenance == {"dimensions": 8}
    assert dense(corpus_of({}), tmp_path).provenance == {"dimensions": None}


@settings(max_examples=60, deadline=None)
@given(
    vectors=st.lists(st.lists(st.integers(-3, 3), min_size=3, max_size=3), min_size=1, max_size=40),
    query=st.lists(st.integers(-3, 3), min_size=3, max_size=3),
    k=st.integers(1, 45),
    excluded=st.sets(st.integers(0, 45)),
    data=st.data(),
)
def test_equals_brute_force(
    vectors: list[list[int]], query: list[int], k: int, excluded: set[int], data: st.DataObject
) -> None:
    names = data.draw(
        st.lists(st.text("abé\U0001f600/_ ", min_size=1), unique=True, min_size=len(vectors), max_size=len(vectors))
    )
    documents = {name: f"text {place}" for place, name in enumerate(names)}
    table: dict[str, list[float]] = {f"text {place}": [*map(float, vector)] for place, vector in enumerate(vectors)}
    encoder = TableEncoder({**table, "query": [*map(float, query)]}, 3)
    barred = {names[place] for place in excluded if place < len(names)} | {"no such document"}
    wanted = [(name, float(np.dot(vectors[place], query))) for place, name in enumerate(names) if name not in barred]
    wanted.sort(key=lambda pair: pair[0].encode(), reverse=True)
    wanted.sort(key=lambda pair: -pair[1])
    with tempfile.TemporaryDirectory() as folder:
        (found,) = dense(corpus_of(documents), Path(folder), encoder).search(["query"], k, [barred])
    assert [tuple(hit) for hit in found.hits] == wanted[:k]
    assert all(type(hit.score) is float for hit in found.hits)
    assert bool(found.shortfall) is (len(wanted) < k)


def test_scores_of_real_numbers(tmp_path: Path) -> None:
    numbers = np.random.default_rng(5).standard_normal((500, 48)).astype(np.float32)
    table = {f"t{place}": row.tolist() for place, row in enumerate(numbers)}
    queries = [f"t{place}" for place in range(40)]
    made = dense(corpus_of({f"d{place}": f"t{place}" for place in range(500)}), tmp_path, TableEncoder(table, 48))
    exact = numbers.astype(np.float64) @ numbers[:40].T.astype(np.float64)
    for place, found in enumerate(made.search(queries, 100)):
        scores = [exact[int(hit.doc_id[1:]), place] for hit in found.hits]
        assert [hit.score for hit in found.hits] == pytest.approx(scores, rel=1e-6, abs=1e-5)
        assert scores == sorted(scores, reverse=True), "the order is that of exact scores"
        assert min(scores) >= np.sort(exact[:, place])[-100]


def test_many_queries_are_found_as_one_by_one(tmp_path: Path) -> None:
    made = dense(corpus_of(WORDS), tmp_path)
    texts = [f"query {number}" for number in range(2 * dense_module._QUERIES_AT_ONCE + 3)]
    excluded = [{f"d{number}", f"é{number % 9}"} for number in range(len(texts))]
    together = made.search(texts, 20, excluded)
    assert together == [
        made.search([text], 20, [barred])[0] for text, barred in zip(texts, excluded, strict=True)
    ]  # fmt: skip
    for found, barred in zip(together, excluded, strict=True):
        assert len(found.hits) == 20
        assert not barred & {hit.doc_id for hit in found.hits}
    assert made.search([], 20) == []


def test_lists_that_are_short_say_why(tmp_path: Path) -> None:
    made = dense(corpus_of(DOCUMENTS), tmp_path)
    (found,) = made.search(["warm"], 9)
    assert (len(found.hits), found.shortfall) == (5, "The corpus has only 5 documents.")
    (found,) = made.search(["warm"], 5, [{"reef", "nothing"}])
    assert (len(found.hits), found.shortfall) == (4, "The corpus has only 5 documents (1 excluded).")
    assert made.search(["warm"], 5)[0].shortfall == ""
    assert made.search(["warm", " \n"], 2)[1] == made.search([""], 2)[0]
    assert made.search([""], 2)[0].shortfall == "The text is empty."
    (found,) = dense(corpus_of({"a": "x"}), tmp_path).search(["warm"], 3, [["a"]])
    assert (list(found.hits), found.shortfall) == ([], "The corpus has only 1 document (1 excluded).")
    for found in dense(corpus_of({}), tmp_path).search(["a", "b"], 3):
        assert (list(found.hits), found.shortfall) == ([], "The corpus has no documents.")


def test_equal_scores_go_by_id(tmp_path: Path) -> None:
    ids = ["a", "Z", "é", "aa", "\U0001f600", "10", "9"]
    made = dense(corpus_of(dict.fromkeys(ids, "the same")), tmp_path)
    (found,) = made.search(["query"], 4)
    assert [hit.doc_id for hit in found.hits] == sorted(ids, key=str.encode, reverse=True)[:4]
    assert len({hit.score for hit in found.hits}) == 1


def test_stopping_between_batches(tmp_path: Path) -> None:
    made = dense(corpus_of(WORDS), tmp_path)
    checks: list[int] = []

    def check() -> None:
        checks.append(1)
        if len(checks) == 3:
            raise InterruptedError

    with pytest.raises(InterruptedError):
        made.search(["a"] * 40, 5, check=check)


def test_queries_that_are_no_numbers_or_of_another_model(tmp_path: Path) -> None:
    class Broken(HashEncoder):
        given: Vectors = np.full((1, 8), np.nan, dtype=np.float32)

        def encode_queries(self, texts: object, check: object = never_stop) -> Vectors:
            return self.given

    encoder = Broken()
    made = dense(corpus_of(DOCUMENTS), tmp_path, encoder)
    with pytest.raises(BrightInspectError, match="the vector of a query holds what is no number"):
        made.search(["a"], 2)
    encoder.given = np.zeros((1, 9), dtype=np.float32)
    with pytest.raises(BrightInspectError, match="a query has 9 dimensions, the documents 8"):
        made.search(["a"], 2)


def test_sentences_are_scored_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def spans(text: str) -> list[tuple[int, int]]:
        return [(place, place + 5) for place in range(0, len(text), 6)]

    monkeypatch.setattr(dense_module, "sentences", spans)
    encoder = HashEncoder(batch_size=2)
    made = dense(corpus_of(DOCUMENTS), tmp_path, encoder)
    document = "one a. two b. three. four. five."[:29]
    encoder.batches.clear()
    checks: list[int] = []
    scores = made.sentence_scores("query", document, lambda: checks.append(1))
    assert [(score.start, score.end) for score in scores] == spans(document)
    wanted = [float(encoder.vector(document[a:b]) @ encoder.vector("query")) for a, b in spans(document)]
    assert [score.score for score in scores] == wanted
    assert [score.read for score in scores] == [True, True, True, True, False]
    assert [len(batch) for batch in encoder.batches] == [2, 2, 1]
    assert len(checks) == 3
    monkeypatch.setattr(dense_module, "sentences", lambda text: [])
    assert made.sentence_scores("query", "") == []


def test_what_is_sent(tmp_path: Path) -> None:
    sent = dense(corpus_of(DOCUMENTS), tmp_path).sent("two words")
    assert (sent.query_prefix, sent.document_prefix, sent.source) == ("q: ", "d: ", "the test")
    assert (sent.max_length, sent.query_tokens) == (12, 3)


def test_stored_vectors_can_be_given_to_torch(tmp_path: Path) -> None:
    """torch warns of arrays that cannot be written; writing does not reach the file."""
    made = dense(corpus_of(DOCUMENTS), tmp_path)
    vectors = made._vectors.vectors
    assert vectors.flags.writeable
    before = vectors.copy()
    vectors[:] = 0
    assert (dense(corpus_of(DOCUMENTS), tmp_path)._vectors.vectors == before).all()
    assert NumpyScorer(before).scores(before[:2]).shape == (2, 5)

"""Models behind an endpoint: what a dense retriever and a reranking get of them."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from bright_inspect.endpoints.errors import EndpointError
from bright_inspect.endpoints.transport import Limits
from bright_inspect.errors import UsageError
from bright_inspect.retrieval.encoder import Encoder
from bright_inspect.retrieval.protocol import ModelOptions, Provenance, Reranker, ignore_progress, never_stop
from bright_inspect.retrieval.served import (
    ServedEncoder,
    ServedReranker,
    is_endpoint_name,
    make_encoder,
    make_reranker,
    parse_endpoint_name,
    served_encoder,
    served_reranker_spec,
)
from tests.retrieval import server as faults
from tests.retrieval.server import ModelServer, model_server, overlap, vector

__all__ = ["model_server"]

MODEL = "bag-of-words"
TEXTS = ["warm water", "the moon and the tides", "ozone"]
QUICK = Limits(connect=1.0, read=5.0, attempts=2, first_wait=0.01)


class Stop(Exception):
    """What a check of a test raises."""


@pytest.fixture
def encoder(model_server: ModelServer) -> Iterator[Callable[..., ServedEncoder]]:
    """Makes encoders, and closes them when the test is over."""
    made: list[ServedEncoder] = []

    def make(options: ModelOptions | None = None, **others: object) -> ServedEncoder:
        made.append(make_encoder(MODEL, model_server.url, options, limits=QUICK, **others))  # type: ignore[arg-type]
        return made[-1]

    yield make
    for each in made:
        each.close()


@pytest.fixture
def reranker(model_server: ModelServer) -> Iterator[Callable[..., ServedReranker]]:
    """Makes rerankers, and closes them when the test is over."""
    made: list[ServedReranker] = []

    def make(options: ModelOptions | None = None) -> ServedReranker:
        made.append(make_reranker(MODEL, model_server.url, options, QUICK))
        return made[-1]

    yield make
    for each in made:
        each.close()


Encoders = Callable[..., ServedEncoder]
Rerankers = Callable[..., ServedReranker]


# Names.


@pytest.mark.parametrize(
    ("name", "model", "url"),
    [
        ("endpoint:m", "m", None),
        ("endpoint:BAAI/bge-m3", "BAAI/bge-m3", None),
        ("endpoint:nomic-embed:v1.5", "nomic-embed:v1.5", None),
        ("endpoint:@cf/baai/bge@v2", "@cf/baai/bge@v2", None),
        ("endpoint:m@http://host:8000/v1", "m", "http://host:8000/v1"),
        ("endpoint:@cf/bge:1@v2@https://host", "@cf/bge:1@v2", "https://host"),
        ("endpoint:m@HTTP://host", "m", "HTTP://host"),
        ("endpoint:m@http-like", "m@http-like", None),
        ("endpoint: m @http://host", "m", "http://host"),
    ],
)
def test_names(name: str, model: str, url: str | None) -> None:
    assert parse_endpoint_name(name) == (model, url)


@pytest.mark.parametrize(
    "name",
    [
        "bm25", "endpoint", "Endpoint:m", "endpoint:", "endpoint: ", "endpoint:@http://host", "endpoint:m@ftp://host",
        "endpoint:m@http://", "endpoint:m@http://u:hush@host", "endpoint:m@http://host?key=hush",
        "endpoint:m@ftp://u:hush@host", "endpoint:m@http://one@http://two",
    ],
)  # fmt: skip
def test_names_that_are_none(name: str) -> None:
    with pytest.raises(UsageError) as raised:
        parse_endpoint_name(name)
    assert "hush" not in str(raised.value)
    assert raised.value.hint


def test_which_names_are_meant_for_a_server() -> None:
    assert is_endpoint_name("endpoint:")
    assert not is_endpoint_name("package.module:factory")


def test_a_name_without_a_url_needs_one(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UsageError, match="BRIGHT_INSPECT_ENDPOINT"):
        served_encoder("endpoint:m")
    assert "BRIGHT_INSPECT_ENDPOINT" in (served_reranker_spec("endpoint:m").needs or "")
    monkeypatch.setenv("BRIGHT_INSPECT_ENDPOINT", "http://host:8000")
    assert served_encoder("endpoint:m").name == "endpoint:m"
    assert served_reranker_spec("endpoint:m").needs is None
    assert served_reranker_spec("endpoint:m").title == "m at http://host:8000"


# Encoding.


def test_an_encoder_of_a_server(encoder: Encoders, model_server: ModelServer) -> None:
    served: Encoder = encoder()
    assert (served.name, served.device, served.devices) == ("endpoint:bag-of-words", None, 1)
    assert (served.batch_size, served.max_length, served.query_tokens("a")) == (32, None, None)
    assert (served.query_prefix, served.document_prefix, served.prefix_source) == ("", "", "none given")
    assert isinstance(served, Provenance)
    assert served.provenance["endpoint"] == model_server.url
    assert model_server.asked == []


def test_vectors_are_of_length_one(encoder: Encoders) -> None:
    vectors = encoder().encode_documents(TEXTS)
    assert vectors.dtype == np.float32
    expected = np.array([vector(text) for text in TEXTS])
    np.testing.assert_allclose(vectors, expected / np.linalg.norm(expected, axis=1, keepdims=True), rtol=1e-6)


@pytest.mark.parametrize("scale", [1e-44, 3e38])
def test_lengths_far_from_one(encoder: Encoders, model_server: ModelServer, scale: float) -> None:
    model_server.fault = faults.value({"data": [{"index": 0, "embedding": [scale, -scale]}]})
    np.testing.assert_allclose(encoder().encode_queries(["a"]), [[0.5**0.5, -(0.5**0.5)]], rtol=1e-6)


def test_texts_go_in_batches_in_their_order(encoder: Encoders, model_server: ModelServer) -> None:
    texts = [f"text number {number}" for number in range(7)]
    served = encoder(ModelOptions(batch_size=3))
    together = encoder().encode_documents(texts)
    model_server.asked.clear()
    np.testing.assert_array_equal(served.encode_documents(texts), together)
    assert [asked.body["input"] for asked in model_server.asked] == [texts[:3], texts[3:6], texts[6:]]
    assert served.encode_documents([]).shape == (0, faults.DIMENSIONS)


def test_prefixes(encoder: Encoders, model_server: ModelServer) -> None:
    served = encoder(ModelOptions(query_prefix="query: ", document_prefix=""))
    assert (served.query_prefix, served.document_prefix, served.prefix_source) == ("query: ", "", "given")
    served.encode_queries(["a"])
    model_server.fault = faults.value({"data": [{"index": 0, "embedding": [1.0] * faults.DIMENSIONS}]})
    served.encode_documents(["b"])
    served.encode_documents([""])
    assert [asked.body["input"] for asked in model_server.asked] == [["query: a"], ["b"], [" "]]


def test_the_key_names_all_that_changes_a_document() -> None:
    def key(model: str = "m", url: str = "http://host:8000/v1", **options: object) -> str:
        return make_encoder(model, url, ModelOptions(**options)).key  # type: ignore[arg-type]

    others = {
        key(),
        key(model="n"),
        key(url="http://host:8001/v1"),
        key(url="http://other:8000/v1"),
        key(url="http://host:8000/other"),
        key(document_prefix="passage: "),
        key(max_length=512),
    }
    assert len(others) == 7
    assert key() == key(url="http://HOST:8000/v1/") == key(query_prefix="q", batch_size=1, device="cpu")


def test_a_vector_of_zeros_is_refused(encoder: Encoders, model_server: ModelServer) -> None:
    with pytest.raises(EndpointError) as raised:
        encoder().encode_documents(["a", "\t"])
    assert raised.value.message == (
        f"{model_server.url} (model {MODEL}) answers a vector of 64 zeros, which has no direction; "
        "expected one with a length."
    )
    assert raised.value.hint


def test_a_model_that_changes_under_way_is_noticed(encoder: Encoders, model_server: ModelServer) -> None:
    served = encoder()
    served.encode_documents(["a"])
    model_server.fault = faults.value({"data": [{"index": 0, "embedding": [1.0, 2.0]}]})
    with pytest.raises(EndpointError, match="vectors of 2 numbers, before of 64"):
        served.encode_queries(["b"])


@pytest.mark.parametrize("at_the_making", [True, False])
def test_encoding_stops(encoder: Encoders, model_server: ModelServer, at_the_making: bool) -> None:
    model_server.fault = faults.silent
    began = time.monotonic()

    def check() -> None:
        if model_server.asked:
            raise Stop

    served = encoder(check=check) if at_the_making else encoder()
    with pytest.raises(Stop):
        served.encode_documents(TEXTS, *([] if at_the_making else [check]))
    assert time.monotonic() - began < 1.0


# Reranking.


def test_a_reranker_of_a_server(reranker: Rerankers, model_server: ModelServer) -> None:
    served: Reranker = reranker()
    assert isinstance(served, Reranker)
    assert isinstance(served, Provenance)
    assert (served.name, served.device, served.max_length) == ("endpoint:bag-of-words", None, None)
    assert served.provenance == {
        "reranker_endpoint": model_server.url,
        "reranker_model": MODEL,
        "reranker_api": "auto",
        "reranker_max_length": None,
    }
    found = served.score("the warm water", TEXTS)
    assert found.scores == [overlap("the warm water", text) for text in TEXTS]
    assert list(found.cut) == [None, None, None]
    assert served.provenance["reranker_api"] == "rerank"


def test_documents_go_in_batches_with_progress(reranker: Rerankers, model_server: ModelServer) -> None:
    seen: list[tuple[int, int]] = []
    texts = [f"water {number}" * number for number in range(5)]
    found = reranker(ModelOptions(batch_size=2)).score(
        "water 1", texts, lambda done, total, message: seen.append((done, total))
    )
    assert found.scores == [overlap("water 1", text) for text in texts]
    assert seen == [(0, 5), (2, 5), (4, 5), (5, 5)]
    assert [asked.body["documents"] for asked in model_server.asked] == [[" ", texts[1]], texts[2:4], texts[4:]]
    assert reranker().score("water", []).scores == []


def test_reranking_stops_between_batches(reranker: Rerankers, model_server: ModelServer) -> None:
    def check() -> None:
        if model_server.asked:
            raise Stop

    with pytest.raises(Stop):
        reranker(ModelOptions(batch_size=1)).score("water", TEXTS, check=check)
    assert len(model_server.asked) == 1


def test_a_reranker_by_its_name(model_server: ModelServer, tmp_path: Path) -> None:
    spec = served_reranker_spec(f"endpoint:{MODEL}@{model_server.origin}", ModelOptions(document_prefix="ozone "))
    assert (spec.name, spec.needs) == (f"endpoint:{MODEL}", None)
    made = spec.make(tmp_path, ignore_progress, never_stop)
    assert made.score("ozone", ["a", "b"]).scores == [1.0, 1.0]
    assert list(tmp_path.iterdir()) == []


def test_no_thread_is_left(encoder: Encoders) -> None:
    encoder().encode_documents(TEXTS)
    for thread in threading.enumerate():
        if thread.name == "endpoint request":
            thread.join(1.0)
            assert not thread.is_alive()

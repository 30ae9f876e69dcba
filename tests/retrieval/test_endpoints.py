"""Clients of model servers against a real one on loopback: what they ask, how they fail, how fast they stop."""

from __future__ import annotations

import gc
import itertools
import re
import subprocess
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from email.utils import formatdate
from typing import Any

import pytest

from bright_inspect.endpoints.addresses import key_for, parse_address, url_from_environment
from bright_inspect.endpoints.client import Endpoint, RerankApi, open_endpoint
from bright_inspect.endpoints.errors import EndpointError
from bright_inspect.endpoints.transport import Limits
from bright_inspect.errors import BrightInspectError, UsageError
from tests.retrieval import server as faults
from tests.retrieval.server import ModelServer, Reply, model_server, other_server, overlap, vector

__all__ = ["model_server", "other_server"]

MODEL = "bag-of-words"
KEY = "sk-secret-0123456789abcdef"
TEXTS = ["warm water", "the moon and the tides", "ozone"]
QUICK = Limits(connect=1.0, read=5.0, attempts=3, first_wait=0.01, longest_wait=1.0)

Open = Callable[..., Endpoint]


class Stop(Exception):
    """What a check of a test raises."""


@pytest.fixture
def connect() -> Iterator[Open]:
    """Opens endpoints, and closes them when the test is over."""
    opened: list[Endpoint] = []

    def connect(url: str, limits: Limits = QUICK, rerank_api: RerankApi = "auto") -> Endpoint:
        opened.append(open_endpoint(url, limits, rerank_api))
        return opened[-1]

    yield connect
    for endpoint in opened:
        endpoint.close()


def failure(call: Callable[[], object]) -> EndpointError:
    """The error of a call: one line of printable text, a hint, and no library's exception behind it."""
    with pytest.raises(EndpointError) as raised:
        call()
    error = raised.value
    assert str(error).isprintable()
    assert error.hint
    assert error.__context__ is None
    assert error.__cause__ is None
    return error


def alive() -> set[threading.Thread]:
    return {thread for thread in threading.enumerate() if thread.name == "endpoint request"}


# What is asked, and what is made of the answer.


@pytest.mark.parametrize("as_base64", [False, True])
def test_embeddings(model_server: ModelServer, connect: Open, as_base64: bool) -> None:
    endpoint = connect(model_server.url)
    assert endpoint.embeddings(MODEL, TEXTS, as_base64=as_base64) == [vector(text) for text in TEXTS]
    (asked,) = model_server.asked
    assert asked.path == "/v1/embeddings"
    assert asked.body == {"model": MODEL, "input": TEXTS} | ({"encoding_format": "base64"} if as_base64 else {})
    assert asked.headers["content-type"] == "application/json"
    assert "authorization" not in asked.headers


def test_nothing_is_asked_for_nothing(model_server: ModelServer, connect: Open) -> None:
    endpoint = connect(model_server.url)
    assert endpoint.embeddings(MODEL, []) == []
    assert endpoint.rerank(MODEL, "query", []) == []
    assert model_server.asked == []


def test_a_max_length_is_sent_only_where_it_is_given(model_server: ModelServer, connect: Open) -> None:
    endpoint = connect(model_server.url)
    endpoint.embeddings(MODEL, TEXTS, max_length=512)
    endpoint.rerank(MODEL, "query", TEXTS, max_length=256)
    assert [asked.body["truncate_prompt_tokens"] for asked in model_server.asked] == [512, 256]


def test_texts_that_no_encoding_has(model_server: ModelServer, connect: Open) -> None:
    connect(model_server.url).embeddings(MODEL, ["a\ud800b", "é\x00"])
    assert model_server.asked[0].body["input"] == ["a?b", "é\x00"]


def test_vectors_are_put_in_order_by_their_index(model_server: ModelServer, connect: Open) -> None:
    model_server.change = lambda answer: {**answer, "data": answer["data"][::-1]}
    assert connect(model_server.url).embeddings(MODEL, TEXTS) == [vector(text) for text in TEXTS]


def test_an_answer_in_pieces(model_server: ModelServer, connect: Open) -> None:
    model_server.fault = faults.in_pieces
    assert connect(model_server.url).embeddings(MODEL, TEXTS) == [vector(text) for text in TEXTS]


@pytest.mark.parametrize(
    ("paths", "tei", "asked"),
    [
        ({"/v1/rerank"}, False, ["/v1/rerank"]),
        ({"/rerank"}, False, ["/v1/rerank", "/rerank"]),
        ({"/rerank"}, True, ["/v1/rerank", "/rerank", "/rerank"]),
        ({"/score"}, False, ["/v1/rerank", "/rerank", "/v1/score", "/score"]),
    ],
    ids=["jina", "unversioned", "tei", "score"],
)
def test_scores_of_any_server_are_found_once(
    model_server: ModelServer, connect: Open, paths: set[str], tei: bool, asked: list[str]
) -> None:
    model_server.paths, model_server.tei = paths, tei
    endpoint = connect(model_server.url)
    wanted = [overlap("the warm water", text) for text in TEXTS]
    assert endpoint.rerank(MODEL, "the warm water", TEXTS) == wanted
    assert len(set(wanted)) == 3
    assert endpoint.rerank(MODEL, "the warm water", TEXTS) == wanted
    assert [request.path for request in model_server.asked] == [*asked, asked[-1]]
    if tei:
        assert model_server.asked[-1].body == {"query": "the warm water", "texts": TEXTS, "raw_scores": True}


@pytest.mark.parametrize("api", ["rerank", "tei", "score"])
def test_an_api_that_is_named_is_the_only_one_tried(model_server: ModelServer, connect: Open, api: RerankApi) -> None:
    model_server.paths, model_server.tei = {"/v1/rerank", "/v1/score"}, api == "tei"
    endpoint = connect(model_server.url, rerank_api=api)
    assert endpoint.rerank(MODEL, "ozone", TEXTS) == [0.0, 0.0, 1.0]
    assert len(model_server.asked) == 1
    model_server.paths = set()
    error = failure(lambda: endpoint.rerank(MODEL, "ozone", TEXTS))
    assert "does not exist (HTTP 404: Not Found)" in error.message


def test_a_connection_is_used_again(model_server: ModelServer, connect: Open) -> None:
    ports: list[int] = []

    def noting(handler: faults.Handler) -> None:
        ports.append(handler.client_address[1])
        faults.in_pieces(handler)

    model_server.fault = noting
    endpoint = connect(model_server.url)
    for _ in range(3):
        endpoint.embeddings(MODEL, TEXTS)
    assert len(ports) == 3
    assert len(set(ports)) == 1


def test_many_threads_may_ask(model_server: ModelServer, connect: Open) -> None:
    endpoint = connect(model_server.url)
    found: dict[int, list[list[float]]] = {}

    def ask(number: int) -> None:
        found[number] = endpoint.embeddings(MODEL, [f"text {number}"])

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == {number: [vector(f"text {number}")] for number in range(8)}


def test_connections_are_closed_with_their_endpoint(model_server: ModelServer) -> None:
    endpoint = open_endpoint(model_server.url, QUICK)
    endpoint.embeddings(MODEL, TEXTS)
    del endpoint
    gc.collect()  # an open socket left behind would be a warning, and so an error


def test_the_http_library_is_loaded_by_the_first_request() -> None:
    code = "import sys, bright_inspect.retrieval.served; print(*sorted({'httpx2', 'numpy', 'ssl'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert set(done.stdout.split()) <= {"ssl"}


# Addresses and keys.


@pytest.mark.parametrize(
    ("url", "places"),
    [
        ("http://host:8000", ["http://host:8000/v1/x", "http://host:8000/x"]),
        ("http://host:8000/", ["http://host:8000/v1/x", "http://host:8000/x"]),
        ("http://HOST:80/v1/", ["http://host/v1/x", "http://host/x"]),
        ("https://host/api/v1", ["https://host/api/v1/x", "https://host/api/x"]),
        ("https://host/api/openai//", ["https://host/api/openai/x", "https://host/api/openai/v1/x"]),
        ("http://[::1]:9", ["http://[::1]:9/v1/x", "http://[::1]:9/x"]),
    ],
)
def test_places_of_a_base_url(url: str, places: list[str]) -> None:
    assert list(parse_address(url).places("x")) == places


@pytest.mark.parametrize("suffix", ["", "/", "/v1", "/v1/"])
def test_a_server_is_found_however_its_url_ends(model_server: ModelServer, connect: Open, suffix: str) -> None:
    connect(model_server.origin + suffix).embeddings(MODEL, TEXTS)
    assert [asked.path for asked in model_server.asked] == ["/v1/embeddings"]


@pytest.mark.parametrize(
    "url",
    [
        "", "host:8000", "ftp://host", "file:///etc/passwd", "http://", "http:///v1", "http://host:99999",
        "http://ho st", "http://host/\nv1", "http://[::1", "https://user:hush@host/v1", "https://hush@host", "http://host/v1?key=hush",
        "http://host#hush", "//user:hush@host", "http://u:hush@host:port",
    ],
)  # fmt: skip
def test_urls_that_are_refused(url: str) -> None:
    with pytest.raises(UsageError) as raised:
        parse_address(url)
    assert "hush" not in str(raised.value)
    assert str(raised.value).isprintable()
    assert raised.value.hint


@pytest.mark.parametrize(
    ("environment", "url"),
    [
        ({}, None),
        ({"OPENAI_API_KEY": "k"}, None),
        ({"OPENAI_BASE_URL": "http://o"}, "http://o"),
        ({"OPENAI_BASE_URL": "http://o", "BRIGHT_INSPECT_ENDPOINT": "http://b"}, "http://b"),
        ({"OPENAI_BASE_URL": "http://o", "BRIGHT_INSPECT_ENDPOINT": ""}, "http://o"),
    ],
)
def test_the_url_of_the_environment(environment: dict[str, str], url: str | None) -> None:
    assert url_from_environment(environment) == url


OURS = {"BRIGHT_INSPECT_ENDPOINT": "http://ours:8000/v1", "BRIGHT_INSPECT_API_KEY": "our-key"}
THEIRS = {"OPENAI_API_KEY": "their-key"}


@pytest.mark.parametrize(
    ("environment", "url", "key"),
    [
        (OURS, "http://ours:8000", "our-key"),
        (OURS | THEIRS, "http://OURS:8000/other/path", "our-key"),
        (OURS, "https://ours:8000", None),
        (OURS, "http://ours:8001", None),
        (OURS, "http://ours.example:8000", None),
        (OURS | THEIRS, "http://elsewhere/v1", None),
        ({"BRIGHT_INSPECT_API_KEY": "our-key"}, "http://elsewhere", None),
        (THEIRS, "https://api.openai.com/v1", "their-key"),
        (THEIRS, "http://api.openai.com/v1", None),
        (THEIRS, "https://api.openai.com.example/v1", None),
        (THEIRS | {"OPENAI_BASE_URL": "https://proxy/v1"}, "https://proxy", "their-key"),
        (THEIRS | {"OPENAI_BASE_URL": "https://proxy/v1"}, "https://api.openai.com/v1", None),
        (THEIRS | {"BRIGHT_INSPECT_ENDPOINT": "https://api.openai.com"}, "https://api.openai.com", "their-key"),
        (OURS | {"OPENAI_BASE_URL": "no URL at all"} | THEIRS, "http://ours:8000", "our-key"),
        ({**OURS, "BRIGHT_INSPECT_API_KEY": " \n"}, "http://ours:8000", None),
    ],
)
def test_a_key_is_for_one_origin(environment: dict[str, str], url: str, key: str | None) -> None:
    found = key_for(parse_address(url), environment)
    assert (found and found.secret) == key


@pytest.mark.parametrize("secret", ["se cret", "secrét", "sec\nret"])
def test_a_key_that_no_header_can_hold(secret: str) -> None:
    with pytest.raises(UsageError) as raised:
        key_for(parse_address("http://ours:8000"), OURS | {"BRIGHT_INSPECT_API_KEY": secret})
    assert "BRIGHT_INSPECT_API_KEY" in raised.value.message
    assert secret not in str(raised.value)


def test_no_url_at_all() -> None:
    with pytest.raises(UsageError, match=r"BRIGHT_INSPECT_ENDPOINT .* OPENAI_BASE_URL .* endpoint:MODEL@URL"):
        open_endpoint()


def test_a_key_is_sent_to_its_server_and_never_shown(
    model_server: ModelServer, connect: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BRIGHT_INSPECT_ENDPOINT", model_server.url)
    monkeypatch.setenv("BRIGHT_INSPECT_API_KEY", KEY)
    model_server.key = KEY
    endpoint = connect("")
    assert len(endpoint.embeddings(MODEL, TEXTS)) == 3
    assert model_server.asked[0].headers["authorization"] == f"Bearer {KEY}"
    assert KEY not in repr(endpoint) + repr(endpoint._key) + str(vars(endpoint))


@pytest.mark.parametrize(
    "fault",
    [
        faults.status(401, {"error": {"message": f"Incorrect API key provided: {KEY}"}}),
        faults.status(403, {"detail": "x" * 190 + KEY}),
        faults.status(500, {"error": f"Bearer {KEY}"}),
        faults.status(400, f"{KEY}{KEY}"),
        faults.status(429, {"message": KEY}, Retry_After=KEY),
        faults.text(f"<html>{KEY}</html>"),
        faults.text("y" * 185 + KEY),
        faults.status(403, " " * 789 + KEY),
        faults.value({"error": KEY}),
        faults.value({KEY: 1}),
        faults.value({"data": [{"index": 0, "embedding": [KEY]}]}),
        faults.value({"data": [{"index": KEY}]}),
        faults.redirect(f"http://user:{KEY}@elsewhere/v1?key={KEY}"),
        faults.redirect(f"http://elsewhere/{KEY}"),
    ],
)
def test_a_key_that_a_server_repeats_is_not_shown(
    model_server: ModelServer, connect: Open, monkeypatch: pytest.MonkeyPatch, fault: Reply
) -> None:
    monkeypatch.setenv("BRIGHT_INSPECT_ENDPOINT", model_server.url)
    monkeypatch.setenv("BRIGHT_INSPECT_API_KEY", KEY)
    model_server.fault = fault
    error = failure(lambda: connect("").embeddings(MODEL, ["one"]))
    written = "".join(traceback.format_exception(error)) + repr(error) + str(error)
    assert KEY[:8] not in written


def test_a_redirection_is_told_and_not_followed(
    model_server: ModelServer, other_server: ModelServer, connect: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BRIGHT_INSPECT_ENDPOINT", model_server.url)
    monkeypatch.setenv("BRIGHT_INSPECT_API_KEY", KEY)
    model_server.fault = faults.redirect(f"{other_server.url}/embeddings?x=1")
    error = failure(lambda: connect(model_server.url).embeddings(MODEL, TEXTS))
    assert f"redirects to {other_server.url}/embeddings (HTTP 307)" in error.message
    assert other_server.asked == []


def test_no_key_goes_to_another_server(
    model_server: ModelServer, other_server: ModelServer, connect: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("BRIGHT_INSPECT_ENDPOINT", "OPENAI_BASE_URL"):
        monkeypatch.setenv(name, model_server.url)
    for name in ("BRIGHT_INSPECT_API_KEY", "OPENAI_API_KEY"):
        monkeypatch.setenv(name, KEY)
    other_server.key = "another"
    error = failure(lambda: connect(other_server.url).embeddings(MODEL, TEXTS))
    assert KEY not in str(other_server.asked)
    assert f"Set BRIGHT_INSPECT_ENDPOINT={other_server.url} and BRIGHT_INSPECT_API_KEY" in error.hint


def test_which_variable_holds_a_key_that_is_refused(
    model_server: ModelServer, connect: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    model_server.key = "another"
    monkeypatch.setenv("OPENAI_BASE_URL", model_server.url)
    assert "Set OPENAI_API_KEY." in failure(lambda: connect("").embeddings(MODEL, TEXTS)).hint
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    error = failure(lambda: connect("").embeddings(MODEL, TEXTS))
    assert "refuses the key in OPENAI_API_KEY (HTTP 401: Incorrect API key provided)" in error.message


def test_a_proxy_is_not_asked_for_this_machine(
    model_server: ModelServer, connect: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTP_PROXY", f"http://127.0.0.1:{faults.closed_port()}")
    monkeypatch.delenv("NO_PROXY", raising=False)
    assert connect(model_server.url).embeddings(MODEL, TEXTS)


# Nonsense.


def item(index: object, embedding: object) -> dict[str, object]:
    return {"index": index, "embedding": embedding}


@pytest.mark.parametrize(
    ("fault", "found"),
    [
        (faults.text("<!DOCTYPE html><title>Log in</title>"), "a web page: <!DOCTYPE html><title>Log in</title>"),
        (faults.text("ready\x1b[31m\n"), "text that is not JSON: ready␛[31m"),
        (faults.text(""), "an empty answer; expected JSON"),
        (faults.text("[" * 100_000), "text that is not JSON"),
        (faults.value(None), 'null (null); expected a list in "data"'),
        (faults.value([]), "a list ([])"),
        (faults.value("ok"), 'a text ("ok")'),
        (faults.value({}), "an object with nothing in it"),
        (faults.value({"vectors": []}), 'an object with "vectors"'),
        (faults.value({"data": {}}), 'an object with "data"'),
        (faults.value({"error": {"message": "out of\nmemory"}}), "an error with HTTP status 200: out of memory"),
        (faults.value({"data": []}), "0 vectors; expected 2, one vector for each text"),
        (faults.value({"data": [item(0, [1])]}), "1 vector; expected 2"),
        (faults.value({"data": [item(0, [1]), item(1, [1]), item(2, [1])]}), "3 vectors; expected 2"),
        (faults.value({"data": [1, 2]}), "a number (1) as result 0"),
        (faults.value({"data": [{"embedding": [1]}, item(1, [1])]}), "no index in result 0"),
        (faults.value({"data": [item(0, [1]), item(0, [1])]}), "the index 0 twice"),
        (faults.value({"data": [item(0, [1]), item(2, [1])]}), "the index 2 in result 1; expected an index from 0"),
        (faults.value({"data": [item(0, [1]), item(-1, [1])]}), "the index -1"),
        (faults.value({"data": [item(0, [1]), item("1", [1])]}), 'the index "1"'),
        (faults.value({"data": [item(0, [1]), item(True, [1])]}), "the index true"),
        (faults.value({"data": [item(0, [1]), {"index": 1}]}), "no embedding of text 1"),
        (faults.value({"data": [item(0, [1]), item(1, None)]}), "null (null) as embedding of text 1"),
        (faults.value({"data": [item(0, [1]), item(1, [])]}), "an empty vector for text 1"),
        (faults.value({"data": [item(0, [1, 2]), item(1, [1])]}), "vectors of 1 and of 2 numbers"),
        (faults.value({"data": [item(0, [1]), item(1, [float("nan")])]}), "NaN in the vector of text 1"),
        (faults.value({"data": [item(0, [1]), item(1, [float("inf")])]}), "Infinity in the vector"),
        (faults.value({"data": [item(0, [1]), item(1, [1e39])]}), "1e+39 in the vector"),
        (faults.value({"data": [item(0, [1]), item(1, [10**400])]}), "in the vector of text 1"),
        (faults.value({"data": [item(0, [1]), item(1, [None])]}), "null in the vector"),
        (faults.value({"data": [item(0, [1]), item(1, ["1"])]}), '"1" in the vector'),
        (faults.value({"data": [item(0, [1]), item(1, [True])]}), "true in the vector"),
        (faults.value({"data": [item(0, [1]), item(1, [[1]])]}), "[1] in the vector"),
        (faults.value({"data": [item(0, [1]), item(1, "no base64!")]}), "the text 'no base64!' as embedding of text 1"),
        (faults.value({"data": [item(0, [1]), item(1, "AAAAAA==AAA")]}), "as embedding of text 1"),
        (faults.value({"data": [item(0, [1]), item(1, "AADAfw==")]}), "NaN in the vector of text 1"),
    ],
)  # fmt: skip
def test_vectors_that_are_none(model_server: ModelServer, connect: Open, fault: Reply, found: str) -> None:
    model_server.fault = fault
    error = failure(lambda: connect(model_server.url).embeddings(MODEL, ["a", "b"]))
    assert error.message.startswith(f"{model_server.url}/embeddings (model {MODEL}) answers ")
    assert found in error.message
    assert "; expected " in error.message
    assert len(error.message) < 500


@pytest.mark.parametrize(
    ("answer", "found"),
    [
        ({"results": []}, "0 scores; expected 2"),
        ({"results": None}, 'an object with "results"; expected a list in "results" or "data"'),
        ([{"index": 0, "score": 1}], "1 score; expected 2"),
        ({"results": [{"index": 0, "relevance_score": 1}, {"index": 1}]}, "no score of document 1; expected a number"),
        ({"results": [{"index": 0, "score": 1}, {"index": 1, "score": float("nan")}]}, "NaN as score of document 1"),
        ({"data": [{"index": 0, "score": 1}, {"index": 1, "score": "high"}]}, '"high" as score of document 1'),
        ({"data": [{"index": 0, "score": 1}, {"index": 0, "score": 1}]}, "the index 0 twice"),
        ({"error": "model is loading", "error_type": "unhealthy"}, "an error with HTTP status 200: model is loading"),
    ],
)
def test_scores_that_are_none(model_server: ModelServer, connect: Open, answer: Any, found: str) -> None:
    model_server.fault = faults.value(answer)
    error = failure(lambda: connect(model_server.url).rerank(MODEL, "query", ["a", "b"]))
    assert found in error.message


def test_an_answer_without_end(model_server: ModelServer, connect: Open) -> None:
    model_server.fault = faults.text("[" * 300_000)
    endpoint = connect(model_server.url, Limits(longest_answer=100_000))
    assert "answers more than 100,000 bytes" in failure(lambda: endpoint.embeddings(MODEL, TEXTS)).message


@pytest.mark.parametrize(
    ("fault", "message", "hint"),
    [
        (
            faults.status(400, {"error": {"message": "This model's maximum context length is 512 tokens."}}),
            "refuses the request (HTTP 400: This model's maximum context length is 512 tokens.)",
            "give a max length",
        ),
        (
            faults.status(413, {"error": "Input is too long", "error_type": "v"}),
            "HTTP 413: Input is too long",
            "length",
        ),
        (faults.status(422, {"detail": [{"loc": ["body"], "msg": "bad"}]}), 'HTTP 422: [{"loc": ["body"], "msg"', "If"),
        (
            faults.status(404, {"message": f"The model `{MODEL}` does not exist."}),
            "does not know the model",
            "Name one",
        ),
        (faults.status(418), "fails (HTTP 418: no luck)", "URL"),
        (faults.text("\x1b]0;title\x07" * 100, 400), "HTTP 400: ␛]0;title␇", "length"),
    ],
)
def test_refusals_are_told_at_once_in_the_servers_words(
    model_server: ModelServer, connect: Open, fault: Reply, message: str, hint: str
) -> None:
    model_server.fault = fault
    error = failure(lambda: connect(model_server.url).embeddings(MODEL, TEXTS))
    assert message in error.message
    assert hint in error.hint
    assert len(model_server.asked) == 1


def test_a_path_that_is_nowhere(model_server: ModelServer, connect: Open) -> None:
    model_server.paths = set()
    endpoint = connect(model_server.url)
    error = failure(lambda: endpoint.rerank(MODEL, "query", TEXTS))
    assert error.message.startswith(f"{model_server.url}/rerank (model {MODEL}) does not exist (HTTP 404: Not Found)")
    assert [asked.path for asked in model_server.asked] == ["/v1/rerank", "/rerank", "/v1/score", "/score"]
    assert f"{model_server.url}/score and {model_server.origin}/score" in error.hint
    model_server.paths = {"/v1/rerank"}
    assert endpoint.rerank(MODEL, "ozone", ["ozone"]) == [1.0]


def test_a_model_that_is_not_there(model_server: ModelServer, connect: Open) -> None:
    error = failure(lambda: connect(model_server.url).rerank("other\x1b", "query", TEXTS))
    assert "(model other␛) does not know the model (HTTP 404: The model `other␛` does not exist.)" in error.message
    assert len(model_server.asked) == 1


# Tries, waiting and stopping.


@pytest.mark.parametrize(
    "fault",
    [
        *(faults.status(code) for code in (429, 500, 502, 503, 504)),
        faults.status(429, None, Retry_After="0"),
        faults.status(429, None, Retry_After="soon"),
        faults.status(503, None, Retry_After=formatdate(0, usegmt=True)),
        faults.dropped, faults.reset, faults.cut,
    ],
)  # fmt: skip
def test_what_passes_is_tried_again(model_server: ModelServer, connect: Open, fault: Reply) -> None:
    model_server.faults = [fault, fault]
    assert connect(model_server.url).embeddings(MODEL, TEXTS) == [vector(text) for text in TEXTS]
    assert len(model_server.asked) == 3


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        (faults.status(500), "fails (HTTP 500: no luck)"),
        (faults.status(429), "is asked too often (HTTP 429: no luck)"),
        (faults.dropped, "broke off: "),
        (faults.cut, "broke off: "),
    ],
)
def test_what_does_not_pass_is_told(model_server: ModelServer, connect: Open, fault: Reply, message: str) -> None:
    model_server.fault = fault
    error = failure(lambda: connect(model_server.url).embeddings(MODEL, TEXTS))
    assert message in error.message
    assert len(model_server.asked) == QUICK.attempts


def test_waiting_grows_and_is_bounded(model_server: ModelServer, connect: Open) -> None:
    times: list[float] = []

    def noting(handler: faults.Handler) -> None:
        times.append(time.monotonic())
        faults.status(503)(handler)

    model_server.fault = noting
    endpoint = connect(model_server.url, Limits(attempts=4, first_wait=0.05, longest_wait=0.1))
    failure(lambda: endpoint.embeddings(MODEL, TEXTS))
    waits = [after - before for before, after in itertools.pairwise(times)]
    assert all(wait >= least for wait, least in zip(waits, (0.05, 0.1, 0.1), strict=True))
    assert sum(waits) < 1.0


def test_a_server_is_given_the_time_it_asks_for(model_server: ModelServer, connect: Open) -> None:
    model_server.faults = [faults.status(429, None, Retry_After="1")]
    began = time.monotonic()
    stops_at = began + 0.2

    def check() -> None:
        if time.monotonic() > stops_at:
            raise Stop

    with pytest.raises(Stop):
        connect(model_server.url).embeddings(MODEL, TEXTS, check)
    assert time.monotonic() - began < 0.5
    assert len(model_server.asked) == 1


def test_a_server_that_asks_for_too_much_time_is_not_asked_again(model_server: ModelServer, connect: Open) -> None:
    model_server.fault = faults.status(429, None, Retry_After="3600")
    error = failure(lambda: connect(model_server.url).embeddings(MODEL, TEXTS))
    assert "is asked too often (HTTP 429: no luck; Retry-After: 3600)" in error.message
    assert len(model_server.asked) == 1


def test_a_server_that_is_not_there(connect: Open) -> None:
    url = f"http://127.0.0.1:{faults.closed_port()}"
    error = failure(lambda: connect(url).embeddings(MODEL, TEXTS))
    assert re.match(rf"{re.escape(url)}/v1/embeddings \(model {MODEL}\) cannot be reached: .*refused", error.message)
    assert "Does the server run" in error.hint


@pytest.mark.parametrize("url", ["http://no-such-host.invalid", "http://host..name", "http://" + "a" * 300])
def test_hosts_that_are_none(connect: Open, url: str) -> None:
    assert "cannot be" in failure(lambda: connect(url).embeddings(MODEL, TEXTS)).message


def test_https_where_http_is_spoken(model_server: ModelServer, connect: Open) -> None:
    url = model_server.url.replace("http:", "https:")
    assert "cannot be reached" in failure(lambda: connect(url).embeddings(MODEL, TEXTS)).message


@pytest.mark.parametrize("fault", [faults.silent, faults.begun])
def test_a_server_that_says_nothing(model_server: ModelServer, connect: Open, fault: Reply) -> None:
    model_server.fault = fault
    endpoint = connect(model_server.url, Limits(read=0.1))
    error = failure(lambda: endpoint.embeddings(MODEL, TEXTS))
    assert "answered nothing for 0.1 s" in error.message
    assert len(model_server.asked) == 1


@pytest.mark.parametrize("fault", [faults.silent, faults.begun])
def test_stopping_while_the_server_is_silent(model_server: ModelServer, connect: Open, fault: Reply) -> None:
    model_server.fault = fault
    endpoint = connect(model_server.url)
    stopped = 0.0

    def check() -> None:
        nonlocal stopped
        if model_server.asked:
            stopped = stopped or time.monotonic()
            raise Stop

    with pytest.raises(Stop):
        endpoint.embeddings(MODEL, TEXTS, check)
    assert time.monotonic() - stopped < 0.2
    for thread in alive():
        thread.join(1.0)
    assert not alive(), "the request goes on"
    model_server.fault = None
    assert len(endpoint.embeddings(MODEL, TEXTS)) == 3


def test_a_check_is_called_while_the_server_is_silent(model_server: ModelServer, connect: Open) -> None:
    model_server.fault = faults.silent
    times: list[float] = []

    def check() -> None:
        times.append(time.monotonic())
        if len(times) == 6:
            raise Stop

    with pytest.raises(Stop):
        connect(model_server.url).embeddings(MODEL, TEXTS, check)
    assert max(after - before for before, after in itertools.pairwise(times)) < 0.2


def test_nothing_is_sent_after_a_stop(model_server: ModelServer, connect: Open) -> None:
    def check() -> None:
        raise Stop

    with pytest.raises(Stop):
        connect(model_server.url).rerank(MODEL, "query", TEXTS, check)
    assert model_server.asked == []


@pytest.mark.parametrize("proxy", ["gopher://proxy", "http://[::1"])
def test_a_proxy_that_is_none(connect: Open, monkeypatch: pytest.MonkeyPatch, proxy: str) -> None:
    monkeypatch.setenv("HTTP_PROXY", proxy)
    error = failure(lambda: connect("http://host.invalid").embeddings(MODEL, TEXTS))
    assert isinstance(error, BrightInspectError)
    assert "cannot be asked" in error.message

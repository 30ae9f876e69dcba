"""Chats against a real server on loopback: what is asked, how answers are read as they arrive, fail and stop."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator

import pytest

from bright_inspect.domain.writing import End, Piece, WritingSettings
from bright_inspect.endpoints.chat import Chat
from bright_inspect.endpoints.client import open_endpoint
from bright_inspect.endpoints.errors import EndpointError
from bright_inspect.endpoints.transport import Limits
from tests.retrieval import chat_faults
from tests.retrieval import server as faults
from tests.retrieval.chat_faults import said
from tests.retrieval.server import ModelServer, Reply, answer_of, model_server

__all__ = ["model_server"]

MODEL = "bag-of-words"
KEY = "sk-secret-0123456789abcdef"
QUICK = Limits(connect=1.0, read=1.0, attempts=3, first_wait=0.01, longest_wait=1.0, longest_answer=100_000)
PROMPT = "Rewrite this.\nWhy is moss green – in März?"
ANSWER = answer_of({"messages": [{"content": PROMPT}]})

Connect = Callable[..., Chat]


class Stop(Exception):
    """What a check of a test raises."""


@pytest.fixture
def connect(model_server: ModelServer) -> Iterator[Connect]:
    opened = []

    def connect(limits: Limits = QUICK, model: str = MODEL) -> Chat:
        opened.append(open_endpoint(model_server.url, limits))
        return Chat(opened[-1], model, limits)

    yield connect
    for endpoint in opened:
        endpoint.close()


def written(chat: Chat, settings: WritingSettings | None = None) -> tuple[str, str, End]:
    """The answer, the thinking, and the end."""
    *pieces, end = chat.answer(PROMPT, settings or WritingSettings())
    assert isinstance(end, End)
    parts = [piece for piece in pieces if isinstance(piece, Piece)]
    assert len(parts) == len(pieces)
    return (
        "".join(piece.text for piece in parts if not piece.is_reasoning),
        "".join(piece.text for piece in parts if piece.is_reasoning),
        end,
    )


def failure(chat: Chat) -> EndpointError:
    """The error of a chat: one line, a hint, no key, no exception of a library behind it."""
    with pytest.raises(EndpointError) as raised:
        list(chat.answer(PROMPT, WritingSettings()))
    error = raised.value
    assert str(error).isprintable()
    assert error.hint
    assert KEY not in str(error)
    assert error.__context__ is None
    return error


def test_an_answer_arrives_in_pieces(model_server: ModelServer, connect: Connect) -> None:
    model_server.thinks = "green because of chlorophyll"
    parts = list(connect().answer(PROMPT, WritingSettings(0.2, 300, 7)))
    assert len(parts) > 8
    assert written(connect()) == (
        ANSWER,
        model_server.thinks,
        End("stop", {"prompt_tokens": 12, "completion_tokens": 7}),
    )
    assert model_server.asked[0].path == "/v1/chat/completions"
    assert model_server.asked[0].body == {
        "model": MODEL, "messages": [{"role": "user", "content": PROMPT}], "stream": True,
        "stream_options": {"include_usage": True}, "temperature": 0.2, "max_tokens": 300, "seed": 7,
    }  # fmt: skip
    assert not {"temperature", "max_tokens", "seed"} & set(model_server.asked[1].body)


@pytest.mark.parametrize("step", [1, 2, 3, 7, 1000])
@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
def test_pieces_cut_anywhere(model_server: ModelServer, connect: Connect, step: int, newline: str) -> None:
    first = json.dumps(said("Grün – 🌿 "), ensure_ascii=False)
    last = json.dumps(said("über\u2028alles", "stop"), ensure_ascii=False)
    lines = [": keep-alive", "", f"data: {first}", "", "event: message", f"data:{last}", "", "data: [DONE]", "", ""]
    model_server.fault = chat_faults.raw(newline.join(lines).encode(), pieces=step)
    assert written(connect()) == ("Grün – 🌿 über\u2028alles", "", End("stop"))


@pytest.mark.parametrize(
    ("reply", "answer", "thinking", "finish"),
    [
        (chat_faults.whole, ANSWER, "", "stop"),
        (chat_faults.cut_by_length, ANSWER, "", "length"),
        (chat_faults.events(said("a"), said("b", "stop"), end=""), "ab", "", "stop"),  # no [DONE]
        (chat_faults.events(said("a")), "a", "", None),  # no reason
        (chat_faults.events({"choices": [{"delta": {"reasoning": "hm"}}]}, said("a", "stop")), "a", "hm", "stop"),
        (chat_faults.events({"choices": [{"delta": {"content": None}}]}, said("a", "stop")), "a", "", "stop"),
        (chat_faults.events(said("a"), {"choices": None}, {"x": 1}, said("", "stop")), "a", "", "stop"),
        (
            faults.value({"choices": [{"message": {"content": [{"type": "text", "text": "a"}], "reasoning": "hm"}}]}),
            "a",
            "hm",
            None,
        ),
    ],
)  # fmt: skip
def test_answers_of_other_shapes(
    model_server: ModelServer, connect: Connect, reply: Reply, answer: str, thinking: str, finish: str | None
) -> None:
    model_server.fault = reply
    found = written(connect())
    assert found[:2] == (answer, thinking)
    assert found[2].finish == finish


@pytest.mark.parametrize(
    ("reply", "problem"),
    [
        (chat_faults.cut_midway, "characters and then nothing more, without an end; expected a finish_reason or"),
        (chat_faults.dropped_midway, "broke off"),
        (chat_faults.stalls, "answered nothing for 1 s; expected the rest of the answer"),
        (chat_faults.events(said("a"), {"error": {"message": "out of\nmemory"}}), "answers an error: out of memory"),
        (chat_faults.events("a"), 'answers a text ("a"); expected a chat completion'),
        (chat_faults.events({"choices": ["a"]}), 'answers a list (["a"]) as choices'),
        (chat_faults.events({"choices": [{"delta": {"content": 7}}]}), "answers a number (7) as content"),
        (chat_faults.events({"choices": [{"delta": []}]}), "answers a list ([]) as delta"),
        (chat_faults.raw(b"data: {oh\n\n"), "text that is not JSON: {oh"),
        (chat_faults.raw(b"hello\x1b[31m\n"), "answers text that is neither JSON nor events: hello␛[31m"),
        (chat_faults.raw(b"\n\n"), "answers an empty answer"),
        (chat_faults.raw(b"<html>x</html>"), "answers a web page: <html>"),
        (faults.value({"object": "list"}), 'answers an object with "object"; expected a chat completion'),
        (faults.value({"error": "no luck"}), "answers an error: no luck"),
        (faults.text('{"choices": [', 200), "text that is not JSON"),
        (chat_faults.events(*[said("x" * 1000)] * 200), "answers more than 100,000 bytes"),
        (faults.status(500), "fails (HTTP 500: no luck)"),
        (faults.status(429, None, Retry_After="100"), "is asked too often (HTTP 429: no luck; Retry-After: 100)"),
        (faults.dropped, "broke off"),
    ],
)  # fmt: skip
def test_what_is_no_answer(model_server: ModelServer, connect: Connect, reply: Reply, problem: str) -> None:
    model_server.fault = reply
    error = failure(connect())
    assert problem in error.message
    assert not error.lasting


@pytest.mark.parametrize(
    "passing", [faults.status(429, None, Retry_After="0"), faults.status(500), faults.status(503), faults.dropped]
)
def test_before_the_answer_began_it_is_asked_again(model_server: ModelServer, connect: Connect, passing: Reply) -> None:
    model_server.faults = [passing, passing]
    assert written(connect())[0] == ANSWER
    assert len(model_server.asked) == 3


def test_after_it_began_it_is_not(model_server: ModelServer, connect: Connect) -> None:
    model_server.faults = [chat_faults.dropped_midway]
    failure(connect())
    assert len(model_server.asked) == 1


def test_what_any_other_question_would_meet_too(
    model_server: ModelServer, connect: Connect, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "does not know the model" in (error := failure(connect(model="other"))).message
    assert error.lasting
    model_server.key = "another"
    monkeypatch.setenv("BRIGHT_INSPECT_ENDPOINT", model_server.url)
    monkeypatch.setenv("BRIGHT_INSPECT_API_KEY", KEY)
    assert "refuses the key in BRIGHT_INSPECT_API_KEY" in (error := failure(connect())).message
    assert error.lasting
    model_server.key = None
    model_server.paths = set()
    assert "does not exist" in (error := failure(connect())).message
    assert error.lasting
    endpoint = open_endpoint(f"http://127.0.0.1:{faults.closed_port()}", QUICK)
    assert "cannot be reached" in (error := failure(Chat(endpoint, MODEL))).message
    assert error.lasting


def test_what_a_server_does_not_take_is_left_out(model_server: ModelServer, connect: Connect) -> None:
    model_server.faults = [
        faults.status(400, {"error": {"message": "Unknown parameter: 'stream_options'."}}),
        faults.status(400, {"error": {"message": "Use 'max_completion_tokens' instead of 'max_tokens'."}}),
    ]
    chat = connect()
    settings = WritingSettings(max_tokens=50)
    assert written(chat, settings)[0] == ANSWER
    assert written(chat, settings)[0] == ANSWER
    assert len(model_server.asked) == 4, "what was found out is kept"
    for asked in model_server.asked[2:]:
        assert asked.body["max_completion_tokens"] == 50
        assert not {"max_tokens", "stream_options"} & set(asked.body)


@pytest.mark.parametrize("reply", [faults.silent, chat_faults.stalls])
def test_it_is_stopped_at_once(model_server: ModelServer, connect: Connect, reply: Reply) -> None:
    model_server.fault = reply
    began = time.monotonic()

    def check() -> None:
        if time.monotonic() - began > 0.2:
            raise Stop

    with pytest.raises(Stop):
        list(connect(Limits(read=20)).answer(PROMPT, WritingSettings(), check))
    assert time.monotonic() - began < 1.0


def test_an_answer_left_early_is_broken_off(model_server: ModelServer, connect: Connect) -> None:
    model_server.slow = 0.05
    answer = connect().answer(PROMPT, WritingSettings())
    next(answer)
    answer.close()  # type: ignore[attr-defined]
    deadline = time.monotonic() + 5
    while any(thread.name == "endpoint request" for thread in threading.enumerate()):
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_the_models_of_a_server(model_server: ModelServer) -> None:
    endpoint = open_endpoint(model_server.url, QUICK)
    assert endpoint.models() == [MODEL]
    model_server.fault = faults.value([])
    with pytest.raises(EndpointError, match=r"/v1/models answers a list"):
        endpoint.models()
    model_server.fault = faults.status(404)
    with pytest.raises(EndpointError, match="does not exist"):
        endpoint.models()

"""A model server on loopback: embeddings, rerank, score and chats as OpenAI, vLLM and TEI answer them, and faults to
choose; those of chats are in ``chat_faults``.

A text's vector counts its words by hash; a document's score is how many of the query's words it has; a chat's answer
repeats the last line of the prompt. Import the fixture ``model_server`` to use it.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
import socket
import struct
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

DIMENSIONS = 64

Reply = Callable[["Handler"], None]
"""A fault: answers one request in its own way."""


@dataclass(frozen=True)
class Asked:
    """A request as it came in."""

    path: str
    headers: dict[str, str]
    body: Any


@dataclass
class ModelServer:
    """``faults`` are used up one a request, ``fault`` answers all that follow; ``change`` alters good answers."""

    model: str = "bag-of-words"
    paths: set[str] = field(default_factory=lambda: {"/v1/embeddings", "/v1/rerank", "/v1/chat/completions"})
    tei: bool = False
    key: str | None = None
    faults: list[Reply] = field(default_factory=list)
    fault: Reply | None = None
    change: Callable[[Any], Any] | None = None
    #: Seconds between two pieces of a chat's answer.
    slow: float = 0.0
    #: What the model thinks before it answers, apart from the answer.
    thinks: str = ""
    asked: list[Asked] = field(default_factory=list)
    #: Set when the server stops, and by tests to let a silent answer go on.
    released: threading.Event = field(default_factory=threading.Event)
    origin: str = ""

    @property
    def url(self) -> str:
        return self.origin + "/v1"

    def reply(self) -> Reply | None:
        with suppress(IndexError):
            return self.faults.pop(0)
        return self.fault


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    state: ModelServer

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.state.asked.append(Asked(self.path, {k.lower(): v for k, v in self.headers.items()}, body))
        reply = self.state.reply()
        if reply is not None:
            reply(self)
        elif self.state.key and self.headers.get("Authorization") != f"Bearer {self.state.key}":
            self.send_json({"error": {"message": "Incorrect API key provided", "type": "invalid_request_error"}}, 401)
        elif self.path not in self.state.paths:
            self.send_json({"detail": "Not Found"}, 404)
        elif not self.state.tei and body["model"] != self.state.model:
            self.send_json({"error": {"message": f"The model `{body['model']}` does not exist.", "code": 404}}, 404)
        elif body.get("stream"):
            self.send_chat(chat_events(body, self.state.thinks))
        else:
            status, answer = answer_to(self.path.rpartition("/")[2], body, self.state.tei)
            self.send_json(self.state.change(answer) if self.state.change and status == 200 else answer, status)

    def do_GET(self) -> None:
        self.state.asked.append(Asked(self.path, {k.lower(): v for k, v in self.headers.items()}, None))
        reply = self.state.reply()
        if reply is not None:
            reply(self)
        elif self.path == "/v1/models":
            self.send_json({"object": "list", "data": [{"id": self.state.model, "object": "model"}]})
        else:
            self.send_json({"detail": "Not Found"}, 404)

    def send_chat(self, events: list[str], end: str = "data: [DONE]\n\n") -> None:
        """A stream of events, which is over when the connection is."""
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.end_headers()
        self.close_connection = True
        with suppress(OSError):
            for line in [*(f"data: {event}\n\n" for event in events), end]:
                self.wfile.write(line.encode())
                self.wfile.flush()
                if self.state.slow:
                    self.state.released.wait(self.state.slow)

    def send_json(self, value: object, status: int = 200, **headers: str) -> None:
        self.send_text(json.dumps(value), status, "application/json", **headers)

    def send_text(self, text: str, status: int = 200, kind: str = "text/html", **headers: str) -> None:
        content = text.encode()
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(content)))
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        with suppress(OSError):
            self.wfile.write(content)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002  (the library's name)
        """Tests read ``asked``."""


def answer_to(question: str, body: dict[str, Any], tei: bool) -> tuple[int, Any]:
    data: list[dict[str, Any]]
    if question == "completions":
        said = {"role": "assistant", "content": answer_of(body)}
        choice = {"index": 0, "message": said, "finish_reason": "stop"}
        return 200, {"object": "chat.completion", "choices": [choice], "usage": {"completion_tokens": 7}}
    if question == "embeddings":
        as_base64 = body.get("encoding_format") == "base64"
        data = [
            {"object": "embedding", "index": i, "embedding": encoded(text) if as_base64 else vector(text)}
            for i, text in enumerate(body["input"])
        ]
        return 200, {"object": "list", "data": data, "model": body["model"]}
    if question == "score":
        data = [
            {"object": "score", "index": i, "score": overlap(body["text_1"], text)}
            for i, text in enumerate(body["text_2"])
        ]
        return 200, {"object": "list", "data": data}
    if tei and "texts" not in body:
        message = "Failed to deserialize the JSON body into the target type: missing field `texts` at line 1 column 90"
        return 422, {"error": message, "error_type": "validation"}
    ranked = sorted(
        enumerate(overlap(body["query"], text) for text in body["texts" if tei else "documents"]),
        key=lambda item: -item[1],
    )
    if tei:
        return 200, [{"index": i, "score": score} for i, score in ranked]
    return 200, {"results": [{"index": i, "relevance_score": score} for i, score in ranked]}


def answer_of(body: dict[str, Any]) -> str:
    """What the model answers to a chat: the prompt's last line, with something before and after it."""
    last = str(body["messages"][-1]["content"]).strip().rpartition("\n")[2]
    return f"What explains: {last} – because."


def chat_events(body: dict[str, Any], thinks: str = "", finish: str | None = "stop") -> list[str]:
    """The events of a chat's answer, a word each, as vLLM sends them."""
    deltas: list[dict[str, Any]] = [{"role": "assistant", "content": ""}]
    deltas += [{"reasoning_content": word} for word in spaced(thinks)]
    deltas += [{"content": word} for word in spaced(answer_of(body))]
    chunks: list[dict[str, Any]] = [{"choices": [{"index": 0, "delta": delta}]} for delta in deltas]
    if finish is not None:
        chunks.append({"choices": [{"index": 0, "delta": {}, "finish_reason": finish}]})
        chunks.append({"choices": [], "usage": {"prompt_tokens": 12, "completion_tokens": 7}})
    return [json.dumps({"object": "chat.completion.chunk", **chunk}, ensure_ascii=False) for chunk in chunks]


def spaced(text: str) -> list[str]:
    """A text's words, each with the blank before it."""
    return [word for word in re.split(r"(?= )", text) if word]


def words(text: str) -> list[str]:
    return text.lower().split()


def vector(text: str) -> list[float]:
    counts = [0.0] * DIMENSIONS
    for word in words(text):
        counts[hashlib.sha256(word.encode()).digest()[0] % DIMENSIONS] += 1.0
    return counts


def encoded(text: str) -> str:
    return base64.b64encode(struct.pack(f"<{DIMENSIONS}f", *vector(text))).decode()


def overlap(query: str, text: str) -> float:
    return float(len(set(words(query)) & set(words(text)))) / max(1, len(set(words(query))))


# Faults.


def status(code: int, value: object = None, **headers: str) -> Reply:
    """An answer of this status; ``headers`` with "_" for "-"."""
    return lambda handler: handler.send_json(
        {"error": {"message": "no luck"}} if value is None else value, code, **headers
    )


def text(content: str, code: int = 200) -> Reply:
    """An answer that is no JSON."""
    return lambda handler: handler.send_text(content, code)


def value(content: object) -> Reply:
    """JSON of the test's choice."""
    return lambda handler: handler.send_json(content)


def redirect(location: str) -> Reply:
    return lambda handler: handler.send_text("", 307, Location=location)


def silent(handler: Handler) -> None:
    """Takes the request and never answers."""
    handler.state.released.wait(30)
    handler.close_connection = True


def dropped(handler: Handler) -> None:
    """Closes the connection without a word."""
    handler.close_connection = True


def reset(handler: Handler) -> None:
    """Resets the connection."""
    handler.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    handler.close_connection = True
    handler.connection.close()


def cut(handler: Handler) -> None:
    """Announces more than it sends."""
    handler.send_response(200)
    handler.send_header("Content-Length", "1000")
    handler.end_headers()
    handler.wfile.write(b'{"data": [')
    handler.close_connection = True


def begun(handler: Handler) -> None:
    """Sends the beginning of an answer, then nothing."""
    handler.send_response(200)
    handler.send_header("Content-Length", "1000")
    handler.end_headers()
    handler.wfile.write(b'{"data": [')
    handler.wfile.flush()
    silent(handler)


def in_pieces(handler: Handler) -> None:
    """A good answer, chunked, a few bytes at a time."""
    asked = handler.state.asked[-1]
    content = json.dumps(answer_to(asked.path.rpartition("/")[2], asked.body, handler.state.tei)[1]).encode()
    handler.send_response(200)
    handler.send_header("Transfer-Encoding", "chunked")
    handler.end_headers()
    for start in range(0, len(content), 100):
        piece = content[start : start + 100]
        handler.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece))
        handler.wfile.flush()
    handler.wfile.write(b"0\r\n\r\n")


def closed_port() -> int:
    """A port at which nothing listens."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Clients that go away are what is tested here."""


def serving() -> Iterator[ModelServer]:
    """A server for as long as the generator lives."""
    state = ModelServer()
    handler = type("BoundHandler", (Handler,), {"state": state})
    with _Server(("127.0.0.1", 0), handler) as server:
        state.origin = f"http://127.0.0.1:{server.server_address[1]}"
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        thread.start()
        yield state
        state.released.set()
        server.shutdown()
        thread.join()


@pytest.fixture
def model_server() -> Iterator[ModelServer]:
    yield from serving()


@pytest.fixture
def other_server() -> Iterator[ModelServer]:
    """Another one, to see what strays there."""
    yield from serving()

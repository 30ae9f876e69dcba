"""Faults of chat servers, and odd answers that are none: for the server of ``server``."""

from __future__ import annotations

import json
from contextlib import suppress

from tests.retrieval.server import Handler, Reply, answer_to, chat_events


def raw(content: bytes, kind: str = "text/event-stream", pieces: int = 0) -> Reply:
    """These bytes, ``pieces`` at a time, and then the end of the connection."""

    def reply(handler: Handler) -> None:
        handler.send_response(200)
        handler.send_header("Content-Type", kind)
        handler.end_headers()
        handler.close_connection = True
        step = pieces or max(1, len(content))
        with suppress(OSError):
            for start in range(0, len(content), step):
                handler.wfile.write(content[start : start + step])
                handler.wfile.flush()

    return reply


def events(*values: object, end: str = "data: [DONE]\n\n") -> Reply:
    """A stream of these objects."""
    return raw("".join(f"data: {json.dumps(value)}\n\n" for value in values).encode() + end.encode())


def said(text: str, finish: str | None = None) -> dict[str, object]:
    """An event with a piece of an answer."""
    return {"choices": [{"index": 0, "delta": {"content": text}, "finish_reason": finish}]}


def whole(handler: Handler) -> None:
    """One object, from a server that does not stream."""
    handler.send_json(answer_to("completions", handler.state.asked[-1].body, False)[1])


def cut_by_length(handler: Handler) -> None:
    """An answer that the limit of tokens cuts."""
    handler.send_chat(chat_events(handler.state.asked[-1].body, finish="length"))


def cut_midway(handler: Handler) -> None:
    """An answer whose connection ends in the middle: neither a reason nor [DONE]."""
    handler.send_chat(_half(handler), end="")


def dropped_midway(handler: Handler) -> None:
    """An answer that breaks off inside a chunk of HTTP."""
    handler.send_response(200)
    handler.send_header("Transfer-Encoding", "chunked")
    handler.end_headers()
    content = "".join(f"data: {event}\n\n" for event in _half(handler)).encode()
    handler.wfile.write(b"%x\r\n%s\r\n" % (len(content), content) + b"40\r\ndata: {")
    handler.close_connection = True


def stalls(handler: Handler) -> None:
    """The beginning of an answer, then nothing for as long as the server lives."""
    handler.send_response(200)
    handler.end_headers()
    for event in _half(handler):
        handler.wfile.write(f"data: {event}\n\n".encode())
    handler.wfile.flush()
    handler.state.released.wait(30)
    handler.close_connection = True


def _half(handler: Handler) -> list[str]:
    answer = chat_events(handler.state.asked[-1].body, finish=None)
    return answer[: len(answer) // 2 + 1]


def stalls_before_a_word(handler: Handler) -> None:
    """Says that it will answer a chat, and does not; other questions are answered."""
    if handler.command == "GET":
        handler.send_json({"data": [{"id": handler.state.model}]})
        return
    handler.send_response(200)
    handler.end_headers()
    handler.wfile.flush()
    handler.state.released.wait(30)
    handler.close_connection = True

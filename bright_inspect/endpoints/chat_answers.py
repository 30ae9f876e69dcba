"""What chat servers answer, checked before anything is made of it.

Shapes, from the documentation or source of OpenAI, vLLM, llama.cpp, Ollama, DeepSeek and Mistral:

* a stream of server-sent events, each an object with ``choices``: the first choice's ``delta`` has the next
  ``content``, its ``finish_reason`` says why the answer ended; ``choices`` may be empty (counts of tokens in ``usage``,
  content filters). The last event is ``[DONE]``; not all servers send it.
* one object, from servers that do not stream: ``choices`` with a ``message`` in place of ``delta``.
* thinking lies apart in ``reasoning_content`` (DeepSeek, vLLM, llama.cpp) or ``reasoning`` (Ollama, newer vLLM).
* ``{"error": …}`` as an event: a failure after the answer began.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import chain

from bright_inspect.domain.writing import End, Piece
from bright_inspect.endpoints.answers import Unexpected, kind_of, message_in, read_json
from bright_inspect.endpoints.errors import excerpt

_DONE = "[DONE]"
_THINKING = ("reasoning_content", "reasoning")
_EXPECTED = "a chat completion"
#: Bytes to look at before an answer is taken for events.
_HEAD = 1000


def read_chat(pieces: Iterator[bytes], longest: int) -> Iterator[Piece | End]:
    """The parts of an answer as its bytes arrive, cut anywhere; the last is an ``End``, and only a whole answer has it.

    Raises:
        Unexpected: the answer is anything else, tells of an error, ends before its end, or is longer than ``longest``
            bytes. What ``pieces`` raises passes.
    """
    limited = _limited(pieces, longest)
    head = b""
    for piece in limited:
        head += piece
        if head.lstrip():
            break
    if head.lstrip()[:1] in (b"{", b"[", b"<"):
        return _whole(head + b"".join(limited))
    return _streamed(head, limited)


def _limited(pieces: Iterator[bytes], longest: int) -> Iterator[bytes]:
    count = 0
    for piece in pieces:
        count += len(piece)
        if count > longest:
            raise Unexpected(f"more than {longest:,} bytes", "an answer that ends")
        yield piece


def _whole(body: bytes) -> Iterator[Piece | End]:
    """The parts of an answer that is one object."""
    value = _object(read_json(body))
    yield from _pieces(value, "message")
    if not value.get("choices"):
        raise Unexpected(f"an object with {_names(value)}", f'{_EXPECTED}, with "choices"')
    yield End(_finish(value), _usage(value))


def _streamed(head: bytes, rest: Iterator[bytes]) -> Iterator[Piece | End]:
    """The parts of an answer that is a stream of events."""
    import httpx2

    seen = bytearray()

    def noted() -> Iterator[bytes]:
        for piece in chain([head], rest):
            if len(seen) < _HEAD:
                seen.extend(piece[:_HEAD])
            yield piece

    # The HTTP library's reader of events takes a response; this one's body comes from the request's thread.
    headers = {"content-type": "text/event-stream; charset=utf-8"}
    response = httpx2.Response(200, headers=headers, content=noted(), request=httpx2.Request("POST", "http://stream"))
    finish: str | None = None
    usage: dict[str, int] = {}
    said = events = 0
    try:
        for event in httpx2.EventSource(response):
            events += 1
            if event.data.strip() == _DONE:
                yield End(finish, usage)
                return
            value = _object(read_json(event.data.encode()))
            for piece in _pieces(value, "delta"):
                said += len(piece.text)
                yield piece
            finish = _finish(value) or finish
            usage = _usage(value) or usage
    except httpx2.SSEError as error:
        problem = str(error)
    else:
        if finish is not None:
            yield End(finish, usage)
            return
        problem = ""
    if problem:
        raise Unexpected(f"an event that cannot be read ({excerpt(problem)})", _EXPECTED)
    if not events:
        text = bytes(seen).decode("utf-8", errors="replace")
        found = f"text that is neither JSON nor events: {excerpt(text)}" if text.strip() else "an empty answer"
        raise Unexpected(found, _EXPECTED)
    raise Unexpected(f"{said:,} characters and then nothing more, without an end", "a finish_reason or [DONE]")


def _object(value: object) -> dict[str, object]:
    if not isinstance(value, dict):
        raise Unexpected(kind_of(value), _EXPECTED)
    if value.get("error"):
        raise Unexpected(f"an error: {message_in(value)}", _EXPECTED)
    return value


def _choice(value: dict[str, object]) -> dict[str, object] | None:
    choices = value.get("choices")
    if not choices:
        return None
    if not isinstance(choices, list) or not isinstance(choices[0], dict):
        raise Unexpected(f"{kind_of(choices)} as choices", "a list of objects")
    first: dict[str, object] = choices[0]
    return first


def _pieces(value: dict[str, object], name: str) -> Iterator[Piece]:
    """The texts of an object, thinking first; ``name`` is where they lie in a choice."""
    choice = _choice(value)
    said = None if choice is None else choice.get(name)
    if said is None:
        return
    if not isinstance(said, dict):
        raise Unexpected(f"{kind_of(said)} as {name}", "an object")
    for field in _THINKING:
        if text := _text(said.get(field), field):
            yield Piece(text, True)
            break
    if text := _text(said.get("content"), "content"):
        yield Piece(text)


def _text(value: object, name: str) -> str:
    """A text, or a list of parts that are texts (Mistral)."""
    if value is None:
        return ""
    if isinstance(value, list):
        parts = [part.get("text") for part in value if isinstance(part, dict)]
        return "".join(part for part in parts if isinstance(part, str))
    if not isinstance(value, str):
        raise Unexpected(f"{kind_of(value)} as {name}", "a text")
    return value


def _finish(value: dict[str, object]) -> str | None:
    choice = _choice(value)
    finish = None if choice is None else choice.get("finish_reason")
    return excerpt(finish) if isinstance(finish, str) and finish else None


def _usage(value: dict[str, object]) -> dict[str, int]:
    usage = value.get("usage")
    counts = usage.items() if isinstance(usage, dict) else ()
    return {str(name): count for name, count in counts if type(count) is int}


def _names(value: dict[str, object]) -> str:
    return excerpt(", ".join(json.dumps(name) for name in value)) or "nothing in it"


def read_models(body: bytes) -> list[str]:
    """The models that a server lists (OpenAI: GET /v1/models), in its order.

    Raises:
        Unexpected: the answer is anything else.
    """
    value = _object(read_json(body))
    listed = value.get("data")
    if not isinstance(listed, list):
        raise Unexpected(f"an object with {_names(value)}", 'a list in "data"')
    return [str(item["id"]) for item in listed if isinstance(item, dict) and item.get("id")]

"""What servers answer, checked before anything is made of it.

Shapes, each from the documentation or source of the server named:

* embeddings (OpenAI's API reference; vLLM, TEI, Infinity and llama.cpp answer alike): an object with ``data``, a list
  of ``{"index", "embedding"}`` in any order; an embedding is a list of numbers, or with ``encoding_format`` "base64" a
  text of little-endian float32.
* scores: a list of ``{"index", …}`` sorted by score, which lies bare (TEI's ``Rank``), in ``results`` (Jina, Cohere,
  vLLM's rerank API, Infinity, llama.cpp) or in ``data`` (vLLM's score API, older Infinity); the number is
  ``relevance_score`` or ``score``.
* errors: ``{"error": {"message"}}`` (OpenAI, vLLM, Infinity, llama.cpp), ``{"error": text}`` (TEI), ``{"message"}``
  (TEI's OpenAI routes, older vLLM), ``{"detail"}`` (FastAPI's own).
"""

from __future__ import annotations

import base64
import binascii
import json
import sys
from array import array
from collections.abc import Callable
from typing import TypeVar

from bright_inspect.endpoints.errors import excerpt

_LARGEST_FLOAT32 = 3.4028234663852886e38
_MISSING = object()

T = TypeVar("T")


class Unexpected(Exception):
    """An answer that is not what was asked for; both are parts of a sentence."""

    def __init__(self, found: str, expected: str) -> None:
        super().__init__(f"{found}; expected {expected}")
        self.found = found
        self.expected = expected


def read_json(body: bytes) -> object:
    """The value in a body.

    Raises:
        Unexpected: it is no JSON.
    """
    try:
        value: object = json.loads(body)
    except (ValueError, RecursionError):
        text = body.decode("utf-8", errors="replace")
        if not text.strip():
            found = "an empty answer"
        elif text.lstrip()[:1] == "<":
            found = f"a web page: {excerpt(text)}"
        else:
            found = f"text that is not JSON: {excerpt(text)}"
        raise Unexpected(found, "JSON") from None
    return value


def server_message(body: bytes) -> str:
    """What a server says of its refusal, in its own words on one line; "" where it says nothing."""
    try:
        value = read_json(body)
    except Unexpected:
        return excerpt(body.decode("utf-8", errors="replace"))
    return message_in(value) or (excerpt(json.dumps(value, ensure_ascii=False)) if value else "")


def read_vectors(body: bytes, count: int) -> list[list[float]]:
    """The vectors of ``count`` texts, in the texts' order, all of one length, of numbers that a float32 can hold.

    Raises:
        Unexpected: the answer is anything else.
    """
    vectors = _in_order(_list(body, ("data",)), count, "vector", _vector)
    lengths = sorted({len(vector) for vector in vectors})
    if len(lengths) > 1:
        raise Unexpected(f"vectors of {lengths[0]:,} and of {lengths[-1]:,} numbers", "vectors of one length")
    return vectors


def read_scores(body: bytes, count: int) -> list[float]:
    """The scores of ``count`` documents, in the documents' order.

    Raises:
        Unexpected: the answer is anything else.
    """
    return _in_order(_list(body, ("results", "data")), count, "score", _score)


def message_in(value: object) -> str:
    """What an object says of an error, in its own words on one line; "" where it says nothing."""
    if isinstance(value, str):
        return excerpt(value)
    if isinstance(value, dict):
        for name in ("error", "message", "detail"):
            if value.get(name):
                return message_in(value[name]) or excerpt(json.dumps(value[name], ensure_ascii=False))
    return ""


def _list(body: bytes, names: tuple[str, ...]) -> list[object]:
    """The list of results: the value itself, or what it has under one of the names."""
    value = read_json(body)
    wanted = "a list in " + " or ".join(f'"{name}"' for name in names)
    if isinstance(value, dict):
        if value.get("error"):
            raise Unexpected(f"an error with HTTP status 200: {message_in(value)}", wanted)
        for name in names:
            if isinstance(value.get(name), list):
                return list(value[name])
        shown = ", ".join(f'"{name}"' for name in value)
        raise Unexpected(f"an object with {excerpt(shown) or 'nothing in it'}", wanted)
    if isinstance(value, list) and "results" in names:
        return value
    raise Unexpected(kind_of(value), wanted)


def _in_order(items: list[object], count: int, what: str, read: Callable[[dict[str, object], int], T]) -> list[T]:
    """What ``read`` makes of each item, at the place its index says."""
    expected = f"{count:,}, one {what} for each text"
    if len(items) != count:
        raise Unexpected(f"{len(items):,} {what}{'' if len(items) == 1 else 's'}", expected)
    found: dict[int, T] = {}
    for place, item in enumerate(items):
        if not isinstance(item, dict):
            raise Unexpected(f"{kind_of(item)} as result {place}", 'an object with "index"')
        index = item.get("index", _MISSING)
        if type(index) is not int or not 0 <= index < count:
            shown = "no index" if index is _MISSING else f"the index {excerpt(json.dumps(index))}"
            raise Unexpected(f"{shown} in result {place}", f"an index from 0 to {count - 1:,}")
        if index in found:
            raise Unexpected(f"the index {index} twice", expected)
        found[index] = read(item, index)
    return [found[index] for index in range(count)]


def _vector(item: dict[str, object], index: int) -> list[float]:
    value = item.get("embedding", _MISSING)
    expected = "a list of numbers"
    if isinstance(value, str):
        value = _floats(value, index)
    if not isinstance(value, list):
        found = "no embedding" if value is _MISSING else f"{kind_of(value)} as embedding"
        raise Unexpected(f"{found} of text {index}", expected)
    if not value:
        raise Unexpected(f"an empty vector for text {index}", expected)
    wrong = next((number for number in value if not _is_number(number)), _MISSING)
    if wrong is not _MISSING:
        raise Unexpected(f"{excerpt(json.dumps(wrong))} in the vector of text {index}", "numbers that a float32 holds")
    return [float(number) for number in value]


def _floats(text: str, index: int) -> list[float]:
    """Numbers as base64 of little-endian float32."""
    floats = array("f")
    try:
        floats.frombytes(base64.b64decode(text, validate=True))
    except (binascii.Error, ValueError):
        raise Unexpected(
            f"the text {excerpt(text)!r} as embedding of text {index}", "numbers, or their base64"
        ) from None
    if sys.byteorder == "big":
        floats.byteswap()
    return floats.tolist()


def _score(item: dict[str, object], index: int) -> float:
    value = item.get("relevance_score", item.get("score", _MISSING))
    if not _is_number(value):
        found = "no score" if value is _MISSING else f"{excerpt(json.dumps(value))} as score"
        raise Unexpected(f"{found} of document {index}", "a number")
    assert isinstance(value, int | float)
    return float(value)


def _is_number(value: object) -> bool:
    """Neither NaN, which compares with nothing, nor true, which Python takes for 1."""
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= _LARGEST_FLOAT32


def kind_of(value: object) -> str:
    """What a JSON value is, with its beginning."""
    return f"{_NAMES[type(value)]} ({excerpt(json.dumps(value, ensure_ascii=False))})"


_NAMES = {
    dict: "an object", list: "a list", str: "a text", int: "a number", float: "a number", bool: "a truth value",
    type(None): "null",
}  # fmt: skip

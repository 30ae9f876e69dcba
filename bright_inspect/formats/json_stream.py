"""JSON texts walked value by value, so that a file of any size becomes Python objects one query at a time.

The standard library's decoder does the work; what is here only steps over the outer levels. Repeated keys are kept,
and several values after each other are several values (rank_llm's append mode writes those).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from bright_inspect.errors import UnreadableInput

_BLANK = re.compile(r"[ \t\n\r]*")
_HINT = "Write or fetch the file again."


class Pairs(list[tuple[str, Any]]):
    """A JSON object as its (key, value) pairs, repeated keys included."""


_DECODER = json.JSONDecoder(object_pairs_hook=Pairs)


class JsonStream:
    """A place in a JSON text. Whoever steps into an object or list takes each of its values by one call.

    Every method raises json.JSONDecodeError where the text is no JSON; ``json_errors_told`` makes that a line for the
    user.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self.place = 0

    def peek(self) -> str:
        """The next character that is not blank, or "" at the end."""
        match = _BLANK.match(self.text, self.place)
        self.place = match.end() if match else self.place
        return self.text[self.place : self.place + 1]

    def value(self) -> Any:
        """Take the whole next value; objects come as Pairs."""
        self.peek()
        value, self.place = _DECODER.raw_decode(self.text, self.place)
        return value

    def members(self) -> Iterator[str]:
        """Step into the next value, an object: its keys, the caller taking each one's value before the next."""
        self._take("{")
        if self.peek() == "}":
            self.place += 1
            return
        while True:
            if self.peek() != '"':
                raise json.JSONDecodeError("Expecting property name enclosed in double quotes", self.text, self.place)
            key: str = self.value()
            self._take(":")
            yield key
            if self._ends("}"):
                return

    def items(self) -> Iterator[int]:
        """Step into the next value, a list: the number (from 1) of each item, the caller taking it before the next."""
        self._take("[")
        if self.peek() == "]":
            self.place += 1
            return
        number = 1
        while True:
            yield number
            if self._ends("]"):
                return
            number += 1

    def end(self) -> None:
        """Make sure that nothing follows."""
        if self.peek():
            raise json.JSONDecodeError("Extra data", self.text, self.place)

    def _take(self, char: str) -> None:
        if self.peek() != char:
            raise json.JSONDecodeError(f"Expecting '{char}'", self.text, self.place)
        self.place += 1

    def _ends(self, closing: str) -> bool:
        """Whether the object or list ends here, or a comma announces more."""
        char = self.peek()
        if char not in (",", closing) or not char:
            raise json.JSONDecodeError(f"Expecting ',' or '{closing}'", self.text, self.place)
        self.place += 1
        return char == closing


@contextmanager
def json_errors_told(path: Path, expected: str) -> Iterator[None]:
    """What a JSON text has wrong reaches the user as one line with the place.

    Raises:
        UnreadableInput: instead of the decoder's errors; a text that ends too early is called cut, with the byte.
    """
    try:
        yield
    except json.JSONDecodeError as error:
        text = error.doc
        place = len(text[: error.pos].encode())
        cut = error.pos >= len(text.rstrip()) or "Unterminated" in error.msg
        what = "the JSON ends in mid-value" if cut else f"not valid JSON ({error.msg})"
        raise UnreadableInput(f"{path}:{error.lineno}: {what} at byte {place}.", _HINT) from None
    except RecursionError:
        raise UnreadableInput(f"{path}: JSON nested too deeply.", expected) from None
    except ValueError as error:
        if "integer string conversion" not in str(error):
            raise
        raise UnreadableInput(f"{path}: a number with thousands of digits.", expected) from None


_TOKEN = re.compile(r'[ \t\n\r]*("(?:[^"\\]|\\.)*"|[{}\[\],:]|[^\s{}\[\],:"]+)', re.DOTALL)
_MOST_LEVELS = 60


def first_value(head: str, whole: bool) -> tuple[Any, bool] | None:
    """What the first value of a text is, as far as ``head`` goes: unfinished objects and lists are ended there.

    Objects come as Pairs. Also returns whether the value is whole. None if the start is no JSON. ``whole``
    says that the head is all there is.
    """
    closers: list[str] = []
    usable, ends = 0, ""
    key_next = False
    for token in _TOKEN.finditer(head):
        text = token[1]
        if text in "{[":
            closers.append("}" if text == "{" else "]")
            if len(closers) > _MOST_LEVELS:
                return None
            key_next = text == "{"
        elif text in "}]":
            if not closers or closers.pop() != text:
                return None
            key_next = False
        elif text in ",:":
            key_next = text == "," and bool(closers) and closers[-1] == "}"
            continue
        elif key_next or (token.end() == len(head) and not whole):
            key_next = False
            continue
        usable, ends = token.end(), "".join(reversed(closers))
        if not closers:
            break
    if whole and ends:
        return None
    try:
        value = json.loads(head[:usable] + ends, object_pairs_hook=Pairs)
    except (ValueError, RecursionError):
        return None
    return value, not ends

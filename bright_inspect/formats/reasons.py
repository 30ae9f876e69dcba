"""A model's answer taken apart: what it thought, and what it said."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from bright_inspect.formats.records import RESPONSE_KEYS, THOUGHT_KEYS, first_key

_WHOLE = re.compile(r"<think(?:ing)?>(.*?)(?:</think(?:ing)?>|\Z)", re.DOTALL | re.IGNORECASE)
_CLOSING = re.compile(r"</think(?:ing)?>", re.IGNORECASE)


def split_thought(text: str) -> tuple[str, str]:
    """(thought, response): what stands in ``<think>…</think>``, and the rest, both without blanks around them.

    The closing tag may be missing (the answer was cut), and so may the opening one (chat templates put it into the
    prompt, so that it is not part of the answer).
    """
    opening = re.search(r"<think(?:ing)?>", text, re.IGNORECASE)
    closing = _CLOSING.search(text)
    if closing and (opening is None or closing.start() < opening.start()):
        thought, text = text[: closing.start()], text[closing.end() :]
        more, response = split_thought(text)
        return "\n".join(filter(None, (thought.strip(), more))), response
    thoughts = [match[1].strip() for match in _WHOLE.finditer(text)]
    return "\n".join(filter(None, thoughts)), _WHOLE.sub("", text).strip()


def reason_of(row: Mapping[str, Any]) -> tuple[str, str]:
    """(thought, response) of a row or an invocation; empty texts where it has none."""
    key = first_key(RESPONSE_KEYS, (name for name, value in row.items() if isinstance(value, str)))
    thought, response = split_thought(row[key]) if key else ("", "")
    own = first_key(THOUGHT_KEYS, (name for name, value in row.items() if isinstance(value, str)))
    if own:
        thought = "\n".join(filter(None, (row[own].strip(), thought)))
    return thought, response

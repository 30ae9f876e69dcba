"""A model's answer taken apart."""

from __future__ import annotations

import pytest

from bright_inspect.formats.reasons import split_thought


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("yes", ("", "yes")),
        ("", ("", "")),
        ("<think>a</think>yes", ("a", "yes")),
        ("<think>\na\n</think>\n\n yes \n", ("a", "yes")),
        ("<think>cut short", ("cut short", "")),
        ("only closed</think> yes", ("only closed", "yes")),
        ("well <think>a</think> yes", ("a", "well  yes")),
        ("<think>a</think>b<think>c</think>d", ("a\nc", "bd")),
        ("a</think>b<think>c", ("a\nc", "b")),
        ("<THINK>a</THINK>yes", ("a", "yes")),
        ("<thinking>a</thinking>yes", ("a", "yes")),
        ("1 < 2 and <thinker>", ("", "1 < 2 and <thinker>")),
    ],
)
def test_thought_and_response(text: str, parts: tuple[str, str]) -> None:
    assert split_thought(text) == parts

"""What of an untrusted text may reach the terminal."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bright_inspect.domain.visible import REPLACEMENT, visible

ANY_TEXT = st.text(st.characters(exclude_categories=()))  # surrogates too


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain [bold]x[/bold] text", "plain [bold]x[/bold] text"),
        ("\x1b[31mred", "␛[31mred"),
        ("a\tb\nc\u2028d", "a b c d"),
        ("a\r\nb", "a␍ b"),
        ("\x00\x7f", "␀␡"),
        ("\x9b31m\x85", f"{REPLACEMENT}31m{REPLACEMENT}"),
        ("evil\u202etxt.exe\u2066", f"evil{REPLACEMENT}txt.exe{REPLACEMENT}"),
        ("a\u200db", f"a{REPLACEMENT}b"),
        ("\u200d", REPLACEMENT),
        ("\U0001f469\u200d\U0001f4bb", "\U0001f469\u200d\U0001f4bb"),
        ("\U0001f469\U0001f3fd\u200d\U0001f4bb", "\U0001f469\U0001f3fd\u200d\U0001f4bb"),
        ("\u2764\ufe0f\u200d\U0001f525", "\u2764\ufe0f\u200d\U0001f525"),
        ("می\u200cخواهم", "می\u200cخواهم"),
        ("\u200cword", f"{REPLACEMENT}word"),
        ("zero\u200bwidth\ufeff", f"zero{REPLACEMENT}width{REPLACEMENT}"),
        ("\ud800", REPLACEMENT),
        ("日本\u3000語\u00a0e\u0301", "日本\u3000語\u00a0e\u0301"),
    ],
)
def test_visible(text: str, shown: str) -> None:
    assert visible(text) == shown


@given(ANY_TEXT)
def test_one_character_for_one_and_nothing_dangerous_left(text: str) -> None:
    shown = visible(text)
    assert len(shown) == len(text)
    assert not any(ord(char) < 0x20 or 0x7F <= ord(char) < 0xA0 for char in shown)
    assert not set(shown) & set("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u200b\u200e\u200f")
    shown.encode("utf-8")


@given(ANY_TEXT)
def test_showing_twice_changes_nothing(text: str) -> None:
    assert visible(visible(text)) == visible(text)

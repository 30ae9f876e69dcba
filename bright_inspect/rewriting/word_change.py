"""What a rewrite did to the words of a query; this takes no corpus."""

from __future__ import annotations

from dataclasses import dataclass

from bright_inspect.rewriting.word_diff import DiffSpan, word_diff
from bright_inspect.rewriting.words import Lengths, lengths


@dataclass(frozen=True, slots=True)
class WordChange:
    """Two texts, the stretches in which they agree and differ, and their lengths."""

    original: str
    rewrite: str
    diff: tuple[DiffSpan, ...]
    lengths: Lengths


def compare_words(original: str, rewrite: str) -> WordChange:
    """Compare a rewrite with its original, word by word."""
    return WordChange(original, rewrite, tuple(word_diff(original, rewrite)), lengths(original, rewrite))

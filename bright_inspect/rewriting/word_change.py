"""What a rewrite did to the words of a query; this takes no corpus."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from bright_inspect.retrieval.protocol import Check, never_stop
from bright_inspect.rewriting.leaks import Leaks, find_leaks
from bright_inspect.rewriting.word_diff import DiffSpan, word_diff
from bright_inspect.rewriting.words import Lengths, lengths


@dataclass(frozen=True, slots=True)
class WordChange:
    """Two texts, the stretches in which they agree and differ, their lengths, and what the rewrite quotes of golds."""

    original: str
    rewrite: str
    diff: tuple[DiffSpan, ...]
    lengths: Lengths
    shared: Leaks


def compare_words(
    original: str, rewrite: str, golds: Mapping[str, str | None], check: Check = never_stop
) -> WordChange:
    """Compare a rewrite with its original; ``golds`` are texts by document id, None where one is not at hand."""
    diff = tuple(word_diff(original, rewrite))
    check()
    return WordChange(
        original, rewrite, diff, lengths(original, rewrite), find_leaks(original, rewrite, golds, check=check)
    )

"""Words of a text as places in it, as a reader sees them: what the word diff and the leak flag compare.

These are not the terms that BM25 searches by (``retrieval.analysis``): nothing is stemmed and no stop word is missing.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass

# Scripts without blanks between words: each character stands for itself.
_ALONE = "\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff"
#: A word with the apostrophes in it, or a character of a script without blanks.
WORD = re.compile(rf"[{_ALONE}]|[^\W_{_ALONE}]++(?:['’][^\W_{_ALONE}]++)*+")


def normalised(word: str) -> str:
    """A word whatever its case and apostrophe."""
    return word.casefold().replace("’", "'")


def normalised_words(text: str) -> list[str]:
    """The words of a text, normalised, in order."""
    return [normalised(word) for word in WORD.findall(text)]


@dataclass(frozen=True, slots=True)
class Lengths:
    """How long two texts are, in words (see ``WORD``) and in characters, and the share of the original's words (0–1)
    that the rewrite still has.

    ``surviving`` takes the words as multisets, normalised: Σ min(times in the original, times in the rewrite), divided
    by the words of the original. None where the original has no word.
    """

    original_words: int
    rewrite_words: int
    original_characters: int
    rewrite_characters: int
    surviving: float | None


def surviving_share(original: Counter[str], rewrite: Counter[str]) -> float | None:
    """The share (0–1) of the original's words, each as often as it stands there, that the rewrite still has; None of an
    original without words."""
    total = original.total()
    return (original & rewrite).total() / total if total else None


def lengths(original: str, rewrite: str) -> Lengths:
    """How long an original and its rewrite are, and how many of the original's words survive."""
    before, after = normalised_words(original), normalised_words(rewrite)
    surviving = surviving_share(Counter(before), Counter(after))
    return Lengths(len(before), len(after), len(original), len(rewrite), surviving)

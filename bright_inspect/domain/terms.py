"""The telling words of a query, to be lit in a document, and where in the document most of them meet."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

# Lucene's English stop words (EnglishAnalyzer.ENGLISH_STOP_WORDS_SET), and question words that every post has.
_STOP_WORD_LIST = """
    a an and are as at be but by for if in into is it no not of on or such that the their then there these they this to
    was will with what why how when where which who does did can could would should have has had from about your you
    its his her our any all some just like only also than them very more most much many being
    were been each one two three four first after before number while into over since using used use get make want
    know way thing things something question answer please
"""
STOP_WORDS = frozenset(_STOP_WORD_LIST.split())
_WORD = re.compile(r"[^\W_]{3,}")
#: A document longer than this is lit only up to here, so that opening it stays quick.
_LIT_CHARACTERS = 400_000
#: Roughly what one screen of the reader holds.
_WINDOW = 800


def telling_words(query: str, most: int = 60) -> frozenset[str]:
    """The query's lower-case words of three letters or more that are not stop words; the first ``most`` of them."""
    words = dict.fromkeys(word for word in _WORD.findall(query.lower()) if word not in STOP_WORDS)
    return frozenset(list(words)[:most])


def find_words(text: str, words: frozenset[str]) -> list[tuple[int, int]]:
    """Where the words stand in the text as whole words, whatever their case, as (start, end) in order.

    A word is looked for by itself, since that is ten times quicker than cutting a long text into words.
    """
    lower = text[:_LIT_CHARACTERS].lower()
    if len(lower) != min(len(text), _LIT_CHARACTERS):
        # A letter whose lower case is longer (İ) would shift everything after it.
        return [match.span() for match in _WORD.finditer(text, 0, _LIT_CHARACTERS) if match[0].lower() in words]
    places = []
    for word in words:
        start = lower.find(word)
        while start >= 0:
            end = start + len(word)
            if not (start and _in_word(lower[start - 1])) and not (end < len(lower) and _in_word(lower[end])):
                places.append((start, end))
            start = lower.find(word, end)
    return sorted(places)


def _in_word(char: str) -> bool:
    return char.isalnum()


def best_place(text: str, places: Sequence[tuple[int, int]]) -> int | None:
    """The start of the stretch (about one screen) with the most different words, the earliest such; None if none is."""
    inside: Counter[str] = Counter()
    best, best_start, first = 0, None, 0
    for start, end in places:
        inside[text[start:end].lower()] += 1
        while start - places[first][0] > _WINDOW:
            word = text[slice(*places[first])].lower()
            inside[word] -= 1
            if not inside[word]:
                del inside[word]
            first += 1
        if len(inside) > best:
            best, best_start = len(inside), places[first][0]
    return best_start

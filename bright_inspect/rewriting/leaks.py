"""Whether a rewrite quotes a gold document: words in a row that both have and the original query has not.

A model that has seen the document may write it down, and then the rewrite finds it without any reasoning. A match is a
fact about the texts; whether it is a leak is for the reader to say: formulas and set phrases are shared as well.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from bright_inspect.retrieval.protocol import Check, never_stop
from bright_inspect.rewriting.words import WORD, normalised_words

#: The fewest words in a row that are flagged.
WORDS = 8
#: Places of the same words in one gold that are tried; enough for any that is no loop.
_PLACES = 8

_Gram = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Leak:
    """Words in a row that a rewrite shares with a gold: ``rewrite[start:end]`` and ``gold[gold_start:gold_end]``."""

    gold_id: str
    start: int
    end: int
    gold_start: int
    gold_end: int
    words: int


@dataclass(frozen=True, slots=True)
class Leaks:
    """What a rewrite shares with golds, in the rewrite's order; ``golds`` of them were at hand, ``of`` how many.
    ``words`` is how many words in a row are asked for."""

    leaks: tuple[Leak, ...]
    golds: int
    of: int
    words: int = WORDS

    @property
    def coverage(self) -> str:
        """``2 of 3``: golds at hand of all."""
        return f"{self.golds:,} of {self.of:,}"


def find_leaks(
    original: str, rewrite: str, golds: Mapping[str, str | None], words: int = WORDS, check: Check = never_stop
) -> Leaks:
    """The stretches of at least ``words`` words that the rewrite shares with a gold's text, and of which the original
    query has no ``words`` in a row.

    ``golds`` are texts by document id, None where one is not at hand. Words are the same whatever their case, and marks
    between them do not count. A stretch goes on to both sides as far as it can; of several places in a gold that one is
    given where it goes on longest, the earliest of those. Time is linear in the texts: of a stretch that a gold says
    very often, only the first ``_PLACES`` are tried.
    """
    rewritten = _Words(rewrite)
    known = set(_grams(_Words(original).words, words))
    asked = {gram for gram in _grams(rewritten.words, words) if gram not in known}
    leaks: list[Leak] = []
    for gold_id, text in golds.items():
        check()
        if text is not None and asked:
            leaks += _of_gold(rewritten, gold_id, _Words(text), asked, words)
    leaks.sort(key=lambda leak: (leak.start, leak.end, leak.gold_id))
    return Leaks(tuple(leaks), sum(text is not None for text in golds.values()), len(golds), words)


class _Words:
    """The normalised words of a text, and where they stand."""

    def __init__(self, text: str) -> None:
        self._text = text
        self.words = normalised_words(text)
        self._spans: list[tuple[int, int]] | None = None

    def span(self, first: int, last: int) -> tuple[int, int]:
        """Where the text from one word to another stands."""
        if self._spans is None:  # looked for where something was found
            self._spans = [match.span() for match in WORD.finditer(self._text)]
        return self._spans[first][0], self._spans[last][1]


def _grams(words: Sequence[str], length: int) -> Iterator[_Gram]:
    return zip(*(words[offset:] for offset in range(length)), strict=False)


def _of_gold(rewrite: _Words, gold_id: str, gold: _Words, asked: set[_Gram], length: int) -> Iterator[Leak]:
    places: dict[_Gram, list[int]] = {}
    for place, gram in enumerate(_grams(gold.words, length)):
        if gram in asked:
            found = places.setdefault(gram, [])
            if len(found) < _PLACES:
                found.append(place)
    if not places:
        return
    ours, theirs = rewrite.words, gold.words

    def runs_at(place: int, gold_place: int) -> bool:
        """Whether the same words in a row begin at both places, and are asked for."""
        return ours[place] == theirs[gold_place] and tuple(ours[place : place + length]) in asked

    # Places count the runs of ``length`` words that begin there.
    last, gold_last = len(ours) - length, len(theirs) - length
    place = previous = 0
    while place <= last:
        candidates = places.get(tuple(ours[place : place + length]))
        if not candidates:
            place += 1
            continue
        best, best_start, best_gold = -1, 0, 0
        for gold_place in candidates:
            end = 0
            while (
                place + end < last
                and gold_place + end < gold_last
                and ours[place + end + length] == theirs[gold_place + end + length]
                and tuple(ours[place + end + 1 : place + end + 1 + length]) in asked
            ):
                end += 1
            back = 0
            # What begins where the one before it began was found there.
            while place - back > previous and gold_place > back and runs_at(place - back - 1, gold_place - back - 1):
                back += 1
            if back + end > best:
                best, best_start, best_gold = back + end, place - back, gold_place - back
                best_end = place + end
        start, end_at = rewrite.span(best_start, best_start + best + length - 1)
        gold_start, gold_end = gold.span(best_gold, best_gold + best + length - 1)
        yield Leak(gold_id, start, end_at, gold_start, gold_end, best + length)
        previous, place = best_start + 1, best_end + 1

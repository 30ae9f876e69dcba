"""A rewrite against its original, word by word.

rapidfuzz (MIT) finds the longest common subsequence of words. It is exact, and needs one bit and one step for each pair
of words (64 pairs at a time): 36 MB and 0.15 s for two texts of 100,000 characters, all the while holding the
interpreter's lock, so that the screen would stand still. Longer texts are therefore cut first where they agree: at
runs of words that each has once, in the same order in both (the anchors of a patience diff). What is still too large
between two such places is cut in equal shares.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate
from typing import Literal, NamedTuple

from bright_inspect.retrieval.analysis import STOP_WORDS
from bright_inspect.rewriting.words import WORD

SpanKind = Literal["equal", "removed", "added"]

#: Pairs of words that one call compares: about 5 ms and 1 MB.
_PAIRS = 8_000_000
#: Pairs of words that all calls for two texts compare together, at the most: about 10 ms.
_ALL_PAIRS = 16_000_000
#: Stop words and marks in a row that agree by chance.
_BY_CHANCE = 4
#: Words in a run that is looked for in both texts.
_RUN = 4
# A word, or a single mark; blanks belong to what comes before them.
_TOKEN = re.compile(rf"(?:{WORD.pattern}|[^\w\s]|_++)\s*+")


class DiffSpan(NamedTuple):
    """A stretch of both texts: ``original[original_start:original_end]`` and ``rewrite[rewrite_start:rewrite_end]``.

    The one is empty where words were ``added``, the other where they were ``removed``. Where the texts are ``equal``,
    words and marks are the same, and blanks may differ.
    """

    kind: SpanKind
    original_start: int
    original_end: int
    rewrite_start: int
    rewrite_end: int


_Block = tuple[int, int, int, int]
"""``(start, end)`` in the words of the original and in those of the rewrite."""
_Match = tuple[int, int, int]
"""Where equal words begin in the original and in the rewrite, and how many there are."""


def word_diff(original: str, rewrite: str) -> list[DiffSpan]:
    """The stretches in which two texts agree and differ, in order; together they are all of both texts. What was added
    comes after what was removed.

    Words are compared with their case. A stretch of nothing but stop words and marks between two changes is taken for
    one of them: it agrees by chance. Otherwise what agrees is as much as can be, where the texts have at most
    ``_PAIRS`` pairs of words (2,800 words each); in longer texts it may be less. Takes under 60 ms for 100,000
    characters each.
    """
    starts_before, words_before = _tokens(original)
    starts_after, words_after = _tokens(rewrite)
    spans: list[DiffSpan] = []
    at = rewrite_at = 0
    matches = _telling(list(_merged(_matches(words_before, words_after))), words_before, len(words_after))
    for place, rewrite_place, count in (*matches, (len(words_before), len(words_after), 0)):
        start, rewrite_start = starts_before[place], starts_after[rewrite_place]
        if at < start:
            spans.append(DiffSpan("removed", at, start, rewrite_at, rewrite_at))
        if rewrite_at < rewrite_start:
            spans.append(DiffSpan("added", start, start, rewrite_at, rewrite_start))
        at, rewrite_at = starts_before[place + count], starts_after[rewrite_place + count]
        if count:
            spans.append(DiffSpan("equal", start, at, rewrite_start, rewrite_at))
    return spans


def _tokens(text: str) -> tuple[list[int], list[str]]:
    """Where each token begins (the first at 0, and at last where the text ends), and the tokens without blanks."""
    tokens = _TOKEN.findall(text)
    if not tokens:
        return ([0, len(text)], [""]) if text else ([0], [])
    before = len(text) - sum(map(len, tokens))  # blanks before the first one, which are its own
    starts = list(accumulate(map(len, tokens), initial=before))
    starts[0] = 0
    return starts, [token.rstrip() for token in tokens]


def _merged(matches: Iterable[_Match]) -> Iterator[_Match]:
    """Matches in order, with those that meet as one."""
    begin = rewrite_begin = count = 0
    for place, rewrite_place, length in matches:
        if place == begin + count and rewrite_place == rewrite_begin + count:
            count += length
        else:
            if count:
                yield begin, rewrite_begin, count
            begin, rewrite_begin, count = place, rewrite_place, length
    if count:
        yield begin, rewrite_begin, count


def _telling(matches: Sequence[_Match], before: Sequence[str], after: int) -> Iterator[_Match]:
    """Without the matches between two changes that have only stop words and marks in them; ``after`` counts the
    rewrite's words."""
    for place, rewrite_place, count in matches:
        if (
            (place == rewrite_place == 0 or (place + count == len(before) and rewrite_place + count == after))
            or count > _BY_CHANCE
            or any(word[:1].isalnum() and word.lower() not in STOP_WORDS for word in before[place : place + count])
        ):
            yield place, rewrite_place, count


def _matches(before: Sequence[str], after: Sequence[str]) -> Iterator[_Match]:
    """Equal words of both texts, in order."""
    from rapidfuzz.distance import LCSseq

    for equal, (begin, end, rewrite_begin, rewrite_end) in _blocks(before, after):
        if equal:
            yield begin, rewrite_begin, end - begin
        elif begin < end and rewrite_begin < rewrite_end:
            codes = LCSseq.editops(before[begin:end], after[rewrite_begin:rewrite_end])
            for match in codes.as_matching_blocks():
                yield match.a + begin, match.b + rewrite_begin, match.size


def _blocks(before: Sequence[str], after: Sequence[str]) -> Iterator[tuple[bool, _Block]]:
    """The texts cut into blocks that are equal or to be compared, each with at most ``_PAIRS`` pairs, in order."""
    head = _common(before, after)
    tail = _common(before[head:][::-1], after[head:][::-1])
    yield True, (0, head, 0, head)
    begin, rewrite_begin, end, rewrite_end = head, head, len(before) - tail, len(after) - tail
    if (end - begin) * (rewrite_end - rewrite_begin) <= _PAIRS:
        yield False, (begin, end, rewrite_begin, rewrite_end)
    else:
        blocks = list(_between_anchors(before, after, (begin, end, rewrite_begin, rewrite_end)))
        pairs = sum((b - a) * (d - c) for equal, (a, b, c, d) in blocks if not equal)
        # Cut in n shares, a block has an n-th of its pairs left.
        shares = max(1, -(-pairs // _ALL_PAIRS))
        for equal, block in blocks:
            yield from [(True, block)] if equal else ((False, share) for share in _shares(block, shares))
    yield True, (end, len(before), rewrite_end, len(after))


def _common(first: Sequence[str], second: Sequence[str]) -> int:
    """How many words both begin with."""
    count = 0
    for one, other in zip(first, second, strict=False):
        if one != other:
            break
        count += 1
    return count


def _between_anchors(before: Sequence[str], after: Sequence[str], block: _Block) -> Iterator[tuple[bool, _Block]]:
    """A block cut at the runs of words that each text has once and that are in the same order in both."""
    begin, end, rewrite_begin, rewrite_end = block
    once_before, once_after = _once(before, begin, end), _once(after, rewrite_begin, rewrite_end)
    pairs = [
        (place, rewrite_place)
        for run, place in once_before.items()
        if place >= 0
        and (rewrite_place := once_after.get(run, -1)) >= 0
        and before[place : place + _RUN] == after[rewrite_place : rewrite_place + _RUN]
    ]
    for place, rewrite_place in _rising(pairs):
        if place < begin or rewrite_place < rewrite_begin:
            continue  # within the equal stretch before it
        length = _RUN
        while (
            place + length < end
            and rewrite_place + length < rewrite_end
            and before[place + length] == after[rewrite_place + length]
        ):
            length += 1
        yield False, (begin, place, rewrite_begin, rewrite_place)
        yield True, (place, place + length, rewrite_place, rewrite_place + length)
        begin, rewrite_begin = place + length, rewrite_place + length
    yield False, (begin, end, rewrite_begin, rewrite_end)


def _once(words: Sequence[str], begin: int, end: int) -> dict[int, int]:
    """Hash of a run -> its place, of those that are there once, in order. A hash, since a text has a run a word."""
    part = words[begin:end]
    runs = map(hash, zip(*(part[offset:] for offset in range(_RUN)), strict=False))
    places: dict[int, int] = {}
    for place, run in enumerate(runs, begin):
        places[run] = -1 if run in places else place
    return places


def _rising(pairs: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """The longest series of pairs, which rise in their first, that rise in their second too (by patience sorting)."""
    tops: list[int] = []
    ends: list[int] = []
    before: list[int] = []
    for number, (_, second) in enumerate(pairs):
        pile = bisect_left(tops, second)
        before.append(ends[pile - 1] if pile else -1)
        if pile == len(tops):
            tops.append(second)
            ends.append(number)
        else:
            tops[pile] = second
            ends[pile] = number
    series = []
    number = ends[-1] if ends else -1
    while number >= 0:
        series.append(pairs[number])
        number = before[number]
    return series[::-1]


def _shares(block: _Block, least: int) -> Iterator[_Block]:
    """A block in equal shares, at least so many, of at most ``_PAIRS`` pairs each."""
    begin, end, rewrite_begin, rewrite_end = block
    rows, columns = end - begin, rewrite_end - rewrite_begin
    count = least
    while rows * columns > _PAIRS * count * count:
        count += 1
    for share in range(count):
        yield (
            begin + rows * share // count,
            begin + rows * (share + 1) // count,
            rewrite_begin + columns * share // count,
            rewrite_begin + columns * (share + 1) // count,
        )

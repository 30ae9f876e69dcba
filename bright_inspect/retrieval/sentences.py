"""The sentences of a text, as places in it.

Written here because what there is does not fit. NLTK's punkt needs model data that is downloaded apart; pysbd (last
released in 2021) rewrites the whole text rule by rule and looks its sentences up again, which takes seconds on a long
document; syntok splits tokens, not texts, and needs a package of its own for patterns; uniseg follows UAX #29, which
ends a sentence after "Dr. Smith" has its title. None of them knows lists, code or LaTeX, of which queries are full.

Time is linear in the text: patterns are possessive, and what they skip is never looked at again.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

#: Longer lines were not wrapped by hand: their ends mean something.
_WIDEST_WRAPPED = 120
#: How far from a full stop its word and the next word are looked at.
_WORD = 24

#: Of list items that begin with a letter: "viii)".
_LONGEST_MARKER = 5

# One line, by how it begins. Each alternative starts with another character, so that none is tried for long.
_LINE = re.compile(
    r"""(?P<indent>[ \t]*+)(?:
        (?P<fence>`{3,}+(?=[^`\n]*+(?:\n|\Z))|~{3,}+)
      | (?P<heading>\#{1,6}+(?=\s))
      | (?P<item>(?:[-*+•‣◦–]|\(?\d{1,3}[.)]|[a-z][.)]|[A-Z]\)|\([A-Za-z]\)|\(?[ivx]{1,4}[.)])(?=[ \t]+\S))
      | (?P<row>\|)
      | (?P<rule>(?:={3,}+|-{3,}+)(?=\s*(?:\n|\Z)))
    )?""",
    re.VERBOSE,
)
# Stretches without a break in them: formulas and code. A sign that opens nothing stands for itself.
_PROTECTED = re.compile(
    r"""[$\\`](?:
        (?<=\$)\$[^$]{1,2000}+\$\$
      | (?<=\$)(?<![\\$]\$)(?=[^\s$])[^$\n]{0,500}(?<!\s)\$(?![\d$])
      | (?<=\\)\((?:[^\\\n]|\\(?![()]))*+\\\)
      | (?<=\\)\[(?:[^\\]|\\(?![\[\]]))*+\\\]
      | (?<=`)[^`\n]++`
    )""",
    re.VERBOSE,
)
_CLOSING = "\"'”’»)\\]}*_」』）】》"
# A run of stops with what closes after it: before a blank, or in scripts that have no blanks, anywhere. The look behind
# keeps a run from being tried again from its middle. Begins with one set of characters: such patterns are found fast.
_STOP = re.compile(
    rf"""[.!?…؟।۔。！？｡\n](?:
        (?<=\n)(?P<line>[ \t]*+)
      | (?<=[。！？｡])[。！？｡]*+[{_CLOSING}.…]*+\s*+
      | (?<![.!?…؟।۔][.!?…؟।۔])(?<=[.!?…؟।۔])(?P<stops>[.!?…؟।۔]*+)(?P<closed>[{_CLOSING}]*+)(?P<gap>\s++)
    )""",
    re.VERBOSE,
)
_OPENING = "\"'“‘«([{*_¿¡「『（【《–—•>#…-"
# What comes after a stop: a word, a formula or code, or signs and the letter after them.
_NEXT = re.compile(
    rf"[{re.escape(_OPENING)} \t]*+(?:(?P<word>[^\W_]\w*+)|(?P<code>[$\\`<])|[^\w\s]{{1,8}}+\s?(?P<sign>\w))"
)
_NUMBER = re.compile(r"[\[(#]|\d|[A-Z]\d*\b(?<!I)|[IVXLC]{2,}\b")
_WITH_STOPS = re.compile(r"[A-Za-z](?:\.[A-Za-z]{1,2})+")
_LAST_PART = re.compile("[/—–(-]")
_BEFORE_WORD = "([{\"'“‘«/—–-"


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_NEVER_LAST = _words(
    "e.g i.e eg ie cf vs viz approx resp dr mr mrs ms mx prof st mt rev hon gen col capt lt sgt gov sen messrs mme mlle"
    " incl esp aka w.r.t s.t i.i.d"
)
_BEFORE_A_NUMBER = _words(
    "no nos nr fig figs eq eqs eqn eqns sec sect ch chap vol vols p pp para art ver ex thm lem prop def cor ref refs"
    " tab app ca c v jan feb mar apr jun jul aug sep sept oct nov dec"
)
_MAY_BE_LAST = _words("etc al inc ltd co corp jr sr dept est univ assn bros ave blvd rd ed eds trans ph.d a.m p.m")
# Words that begin sentences and hardly ever go on with a name.
_BEGINNERS = _words(
    "the a an this that these those it its he she they we you i my our your his her their there here in on at for from"
    " with by as if when while where what which who why how however but and or so then thus hence therefore also"
    " although because since after before once now let suppose assume consider note given is are was were do does did"
    " can could should would will may might not no yes some many most all each every both one two any another other"
    " to using please find"
)


def sentences(text: str) -> list[tuple[int, int]]:
    """The sentences of a text, ``(start, end)`` in order: without blanks around them, none overlaps another, and every
    other character is in one.

    A sentence ends at a stop (. ! ? … and those of other scripts) before a blank and a probable beginning; at a blank
    line; and at the line ends of headings, lists, tables and code. Where prose is wrapped, a line end means nothing.
    One that has no such place in it stays whole, however long it is.
    """
    spans: list[tuple[int, int]] = []
    for start, end, prose in _blocks(text):
        cuts = _cuts(text, start, end) if prose else ()
        for cut in (*cuts, end):
            piece = text[start:cut]
            if stripped := piece.strip():
                first = start + len(piece) - len(piece.lstrip())
                spans.append((first, first + len(stripped)))
            start = cut
    return spans


def _blocks(text: str) -> Iterator[tuple[int, int, bool]]:
    """``(start, end, prose)`` of what no sentence crosses: a paragraph or list item, or a single line of another kind.
    Blank lines are in none."""
    start = -1  # of the paragraph that is open, if one is
    fence, in_list, position = "", False, 0
    while position < len(text):
        end = text.find("\n", position) + 1 or len(text)
        if start >= 0 and not in_list and text[position].isalpha():
            head = text[position : position + _LONGEST_MARKER]
            if "." not in head and ")" not in head:  # most lines: the paragraph goes on
                position = end
                continue
        match = _LINE.match(text, position, end)
        assert match is not None
        kind, indent, after = match.lastgroup, match["indent"], match.end()
        blank = kind == "indent" and (after == end or text[after:end].isspace())
        if fence:
            if kind == "fence" and match["fence"].startswith(fence) and not text[after:end].strip():
                fence = ""
            if not blank:
                yield position, end, False
        elif blank:
            if start >= 0:
                yield start, position, True
            start = -1
        elif kind == "rule" and start >= 0:
            # It underlines the paragraph's last line, which makes that a heading.
            yield start, end, True
            start = -1
        elif kind == "indent":
            code = start < 0 and not in_list and ("\t" in indent or len(indent) >= 4)
            if start >= 0 and in_list and not indent and not text[after].islower():
                yield start, position, True
                start, in_list = -1, False
            if code:
                yield position, end, False
            elif start < 0:
                start, in_list = position, in_list and bool(indent)
        else:
            if start >= 0:
                yield start, position, True
            start, in_list = -1, kind == "item"
            if kind == "item":
                start = position
            else:
                fence = match["fence"] or ""
                yield position, end, False
        position = end
    if start >= 0:
        yield start, len(text), True


def _cuts(text: str, start: int, end: int) -> list[int]:
    """Where sentences begin in a paragraph, its own beginning aside."""
    found: list[int] = []
    marker = _LINE.match(text, start, end)
    begin = marker.end("item") if marker and marker["item"] else start  # "1." is no sentence
    protected = _PROTECTED.finditer(text, begin, end)
    span = next(protected, None)
    widest = -1
    for match in _STOP.finditer(text, begin, end):
        place, after = match.span()
        while span is not None and span.end() <= place:
            span = next(protected, None)
        if after >= end or (span is not None and span.start() <= place):
            continue
        line, stops, closed, gap = match.groups()
        if stops is None and line is None:
            found.append(after)
            continue
        following = _beginning(text, after)
        if stops is not None and _ends(text, start, place, after, stops, closed, following):
            found.append(after)
        elif line is not None or "\n" in gap:
            if widest < 0:
                widest = max(map(len, text[start:end].split("\n")))
            begins = following is not None if line is not None else _abbreviation(text, start, place) is None
            if begins and _on_purpose(text, after, start, widest):
                found.append(after)
    return found


def _ends(text: str, start: int, place: int, after: int, stops: str, closed: str, following: str | None) -> bool:
    """Whether a run of stops at ``place`` ends a sentence, if what is ``following`` at ``after`` begins one."""
    if following is None:
        # "what happened? i saw", but not "n! is" and not "'Why?' he said".
        asked = not closed and (stops or text[place])[-1] in "?!" and text[after].isalpha()
        before = text[max(start, place - 3) : place]
        return asked and before.isalpha() and before.islower()
    if stops or text[place] != ".":
        return True
    abbreviation = _abbreviation(text, start, place)
    if abbreviation is None:
        return True
    if abbreviation == "number":
        return not _NUMBER.match(text, after, after + _WORD)
    return abbreviation == "last" and following.lower() in _BEGINNERS


def _abbreviation(text: str, start: int, place: int) -> str | None:
    """What the word before a full stop at ``place`` abbreviates: ``never`` ends a sentence, ``number`` not before one,
    ``last`` may end one, before a word that begins another; None where it is a word as any other."""
    if place - start >= 7 and text[place - 7 : place].isalpha():
        return None  # longer than any of them
    tokens = text[max(start, place - _WORD) : place].rsplit(None, 1)
    if not tokens or text[place - 1].isspace():
        return None
    word = tokens[-1].lstrip(_BEFORE_WORD)
    if not word.isalnum():
        word = _LAST_PART.split(word)[-1]
    lower = word.lower()
    if lower in _NEVER_LAST:
        return "never"
    if lower in _BEFORE_A_NUMBER and word != "C":
        return "number"
    if lower in _MAY_BE_LAST or (len(word) == 1 and word.isupper()) or ("." in word and _WITH_STOPS.fullmatch(word)):
        return "last"
    if word.isdigit() and len(word) <= 2:
        # "Steps: 1. Do this": the number belongs to what comes.
        before = text[max(start, place - _WORD) : place - len(word)].rstrip(" \t")
        return "never" if before and before[-1] in ":;,.!?" else None
    return None


def _beginning(text: str, place: int) -> str | None:
    """The word at ``place`` if a sentence may begin with it: with a capital, a digit, a letter of a script that has no
    capitals, a formula or code."""
    match = _NEXT.match(text, place, place + _WORD)
    if match is None:
        return None
    word, code, sign = match.groups()
    if word is not None:
        # A capital further on: iPhone, pH.
        return word if not word[0].islower() or word == "i" or not word.islower() else None
    return code if code is not None else None if sign.islower() else sign


def _on_purpose(text: str, after: int, start: int, widest: int) -> bool:
    """Whether the line before ``after`` ends there because its writer wanted it: the next word had room on it, or lines
    are as long as they come."""
    head = text.rfind("\n", start, after)
    length = head - (text.rfind("\n", start, head) + 1 or start)
    return length > _WIDEST_WRAPPED or length + 1 + len(text[after : after + _WORD].split(None, 1)[0]) <= widest

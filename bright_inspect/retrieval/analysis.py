"""Text to terms, as the program that a flavour of BM25 is compared with does it.

``english`` is Lucene's EnglishAnalyzer, which BRIGHT's BM25 uses through Pyserini (FORMATS A.7): StandardTokenizer,
EnglishPossessiveFilter, LowerCaseFilter, StopFilter, PorterStemFilter. Its word breaks are those of UAX #29 with the
Unicode 9.0 properties and the Emoji 11.0 sequences that Lucene 8 was built with
(lucene-solr 8.7: analysis/standard/StandardTokenizerImpl.jflex), which is why the properties lie beside this module
(``word_break.txt``) rather than coming from a library: with those of a later Unicode ★ would be no term, and terms
would change with an upgrade.

``whitespace`` is ``text.lower().split()``. rank_bm25 leaves the cutting to its caller; this is what most callers write
(the package's own example is ``doc.split(" ")``).
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path

from bright_inspect.retrieval.porter import stem

#: Raised when any analysis changes, so that older indexes are not used.
VERSION = 1
_STOP_WORD_LIST = """
    a an and are as at be but by for if in into is it no not of on or such that the their then there these they this to
    was will with
"""
#: Lucene's EnglishAnalyzer.ENGLISH_STOP_WORDS_SET.
STOP_WORDS = frozenset(_STOP_WORD_LIST.split())
#: StandardTokenizer cuts a longer token, in UTF-16 units (StandardAnalyzer.DEFAULT_MAX_TOKEN_LENGTH).
MOST_UNITS = 255
_CACHED_WORDS = 100_000

Term = tuple[str, str]
"""A term, and the word in the text that it comes from."""


@dataclass(frozen=True, slots=True)
class Analysis:
    """Cuts texts into terms: ``terms_of_word`` of each of the text's ``words``."""

    name: str
    words: Callable[[str], list[str]]
    """Cuts a text where the analysis always cuts, at blanks."""
    terms_of_word: Callable[[str], tuple[Term, ...]]

    @property
    def key(self) -> str:
        """Names the analysis in what is stored."""
        return f"{self.name}-{VERSION}"

    def terms(self, text: str) -> Iterator[Term]:
        """The terms of a text in order, each with its word."""
        for word in self.words(text):
            yield from self.terms_of_word(word)


def _english_words(text: str) -> list[str]:
    # U+202F joins words in Unicode 9.0, and Python takes it for a blank.
    return text.split(" ") if "\u202f" in text else text.split()


@lru_cache(_CACHED_WORDS)
def _english_terms(word: str) -> tuple[Term, ...]:
    return tuple((term, token) for token in tokens(word) if (term := _english_term(token)))


@lru_cache(_CACHED_WORDS)
def _english_term(token: str) -> str:
    """The term of a token, or nothing for a stop word."""
    term = _lower(_without_possessive(token))
    return "" if term in STOP_WORDS else stem(term)


def _without_possessive(token: str) -> str:
    """EnglishPossessiveFilter: without 's at the end, with any of three apostrophes."""
    return token[:-2] if token[-1] in "sS" and token[-2:-1] in ("'", "’", "＇") else token


def _lower(token: str) -> str:
    """Lower case as Java's Character.toLowerCase has it: each character by itself, and into a single one."""
    if token.isascii():
        return token.lower()
    return "".join("i" if char == "İ" else char.lower() for char in token)


#: Lucene 8's EnglishAnalyzer.
ENGLISH = Analysis("english", _english_words, _english_terms)
#: ``text.lower().split()``.
WHITESPACE = Analysis("whitespace", str.split, lambda word: ((word.lower(), word),))


# --- word breaks ------------------------------------------------------------------------------------------------------
#
# A text becomes a string of its characters' classes, one letter each, and tokens are matched in that:
#   A letter (Hangul too)   B letter that is an emoji   H Hebrew letter   N numeric   K Katakana   _ joins words
#   l between letters       n between digits            m between both    q ' and Q "
#   C Han   I Hiragana   S South-East Asian, s the same and an extender
#   extenders (UAX #29 WB4): x plain, z ZWJ, t and f text and emoji presentation, k keycap, g and G tag and last tag
#   R regional indicator   P emoji that takes a modifier   M modifier   E other emoji   # keycap base that is no digit

_EXTENDERS = "[xztfkgGs]*"
_NO_PRESENTATION = "[xzkgGs]*"


def _patterns() -> tuple[str, ...]:
    x, y = _EXTENDERS, _NO_PRESENTATION
    # Alternatives start with different classes or are ordered longest first, so that the greedy match is the longest,
    # which is what Lucene's scanner takes. A Hebrew letter that closes a chain takes no quotation mark.
    chain = f"(?:[lmq]{x}[ABH]{x})*"
    letter = f"[AB]{x}{chain}"
    hebrew = f"H{x}(?:q{x}|Q{x}H{x}|[lm]{x}[ABH]{x}{chain})?"
    number = f"N{x}(?:[nmq]{x}(?=N))?"
    run = f"(?:(?:{letter}|{hebrew}|{number})+|(?:K{x})+)"
    word = f"(?:_{x})*{run}(?:(?:_{x})+{run})*(?:_{x})*"
    presented = f"[EPB]{y}f"
    other = f"(?:P{y}M|[EPBM])"
    joined = f"(?:{presented}(?:z+(?=[EPB])|z(?=M))|{other}{y}z(?=[EPBM]))*(?:{presented}|{other}{y})"
    emoji = f"(?:z*(?=[EPB]))?(?:{presented}g+G|{joined})"
    flag = f"R{x}R{x}"
    keycap = f"#{y}f?k{y}"
    return word, emoji, flag, keycap, "[Ss][SsxztfkgG]*", f"[CI]{x}"


_ASCII_MARKS = "!\"#$%&'()*+,-./:;<=>?@[\\]^`{|}~ \t\n\r"
_TOKEN = re.compile("|".join(_patterns()))
_EACH_PATTERN = tuple(re.compile(pattern) for pattern in _patterns())


class _Classes(dict[int, str]):
    """Code point -> class letter; "." for what is in no token."""

    def __init__(self, table: str) -> None:
        super().__init__()
        ranges = []
        for line in table.splitlines():
            letter, *spans = line.split()
            for span in spans:
                first, _, last = span.partition("-")
                ranges.append((int(first, 16), int(last or first, 16), letter))
        self._ranges = sorted(ranges)
        self._starts = [first for first, _, _ in self._ranges]

    def __missing__(self, code: int) -> str:
        place = bisect_right(self._starts, code) - 1
        letter = self._ranges[place][2] if place >= 0 and code <= self._ranges[place][1] else "."
        self[code] = letter
        return letter


@cache
def _classes() -> _Classes:
    return _Classes((Path(__file__).parent / "word_break.txt").read_text(encoding="ascii"))


def tokens(text: str) -> list[str]:
    """The tokens of Lucene 8's StandardTokenizer, as they stand in the text."""
    if len(text) <= MOST_UNITS and text.isascii():
        # Most words are letters with marks around them that are in no token, and are done here five times faster.
        core = text.strip(_ASCII_MARKS)
        if core.isalnum():
            return [core]
    classes = text.translate(_classes())
    if len(text) <= MOST_UNITS // 2 and "B" not in classes:
        return [text[slice(*match.span())] for match in _TOKEN.finditer(classes)]
    return list(_tokens_one_by_one(text, classes))


def _tokens_one_by_one(text: str, classes: str) -> Iterator[str]:
    """For words long enough to be cut, and for letters that are emoji, where the longest of two matches counts."""
    start = 0
    while start < len(text):
        limit = _within_units(text, start)
        end = max((match.end() for p in _EACH_PATTERN if (match := p.match(classes, start, limit))), default=start)
        if end > start:
            yield text[start:end]
        start = max(end, start + 1)


def _within_units(text: str, start: int) -> int:
    """Where the last character ends that lies within the most units from ``start``."""
    end, units = start, 0
    while end < len(text):
        units += 1 + (text[end] > "\uffff")
        if units > MOST_UNITS:
            break
        end += 1
    return end

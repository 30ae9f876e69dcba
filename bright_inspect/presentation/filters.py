"""The filter line of the Queries screen: words, and terms such as ``delta<-30`` or ``rank(gold)<=100``.

Values are ×100, as they stand on screen. Terms are joined by AND.
"""

from __future__ import annotations

import operator
import re
import shlex
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass

from bright_inspect.domain.rankings import QueryKey
from bright_inspect.domain.tally import TIE_TOLERANCE
from bright_inspect.errors import UsageError
from bright_inspect.evaluation.query_rows import QueryRow

#: What the filter line reminds of while it is empty.
FILTER_HINT = "words · delta<-30 · rank(gold)>100 · loss · both-zero · tied · excluded · ? explains"
#: Every term, with what it means.
FILTER_TERMS = (
    ("words", 'queries whose text or id holds them; quote several as one: "sea level"'),
    ("delta<-30", "Δ of the compared run and the baseline, ×100 as on screen; also > <= >= = !="),
    ("run>50  base=0", "the value of the compared run, of the baseline"),
    ("rank(gold)>100", "the rank of the compared run's best gold; a gold that is not listed is beyond every rank"),
    ("rank(gold,base)>100", "the same in the baseline"),
    ("golds>10", "how many golds the query has"),
    ("task:pony  id:37", "the task's name holds pony; the query's id is 37"),
    ("tag:lexical-gap", "the query, or a document of it, has a tag that holds these letters"),
    ("win loss tie both-zero", "the outcome against the baseline"),
    ("tied", "tie order alone moves the value, of the compared run or the baseline (≈)"),
    ("excluded", "the compared run or the baseline lists documents excluded for the query; they were removed"),
)

_OPERATORS: dict[str, Callable[[float, float], bool]] = {
    "<=": operator.le, ">=": operator.ge, "!=": operator.ne, "<": operator.lt, ">": operator.gt, "=": operator.eq,
}  # fmt: skip
_COMPARISON = re.compile(r"(delta|run|base|golds?|rank\(gold\)|rank\(gold,base\))(<=|>=|!=|<|>|=)([+−-]?\d+(?:\.\d+)?)")
_LOOKS_LIKE_TERM = re.compile(r"[\w(),]+(<=|>=|!=|<|>|=)\S*")
Predicate = Callable[[QueryRow], bool]
Tags = Mapping[QueryKey, Collection[str]]
"""The tags of a query and of its documents."""
_NO_TAGS: Tags = {}


@dataclass(frozen=True, slots=True)
class RowFilter:
    """A parsed filter; ``text`` is what the user wrote."""

    text: str
    predicates: tuple[Predicate, ...]

    def __call__(self, row: QueryRow) -> bool:
        return all(predicate(row) for predicate in self.predicates)


def row_delta(row: QueryRow, run: int, baseline: int) -> float | None:
    """run − baseline of a row, or None where one of them has no value."""
    value, base = row.values[run], row.values[baseline]
    return None if value is None or base is None else value - base


def parse_filter(text: str, run: int, baseline: int, tags: Tags = _NO_TAGS) -> RowFilter:
    """Read a filter line; ``run`` and ``baseline`` are the indexes of the compared runs.

    Raises:
        UsageError: a term that looks like a comparison is not one.
    """
    return RowFilter(text.strip(), tuple(_predicate(word, run, baseline, tags) for word in _words(text)))


def _words(text: str) -> list[str]:
    """Split at blanks; double quotes keep words together. Apostrophes and backslashes are letters here."""
    lexer = shlex.shlex(text, posix=True, punctuation_chars=False)
    lexer.whitespace_split, lexer.quotes, lexer.escape, lexer.commenters = True, '"', "", ""
    try:
        return list(lexer)
    except ValueError:  # An unclosed quote while typing: take the words as they are.
        return text.split()


def _predicate(word: str, run: int, baseline: int, tags: Tags) -> Predicate:
    lower = word.lower()
    if match := _COMPARISON.fullmatch(lower):
        return _comparison(match[1], _OPERATORS[match[2]], float(match[3].replace("−", "-")), run, baseline)
    if lower.startswith("task:"):
        return lambda row: lower[5:] in row.key.task
    if lower.startswith("tag:"):
        return lambda row: any(lower[4:] in tag.lower() for tag in tags.get(row.key, ()))
    if lower.startswith("id:"):
        return lambda row: row.key.query_id.lower() == lower[3:]
    if lower in ("win", "loss", "tie", "both-zero"):
        return _outcome(lower, run, baseline)
    if lower == "tied":
        return lambda row: row.ties[run] is not None or row.ties[baseline] is not None
    if lower == "excluded":
        return lambda row: bool(row.removed[run] or row.removed[baseline])
    if _LOOKS_LIKE_TERM.fullmatch(word):
        raise UsageError(f"unknown filter term {word!r}.", f"Known: {', '.join(term for term, _ in FILTER_TERMS)}.")
    return lambda row: lower in row.text.lower() or lower in row.key.query_id.lower()


def _comparison(
    name: str, compare: Callable[[float, float], bool], number: float, run: int, baseline: int
) -> Predicate:
    def value_of(row: QueryRow) -> float | None:
        if name in ("gold", "golds"):
            return row.golds
        if name.startswith("rank"):
            best = row.best_gold_ranks[run if name == "rank(gold)" else baseline]
            # A gold that is not listed is beyond every rank; without a gold, or off the run's tasks, there is none.
            return best or (None if row.values[run] is None or not row.golds else float("inf"))
        fraction = {"run": row.values[run], "base": row.values[baseline], "delta": row_delta(row, run, baseline)}[name]
        # To the tenth, as on screen: delta=0 finds what reads 0.0.
        return None if fraction is None else round(100 * fraction, 1)

    def matches(row: QueryRow) -> bool:
        value = value_of(row)
        return value is not None and compare(value, number)

    return matches


def _outcome(name: str, run: int, baseline: int) -> Predicate:
    def matches(row: QueryRow) -> bool:
        delta = row_delta(row, run, baseline)
        if delta is None:
            return False
        if name == "win":
            return delta > TIE_TOLERANCE
        if name == "loss":
            return delta < -TIE_TOLERANCE
        tied = abs(delta) <= TIE_TOLERANCE
        return tied and (name == "tie" or row.values[run] == 0)

    return matches

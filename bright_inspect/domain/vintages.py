"""The uploads of BRIGHT that are in circulation under one name, told apart by how many queries and golds a task has.

A run's queries and a judgment file's golds say which upload they are of; scores over different ones do not compare.
All counts are measured: FORMATS A.2, A.3, A.4, B.1, E.6.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Vintage:
    """One upload or edition. ``date`` is ISO 8601 as far as it is known (empty if it is not), ``source`` where the data
    is, and the counts are by task: queries, and (query, document) pairs of relevance above 0, each once."""

    name: str
    date: str
    source: str
    queries: Mapping[str, tuple[int, ...]]
    golds: Mapping[str, int]

    def __str__(self) -> str:
        return f"{self.name} ({', '.join(part for part in (self.date, self.source) if part)})"


# The 7 StackExchange tasks, pony, leetcode and aops kept their queries throughout (FORMATS A.3).
_QUERIES = {
    "biology": 103, "earth_science": 116, "economics": 103, "psychology": 101, "robotics": 101, "stackoverflow": 117,
    "sustainable_living": 108, "pony": 112, "leetcode": 142, "aops": 111,
}  # fmt: skip
_GOLDS = {
    "biology": 372, "earth_science": 585, "economics": 800, "psychology": 692, "robotics": 520, "stackoverflow": 478,
    "sustainable_living": 576, "pony": 2219, "leetcode": 262, "aops": 524, "theoremqa_questions": 439,
    "theoremqa_theorems": 151,
}  # fmt: skip
_JUNE_GOLDS = {
    "biology": 374, "earth_science": 609, "economics": 823, "psychology": 742, "robotics": 553, "stackoverflow": 819,
    "sustainable_living": 604, "pony": 2519,
}  # fmt: skip
_FIXED_GOLDS = {
    "biology": 393, "earth_science": 589, "robotics": 521, "stackoverflow": 580, "sustainable_living": 1073,
}  # fmt: skip
_PRO_QUERIES = {
    "biology": 103, "earth_science": 115, "economics": 99, "psychology": 100, "robotics": 101, "stackoverflow": 115,
    "sustainable_living": 106,
}  # fmt: skip
_PRO_GOLDS = {
    "biology": 804, "earth_science": 856, "economics": 773, "psychology": 707, "robotics": 623, "stackoverflow": 529,
    "sustainable_living": 980,
}  # fmt: skip


def _queries(theorems: tuple[int, ...], questions: tuple[int, ...]) -> dict[str, tuple[int, ...]]:
    unchanged = {task: (count,) for task, count in _QUERIES.items()}
    return {**unchanged, "theoremqa_theorems": theorems, "theoremqa_questions": questions}


CURRENT = Vintage(
    "BRIGHT as it is now", "2024-08-27", "xlangai/BRIGHT examples since 3ee09c7", _queries((76,), (194,)), _GOLDS
)

#: Every known upload: BRIGHT's own, oldest first, then what others made of them.
VINTAGES = (
    # TheoremQA-Q: 205 queries, one of them without gold, which MTEB leaves out.
    Vintage(
        "the June 2024 upload, MTEB's first pin", "2024-06-18", "xlangai/BRIGHT a75a0eb",
        _queries((65,), (204, 205)), _JUNE_GOLDS,
    ),
    Vintage(
        "the July 2024 *_reason configs", "2024-07-23", "xlangai/BRIGHT 101f939 (gpt4), 9a93318 (Gemini)",
        {"theoremqa_theorems": (78,), "theoremqa_questions": (206,)}, {},
    ),
    Vintage(
        "the upload before the last correction", "", "xlangai/BRIGHT, the commit before 3ee09c7",
        {"theoremqa_questions": (196,)}, {},
    ),
    CURRENT,
    Vintage(
        "castorini's fixed judgments", "", "castorini/eval qrels.bright-*.fixed.txt", _queries((76,), (194,)),
        {**_GOLDS, **_FIXED_GOLDS},
    ),
    Vintage(
        "MTEB's present copy", "2026-02-24", "mteb/BRIGHT c26703e",
        {"theoremqa_theorems": (76,), "theoremqa_questions": (194,)}, {},
    ),
    Vintage("BRIGHT-Pro", "", "yale-nlp/Bright-Pro", {t: (n,) for t, n in _PRO_QUERIES.items()}, _PRO_GOLDS),
)  # fmt: skip


def vintage_of(task: str, queries: int | None = None, golds: int | None = None) -> list[Vintage]:
    """The uploads in which a task has as many queries and gold pairs, in the order of ``VINTAGES``.

    A count of None says nothing. An upload whose count of a task is not known is not among them if it is asked for.
    """
    if queries is None and golds is None:
        return []
    return [
        vintage
        for vintage in VINTAGES
        if (queries is None or queries in vintage.queries.get(task, ()))
        and (golds is None or golds == vintage.golds.get(task))
    ]

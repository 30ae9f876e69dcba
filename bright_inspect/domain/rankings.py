"""Rankings as the screen needs them: objects exist only for the rows being shown."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, order=True)
class QueryKey:
    """What names a query everywhere: query ids repeat across datasets and tasks."""

    dataset: str
    task: str
    query_id: str


@dataclass(frozen=True, slots=True)
class RankedDoc:
    """One row of a ranking. ``rank`` is 1-based, after the tie rule and without excluded documents; ``given_rank`` is
    what the file said. An excluded document has ``rank`` None and keeps its place through ``raw_rank``."""

    rank: int | None
    raw_rank: int
    doc_id: str
    score: float
    given_rank: int | None

    @property
    def excluded(self) -> bool:
        return self.rank is None


@dataclass(frozen=True, slots=True)
class Ranking:
    """One query's list from one run, best first. ``docs`` holds the top of it; ``ranks`` the rank of every document of
    the list (None = excluded), and ``depth`` how many documents the run returned, excluded ones aside."""

    run_id: int
    query: QueryKey
    docs: tuple[RankedDoc, ...]
    ranks: Mapping[str, int | None]
    depth: int


@dataclass(frozen=True, slots=True)
class Judgment:
    """A judged document of one query; gold means relevance > 0."""

    doc_id: str
    relevance: int

    @property
    def gold(self) -> bool:
        return self.relevance > 0


@dataclass(frozen=True, slots=True)
class RankReason:
    """A reranker's own words about a document, or about the whole list (``doc_id`` None): what it thought, which stood
    in <think> … </think>, apart from what it answered."""

    run_id: int
    doc_id: str | None
    thought: str
    response: str

"""What a scorer is given for one query, and what it makes of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

#: ``counted``: the value is part of the mean; ``dropped``: the query is left out of it; ``stops``: the tool ends with
#: an error and gives no value for any query; ``undefined``: the tool gives some value, which its rule does not
#: determine; ``lacking``: the tool has no such measure.
Outcome = Literal["counted", "dropped", "stops", "undefined", "lacking"]


@dataclass(frozen=True, slots=True)
class ListedDoc:
    """One row of a query's list as the file has it."""

    doc_id: str
    score: float
    given_rank: int | None = None


@dataclass(frozen=True, slots=True)
class QueryCase:
    """One query as a scorer would get it: ``listed`` in the file's order with repeated documents left in, None where
    the run lacks the query; ``relevance`` of every judged document; ``excluded`` documents never to be ranked."""

    query_id: str
    listed: tuple[ListedDoc, ...] | None
    relevance: Mapping[str, int]
    excluded: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class QueryValue:
    """A value as a fraction from 0 to 1, unrounded, or None with the reason. ``reason`` may also comment a value."""

    value: float | None
    outcome: Outcome = "counted"
    reason: str = ""


@dataclass(frozen=True, slots=True)
class TaskMean:
    """The mean over a task as the tool reports it, rounded as it rounds; ``counted`` of ``queries`` are in it.

    ``value`` is None where the tool gives none; ``note`` says why, or what the value rests on.
    """

    value: float | None
    counted: int
    queries: int
    note: str = ""

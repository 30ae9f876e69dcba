"""What a reader hands over: one run of a file, before duplicates are settled and its scores are looked at."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

from bright_inspect.domain.findings import Finding

Locate = Callable[[str, str], list[int]]
"""(query id, document id) -> the numbers of the first two lines that list them."""


class RepeatedRow(NamedTuple):
    """A row that was deleted because the document is listed again for its query with a better score, or earlier;
    ``position`` is its place in the file among all rows, from 0."""

    query_id: str
    doc_id: str
    score: float
    given_rank: int | None
    position: int


@dataclass(slots=True)
class Part:
    """A filled table and what the file says about it; the fields are those of ``ReadRun``.

    ``ordered`` says that the order of the documents was made their scores. ``locate`` finds lines, in files that have
    one line a document.
    """

    table: str
    format: str
    tag: str | None = None
    task: str | None = None
    long: bool | None = None
    reasons: bool = False
    findings: list[Finding] = field(default_factory=list)
    ordered: bool = False
    locate: Locate | None = None
    repeats: tuple[RepeatedRow, ...] = ()

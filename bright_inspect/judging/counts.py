"""How much is judged: counts by task and annotator."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bright_inspect.judging.decisions import Decision
from bright_inspect.judging.history import alive, current, distinct


@dataclass(slots=True)
class Counts:
    """One annotator in one task. ``relevant``, ``not_relevant`` and ``unsure`` are of pairs as last judged; ``skips``,
    ``undos``, ``notes`` and ``tags`` of lines; ``last`` is the time of the last line."""

    dataset: str
    task: str
    annotator: str
    relevant: int = 0
    not_relevant: int = 0
    unsure: int = 0
    skips: int = 0
    undos: int = 0
    notes: int = 0
    tags: int = 0
    last: str = ""


def count_decisions(decisions: Sequence[Decision]) -> list[Counts]:
    """Counts by task and annotator, sorted."""
    counts: dict[tuple[str, str, str], Counts] = {}

    def of(line: Decision) -> Counts:
        key = line.dataset, line.task, line.annotator
        return counts.setdefault(key, Counts(*key))

    lines = distinct(decisions)
    for line in lines:
        own = of(line)
        own.undos += line.kind == "undo"
        own.last = max(own.last, line.time)
    for line in alive(lines):
        own = of(line)
        own.skips += line.kind == "skip"
        own.notes += line.kind == "note"
        own.tags += line.kind == "tag"
    for said in current(lines).values():
        for line in said.values():
            own = of(line)
            own.unsure += line.relevance is None
            own.relevant += (line.relevance or 0) > 0
            own.not_relevant += line.relevance == 0
    return [counts[key] for key in sorted(counts)]

"""How documents are to be judged, as asked for on the command line. Kept apart from judging, which loads NumPy."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

#: See ``judging.queue.Order``; ``conflicts`` are what others judged differently, to be settled.
TriageOrder = Literal["effect", "evidence", "agreement", "run", "random", "conflicts"]
TRIAGE_ORDERS: tuple[TriageOrder, ...] = get_args(TriageOrder)
#: Starter tags: causes of failures, and the kinds of reasoning that BRIGHT's paper names (section 3, its four types).
STARTER_TAGS = (
    "lexical-gap", "wrong-entity", "too-general", "background-only", "near-duplicate", "query-unclear",
    "deductive", "analogical", "causal", "analytical",
)  # fmt: skip


def offered_tags(used: Iterable[str]) -> tuple[str, ...]:
    """Tags to choose from: those of one's own first, by name, then the starters."""
    return (*sorted(set(used).difference(STARTER_TAGS)), *STARTER_TAGS)


@dataclass(frozen=True, slots=True)
class TriageRequest:
    """``annotator`` None stands for the user's name. ``depth``: the top of each run that is pooled. ``per_query``: the
    most candidates of a query. ``blind`` hides runs, ranks and evidence until an item is judged and shuffles by
    ``seed``; ``repeat_rate`` is the share of items that come back. ``why_needed``: a relevant document needs a line on
    why it helps. ``guidelines`` is a text of the project's, shown on request. ``at_once`` opens the Triage screen."""

    annotator: str | None = None
    depth: int = 10
    order: TriageOrder = "effect"
    run: str | None = None
    per_query: int | None = None
    blind: bool = False
    seed: int = 0
    repeat_rate: float = 0.0
    why_needed: bool = False
    guidelines: Path | None = None
    at_once: bool = False


DEFAULT_TRIAGE = TriageRequest()

"""Small makers of decisions."""

from __future__ import annotations

from typing import Any

from bright_inspect.judging.decisions import Decision

TASK = ("bright", "biology")


def judged(doc_id: str, relevance: int | None, annotator: str = "anna", query_id: str = "0", **others: Any) -> Decision:
    """A judgment in one task."""
    return Decision(*TASK, query_id, doc_id, annotator, relevance, **others)

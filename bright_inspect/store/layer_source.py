"""Layers of judgments that are made of the data's own: what a session asks for, whoever makes them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from bright_inspect.db import Cursor, text_literal
from bright_inspect.domain.findings import Finding


@dataclass(frozen=True, slots=True)
class Overlay:
    """Judgments of one task, (query_id, doc_id) -> relevance, that replace those of the layer below for the same pairs;
    ``alone``: they stand without any below."""

    judgments: Mapping[tuple[str, str], int]
    alone: bool = False


class LayerSource(Protocol):
    """Something that has judgments of its own for some tasks. A task is (dataset, task)."""

    def tasks(self) -> Sequence[tuple[str, str]]:
        """The tasks it judges."""

    def names(self, task: tuple[str, str]) -> Sequence[str]:
        """The layers to offer for a task."""

    def overlay(self, task: tuple[str, str], layer: str) -> Overlay | None:
        """A layer's judgments, whether or not it is among those offered; None if there is no such layer."""

    def findings(self, cursor: Cursor, tasks: Sequence[tuple[str, str]]) -> list[Finding]:
        """What is odd in the judgments, seen with the data of these loaded tasks."""


def insert_overlay(cursor: Cursor, task: tuple[str, str], layer: str, base: str | None, overlay: Overlay) -> None:
    """Add a layer to ``all_qrels``: the overlay over the layer ``base``, or by itself."""
    query_ids = [query_id for query_id, _ in overlay.judgments]
    doc_ids = [doc_id for _, doc_id in overlay.judgments]
    labels = f"{text_literal(task[0])} AS dataset, {text_literal(task[1])} AS task, {text_literal(layer)} AS layer"
    below = (
        ""
        if base is None or overlay.alone
        else f"""UNION ALL SELECT {labels}, query_id, doc_id, relevance FROM all_qrels ANTI JOIN own
                           USING (query_id, doc_id) WHERE dataset = $dataset AND task = $task AND layer = $base"""
    )
    cursor.execute(
        f"""INSERT INTO all_qrels BY NAME
            WITH own AS (SELECT unnest($queries::VARCHAR[]) AS query_id, unnest($docs::VARCHAR[]) AS doc_id,
                                unnest($relevances::INTEGER[]) AS relevance)
            SELECT {labels}, * FROM own {below}""",
        {"queries": query_ids, "docs": doc_ids, "relevances": list(overlay.judgments.values())}
        | ({"dataset": task[0], "task": task[1], "base": base} if below else {}),
    )

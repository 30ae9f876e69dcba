"""Layers of judgments that are made of the data's own: what a session asks for, whoever makes them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
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


class MadeLayers:
    """The layers that a source makes of those that were read, each in ``all_qrels`` once it is inserted."""

    def __init__(self, source: LayerSource | None, asked: str | None = None) -> None:
        """``asked`` is a layer wanted from the beginning, whether or not the source offers it or has it."""
        self.source = source
        self._asked = [asked] if asked is not None and source is not None else []

    def want(self, layers: Iterable[str]) -> None:
        """Let these layers be at hand too, where the source has them, whether or not it offers them."""
        if self.source is not None:
            self._asked += (layer for layer in dict.fromkeys(layers) if layer not in self._asked)

    def tasks(self) -> Sequence[tuple[str, str]]:
        return self.source.tasks() if self.source is not None else ()

    def names(self, task: tuple[str, str], read: Sequence[str]) -> list[str]:
        """The layers of a task besides those ``read``: the ones offered, and of those asked for the ones it has."""
        if self.source is None:
            return []
        made = [layer for layer in self.source.names(task) if layer not in read]
        return made + [layer for layer in self._asked if layer not in (*read, *made) and self._has(task, layer, read)]

    def _has(self, task: tuple[str, str], layer: str, read: Sequence[str]) -> bool:
        overlay = self.source.overlay(task, layer) if self.source is not None else None
        # Over the data's own, a layer without judgments of its own is the data's; alone it is nothing.
        return overlay is not None and bool(overlay.judgments or (read and not overlay.alone))

    def offer(self, cursor: Cursor, layer: str, read: Mapping[tuple[str, str], Sequence[str]]) -> None:
        """Make a layer that is not offered, for each of these loaded tasks (with the layers read) that can have it."""
        if layer in self._asked:
            return
        able = [task for task in read if layer not in read[task] and self._has(task, layer, read[task])]
        for task in able:
            if layer not in self.names(task, read[task]):
                self.insert(cursor, task, layer, read[task])
        if able:
            self._asked.append(layer)

    def insert(self, cursor: Cursor, task: tuple[str, str], layer: str, read: Sequence[str]) -> None:
        """Add a layer to ``all_qrels``, over the first layer read that has judgments."""
        overlay = self.source.overlay(task, layer) if self.source is not None else None
        if overlay is not None:
            base = next((name for name in read if has_rows(cursor, task, name)), None)
            insert_overlay(cursor, task, layer, base, overlay)


def has_rows(cursor: Cursor, task: tuple[str, str], layer: str) -> bool:
    """Whether a layer judges anything of a task."""
    found = cursor.execute(
        "SELECT EXISTS (FROM all_qrels WHERE dataset = ? AND task = ? AND layer = ?)", [*task, layer]
    ).fetchone()
    return bool(found and found[0])


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

"""The layers of judgments: which are at hand, which counts, and in what one differs from what counts now."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from bright_inspect.presentation.cells import Cell, Column, Span, TableRow
from bright_inspect.store.collections import TaskKey
from bright_inspect.store.layers import JudgmentChange, LayerCounts

#: What the dialog says while there is nothing to choose from.
ONE_LAYER = "There is only this layer. Add one when opening: --qrels FILE, a folder of files, or --qrels NAME=FILE."


@dataclass(frozen=True, slots=True)
class LayerLine:
    """One layer over all open tasks.

    ``tasks`` is how many of them have it, ``counting`` for how many it counts now, ``queries`` and ``golds`` what it
    judges there. ``changed_queries`` and ``changed_pairs`` are what it judges otherwise than ``compared_to``, the first
    layer at hand (the data's own, where there is one); None for that layer itself.
    """

    layer: str
    tasks: int
    counting: int
    queries: int
    golds: int
    compared_to: str
    changed_queries: int | None = None
    changed_pairs: int | None = None


def layer_lines(
    layers: Sequence[str],
    counts: Iterable[LayerCounts],
    changes: Mapping[str, Sequence[JudgmentChange]],
    active: Mapping[TaskKey, str],
) -> list[LayerLine]:
    """One line a layer, in the order of ``layers``; ``changes`` has what differs from the first of them."""
    of_layer: dict[str, list[LayerCounts]] = {}
    for count in counts:
        of_layer.setdefault(count.layer, []).append(count)
    lines = []
    for layer in layers:
        own, changed = of_layer.get(layer, []), changes.get(layer)
        lines.append(
            LayerLine(
                layer,
                len(own),
                sum(counting == layer for counting in active.values()),
                sum(count.queries for count in own),
                sum(count.golds for count in own),
                layers[0],
                None if changed is None else len({change.query for change in changed}),
                None if changed is None else len(changed),
            )
        )
    return lines


def layer_columns(lines: Sequence[LayerLine], width: int) -> list[Column]:
    """The layer's name, for which tasks it counts, its counts, and what differs from the first layer."""
    first = lines[0].compared_to if lines else ""
    columns = [
        Column("layer", (Span("layer", "dim"),), 10, flex=1, elide="middle"),
        Column("counts", (Span("counts in", "dim"),), 11 if width < 100 else 16),
        Column("queries", (Span("queries", "dim"),), 7, align="right"),
        Column("golds", (Span("golds", "dim"),), 7, align="right"),
    ]
    differs = Column("differs", (Span(f"differs from {first}", "dim"),), 24 if width < 100 else 28, elide="middle")
    return [*columns, differs] if len(lines) > 1 else columns


def layer_rows(lines: Sequence[LayerLine], open_tasks: int) -> list[TableRow]:
    """One row a layer."""
    rows = []
    for line in lines:
        if not line.counting:
            counts: Cell = (Span("–", "dim"),)
        elif line.counting == open_tasks:
            counts = (Span("● all tasks" if open_tasks > 1 else "● yes", "accent"),)
        else:
            counts = (Span(f"● {line.counting} of {open_tasks}", "accent"),)
        if line.changed_pairs is None:
            differs: Cell = ()
        elif not line.changed_pairs:
            differs = (Span("nothing", "dim"),)
        else:
            pairs = f"{line.changed_pairs:,} pair{'' if line.changed_pairs == 1 else 's'}"
            queries = "query" if line.changed_queries == 1 else "queries"
            differs = (Span(f"{pairs} in {line.changed_queries:,} {queries}"),)
        numbers = ((Span(f"{line.queries:,}"),), (Span(f"{line.golds:,}"),))
        rows.append(TableRow(line.layer, ((Span(line.layer, "strong"),), counts, *numbers, differs)))
    return rows


def change_columns() -> list[Column]:
    """Task, query, document, and its relevance before and after."""
    return [
        Column("task", (Span("task", "dim"),), 12, flex=1, elide="middle"),
        Column("query", (Span("query", "dim"),), 6, flex=1, elide="middle"),
        Column("document", (Span("document", "dim"),), 20, flex=4, elide="middle"),
        Column("change", (Span("from → to", "dim"),), 11),
    ]


class ChangeRows(Sequence[TableRow]):
    """One row a judgment that two layers differ in, made when it is looked at."""

    def __init__(self, changes: Sequence[JudgmentChange]) -> None:
        self._changes = changes

    def __len__(self) -> int:
        return len(self._changes)

    def __getitem__(self, index: int) -> TableRow:  # type: ignore[override]
        change = self._changes[index]
        style = ("gain" if (change.after or 0) > 0 else "loss") if change.changes_gold else ""
        text = f"{_relevance(change.before)} → {_relevance(change.after)}"
        cells = (change.query.task, change.query.query_id, change.doc_id)
        return TableRow(change.doc_id, (*((Span(cell),) for cell in cells), (Span(text, style),)))


def _relevance(value: int | None) -> str:
    return "–" if value is None else str(value)


def changes_title(changes: Sequence[JudgmentChange], layer: str, present: str) -> str:
    """How many judgments differ, and how many of them change what is gold."""
    if not changes:
        return f"{layer} is what counts now" if layer == present else f"{layer} judges as what counts now ({present})"
    queries = len({change.query for change in changes})
    golds = sum(change.changes_gold for change in changes)
    return f"{present} → {layer}: {len(changes):,} pairs of {queries:,} queries differ, {golds:,} in gold"

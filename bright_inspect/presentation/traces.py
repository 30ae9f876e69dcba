"""The Trace screen: a reasoning text's outline, its parts folded or open, and what was searched for in it."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from bright_inspect.presentation.cells import Cell, Column, Span, TableRow
from bright_inspect.rewriting.traces import TracePart
from bright_inspect.store.query_view import QueryView

_KINDS = {
    "paragraph": "¶", "heading": "§", "step": "•", "sub-query": "?", "code": "⌘", "tag": "‹›",
}  # fmt: skip
_OPEN, _FOLDED = "▾", "▸"
_MOST_MATCHES = 10_000


def traces_of(view: QueryView) -> list[tuple[str, str]]:
    """What there is to read about a query by its outline: rewrites first, then the human reasoning, the gold answer,
    what rerankers said, and the query itself; (name, text) each."""
    found = list(view.variants)
    for name, text in (("reasoning", view.reasoning), ("gold answer", view.gold_answer)):
        found += [(name, text)] if text else []
    for reason in view.reasons:
        thought = f"<think>\n{reason.thought}\n</think>\n\n" if reason.thought else ""
        about = reason.doc_id or "the list"
        found.append((f"rank reason of {about}", thought + reason.response))
    return found + ([("query", view.text)] if view.text else [])


def group_ends(parts: Sequence[TracePart]) -> list[int]:
    """For each part the number after the last that is folded with it: a heading's are those up to the next heading that
    is not below it, a tag's the thoughts after it, every other's its own."""
    ends = []
    for number, part in enumerate(parts):
        end = number + 1
        if part.kind == "tag":
            while end < len(parts) and parts[end].role == "thought" and parts[end].kind != "tag":
                end += 1
        elif part.level:
            while end < len(parts) and parts[end].role == part.role and not 0 < parts[end].level <= part.level:
                end += 1
        ends.append(end)
    return ends


def hidden_parts(parts: Sequence[TracePart], folded: Collection[int]) -> set[int]:
    """The parts that stand in a folded group of another part."""
    ends = group_ends(parts)
    return {inner for number in folded for inner in range(number + 1, ends[number])}


def outline_columns() -> list[Column]:
    """Whether folded, what kind, words and the first of them."""
    return [
        Column("fold", (), 1),
        Column("kind", (), 2),
        Column("words", (Span("words", "dim"),), 6, align="right"),
        Column("label", (Span("part", "dim"),), 16, flex=1),
    ]


def outline_rows(parts: Sequence[TracePart], folded: Collection[int]) -> list[TableRow]:
    """A row for each part that no folded one hides, by its number."""
    ends, hidden = group_ends(parts), hidden_parts(parts, folded)
    top = min((part.level for part in parts if part.level), default=1)
    rows = []
    for number, part in enumerate(parts):
        if number in hidden:
            continue
        words = sum(inner.words for inner in parts[number : ends[number]])
        style = {"thought": "dim", "final": "accent"}.get(part.role, "strong" if part.level else "")
        final = "final: " if part.role == "final" and (number == 0 or parts[number - 1].role != "final") else ""
        rows.append(
            TableRow(
                str(number),
                (
                    (Span(_FOLDED if number in folded else _OPEN, "dim"),),
                    (Span(_KINDS[part.kind], style),),
                    (Span(f"{words:,}", "dim"),),
                    (Span("  " * max(0, part.level - top) + final + (part.label or "(blank)"), style),),
                ),
            )
        )
    return rows


@dataclass(frozen=True, slots=True)
class FoldedText:
    """A trace as it is read: folded parts are one line each. ``places`` has where each part begins, and of a hidden
    one where its group does; ``matches`` are where what was searched for stands, as (start, end)."""

    text: str
    spans: tuple[tuple[int, int, str], ...]
    places: tuple[int, ...]
    matches: tuple[tuple[int, int], ...]


def folded_text(text: str, parts: Sequence[TracePart], folded: Collection[int], wanted: str = "") -> FoldedText:
    """Build what is read; ``wanted`` is lit wherever it stands, whatever its case."""
    ends, hidden = group_ends(parts), hidden_parts(parts, folded)
    pieces: list[str] = []
    spans: list[tuple[int, int, str]] = []
    places: list[int] = []
    length = 0
    for number, part in enumerate(parts):
        if number in hidden:
            places.append(places[-1])
            continue
        places.append(length)
        if number in folded:
            words = sum(inner.words for inner in parts[number : ends[number]])
            piece = f"{_FOLDED} {part.label or '(blank)'} … {words:,} words\n\n"
            style = "dim"
        else:
            piece = text[part.start : part.end]
            style = {"thought": "dim", "final": ""}.get(part.role, "")
            style = "strong" if part.level else style
        if part.role == "final":
            spans.append((length, length + 1, "accent"))
        if style:
            spans.append((length, length + len(piece), style))
        pieces.append(piece)
        length += len(piece)
    whole = "".join(pieces)
    matches = find_all(whole, wanted)
    return FoldedText(whole, (*spans, *((*match, "match") for match in matches)), tuple(places), tuple(matches))


def find_all(text: str, wanted: str) -> list[tuple[int, int]]:
    """Where a text has these words, whatever their case and the blanks between them; the first ten thousand places."""
    words = wanted.split()
    if not words:
        return []
    pattern = re.compile(r"\s+".join(map(re.escape, words)), re.IGNORECASE)
    found = []
    for match in pattern.finditer(text):
        found.append(match.span())
        if len(found) == _MOST_MATCHES:
            break
    return found


def trace_line(name: str, parts: Sequence[TracePart], place: int, count: int, key: str) -> tuple[Cell, Cell]:
    """What is read: how long it is, and of how many parts; on the right the key for the next of several."""
    words = sum(part.words for part in parts)
    thought = sum(part.words for part in parts if part.role == "thought")
    final = sum(part.words for part in parts if part.role == "final")
    spans = [
        Span(name, "strong"),
        Span(f"  {words:,} words in {len(parts):,} part{'' if len(parts) == 1 else 's'}", "dim"),
    ]
    if thought:
        spans.append(Span(f" · {thought:,} of them thought", "dim"))
    if final:
        spans.append(Span(f" · {final:,} in the final text", "accent"))
    for kind, what in (("step", "steps"), ("sub-query", "sub-queries")):
        if many := sum(part.kind == kind for part in parts):
            spans.append(Span(f" · {many} {what}", "dim"))
    right = (Span(f"{place + 1} of {count} ", "dim"), Span(key, "accent")) if count > 1 else ()
    return tuple(spans), right

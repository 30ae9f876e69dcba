"""The Lens screen's words: what went and what came, and passages that a rewrite shares with a gold."""

from __future__ import annotations

import re
from collections.abc import Sequence

from bright_inspect.presentation.cells import Cell, Column, Span, TableRow, column_title
from bright_inspect.rewriting.leaks import Leak, Leaks
from bright_inspect.rewriting.word_change import WordChange

StyledRange = tuple[int, int, str]


def words_line(words: WordChange, shared: Leaks | None, narrow: bool) -> Cell:
    """How long both texts are, how many of the original's words survive, and whether the rewrite quotes a gold (None:
    not known yet)."""
    lengths = words.lengths
    times = f" ({lengths.rewrite_words / lengths.original_words:.1f} ×)" if lengths.original_words else ""
    spans = [Span(f"{lengths.original_words:,} → {lengths.rewrite_words:,} words{times}"), Span(" · ", "dim")]
    if lengths.surviving is None:
        spans.append(Span("the original has no word", "warning"))
    else:
        spans.append(Span(f"{100 * lengths.surviving:.0f} % {'' if narrow else 'of the original’s words '}survive"))
    if shared is not None and (leaks := shared.leaks):
        passages = "a passage" if len(leaks) == 1 else f"{len(leaks)} passages"
        text = f" · shares {passages} with golds, up to {max(leak.words for leak in leaks)} words"
        spans.append(Span(text, "warning"))
    return tuple(spans)


def words_caption(as_one: bool, key: str) -> Cell:
    """How what went and came is marked."""
    if as_one:
        return (
            Span("left out", "removed"), Span(" and ", "dim"), Span("added", "added"), Span(" in one text · ", "dim"),
            Span(key, "accent"), Span(" side by side, where there is room", "dim"),
        )  # fmt: skip
    return (
        Span("original: ", "dim"), Span("left out", "removed"), Span(" · rewrite: ", "dim"), Span("added", "gain"),
        Span(", ", "dim"), Span("kept", "strong"), Span(" · ", "dim"), Span(key, "accent"), Span(" as one text", "dim"),
    )  # fmt: skip


def side_by_side(words: WordChange) -> tuple[list[StyledRange], list[StyledRange]]:
    """The styles of the original and of the rewrite: what was left out is struck, what was kept stands out."""
    removed, rewritten = [], []
    for span in words.diff:
        if span.kind == "removed":
            removed.append((span.original_start, span.original_end, "removed"))
        else:
            style = "gain" if span.kind == "added" else "strong"
            rewritten.append((span.rewrite_start, span.rewrite_end, style))
    return removed, rewritten


def as_one(words: WordChange) -> tuple[str, list[StyledRange]]:
    """Both texts in one, what was left out before what was added there, with the styles."""
    parts: list[str] = []
    styles: list[StyledRange] = []
    length = 0
    for span in words.diff:
        removed = span.kind == "removed"
        if removed and parts and not parts[-1][-1:].isspace():
            parts.append(" ")
            length += 1
        part = (
            words.original[span.original_start : span.original_end]
            if removed
            else words.rewrite[span.rewrite_start : span.rewrite_end]
        )
        if span.kind != "equal":
            # Blanks around a line are not underlined.
            styles += [
                (length + line.start(), length + line.end(), span.kind) for line in re.finditer(r"\S(?:.*\S)?", part)
            ]
        if removed and not part[-1:].isspace():
            part += " "
        parts.append(part)
        length += len(part)
    return "".join(parts), styles


def leak_caption(shared: Leaks) -> Cell:
    """What the table of shared passages is, and how many golds it is over."""
    return (
        Span(f"{shared.coverage} golds here", "warning" if shared.golds < shared.of else "dim"),
        Span(
            f" · {shared.words} words in a row or more, not in the query · set phrases are shared too: you judge", "dim"
        ),
    )


def leak_columns() -> list[Column]:
    """How many words, the passage, and the gold."""

    return [
        Column("words", column_title("words"), 6, align="right"),
        Column("text", column_title("passage"), 20, flex=3),
        Column("gold", column_title("gold"), 16, flex=2, elide="middle"),
    ]


def leak_rows(leaks: Sequence[Leak], rewrite: str) -> list[TableRow]:
    """A row a shared passage, by its number."""
    return [
        TableRow(
            str(number),
            (
                (Span(str(leak.words), "strong"),),
                (Span(" ".join(rewrite[leak.start : min(leak.end, leak.start + 400)].split())),),
                (Span(leak.gold_id, "gold"),),
            ),
        )
        for number, leak in enumerate(leaks)
    ]

"""What each sentence of a query is worth, as a table: the value without it, and where the best gold goes."""

from __future__ import annotations

from collections.abc import Iterable

from bright_inspect.evaluation.ablation import Ablation, SentenceLoss
from bright_inspect.presentation.cells import Cell, Column, Span, TableRow
from bright_inspect.presentation.numbers import delta_style, percent, signed_percent

#: Characters of a sentence that a row holds: more than the widest terminal shows.
_MOST_CHARACTERS = 400


def ablation_title(ablation: Ablation) -> Cell:
    """The value of the whole text, of how many sentences, and where its best gold stands."""
    idle = all(delta_style(loss.delta) == "dim" for loss in ablation.sentences)
    return (
        Span(f"{ablation.measure} ", "dim"),
        Span(percent(ablation.value), "strong"),
        Span(f" with all {len(ablation.sentences)} sentences · best gold "),
        Span(_rank_text(ablation.rank, ablation.depth)),
        Span(" · none of them changes it" if idle else "", "warning"),
    )


def ablation_columns(ablation: Ablation) -> list[Column]:
    """Δ, the value without the sentence, the best gold's rank with and without it, and the sentence."""
    rank = len(_rank_text(None, ablation.depth))
    return [
        Column("delta", (Span("Δ without", "dim"),), 9, align="right"),
        Column("value", (Span(str(ablation.measure), "dim"),), max(7, len(str(ablation.measure))), align="right"),
        Column("gold", (Span("best gold", "dim"),), max(9, 2 * rank + 3), align="right"),
        Column("sentence", (Span("sentence", "dim"),), 20, flex=1),
    ]


def ablation_rows(ablation: Ablation, losses: Iterable[SentenceLoss]) -> list[TableRow]:
    """One row a sentence, in the order given; its key is where the sentence begins."""
    rows = []
    for loss in losses:
        style = delta_style(loss.delta)
        rows.append(
            TableRow(
                str(loss.start),
                (
                    (Span(signed_percent(loss.delta), style),),
                    (Span(percent(loss.value)),),
                    _gold(loss, ablation.depth),
                    (Span(_one_line(loss.text), "dim" if style == "dim" and loss.rank == loss.rank_with else ""),),
                ),
            )
        )
    return rows


def _gold(loss: SentenceLoss, depth: int) -> Cell:
    """``2 → 15`` in the style of what that means; one dimmed rank where the best gold stays."""
    if loss.rank == loss.rank_with:
        return (Span(_rank_text(loss.rank, depth), "dim"),)
    falls = loss.rank is None or (loss.rank_with is not None and loss.rank > loss.rank_with)
    text = f"{_rank_text(loss.rank_with, depth)} → {_rank_text(loss.rank, depth)}"
    return (Span(text, "loss" if falls else "gain"),)


def _rank_text(rank: int | None, depth: int) -> str:
    return f">{depth}" if rank is None else str(rank)


def _one_line(text: str) -> str:
    shown = " ".join(text[:_MOST_CHARACTERS].split())
    return shown + "…" if len(text) > _MOST_CHARACTERS else shown

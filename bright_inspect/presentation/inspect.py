"""The Inspect screen's lists: one ranking a run side by side, or all merged into one."""

from __future__ import annotations

import ctypes
import math
from collections.abc import Callable, Sequence
from typing import Protocol

from bright_inspect.domain.rankings import QueryKey, RankedDoc, Ranking
from bright_inspect.evaluation.query_rows import QueryRow
from bright_inspect.presentation.cells import Cell, Column, Span, TableRow
from bright_inspect.presentation.conditions import TIE_MARK, range_text
from bright_inspect.presentation.numbers import delta_style, percent, signed_percent
from bright_inspect.presentation.queries import Comparison
from bright_inspect.store.query_view import QueryView
from bright_inspect.store.session import Run


class Rows(Protocol):
    """Rows of a table, which may be made only when they are looked at."""

    def __len__(self) -> int: ...

    def __getitem__(self, index: int, /) -> TableRow: ...


#: The marks of a document, as the help explains them.
MARKS = {"gold": "★", "judged": "○", "unjudged": "·", "sibling": "≡", "excluded": "✗"}
#: One's own decision, behind the mark of what counts.
OWN_MARKS: dict[int | None, str] = {0: "⁰", 1: "¹", 2: "²", 3: "³", None: "ˣ"}
_MARK_WIDTH, _SCORE_WIDTH = 2, 7


#: A list narrower than this leaves the scores out.
_WIDTH_FOR_SCORES = 44


def mark_of(view: QueryView, doc_id: str, excluded: bool = False) -> Span:
    """What a document is to the query: gold with its grade if above 1, judged not relevant, sibling of a gold's page,
    excluded, or unjudged."""
    if excluded:
        return Span(MARKS["excluded"], "struck")
    for judgment in view.judgments:
        if judgment.doc_id == doc_id:
            grade = str(judgment.relevance) if judgment.relevance > 1 else ""
            return Span(MARKS["gold"] + grade, "gold") if judgment.gold else Span(MARKS["judged"], "dim")
    return Span(MARKS["sibling"], "accent") if doc_id in view.siblings else Span(MARKS["unjudged"], "dim")


def marks_of(view: QueryView, doc_id: str, excluded: bool = False) -> Cell:
    """The mark of what counts and, behind it or in the place of its grade, one's own decision."""
    mark = mark_of(view, doc_id, excluded)
    if doc_id not in view.said:
        return (mark,)
    said = view.said[doc_id]
    return Span(mark.text[0], mark.style), Span(
        OWN_MARKS.get(said, "⁺"), "gain" if said else "warning" if said is None else "loss"
    )


def own_decision(view: QueryView, doc_id: str) -> Cell:
    """Who is at work and what they decided; empty if they did not."""
    if doc_id not in view.said:
        return ()
    said = view.said[doc_id]
    style = "gain" if said else "warning" if said is None else "loss"
    return Span(f"{view.annotator} "), Span("unsure" if said is None else str(said), style)


def rank_text(view: QueryView, run_id: int, doc_id: str) -> str:
    """A document's rank in a run, ``>100`` beyond a list of 100, ``excl.`` if it is excluded, a dash without a list."""
    ranking = view.rankings[run_id]
    if ranking is None:
        return "–"
    if doc_id not in ranking.ranks:
        return f">{ranking.depth}"
    rank = ranking.ranks[doc_id]
    return "excl." if rank is None else str(rank)


def ranking_columns(paired: bool, width: int) -> list[Column]:
    """A ranking's columns: mark, tie bracket, rank, id, score and, beside a baseline, the move against it."""
    columns = [
        Column("mark", (), _MARK_WIDTH),
        Column("rank", (Span("rank", "dim"),), 5, align="right"),
        Column("id", (Span("document", "dim"),), 12, flex=1, elide="middle"),
        Column("score", (Span("score", "dim"),), _SCORE_WIDTH, align="right"),
    ]
    if width < _WIDTH_FOR_SCORES:  # the ids are what tells documents apart
        columns.pop()
    return [*columns, Column("move", (Span("move", "dim"),), 7, align="right")] if paired and width >= 36 else columns


class RankingRows(Sequence[TableRow]):
    """One row per document of a ranking, made when it is looked at; moves are against ``baseline``."""

    def __init__(self, view: QueryView, ranking: Ranking, baseline: Ranking | None, columns: Sequence[Column]) -> None:
        self._view, self._ranking, self._baseline = view, ranking, baseline
        self._with_score = any(column.key == "score" for column in columns)
        self._with_move = any(column.key == "move" for column in columns)
        self._brackets = tie_brackets(ranking.docs)
        self._score_text = _score_format(ranking.docs)
        self._golds = {judgment.doc_id for judgment in view.golds}

    def __len__(self) -> int:
        return len(self._ranking.docs)

    def __getitem__(self, index: int) -> TableRow:  # type: ignore[override]
        doc = self._ranking.docs[index]
        style = "struck" if doc.excluded else "gold" if doc.doc_id in self._golds else ""
        cells: list[Cell] = [
            marks_of(self._view, doc.doc_id, doc.excluded),
            (Span("" if doc.rank is None else str(doc.rank), style), Span(self._brackets[index] or " ", "warning")),
            (Span(doc.doc_id, style),),
        ]
        if self._with_score:
            cells.append((Span(self._score_text(doc.score), "dim"),))
        if self._with_move:
            cells.append(_move(doc, self._baseline))
        return TableRow(doc.doc_id, tuple(cells))


def tie_brackets(docs: Sequence[RankedDoc]) -> list[str]:
    """A bracket beside documents whose scores tie as float32, as pytrec_eval compares them (FORMATS F.2)."""
    scores = [ctypes.c_float(doc.score).value for doc in docs]
    brackets = []
    for index, score in enumerate(scores):
        above = index > 0 and scores[index - 1] == score
        below = index + 1 < len(scores) and scores[index + 1] == score
        brackets.append("│" if above and below else "└" if above else "┌" if below else "")
    return brackets


def _score_format(docs: Sequence[RankedDoc]) -> Callable[[float], str]:
    """The same decimals for every score of a list, as many as its column has room for."""
    finite = [doc.score for doc in docs if math.isfinite(doc.score)]
    largest = max(map(abs, finite), default=0.0)
    if largest >= 1e6:
        return lambda score: text if len(text := f"{score:.1e}") <= _SCORE_WIDTH else f"{score:.0e}"
    whole = all(score == int(score) for score in finite)
    decimals = 0 if whole or largest >= 1e4 else 1 if largest >= 1000 else 2 if largest >= 10 else 3
    return lambda score: f"{score:.{decimals}f}"


def _move(doc: RankedDoc, baseline: Ranking | None) -> Cell:
    if baseline is None or doc.rank is None:
        return ()
    rank = baseline.ranks.get(doc.doc_id)
    if rank is None:
        return (Span(f"▲ >{baseline.depth}", "dim"),)
    if rank == doc.rank:
        return (Span("=", "dim"),)
    up = rank > doc.rank
    return (Span(f"{'▲' if up else '▼'} {abs(rank - doc.rank)}", "gain" if up else "loss"),)


def pane_title(view: QueryView, run: Run, compared: Comparison, row: QueryRow, width: int) -> Cell:
    """A list's title: the run, its value, the range that ties leave it in, Δ, and where the golds stand. What does not
    fit in ``width`` cells is left out: golds, the measure's name, what is to be expected of ties; Δ stays."""
    value, base = row.values[run.run_id], row.values[compared.baseline.run_id]
    ties = row.ties[run.run_id]

    def title(golds: int, measure: bool = True, expected: bool = True) -> Cell:
        spans = [
            Span(run.label, compared.style(run)),
            Span(f"  {compared.measure} " if measure else "  ", "dim"),
            Span(percent(value), "strong"),
        ]
        if ties:
            spans.append(Span(f" {TIE_MARK} {range_text(ties, expected)}", "warning"))
        if run is compared.baseline and compared.paired:
            spans.append(Span("  baseline", "dim"))
        elif compared.paired and value is not None and base is not None:
            delta = value - base
            spans += [Span("  Δ ", "dim"), Span(signed_percent(delta), delta_style(delta))]
        if view.golds and golds:
            spans.append(Span(f"  ★ {gold_ranks_text(view, run, golds)}", "gold"))
        return tuple(spans)

    return _fitting([*map(title, (5, 2, 1, 0)), title(0, False), title(0, False, False)], width)


def merged_title(view: QueryView, compared: Comparison, row: QueryRow, width: int) -> Cell:
    """The merged list's title: every run's value with its range over ties, Δ and first golds, the compared run and the
    baseline first. What does not fit in ``width`` cells is left out: the golds, which have rows below, then what is to
    be expected of ties; Δ stays."""
    base = row.values[compared.baseline.run_id]

    def title(golds: bool, expected: bool) -> Cell:
        spans = [Span(str(compared.measure), "dim")]
        for run in dict.fromkeys((compared.run, compared.baseline, *compared.runs)):
            value, ties = row.values[run.run_id], row.ties[run.run_id]
            spans += [Span("  "), Span(run.label, compared.style(run)), Span(f" {percent(value)}", "strong")]
            if run is not compared.baseline and value is not None and base is not None:
                spans.append(Span(f" {signed_percent(value - base)}", delta_style(value - base)))
            if ties:
                spans.append(Span(f" {TIE_MARK} {range_text(ties, expected)}", "warning"))
            if view.golds and golds:
                spans.append(Span(f" ★ {gold_ranks_text(view, run, 2)}", "gold"))
        return tuple(spans)

    return _fitting([title(True, True), title(False, True), title(False, False)], width)


def _fitting(cells: Sequence[Cell], width: int) -> Cell:
    """The first of the cells that fits, or the last."""
    return next((cell for cell in cells if sum(len(span.text) for span in cell) <= width), cells[-1])


def gold_ranks_text(view: QueryView, run: Run, most: int = 5) -> str:
    """The ranks of the golds in a run, best first, those beyond the list counted: ``1, 4, 3 × >100``."""
    ranking = view.rankings[run.run_id]
    if ranking is None:
        return "no list"
    found = sorted(rank for gold in view.golds if (rank := view.rank_in(run.run_id, gold.doc_id)) is not None)
    missing = len(view.golds) - len(found)
    texts = [str(rank) for rank in found[:most]] + (["…"] if len(found) > most else [])
    if missing:
        texts.append(f"{missing} × >{ranking.depth}" if missing > 1 else f">{ranking.depth}")
    return ", ".join(texts)


def golds_by_rank(view: QueryView, run_id: int) -> list[str]:
    """The golds in the order of a run's list; those that it does not list come last, by id."""
    last = float("inf")
    return sorted(
        (gold.doc_id for gold in view.golds), key=lambda doc_id: (view.rank_in(run_id, doc_id) or last, doc_id)
    )


def next_unjudged(view: QueryView, rows: Rows, start: int, step: int) -> int | None:
    """The index of the next row whose document nobody judged, or None if there is none this way."""
    judged = {judgment.doc_id for judgment in view.judgments}
    way = range(start + step, len(rows) if step > 0 else -1, step)
    return next((index for index in way if rows[index].key not in judged), None)


def no_list_text(view: QueryView, run: Run) -> str:
    """Why a run's list is empty."""
    covered = (view.key.dataset, view.key.task) in run.tasks
    return f"{run.label} {'has no list for this query' if covered else f'does not cover {view.key.task}'}"


def no_text_text(key: QueryKey, corpus_size: int | None) -> str:
    """Why a document's text is not shown: there is no corpus, or only a part of it without the document."""
    if corpus_size is None:
        return f"no text at hand: there is no corpus of {key.task} · give --data DIR with documents/"
    return f"no text at hand: it is not among the {corpus_size:,} documents of {key.task} here"


def merged_columns(compared: Comparison) -> list[Column]:
    """The merged list's columns: mark, each run's rank, the move and the id."""
    columns = [Column("mark", (), _MARK_WIDTH)]
    for run in compared.runs:
        title = (Span(run.label, compared.style(run)),)
        width = min(max(len(run.label), 6), 14)
        columns.append(Column(f"run{run.run_id}", title, width, align="right", elide="middle"))
    if compared.paired:
        columns.append(Column("move", (Span("move", "dim"),), 7, align="right"))
    return [*columns, Column("id", (Span("document", "dim"),), 20, flex=1, elide="middle")]


def merged_rows(view: QueryView, compared: Comparison, top: int) -> list[TableRow]:
    """One row for every document of any run's top ``top``, and for every gold; best rank in any run first, and among
    equals what the compared run ranks higher."""
    best: dict[str, float] = {}
    listed: dict[str, dict[int, RankedDoc]] = {}
    for ranking in view.rankings:
        for doc in ranking.docs if ranking else ():
            if doc.raw_rank <= top:
                best[doc.doc_id] = min(best.get(doc.doc_id, float("inf")), doc.raw_rank)
            listed.setdefault(doc.doc_id, {})[ranking.run_id if ranking else 0] = doc
    for gold in view.golds:
        ranks = [rank for run in compared.runs if (rank := view.rank_in(run.run_id, gold.doc_id)) is not None]
        best.setdefault(gold.doc_id, min(ranks, default=float("inf")))
    golds = {judgment.doc_id for judgment in view.golds}
    baseline = view.rankings[compared.baseline.run_id]
    rows = []

    def place(doc_id: str) -> tuple[float, float, str]:
        rank = view.rank_in(compared.run.run_id, doc_id)
        return best[doc_id], float("inf") if rank is None else rank, doc_id

    for doc_id in sorted(best, key=place):
        excluded = any(doc.excluded for doc in listed.get(doc_id, {}).values())
        cells: list[Cell] = [marks_of(view, doc_id, excluded)]
        for run in compared.runs:
            text = rank_text(view, run.run_id, doc_id)
            cells.append((Span(text, "dim" if text.startswith((">", "–")) else ""),))
        if compared.paired:
            ours = listed.get(doc_id, {}).get(compared.run.run_id)
            cells.append(_move(ours, baseline) if ours else ())
        style = "struck" if excluded else "gold" if doc_id in golds else ""
        rows.append(TableRow(doc_id, (*cells, (Span(doc_id, style),))))
    return rows

"""The Triage screen's lines: what speaks for a candidate, how far one is, and what the judgments change.

The blind form says nothing from which a judgment could be guessed: no run, rank, reranker's score or likeness to a
gold, nor the document's id, which in BRIGHT names the topic that its golds were collected for.
"""

from __future__ import annotations

from collections.abc import Sequence

from bright_inspect.domain.measures import Measure
from bright_inspect.judging.candidates import Candidate
from bright_inspect.judging.evidence import WEIGHTS, Evidence, EvidenceKind, evidence_score
from bright_inspect.judging.queue import QueueItem, QueueProgress
from bright_inspect.judging.what_if import DecisionShare, RunChange
from bright_inspect.presentation.cells import Cell, Column, Span, TableRow, column_title, run_style
from bright_inspect.presentation.numbers import delta_style, percent, signed_percent
from bright_inspect.store.collections import TaskKey
from bright_inspect.store.session import Run

#: What each kind of evidence is called on screen.
EVIDENCE_NAMES: dict[EvidenceKind, str] = {
    "identical": "same text",
    "jaccard": "shared wording",
    "contained": "contained",
    "sibling": "same page",
    "similarity": "similar to gold",
    "reranker": "reranker",
    "agreement": "runs agree",
}
HIDDEN = "hidden until judged: runs, ranks, evidence"
OUTSIDE_POOL = "runs that were not pooled are penalised: what only they found stays unjudged and counts as not relevant"


def item_title(
    item: QueueItem, *, effect: float | None = None, score: float | None = None, blind: bool = False
) -> Cell:
    """What is judged: task, query and document, and why it comes up: its effect ×100, its evidence. A repeat looks like
    any other, or it would not be judged anew."""
    spans = [Span(f"{item.query.task} {item.query.query_id}", "strong"), Span(" · ", "dim")]
    if blind:
        return (*spans, Span("blind", "accent"))
    spans.append(Span(item.doc_id))
    if effect is not None:
        spans += [Span(" · effect ", "dim"), Span(f"{100 * effect:.2f}")]
    if score is not None:
        spans += [Span(" · evidence ", "dim"), Span(f"{score:.1f}")]
    return tuple(spans)


def item_line(
    item: QueueItem,
    annotator: str,
    journal: str,
    width: int,
    *,
    effect: float | None = None,
    score: float | None = None,
    blind: bool = False,
) -> tuple[Cell, Cell]:
    """The top line: what is judged, and by whom into which journal. The document's id is what must be whole: the
    journal gives way first, then the annotator, the evidence, which stands below too, and the effect."""
    room = width - 2
    who: list[Cell] = [(Span(annotator, "accent"), Span(f" · {journal}", "dim")), (Span(annotator, "accent"),), ()]
    whole = item_title(item, effect=effect, score=score, blind=blind)
    for right in who:
        if _length(whole) + _length(right) + (2 if right else 0) <= room:
            return whole, right
    shorter = item_title(item, effect=effect, blind=blind)
    return (shorter if _length(shorter) <= room else item_title(item, blind=blind)), ()


def _length(cell: Cell) -> int:
    return sum(len(span.text) for span in cell)


def evidence_columns() -> list[Column]:
    """What it is, its value, what that adds to the evidence's score, and what it says."""
    return [
        Column("what", (), 16, elide="middle"),
        Column("value", (Span("value", "dim"),), 6, align="right"),
        Column("points", (Span("points", "dim"),), 6, align="right"),
        Column("says", (Span("ranks and evidence", "dim"),), 20, flex=1),
    ]


def evidence_rows(
    candidate: Candidate,
    evidence: Sequence[Evidence],
    runs: Sequence[Run],
    *,
    ranks_to: int | None,
    hidden: bool = False,
) -> list[TableRow]:
    """A row a run with the document's rank and score, then a row a piece of evidence, keyed by the gold it speaks of,
    and their sum. Ranks are known down to ``ranks_to`` (None = whole lists). ``hidden`` is for blind judging, until the
    document is judged."""
    if hidden:
        return [TableRow("", ((), (), (), (Span(HIDDEN, "dim"),)))]
    rows = [_rank_row(candidate, run, ranks_to) for run in runs]
    for piece in evidence:
        style = "" if piece.points >= 1 else "dim"
        rows.append(
            TableRow(
                piece.gold_id or piece.kind,
                (
                    (Span(EVIDENCE_NAMES[piece.kind], "gold" if piece.gold_id else ""),),
                    (Span(f"{piece.value:.2f}", style),),
                    (Span(f"{piece.points:.1f}", style),),
                    (Span(piece.text, style),),
                ),
            )
        )
    total = (Span(f"{evidence_score(evidence):.1f}", "strong"),)
    return [*rows, TableRow("sum", ((Span("evidence", "dim"),), (), total, ()))]


def weight_lines() -> list[Cell]:
    """For the help: each kind of evidence with what it adds at most, and why so much; the heaviest first."""
    weights = sorted(WEIGHTS.items(), key=lambda pair: -pair[1].weight)
    return [
        (Span(f"  {EVIDENCE_NAMES[kind]:<16} {weight.weight:>4g}", "strong"), Span(f"  {weight.reason}"))
        for kind, weight in weights
    ]


def _rank_row(candidate: Candidate, run: Run, ranks_to: int | None) -> TableRow:
    rank, score = candidate.ranks[run.run_id], candidate.scores[run.run_id]
    if rank is not None:
        value, says = Span(str(rank), "strong"), Span("" if score is None else f"score {score:.4g}", "dim")
    elif (candidate.query.dataset, candidate.query.task) not in run.tasks:
        value, says = Span("–", "dim"), Span(f"does not cover {candidate.query.task}", "dim")
    elif ranks_to is None:
        value, says = Span("–", "dim"), Span("not listed", "dim")
    else:
        value, says = Span(f">{ranks_to}", "dim"), Span(f"not in its top {ranks_to}", "dim")
    return TableRow(run.label, ((Span(run.label, run_style(run.run_id)),), (value,), (), (says,)))


def progress_line(
    progress: QueueProgress, width: int, *, before: int = 0, settled: int = 0, blind: bool = False
) -> Cell:
    """Judged, left, how many were judged (or conflicts settled) when this queue was made, pace, time left, and what is
    held back. What does not fit in ``width`` cells is left out, from the end. How often one judged twice is not told in
    blind judging, where it would give the repeats away."""
    parts: list[Cell] = [
        (Span(f"{progress.done:,}", "strong"), Span(f" of {progress.total:,} judged", "dim")),
        (Span(f"{progress.remaining:,}"), Span(" left", "dim")),
    ]
    if before:
        parts.append((Span(f"{before:,}"), Span(" judged before", "dim")))
    if settled:
        parts.append((Span(f"{settled:,}"), Span(f" conflict{'' if settled == 1 else 's'} you settled before", "dim")))
    if progress.pace is not None:
        parts.append((Span(f"{progress.pace:.1f}"), Span(" a minute", "dim")))
    if progress.minutes_left is not None and progress.remaining:
        parts.append((Span(_duration(progress.minutes_left)), Span(" to go", "dim")))
    if progress.held_back:
        parts.append((Span(f"{progress.held_back:,}", "warning"), Span(" held back: no text at hand", "dim")))
    if progress.repeats and not blind:
        parts.append((Span(f"{progress.repeats:,}"), Span(" judged twice", "dim")))
    line: list[Span] = []
    for part in parts:
        more = [Span(" · ", "dim"), *part] if line else list(part)
        if line and sum(len(span.text) for span in (*line, *more)) > width:
            break
        line += more
    return tuple(line)


def _duration(minutes: float) -> str:
    whole = max(round(minutes), 1)
    return f"{whole} min" if whole < 60 else f"{whole // 60} h {whole % 60:02} min"


def what_if_title(task: TaskKey, measure: Measure, decisions: int, changes: Sequence[RunChange]) -> Cell:
    """The measure and task, by how many judgments, and whether they change the order of the runs."""
    spans = [
        Span(f"{measure} ", "dim"), Span(task[1], "strong"),
        Span(f" with {decisions:,} judgment{'' if decisions == 1 else 's'}", "dim"),
    ]  # fmt: skip
    if any(change.moved for change in changes):
        spans.append(Span(" · the order of the runs changes", "warning"))
    elif len(changes) > 1:
        spans.append(Span(" · same order of the runs", "dim"))
    return tuple(spans)


def what_if_columns(pool_depth: int, width: int) -> list[Column]:
    """The run's place, its name, the mean before and after, Δ, Judged@k, and how far its lists are judged, where there
    is room."""

    columns = [
        Column("place", column_title("place"), 9),
        Column("run", column_title("run"), 12, flex=1, elide="middle"),
        Column("before", column_title("before"), 6, align="right"),
        Column("after", column_title("after"), 6, align="right"),
        Column("delta", column_title("Δ"), 6, align="right"),
        Column("judged", column_title(f"Judged@{pool_depth}"), 13, align="right"),
    ]
    return [*columns, Column("pooled", column_title("judged to"), 18, align="right")] if width >= 100 else columns


def what_if_rows(changes: Sequence[RunChange], columns: Sequence[Column]) -> list[TableRow]:
    """One row a run, best first with the judgments; Δ = after − before."""
    rows = []
    for change in changes:
        name, style = change.run.label, run_style(change.run.run_id)
        outside = Span(" outside the pool", "warning")
        cells: dict[str, Cell] = {
            "place": _place(change),
            "run": (Span(name, style), outside) if change.outside_pool else (Span(name, style),),
            "before": (Span(percent(change.before), "dim"),),
            "after": (Span(percent(change.after), "strong"),),
            "delta": (Span(signed_percent(change.delta), delta_style(change.delta)),),
            "judged": _judged(change),
            "pooled": (Span(f"rank {change.pooled_depth}"), Span(f", mean {change.pooled_mean:.1f}", "dim")),
        }
        rows.append(TableRow(name, tuple(cells[column.key] for column in columns)))
    return rows


def _place(change: RunChange) -> Cell:
    if not change.moved:
        return (Span(str(change.place_after), "dim"),)
    rises = change.moved > 0
    text = f"{change.place_before} → {change.place_after} {'▲' if rises else '▼'}"
    return (Span(text, "gain" if rises else "loss"),)


def _judged(change: RunChange) -> Cell:
    if change.judged_before == change.judged_after:
        return (Span(percent(change.judged_after), "dim"),)
    return (Span(f"{percent(change.judged_before)} → {percent(change.judged_after)}"),)


def pool_warning(changes: Sequence[RunChange]) -> str:
    """Whom these judgments do not do justice to: open runs that were not pooled, and in any case all that are not
    open."""
    outside = [change.run.label for change in changes if change.outside_pool]
    return f"{', '.join(outside)}: {OUTSIDE_POOL}" if outside else OUTSIDE_POOL


def share_columns(runs: Sequence[Run]) -> list[Column]:
    """Query, document, its relevance before and after, and Δ of each run by this judgment."""
    columns = [
        Column("query", (Span("query", "dim"),), 6, flex=1, elide="middle"),
        Column("document", (Span("document", "dim"),), 20, flex=4, elide="middle"),
        Column("change", (Span("from → to", "dim"),), 9),
    ]
    return columns + [
        Column(
            f"run{run.run_id}",
            (Span(run.label, run_style(run.run_id)),),
            min(max(len(run.label), 6), 14),
            align="right",
            elide="middle",
        )
        for run in runs
    ]


class ShareRows(Sequence[TableRow]):
    """One row a judgment with what it alone does to each run's mean, made when it is looked at."""

    def __init__(self, shares: Sequence[DecisionShare], runs: Sequence[Run]) -> None:
        self._shares, self._runs = shares, runs

    def __len__(self) -> int:
        return len(self._shares)

    def __getitem__(self, index: int) -> TableRow:  # type: ignore[override]
        share = self._shares[index]
        before = "–" if share.before is None else str(share.before)
        style = "" if (share.after > 0) == ((share.before or 0) > 0) else "gain" if share.after > 0 else "loss"
        deltas: list[Cell] = [
            (Span(_fine(delta), delta_style(delta)),) for delta in (share.deltas[run.run_id] for run in self._runs)
        ]
        cells = (
            (Span(share.query.query_id),),
            (Span(share.doc_id),),
            (Span(f"{before} → {share.after}", style),),
            *deltas,
        )
        return TableRow(share.doc_id, cells)


def _fine(delta: float | None) -> str:
    """×100 with two decimals: one judgment of a hundred queries moves a mean by less than one shows."""
    if delta is None:
        return "–"
    text = f"{100 * delta:+.2f}".replace("-", "−")
    return "0.00" if text in ("+0.00", "−0.00") else text

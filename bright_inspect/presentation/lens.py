"""The Lens screen: what a rewrite did to a query's list, term by term and document by document."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bright_inspect.domain.measures import Measure
from bright_inspect.domain.rankings import Ranking
from bright_inspect.presentation.cells import Cell, Column, Span, TableRow, column_title, run_style
from bright_inspect.presentation.inspect import mark_of
from bright_inspect.presentation.numbers import bar, delta_style, percent, signed_percent
from bright_inspect.rewriting.added_terms import COMMON, AddedTerm, Pull
from bright_inspect.rewriting.lens import Lens
from bright_inspect.rewriting.term_changes import DocumentChange, TermChange
from bright_inspect.store.query_view import QueryView
from bright_inspect.store.session import Session

_BAR = 8
_MOVERS = 3
_MOST_TERMS = 200
_WORD_WIDTH = 15


def scores_line(lens: Lens, measure: Measure, variant: str, narrow: bool) -> Cell:
    """What both texts find here: values before and after, and how many documents were searched."""
    spans = [
        Span(lens.retriever, "accent"), Span(f" here  {measure} ", "dim"), Span(percent(lens.value_before), "strong"),
        Span(" → ", "dim"), Span(percent(lens.value_after), "strong"),
    ]  # fmt: skip
    if lens.value_before is not None and lens.value_after is not None:
        delta = lens.value_after - lens.value_before
        spans.append(Span(f" {signed_percent(delta)}", delta_style(delta)))
    of = f" of {lens.of:,}" if lens.partial else ""
    texts = "" if narrow else f"original → {variant} "
    return (*spans, Span(f" · {texts}over {lens.searched:,}{of} documents", "warning" if lens.partial else "dim"))


def stored_line(lens: Lens, session: Session, variant: str) -> Cell:
    """How far the scores of stored runs by these texts are those computed here, the rewrite's first."""
    spans: list[Span] = []
    for run_id in sorted(lens.stored, key=lambda run_id: session.runs[run_id].name.variant != variant):
        found = lens.stored[run_id]
        spans += [Span(" · ", "dim")] if spans else []
        coverage = found.coverage if not spans else f"over {len(found.scores):,} of {found.of:,}"
        spans += [Span(session.runs[run_id].name.in_full, run_style(run_id)), Span(f" {coverage}", "dim")]
        if found.reproduced:
            spans.append(Span(", the same scores", "dim"))
        elif found.largest is not None and found.median is not None:
            spans.append(Span(f", {_share(found.median)} off (median), {_share(found.largest)} at most", "warning"))
    return tuple(spans)


def _share(value: float) -> str:
    return f"{100 * value:.1f} %" if value >= 0.0005 else f"{value:.0e}"


def pull_caption(pull: Pull, *, bridges: bool) -> Cell:
    """What the table of terms is, how many documents it is over, and which terms were folded."""
    whole = len(pull.documents) == pull.of
    what = "golds here" if bridges else "others that rose"
    spans = [
        Span(f"{pull.coverage} {what}", "dim" if whole or not bridges else "warning"),
        Span(f" · idf: {pull.source}", "dim"),
    ]
    found = pull.over_all
    if found.more:
        spans.append(Span(f" · {found.more:,} more", "dim"))
    if found.folded:
        words = ", ".join(term.word for term in found.folded[:4])
        more = " …" if len(found.folded) > 4 else ""
        spans.append(Span(f" · folded, in over {COMMON:.0%} of documents: {words}{more}", "dim"))
    return tuple(spans)


def term_columns(width: int, *, bridges: bool) -> list[Column]:
    """Part, term, the rewrite's words, and where there is room idf, tf and documents; the document it is largest in."""

    columns = [
        Column("part", column_title("part"), 7, align="right"),
        Column("bar", (), _BAR),
        Column("words", column_title("in the rewrite"), 14, flex=2),
        Column("golds", column_title("golds"), 5, align="right"),
        Column("others", column_title("others"), 6, align="right"),
    ]
    if width >= 100:
        columns += [
            Column("idf", column_title("idf"), 6, align="right"),
            Column("tf", column_title("tf"), 4, align="right"),
            Column("share", column_title("docs"), 7, align="right"),
        ]
    document = "largest in the gold" if bridges else "largest in"
    return [*columns, Column("document", column_title(document), 16, flex=3, elide="middle")]


def term_rows(terms: Sequence[AddedTerm], columns: Sequence[Column]) -> list[TableRow]:
    """A row a term, by the term."""
    largest = max((term.part for term in terms), default=0.0) or 1.0
    rows = []
    for term in terms:
        words = ", ".join(term.surfaces) or term.term
        cells: dict[str, Cell] = {
            "part": (Span(f"{term.part:.3f}"),),
            "bar": (Span(bar(term.part / largest, _BAR), "accent"),),
            "words": (Span(words, "strong"), Span(f" ×{term.times}" if term.times > 1 else "", "dim")),
            "golds": (Span(str(term.golds), "gold" if term.golds else "dim"),),
            "others": (Span(str(term.others), "" if term.others else "dim"),),
            "idf": (Span(f"{term.idf:.2f}", "dim"),),
            "tf": (Span(str(term.tf), "dim"),),
            "share": (Span(f"{100 * term.share:.1f} %", "dim"),),
            "document": (Span(term.doc_id, "dim"),),
        }
        rows.append(TableRow(term.term, tuple(cells[column.key] for column in columns)))
    return rows


def document_columns(width: int) -> list[Column]:
    """Mark, ranks by both texts and the move; the id; scores, and where there is room the words that moved it most."""

    columns = [
        Column("mark", (), 2),
        Column("before", column_title("orig"), 5, align="right"),
        Column("after", column_title("new"), 5, align="right"),
        Column("move", column_title("move"), 7, align="right"),
        Column("id", column_title("document"), 20, flex=2, elide="middle"),
    ]
    if width >= 100:
        columns.append(Column("scores", column_title("score"), 15, align="right"))
    return [*columns, Column("words", column_title("moved most by"), 18, flex=3)]


@dataclass(frozen=True, slots=True)
class LensDocuments(Sequence[TableRow]):
    """A row a document, made when it is looked at."""

    lens: Lens
    view: QueryView
    columns: Sequence[Column]

    def __len__(self) -> int:
        return len(self.lens.doc_ids)

    def __getitem__(self, index: int) -> TableRow:  # type: ignore[override]
        lens, doc_id = self.lens, self.lens.doc_ids[index]
        gold = any(gold.doc_id == doc_id for gold in self.view.golds)
        before, after = lens.before.ranks.get(doc_id), lens.after.ranks.get(doc_id)
        change = lens.change.document(doc_id) if doc_id in lens.change.rewrite.scores else None
        cells: dict[str, Cell] = {
            "mark": (mark_of(self.view, doc_id),),
            "before": (Span(_rank(lens.before, doc_id)),),
            "after": (Span(_rank(lens.after, doc_id), "strong"),),
            "move": _move(before, after),
            "id": (Span(doc_id, "gold" if gold else ""),),
            "scores": (Span(f"{change.before:.2f} → {change.after:.2f}" if change else "–", "dim"),),
            "words": _movers(change) if change else (Span("not among the documents at hand", "dim"),),
        }
        return TableRow(doc_id, tuple(cells[column.key] for column in self.columns))


def _rank(ranking: Ranking, doc_id: str) -> str:
    rank = ranking.ranks.get(doc_id)
    return str(rank) if rank is not None else f">{ranking.depth}"


def _move(before: int | None, after: int | None) -> Cell:
    if before == after:
        return (Span("=", "dim"),)
    if before is None or after is None:
        return (Span("▲ new" if before is None else "▼ out", "gain" if before is None else "loss"),)
    up = after < before
    return (Span(f"{'▲' if up else '▼'} {abs(before - after)}", "gain" if up else "loss"),)


def documents_caption(lens: Lens) -> Cell:
    """What the documents are, and how a word is marked in the list of parts."""
    missing = sum(doc_id not in lens.change.rewrite.scores for doc_id in lens.doc_ids)
    spans = [
        Span("the first 20 by either text and the golds", "dim"),
        Span(" · + word of the rewrite, − of the original, = of both", "dim"),
    ]
    return (*spans, Span(f" · {missing} golds have no text here", "warning")) if missing else tuple(spans)


def _movers(change: DocumentChange) -> Cell:
    spans: list[Span] = []
    for term in [term for term in change.terms if term.difference][:_MOVERS]:
        spans += [Span("  ")] if spans else []
        spans += [Span(term.word), Span(f" {_signed(term.difference)}", delta_style(term.difference))]
    return tuple(spans) or (Span("no word of either text", "dim"),)


def _signed(value: float) -> str:
    return f"{value:+.2f}".replace("-", "−")


def document_change_lines(change: DocumentChange, variant: str) -> list[Cell]:
    """A document's score under both texts, term by term, so that it can be added up; what is beyond the largest
    differences in one sum."""
    lines: list[Cell] = [
        (Span(f"{'original':>8}{variant[:9]:>10}{'Δ':>9}   {'word':<{_WORD_WIDTH}} {'tf':>4}  idf", "dim"),),
        (
            Span(f"{change.before:>8.3f}{change.after:>10.3f}", "strong"),
            Span(f"{change.difference:>+9.3f}".replace("-", "−"), delta_style(change.difference)),
            Span("   the sum of these:", "dim"),
        ),
    ]
    for term in change.terms[:_MOST_TERMS]:
        words = _words(term)
        words = words if len(words) <= _WORD_WIDTH else words[: _WORD_WIDTH - 1] + "…"
        mark, style = _KINDS[term.kind]
        lines.append(
            (
                Span(f"{_part(term.before):>8}{_part(term.after):>10}"),
                Span(f"{term.difference:>+9.3f}".replace("-", "−"), delta_style(term.difference)),
                Span(f" {mark} {words:<{_WORD_WIDTH}}", style),
                Span(f" {term.tf:>4}  {term.idf:.1f}", "dim"),
            )
        )
    if rest := change.terms[_MOST_TERMS:]:
        before, after = sum(term.before for term in rest), sum(term.after for term in rest)
        lines.append(
            (
                Span(f"{_part(before):>8}{_part(after):>10}"),
                Span(f"{after - before:>+9.3f}".replace("-", "−"), delta_style(after - before)),
                Span(f"   {len(rest):,} more words", "dim"),
            )
        )
    return lines


#: + the rewrite's word, − the original's, = both have it.
_KINDS = {"added": ("+", "strong"), "removed": ("−", "dim"), "kept": ("=", "")}


def _words(term: TermChange) -> str:
    return ", ".join(term.surfaces) or term.term


def _part(value: float) -> str:
    return f"{value:.3f}" if value else "–"

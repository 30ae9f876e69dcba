"""What the reader below the lists shows: the document at hand, the query with its excluded documents, the human
reasoning, or the golds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from bright_inspect.domain.terms import best_place, find_words, telling_words
from bright_inspect.presentation.cells import Cell, Span
from bright_inspect.presentation.inspect import MARKS, mark_of, marks_of, own_decision, rank_text
from bright_inspect.presentation.queries import Comparison
from bright_inspect.store.query_view import QueryView


@dataclass(frozen=True, slots=True)
class Reading:
    """A text for the reader: ``spans`` are (start, end, style) over ``text``; it opens at ``scroll_to``, with that
    line first (``at_top``) or a little above it in view.

    ``places`` names offsets one can jump to (a gold's id to its heading).
    """

    text: str
    spans: tuple[tuple[int, int, str], ...] = ()
    scroll_to: int | None = None
    at_top: bool = False
    places: Mapping[str, int] = field(default_factory=dict)


class _Pages:
    """Builds a reading from headings and texts."""

    def __init__(self) -> None:
        self._text = ""
        self._spans: list[tuple[int, int, str]] = []
        self.places: dict[str, int] = {}

    def heading(self, cell: Cell, place: str | None = None) -> None:
        if self._text:
            self._text += "\n\n"
        if place is not None:
            self.places[place] = len(self._text)
        for span in cell:
            self._spans.append((len(self._text), len(self._text) + len(span.text), span.style))
            self._text += span.text
        self._text += "\n"

    def body(self, text: str, style: str = "", words: frozenset[str] = frozenset()) -> None:
        start = len(self._text)
        self._text += text
        if style:
            self._spans.append((start, len(self._text), style))
        self._spans += [(start + a, start + b, "match") for a, b in find_words(text, words)]

    @property
    def has_text(self) -> bool:
        return bool(self._text)

    def reading(self, scroll_to: int | None = None) -> Reading:
        return Reading(self._text, tuple(self._spans), scroll_to, True, self.places)


def document_reading(view: QueryView, text: str) -> Reading:
    """A document with the query's words lit, opened where most of them meet."""
    places = find_words(text, telling_words(view.text or ""))
    return Reading(text, tuple((start, end, "match") for start, end in places), best_place(text, places))


def query_reading(view: QueryView, compared: Comparison) -> Reading:
    """The query as posted, each variant at hand, and the documents excluded for it: those that a run lists first, with
    their places in its file, then all others."""
    pages = _Pages()
    pages.heading((Span("original", "strong"), Span(f" · {len(view.text or ''):,} characters", "dim")))
    pages.body(view.text or "no query text at hand; give --data DIR", "" if view.text else "dim")
    for name, text in view.variants:
        pages.heading((Span(name, "strong"), Span(f" · {len(text):,} characters", "dim")))
        pages.body(text)
    if view.excluded:
        number = f"{len(view.excluded):,} document{'' if len(view.excluded) == 1 else 's'}"
        pages.heading((Span("excluded", "strong"), Span(f" · {number}, removed before ranking", "dim")))
        listed = _listed_excluded(view, compared)
        pages.body("".join(f"{MARKS['excluded']} {doc_id} · {text}\n" for doc_id, text in listed.items()), "warning")
        pages.body("\n".join(doc_id for doc_id in view.excluded if doc_id not in listed), "dim")
    return pages.reading()


def _listed_excluded(view: QueryView, compared: Comparison) -> dict[str, str]:
    """The excluded documents that runs list, by id, with the runs and the places in their files: ``bm25 at 3``."""
    texts: dict[str, list[str]] = {}
    for run in compared.runs:
        ranking = view.rankings[run.run_id]
        if ranking is None:
            continue
        places = {doc.doc_id: doc.raw_rank for doc in ranking.docs if doc.excluded}
        for doc_id in (doc_id for doc_id, rank in ranking.ranks.items() if rank is None):
            place = f"at {places[doc_id]:,}" if doc_id in places else f"below {len(ranking.docs):,}"
            texts.setdefault(doc_id, []).append(f"{run.label} {place}")
    return {doc_id: ", ".join(texts[doc_id]) for doc_id in sorted(texts)}


def reasoning_reading(view: QueryView) -> Reading:
    """The annotator's reasoning and the gold answer, or that there is none."""
    pages = _Pages()
    for title, text in (("human reasoning", view.reasoning), ("gold answer", view.gold_answer)):
        pages.heading((Span(title, "strong"),))
        missing = "none recorded for this query" if view.text is not None else "no data set at hand"
        pages.body(text or missing, "" if text else "dim")
    return pages.reading()


def rank_reason_reading(view: QueryView, compared: Comparison, doc_id: str | None) -> Reading:
    """What the runs say about their ranking: first about the document at hand, then about the whole list."""
    pages = _Pages()
    about = [reason for reason in view.reasons if reason.doc_id == doc_id and doc_id is not None]
    for reason in (*about, *(reason for reason in view.reasons if reason.doc_id is None)):
        run = compared.runs[reason.run_id]
        what = "about this document" if reason.doc_id is not None else "about the whole list"
        pages.heading((Span(run.label, compared.style(run)), Span(f" · {what}", "dim")))
        pages.body(reason.response or "no answer besides what it thought", "" if reason.response else "dim")
        if reason.thought:
            pages.heading((Span(f"what {run.label} thought · {len(reason.thought):,} characters", "dim"),))
            pages.body(reason.thought, "dim")
    if not pages.has_text:
        missing = "no run explains this document" if view.reasons else "no run explains this query's ranking"
        pages.heading((Span(missing, "dim"),))
    return pages.reading()


def golds_reading(
    view: QueryView, compared: Comparison, texts: Mapping[str, str | None], current: str | None
) -> Reading:
    """Every gold with its rank in each run and its text; opened at ``current`` if that is one."""
    pages = _Pages()
    words = telling_words(view.text or "")
    for number, gold in enumerate(view.golds, 1):
        spans = [
            Span(f"{number} of {len(view.golds)} ", "dim"),
            mark_of(view, gold.doc_id),
            Span(f" {gold.doc_id}", "gold"),
        ]
        for run in compared.runs:
            spans += [Span(" · ", "dim"), Span(f"{run.label} ", compared.style(run))]
            spans.append(Span(rank_text(view, run.run_id, gold.doc_id)))
        pages.heading(tuple(spans), gold.doc_id)
        text = texts.get(gold.doc_id)
        pages.body(text if text is not None else "no text at hand", "dim" if text is None else "", words)
    if not view.golds:
        pages.heading((Span("no gold: nothing is judged relevant for this query", "dim"),))
    return pages.reading(pages.places.get(current or ""))


def document_line(
    view: QueryView, compared: Comparison, doc_id: str, text: str | None, width: int | None = None
) -> tuple[Cell, Cell]:
    """What is known of a document: its mark and id, which may be elided; and its judgment, its page, rank in each run
    and length, which stay whole. The length is left out where the id would not fit into ``width`` cells beside it."""
    excluded = any(
        doc.doc_id == doc_id and doc.excluded for ranking in view.rankings if ranking for doc in ranking.docs
    )
    judgment = next((judgment for judgment in view.judgments if judgment.doc_id == doc_id), None)
    if judgment is not None and judgment.gold:
        spans = [Span("gold" if judgment.relevance == 1 else f"gold, grade {judgment.relevance}", "gold")]
    elif judgment is not None:
        spans = [Span(f"judged, grade {judgment.relevance}", "dim")]
    elif excluded:
        spans = [Span("excluded for this query", "dim")]
    else:
        spans = [Span("unjudged", "dim")]
        if doc_id in view.siblings:
            spans.append(Span(" · same page as a gold", "accent"))
        elif not view.pages_known:
            spans.append(Span(" · no page known", "dim"))
    if own := own_decision(view, doc_id):
        spans += [Span(" · ", "dim"), *own]
    for run in compared.runs:
        spans += [Span(" · ", "dim"), Span(f"{run.label} ", compared.style(run))]
        spans.append(Span(rank_text(view, run.run_id, doc_id)))
    name = (*marks_of(view, doc_id, excluded), Span(f" {doc_id}", "strong"))
    length = Span(f" · {len(text or ''):,} characters", "dim")
    taken = sum(len(span.text) for span in (*name, *spans, length)) + 2
    if text is not None and (width is None or taken <= width):
        spans.append(length)
    return name, tuple(spans)

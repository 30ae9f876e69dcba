"""A document's score taken apart: the table of terms or sentences, and the document with them lit."""

from __future__ import annotations

from collections.abc import Sequence

from bright_inspect.evaluation.explaining import Explanation
from bright_inspect.presentation.cells import Cell, Column, Span, TableRow, column_title
from bright_inspect.presentation.numbers import bar
from bright_inspect.presentation.reading import Reading
from bright_inspect.retrieval.protocol import SentenceScore

_BAR = 10


def explanation_title(retriever: str, variant: str, doc_id: str) -> Cell:
    """Whose score of which document, for which text of the query."""
    return (
        Span(retriever, "accent"), Span(" · text ", "dim"), Span(variant), Span(" · ", "dim"), Span(doc_id, "strong"),
    )  # fmt: skip


def explanation_summary(explanation: Explanation, listed: float | None) -> Cell:
    """The sum over terms, and how much of the query takes part in it; or how many sentences, and the whole document's
    score as it is ``listed`` (None = not known)."""
    if explanation.score is not None:
        here = sum(term.contribution != 0 for term in explanation.terms)
        spans = [
            Span("score ", "dim"), Span(f"{explanation.score:.4f}", "strong"),
            Span(f" · {here} of the query's {len(explanation.terms)} terms", "dim"),
            Span(f" · idf over {explanation.corpus}", "dim"),
        ]  # fmt: skip
    else:
        unread = sum(sentence.read is False for sentence in explanation.sentences)
        spans = []
        if listed is not None:
            spans += [Span("score ", "dim"), Span(f"{listed:.3f}", "strong"), Span(" · ", "dim")]
        spans.append(Span(f"{len(explanation.sentences)} sentences, each scored alone, the closest first", "dim"))
        if unread:
            spans.append(Span(f" · {unread} of them after the model's max length, not read in the document", "warning"))
    if explanation.note:
        spans.append(Span(f" · {explanation.note}", "warning"))
    if explanation.document is None:
        spans.append(Span(" · no text at hand", "warning"))
    return tuple(spans)


def explanation_columns(explanation: Explanation, width: int) -> list[Column]:
    """Of terms: part, share, term and the query's words, and where there is room how the part comes about. Of
    sentences: score, and the sentence."""

    if explanation.score is None:
        return [
            Column("score", column_title("score"), 7, align="right"),
            Column("bar", (), _BAR),
            Column("sentence", column_title("sentence"), 20, flex=1),
        ]
    columns = [
        Column("part", column_title("part"), 8, align="right"),
        Column("bar", (), _BAR),
        Column("term", column_title("term"), 12, flex=1),
        Column("words", column_title("in the query"), 14, flex=1),
    ]
    if width >= 100:
        columns += [
            Column("query", column_title("× query"), 8, align="right"),
            Column("document", column_title("document"), 8, align="right"),
        ]
    return [
        *columns,
        Column("idf", column_title("idf"), 6, align="right"),
        Column("tf", column_title("tf"), 4, align="right"),
    ]


def explanation_rows(explanation: Explanation, columns: Sequence[Column]) -> list[TableRow]:
    """A row a term, by its number, largest part first; or a row a sentence, by its number, closest first."""
    if explanation.score is None:
        return _sentence_rows(explanation)
    largest = max((abs(term.contribution) for term in explanation.terms), default=0.0) or 1.0
    rows = []
    for number, term in enumerate(explanation.terms):
        style = "" if term.contribution else "dim"
        cells: dict[str, Cell] = {
            "part": (Span(f"{term.contribution:.4f}" if term.contribution else "–", style),),
            "bar": (Span(bar(abs(term.contribution) / largest, _BAR), "gain" if term.contribution >= 0 else "loss"),),
            "term": (Span(term.term, style),),
            "words": (Span(", ".join(term.surfaces), "dim"),),
            "query": (Span(f"{term.query_weight:.3f}", "dim"),),
            "document": (Span(f"{term.document_weight:.3f}", "dim"),),
            "idf": (Span(f"{term.idf:.2f}" if term.idf else "–", "dim"),),
            "tf": (Span(str(term.tf) if term.tf else "–", style),),
        }
        rows.append(TableRow(str(number), tuple(cells[column.key] for column in columns)))
    return rows


def _sentence_rows(explanation: Explanation) -> list[TableRow]:
    order = sorted(range(len(explanation.sentences)), key=lambda place: -explanation.sentences[place].score)
    # Cosines are at most 1; a dot product may be more.
    scale = max(1.0, *(sentence.score for sentence in explanation.sentences)) if explanation.sentences else 1.0
    text = explanation.document or ""
    rows = []
    for place in order:
        sentence = explanation.sentences[place]
        style = "dim" if sentence.read is False else ""
        rows.append(
            TableRow(
                str(place),
                (
                    (Span(f"{sentence.score:.3f}", style),),
                    (Span(bar(sentence.score / scale, _BAR), "gain"),),
                    (Span(" ".join(text[sentence.start : sentence.end][:400].split()), style),),
                ),
            )
        )
    return rows


def explained_document(explanation: Explanation, key: str | None) -> Reading:
    """The document with the row's term or sentence lit, or every term's words, and opened there."""
    text = explanation.document or ""
    if explanation.places is None:
        spans = [(item.start, item.end, "dim") for item in explanation.sentences if item.read is False]
        chosen = _sentence(explanation, key)
        if chosen is not None:
            spans.append((chosen.start, chosen.end, "match"))
        return Reading(text, tuple(spans), chosen.start if chosen else None)
    spans = []
    for number, term in enumerate(explanation.terms):
        if term.contribution and str(number) != key:
            spans += [(start, end, "accent") for start, end in explanation.places.get(term.term, ())]
    first = None
    if key is not None and int(key) < len(explanation.terms):
        own = explanation.places.get(explanation.terms[int(key)].term, ())
        spans += [(start, end, "match") for start, end in own]
        first = own[0][0] if own else None
    return Reading(text, tuple(spans), first)


def _sentence(explanation: Explanation, key: str | None) -> SentenceScore | None:
    return explanation.sentences[int(key)] if key is not None and int(key) < len(explanation.sentences) else None

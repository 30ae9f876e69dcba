"""What the Live screen says of a search: what was asked and sent, its value, and how far it compares with stored
runs."""

from __future__ import annotations

from collections.abc import Sequence

from bright_inspect.domain.measures import Measure
from bright_inspect.domain.visible import visible
from bright_inspect.evaluation.live import LiveRequest, LiveResult
from bright_inspect.presentation.cells import Cell, Span
from bright_inspect.presentation.numbers import delta_style, percent, signed_percent
from bright_inspect.retrieval.protocol import Reranking, Sent


def request_line(request: LiveRequest, keys: Sequence[str]) -> Cell:
    """What will be asked, each part with the key that changes it: retriever, text, reranker, depth."""
    retriever, text, reranker, depth = keys
    rerank = f"top {request.top} {request.reranker}" if request.reranker else "no"
    return (
        Span("by ", "dim"), Span(request.retriever, "strong"), Span(f" {retriever}", "accent"),
        Span(" · text ", "dim"), Span(request.variant, "strong"), Span(f" {text}", "accent"),
        Span(" · rerank ", "dim"), Span(rerank, "strong"), Span(f" {reranker}", "accent"),
        Span(" · depth ", "dim"), Span(f"{request.depth:,}", "strong"), Span(f" {depth}", "accent"),
    )  # fmt: skip


def result_note(result: LiveResult, restricted: bool, key: str) -> tuple[Cell, Cell]:
    """How many documents were searched, and what that means; on the right how long it took and where."""
    of = "" if result.of is None else f" of {result.of:,}"
    spans = [Span(f"searched {result.searched:,}{of} documents", "warning" if result.partial else "dim")]
    if result.partial and not restricted:
        spans.append(Span(f": no deltas · {key} restricts runs", "warning"))
    elif result.partial:
        spans.append(Span(f": so are the runs · {key} undoes", "warning"))
    if result.shortfall:
        # That a small corpus has no more is nothing to be warned of.
        everything = not result.partial and len(result.ranking.docs) == result.searched
        spans.append(Span(f" · {result.shortfall}", "dim" if everything else "warning"))
    where = f" on {result.device}" if result.device else ""
    return tuple(spans), (Span(f"{1000 * result.seconds:,.0f} ms{where}", "dim"),)


def model_note(result: LiveResult) -> Cell:
    """What a model was sent beside the text, and what a reranker did; empty where neither was asked."""
    parts = [*(_sent(result.sent) if result.sent else ())]
    if result.reranking is not None:
        parts += [Span(" · ", "dim")] if parts else []
        parts += _reranking(result.reranking, result.provenance.get("reranker_max_length"))
    return tuple(parts)


def _sent(sent: Sent) -> list[Span]:
    spans = []
    if sent.query_tokens is not None and sent.max_length is not None:
        cut = sent.query_tokens > sent.max_length
        text = f"query {sent.query_tokens:,} tokens" + (f", cut at {sent.max_length:,}" if cut else "")
        spans += [Span(text, "warning" if cut else "dim"), Span(" · ", "dim")]
    if not sent.query_prefix and not sent.document_prefix:
        return [*spans, Span("no prefixes", "dim"), Span(f" ({sent.source})" if sent.source != "none" else "", "dim")]
    return [
        *spans,
        Span("query ", "dim"), Span(_quoted(sent.query_prefix)),
        Span(" · documents ", "dim"), Span(_quoted(sent.document_prefix)), Span(f" ({sent.source})", "dim"),
    ]  # fmt: skip


def _quoted(prefix: str) -> str:
    return "–" if not prefix else f"“{visible(prefix.replace(chr(10), '⏎'))}”"


def _reranking(what: Reranking, max_length: object) -> list[Span]:
    spans = [Span(f"reranked {what.scored:,}", "dim")]
    if what.cut:
        spans.append(Span(f", {what.cut:,} of them cut at {max_length} tokens", "warning"))
    elif what.cut is None:
        spans.append(Span(", cuts not known", "dim"))
    if what.without_text:
        spans.append(Span(f", {what.without_text:,} without a text keep their order below", "warning"))
    return spans


def stored_title(
    name: str,
    style: str,
    measure: Measure,
    value: float | None,
    note: str = "",
    base: tuple[str, float | None] | None = None,
) -> Cell:
    """The title of a list: whose, its value, and Δ against ``base``, (name, value)."""
    spans = [Span(name, style), Span(f"  {measure} ", "dim"), Span(percent(value), "strong")]
    if value is not None and base is not None and base[1] is not None:
        delta = value - base[1]
        spans += [Span("  Δ ", "dim"), Span(signed_percent(delta), delta_style(delta)), Span(f" to {base[0]}", "dim")]
    return (*spans, Span(note, "warning")) if note else tuple(spans)

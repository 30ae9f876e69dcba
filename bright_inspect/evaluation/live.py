"""A query searched here and now, with its own value, beside the lists of stored runs.

The corpus at hand may be a part. A stored run over all of it is then no match: its list can be restricted to the same
documents, and only so do values compare.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import Any

from bright_inspect.db import Cursor
from bright_inspect.domain.corpora import corpus_size
from bright_inspect.domain.measures import Measure
from bright_inspect.domain.rankings import QueryKey, RankedDoc, Ranking
from bright_inspect.evaluation.conventions import OURS, ListedDoc, QueryCase
from bright_inspect.retrieval.protocol import Check, Corpus, Found, Reranking, Retriever, Sends, Sent, provenance_of
from bright_inspect.retrieval.rerank import RerankingRetriever
from bright_inspect.store.query_view import QueryView
from bright_inspect.store.session import Session

#: No run of the session has this id.
LIVE_RUN = -1


@dataclass(frozen=True, slots=True)
class LiveRequest:
    """What is asked: a text (``variant`` names where it comes from) of a retriever by name, to a depth, the ``top`` of
    the list reranked if a reranker is named. ``text_from`` says how a model made the text, if one did."""

    retriever: str
    variant: str
    text: str
    depth: int
    reranker: str | None = None
    top: int = 100
    text_from: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class LiveResult:
    """What was found: the list without excluded documents, its value (a fraction; None where nothing is judged), how
    many documents were searched ``of`` how many (None = not known), why the list is shorter than asked for, the seconds
    that the search took, what a model was sent beside the text and what a reranker did, if there was one, and
    ``provenance`` for a sidecar."""

    request: LiveRequest
    system: str
    device: str | None
    ranking: Ranking
    value: float | None
    searched: int
    of: int | None
    shortfall: str
    seconds: float
    sent: Sent | None
    reranking: Reranking | None
    provenance: Mapping[str, Any]

    @property
    def partial(self) -> bool:
        """Whether a part of the corpus was searched, so that values do not compare with those of stored runs."""
        return self.of is not None and self.searched < self.of


def search_live(
    retriever: Retriever, corpus: Corpus, view: QueryView, request: LiveRequest, measure: Measure, check: Check
) -> LiveResult:
    """Search a text for a query of the session, excluded documents removed before the cut to the depth."""
    key, excluded = view.key, frozenset(view.excluded)
    started = time.perf_counter()
    (found,) = retriever.search([request.text], request.depth, [excluded], check)
    seconds = time.perf_counter() - started
    ranking = found_ranking(found, key)
    whole = corpus_size(key.dataset, key.task) or corpus.whole
    first = retriever.first_stage if isinstance(retriever, RerankingRetriever) else retriever
    return LiveResult(
        request,
        retriever.name,
        retriever.device,
        ranking,
        ranking_value(ranking, view, measure),
        corpus.size,
        whole,
        found.shortfall,
        seconds,
        first.sent(request.text) if isinstance(first, Sends) else None,
        found.reranking,
        {
            "system": retriever.name,
            "variant": request.variant,
            "dataset": key.dataset,
            "task": key.task,
            "query_id": key.query_id,
            "text": request.text,
            **({"text_from": dict(request.text_from)} if request.text_from is not None else {}),
            "depth": request.depth,
            "device": retriever.device,
            "corpus_documents": corpus.size,
            "corpus_documents_of": whole,
            "corpus_md5": corpus.digest,
            "excluded_documents": len(excluded),
            **provenance_of(retriever),
        },
    )


def found_ranking(found: Found, key: QueryKey) -> Ranking:
    """What a retriever found as the ranking of a query."""
    docs = tuple(RankedDoc(rank, rank, hit.doc_id, hit.score, None) for rank, hit in enumerate(found.hits, 1))
    return Ranking(LIVE_RUN, key, docs, {doc.doc_id: doc.rank for doc in docs}, len(docs))


def ranking_value(ranking: Ranking, view: QueryView, measure: Measure) -> float | None:
    """The value of a list by our rule and the judgments in view; None where the query has no judgment."""
    if not view.judgments:
        return None
    listed = tuple(ListedDoc(doc.doc_id, -float(doc.rank)) for doc in ranking.docs if doc.rank is not None)
    relevance = {judgment.doc_id: judgment.relevance for judgment in view.judgments}
    return OURS.query_value(measure, QueryCase(view.key.query_id, listed, relevance)).value


def restricted(ranking: Ranking, documents: Collection[str]) -> Ranking:
    """A stored list as it is among these documents only: the others leave, and the rest moves up."""
    docs: list[RankedDoc] = []
    rank = 0
    for doc in ranking.docs:
        if doc.doc_id in documents:
            rank += doc.rank is not None
            docs.append(replace(doc, rank=None if doc.rank is None else rank))
    return replace(ranking, docs=tuple(docs), ranks={doc.doc_id: doc.rank for doc in docs}, depth=rank)


def documents_at_hand(cursor: Cursor, session: Session, key: QueryKey, doc_ids: Collection[str]) -> frozenset[str]:
    """Those of the documents that the corpus at hand has."""
    source = session.collections.source((key.dataset, key.task))
    sql = source.documents_sql(key.dataset, key.task) if source else None
    if sql is None:
        return frozenset()
    rows = cursor.execute(f"SELECT doc_id FROM ({sql}) WHERE doc_id IN (SELECT unnest(?))", [list(doc_ids)]).fetchall()
    return frozenset(doc_id for (doc_id,) in rows)

"""Which word moved a document: each term's exact part in its BM25 score under the original text and under the rewrite.

A term that both texts have may change its part too: BRIGHT's BM25 weighs query terms by their count and by the query's
length, which a rewrite changes. Sums are over all terms of both texts, so that nothing is left unexplained.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, Protocol, runtime_checkable

from bright_inspect.errors import BrightInspectError
from bright_inspect.evaluation.explaining import size_text
from bright_inspect.retrieval.bm25 import BM25_NAMES
from bright_inspect.retrieval.protocol import Corpus, ExplainsMany, Retriever
from bright_inspect.retrieval.rerank import RerankingRetriever
from bright_inspect.retrieval.term_parts import TermParts

#: A term is the rewrite's alone, the original's alone, or in both texts.
TermKind = Literal["added", "removed", "kept"]


@dataclass(frozen=True, slots=True)
class TermChange:
    """A term's part in one document's score under the original (``before``) and under the rewrite (``after``), in units
    of the score; 0 under a text that lacks it.

    ``surfaces`` are the words of the rewrite that became it, or those of the original where the rewrite lacks it.
    ``tf`` counts it in the document; ``documents`` of the corpus have it, which is ``share`` of them (0–1).
    """

    term: str
    kind: TermKind
    surfaces: tuple[str, ...]
    tf: int
    idf: float
    documents: int
    share: float
    before: float
    after: float

    @property
    def word(self) -> str:
        """The first word of the text that became it; the term where there is none."""
        return self.surfaces[0] if self.surfaces else self.term

    @property
    def difference(self) -> float:
        return self.after - self.before


@dataclass(frozen=True, slots=True)
class DocumentChange:
    """A document's score under both texts. ``terms`` are those of either text that the document has, largest difference
    (either way) first; their parts add up to the scores, and their differences to that of the scores."""

    doc_id: str
    before: float
    after: float
    terms: tuple[TermChange, ...]

    @property
    def difference(self) -> float:
        return self.after - self.before


@dataclass(frozen=True)
class TextChange:
    """An original and a rewrite as they score the same documents, by term.

    ``source`` names what idf is counted over: "bm25 index of 1,084 of 121,249 documents". ``missing`` are the documents
    that the corpus searched lacks; ``doc_ids`` are the others, in the order asked for.
    """

    source: str
    original: TermParts
    rewrite: TermParts

    @property
    def doc_ids(self) -> tuple[str, ...]:
        return tuple(self.rewrite.scores)

    @property
    def missing(self) -> tuple[str, ...]:
        return self.rewrite.missing

    @cached_property
    def _numbers_before(self) -> Mapping[str, int]:
        return {term.term: number for number, term in enumerate(self.original.terms)}

    @cached_property
    def added(self) -> frozenset[int]:
        """The numbers (in ``rewrite.terms``) of the terms that the original lacks."""
        before = self._numbers_before
        return frozenset(number for number, term in enumerate(self.rewrite.terms) if term.term not in before)

    def share(self, documents: int) -> float:
        """The share of the corpus, 0–1, that this many documents are."""
        return documents / self.rewrite.documents if self.rewrite.documents else 0.0

    @cached_property
    def _documents(self) -> dict[str, DocumentChange]:
        return {}

    def document(self, doc_id: str) -> DocumentChange:
        """How the terms of both texts count in a document; worked out once.

        Raises:
            KeyError: the document is not in ``doc_ids``.
        """
        if doc_id not in self._documents:
            self._documents[doc_id] = self._document(doc_id)
        return self._documents[doc_id]

    def _document(self, doc_id: str) -> DocumentChange:
        before = {part.number: part for part in self.original.parts(doc_id)}
        changes: list[TermChange] = []
        for part in self.rewrite.parts(doc_id):
            term = self.rewrite.terms[part.number]
            number = self._numbers_before.get(term.term)
            old = 0.0 if number is None else before.pop(number).contribution
            kind: TermKind = "added" if number is None else "kept"
            share = self.share(term.documents)
            changes.append(
                TermChange(
                    term.term, kind, term.surfaces, part.tf, term.idf, term.documents, share, old, part.contribution
                )
            )
        for part in before.values():
            term = self.original.terms[part.number]
            share = self.share(term.documents)
            changes.append(
                TermChange(
                    term.term,
                    "removed",
                    term.surfaces,
                    part.tf,
                    term.idf,
                    term.documents,
                    share,
                    part.contribution,
                    0.0,
                )
            )
        changes.sort(key=lambda change: (-abs(change.difference), change.term))
        return DocumentChange(doc_id, self.original.scores[doc_id], self.rewrite.scores[doc_id], tuple(changes))


def text_change(
    retriever: Retriever, corpus: Corpus, original: str, rewrite: str, doc_ids: Sequence[str]
) -> TextChange:
    """How two texts score these documents. A reranked list is explained by the retriever below the reranker.

    Raises:
        BrightInspectError: the retriever's scores are no sums over terms.
    """
    first = term_scorer(retriever)
    source = f"{first.name} index of {size_text(corpus)}"
    return TextChange(source, first.term_parts(original, doc_ids), first.term_parts(rewrite, doc_ids))


@runtime_checkable
class TermScorer(Retriever, ExplainsMany, Protocol):
    """A retriever that tells the terms' parts."""


def term_scorer(retriever: Retriever) -> TermScorer:
    """The retriever, or the one below its reranker, as one that tells the terms' parts.

    Raises:
        BrightInspectError: its scores are no sums over terms.
    """
    first = retriever.first_stage if isinstance(retriever, RerankingRetriever) else retriever
    if not isinstance(first, TermScorer):
        raise BrightInspectError(
            f"{first.name}: its scores are no sums over terms.", f"Choose {', '.join(BM25_NAMES)} for that."
        )
    return first

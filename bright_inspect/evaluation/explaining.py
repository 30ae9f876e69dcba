"""Why a retriever scores a document as it does: by term, or by the sentence that is closest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from bright_inspect.domain.corpora import corpus_size
from bright_inspect.errors import BrightInspectError
from bright_inspect.retrieval.protocol import (
    Check,
    Corpus,
    Explains,
    ExplainsBySentence,
    Retriever,
    SentenceScore,
    TermWeight,
)
from bright_inspect.retrieval.rerank import RerankingRetriever


@dataclass(frozen=True, slots=True)
class Explanation:
    """Of a document's score for a text: ``terms`` whose contributions add up to it, with the ``places`` of each in the
    document; or else its ``sentences``, each scored alone. ``document`` is None where its text is not at hand.
    ``note`` says what else is to be known; ``corpus`` is what idf is counted over."""

    retriever: str
    doc_id: str
    document: str | None
    terms: Sequence[TermWeight] = ()
    places: Mapping[str, Sequence[tuple[int, int]]] | None = None
    sentences: Sequence[SentenceScore] = ()
    note: str = ""
    corpus: str = ""

    @property
    def score(self) -> float | None:
        """The sum over terms; None for a retriever that has none."""
        return sum(term.contribution for term in self.terms) if self.places is not None else None


def explain(
    retriever: Retriever, corpus: Corpus, text: str, doc_id: str, document: str | None, check: Check
) -> Explanation:
    """Explain a document's score for a text. A reranked list is explained by the retriever below the reranker.

    Raises:
        UsageError: the corpus that is searched has no such document.
        BrightInspectError: the retriever cannot say.
    """
    note = ""
    if isinstance(retriever, RerankingRetriever):
        note = f"of {retriever.first_stage.name}: a reranker's score has no parts"
        retriever = retriever.first_stage
    if isinstance(retriever, Explains):
        places = retriever.term_places(document) if document is not None else {}
        parts = retriever.explain(text, doc_id)
        return Explanation(retriever.name, doc_id, document, parts, places, (), note, size_text(corpus))
    if isinstance(retriever, ExplainsBySentence):
        if document is None:
            raise BrightInspectError(f"{doc_id}: no text at hand, so its sentences cannot be scored.")
        found = retriever.sentence_scores(text, document, check)
        return Explanation(retriever.name, doc_id, document, (), None, found, note)
    raise BrightInspectError(
        f"{retriever.name} does not say why it scores as it does.", "Choose bm25 or a dense model for that."
    )


def size_text(corpus: Corpus) -> str:
    """``1,084 of 121,249 documents``; ``39 documents`` for a corpus that is whole or of unknown size."""
    whole = corpus_size(corpus.dataset, corpus.task) or corpus.whole
    of = f" of {whole:,}" if whole is not None and corpus.size < whole else ""
    return f"{corpus.size:,}{of} documents"

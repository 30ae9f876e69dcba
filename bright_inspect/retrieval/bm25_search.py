"""Scores a corpus by the postings of a BM25 index, exactly and for all documents."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from functools import cached_property

import numpy as np
import numpy.typing as npt

# The inner loop of scipy's sparse products: y[rows] += weights * x, in place. The public product would copy the
# postings of every term first, which takes longer than adding them up.
from scipy.sparse._sparsetools import csc_matvec

from bright_inspect.errors import UsageError
from bright_inspect.retrieval.analysis import Analysis
from bright_inspect.retrieval.bm25_index import Index
from bright_inspect.retrieval.bm25_parts import query_terms, term_parts
from bright_inspect.retrieval.bm25_weights import Floats, Weighting
from bright_inspect.retrieval.protocol import Check, Exclusions, Found, TermWeight, never_stop
from bright_inspect.retrieval.ranking import best, hits_of, shortfall_of
from bright_inspect.retrieval.term_parts import TermParts

Rows = npt.NDArray[np.int64]


class Bm25:
    """A retriever over an opened index. ``query_side``: query terms are weighted by BM25 too, else by their count.

    Sums are float64, over terms in an order that the query's word order does not change.
    """

    device = None

    def __init__(self, name: str, index: Index, analysis: Analysis, weighting: Weighting, *, query_side: bool) -> None:
        self.name = name
        self._index = index
        self._analysis = analysis
        self._weighting = weighting
        self._query_side = query_side

    def search(self, texts: Sequence[str], k: int, excluded: Exclusions = (), check: Check = never_stop) -> list[Found]:
        """The best ``k`` documents with a term of each text; see ``Retriever.search``."""
        found = []
        for place, text in enumerate(texts):
            check()
            found.append(self._search(text, k, excluded[place] if excluded else ()))
        return found

    def _search(self, text: str, k: int, excluded: Collection[str]) -> Found:
        counts = Counter(term for term, _ in self._analysis.terms(text))
        numbers = self._index.terms.find(list(counts))
        known = numbers >= 0
        numbers = numbers[known]
        query_weights = self._query_weights(numbers, np.fromiter(counts.values(), np.int64, len(counts))[known])
        by_number = np.argsort(numbers)
        scores, matched = self._scores(numbers[by_number], query_weights[by_number])
        barred = self._rows(excluded)
        lost = int(matched[barred].sum())
        matched[barred] = False
        rows = best(scores, matched, k)
        hits = hits_of(self._index.ids.take(rows), scores[rows])
        return Found(hits, shortfall_of(len(hits), k, self._index.documents, len(counts), len(numbers), lost))

    def _query_weights(self, numbers: Rows, counts: Rows) -> Floats:
        if not self._query_side:
            return counts.astype(np.float64)
        length = np.array([counts.sum()], dtype=np.float64)
        saturation = self._weighting.saturation(length, self._index.mean_length)
        return self._weighting.weights(self._index.idf[numbers], counts, saturation)

    def _scores(self, numbers: Rows, query_weights: Floats) -> tuple[Floats, npt.NDArray[np.bool_]]:
        """The score of every document, and which of them have one of the terms."""
        index = self._index
        scores = np.zeros(index.documents)
        starts, ends = index.starts[numbers], index.starts[numbers + 1]
        spans = list(zip(starts.tolist(), ends.tolist(), strict=True))
        bounds = np.column_stack((np.zeros(len(spans)), ends - starts)).astype(np.int32)
        rows, weights, documents = index.rows, index.weights, index.documents
        for (start, end), bound, weight in zip(spans, bounds, query_weights.reshape(-1, 1), strict=True):
            csc_matvec(documents, 1, bound, rows[start:end], weights[start:end], weight, scores)
        if (self._index.idf[numbers] > 0).all():
            return scores, scores > 0
        matched = np.zeros(index.documents, dtype=np.bool_)
        for start, end in spans:
            matched[index.rows[start:end]] = True
        return scores, matched

    @cached_property
    def _row_of(self) -> dict[str, int]:
        return {doc_id: row for row, doc_id in enumerate(self._index.ids.all())}

    def _rows(self, ids: Collection[str]) -> Rows:
        """The numbers of those of the documents that the corpus has."""
        if not ids:
            return np.empty(0, dtype=np.int64)
        row_of = self._row_of
        return np.array(sorted({row for doc_id in ids if (row := row_of.get(doc_id)) is not None}), dtype=np.int64)

    def term_places(self, document: str) -> dict[str, list[tuple[int, int]]]:
        """Where each term's words stand in a text; see ``Explains.term_places``."""
        places: dict[str, list[tuple[int, int]]] = {}
        end = 0
        for term, word in self._analysis.terms(document):
            start = document.find(word, end)
            if start >= 0:  # a word that was cut stands in the text in its pieces
                end = start + len(word)
                places.setdefault(term, []).append((start, end))
        return places

    def explain(self, text: str, doc_id: str) -> list[TermWeight]:
        """What each term of the text contributes to the document's score; see ``Explains.explain``."""
        parts = self.term_parts(text, [doc_id])
        if parts.missing:
            raise UsageError(f"{doc_id!r} is not in the corpus that is searched.")
        return parts.term_weights(doc_id)

    def term_parts(self, text: str, doc_ids: Sequence[str]) -> TermParts:
        """What each term of the text contributes to each document's score; see ``ExplainsMany.term_parts``."""
        surfaces: dict[str, tuple[str, ...]] = {}
        times: dict[str, int] = {}
        for (term, word), count in Counter(self._analysis.terms(text)).items():
            surfaces[term] = (*surfaces[term], word) if term in surfaces else (word,)
            times[term] = times.get(term, 0) + count
        numbers = self._index.terms.find(list(surfaces))
        known = numbers >= 0
        counts = np.fromiter(times.values(), np.int64, len(times))
        weights = np.zeros(len(numbers))
        weights[known] = self._query_weights(numbers[known], counts[known])
        terms = query_terms(self._index, surfaces, counts, numbers, weights)
        wanted = list(dict.fromkeys(doc_ids))
        return term_parts(self._index, terms, numbers, self._index.ids.find_descending(wanted), wanted)

"""Dense retrieval: every document's vector against the query's, exactly."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import cached_property
from pathlib import Path
from typing import Protocol

import numpy as np
import numpy.typing as npt

from bright_inspect.errors import BrightInspectError
from bright_inspect.retrieval.encoder import Encoder
from bright_inspect.retrieval.protocol import (
    Check,
    Corpus,
    Exclusions,
    Found,
    Progress,
    Sent,
    SentenceScore,
    never_stop,
    provenance_of,
)
from bright_inspect.retrieval.ranking import at_the_top, hits_of
from bright_inspect.retrieval.sentences import sentences
from bright_inspect.retrieval.vectors import CorpusVectors, open_vectors

Vectors = npt.NDArray[np.float32]
#: Queries multiplied at once: their scores of 400,000 documents take 26 MB.
_QUERIES_AT_ONCE = 16


class Scorer(Protocol):
    """Where products are computed."""

    def scores(self, queries: Vectors) -> Vectors:
        """float32 of shape (queries, vectors)."""
        ...


class NumpyScorer:
    """Products of the memory-mapped vectors on the processor: float32 is what is fastest there (STACK 5)."""

    def __init__(self, vectors: Vectors) -> None:
        self._vectors = vectors

    def scores(self, queries: Vectors) -> Vectors:
        """float32 of shape (queries, vectors)."""
        if len(queries) == 1:
            # A product of a matrix and a vector reads the vectors once; that of two matrices copies them first.
            found: Vectors = (self._vectors @ queries[0])[np.newaxis]
        else:
            found = queries @ self._vectors.T
        return found


def make_dense(corpus: Corpus, cache_folder: Path, encoder: Encoder, progress: Progress, check: Check) -> Dense:
    """A dense retriever of a corpus, which is encoded as far as that was not done.

    Raises:
        UnreadableInput, BrightInspectError: as ``open_vectors``.
    """
    vectors = open_vectors(corpus, cache_folder, encoder, progress, check)
    return Dense(encoder, vectors, _scorer(encoder, vectors.vectors))


def _scorer(encoder: Encoder, vectors: Vectors) -> Scorer:
    device = (encoder.device or "cpu").partition(",")[0]
    if device.startswith(("cuda", "mps")):
        from bright_inspect.retrieval.neural.device_scorer import DeviceScorer, fits

        if fits(vectors.nbytes, device):
            return DeviceScorer(vectors, device)
    return NumpyScorer(vectors)


class Dense:
    """A retriever over the vectors of a corpus."""

    def __init__(self, encoder: Encoder, vectors: CorpusVectors, scorer: Scorer) -> None:
        self.name = encoder.name
        self.device = encoder.device
        self._encoder, self._vectors, self._scorer = encoder, vectors, scorer

    @property
    def provenance(self) -> dict[str, str | int | float | None]:
        return {
            **provenance_of(self._encoder),
            "dimensions": self._vectors.vectors.shape[1] if len(self._vectors.ids) else None,
        }

    def search(self, texts: Sequence[str], k: int, excluded: Exclusions = (), check: Check = never_stop) -> list[Found]:
        """The best ``k`` documents for each text; see ``Retriever.search``."""
        found: list[Found] = []
        for start in range(0, len(texts), _QUERIES_AT_ONCE):
            check()
            part = texts[start : start + _QUERIES_AT_ONCE]
            queries = self._encode_queries(part, check)
            check()
            for place, scores in enumerate(self._scorer.scores(queries) if len(self._vectors.ids) else ()):
                barred = excluded[start + place] if excluded else ()
                found.append(self._best(part[place], scores, k, barred))
            if not len(self._vectors.ids):
                found += [Found([], "The corpus has no documents.")] * len(part)
        return found

    def _encode_queries(self, texts: Sequence[str], check: Check) -> Vectors:
        queries = self._encoder.encode_queries(texts, check)
        if not np.isfinite(queries).all():
            raise BrightInspectError(
                f"{self.name}: the vector of a query holds what is no number.", "Try --precision float32."
            )
        dimensions = self._vectors.vectors.shape[1]
        if queries.shape[1] != dimensions and len(self._vectors.ids):
            raise BrightInspectError(
                f"{self.name}: a query has {queries.shape[1]} dimensions, the documents {dimensions}.",
                "The model changed: encode the corpus anew with another cache folder.",
            )
        return queries

    def _best(self, text: str, scores: Vectors, k: int, excluded: Collection[str]) -> Found:
        """The best documents by the scores of all vectors."""
        if not text.strip():
            return Found([], "The text is empty.")
        barred = {number for doc_id in excluded if (number := self._number_of.get(doc_id)) is not None}
        # As many vectors as there are documents wanted or barred: each is of one document at least.
        numbers = self._documents_of(at_the_top(scores, k + len(barred)))
        if barred:
            numbers = numbers[~np.isin(numbers, np.fromiter(barred, np.int64, len(barred)))]
        numbers = np.sort(numbers)
        values = scores[self._vectors.rows[numbers]]
        order = np.argsort(-values, kind="stable")[:k]
        hits = hits_of(self._vectors.ids.take(numbers[order]), values[order])
        if len(hits) == k:
            return Found(hits)
        total, lost = len(self._vectors.ids), len(barred)
        count = f"{total:,} document{'' if total == 1 else 's'}"
        return Found(hits, f"The corpus has only {count}{f' ({lost:,} excluded)' if lost else ''}.")

    def _documents_of(self, rows: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """The numbers of the documents that have one of these vectors."""
        by_row, starts = self._by_row
        counts = starts[rows + 1] - starts[rows]
        ends = np.cumsum(counts)
        numbers: npt.NDArray[np.int64] = by_row[
            np.arange(counts.sum()) + np.repeat(starts[rows] - ends + counts, counts)
        ]
        return numbers

    @cached_property
    def _by_row(self) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """Documents ordered by their vector, and where each vector's begin."""
        rows = self._vectors.rows
        by_row = np.argsort(rows, kind="stable")
        return by_row, np.searchsorted(rows[by_row], np.arange(len(self._vectors.vectors) + 1))

    @cached_property
    def _number_of(self) -> dict[str, int]:
        return {doc_id: number for number, doc_id in enumerate(self._vectors.ids.all())}

    def sentence_scores(self, text: str, document: str, check: Check = never_stop) -> list[SentenceScore]:
        """The sentences of a document in its order, each scored alone; see ``ExplainsBySentence``."""
        spans = sentences(document)
        (query,) = self._encode_queries([text], check)
        scores: list[float] = []
        for start in range(0, len(spans), self._encoder.batch_size):
            check()
            part = [document[a:b] for a, b in spans[start : start + self._encoder.batch_size]]
            scores += (self._encoder.encode_documents(part, check) @ query).tolist()
        known = self._encoder.characters_read(document)
        return [
            SentenceScore(a, b, score, None if known is None else a < known)
            for (a, b), score in zip(spans, scores, strict=True)
        ]

    def sent(self, text: str) -> Sent:
        """What a query is sent with; see ``Sends``."""
        encoder = self._encoder
        return Sent(
            encoder.query_prefix,
            encoder.document_prefix,
            encoder.prefix_source,
            encoder.query_max_length,
            encoder.query_tokens(text),
        )

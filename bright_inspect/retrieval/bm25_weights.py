"""The formulas of BM25: what a term weighs in a document and in a query."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.integer]


@dataclass(frozen=True, slots=True)
class Weighting:
    """A variant of BM25 with its parameters. All arithmetic is in float64.

    ``lucene``: idf = ln((N + 1) / (df + 0.5)), weight = idf · tf / (tf + K)
    (gensim 4.4: models/bm25model.py LuceneBM25Model; Lucene's and bm25s' ln(1 + (N − df + 0.5) / (df + 0.5)) is the
    same; Lucene itself keeps document lengths in one byte, which this does not).
    ``okapi``: idf = ln((N − df + 0.5) / (df + 0.5)), where that is negative ``floor`` times the mean idf of all terms;
    weight = idf · tf · (k1 + 1) / (tf + K) (rank_bm25 0.2.2: BM25Okapi).
    K = k1 · (1 − b + b · length / mean length), lengths in terms.
    """

    kind: Literal["lucene", "okapi"]
    k1: float
    b: float
    floor: float = 0.0

    @property
    def key(self) -> str:
        """Names the weighting in what is stored."""
        return f"{self.kind}-{self.k1:g}-{self.b:g}"

    def idf(self, document_counts: Integers, documents: int) -> Floats:
        """One a term, from in how many of the ``documents`` it is."""
        counts = document_counts.astype(np.float64)
        rest: Floats = np.full(len(counts), documents + 1.0) if self.kind == "lucene" else documents - counts + 0.5
        idf: Floats = np.log(rest) - np.log(counts + 0.5)
        if self.kind == "okapi" and len(idf):
            idf[idf < 0] = self.floor * idf.mean()
        return idf

    def saturation(self, lengths: Integers | Floats, mean_length: float) -> Floats:
        """K of each length. Without any term in the corpus, where no length is more than another's, b counts for 0."""
        relative = lengths / mean_length if mean_length else np.ones(len(lengths))
        return self.k1 * (1 - self.b + self.b * relative)

    def weights(self, idf: Floats, counts: Integers, saturation: Floats) -> Floats:
        """What terms weigh that occur ``counts`` times in documents (or a query) with this K."""
        times: Floats = counts.astype(np.float64)
        gain = self.k1 + 1 if self.kind == "okapi" else 1.0
        return idf * (times * gain / (times + saturation))


#: BRIGHT's parameters (BRIGHT:retrievers.py:196-225, FORMATS A.7), which are Anserini's and Pyserini's too.
LUCENE = Weighting("lucene", k1=0.9, b=0.4)
#: The defaults of rank_bm25's BM25Okapi.
OKAPI = Weighting("okapi", k1=1.5, b=0.75, floor=0.25)

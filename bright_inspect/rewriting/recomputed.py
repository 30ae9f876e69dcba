"""Whether a stored run's scores are those that this program computes for a text.

The corpora at hand are often a part, and then idf and the mean length differ from the run's: so scores are recomputed
for the documents at hand, and how far they are off is said.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from bright_inspect.domain.rankings import RankedDoc
from bright_inspect.evaluation.explaining import size_text
from bright_inspect.retrieval.protocol import Corpus, Retriever
from bright_inspect.rewriting.term_changes import term_scorer

#: Scores that differ by no more than this are the same: files hold 6 digits or more, and float32 seven.
SAME = 1e-5


@dataclass(frozen=True, slots=True)
class RecomputedScore:
    """A document's score as the run has it and as it is computed here."""

    doc_id: str
    stored: float
    recomputed: float

    @property
    def difference(self) -> float:
        """|recomputed − stored| / max(|recomputed|, |stored|): 0 to 2, 0 where both are 0 and 2 where the stored score
        is no finite number."""
        if not math.isfinite(self.stored):
            return 2.0
        larger = max(abs(self.recomputed), abs(self.stored))
        return abs(self.recomputed - self.stored) / larger if larger else 0.0


@dataclass(frozen=True, slots=True)
class Recomputed:
    """The documents of a stored list that are at hand, in its order, of how many; ``source`` names the index.

    ``largest`` and ``median`` are relative differences (see ``RecomputedScore``); None where no document is at hand.
    """

    scores: tuple[RecomputedScore, ...]
    of: int
    source: str
    largest: float | None
    median: float | None

    @property
    def reproduced(self) -> bool:
        """Whether every document of the list is at hand and has the stored score, up to ``SAME``."""
        return self.largest is not None and len(self.scores) == self.of and self.largest <= SAME

    @property
    def coverage(self) -> str:
        """``recomputed over 7 of 100 documents``."""
        return f"recomputed over {len(self.scores):,} of {self.of:,} documents"


def recompute(retriever: Retriever, corpus: Corpus, text: str, docs: Sequence[RankedDoc]) -> Recomputed:
    """The scores of a stored list's documents, excluded ones too, as they are computed here for this text.

    Raises:
        BrightInspectError: the retriever's scores are no sums over terms.
    """
    first = term_scorer(retriever)
    found = first.term_parts(text, [doc.doc_id for doc in docs]).scores
    scores = tuple(RecomputedScore(doc.doc_id, doc.score, found[doc.doc_id]) for doc in docs if doc.doc_id in found)
    differences = [score.difference for score in scores]
    return Recomputed(
        scores,
        len(docs),
        f"{first.name} index of {size_text(corpus)}",
        max(differences, default=None),
        statistics.median(differences) if differences else None,
    )

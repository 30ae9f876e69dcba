"""What each term of a text is worth in each of many documents, kept so that only what is shown becomes objects.

A list of 100 documents under a long text has tens of thousands of parts that are not zero; they stay in arrays.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from bright_inspect.retrieval.protocol import TermWeight

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt


class QueryTerm(NamedTuple):
    """A term of a text: the words that became it in order of their first place, how many of them there are, what it
    weighs in the text, its idf, and in how many ``documents`` of the corpus it is. The last three are 0 for a term that
    the corpus lacks."""

    term: str
    surfaces: tuple[str, ...]
    times: int
    weight: float
    idf: float
    documents: int


class Part(NamedTuple):
    """A term of a text (its number in ``TermParts.terms``) that a document has: how often, what it weighs there, and
    ``contribution`` = its weight in the text × its weight in the document."""

    number: int
    tf: int
    document_weight: float
    contribution: float


@dataclass(frozen=True, slots=True)
class TermParts:
    """The parts of the scores of documents under one text.

    ``terms`` are the text's, in order of their first place. ``scores`` has the documents asked for that the corpus has,
    in the order asked for: each score is the sum of its parts. ``missing`` are the others. ``documents`` is how many
    the corpus has.
    """

    terms: tuple[QueryTerm, ...]
    scores: Mapping[str, float]
    missing: tuple[str, ...]
    documents: int
    # The parts of document n lie at starts[n]:starts[n + 1], by the number of their term.
    _starts: Mapping[str, tuple[int, int]]
    _numbers: npt.NDArray[np.int64]
    _counts: npt.NDArray[np.int64]
    _weights: npt.NDArray[np.float64]
    _contributions: npt.NDArray[np.float64]

    def parts(self, doc_id: str) -> Iterator[Part]:
        """The terms that a document has, in the text's order.

        Raises:
            KeyError: the document is not in ``scores``.
        """
        place = slice(*self._starts[doc_id])
        columns = (self._numbers, self._counts, self._weights, self._contributions)
        return map(Part, *(column[place].tolist() for column in columns))

    def term_weights(self, doc_id: str) -> list[TermWeight]:
        """All terms of the text as they count in a document, largest contribution first; those that it lacks at 0.

        Raises:
            KeyError: the document is not in ``scores``.
        """
        there = {part.number: part for part in self.parts(doc_id)}
        weights = []
        for number, term in enumerate(self.terms):
            part = there.get(number)
            tf, weight, contribution = (part.tf, part.document_weight, part.contribution) if part else (0, 0.0, 0.0)
            weights.append(TermWeight(term.term, term.surfaces, term.weight, weight, term.idf, tf, contribution))
        return sorted(weights, key=lambda weight: (-weight.contribution, weight.term))

"""Finds the postings of many terms in a few documents, without reading those of all documents."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from bright_inspect.retrieval.bm25_index import Index
from bright_inspect.retrieval.bm25_weights import Floats
from bright_inspect.retrieval.term_parts import QueryTerm, TermParts

Numbers = npt.NDArray[np.int64]
#: Postings of a term that are read faster than a hundred documents are looked up in them.
_SHORT = 500


def term_parts(
    index: Index, terms: Sequence[QueryTerm], numbers: Numbers, rows: Sequence[int], doc_ids: Sequence[str]
) -> TermParts:
    """The parts of documents, ``rows`` of the index in the order of ``doc_ids``, under a text of these terms;
    ``numbers`` are the terms' in the index. Both are -1 where the index lacks one."""
    at_hand = [(row, doc_id) for row, doc_id in zip(rows, doc_ids, strict=True) if row >= 0]
    ids = [doc_id for _, doc_id in at_hand]
    known = np.flatnonzero(numbers >= 0)
    term, document, place = _postings(index, numbers[known], np.array([row for row, _ in at_hand], dtype=np.int32))
    term = known[term]
    order = np.lexsort((term, document))
    term, document, place = term[order], document[order], place[order]
    weights = index.weights[place]
    contributions = np.array([each.weight for each in terms], dtype=np.float64)[term] * weights
    scores = np.bincount(document, contributions, len(ids)).tolist()
    bounds = np.searchsorted(document, np.arange(len(ids) + 1)).tolist()
    return TermParts(
        tuple(terms),
        dict(zip(ids, scores, strict=True)),
        tuple(doc_id for row, doc_id in zip(rows, doc_ids, strict=True) if row < 0),
        index.documents,
        dict(zip(ids, pairwise(bounds), strict=True)),
        term,
        index.counts[place].astype(np.int64),
        weights,
        contributions,
    )


def _postings(index: Index, numbers: Numbers, rows: npt.NDArray[np.int32]) -> tuple[Numbers, Numbers, Numbers]:
    """``(term, document, place)`` of each posting of these terms in these documents: places in ``numbers``, in ``rows``
    and in the index's postings. In no order."""
    starts, ends = index.starts[numbers], index.starts[numbers + 1]
    short = ends - starts <= _SHORT
    some = _all_postings(index, np.flatnonzero(short), starts, ends, rows)
    others = _looked_up(index, np.flatnonzero(~short), starts, ends, rows)
    term, document, place = (np.concatenate(columns) for columns in zip(some, others, strict=True))
    return term, document, place


def _all_postings(
    index: Index, terms: Numbers, starts: Numbers, ends: Numbers, rows: npt.NDArray[np.int32]
) -> tuple[Numbers, Numbers, Numbers]:
    """As ``_postings``, for ``terms`` among these: reads all of theirs."""
    document_of = np.full(index.documents, -1, dtype=np.int64)
    document_of[rows] = np.arange(len(rows))
    starts, lengths = starts[terms], (ends - starts)[terms]
    begins = np.cumsum(lengths) - lengths
    places = np.arange(int(lengths.sum())) + np.repeat(starts - begins, lengths)
    document = document_of[index.rows[places]]
    there = np.flatnonzero(document >= 0)
    return np.repeat(terms, lengths)[there], document[there], places[there]


def _looked_up(
    index: Index, terms: Numbers, starts: Numbers, ends: Numbers, rows: npt.NDArray[np.int32]
) -> tuple[Numbers, Numbers, Numbers]:
    """As ``_postings``, for ``terms`` among these: looks each document up in theirs."""
    by_row = np.argsort(rows)
    wanted = rows[by_row]
    starts, ends = starts[terms], ends[terms]
    places = np.empty((len(terms), len(rows)), dtype=np.int64)
    for number, (start, end) in enumerate(zip(starts.tolist(), ends.tolist(), strict=True)):
        places[number] = index.rows[start:end].searchsorted(wanted)
    places += starts[:, np.newaxis]
    within = places < ends[:, np.newaxis]
    term, document = np.nonzero(within & (index.rows[np.where(within, places, 0)] == wanted))
    return terms[term], by_row[document], places[term, document]


def query_terms(
    index: Index, surfaces: dict[str, tuple[str, ...]], times: Numbers, numbers: Numbers, weights: Floats
) -> list[QueryTerm]:
    """The terms of a text, from what they are there (``surfaces``, ``times``, ``weights``) and in the index."""
    known = numbers >= 0
    idf, documents = np.zeros(len(numbers)), np.zeros(len(numbers), dtype=np.int64)
    idf[known] = index.idf[numbers[known]]
    documents[known] = index.starts[numbers[known] + 1] - index.starts[numbers[known]]
    columns = (surfaces, surfaces.values(), times.tolist(), weights.tolist(), idf.tolist(), documents.tolist())
    return list(map(QueryTerm, *columns))

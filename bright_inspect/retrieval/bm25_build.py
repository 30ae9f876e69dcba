"""Reads a corpus once and makes the postings of a BM25 index.

Documents are numbered by id, descending, so that of two documents with the same score the one with the lower number
comes first, as trec_eval has it. Terms are numbered by hash, which is how they are found again.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from struct import Struct
from typing import Any

import numpy as np
import numpy.typing as npt

from bright_inspect.errors import UnreadableInput
from bright_inspect.retrieval.analysis import Analysis
from bright_inspect.retrieval.bm25_weights import Floats, Weighting
from bright_inspect.retrieval.protocol import Check, Corpus, Progress
from bright_inspect.retrieval.strings import encode, hashes_of, packed

_INT32 = Struct("=i")
_CHECK_EVERY = 200
_TERMS_AT_ONCE = 1_000_000
_CACHED_WORDS = 1_000_000
_WEIGHTS_AT_ONCE = 2_000_000

Array = npt.NDArray[Any]
Integers = npt.NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class _Counted:
    """Term numbers and counts of some documents, one document after the other, and how many terms each has."""

    terms: Integers
    counts: Integers
    sizes: Integers


@dataclass(frozen=True, slots=True)
class _Read:
    """A corpus in reading order; ids and terms as UTF-8, lengths in terms."""

    ids: list[bytes]
    terms: list[bytes]
    lengths: npt.NDArray[np.int64]
    parts: list[_Counted]


class _Numbers(dict[str, bytes]):
    """Word -> numbers of its terms as int32 bytes, terms numbered as they are first met. Bytes rather than tuples,
    because the garbage collector would visit half a million of those again and again."""

    def __init__(self, analysis: Analysis) -> None:
        super().__init__()
        self._analysis = analysis
        self.terms: dict[str, int] = {}

    def __missing__(self, word: str) -> bytes:
        if len(self) >= _CACHED_WORDS:
            self.clear()
        terms = self.terms
        found = [terms.setdefault(term, len(terms)) for term, _ in self._analysis.terms_of_word(word)]
        numbers = self[word] = np.array(found, dtype=np.int32).tobytes() if len(found) != 1 else _INT32.pack(found[0])
        return numbers


class Postings:
    """What an index consists of, as arrays by name. ``weights`` come in blocks, since they take the most room."""

    def __init__(self, corpus: Corpus, analysis: Analysis, weighting: Weighting, progress: Progress, check: Check):
        """
        Raises:
            UnreadableInput: documents share an id.
            Whatever ``check`` raises.
        """
        read = _read(corpus, analysis, progress, check)
        progress(len(read.ids), len(read.ids), "sorting")
        check()
        order = np.array(sorted(range(len(read.ids)), key=read.ids.__getitem__, reverse=True), dtype=np.int64)
        ids = [read.ids[place] for place in order]
        _refuse_duplicates(corpus, ids)
        hashes = hashes_of(read.terms)
        by_hash = np.argsort(hashes, kind="stable")
        number = np.empty(len(by_hash), dtype=np.int32)
        number[by_hash] = np.arange(len(by_hash), dtype=np.int32)
        matrix = _matrix(read)
        matrix.indices = number[matrix.indices]
        check()
        # The conversion sorts the postings by term and then document, in linear time.
        columns = matrix[order].tocsc()
        del matrix
        check()
        self.documents = len(ids)
        self.lengths = read.lengths[order]
        self.mean_length = float(read.lengths.sum()) / len(ids) if ids else 0.0
        self.starts = columns.indptr.astype(np.int64)
        self.rows = columns.indices.astype(np.int32, copy=False)
        counts = columns.data
        self.counts = counts.astype(np.min_scalar_type(int(counts.max()) if len(counts) else 0))
        self.idf = weighting.idf(np.diff(self.starts), self.documents)
        self._weighting, self._check = weighting, check
        blob, offsets = packed(ids)
        term_blob, term_offsets = packed(read.terms[place] for place in by_hash)
        self.strings: dict[str, Array] = {
            "ids": blob,
            "id_offsets": offsets,
            "terms": term_blob,
            "term_offsets": term_offsets,
            "term_hashes": hashes[by_hash],
        }

    def weights(self) -> Iterator[Floats]:
        """The weight of each posting, float64, a part at a time."""
        saturation = self._weighting.saturation(self.lengths, self.mean_length)
        for start in range(0, len(self.rows), _WEIGHTS_AT_ONCE):
            self._check()
            part = slice(start, start + _WEIGHTS_AT_ONCE)
            places = np.arange(start, min(start + _WEIGHTS_AT_ONCE, len(self.rows)))
            terms = np.searchsorted(self.starts, places, side="right") - 1
            yield self._weighting.weights(self.idf[terms], self.counts[part], saturation[self.rows[part]])


def _read(corpus: Corpus, analysis: Analysis, progress: Progress, check: Check) -> _Read:
    numbers = _Numbers(analysis)
    ids: list[bytes] = []
    lengths = array("q")
    met = bytearray()
    parts: list[_Counted] = []
    first = 0
    for doc_id, text in corpus.read():
        terms = b"".join(map(numbers.__getitem__, analysis.words(text)))
        met += terms
        lengths.append(len(terms) // _INT32.size)
        ids.append(encode(doc_id))
        if len(met) >= _TERMS_AT_ONCE * _INT32.size:
            parts.append(_counted(met, lengths[first:]))
            met, first = bytearray(), len(ids)
        if len(ids) % _CHECK_EVERY == 0:
            check()
            progress(len(ids), corpus.size, "reading documents")
    parts.append(_counted(met, lengths[first:]))
    return _Read(ids, [encode(term) for term in numbers.terms], np.array(lengths, dtype=np.int64), parts)


def _counted(met: bytearray, lengths: array[int]) -> _Counted:
    """Terms of some documents, one after the other, to how often each term is in each document."""
    from scipy.sparse import csr_array

    terms = np.frombuffer(met, dtype=np.int32)
    starts = np.concatenate(([0], np.cumsum(lengths, dtype=np.int64))).astype(np.int32)
    shape = (len(lengths), int(terms.max()) + 1 if len(terms) else 0)
    matrix = csr_array((np.ones(len(terms), np.int32), terms.copy(), starts), shape=shape)
    matrix.sum_duplicates()
    return _Counted(matrix.indices, matrix.data, np.diff(matrix.indptr))


def _matrix(read: _Read) -> Any:
    """All documents' term counts, a scipy CSR array with a row a document; empties ``read.parts``."""
    from scipy.sparse import csr_array

    terms = np.concatenate([part.terms for part in read.parts])
    counts = np.concatenate([part.counts for part in read.parts])
    sizes = np.concatenate([part.sizes for part in read.parts])
    read.parts.clear()
    starts = np.concatenate(([0], np.cumsum(sizes, dtype=np.int64)))
    return csr_array((counts, terms, starts), shape=(len(read.ids), len(read.terms)))


def _refuse_duplicates(corpus: Corpus, ids: Sequence[bytes]) -> None:
    """``ids`` are sorted."""
    repeated = dict.fromkeys(one for one, next_one in pairwise(ids) if one == next_one)
    if repeated:
        named = ", ".join(repr(one.decode("utf-8", "replace")) for one in list(repeated)[:3])
        more = f" and {len(repeated) - 3} more" if len(repeated) > 3 else ""
        raise UnreadableInput(
            f"{corpus.name}: several documents have the id {named}{more}.",
            "A ranking could not tell them apart: give each document an id of its own.",
        )

"""The rank_bm25 package itself behind the protocol: what people cite, slowly, to hold the fast postings to."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np

from bright_inspect.errors import UnreadableInput
from bright_inspect.retrieval.analysis import WHITESPACE
from bright_inspect.retrieval.protocol import Check, Corpus, Exclusions, Found, Hit, Progress, never_stop
from bright_inspect.retrieval.ranking import best, shortfall_of
from bright_inspect.retrieval.strings import encode


class RankBm25Package:
    """``BM25Okapi`` with its defaults, in memory, over the terms of WHITESPACE."""

    device = None

    def __init__(self, name: str, corpus: Corpus, progress: Progress, check: Check) -> None:
        """
        Raises:
            UnreadableInput: documents share an id, or no document has a word, where the package divides by zero.
        """
        from rank_bm25 import BM25Okapi

        self.name = name
        texts: dict[str, list[str]] = {}
        for doc_id, text in corpus.read():
            check()
            if doc_id in texts:
                raise UnreadableInput(f"{corpus.name}: several documents have the id {doc_id!r}.")
            texts[doc_id] = [term for term, _ in WHITESPACE.terms(text)]
            progress(len(texts), corpus.size, "reading documents")
        if not any(texts.values()):
            raise UnreadableInput(f"{corpus.name}: no document has a word, and rank_bm25 cannot index that.")
        # Ties go by id, descending.
        self._ids = sorted(texts, key=encode, reverse=True)
        self._okapi = BM25Okapi([texts[doc_id] for doc_id in self._ids])

    def search(self, texts: Sequence[str], k: int, excluded: Exclusions = (), check: Check = never_stop) -> list[Found]:
        """The best ``k`` documents with a word of each text; see ``Retriever.search``."""
        found = []
        for place, text in enumerate(texts):
            check()
            found.append(self._search(text, k, excluded[place] if excluded else ()))
        return found

    def _search(self, text: str, k: int, excluded: Collection[str]) -> Found:
        words = [term for term, _ in WHITESPACE.terms(text)]
        known = {word for word in words if word in self._okapi.idf}
        scores = self._okapi.get_scores(words)
        matched = np.array([not known.isdisjoint(counts) for counts in self._okapi.doc_freqs], dtype=np.bool_)
        barred = [row for row, doc_id in enumerate(self._ids) if doc_id in excluded]
        lost = int(matched[barred].sum())
        matched[barred] = False
        hits = [Hit(self._ids[row], float(scores[row])) for row in best(scores, matched, k)]
        return Found(hits, shortfall_of(len(hits), k, len(self._ids), len(set(words)), len(known), lost))

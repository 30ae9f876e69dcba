"""BM25 in the three forms that users of BRIGHT mean by it.

Numbers of one must never stand beside those of another unnamed: over the 12 tasks they differ by up to 60 per cent
(FORMATS trap 8). NumPy and SciPy are loaded when a retriever is made.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from bright_inspect.retrieval.protocol import Check, Corpus, Progress, Retriever, RetrieverSpec

if TYPE_CHECKING:
    from bright_inspect.retrieval.analysis import Analysis
    from bright_inspect.retrieval.bm25_weights import Weighting

Engine = Literal["postings", "rank_bm25"]
#: BM25's three forms, BRIGHT's own first: the retrievers whose scores are sums over terms.
BM25_NAMES = ("bm25", "bm25-lucene", "rank-bm25")


def specs() -> Sequence[RetrieverSpec]:
    """The BM25 retrievers, BRIGHT's own first."""
    return (
        RetrieverSpec("bm25", "BM25 as BRIGHT runs it: query terms weighted by BM25 too (gensim)", make_bm25),
        RetrieverSpec("bm25-lucene", "BM25 as Lucene and bm25s have it: k1 0.9, b 0.4", make_bm25_lucene),
        RetrieverSpec("rank-bm25", "BM25Okapi of rank_bm25 over lower-case words: k1 1.5, b 0.75", make_rank_bm25),
    )


def make_bm25(corpus: Corpus, cache_folder: Path, progress: Progress, check: Check) -> Retriever:
    """BRIGHT's: gensim's LuceneBM25Model on both sides (BRIGHT:retrievers.py:196-225, FORMATS A.7).

    A query term weighs what it would in a document of the query's length, counting the terms that the corpus knows, so
    idf counts twice. Anserini calls this ``-bm25.querySide``. BRIGHT fills its lists to 1,000 with documents that share
    no term, at score 0 in the corpus' order; here they are not listed.
    """
    from bright_inspect.retrieval.analysis import ENGLISH
    from bright_inspect.retrieval.bm25_weights import LUCENE

    return _opened("bm25", corpus, cache_folder, progress, check, ENGLISH, LUCENE, query_side=True)


def make_bm25_lucene(corpus: Corpus, cache_folder: Path, progress: Progress, check: Check) -> Retriever:
    """Plain BM25 over the same terms. A term that the query has twice counts twice, as in Lucene and bm25s."""
    from bright_inspect.retrieval.analysis import ENGLISH
    from bright_inspect.retrieval.bm25_weights import LUCENE

    return _opened("bm25-lucene", corpus, cache_folder, progress, check, ENGLISH, LUCENE, query_side=False)


def make_rank_bm25(
    corpus: Corpus, cache_folder: Path, progress: Progress, check: Check, engine: Engine = "postings"
) -> Retriever:
    """rank_bm25's BM25Okapi over ``text.lower().split()``; a term that the query has twice counts twice.

    ``engine="rank_bm25"`` runs the package itself, in memory and some thousand times slower, to check the other by.
    The package ranks documents without any of the query's words at score 0; here they are not listed. Where a corpus is
    so small that the package's floor for idf is negative, documents with such words score below 0, and are.
    """
    from bright_inspect.retrieval.analysis import WHITESPACE
    from bright_inspect.retrieval.bm25_weights import OKAPI

    if engine == "rank_bm25":
        from bright_inspect.retrieval.rank_bm25_package import RankBm25Package

        return RankBm25Package("rank-bm25", corpus, progress, check)
    return _opened("rank-bm25", corpus, cache_folder, progress, check, WHITESPACE, OKAPI, query_side=False)


def _opened(
    name: str,
    corpus: Corpus,
    cache_folder: Path,
    progress: Progress,
    check: Check,
    analysis: Analysis,
    weighting: Weighting,
    *,
    query_side: bool,
) -> Retriever:
    from bright_inspect.retrieval.bm25_index import open_index
    from bright_inspect.retrieval.bm25_search import Bm25

    index = open_index(corpus, cache_folder, analysis, weighting, progress, check)
    return Bm25(name, index, analysis, weighting, query_side=query_side)

"""The earth_science queries as posted and as GPT-4 reasoned about them, with the passages at hand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from bright_inspect.retrieval.protocol import Corpus, Retriever, ignore_progress, never_stop
from bright_inspect.retrieval.registry import find_retriever

_FILE = "earth_science-00000-of-00001.parquet"


@dataclass(frozen=True)
class Pair:
    """A query in both variants, and its golds."""

    query_id: str
    original: str
    rewrite: str
    golds: Sequence[str]


@dataclass(frozen=True)
class EarthScience:
    pairs: Sequence[Pair]
    documents: Mapping[str, str]
    corpus: Corpus
    folder: Path

    def retriever(self, name: str) -> Retriever:
        """The index is made once."""
        return find_retriever(name).make(self.corpus, self.folder, ignore_progress, never_stop)


def earth_science(data: Path, folder: Path) -> EarthScience:
    bright = data / "bright"
    documents = dict(pl.read_parquet(bright / "documents" / _FILE, columns=["id", "content"]).iter_rows())
    columns = ["id", "query", "gold_ids"]
    posted = pl.read_parquet(bright / "examples" / _FILE, columns=columns)
    reasoned = dict(pl.read_parquet(bright / "gpt4_reason" / _FILE, columns=columns[:2]).iter_rows())
    pairs = [Pair(query_id, text, reasoned[query_id], golds) for query_id, text, golds in posted.iter_rows()]
    corpus = Corpus("bright", "earth_science", len(documents), "earth1084", lambda: iter(documents.items()))
    return EarthScience(pairs, documents, corpus, folder)

"""Retrievers and a reranker of a user's own, as ``--retriever`` and ``--rerank`` take them.

``OWN_LOG`` names a file that gets a line for each text that is encoded, ``OWN_PAUSE`` says how long a batch takes.
"""

from __future__ import annotations

import os
import time
from collections.abc import Collection, Sequence
from pathlib import Path

import numpy as np

from bright_inspect.retrieval.dense import Dense, make_dense
from bright_inspect.retrieval.protocol import Check, Corpus, Found, Hit, Progress, never_stop
from tests.retrieval.encoders import HashEncoder, LengthReranker, Vectors


class _Logging(HashEncoder):
    @property
    def provenance(self) -> dict[str, str]:
        return {"model": "hash of the text"}

    def encode_documents(self, texts: Sequence[str], check: Check = never_stop) -> Vectors:
        time.sleep(float(os.environ.get("OWN_PAUSE", "0")))
        if "OWN_LOG" in os.environ:
            with Path(os.environ["OWN_LOG"]).open("a", encoding="utf-8") as log:
                log.writelines(f"{text}\n" for text in texts)
        return super().encode_documents(texts)


def make(corpus: Corpus, cache_folder: Path, progress: Progress, check: Check) -> Dense:
    return make_dense(corpus, cache_folder, _Logging(batch_size=2), progress, check)


class _Outsiders:
    """Also finds a document that the corpus does not have, with numpy's numbers as scores."""

    name, device = "own outsiders", "cpu"

    def __init__(self, ids: list[str]) -> None:
        self._ids = [*ids, "outsider"]

    def search(
        self, texts: Sequence[str], k: int, excluded: Sequence[Collection[str]] = (), check: Check = never_stop
    ) -> list[Found]:
        scores = np.linspace(1, 0.1, len(self._ids), dtype=np.float32)
        return [Found([Hit(*pair) for pair in zip(self._ids, scores, strict=True)][:k], "There are no more.")
                for _ in texts]  # fmt: skip


def outsiders(corpus: Corpus, cache_folder: Path, progress: Progress, check: Check) -> _Outsiders:
    return _Outsiders([doc_id for doc_id, _ in corpus.read()])


def longest(cache_folder: Path, progress: Progress, check: Check) -> LengthReranker:
    return LengthReranker(limit=10)


def unlimited(cache_folder: Path, progress: Progress, check: Check) -> LengthReranker:
    return LengthReranker()

"""Encoders and rerankers of numpy, so that what is around a model is tested without one."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from zlib import crc32

import numpy as np
import numpy.typing as npt

from bright_inspect.retrieval.dense import Dense, make_dense
from bright_inspect.retrieval.protocol import Check, Corpus, Progress, Reranked, ignore_progress, never_stop

Vectors = npt.NDArray[np.float32]


class HashEncoder:
    """Gives a text small whole numbers that its CRC-32 seeds, so that dot products are exact in float32."""

    def __init__(self, batch_size: int = 4, devices: int = 1, dimensions: int = 8, pause: float = 0.0) -> None:
        self.name = "hash"
        self.device: str | None = None
        self.key = "hash"
        self.batch_size, self.devices = batch_size, devices
        self.query_prefix, self.document_prefix, self.prefix_source = "q: ", "d: ", "the test"
        self.max_length: int | None = None
        self.query_max_length: int | None = 12
        self.batches: list[list[str]] = []
        self._dimensions, self._pause = dimensions, pause

    def vector(self, text: str) -> Vectors:
        return np.random.default_rng(crc32(text.encode())).integers(-8, 9, self._dimensions).astype(np.float32)

    def encode_documents(self, texts: Sequence[str], check: Check = never_stop) -> Vectors:
        self.batches.append(list(texts))
        time.sleep(self._pause)
        return np.stack([self.vector(text) for text in texts])

    def encode_queries(self, texts: Sequence[str], check: Check = never_stop) -> Vectors:
        return np.stack([self.vector(text) for text in texts])

    def query_tokens(self, text: str) -> int | None:
        return len(text.split()) + 1

    def characters_read(self, text: str) -> int | None:
        return 20

    @property
    def encoded(self) -> list[str]:
        return [text for batch in self.batches for text in batch]


class TableEncoder(HashEncoder):
    """Gives each text the vector that a table has for it."""

    def __init__(self, table: dict[str, Sequence[float]], dimensions: int) -> None:
        super().__init__(dimensions=dimensions)
        self._table = table

    def vector(self, text: str) -> Vectors:
        return np.array(self._table[text], dtype=np.float32)


def dense(
    corpus: Corpus, folder: Path, encoder: HashEncoder | None = None, progress: Progress = ignore_progress
) -> Dense:
    return make_dense(corpus, folder, encoder or HashEncoder(), progress, never_stop)


class LengthReranker:
    """Scores a document by its length; those over ``limit`` characters are cut."""

    name, device = "length", "cpu"

    def __init__(self, limit: int | None = None, scores: Sequence[float] | None = None) -> None:
        self.max_length = limit
        self.asked: list[tuple[str, list[str]]] = []
        self._scores = scores

    def score(
        self,
        text: str,
        documents: Sequence[str],
        progress: Progress = ignore_progress,
        check: object = never_stop,
    ) -> Reranked:
        self.asked.append((text, list(documents)))
        limit = self.max_length
        cut = [None if limit is None else len(document) > limit for document in documents]
        return Reranked(self._scores or [float(len(document)) for document in documents], cut)

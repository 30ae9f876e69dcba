"""Measures dense retrieval against the budgets of the design: ``python -m tests.benchmarks.dense [--device cuda]``.

Search: random vectors in a file that is memory-mapped, as the cache's are, searched through the retriever with its
choice of the best 1,000; a query must read every vector once, so its speed is told as a share of the bandwidth at which
this machine's memory (or the device's) is read, measured in the same run. Encoding: made-up documents of about 120
words through the cache of vectors against a plain ``SentenceTransformer.encode`` of the same texts, sorted by length,
in the same batches, in turns.
"""

from __future__ import annotations

import argparse
import os
import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from bright_inspect.retrieval.dense import Dense, NumpyScorer
from bright_inspect.retrieval.protocol import (
    DEFAULT_OPTIONS,
    Check,
    Corpus,
    ModelOptions,
    ignore_progress,
    never_stop,
)
from bright_inspect.retrieval.strings import Strings, packed
from bright_inspect.retrieval.vectors import CorpusVectors, open_vectors
from tests.benchmarks.bm25 import corpus_in, write_corpus

SHAPES = ((60_000, 384), (400_000, 384), (50_000, 4_096))
QUERIES, K, REPEATS = 20, 1_000, 5
ENCODED, ROUNDS = 512, 3
Vectors = npt.NDArray[np.float32]


class Given:
    """An encoder whose queries are numbers of given vectors."""

    name, key, batch_size, devices = "given", "given", 32, 1
    device: str | None = "cpu"
    query_prefix = document_prefix = prefix_source = ""
    max_length: int | None = None
    query_max_length: int | None = None

    def __init__(self, queries: Vectors) -> None:
        self._queries = queries

    def encode_queries(self, texts: Sequence[str], check: Check = never_stop) -> Vectors:
        return self._queries[[int(text) for text in texts]]

    def encode_documents(self, texts: Sequence[str], check: Check = never_stop) -> Vectors:
        raise NotImplementedError

    def query_tokens(self, text: str) -> int | None:
        return None

    def characters_read(self, text: str) -> int | None:
        return None


def median_seconds(work: Callable[[int], object], times: int = QUERIES) -> float:
    seconds = []
    for number in range(times):
        began = time.perf_counter()
        work(number)
        seconds.append(time.perf_counter() - began)
    return statistics.median(seconds)


def memory_bandwidth() -> float:
    """Bytes a second that all processors together read from memory: dot products of slices, the best of several."""
    threads = os.cpu_count() or 1
    vector = np.ones(128 * 1024 * 1024, dtype=np.float32)
    parts = np.array_split(vector, 4 * threads)
    best = 0.0
    with ThreadPoolExecutor(threads) as pool:
        for _ in range(3 * REPEATS):
            began = time.perf_counter()
            list(pool.map(lambda part: np.dot(part, part), parts))
            # Both arguments are the same memory, read once.
            best = max(best, vector.nbytes / (time.perf_counter() - began))
    return best


def device_bandwidth(device: str) -> float:
    """Bytes a second that a device reads: the sum of a large array, the best of several."""
    import torch

    array = torch.ones(1 << 29, dtype=torch.float32, device=device)
    best = 0.0
    for _ in range(3 * REPEATS):
        torch.cuda.synchronize()
        began = time.perf_counter()
        array.sum()
        torch.cuda.synchronize()
        best = max(best, array.nbytes / (time.perf_counter() - began))
    return best


def search(folder: Path, documents: int, dimensions: int, bandwidth: float, device: str) -> str:
    generator = np.random.default_rng(0)
    path = folder / "vectors"
    with path.open("wb") as file:
        for start in range(0, documents, 10_000):
            block = generator.standard_normal((min(10_000, documents - start), dimensions), dtype=np.float32)
            file.write((block / np.linalg.norm(block, axis=1, keepdims=True)).tobytes())
    vectors = np.memmap(path, dtype=np.float32, mode="r").view(np.ndarray).reshape(documents, dimensions)
    queries = generator.standard_normal((QUERIES, dimensions), dtype=np.float32)
    ids = Strings(*packed(f"page_{number:08}".encode() for number in range(documents, 0, -1)))
    rows = generator.permutation(documents)
    scorer: Any = NumpyScorer(vectors)
    if device != "cpu":
        from bright_inspect.retrieval.neural.device_scorer import DeviceScorer

        scorer = DeviceScorer(vectors, device)
    retriever = Dense(Given(queries), CorpusVectors(ids, rows, vectors), scorer)
    for number in range(3):
        retriever.search([str(number)], K)
    single = median_seconds(lambda number: retriever.search([str(number)], K))
    product = median_seconds(lambda number: scorer.scores(queries[number : number + 1]))
    texts = [str(number) for number in range(QUERIES)]
    batch = median_seconds(lambda _: retriever.search(texts, K), REPEATS) / QUERIES
    size = vectors.nbytes
    path.unlink()
    return (
        f"{documents:>9,} × {dimensions:<5,} {1000 * single:9.2f} {size / single / bandwidth:8.0%} "
        f"{1000 * product:9.2f} {size / product / bandwidth:8.0%} {1000 * batch:9.2f}"
    )


def encoding(folder: Path, device: str) -> str:
    """Documents a second of both, in turns, and the ratio of the medians."""
    from bright_inspect.retrieval.neural.locating import SHIPPED_MODEL
    from bright_inspect.retrieval.neural.sentence_model import load_sentence_model

    write_corpus(folder, ENCODED)
    corpus = corpus_in(folder)
    options = ModelOptions(device=device) if device != "cpu" else DEFAULT_OPTIONS
    model = load_sentence_model(SHIPPED_MODEL, "custom", "synthetic", options, ignore_progress, never_stop)
    texts = sorted({text for _, text in corpus.read()}, key=lambda text: (-len(text), text))
    plain: Any = model._model
    plain.encode(texts[:64], batch_size=model.batch_size, show_progress_bar=False)
    ours, theirs = [], []
    for turn in range(ROUNDS):
        began = time.perf_counter()
        theirs_vectors = plain.encode(
            texts, batch_size=model.batch_size, normalize_embeddings=True, show_progress_bar=False
        )
        theirs.append(time.perf_counter() - began)
        fresh = Corpus("custom", "synthetic", corpus.size, f"turn{turn}", corpus.read)
        began = time.perf_counter()
        made = open_vectors(fresh, folder / "cache", model, ignore_progress, never_stop)
        ours.append(time.perf_counter() - began)
        assert np.allclose(made.vectors, theirs_vectors, atol=1e-5)
    mine, plainly = ENCODED / statistics.median(ours), ENCODED / statistics.median(theirs)
    return f"encoding on {model.device}: {mine:.1f} documents/s, plain {plainly:.1f}: {mine / plainly:.1%} (limit 95 %)"


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--device", default="cpu", help="cpu, or cuda")
    parser.add_argument("--no-encoding", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        bandwidth = memory_bandwidth() if options.device == "cpu" else device_bandwidth(options.device)
        print(f"load {os.getloadavg()[0]:.1f}; memory is read at {bandwidth / 1e9:.1f} GB/s")
        print(
            f"{'vectors':>17} {'search ms':>9} {'share':>8} {'product':>9} {'share':>8} {'of 20, each':>9}  limit 70 %"
        )
        for documents, dimensions in SHAPES:
            print(search(folder, documents, dimensions, bandwidth, options.device), flush=True)
        if not options.no_encoding:
            print(encoding(folder, options.device))


if __name__ == "__main__":
    main()

"""Measures BM25 against the budgets of the design: ``python -m tests.benchmarks.bm25 [--documents 60000 400000]``.

A made-up corpus (words by Zipf-Mandelbrot's law, 15 per cent of a document's words repeat earlier ones) is indexed and
searched by this program, bm25s with numba, and rank_bm25, each in a process of its own; the queries are drawn like the
documents, so that they hold the most frequent words: the heavy case. Ratios of one invocation mean something;
milliseconds of two do not compare. The report says how busy the machine was.

The ratio to rank_bm25 is that of ``rank-bm25`` (same scores) and of ``bm25`` (the default; other terms, same texts).
The one to bm25s is that of ``bm25-lucene``, over the same terms. Building starts from texts for all: bm25s and
rank_bm25 are given the terms that this program cuts. The peak of ``bm25-lucene`` is that of opening and searching, of
the others that of building too.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from bright_inspect.retrieval.analysis import ENGLISH, WHITESPACE
from bright_inspect.retrieval.protocol import Corpus, ignore_progress, never_stop
from bright_inspect.retrieval.registry import find_retriever

LENGTHS = (30, 150, 600)
K = 1000
QUERIES = 20
#: Of rank_bm25, which takes up to a minute and a half for each.
SLOW_QUERIES = 1
_WORDS = 700_000
_SYLLABLES = [consonant + vowel for consonant in "bcdfghjklmnprtvwz" for vowel in "aeiou"]

Search = Callable[[str], object]


def word(rank: int) -> str:
    """The word of this rank; frequent ones are shorter."""
    parts = []
    rank += len(_SYLLABLES)
    while rank:
        rank, part = divmod(rank, len(_SYLLABLES))
        parts.append(_SYLLABLES[part])
    return "".join(parts)


def write_corpus(folder: Path, documents: int) -> None:
    """``documents.txt``, a document a line, and ``queries.json``: length -> texts."""
    generator = np.random.default_rng(0)
    chances = 1 / (np.arange(1, _WORDS + 1) + 2.7) ** 1.05
    bounds = np.cumsum(chances / chances.sum())
    words = [word(rank) for rank in range(_WORDS)]

    def drawn(count: int) -> list[str]:
        return [words[rank] for rank in np.searchsorted(bounds, generator.random(count) * bounds[-1])]

    mean = 120 if documents <= 100_000 else 80
    with (folder / "documents.txt").open("w", encoding="utf-8") as file:
        for length in np.maximum(generator.poisson(mean * 0.85, documents), 1).tolist():
            text = drawn(length)
            text += [text[place] for place in generator.integers(0, length, round(length * 0.15 / 0.85))]
            file.write(" ".join(text) + "\n")
    queries = {length: [" ".join(drawn(length)) for _ in range(QUERIES)] for length in LENGTHS}
    (folder / "queries.json").write_text(json.dumps(queries), encoding="utf-8")


def corpus_in(folder: Path) -> Corpus:
    def read() -> Iterator[tuple[str, str]]:
        with (folder / "documents.txt").open(encoding="utf-8") as file:
            for number, line in enumerate(file):
                yield f"page_{number // 8}/passage_{number % 8}.txt", line

    size = sum(1 for _ in read())
    return Corpus("custom", "synthetic", size, f"synthetic{size}", read)


# --- what runs in processes of its own --------------------------------------------------------------------------------


def milliseconds(search: Search, folder: Path, most: int = QUERIES) -> dict[str, list[float]]:
    """Query length -> milliseconds of each query."""
    took: dict[str, list[float]] = {}
    for length, texts in json.loads((folder / "queries.json").read_bytes()).items():
        if most > SLOW_QUERIES:
            search(texts[-1])
        took[length] = []
        for text in texts[:most]:
            start = time.perf_counter()
            search(text)
            took[length].append((time.perf_counter() - start) * 1000)
    return took


def run_ours(folder: Path, name: str) -> dict[str, Any]:
    corpus = corpus_in(folder)
    spec = find_retriever(name)
    cache = folder / ("cache-rank" if name == "rank-bm25" else "cache")
    start = time.perf_counter()
    spec.make(corpus, cache, ignore_progress, never_stop)
    build = time.perf_counter() - start
    opened = []
    for _ in range(9):
        start = time.perf_counter()
        found = spec.make(corpus, cache, ignore_progress, never_stop)
        opened.append((time.perf_counter() - start) * 1000)
    size = sum(path.stat().st_size for path in cache.rglob("*.npy"))
    top = found.search([json.loads((folder / "queries.json").read_bytes())["150"][0]], 1)[0].hits[0].score
    took = milliseconds(lambda text: found.search([text], K), folder)
    return {"build": build, "open": statistics.median(opened), "disk": size, "top": top, "took": took}


def run_bm25s(folder: Path) -> dict[str, Any]:
    import bm25s

    ids = [doc_id for doc_id, _ in corpus_in(folder).read()]
    start = time.perf_counter()
    documents = [[term for term, _ in ENGLISH.terms(text)] for _, text in corpus_in(folder).read()]
    index = bm25s.BM25(method="lucene", k1=0.9, b=0.4, backend="numba")
    index.index(documents, show_progress=False)
    build = time.perf_counter() - start

    def search(text: str) -> Any:
        # Cutting the query and naming the documents is part of the work, here as there.
        terms = [term for term, _ in ENGLISH.terms(text)]
        found, scores = index.retrieve([terms], k=K, show_progress=False, n_threads=0)
        return [(ids[row], score) for row, score in zip(found[0].tolist(), scores[0].tolist(), strict=True)]

    top = search(json.loads((folder / "queries.json").read_bytes())["150"][0])[0][1]
    return {"build": build, "top": top, "took": milliseconds(search, folder)}


def run_rank_bm25(folder: Path) -> dict[str, Any]:
    from rank_bm25 import BM25Okapi

    start = time.perf_counter()
    documents = [[term for term, _ in WHITESPACE.terms(text)] for _, text in corpus_in(folder).read()]
    okapi = BM25Okapi(documents)
    build = time.perf_counter() - start

    def search(text: str) -> Any:
        scores = okapi.get_scores([term for term, _ in WHITESPACE.terms(text)])
        return np.argsort(scores)[::-1][:K]

    top = okapi.get_scores(json.loads((folder / "queries.json").read_bytes())["150"][0].split()).max()
    return {"build": build, "top": float(top), "took": milliseconds(search, folder, SLOW_QUERIES)}


RUNS: dict[str, Callable[[Path], dict[str, Any]]] = {
    "bm25": lambda folder: run_ours(folder, "bm25"),
    "bm25-lucene": lambda folder: run_ours(folder, "bm25-lucene"),
    "rank-bm25": lambda folder: run_ours(folder, "rank-bm25"),
    "bm25s": run_bm25s,
    "rank_bm25": run_rank_bm25,
}


def in_a_process(run: str, folder: Path) -> dict[str, Any]:
    """What a run measured, with its process's peak memory."""
    command = [sys.executable, "-m", "tests.benchmarks.bm25", "--run", run, "--folder", str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{run} failed:\n{done.stderr}")
    measured: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return measured


# --- the report -------------------------------------------------------------------------------------------------------


def report(measured: dict[str, dict[str, Any]]) -> None:
    def p50(run: str, length: int) -> float:
        return float(statistics.median(measured[run]["took"][str(length)]))

    print(f"{'':12} {'build s':>8} {'open ms':>8} {'disk MB':>8} {'peak MB':>8}", end="")
    print("".join(f" {f'q{length} p50 (p95) ms':>22}" for length in LENGTHS))
    for run, values in measured.items():
        opened = f"{values['open']:8.1f}" if "open" in values else " " * 8
        # The second flavour finds the index that the first one built.
        build = f"{values['build']:8.1f}" if run != "bm25-lucene" or "bm25" not in measured else " " * 8
        disk = f"{values['disk'] / 1e6:8.0f}" if "disk" in values else " " * 8
        print(f"{run:12} {build} {opened} {disk} {values['peak']:8.0f}", end="")
        for length in LENGTHS:
            times = values["took"][str(length)]
            print(f" {f'{p50(run, length):,.1f} ({np.percentile(times, 95):,.1f})':>22}", end="")
        print()
    for ours, theirs in (("bm25", "rank_bm25"), ("rank-bm25", "rank_bm25"), ("bm25-lucene", "bm25s")):
        if ours in measured and theirs in measured:
            ratios = ", ".join(f"{p50(theirs, n) / p50(ours, n):,.1f}" for n in LENGTHS)
            print(f"{theirs} ÷ {ours}: {ratios} (q{', q'.join(map(str, LENGTHS))})", end="")
            builder = "bm25" if ours == "bm25-lucene" and "bm25" in measured else ours
            print(f"; build {measured[theirs]['build'] / measured[builder]['build']:,.2f}")
    for ours, theirs in (("rank-bm25", "rank_bm25"), ("bm25-lucene", "bm25s")):
        if ours in measured and theirs in measured:
            print(f"best score, {ours} − {theirs}: {measured[ours]['top'] - measured[theirs]['top']:.1e}")


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description="Measure BM25.")
    parser.add_argument("--documents", type=int, nargs="+", default=[60_000, 400_000])
    parser.add_argument("--without", action="append", default=[], choices=list(RUNS), help="may be given several times")
    parser.add_argument("--run", choices=list(RUNS), help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.run:
        measured = RUNS[options.run](options.folder)
        # Linux gives kilobytes, macOS bytes.
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1e3 if sys.platform == "linux" else 1e6)
        print(json.dumps({**measured, "peak": peak}))
        return
    runs = [run for run in RUNS if run not in options.without]
    for documents in options.documents:
        with tempfile.TemporaryDirectory() as folder:
            write_corpus(Path(folder), documents)
            load = os.getloadavg()[0]
            everything = {run: in_a_process(run, Path(folder)) for run in runs}
        print(f"{documents:,} documents; load {load:.1f} before, {os.getloadavg()[0]:.1f} after")
        report(everything)


if __name__ == "__main__":
    main()

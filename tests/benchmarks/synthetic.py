"""A made-up TREC run and judgments of full BRIGHT's size: 1,384 queries, 1,000 documents each.

The shapes are BRIGHT's, the words are nobody's: ids of about 40 characters over a corpus of pages cut into passages,
scores with two decimals so that most documents are tied with others, a handful of golds a query of which the run finds
some. Ids hold no spaces, or pytrec_eval and ranx could not read them.
"""

from __future__ import annotations

import itertools
import random
import sys
from pathlib import Path

QUERIES = 1_384
DEPTH = 1_000
_PAGES = 8_000
_PASSAGES = 8
_SYLLABLES = (
    "ab", "ca", "de", "er", "fo", "ga", "he", "in", "jo", "ka", "la", "mi", "no", "or", "pe", "qua", "ra", "si", "tu",
    "ul", "ve", "wi", "xe", "ya", "zo", "th", "st", "pr", "tion", "ment", "sphere", "graph", "logy",
)  # fmt: skip
_TASKS = ("biology", "earth_science", "economics", "psychology", "robotics", "stackoverflow", "leetcode", "pony")


def write_qrels(path: Path, seed: int = 0) -> None:
    """Write judgments: 1 to 8 golds a query, the first of them those that ``write_run`` can find."""
    corpus = _corpus()
    generator = random.Random(seed)
    with path.open("w", encoding="utf-8") as file:
        for query_id in _query_ids():
            for doc_id in _golds(query_id, corpus):
                # BRIGHT's judgments hold only 1s; some 2s make a wrong gain show.
                file.write(f"{query_id} 0 {doc_id} {1 if generator.random() < 0.8 else 2}\n")


def write_run(path: Path, seed: int) -> None:
    """Write a run that lists most golds of each query somewhere among its documents, best score first."""
    corpus = _corpus()
    generator = random.Random(seed)
    with path.open("w", encoding="utf-8") as file:
        for query_id in _query_ids():
            found = [gold for gold in _golds(query_id, corpus) if generator.random() < 0.7]
            others = [doc for doc in generator.sample(corpus, DEPTH) if doc not in found]
            documents = others[: DEPTH - len(found)]
            for gold in found:
                documents.insert(min(int(generator.expovariate(1 / 40)), len(documents)), gold)
            score = generator.uniform(18, 40)
            for rank, doc_id in enumerate(documents, 1):
                score -= generator.random() * 0.01
                file.write(f"{query_id} Q0 {doc_id} {rank} {score:.2f} synthetic-{seed}\n")


def _query_ids() -> list[str]:
    return [f"{_TASKS[number % len(_TASKS)]}_{number // len(_TASKS)}" for number in range(QUERIES)]


def _corpus() -> list[str]:
    generator = random.Random("corpus")
    pages = []
    for _ in range(_PAGES):
        folder, title = (
            "_".join("".join(generator.choices(_SYLLABLES, k=generator.randint(2, 3))) for _ in range(words))
            for words in (2, 3)
        )
        pages.append(f"{folder}/{title.capitalize()}")
    return list(dict.fromkeys(f"{page}_{part}.txt" for page, part in itertools.product(pages, range(_PASSAGES))))


def _golds(query_id: str, corpus: list[str]) -> list[str]:
    generator = random.Random(f"golds of {query_id}")
    return generator.sample(corpus, generator.randint(1, 8))


def main() -> None:
    """Write ``qrels.txt`` and the runs ``first.trec`` and ``second.trec`` into the folder named on the command line.

    Run as a process of its own by the benchmark: a child's peak memory counts from its parent's at the start.
    """
    folder = Path(sys.argv[1])
    write_qrels(folder / "qrels.txt")
    write_run(folder / "first.trec", seed=1)
    write_run(folder / "second.trec", seed=2)


if __name__ == "__main__":
    main()

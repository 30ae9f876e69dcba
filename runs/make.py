"""Makes the demo's runs by real retrieval: BM25 of the rank_bm25 package over the texts in bright_inspect/demo/data.

``python runs/make.py`` writes them; ``--check`` writes nothing and fails where a file differs from what it would write,
so that neither the data nor the runs can be changed alone.
"""

from __future__ import annotations

import json
import re
import struct
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from rank_bm25 import BM25Okapi

HERE = Path(__file__).resolve().parent
DATA = HERE.parent / "bright_inspect" / "demo" / "data"
TASKS = ("kitchen_science", "city_ecology", "home_computing", "contest_maths")
#: File name -> (the folder whose queries are searched, the tag). What follows the @ is the name of the query variant.
RUNS = {
    "bm25@original.trec": ("examples", "bm25"),
    "bm25@demo_reason.trec": ("demo_reason", "bm25-demo_reason"),
}
DECIMALS = 6
_WORD = re.compile(r"\w+")


class Index(NamedTuple):
    """One task's corpus as BM25 sees it."""

    doc_ids: list[str]
    words: list[set[str]]
    bm25: Any


def tokens(text: str) -> list[str]:
    """Lower-case words; no stemming and no stop words."""
    return _WORD.findall(text.lower())


def rows(config: str, task: str) -> list[dict[str, Any]]:
    lines = (DATA / config / f"{task}.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


def index(task: str) -> Index:
    documents = rows("documents", task)
    tokenised = [tokens(document["content"]) for document in documents]
    return Index([document["id"] for document in documents], list(map(set, tokenised)), BM25Okapi(tokenised))


def ranking(corpus: Index, text: str, excluded: set[str]) -> list[tuple[str, float]]:
    """Every document that shares a word with the query and is not excluded for it, best first.

    Ordered as trec_eval will order the file: by score as float32, ties by document id, both descending.
    """
    words = tokens(text)
    scores = corpus.bm25.get_scores(words)
    listed = [
        (doc_id, round(float(score), DECIMALS))
        for doc_id, own, score in zip(corpus.doc_ids, corpus.words, scores, strict=True)
        if doc_id not in excluded and not own.isdisjoint(words)
    ]
    return sorted(listed, key=lambda pair: (struct.unpack("f", struct.pack("f", pair[1]))[0], pair[0]), reverse=True)


def lines(config: str, tag: str) -> Iterator[str]:
    """The lines of one run over all tasks, queries in the order of the data."""
    for task in TASKS:
        corpus = index(task)
        # The exclusions are those of examples, as BRIGHT's own retrieval takes them, whichever text is searched.
        excluded = {row["id"]: set(row["excluded_ids"]) for row in rows("examples", task)}
        for query in rows(config, task):
            for rank, (doc_id, score) in enumerate(ranking(corpus, query["query"], excluded[query["id"]]), 1):
                yield f"{query['id']} Q0 {doc_id} {rank} {score:.{DECIMALS}f} {tag}\n"


def main(arguments: list[str]) -> int:
    if arguments not in ([], ["--check"]):
        print("usage: python runs/make.py [--check]", file=sys.stderr)
        return 2
    different = 0
    for name, (config, tag) in RUNS.items():
        path, text = HERE / name, "".join(lines(config, tag))
        if not arguments:
            path.write_text(text, encoding="utf-8", newline="\n")
            print(f"{path.name}: {text.count(chr(10)):,} lines")
        elif not path.is_file() or path.read_bytes() != text.encode():
            print(f"{path}: not what runs/make.py makes of the data; run it.", file=sys.stderr)
            different = 1
    return different


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

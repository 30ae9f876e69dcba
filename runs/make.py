"""Makes the demo's runs by the program's own retrieval over the texts in bright_inspect/demo/data.

``python runs/make.py`` writes them; ``--check`` writes nothing and fails where a file differs from what it would write,
so that neither the data nor the runs can be changed alone. Files that are named are the only ones made or checked.
"""

from __future__ import annotations

import struct
import sys
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from bright_inspect.datasets.places import demo_source
from bright_inspect.db import Database
from bright_inspect.retrieval.protocol import ignore_progress, never_stop
from bright_inspect.retrieval.registry import find_retriever, known_retrievers
from bright_inspect.store.collections import Collections
from bright_inspect.store.corpus import task_corpus, task_queries
from bright_inspect.store.schema import create_tables

HERE = Path(__file__).resolve().parent
DATASET = "demo"
TASKS = ("kitchen_science", "city_ecology", "home_computing", "contest_maths")
DECIMALS = 6
#: Processors round a model's numbers differently.
TOLERANCE = 1e-3


class Wanted(NamedTuple):
    """A run to make; ``exact`` if it is the same on every machine."""

    retriever: str
    variant: str
    tag: str
    exact: bool


#: What follows the @ in a file's name is the name of the query variant.
RUNS = {
    "bm25@original.trec": Wanted("bm25", "original", "bm25", exact=True),
    "bm25@demo_reason.trec": Wanted("bm25", "demo_reason", "bm25-demo_reason", exact=True),
    "minilm@original.trec": Wanted("minilm", "original", "minilm", exact=False),
}


class Scored(NamedTuple):
    """A document of a query's list."""

    doc_id: str
    score: float


Lists = dict[str, list[Scored]]
"""Query id -> its list, queries in the order of the data."""


def made(wanted: Wanted, cache: Path) -> Lists:
    """The run over all tasks: every document that the retriever finds, excluded ones removed."""
    spec = find_retriever(wanted.retriever)
    lists: Lists = {}
    with Database(cache / "spilled") as database:
        cursor = database.cursor()
        create_tables(cursor)
        collections = Collections(cursor, iter([demo_source()]))
        for name in TASKS:
            task = (DATASET, name)
            if collections.find(name, DATASET) != task:
                raise RuntimeError(f"the demo's data has no task {name}")
            collections.load(task)
            corpus = task_corpus(database, cursor, collections, task)
            if corpus is None:
                raise RuntimeError(f"the demo's data has no documents of {name}")
            queries = task_queries(cursor, collections, task, wanted.variant)
            retriever = spec.make(corpus, cache, ignore_progress, never_stop)
            for query_id, found in zip(
                queries.query_ids, retriever.search(queries.texts, corpus.size, queries.excluded), strict=True
            ):
                lists[query_id] = [Scored(hit.doc_id, round(hit.score, DECIMALS)) for hit in found.hits]
    return lists


def lines(lists: Lists, tag: str) -> Iterator[str]:
    """A run in TREC format, each list in the order in which trec_eval reads it: by score as float32, ties by document
    id, both descending."""

    def place(doc: Scored) -> tuple[float, bytes]:
        (score,) = struct.unpack("f", struct.pack("f", doc.score))
        return score, doc.doc_id.encode()

    for query_id, docs in lists.items():
        for rank, doc in enumerate(sorted(docs, key=place, reverse=True), 1):
            yield f"{query_id} Q0 {doc.doc_id} {rank} {doc.score:.{DECIMALS}f} {tag}\n"


def read(text: str) -> Lists:
    """The lists of a run's text; document ids may hold blanks.

    Raises:
        ValueError: a line is none of a run.
    """
    lists: Lists = {}
    for line in text.splitlines():
        query_id, _, rest = line.split(" ", 2)
        doc_id, _, score, _ = rest.rsplit(" ", 3)
        lists.setdefault(query_id, []).append(Scored(doc_id, float(score)))
    return lists


def differences(kept: str, wanted: Wanted, lists: Lists) -> Iterable[str]:
    """In what a file differs from the lists that it should hold."""
    if kept == "".join(lines(lists, wanted.tag)):
        return []
    if wanted.exact:
        return ["not what it would be now"]
    try:
        stored = read(kept)
    except ValueError:
        return ["not in TREC format"]
    if kept != "".join(lines(stored, wanted.tag)):
        return ["not written or not ordered as it would be"]
    if list(stored) != list(lists):
        return ["other queries"]
    told = []
    for query_id, docs in lists.items():
        scores = dict(stored[query_id])
        if len(stored[query_id]) != len(docs) or scores.keys() != {doc.doc_id for doc in docs}:
            told.append(f"query {query_id}: other documents")
            continue
        told += [
            f"query {query_id}, {doc.doc_id}: {scores[doc.doc_id]:.{DECIMALS}f}, now {doc.score:.{DECIMALS}f}"
            for doc in docs
            if not abs(scores[doc.doc_id] - doc.score) <= TOLERANCE
        ]
    return told


def main(arguments: list[str]) -> int:
    check = "--check" in arguments
    names = [argument for argument in arguments if argument != "--check"] or list(RUNS)
    if not set(names) <= RUNS.keys():
        print(f"usage: python runs/make.py [--check] [{'] ['.join(RUNS)}]", file=sys.stderr)
        return 2
    known, different = known_retrievers(), 0
    for name in names:
        wanted, path = RUNS[name], HERE / name
        if needs := known[wanted.retriever].needs:
            print(f"{path}: not {'checked' if check else 'made'}; {needs}", file=sys.stderr)
            continue
        with tempfile.TemporaryDirectory() as cache:
            lists = made(wanted, Path(cache))
        if not check:
            text = "".join(lines(lists, wanted.tag))
            path.write_text(text, encoding="utf-8", newline="\n")
            print(f"{path.name}: {text.count(chr(10)):,} lines")
            continue
        kept = path.read_bytes().decode("utf-8", "replace") if path.is_file() else None
        told = ["no such file"] if kept is None else list(differences(kept, wanted, lists))
        if told:
            more = f" and {len(told) - 1:,} more" if len(told) > 1 else ""
            print(f"{path}: {told[0]}{more}. Run runs/make.py anew.", file=sys.stderr)
            different = 1
    return different


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""A task's queries and corpus, and what searches it, for the commands that make runs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bright_inspect.domain.corpora import corpus_size
from bright_inspect.domain.findings import Finding
from bright_inspect.domain.names import normalised_task
from bright_inspect.errors import UsageError
from bright_inspect.retrieval.protocol import Corpus, ModelOptions, Reranker, Retriever
from bright_inspect.retrieval.protocol import Progress as Tell
from bright_inspect.store.progress import CancelToken, Progress

if TYPE_CHECKING:
    from bright_inspect.db import Cursor, Database
    from bright_inspect.store.collections import Collections, TaskKey

_Command = Callable[..., Any]


def task_options(command: _Command) -> _Command:
    """Which task, and where its data is."""
    for option in (
        click.option("--data", type=click.Path(path_type=Path), metavar="DIR",
                     help="Folder of a BRIGHT snapshot or of BEIR data."),
        click.option("--dataset", metavar="NAME",
                     help="The dataset, if the task is in several: bright, bright-long, demo ..."),
        click.option("--task", required=True, metavar="TASK",
                     help="The task whose queries and documents are searched."),
    ):  # fmt: skip
        command = option(command)
    return command


@dataclass(frozen=True, slots=True)
class TaskInputs:
    """An opened task. ``tell`` shows progress, ``token`` stops."""

    database: Database
    cursor: Cursor
    collections: Collections
    key: TaskKey
    tell: Tell
    token: CancelToken

    def variant(self, argument: str) -> tuple[str, list[Finding]]:
        """The name of the variant that is asked for, ``NAME`` or ``NAME=FILE``, and what is odd in the file.

        Raises:
            BrightInspectError: the file cannot be used.
        """
        from bright_inspect.store.collections import split_layer
        from bright_inspect.store.variants import load_given_variants

        name, _ = split_layer(argument)
        if name is None:
            return argument, []
        findings = load_given_variants(self.cursor, self.collections, [argument], [self.key], self.key[1])
        if unused := next((each for each in findings if each.code == "unused-variant"), None):
            raise UsageError(f"{unused.place}: {unused.message}", "Is it of another task?")
        return name, findings

    def corpus(self) -> Corpus:
        """The documents at hand.

        Raises:
            UsageError: there are none.
        """
        from bright_inspect.store.corpus import task_corpus

        self.tell(0, 1, "reading the corpus")
        corpus = task_corpus(self.database, self.cursor, self.collections, self.key)
        if corpus is None:
            raise UsageError(f"no documents at hand for {'/'.join(self.key)}.", "Give --data DIR with documents/.")
        return corpus

    def corpus_provenance(self, corpus: Corpus) -> dict[str, Any]:
        """What a sidecar says of the corpus."""
        return {
            "corpus_documents": corpus.size,
            "corpus_documents_of": corpus_size(*self.key),
            "corpus_md5": corpus.digest,
        }

    def partial_note(self, corpus: Corpus) -> list[str]:
        """A line if only a part of the task's corpus was searched."""
        whole = corpus_size(*self.key)
        if whole is None or corpus.size >= whole:
            return []
        return [
            f"searched {corpus.size:,} of {whole:,} documents: scores do not compare with runs over the whole corpus."
        ]


@contextmanager
def opened_task(
    task: str, dataset: str | None, data: Path | None, listener: Callable[[Progress], None], token: CancelToken
) -> Iterator[TaskInputs]:
    """Find the task's data and load its queries.

    Raises:
        UsageError: there is no data for it.
    """
    from bright_inspect.datasets.places import find_sources
    from bright_inspect.db import Database, database_errors_told
    from bright_inspect.store.collections import Collections
    from bright_inspect.store.run_cache import cache_folder
    from bright_inspect.store.schema import create_tables

    def tell(done: int, total: int, message: str) -> None:
        listener(Progress(done, total, message))

    with Database(cache_folder() / "spilled") as database, database_errors_told():
        cursor = database.cursor()
        token.watch(cursor)
        create_tables(cursor)
        collections = Collections(cursor, find_sources(data))
        key = collections.find(normalised_task(task), dataset)
        if key is None:
            raise UsageError(f"no data for task {task!r}.", "Give --data DIR, or fetch it: bright-inspect fetch bright")
        collections.load(key)
        yield TaskInputs(database, cursor, collections, key, tell, token)


def made_retriever(
    name: str, options: ModelOptions, corpus: Corpus, inputs: TaskInputs, engine: str | None = None
) -> Retriever:
    """The retriever of this name over the corpus, indexed or encoded as far as that was not done.

    Raises:
        UsageError: there is no such retriever, or ``engine`` is not its.
        BrightInspectError: it cannot be used here.
    """
    from functools import partial

    from bright_inspect.retrieval.bm25 import make_rank_bm25
    from bright_inspect.retrieval.registry import find_retriever
    from bright_inspect.store.run_cache import cache_folder

    spec = find_retriever(name, options)
    make = spec.make
    if engine is not None:
        if name != "rank-bm25":
            raise UsageError(f"--engine {engine} is of rank-bm25, not of {name}.", "Say --retriever rank-bm25.")
        make = partial(make_rank_bm25, engine="rank_bm25")
    return make(corpus, cache_folder() / "retrieval", inputs.tell, inputs.token.check)


def made_reranker(name: str, options: ModelOptions, inputs: TaskInputs) -> Reranker:
    """The reranker of this name. Raises as ``made_retriever``."""
    from bright_inspect.retrieval.registry import find_reranker
    from bright_inspect.store.run_cache import cache_folder

    return find_reranker(name, options).make(cache_folder() / "retrieval", inputs.tell, inputs.token.check)

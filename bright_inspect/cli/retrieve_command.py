"""``bright-inspect retrieve``: search a task's corpus for all of its queries, and keep the run."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import click

from bright_inspect import __version__
from bright_inspect.cli.options import interruptible, progress_line
from bright_inspect.domain.corpora import corpus_size
from bright_inspect.domain.names import ORIGINAL, normalised_task
from bright_inspect.domain.visible import visible
from bright_inspect.errors import UsageError
from bright_inspect.store.progress import CancelToken, Progress


@click.command()
@click.option("--task", required=True, metavar="TASK", help="The task whose queries and documents are searched.")
@click.option("--dataset", metavar="NAME", help="The dataset, if the task is in several: bright, bright-long, demo ...")
@click.option("--retriever", required=True, metavar="NAME", help="What searches: bright-inspect models lists them.")
@click.option("--variant", default=ORIGINAL, show_default=True, metavar="NAME", help="The text of the queries.")
@click.option("--depth", default=1000, show_default=True, type=click.IntRange(1), help="Documents a query.")
@click.option("--out", required=True, type=click.Path(path_type=Path), metavar="FILE", help="The run, in TREC format.")
@click.option(
    "--data", type=click.Path(path_type=Path), metavar="DIR", help="Folder of a BRIGHT snapshot or of BEIR data."
)
def command(
    task: str, dataset: str | None, retriever: str, variant: str, depth: int, out: Path, data: Path | None
) -> int:
    """Make a run: excluded documents are removed before the cut, and a sidecar says how it was made.

    A broken run goes on where it stopped when the same command is given again.
    """
    with progress_line() as listener:
        lines = interruptible(
            lambda token: _retrieve(task, dataset, retriever, variant, depth, out, data, listener, token)
        )
    for line in lines:
        click.echo(visible(line), err=True)
    return 0


def _retrieve(
    task: str,
    dataset: str | None,
    retriever_name: str,
    variant: str,
    depth: int,
    out: Path,
    data: Path | None,
    listener: Callable[[Progress], None],
    token: CancelToken,
) -> list[str]:
    from bright_inspect.datasets.places import find_sources
    from bright_inspect.db import Database, database_errors_told
    from bright_inspect.retrieval.registry import find_retriever
    from bright_inspect.store.collections import Collections
    from bright_inspect.store.corpus import task_corpus, task_queries
    from bright_inspect.store.retrieving import retrieve_run
    from bright_inspect.store.run_cache import cache_folder
    from bright_inspect.store.schema import create_tables

    spec = find_retriever(retriever_name)
    if spec.needs is not None:
        raise UsageError(f"{spec.name} cannot be used here: {spec.needs}.", "")

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
        queries = task_queries(cursor, collections, key, variant)
        tell(0, len(queries.query_ids), "reading the corpus")
        corpus = task_corpus(database, cursor, collections, key)
        if corpus is None:
            raise UsageError(f"no documents at hand for {'/'.join(key)}.", "Give --data DIR with documents/.")
        searcher = spec.make(corpus, cache_folder() / "retrieval", tell, token.check)
        whole = corpus_size(*key)
        provenance = {
            "made_by": f"bright-inspect {__version__} retrieve",
            "system": spec.name,
            "variant": variant,
            "dataset": key[0],
            "task": key[1],
            "depth": depth,
            "device": searcher.device,
            "corpus_documents": corpus.size,
            "corpus_documents_of": whole,
            "corpus_md5": corpus.digest,
            "excluded_pairs": sum(map(len, queries.excluded)),
        }
        made = retrieve_run(
            searcher, queries, depth, out, provenance, lambda done, total: tell(done, total, f"searching {key[1]}"),
            token.check,
        )  # fmt: skip
    lines = [f"{out}: {made.queries} queries of {'/'.join(key)} by {spec.name}, {variant}."]
    if made.taken_over:
        lines.append(f"{made.taken_over} of them were taken over from a run that was broken off.")
    if whole is not None and corpus.size < whole:
        lines.append(
            f"searched {corpus.size:,} of {whole:,} documents: scores do not compare with runs over the whole corpus."
        )
    if made.short_lists:
        query_id, reason = next(iter(made.short_lists.items()))
        lines.append(f"{len(made.short_lists)} lists are shorter than {depth}, as of query {query_id}: {reason}")
    return lines

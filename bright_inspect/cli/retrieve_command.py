"""``bright-inspect retrieve``: search a task's corpus for all of its queries, and keep the run."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import click

from bright_inspect import __version__
from bright_inspect.cli.options import interruptible, model_options, progress_line
from bright_inspect.cli.task_inputs import (
    TaskInputs,
    made_reranker,
    made_retriever,
    opened_task,
    task_options,
)
from bright_inspect.domain.names import ORIGINAL
from bright_inspect.domain.visible import visible
from bright_inspect.retrieval.protocol import Corpus, ModelOptions, Retriever, provenance_of
from bright_inspect.store.progress import CancelToken, Progress


@dataclass(frozen=True, slots=True)
class _Wanted:
    task: str
    dataset: str | None
    data: Path | None
    retriever: str
    engine: str | None
    variant: str
    depth: int
    rerank: str | None
    rerank_top: int
    rerank_max_length: int | None
    out: Path


@click.command()
@task_options
@click.option("--retriever", required=True, metavar="NAME", help="What searches: bright-inspect models lists them.")
@click.option("--engine", type=click.Choice(["rank_bm25"]), help="With rank-bm25: the package itself, slowly.")
@click.option("--variant", default=ORIGINAL, show_default=True, metavar="NAME[=FILE]",
              help="The text of the queries: a variant of the data, or a file of rewrites.")  # fmt: skip
@click.option("--depth", default=1000, show_default=True, type=click.IntRange(1), help="Documents a query.")
@click.option("--rerank", metavar="NAME", help="Rerank the top of each list: cross-encoder:MODEL, endpoint:MODEL.")
@click.option("--rerank-top", default=100, show_default=True, type=click.IntRange(1), help="Documents to rerank.")
@click.option("--rerank-max-length", type=click.IntRange(1), metavar="TOKENS", help="Where the reranker cuts a pair.")
@click.option("--out", required=True, type=click.Path(path_type=Path), metavar="FILE", help="The run, in TREC format.")
@model_options
def command(options: ModelOptions, **wanted: object) -> int:
    """Make a run: excluded documents are removed before the cut, and a sidecar says how it was made.

    A broken run goes on where it stopped when the same command is given again.
    """
    asked = _Wanted(**wanted)  # type: ignore[arg-type]  # click's names are the fields
    with progress_line() as listener:
        lines = interruptible(lambda token: _retrieve(asked, options, listener, token))
    for line in lines:
        click.echo(visible(line), err=True)
    return 0


def _retrieve(
    wanted: _Wanted, options: ModelOptions, listener: Callable[[Progress], None], token: CancelToken
) -> list[str]:
    from bright_inspect.store.corpus import task_queries
    from bright_inspect.store.retrieving import Retrieved, refuse_existing, retrieve_run

    refuse_existing(wanted.out)
    with opened_task(wanted.task, wanted.dataset, wanted.data, listener, token) as inputs:
        variant, findings = inputs.variant(wanted.variant)
        queries = task_queries(inputs.cursor, inputs.collections, inputs.key, variant)
        corpus = inputs.corpus()
        searcher = _searcher(wanted, options, corpus, inputs)
        provenance = {
            "made_by": f"bright-inspect {__version__} retrieve",
            "system": searcher.name,
            "variant": variant,
            "dataset": inputs.key[0],
            "task": inputs.key[1],
            "depth": wanted.depth,
            "device": searcher.device,
            "engine": wanted.engine,
            **inputs.corpus_provenance(corpus),
            "excluded_pairs": sum(map(len, queries.excluded)),
            **provenance_of(searcher),
        }

        def searching(done: int, total: int) -> None:
            inputs.tell(done, total, f"searching {inputs.key[1]}")

        made: Retrieved = retrieve_run(searcher, queries, wanted.depth, wanted.out, provenance, searching, token.check)
        task = "/".join(inputs.key)
        partial = inputs.partial_note(corpus)
    lines = [f"{wanted.out}: {made.queries} queries of {task} by {searcher.name}, {variant}."]
    lines += [f"{finding.severity}: {finding.place}: {finding.message}" for finding in findings]
    if made.taken_over:
        lines.append(f"{made.taken_over} of them were taken over from a run that was broken off.")
    lines += partial
    told = made.told
    if told.short_lists:
        query_id, reason = next(iter(told.short_lists.items()))
        lines.append(f"{len(told.short_lists)} lists are shorter than {wanted.depth}, as of query {query_id}: {reason}")
    return lines + reranking_lines(told.scored, told.cut, told.without_text)


def _searcher(wanted: _Wanted, options: ModelOptions, corpus: Corpus, inputs: TaskInputs) -> Retriever:
    # The reranker first: that it is missing should not be found after an hour of encoding.
    reranker = None
    if wanted.rerank is not None:
        own = ModelOptions(options.device, options.precision, wanted.rerank_max_length)
        reranker = made_reranker(wanted.rerank, replace(own, trust_remote_code=options.trust_remote_code), inputs)
    retriever = made_retriever(wanted.retriever, options, corpus, inputs, wanted.engine)
    if reranker is None:
        return retriever
    from bright_inspect.retrieval.rerank import RerankingRetriever
    from bright_inspect.store.corpus import corpus_texts_of

    def texts(doc_ids: object) -> dict[str, str]:
        return corpus_texts_of(inputs.cursor, inputs.collections, inputs.key, doc_ids)  # type: ignore[arg-type]

    return RerankingRetriever(retriever, reranker, wanted.rerank_top, texts, inputs.tell)


def reranking_lines(scored: int, cut: int | None, without_text: int) -> list[str]:
    """What is told of reranked lists."""
    lines = []
    if scored:
        known = "how many were cut at its max length is not known" if cut is None else f"{cut:,} of them were cut"
        lines.append(f"{scored:,} pairs of query and document were scored by the reranker; {known}.")
    if without_text:
        lines.append(
            f"{without_text:,} documents to rerank have no text at hand and keep their order below the others."
        )
    return lines

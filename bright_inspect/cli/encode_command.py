"""``bright-inspect encode``: encode a task's corpus, so that a dense retriever can search it at once."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import click

from bright_inspect.cli.options import interruptible, model_options, progress_line
from bright_inspect.cli.task_inputs import made_retriever, opened_task, task_options
from bright_inspect.domain.visible import visible
from bright_inspect.retrieval.protocol import ModelOptions
from bright_inspect.store.progress import CancelToken, Progress


@click.command()
@task_options
@click.option("--retriever", required=True, metavar="NAME", help="The model: minilm, dense:MODEL, endpoint:MODEL ...")
@model_options
def command(task: str, dataset: str | None, data: Path | None, retriever: str, options: ModelOptions) -> int:
    """Encode the documents of a task into the cache, batch by batch; stopped, it goes on there next time.

    What BM25 needs is indexed by the same command.
    """
    with progress_line() as listener:
        line = interruptible(lambda token: _encode(task, dataset, data, retriever, options, listener, token))
    click.echo(visible(line), err=True)
    return 0


def _encode(
    task: str,
    dataset: str | None,
    data: Path | None,
    retriever: str,
    options: ModelOptions,
    listener: Callable[[Progress], None],
    token: CancelToken,
) -> str:
    with opened_task(task, dataset, data, listener, token) as inputs:
        corpus = inputs.corpus()
        began = time.monotonic()
        made = made_retriever(retriever, options, corpus, inputs)
        where = f" on {made.device}" if made.device else ""
        seconds = time.monotonic() - began
    return f"{corpus.size:,} documents of {corpus.name} are ready for {made.name}{where}, after {seconds:,.1f} s."

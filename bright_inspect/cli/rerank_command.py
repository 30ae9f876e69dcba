"""``bright-inspect rerank``: the top of a run in a reranker's order."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import click

from bright_inspect.cli.options import interruptible, model_options, opened, progress_line, run_arguments
from bright_inspect.cli.output import report_findings
from bright_inspect.cli.retrieve_command import reranking_lines
from bright_inspect.domain.names import ORIGINAL
from bright_inspect.domain.visible import visible
from bright_inspect.errors import UsageError
from bright_inspect.retrieval.protocol import ModelOptions
from bright_inspect.store.progress import CancelToken, Progress
from bright_inspect.store.request import OpenRequest


@click.command()
@run_arguments()
@click.option(
    "--reranker", required=True, metavar="NAME", help="cross-encoder:MODEL, endpoint:MODEL[@URL], or your own."
)
@click.option("--top", default=100, show_default=True, type=click.IntRange(1), help="Documents of a list to rerank.")
@click.option("--depth", default=1000, show_default=True, type=click.IntRange(1), help="Documents a query to write.")
@click.option(
    "--variant",
    metavar="NAME[=FILE]",
    help="The text of the queries: a variant of the data, or a file of rewrites.  [default: the run's variant]",
)
@click.option(
    "--out",
    required=True,
    type=click.Path(path_type=Path),
    metavar="PATH",
    help="The new run, in TREC format; with several tasks the folder of {task}.trec.",
)
@model_options
def command(
    request: OpenRequest,
    reranker: str,
    top: int,
    depth: int,
    variant: str | None,
    out: Path,
    options: ModelOptions,
) -> int:
    """Rerank a run: the first documents of each list by a model, those below in their order.

    PATH.json says how it was made and how many documents the model's max length cut. Broken off, it goes on where it
    stopped when the same command is given again.
    """  # fmt: skip
    from bright_inspect.retrieval.registry import find_reranker
    from bright_inspect.store.collections import split_layer
    from bright_inspect.store.reranking import Reranking, rerank_run
    from bright_inspect.store.run_cache import cache_folder

    spec = find_reranker(reranker, options)
    name = split_layer(variant)[0] if variant else None
    with opened(request if name is None else replace(request, variants=(variant or "",))) as opening:
        session = opening.session
        if len(session.runs) != 1:
            raise UsageError(
                f"{len(session.runs)} runs given: {', '.join(run.label for run in session.runs)}.",
                "rerank takes one; fuse makes one of several.",
            )
        report_findings(session.findings, strict=False)
        wanted = name or variant or session.runs[0].name.variant or ORIGINAL

        def work(token: CancelToken) -> list[str]:
            cursor = session.database.cursor()
            token.watch(cursor)

            def tell(done: int, total: int, message: str) -> None:
                listener(Progress(done, total, message))

            try:
                model = spec.make(cache_folder() / "retrieval", tell, token.check)
                how = Reranking(model, wanted, top, depth)
                lines = []
                for done in rerank_run(session, cursor, how, out, tell, token.check):
                    told = done.made.told
                    lines.append(
                        f"{done.out}: {done.made.queries} queries of {'/'.join(done.task)} by {model.name}, {wanted}."
                    )
                    if done.made.taken_over:
                        lines.append(f"{done.made.taken_over} of them were taken over from a run that was broken off.")
                    if done.without_text:
                        lines.append(f"warning: {len(done.without_text)} queries without a text keep their order.")
                    lines += reranking_lines(told.scored, told.cut, told.without_text)
                return lines
            finally:
                token.unwatch()
                cursor.close()

        with progress_line() as listener:
            lines = interruptible(work)
        for line in lines:
            click.echo(visible(line), err=True)
    return 0

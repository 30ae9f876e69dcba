"""``bright-inspect fuse``: several runs made into one."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

import click

from bright_inspect.cli.options import interruptible, opened, progress_line, run_arguments
from bright_inspect.cli.output import report_findings
from bright_inspect.domain.visible import visible
from bright_inspect.errors import UsageError
from bright_inspect.retrieval.fuse import DEFAULT_K, NORMALISATIONS, Normalisation
from bright_inspect.store.progress import CancelToken
from bright_inspect.store.request import OpenRequest
from bright_inspect.store.session import Session

#: Queries that a line names at most.
_MOST_NAMED = 3


@click.command()
@run_arguments()
@click.option(
    "--out",
    required=True,
    type=click.Path(path_type=Path),
    metavar="PATH",
    help="The fused run, in TREC format; with several tasks the folder of {task}.trec.",
)
@click.option(
    "--method",
    type=click.Choice(("rrf", "weighted")),
    default="rrf",
    show_default=True,
    help="rrf: reciprocal rank fusion, the sum of weight / (k + rank); weighted: the sum of weight * score.",
)
@click.option("--weight", "weights", multiple=True, metavar="NAME=W", help="A run's weight, 1 if not given; repeat.")
@click.option("--k", type=float, help=f"Of rrf: what is added to each rank.  [default: {DEFAULT_K}]")
@click.option(
    "--normalise",
    type=click.Choice(NORMALISATIONS),
    help="Of weighted: the scale scores are brought to, query by query.  [default: min-max]",
)
@click.option("--depth", default=1000, show_default=True, type=click.IntRange(1), help="Documents a query.")
def command(
    request: OpenRequest,
    out: Path,
    method: str,
    weights: tuple[str, ...],
    k: float | None,
    normalise: Normalisation | None,
    depth: int,
) -> int:
    """Fuse runs query by query: excluded documents are out before, and PATH.json says how it was made.

    A document that a run lacks gets nothing from it; z-score gives it the run's lowest value.
    """  # fmt: skip
    # These load DuckDB, which --help does not want.
    from bright_inspect.store.fusing import Fusion, fuse_runs

    if method == "rrf" and normalise is not None:
        raise UsageError("--normalise goes with --method weighted.", "rrf looks at ranks alone.")
    if method == "weighted" and k is not None:
        raise UsageError("--k goes with --method rrf.", "weighted adds up scores.")
    if k is not None and not (math.isfinite(k) and k >= 0):
        raise UsageError(f"--k {k:g}: not 0 or more.", f"It is added to every rank; usual is {DEFAULT_K}.")
    with opened(request) as opening:
        session = opening.session
        fusion = Fusion(
            "rrf" if method == "rrf" else "weighted",
            _weights(session, weights),
            DEFAULT_K if k is None else k,
            normalise or "min-max",
            depth,
        )
        report_findings(session.findings, strict=False)

        def work(token: CancelToken) -> list[str]:
            cursor = session.database.cursor()
            token.watch(cursor)
            try:
                return [
                    line
                    for fused in fuse_runs(session, cursor, fusion, out, listener, token.check)
                    for line in (
                        f"{fused.out}: {fused.queries} queries of {'/'.join(fused.task)}, "
                        f"{method} of {', '.join(fused.runs)}.",
                        *_partial_lines(fused.out, fused.queries, fused.partial),
                    )
                ]
            finally:
                token.unwatch()
                cursor.close()

        with progress_line() as listener:
            lines = interruptible(work)
        for line in (*lines, *_session_lines(session)):
            click.echo(visible(line), err=True)
    return 0


def _weights(session: Session, given: Sequence[str]) -> tuple[float, ...]:
    """The runs' weights in the session's order.

    Raises:
        UsageError: one is not ``NAME=W``, W is not 0 or more, or NAME is not one run.
    """
    weights: dict[int, float] = {}
    for text in given:
        name, equals, number = text.rpartition("=")
        try:
            weight = float(number)
        except ValueError:
            weight = math.nan
        if not equals or not (math.isfinite(weight) and weight >= 0):
            raise UsageError(f"--weight {text}: not NAME=W with W of 0 or more.", "As in --weight bm25=0.5.")
        run_id = _run_called(session, name)
        if run_id in weights:
            raise UsageError(f"--weight {text}: the run has a weight already.", "Give each run one.")
        weights[run_id] = weight
    found = tuple(weights.get(run.run_id, 1.0) for run in session.runs)
    if not any(found):
        raise UsageError("all weights are 0.", "Give at least one run a weight above 0.")
    return found


def _run_called(session: Session, name: str) -> int:
    labels = ", ".join(run.label for run in session.runs)
    for run in session.runs:
        if name in (run.label, run.name.in_full, *(str(file.path) for file in run.files)):
            return run.run_id
    systems = [run for run in session.runs if run.name.system == name]
    if len(systems) > 1:
        raise UsageError(f"--weight {name}: several runs are called so.", f"Runs: {labels}.")
    if not systems:
        raise UsageError(f"--weight {name}: no run is called so.", f"Runs: {labels}.")
    return systems[0].run_id


def _partial_lines(out: Path, queries: int, partial: dict[str, tuple[str, ...]]) -> list[str]:
    """What is fused from some of the runs only, if anything is."""
    if not partial:
        return []
    named = ", ".join(
        f"{query_id} (not in {', '.join(runs)})" for query_id, runs in list(partial.items())[:_MOST_NAMED]
    )
    more = " ..." if len(partial) > _MOST_NAMED else ""
    return [f"warning: {out}: {len(partial)} of {queries} queries are fused from some of the runs: {named}{more}."]


def _session_lines(session: Session) -> list[str]:
    """What the runs do not have in common."""
    lines = []
    single = [task for task in session.tasks if sum(task in run.tasks for run in session.runs) == 1]
    if single:
        lines.append(f"warning: left out, only one run has them: {', '.join(map('/'.join, single))}.")
    if len({run.name.variant for run in session.runs}) > 1:
        names = ", ".join(run.name.in_full for run in session.runs)
        lines.append(f"The runs differ in variant: {names}.")
    return lines

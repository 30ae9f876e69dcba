"""How documents are judged on the screen."""

from __future__ import annotations

import functools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from bright_inspect.store.triage_request import TRIAGE_ORDERS, TriageOrder, TriageRequest

_Command = Callable[..., Any]


def triage_options(command: _Command) -> _Command:
    """The command gets them as ``triage``, a TriageRequest."""

    @functools.wraps(command)
    def with_triage(
        *request: object,
        annotator: str | None,
        pool_depth: int,
        order: TriageOrder,
        triage_run: str | None,
        per_query: int | None,
        blind: bool,
        seed: int,
        repeat_rate: float,
        why_needed: bool,
        guidelines: Path | None,
        at_once: bool,
        **others: Any,
    ) -> Any:
        triage = TriageRequest(
            annotator, pool_depth, "run" if triage_run else order, triage_run, per_query, blind, seed, repeat_rate,
            why_needed, guidelines, at_once,
        )  # fmt: skip
        return command(*request, triage=triage, **others)

    decorated: _Command = with_triage
    for option in (
        click.option("--guidelines", type=click.Path(path_type=Path), metavar="FILE",
                     help="A text on how to judge, shown by i."),
        click.option("--why-needed", is_flag=True, help="Ask why, for every document judged relevant."),
        click.option("--repeat-rate", type=click.FloatRange(0, 1), default=0.0, metavar="SHARE",
                     help="The share of judged documents that come back, for agreement with oneself."),
        click.option("--seed", type=int, default=0, metavar="N", help="Of random orders and of repeats."),
        click.option("--blind", is_flag=True, help="Hide runs, ranks and evidence until a document is judged."),
        click.option("--per-query", type=click.IntRange(1), metavar="N", help="At most so many candidates of a query."),
        click.option("--triage-run", metavar="NAME", help="Judge this run's documents, in its order."),
        click.option("--order", type=click.Choice([order for order in TRIAGE_ORDERS if order != "run"]),
                     default="effect", show_default=True, help="What is judged first."),
        click.option("--pool-depth", type=click.IntRange(1, 100), default=10, show_default=True, metavar="K",
                     help="The top of every run that is judged."),
        click.option("--annotator", metavar="NAME", help="Who judges.  [default: your user name]"),
        click.option("--triage", "at_once", is_flag=True, help="Open on judging: J on any screen does the same."),
    ):  # fmt: skip
        decorated = option(decorated)
    return decorated

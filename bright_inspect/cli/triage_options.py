"""How documents are judged on the screen."""

from __future__ import annotations

import functools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from bright_inspect.errors import UsageError
from bright_inspect.store.triage_request import TRIAGE_ORDERS, TriageOrder, TriageRequest

_Command = Callable[..., Any]


def triage_options(command: _Command) -> _Command:
    """The command gets them as ``triage``, a TriageRequest."""

    @functools.wraps(command)
    def with_triage(
        *request: object,
        annotator: str | None,
        pool_depth: int,
        order: TriageOrder | None,
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
        wanted = _wanted_order(order, triage_run, per_query, blind)
        triage = TriageRequest(
            annotator, pool_depth, wanted, triage_run, per_query, blind, seed, repeat_rate, why_needed, guidelines,
            at_once,
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
        click.option("--blind", is_flag=True,
                     help="Hide runs, ranks and evidence until a document is judged, and shuffle: --order then only "
                          "chooses which --per-query candidates come up."),
        click.option("--per-query", type=click.IntRange(1), metavar="N", help="At most so many candidates of a query."),
        click.option("--triage-run", metavar="NAME", help="Judge this run's documents, in its order."),
        click.option("--order", type=click.Choice([order for order in TRIAGE_ORDERS if order != "run"]),
                     help="What is judged first; conflicts: only what annotators judged differently.  "
                          "[default: effect]"),
        click.option("--pool-depth", type=click.IntRange(1, 100), default=10, show_default=True, metavar="K",
                     help="The top of every run that is judged."),
        click.option("--annotator", metavar="NAME", help="Who judges.  [default: your user name]"),
        click.option("--triage", "at_once", is_flag=True, help="Open on judging: J on any screen does the same."),
    ):  # fmt: skip
        decorated = option(decorated)
    return decorated


def _wanted_order(order: TriageOrder | None, run: str | None, per_query: int | None, blind: bool) -> TriageOrder:
    """
    Raises:
        UsageError: an order that would come to nothing.
    """
    if order is None:
        return "run" if run else "effect"
    if run is not None:
        raise UsageError(f"--order {order} and --triage-run {run}.", "--triage-run is an order itself: give one only.")
    if order == "conflicts" and per_query is not None:
        raise UsageError(f"--order conflicts and --per-query {per_query}.", "Conflicts come up all: leave one out.")
    if blind and per_query is None and order not in ("random", "conflicts"):
        raise UsageError(
            f"--order {order} and --blind.",
            "Blind judging is shuffled, so that the order tells nothing: leave --order out, or give --per-query N and "
            "it chooses which come up.",
        )
    return order

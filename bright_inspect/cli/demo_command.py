"""``bright-inspect demo``: the terminal program on the data set and the runs that come with it."""

from __future__ import annotations

from pathlib import Path

import click

from bright_inspect.cli.open_command import open_program
from bright_inspect.cli.options import (
    decisions_option,
    layer_option,
    model_options,
    retrievers_option,
    variant_files_option,
)
from bright_inspect.cli.triage_options import triage_options
from bright_inspect.demo import BASELINE, demo_runs
from bright_inspect.retrieval.protocol import ModelOptions
from bright_inspect.store.request import OpenRequest
from bright_inspect.store.triage_request import TriageRequest


@click.command()
@decisions_option
@layer_option
@retrievers_option
@variant_files_option
@triage_options
@model_options
def command(
    journals: tuple[Path, ...],
    layer: str | None,
    retrievers: tuple[str, ...],
    variants: tuple[str, ...],
    triage: TriageRequest,
    options: ModelOptions,
) -> int:
    """Open the demo: BM25 over four small tasks, by the queries as posted and after reasoning about them.

    It is searched and judged with the same options as other runs: bright-inspect demo --triage --annotator NAME.
    """
    return open_program(
        OpenRequest(
            tuple(map(str, demo_runs())),
            dataset="demo",  # named, so that nothing else on this machine is asked whose runs these are
            baseline=BASELINE,
            layer=layer,
            retrievers=retrievers,
            model_options=options,
            journals=journals,
            triage=triage,
            variants=variants,
        )
    )

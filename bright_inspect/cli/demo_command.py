"""``bright-inspect demo``: the terminal program on the data set and the runs that come with it."""

from __future__ import annotations

import click

from bright_inspect.cli.open_command import open_program
from bright_inspect.demo import BASELINE, demo_runs
from bright_inspect.store.request import OpenRequest


@click.command()
def command() -> int:
    """Open the demo: BM25 over four small tasks, by the queries as posted and after reasoning about them."""
    # The dataset is named, so that nothing else on this machine is asked whose runs these are.
    return open_program(OpenRequest(tuple(map(str, demo_runs())), dataset="demo", baseline=BASELINE))

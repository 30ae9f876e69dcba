"""``bright-inspect RUN...``: the terminal program."""

from __future__ import annotations

import sys
from dataclasses import replace

import click

from bright_inspect.cli.options import model_options, retrievers_option, run_arguments, variant_files_option
from bright_inspect.cli.triage_options import triage_options
from bright_inspect.errors import UsageError
from bright_inspect.retrieval.protocol import ModelOptions
from bright_inspect.store.request import OpenRequest, check_paths
from bright_inspect.store.triage_request import TriageRequest


def open_program(request: OpenRequest) -> int:
    """Look at the paths, then run the terminal program; its exit code.

    Raises:
        BrightInspectError: a path that cannot be used, no terminal, a faulty key file, or what ended the program.
    """
    check_paths(request)
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise UsageError("the screen needs a terminal.", "For output into a file or pipe use eval, compare or check.")
    from bright_inspect.tui.app import make_app
    from bright_inspect.tui.keymap import key_file, read_key_file

    app = make_app(request, read_key_file(key_file()))
    error = app.run()
    if error is not None:
        raise error
    return app.return_code or 0


@click.command()
@run_arguments(required=False)
@retrievers_option
@variant_files_option
@triage_options
@model_options
def command(
    request: OpenRequest,
    retrievers: tuple[str, ...],
    variants: tuple[str, ...],
    triage: TriageRequest,
    options: ModelOptions,
) -> int:
    """Open runs in the terminal program. What you care about comes first, the baseline last.

    RUN is a TREC run or BRIGHT score JSON, a folder of them, a pattern, NAME=PATH, NAME@variant=PATH, or what
    bright-inspect save wrote.
    """
    return open_program(
        replace(request, retrievers=retrievers, variants=variants, triage=triage, model_options=options)
    )

"""``bright-inspect save``: a session in one file, to hand over."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import click

from bright_inspect.cli.options import interruptible, opened, progress_line, run_arguments, variant_files_option
from bright_inspect.cli.output import report_findings
from bright_inspect.domain.measures import parse_measure
from bright_inspect.domain.visible import visible
from bright_inspect.store.progress import CancelToken
from bright_inspect.store.request import OpenRequest


@click.command()
@run_arguments()
@click.option(
    "--out",
    required=True,
    type=click.Path(path_type=Path),
    metavar="FILE.duckdb",
    help="The file to write; one that is there is not overwritten.",
)
@variant_files_option
@click.option("--measure", "-m", metavar="NAME", help="The measure that the screen opens with.")
def command(request: OpenRequest, out: Path, variants: tuple[str, ...], measure: str | None) -> int:
    """Save runs, queries, judgments, decisions and the documents that are shown as one DuckDB file.

    bright-inspect FILE.duckdb opens it where the inputs are not, as do eval, compare, explain and the others. Any
    DuckDB client can query its tables; their comments say what they hold.
    """
    # These load DuckDB, which --help does not want.
    from bright_inspect.judging.session_file import save_judged_session
    from bright_inspect.store.saving import check_target

    wanted = parse_measure(measure) if measure is not None else None
    check_target(out)
    with opened(replace(request, variants=variants)) as opening:
        session = opening.session

        opening.convert()

        def work(token: CancelToken) -> int:
            cursor = session.database.cursor()
            token.watch(cursor)
            try:
                return save_judged_session(opening, cursor, out, wanted, listener, token.check)
            finally:
                token.unwatch()
                cursor.close()

        report_findings(session.findings, strict=False)
        with progress_line() as listener:
            size = interruptible(work)
        runs = f"{len(session.runs)} run{'s' if len(session.runs) != 1 else ''}"
        click.echo(visible(f"{out}: {runs}, {', '.join('/'.join(task) for task in session.tasks)}, {_amount(size)}."))
    return 0


def _amount(size: int) -> str:
    return f"{size / 1e6:,.1f} MB"

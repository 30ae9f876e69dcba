"""``bright-inspect fetch``: the only command that downloads anything."""

from __future__ import annotations

import shlex
import time
from pathlib import Path

import click

from bright_inspect.domain.names import normalised_task
from bright_inspect.domain.visible import visible


@click.group()
def command() -> None:
    """Download a data set from the Hugging Face Hub."""


@command.command()
@click.option("--task", "tasks", multiple=True, metavar="TASK", help="Only this task; repeat or separate by commas.")
@click.option(
    "--config",
    "configs",
    multiple=True,
    metavar="NAME",
    help="examples, documents, long_documents, gpt4_reason ...; patterns too. "
    "Default: examples, documents and *_reason.",
)
@click.option("--revision", default="main", show_default=True, help="A branch, tag or commit of xlangai/BRIGHT.")
@click.option(
    "--to",
    type=click.Path(path_type=Path, file_okay=False),
    metavar="DIR",
    help="Folder to put the files in; without it they go to the Hugging Face cache, where they are found.",
)
def bright(tasks: tuple[str, ...], configs: tuple[str, ...], revision: str, to: Path | None) -> int:
    """Fetch BRIGHT (xlangai/BRIGHT). What is there already is not fetched again."""
    from bright_inspect.datasets.hub import DEFAULT_CONFIGS, FetchedFile, fetch_bright, megabytes

    started = time.monotonic()
    last: FetchedFile | None = None

    def tell(file: FetchedFile) -> None:
        nonlocal last
        last = file
        size = f"{megabytes(file.bytes_before)} of {megabytes(file.bytes_total)}"
        click.echo(f"[{file.number}/{file.total}] {visible(file.path)}  {size}{_left(file, started)}", err=True)

    def _left(file: FetchedFile, since: float) -> str:
        seconds = time.monotonic() - since
        if file.bytes_before == 0 or seconds < 2:
            return ""
        left = seconds * (file.bytes_total - file.bytes_before) / file.bytes_before
        return f", about {left / 60:.0f} min left" if left >= 90 else f", about {left:.0f} s left"

    try:
        fetched = fetch_bright(
            [normalised_task(task) for task in _split(tasks)],
            _split(configs) or DEFAULT_CONFIGS,
            revision,
            to.expanduser() if to else None,
            tell,
        )
    except KeyboardInterrupt:
        done = last.number - 1 if last else 0
        of = f" of {last.total}" if last else ""
        click.echo(
            f"\nbright-inspect: stopped; {done}{of} files are there, the same command fetches the rest.", err=True
        )
        raise
    click.echo(str(fetched.folder))
    click.echo(
        f"{fetched.files} files, {megabytes(fetched.size)}, xlangai/BRIGHT at {fetched.commit[:7]}. {_use(to)}",
        err=True,
    )
    return 0


def _use(to: Path | None) -> str:
    if to is None:
        return "bright-inspect finds them there: bright-inspect RUN..."
    quoted = shlex.quote(str(to))
    return f"Use them so: bright-inspect --data {quoted} RUN...  or: export BRIGHT_INSPECT_DATA={quoted}"


def _split(values: tuple[str, ...]) -> list[str]:
    return [part.strip() for value in values for part in value.split(",") if part.strip()]

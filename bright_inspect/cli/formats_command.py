"""``bright-inspect formats``: the run formats that are read, with an example each."""

from __future__ import annotations

import click

from bright_inspect.cli.output import print_json
from bright_inspect.formats.registry import FORMATS


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print JSON; binary examples are in base64.")
def command(as_json: bool) -> int:
    """List the run formats that are read, who writes them, and an example of each.

    The content of a file decides which it is, never its name; --format NAME overrides that.
    """
    if as_json:
        print_json(
            [
                {
                    "name": known.name, "title": known.title, "writers": known.writers, "example": known.example,
                    "binary": known.binary,
                }
                for known in FORMATS
            ]
        )  # fmt: skip
        return 0
    width = max(len(known.name) for known in FORMATS)
    for known in FORMATS:
        click.echo(f"{known.name:{width}}  {known.title}")
        click.echo(f"{'':{width}}  from {known.writers}")
        for line in ["(binary)"] if known.binary else known.example.rstrip("\n").split("\n"):
            click.echo(f"{'':{width}}    {line.replace(chr(9), '⇥')}")
        click.echo()
    click.echo("Any of them may be packed by gzip, zstd, bzip2, xz or LZ4. ⇥ is a tab.")
    return 0

"""``bright-inspect models``: the retrievers that can be used here, and what the others need."""

from __future__ import annotations

import click

from bright_inspect.cli.output import print_json, print_table


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(as_json: bool) -> int:
    """List the retrievers: their names, what they are, and whether they can be used here."""
    from bright_inspect.retrieval.registry import known_retrievers

    specs = known_retrievers().values()
    if as_json:
        print_json([{"name": spec.name, "title": spec.title, "needs": spec.needs} for spec in specs])
    else:
        print_table(["name", "what it is", "here"], ([spec.name, spec.title, spec.needs or "yes"] for spec in specs))
    return 0

"""``bright-inspect models``: the retrievers, rerankers and writers that can be used here, and what the others need."""

from __future__ import annotations

import click

from bright_inspect.cli.output import print_json, print_table


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(as_json: bool) -> int:
    """List retrievers, rerankers and writers: their names, what they are, and whether they can be used here.

    Any other model is dense:MODEL or cross-encoder:MODEL, by folder or by its name on the Hugging Face Hub; one behind
    a server is endpoint:MODEL or endpoint:MODEL@URL; one of your own is package.module:factory. Writers, which rewrite
    queries, are endpoint:MODEL and transformers:MODEL.
    """
    from bright_inspect.retrieval.registry import known_rerankers, known_retrievers
    from bright_inspect.rewriting.writers import known_writers

    rows = [("retriever", spec.name, spec.title, spec.needs) for spec in known_retrievers().values()]
    rows += [("reranker", spec.name, spec.title, spec.needs) for spec in known_rerankers().values()]
    rows += [("writer", spec.name, spec.title, spec.needs) for spec in known_writers()]
    if as_json:
        print_json([{"kind": kind, "name": name, "title": title, "needs": needs} for kind, name, title, needs in rows])
    else:
        print_table(
            ["kind", "name", "what it is", "here"],
            ([kind, name, title, needs or "yes"] for kind, name, title, needs in rows),
        )
    return 0

"""``bright-inspect layers``: the sets of judgments at hand, and in what two of them differ."""

from __future__ import annotations

import sys
from dataclasses import asdict
from typing import Any

import click

from bright_inspect.cli.options import opened, output_options, run_arguments
from bright_inspect.cli.output import print_csv, print_json, print_table, report_findings
from bright_inspect.errors import UsageError
from bright_inspect.store.request import OpenRequest


@click.command()
@run_arguments()
@click.option("--difference", nargs=2, metavar="BEFORE AFTER", help="List the judgments in which two layers differ.")
@output_options
def command(request: OpenRequest, difference: tuple[str, str] | None, as_json: bool, as_csv: bool, strict: bool) -> int:
    """List the layers of judgments of the runs' tasks: the data set's own (original) and those given with --qrels.

    With --difference, list every (query, document) that AFTER judges otherwise than BEFORE.
    """
    from bright_inspect.store.layers import layer_changes, layer_counts

    with opened(request) as opening:
        session = opening.session
        if difference is None:
            header = ["dataset", "task", "layer", "queries", "golds", "judgments", "counts"]
            rows: list[list[Any]] = [
                [*c.task, c.layer, c.queries, c.golds, c.judgments, c.layer == session.collections.layer_of(c.task)]
                for c in layer_counts(session.cursor)
            ]
        else:
            for layer in difference:
                if not session.collections.offer(session.cursor, layer):
                    at_hand = ", ".join(session.collections.layers)
                    raise UsageError(f"no layer is called {layer!r}.", f"At hand: {at_hand}. Add one: --qrels FILE.")
            changes = layer_changes(session.cursor, *difference)
            header = ["dataset", "task", "query_id", "doc_id", *difference]
            rows = [[*asdict(c.query).values(), c.doc_id, c.before, c.after] for c in changes]
        if as_json:
            print_json([dict(zip(header, row, strict=True)) for row in rows])
        elif as_csv:
            print_csv(header, rows)
        else:
            texts = [
                ["–" if cell is None else "yes" if cell is True else "" if cell is False else str(cell) for cell in row]
                for row in rows
            ]
            print_table(header, texts, right=header[3:6] if difference is None else difference)
            if difference is not None:
                queries = len({change.query for change in changes})
                golds = sum(change.changes_gold for change in changes)
                gold_queries = len({change.query for change in changes if change.changes_gold})
                click.echo(
                    f"\n{len(changes)} judgments of {queries} queries differ; "
                    f"{golds} change what is gold, in {gold_queries} queries."
                )
        sys.stdout.flush()
        return report_findings(session.findings, strict)

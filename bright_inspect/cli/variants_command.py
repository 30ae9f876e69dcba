"""``bright-inspect variants``: the texts that a task's queries can be searched by."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bright_inspect.cli.options import (
    interruptible,
    measure_option,
    output_options,
    progress_line,
    run_arguments,
    variant_files_option,
    wanted_measures,
)
from bright_inspect.cli.output import print_csv, print_json, print_table, report_findings
from bright_inspect.datasets.bright_folder import LONG_SUFFIX
from bright_inspect.domain.names import normalised_task
from bright_inspect.errors import UsageError
from bright_inspect.store.progress import CancelToken, Progress
from bright_inspect.store.request import OpenRequest

if TYPE_CHECKING:
    from bright_inspect.store.variants import VariantCount

COUNTS = ("name", "dataset", "task", "queries", "joined", "unjoined")


def count_rows(counts: Sequence[VariantCount]) -> list[list[object]]:
    """How far the variants at hand cover the tasks; the columns are COUNTS."""
    return [[count.name, *count.task, count.queries, count.joined, count.unjoined] for count in counts]


@click.command()
@run_arguments(required=False)
@variant_files_option
@measure_option
@click.option("--per-query", is_flag=True, help="With runs: also every query's values (JSON always has them).")
@output_options
def command(
    request: OpenRequest,
    variants: tuple[str, ...],
    measures: tuple[str, ...],
    per_query: bool,
    as_json: bool,
    as_csv: bool,
    strict: bool,
) -> int:
    """List the variants of the queries of each task, or with runs what the variants they were made with do to them.

    A file may be BRIGHT's reason.py's or INF-X's JSON list, {original text: rewrite} as TongSearch writes it,
    QueryGym's TSV or JSON, or any table of ids and texts. joined are the queries with a text, unjoined those without.

    With runs: delta = run − the run of the same system on the original queries, over the queries that both have a list
    for; how many words the variant has in the mean, and the share of the original's words that survive.
    """
    if request.runs:
        from bright_inspect.cli.variant_runs import show_runs

        request = replace(request, variants=variants)
        wanted = wanted_measures(measures)
        return show_runs(request, wanted, per_query=per_query, as_json=as_json, as_csv=as_csv, strict=strict)
    if measures or per_query or request != OpenRequest((), request.data, request.dataset, request.task):
        raise UsageError(
            "without runs only --data, --dataset, --task and --variant count.", "Name runs, or leave the others out."
        )
    return _list_variants(request, variants, as_json=as_json, as_csv=as_csv, strict=strict)


def _list_variants(
    request: OpenRequest, variants: tuple[str, ...], *, as_json: bool, as_csv: bool, strict: bool
) -> int:
    from bright_inspect.datasets.places import find_sources
    from bright_inspect.db import Database, database_errors_told
    from bright_inspect.store.collections import Collections
    from bright_inspect.store.run_cache import cache_folder
    from bright_inspect.store.schema import create_tables
    from bright_inspect.store.variants import load_given_variants, variant_counts

    data, dataset, task = request.data, request.dataset, request.task

    def work(token: CancelToken) -> tuple[list[Any], list[Any]]:
        with Database(cache_folder() / "spilled") as database, database_errors_told():
            cursor = database.cursor()
            token.watch(cursor)
            create_tables(cursor)
            collections = Collections(cursor, find_sources(data))
            slug = normalised_task(task) if task else None
            known = [key for key in collections.known() if _is_meant(key[0], data, dataset)]
            tasks = [key for key in known if slug in (None, key[1])]
            if not tasks:
                names = ", ".join(dict.fromkeys(name for _, name in known)) or "nothing"
                wanted = "/".join(filter(None, (dataset, task))) or "any task"
                raise UsageError(f"no data for {wanted}.", f"At hand: {names}. Give --data DIR.")
            for number, key in enumerate(tasks):
                listener(Progress(number, len(tasks), f"reading {'/'.join(key)}"))
                collections.load(key)
            findings = load_given_variants(
                cursor, collections, variants, tasks, task, complete=len(tasks) == len(known)
            )
            return variant_counts(cursor, collections, tasks), [*collections.findings, *findings]

    with progress_line() as listener:
        counts, findings = interruptible(work)
    rows = count_rows(counts)
    if as_json:
        print_json({"variants": [dict(zip(COUNTS, row, strict=True)) for row in rows]})
    elif as_csv:
        print_csv(COUNTS, rows)
    elif rows:
        print_table(COUNTS, ([str(cell) for cell in row] for row in rows), right=COUNTS[3:])
    else:
        click.echo("No variants besides the original. Files of rewrites: --variant NAME=FILE.", err=True)
    sys.stdout.flush()
    return report_findings(findings, strict)


def _is_meant(dataset: str, data: Path | None, wanted: str | None) -> bool:
    """Whether a dataset is the one that was named; without a name, not the demo beside data that was, and none over
    long documents, whose queries are the same."""
    if wanted is not None:
        return dataset == wanted
    return not (dataset.endswith(LONG_SUFFIX) or (dataset.startswith("demo") and data is not None))

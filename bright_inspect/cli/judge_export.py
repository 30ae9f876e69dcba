"""``bright-inspect judge export``: decisions as TREC qrels, JSON Lines or CSV."""

from __future__ import annotations

import io
import sys
from collections.abc import Iterable
from pathlib import Path

import click

from bright_inspect.cli.judge_options import (
    Part,
    data_option,
    journals_option,
    opened_data,
    part_options,
    read_journals,
)
from bright_inspect.cli.output import report_findings
from bright_inspect.errors import BrightInspectError, UsageError
from bright_inspect.judging.decisions import Decision, encode_line
from bright_inspect.judging.history import alive, current, votes_of
from bright_inspect.judging.tables import write_csv

_Row = tuple[str, str, int]
"""(query_id, doc_id, relevance)"""


@click.command("export")
@journals_option
@click.option(
    "--format",
    "wanted",
    type=click.Choice(("jsonl", "csv", "trec")),
    default="jsonl",
    show_default=True,
    help="jsonl, csv: every line with all it says; trec: qrels of one task.",
)
@click.option(
    "--layer",
    metavar="NAME",
    help="Of trec: only:LAYER writes the decisions alone, LAYER the data's judgments with them merged in. "
    "Default: the grades of the one annotator, alone.",
)
@click.option(
    "--current",
    "only_current",
    is_flag=True,
    help="Of jsonl and csv: leave out undos, what was taken back, and judgments that later ones replace.",
)
@click.option("--out", type=click.Path(path_type=Path), metavar="FILE", help="Default: stdout.")
@part_options
@data_option
def command(
    journals: tuple[Path, ...],
    wanted: str,
    layer: str | None,
    only_current: bool,
    out: Path | None,
    part: Part,
    data: Path | None,
) -> int:
    """Write decisions so that others can use them; judge import reads each of these back.

    Merging needs the task's judgments: from --data, BRIGHT_INSPECT_DATA or the Hugging Face cache.
    """
    if layer is not None and wanted != "trec":
        raise UsageError(f"--layer goes with --format trec, not with {wanted}.", "Leave it out.")
    if only_current and wanted == "trec":
        raise UsageError("--current goes with --format jsonl and csv.", "trec has what is current anyway.")
    if out is not None and out.exists():
        raise UsageError(f"{out}: there already.", "Name another --out, or remove it.")
    log = read_journals(journals)
    decisions = part.of(log.decisions)
    if only_current:
        decisions = _current_lines(decisions)
    if wanted == "jsonl":
        content = b"".join(map(encode_line, decisions))
    elif wanted == "csv":
        text = io.StringIO()
        write_csv(text, decisions)
        content = text.getvalue().encode("utf-8", "surrogatepass")
    else:
        content = _qrels(_task_of(decisions, part), decisions, layer, data)
    _write(content, out)
    return report_findings(log.findings, strict=False)


def _write(content: bytes, out: Path | None) -> None:
    if out is None:
        sys.stdout.buffer.write(content)
        sys.stdout.flush()
        return
    try:
        with out.open("xb") as file:
            file.write(content)
    except OSError as error:
        raise BrightInspectError(f"{out}: cannot be written ({error.strerror or error}).") from None


def _current_lines(decisions: list[Decision]) -> list[Decision]:
    """What counts: each annotator's last judgment of a pair, and notes, tags and skips that were not taken back."""
    judged = {line.id for said in current(decisions).values() for line in said.values()}
    return [line for line in alive(decisions) if line.kind != "judgment" or line.id in judged]


def _task_of(decisions: Iterable[Decision], part: Part) -> tuple[str, str]:
    tasks = dict.fromkeys((line.dataset, line.task) for line in decisions if line.kind == "judgment")
    if len(tasks) == 1:
        return next(iter(tasks))
    if part.dataset is not None and part.task is not None:
        return part.dataset, part.task
    named = ", ".join("/".join(task) for task in tasks) or "none"
    raise UsageError(f"qrels are of one task, the decisions are of {len(tasks)}: {named}.", "Say --dataset and --task.")


def _qrels(task: tuple[str, str], decisions: list[Decision], layer: str | None, data: Path | None) -> bytes:
    """The qrels of a layer, ordered by query and document as the data has them or as they were decided."""
    from bright_inspect.judging.layers import DecisionLayers
    from bright_inspect.store.lists import check_trec_ids

    made = DecisionLayers(decisions)
    if layer is None:
        if len(made.annotators) != 1:
            named = ", ".join(made.annotators) or "nobody"
            raise UsageError(f"qrels are of one judge, the decisions are of: {named}.",
                             "Say --annotator, or a --layer: only:majority, majority ...")  # fmt: skip
        layer = f"only:graded:mine:{made.annotators[0]}"
    overlay = made.overlay(task, layer)
    if overlay is None:
        names = ", ".join(made.names(task))
        raise UsageError(
            f"no layer is called {layer!r}.", f"There are: {names}, each also as only:LAYER, graded:LAYER."
        )
    if overlay.alone:
        rows: list[_Row] = [(*pair, relevance) for pair, relevance in overlay.judgments.items()]
    else:
        with opened_data(data, made) as (cursor, collections):
            if collections.find(task[1], task[0]) is None or collections.source(task) is None:
                raise UsageError(f"no judgments of {'/'.join(task)} at hand to merge with.",
                                 f"Give --data DIR, or write the decisions alone: --layer only:{layer}.")  # fmt: skip
            collections.load(task)
            collections.offer(cursor, layer)
            rows = cursor.execute(
                """SELECT query_id, doc_id, relevance FROM all_qrels LEFT JOIN (
                       SELECT query_id, min(position) AS position FROM queries
                       WHERE dataset = $dataset AND task = $task GROUP BY query_id) USING (query_id)
                   WHERE dataset = $dataset AND task = $task AND layer = $layer
                   ORDER BY position NULLS LAST, query_id, doc_id""",
                {"dataset": task[0], "task": task[1], "layer": layer},
            ).fetchall()
    unsure = len(current(line for line in decisions if line.query[:2] == task)) - len(
        [pair for pair in votes_of(decisions) if pair[:2] == task]
    )
    if unsure:
        click.echo(f"left out: {unsure} pair(s) of which nobody is sure; qrels have no word for that.", err=True)
    for query_id, doc_id, _ in rows:
        check_trec_ids(query_id, [doc_id], "Export as jsonl or csv.")
    lines = (f"{query_id} 0 {doc_id} {relevance}\n" for query_id, doc_id, relevance in rows)
    return "".join(lines).encode("utf-8", "surrogatepass")

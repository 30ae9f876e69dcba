"""``bright-inspect judge set``: decisions into the journal, each acknowledged once it is on disk."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from bright_inspect.cli.judge_options import data_option, journal_option, opened_hashes, with_hashes
from bright_inspect.domain.names import normalised_task
from bright_inspect.errors import UsageError
from bright_inspect.judging.decisions import BadDecision, Decision, parse_fields, relevance_of
from bright_inspect.judging.journal import Journal


@click.command("set")
@click.option("--dataset", metavar="NAME", help="The dataset: bright, bright-long, demo ...")
@click.option("--task", metavar="TASK")
@click.option("--query", metavar="ID", help="The query judged for.")
@click.option("--doc", metavar="ID", help="The document judged.")
@click.option("--relevance", metavar="N", help="0 not relevant, 1 relevant, 2 and more by grade, x unsure.")
@click.option("--annotator", metavar="NAME", help="Who decides.")
@click.option("--note", metavar="TEXT")
@click.option("--why", metavar="TEXT", help="Why the document helps.")
@journal_option
@data_option
def command(
    query: str | None,
    doc: str | None,
    relevance: str | None,
    journal: Path,
    data: Path | None,
    **given: str | None,
) -> int:
    """Keep one decision, or without --query those on stdin, JSON Lines of dataset, task, query_id, doc_id, relevance
    (null: unsure) and annotator; options stand for fields that a line lacks.

    stdout has {"ok": N} for each decision once it is on disk, or {"error": ..., "line": N}; N is the line of the input.
    Bad lines cost exit code 2 at the end, not the good ones. With --data, hashes of the texts are kept as well, and
    queries that are not there are refused.
    """
    defaults = {name: value for name, value in given.items() if value is not None}
    single = query is not None or doc is not None
    try:
        if relevance is not None:
            defaults["relevance"] = relevance_of(relevance)  # type: ignore[assignment]
    except BadDecision as error:
        raise UsageError(f"--relevance: {error}.") from None
    if single:
        missing = [
            f"--{name}"
            for name, value in {"query": query, "doc": doc, "relevance": relevance, **given}.items()
            if value is None and name not in ("note", "why")
        ]
        if missing:
            raise UsageError(f"no {', '.join(missing)}.", "Or give none of --query and --doc, and lines on stdin.")
        told: Iterator[tuple[int, object]] = iter([(1, {"query_id": query, "doc_id": doc})])
    else:
        if sys.stdin.isatty():
            raise UsageError("no --query and --doc, and nothing on stdin.", "Name them, or pipe JSON Lines in.")
        told = _lines()
    kept, bad = Journal(journal), 0
    with opened_hashes(data) as hashes:
        for number, fields in told:
            try:
                decision = with_hashes(_decision(fields, defaults), hashes)
            except BadDecision as error:
                bad += 1
                _answer({"error": str(error), "line": number})
                continue
            kept.append(decision)
            _answer({"ok": number})
    return 2 if bad else 0


def _lines() -> Iterator[tuple[int, object]]:
    """Numbered lines of stdin, read as JSON if they are; blank ones are passed over."""
    for number, line in enumerate(sys.stdin.buffer, 1):
        if line.strip():
            try:
                yield number, json.loads(line)
            except (ValueError, RecursionError):
                yield number, BadDecision("a line that is no JSON")


def _decision(fields: object, defaults: dict[str, Any]) -> Decision:
    if isinstance(fields, BadDecision):
        raise fields
    if isinstance(fields, dict) and isinstance(fields.get("task"), str):
        fields = {**fields, "task": normalised_task(fields["task"])}
    defaults = {**defaults, **({"task": normalised_task(defaults["task"])} if "task" in defaults else {})}
    return parse_fields(fields, defaults=defaults, new=True)


def _answer(answer: dict[str, object]) -> None:
    # A program on the other end of a pipe waits for it.
    sys.stdout.write(json.dumps(answer) + "\n")
    sys.stdout.flush()

"""``bright-inspect judge import``: judgments of others into the journal."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import click

from bright_inspect.cli.judge_options import data_option, journal_option, opened_hashes, with_hashes
from bright_inspect.cli.output import report_findings
from bright_inspect.domain.findings import Finding
from bright_inspect.domain.names import BRIGHT_TASKS, describe_path, normalised_task
from bright_inspect.errors import UnreadableInput
from bright_inspect.judging.decisions import BadDecision, Decision, parse_fields
from bright_inspect.judging.history import Log, current
from bright_inspect.judging.journal import Journal
from bright_inspect.judging.tables import read_csv

#: Bad lines that get a finding of their own.
_MOST_TOLD = 20


@dataclass(slots=True)
class _Taken:
    """What one file holds: decisions and whether their lines had an id, and lines that are none."""

    decisions: list[tuple[Decision, bool]] = field(default_factory=list)
    bad: list[tuple[int, str]] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)


@click.command("import")
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="FILE...")
@click.option(
    "--format",
    "wanted",
    type=click.Choice(("jsonl", "csv", "qrels")),
    help="Read the files as this, whatever they look like.",
)
@click.option("--annotator", metavar="NAME", help="Who judged, where the file does not say; a model's name for labels.")
@click.option("--task", metavar="TASK", help="The task, where file and file name do not say.")
@click.option("--dataset", metavar="NAME", help="The dataset, where the file does not say; bright for BRIGHT's tasks.")
@click.option("--strict", is_flag=True, help="Exit with 1 if there are findings.")
@journal_option
@data_option
def command(
    files: tuple[Path, ...],
    wanted: str | None,
    annotator: str | None,
    task: str | None,
    dataset: str | None,
    strict: bool,
    journal: Path,
    data: Path | None,
) -> int:
    """Take judgments into the journal: what judge export or another journal holds, JSON Lines or CSV with query_id,
    doc_id and relevance (and dataset, task, annotator, note, why ...), or qrels in any format that --qrels reads.

    Lines that the journal has already are left out, by their id or, where a file has no ids, by what they say.
    """
    taken: dict[Path, _Taken] = {}
    with opened_hashes(data) as hashes:
        for path in files:
            own = taken[path] = _Taken()
            defaults = _defaults(path, annotator, task, dataset)
            for number, fields in _rows(path, wanted, own):
                try:
                    if isinstance(fields, BadDecision):
                        raise fields
                    decision = with_hashes(_decision(fields, defaults), hashes)
                    own.decisions.append((decision, isinstance(fields, dict) and bool(fields.get("id"))))
                except BadDecision as error:
                    own.bad.append((number, str(error)))
            if not own.decisions:
                first = f" Line {own.bad[0][0]}: {own.bad[0][1]}." if own.bad else ""
                raise UnreadableInput(
                    f"{path}: no line is a judgment.{first}", "See bright-inspect judge import --help."
                )
    told = [decision for own in taken.values() for decision in own.decisions]
    new = _new(told, Log([journal]).decisions)
    Journal(journal).append(*new)
    click.echo(f"{journal}: {len(new)} line(s) added, {len(told) - len(new)} there already.", err=True)
    findings = [finding for path, own in taken.items() for finding in _findings(path, own)]
    return report_findings(findings, strict)


def _new(told: list[tuple[Decision, bool]], there: list[Decision]) -> list[Decision]:
    """Those that the journal lacks. One without an id says nothing new if its annotator's last word is the same."""
    ids = {line.id for line in there}
    said = {(pair, name): line for pair, by in current(there).items() for name, line in by.items()}
    new = []
    for line, has_id in told:
        if line.id in ids:
            continue
        ids.add(line.id)
        if not has_id and line.kind == "judgment":
            last = said.get((line.pair, line.annotator))
            if last is not None and (last.relevance, last.note, last.why) == (line.relevance, line.note, line.why):
                continue
            said[line.pair, line.annotator] = line
        new.append(line)
    return new


def _defaults(path: Path, annotator: str | None, task: str | None, dataset: str | None) -> dict[str, str]:
    task = normalised_task(task) if task else describe_path(path.name).task
    if dataset is None and task in BRIGHT_TASKS:
        dataset = "bright"
    return {
        name: value
        for name, value in (("annotator", annotator), ("task", task), ("dataset", dataset))
        if value is not None
    }


def _decision(fields: Mapping[str, Any] | object, defaults: Mapping[str, str]) -> Decision:
    if not isinstance(fields, dict):
        raise BadDecision("not a JSON object")
    if isinstance(fields.get("task"), str):
        fields = {**fields, "task": normalised_task(fields["task"])}
    return parse_fields(fields, defaults=defaults, new=True)


def _rows(path: Path, wanted: str | None, own: _Taken) -> Iterator[tuple[int, object]]:
    """The file's rows by line, as fields or as what is wrong with them."""
    try:
        wanted = wanted or _looks_like(path)
        if wanted == "qrels":
            yield from _qrels_rows(path, own)
        elif wanted == "csv":
            try:
                yield from read_csv(io.StringIO(_text_of(path), newline=""))
            except BadDecision as error:
                raise UnreadableInput(f"{path}: {error}.", "The header names the columns.") from None
        else:
            with path.open("rb") as lines:
                for number, line in enumerate(lines, 1):
                    if line.strip():
                        try:
                            yield number, json.loads(line.removeprefix(b"\xef\xbb\xbf"))
                        except (ValueError, RecursionError):
                            yield number, BadDecision("a line that is no JSON")
    except OSError as error:
        raise UnreadableInput(f"{path}: cannot be read ({error.strerror or error}).") from None


def _text_of(path: Path) -> str:
    """The file as text; bytes that are not UTF-8 become characters that no text has, so that they are told apart."""
    content = path.read_bytes()
    try:
        return content.decode("utf-8-sig", "surrogatepass")
    except UnicodeDecodeError:
        return content.decode("utf-8-sig", "surrogateescape")


def _looks_like(path: Path) -> str:
    """JSON Lines or CSV if the first line has our names, else some format of qrels."""
    with path.open("rb") as file:
        head = next((line for line in file if line.strip()), b"").removeprefix(b"\xef\xbb\xbf").strip()
    if head.startswith(b"{"):
        return "jsonl" if b'"query_id"' in head and b'"doc_id"' in head else "qrels"
    names = [name.strip().strip(b'"') for name in head.split(b",")]
    return "csv" if {b"query_id", b"doc_id", b"relevance"} <= set(names) else "qrels"


def _qrels_rows(path: Path, own: _Taken) -> Iterator[tuple[int, object]]:
    from bright_inspect.db import Database
    from bright_inspect.formats.qrels import read_qrels_into

    with Database() as database:
        cursor = database.cursor()
        read = read_qrels_into(cursor, path, "judged")
        own.findings += read.findings
        rows = cursor.execute("SELECT query_id, doc_id, relevance FROM judged").fetchall()
    below = [relevance for _, _, relevance in rows if relevance < 0]
    if below:
        message = f"{len(below)} relevance(s) below 0 are left out: they say neither relevant nor not."
        own.findings.append(Finding("negative-relevance", "warning", str(path), message, None, len(below)))
    for number, (query_id, doc_id, relevance) in enumerate(rows, 1):
        if relevance >= 0:
            yield number, {"query_id": query_id, "doc_id": doc_id, "relevance": relevance}


def _findings(path: Path, own: _Taken) -> list[Finding]:
    """The bad lines: the first ones one by one, the others together."""
    findings = [
        Finding("bad-judgment", "error", str(path), f"left out: {found}.", line) for line, found in own.bad[:_MOST_TOLD]
    ]
    if others := own.bad[_MOST_TOLD:]:
        message = f"{len(others)} more lines are left out."
        findings.append(Finding("bad-judgment", "error", str(path), message, others[0][0], len(others)))
    return [*own.findings, *findings]

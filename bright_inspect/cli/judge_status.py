"""``bright-inspect judge status``: how much is judged."""

from __future__ import annotations

import sys
from dataclasses import asdict, astuple, fields
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
from bright_inspect.cli.options import output_options
from bright_inspect.cli.output import finding_json, print_csv, print_json, print_table, report_findings, strict_code
from bright_inspect.domain.findings import Finding
from bright_inspect.judging.counts import Counts, count_decisions
from bright_inspect.judging.decisions import Decision


@click.command("status")
@journals_option
@part_options
@data_option
@output_options
def command(
    journals: tuple[Path, ...], part: Part, data: Path | None, as_json: bool, as_csv: bool, strict: bool
) -> int:
    """Count decisions by task and annotator, and tell damaged lines.

    With --data, also tell queries and documents whose text is another than the one that was judged.
    """
    log = read_journals(journals)
    decisions = part.of(log.decisions)
    findings = [*log.findings, *(_mismatches(decisions, data) if data is not None else [])]
    counts = count_decisions(decisions)
    header = [field.name for field in fields(Counts)]
    if as_json:
        print_json({"counts": [asdict(each) for each in counts], "findings": list(map(finding_json, findings))})
    elif as_csv:
        print_csv(header, map(astuple, counts))
    else:
        print_table([name.replace("_", " ") for name in header], ([str(cell) for cell in astuple(c)] for c in counts),
                    right=[name.replace("_", " ") for name in header[3:-1]])  # fmt: skip
    sys.stdout.flush()
    report_findings([] if as_json else findings, strict)
    return strict_code(findings, strict)


def _mismatches(decisions: list[Decision], data: Path) -> list[Finding]:
    from bright_inspect.judging.hashes import TextHashes, document_mismatches, query_mismatches

    findings = []
    with opened_data(data) as (cursor, collections):
        hashes = TextHashes(cursor, collections)
        for task in dict.fromkeys(line.query[:2] for line in decisions):
            hashes.queries(task)
            findings += query_mismatches(cursor, decisions, [task])
            if any(line.doc_sha256 for line in decisions if line.query[:2] == task):
                findings += document_mismatches(decisions, task, hashes.documents(task))
    return findings

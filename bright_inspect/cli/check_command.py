"""``bright-inspect check``: what was read from each file and what was odd about it."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from bright_inspect.cli.options import opened, output_options, run_arguments, variant_files_option
from bright_inspect.cli.output import finding_json, print_csv, print_json, print_table, strict_code
from bright_inspect.domain.findings import Finding, changes, grouped
from bright_inspect.domain.names import parse_run_argument
from bright_inspect.store.inputs import Verdict, folder_verdicts
from bright_inspect.store.request import OpenRequest
from bright_inspect.store.summary import file_summaries


@click.command()
@run_arguments()
@variant_files_option
@output_options
def command(
    request: OpenRequest,
    variants: tuple[str, ...],
    as_json: bool,
    as_csv: bool,
    strict: bool,
) -> int:
    """Read runs, tell what they are taken for, and list every finding with its file and line, by what it changes.

    Of a folder, the files that are not read as runs are told too, with what they are.
    """
    from bright_inspect.cli.eval_command import add_scored_findings
    from bright_inspect.evaluation.defaults import default_measure

    with opened(replace(request, variants=variants)) as opening:
        session = opening.session
        add_scored_findings(session, [default_measure(dataset) for dataset, _ in session.tasks])
        findings = list(session.findings)
        others = [verdict for verdict in _folder_verdicts(request) if not verdict.used]
        if as_json:
            files = [
                {
                    "path": str(summary.path), "run": summary.run.label, "system": summary.run.name.system,
                    "variant": summary.run.name.variant, "dataset": summary.task[0], "task": summary.task[1],
                    "queries": summary.queries, "rows": summary.rows, "depth": list(summary.depth),
                }
                for summary in file_summaries(session)
            ]  # fmt: skip
            passed_over = [{"path": str(v.path), "what": v.what, "why": v.why} for v in others]
            found = [_finding_json(finding) for finding in findings]
            print_json({"files": files, "passed_over": passed_over, "findings": found})
        elif as_csv:
            header = ["code", "severity", "changes", "file", "line", "count", "message"]
            print_csv(header, ([_finding_json(finding)[name] for name in header] for finding in findings))
        else:
            rows = [
                [str(s.path), s.run.label, "/".join(s.task), str(s.queries), str(s.rows), "–".join(map(str, s.depth))]
                for s in file_summaries(session)
            ]
            print_table(["file", "run", "task", "queries", "rows", "depth"], rows, right=("queries", "rows", "depth"))
            click.echo()
            if others:
                click.echo(f"Passed over in the folders ({len(others)} files that are no runs):")
                print_table(["file", "what it is"], ([str(v.path), v.what] for v in others))
                click.echo()
            for group, of_group in grouped(findings):
                click.echo(f"Changes {group}:")
                table = [[f.severity, f.place, str(f.count), f.code, f.message] for f in of_group]
                print_table(["", "place", "count", "finding", "what was done"], table, right=("count",))
                click.echo()
            errors = sum(finding.severity == "error" for finding in findings)
            click.echo(f"{len(findings)} finding(s), {errors} of them errors." if findings else "No findings.")
        sys.stdout.flush()
        return strict_code(findings, strict)


def _finding_json(finding: Finding) -> dict[str, Any]:
    return {**finding_json(finding), "changes": changes(finding.code)}


def _folder_verdicts(request: OpenRequest) -> list[Verdict]:
    """What each file is taken for in the folders that were named."""
    verdicts: dict[Path, Verdict] = {}
    for argument in request.runs:
        folder = Path(argument if Path(argument).exists() else parse_run_argument(argument)[1]).expanduser()
        if folder.is_dir():
            verdicts.update((verdict.path, verdict) for verdict in folder_verdicts(folder))
    return list(verdicts.values())

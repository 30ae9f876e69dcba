"""``bright-inspect verify``: reported values against recomputed ones, and what explains each difference."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import click

from bright_inspect.cli.options import opened, output_options, progress_line, run_arguments
from bright_inspect.cli.output import finding_json, print_csv, print_json, print_table, report_findings, strict_code
from bright_inspect.domain.findings import Finding
from bright_inspect.domain.visible import visible
from bright_inspect.errors import UnreadableInput, UsageError
from bright_inspect.store.progress import Progress
from bright_inspect.store.request import OpenRequest

if TYPE_CHECKING:
    from bright_inspect.evaluation.verify import Verified
    from bright_inspect.formats.reported import ReportedValue
    from bright_inspect.store.session import Session

_BESIDE = ("results.json", "metrics.json")


class _TakesSeveral(click.Command):
    """Lets ``--against`` take every argument up to the next option."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        spread: list[str] = []
        against = False
        for argument in args:
            if argument == "--against":
                against = True
            elif argument.startswith("-") and argument != "-":
                against = False
                spread.append(argument)
            else:
                spread += [f"--against={argument}"] if against else [argument]
        return super().parse_args(ctx, spread)


@click.command(cls=_TakesSeveral)
@run_arguments()
@click.option(
    "--against",
    multiple=True,
    type=click.Path(path_type=Path),
    metavar="REPORTED...",
    help="Files of reported values, or folders of them: BRIGHT's results.json, MTEB's and BEIR's result "
    "files, a table with the columns run, task, measure, value, or what trec_eval printed. Without it, "
    "the results.json beside each run.",
)
@click.option("--all", "show_all", is_flag=True, help="Also print the values that are equal.")
@output_options
def command(
    request: OpenRequest, against: tuple[Path, ...], show_all: bool, as_json: bool, as_csv: bool, strict: bool
) -> int:  # fmt: skip
    """Recompute reported values and compare: for each difference beyond rounding, the rule or layer that explains it.

    Name the runs first, then --against and the reported files.
    """
    from bright_inspect.evaluation.verify import Verifier

    with opened(request) as opening:
        session = opening.session
        values, findings = _reported(session, against)
        verifier = Verifier(session, session.cursor)
        with progress_line() as listener:
            verified = []
            for number, value in enumerate(values):
                listener(Progress(number, len(values), f"comparing {value.measure} of {value.file}"))
                verified.append(verifier.verify(value))
        header = ("run", "task", "query_id", "measure", "recomputed", "reported", "difference", "verdict", "reason",
                  "file", "place")  # fmt: skip
        rows = [_row(each) for each in verified]
        if as_json:
            found = [finding_json(finding) for finding in (*session.findings, *findings)]
            print_json({"values": [dict(zip(header, row, strict=True)) for row in rows], "findings": found})
        elif as_csv:
            print_csv(header, rows)
        else:
            _print(verified, show_all)
        sys.stdout.flush()
        if not as_json:
            report_findings([*session.findings, *findings], strict)
        different = any(each.verdict != "equal" for each in verified)
        return int(strict and different) or strict_code([*session.findings, *findings], strict)


def _reported(session: Session, against: tuple[Path, ...]) -> tuple[list[ReportedValue], list[Finding]]:
    """The values of the named files, or of those beside the runs.

    Raises:
        UsageError: none was named and there is none.
        UnreadableInput: a named file holds none, or no file of a named folder does.
    """
    from bright_inspect.formats.reported import read_reported

    values: list[ReportedValue] = []
    findings: list[Finding] = []
    own = {file.path.absolute() for run in session.runs for file in run.files}
    if not against:
        folders = dict.fromkeys(file.path.parent for run in session.runs for file in run.files)
        against = tuple(path for folder in folders for name in _BESIDE if (path := folder / name).is_file())
        if not against:
            raise UsageError(
                "no reported values: no results.json lies beside the runs.", "Name files: --against REPORTED..."
            )
    for path in against:
        if not path.is_dir():
            read = read_reported(path)
            values += read.values
            findings += read.findings
            continue
        before, skipped = len(values), 0
        for file in sorted(path.rglob("*")):
            if not file.is_file() or file.name.startswith(".") or file.absolute() in own:
                continue
            try:
                read = read_reported(file)
            except UnreadableInput:
                skipped += 1
                continue
            values += read.values
            findings += read.findings
        if len(values) == before:
            raise UnreadableInput(f"{path}: no file in it holds reported values.", "Name the files themselves.")
        if skipped:
            message = f"{skipped} file(s) in it hold no reported values and were passed over."
            findings.append(Finding("not-reported-values", "warning", str(path), message, None, skipped))
    return values, findings


def _row(each: Verified) -> list[object]:
    run = each.run.label if each.run else each.reported.run
    named = "/".join(filter(None, (each.reported.dataset, each.reported.task)))
    task = "/".join(each.task) if each.task else named or None
    reported = each.reported
    return [run, task, reported.query_id, str(reported.measure), each.recomputed, reported.value, each.difference,
            each.verdict, each.reason, reported.file, reported.place]  # fmt: skip


def _print(verified: list[Verified], show_all: bool) -> None:
    compared = [each for each in verified if each.verdict != "not compared"]
    shown = [each for each in compared if show_all or each.verdict != "equal" or each.reason]
    if shown:
        table = []
        for each in shown:
            digits = max(4, each.reported.decimals)
            run, task, query_id, measure, *_ = _row(each)
            difference = "–" if each.difference is None else f"{each.difference:+.{digits}f}".replace("-", "−")
            recomputed = "–" if each.recomputed is None else f"{each.recomputed:.{digits}f}"
            reported = f"{each.reported.value:.{each.reported.decimals}f}"
            table.append([str(run or "?"), str(task or "?"), str(query_id or ""), str(measure), recomputed, reported,
                          difference, f"{each.verdict}: {each.reason}" if each.reason else each.verdict])  # fmt: skip
        header = ["run", "task", "query", "measure", "recomputed", "reported", "difference", "what explains it"]
        kept = [index for index in range(len(header)) if index != 2 or any(row[2] for row in table)]
        print_table(
            [header[index] for index in kept],
            ([row[index] for index in kept] for row in table),
            right=("recomputed", "reported", "difference"),
        )
        click.echo()
    others = Counter((each.reported.file, each.reason) for each in verified if each.verdict == "not compared")
    for (file, reason), count in others.items():
        click.echo(visible(f"not compared: {count} values of {file}: {reason}"))
    if others:
        click.echo()
    counts = {verdict: sum(each.verdict == verdict for each in verified) for verdict in
              ("equal", "explained", "unexplained", "not compared")}  # fmt: skip
    words = {"equal": "equal to the last digit given", "explained": "with a difference that is explained",
             "unexplained": "with one that nothing tried explains", "not compared": "not compared"}  # fmt: skip
    told = ", ".join(f"{count} {words[verdict]}" for verdict, count in counts.items() if count)
    click.echo(f"{len(verified)} reported values: {told}.")

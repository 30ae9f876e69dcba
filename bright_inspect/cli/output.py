"""Printing: data on stdout as a table, JSON or CSV; talk on stderr."""

from __future__ import annotations

import csv
import json
import sys
from collections.abc import Iterable, Sequence
from typing import Any

import click

from bright_inspect.domain.findings import Finding
from bright_inspect.domain.visible import visible
from bright_inspect.presentation.cells import Cell


def print_json(value: object) -> None:
    click.echo(json.dumps(value, ensure_ascii=False, indent=1))


def print_csv(header: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(header)
    writer.writerows([["" if value is None else value for value in row] for row in rows])


def print_table(header: Sequence[str], rows: Iterable[Sequence[str]], right: Sequence[str] = ()) -> None:
    """An aligned table; columns named in ``right`` are right-aligned. Cells are plain text, made visible."""
    from rich.cells import cell_len

    table = [list(header), *([visible(cell) for cell in row] for row in rows)]
    widths = [max(cell_len(row[column]) for row in table) for column in range(len(header))]
    for row in table:
        cells = []
        for name, cell, width in zip(header, row, widths, strict=True):
            padding = " " * (width - cell_len(cell))
            cells.append(padding + cell if name in right else cell + padding)
        click.echo("  ".join(cells).rstrip())


def finding_json(finding: Finding) -> dict[str, Any]:
    return {
        "code": finding.code,
        "severity": finding.severity,
        "file": finding.file,
        "line": finding.line,
        "count": finding.count,
        "message": finding.message,
    }


def report_findings(findings: Sequence[Finding], strict: bool) -> int:
    """Tell the findings on stderr; the exit code they ask for."""
    for finding in findings:
        click.echo(f"{finding.severity}: {visible(f'{finding.place}: {finding.message}')}", err=True)
    return strict_code(findings, strict)


def strict_code(findings: Sequence[Finding], strict: bool) -> int:
    """The exit code that findings ask for under ``--strict``; notes ask for none."""
    return int(strict and any(finding.severity != "note" for finding in findings))


def print_cells(cell: Cell) -> None:
    """One line of text without its styles."""
    click.echo(visible("".join(span.text for span in cell)).rstrip())

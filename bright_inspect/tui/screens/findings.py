"""Findings: what was odd in the files, by what it changes; below, the one under the cursor and its lines."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, cast

from textual import on
from textual.app import ComposeResult
from textual.containers import Vertical

from bright_inspect.domain.findings import Finding, grouped
from bright_inspect.errors import BrightInspectError
from bright_inspect.formats.excerpt import lines_around
from bright_inspect.presentation.cells import Cell, Span, TableRow
from bright_inspect.presentation.findings import (
    counted,
    excerpt_lines,
    finding_columns,
    finding_in_full,
    finding_rows,
    group_in_full,
    no_excerpt,
)
from bright_inspect.store.progress import Cancelled, CancelToken
from bright_inspect.tui.screens.dialog import Dialog
from bright_inspect.tui.widgets.line import CellLine
from bright_inspect.tui.widgets.reader import TextReader
from bright_inspect.tui.widgets.table import LineTable

if TYPE_CHECKING:
    from bright_inspect.tui.app import BrightInspect

_LANE = "excerpt"
_Excerpt = list[tuple[int, str]] | str
"""Lines with their numbers, or why there are none."""


class FindingsScreen(Dialog[None]):
    """The session's findings."""

    def __init__(self) -> None:
        super().__init__()
        self._rows: list[tuple[TableRow, Finding | None]] = []

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog whole"):
            yield CellLine(id="findings-title")
            yield LineTable(id="finding-list", empty_message="no findings: the files are as they should be")
            yield TextReader(id="finding")

    def on_mount(self) -> None:
        findings = self._program.desk.session.findings
        title = (Span("Findings", "strong"), Span(f" · {counted(findings)}" if findings else "", "dim"))
        for table in self.query(LineTable):  # none is left if a fast key closed the dialog already
            keys = (Span("Tab text · Esc closes" if findings else "Esc closes", "dim"),)
            self.query_one("#findings-title", CellLine).set_cells(title, keys)
            self._rows = finding_rows(findings)
            table.set_rows(finding_columns(self.app.size.width), [row for row, _ in self._rows], cursor=1)
            table.focus()

    @property
    def _program(self) -> BrightInspect:
        return cast("BrightInspect", self.app)

    @on(LineTable.RowHighlighted)
    def show_finding(self, message: LineTable.RowHighlighted) -> None:
        """Show the finding in full; the lines of its file are read meanwhile."""
        if self.app.screen is not self:
            return
        runner = self._program.runner
        runner.cancel(_LANE)
        finding = self._rows[message.index][1]
        if finding is None:
            group, of_group = grouped(self._program.desk.session.findings)[self._group_of(message.index)]
            self._read(group_in_full(of_group, group))
            return
        if finding.line is None:
            self._read([*finding_in_full(finding), (), (Span(no_excerpt(finding), "dim"),)])
            return
        self._read(finding_in_full(finding))
        around = 3 if self.size.height >= 30 else 2
        work = partial(_excerpt, Path(finding.file), finding.line, around)
        runner.start(_LANE, work, partial(self._show_lines, finding))

    def _group_of(self, index: int) -> int:
        return sum(finding is None for _, finding in self._rows[:index])

    def _show_lines(self, finding: Finding, excerpt: _Excerpt) -> None:
        if self.app.screen is not self:
            return
        lines: list[Cell] = (
            [(Span(excerpt, "warning"),)]
            if isinstance(excerpt, str)
            else excerpt_lines(finding, excerpt, self.query_one(TextReader).size.width - 3)
        )
        self._read([*finding_in_full(finding), (), *lines])

    def _read(self, lines: list[Cell]) -> None:
        self.query_one(TextReader).set_lines(lines)

    def action_close(self) -> None:
        """Leave, and stop reading."""
        self._program.runner.cancel(_LANE)
        super().action_close()


def _excerpt(path: Path, line: int, around: int, token: CancelToken) -> _Excerpt:
    try:
        return lines_around(path, line, around, token.check) or f"{path}: has no line {line} any more."
    except Cancelled:
        raise
    except BrightInspectError as error:
        return str(error)

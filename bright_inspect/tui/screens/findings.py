"""Findings: what was odd in the files, and what was done about it."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from textual.app import ComposeResult
from textual.containers import Vertical

from bright_inspect.presentation.cells import Cell, Span
from bright_inspect.tui.screens.dialog import Dialog
from bright_inspect.tui.widgets.line import CellLine
from bright_inspect.tui.widgets.reader import TextReader

if TYPE_CHECKING:
    from bright_inspect.tui.app import BrightInspect


class FindingsScreen(Dialog[None]):
    """The session's findings, one after the other."""

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog"):
            yield CellLine((Span("Findings", "strong"),), (Span("Esc closes · ↑ ↓ scrolls", "dim"),))
            yield TextReader(id="findings", empty_message="no findings: the files are as they should be")

    def on_mount(self) -> None:
        lines: list[Cell] = []
        for finding in cast("BrightInspect", self.app).desk.session.findings:
            lines += [(Span(f"{finding.severity} ", finding.severity), Span(finding.place, "strong"))]
            lines += [(Span(f"  {finding.message}"),), ()]
        for reader in self.query(TextReader):  # none is left if a fast key closed the dialog already
            reader.set_lines(lines)
            reader.focus()

"""Audit: where one value comes from, rank by rank, and what other tools make of the same lists."""

from __future__ import annotations

from collections.abc import Sequence

from textual import on
from textual.app import ComposeResult
from textual.containers import Vertical

from bright_inspect.domain.rankings import QueryKey
from bright_inspect.evaluation.audit import Audit
from bright_inspect.evaluation.scores import ExclusionEffect, TaskScores
from bright_inspect.evaluation.task_audit import TaskAudit
from bright_inspect.presentation.audit import AuditSection, facts, headline, sections
from bright_inspect.presentation.cells import Cell, Span
from bright_inspect.presentation.task_audit import task_convention_section, task_facts, task_headline
from bright_inspect.tui import keymap
from bright_inspect.tui.screens.base import SLOW_SECONDS, AuditTarget, DeskScreen
from bright_inspect.tui.widgets.key_line import KeyLine
from bright_inspect.tui.widgets.line import CellLine
from bright_inspect.tui.widgets.reader import TextReader
from bright_inspect.tui.widgets.table import LineTable

_MOST_FACTS = 8


class AuditScreen(DeskScreen):
    """Facts above, one table at a time, and the row under the cursor in full below it.

    Shows the compared run; ``o`` goes to the next one.
    """

    BINDINGS = keymap.bindings("audit")

    def __init__(self, target: AuditTarget, run_id: int) -> None:
        super().__init__()
        self._target, self._run_id = target, run_id
        self._sections: Sequence[AuditSection] = ()
        self._tab = 0

    def compose(self) -> ComposeResult:
        yield CellLine(id="top")
        yield CellLine(id="audit-value")
        with Vertical(id="audit-facts"):
            for _ in range(_MOST_FACTS):
                yield CellLine(classes="fact hidden")
        yield CellLine(id="audit-tabs")
        yield LineTable(id="audit-table", empty_message="taking the value apart …")
        yield TextReader(id="audit-detail")
        yield KeyLine("audit")

    def on_mount(self) -> None:
        super().on_mount()
        if self.ready:  # not if a fast key left the screen before it was built
            self.query_one(LineTable).focus()
            self._load()

    def desk_changed(self) -> None:
        self._load()

    def leave_level(self) -> bool:
        self.runner.cancel("audit")
        return False

    def action_next_run_here(self) -> None:
        """Take the next run's value apart."""
        ids = self._run_ids()
        self._run_id = ids[(ids.index(self._run_id) + 1) % len(ids)]
        self._load()

    def action_next_tab(self, step: int) -> None:
        """Another table."""
        if self._sections:
            self._tab = (self._tab + step) % len(self._sections)
            self._show_table()

    def _run_ids(self) -> list[int]:
        """The runs that cover what is audited."""
        target = self._target
        tasks = [(target.dataset, target.task)] if isinstance(target, QueryKey) else target
        return [run.run_id for run in self.desk.session.runs if set(tasks) <= set(run.tasks)]

    def _load(self) -> None:
        desk, run_id, target = self.desk, self._run_id, self._target
        self.query_one("#top", CellLine).set_cells(*self.top_cells())

        def done(shown: tuple[Cell, list[Cell], Sequence[AuditSection]]) -> None:
            if not self.left:
                self._show(*shown)

        if isinstance(target, QueryKey):
            self.runner.start("audit", lambda token: _of_query(desk.audit_query(run_id, target, token)), done)
        else:
            self.runner.start("audit", lambda token: _of_tasks(*desk.audit_tasks(run_id, target, token)), done)
        self.set_timer(SLOW_SECONDS, self._say_working)

    def _say_working(self) -> None:
        if self.runner.busy("audit") and self.ready:
            self.query_one("#audit-value", CellLine).set_cells((Span("taking the value apart …", "dim"),))

    def _show(self, value: Cell, lines: list[Cell], found: Sequence[AuditSection]) -> None:
        with self.app.batch_update():
            others = len(self._run_ids()) > 1
            hint = (Span("o another run · ← → tables", "dim"),) if others else (Span("← → tables", "dim"),)
            self.query_one("#audit-value", CellLine).set_cells(value, hint if len(found) > 1 or others else ())
            for index, line in enumerate(self.query(".fact").results(CellLine)):
                line.set_cells(lines[index] if index < len(lines) else ())
                line.set_class(index >= len(lines), "hidden")
            self._sections = found
            self._tab = min(self._tab, len(found) - 1)
            self._show_table()

    def _show_table(self) -> None:
        section = self._sections[self._tab]
        tabs: list[Span] = []
        for index, each in enumerate(self._sections):
            title = each.title[0].text.strip()
            chosen = index == self._tab
            tabs += [Span("│", "dim")] if tabs else []
            tabs.append(Span(f"[{title}]" if chosen else f" {title} ", "accent" if chosen else "dim"))
        self.query_one("#audit-tabs", CellLine).set_cells(tuple(tabs), section.title[1:])
        table = self.query_one(LineTable)
        table.empty_message = section.empty
        table.set_rows(section.columns, section.rows, cursor=table.cursor, keep_scroll=True)
        self._show_detail()

    @on(LineTable.RowHighlighted)
    def follow_cursor(self, message: LineTable.RowHighlighted) -> None:
        """The row under the cursor, in full."""
        self._show_detail()

    def _show_detail(self) -> None:
        row = self.query_one(LineTable).row
        lines: list[Cell] = []
        if row is not None and self._sections:
            section = self._sections[self._tab]
            for column, cell in zip(section.columns, row.cells, strict=True):
                if column.flex:
                    lines.append(cell)
            lines += section.details.get(row.key, ())
        self.query_one(TextReader).set_lines(lines)


def _of_query(audit: Audit) -> tuple[Cell, list[Cell], Sequence[AuditSection]]:
    return headline(audit), facts(audit), sections(audit)


def _of_tasks(
    audit: TaskAudit, scores: Sequence[TaskScores], effects: Sequence[ExclusionEffect | None]
) -> tuple[Cell, list[Cell], Sequence[AuditSection]]:
    return task_headline(audit), task_facts(audit, scores, effects), [task_convention_section(audit)]

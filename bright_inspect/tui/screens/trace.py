"""Trace: a long reasoning text by its outline, with parts to fold and words to search for."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence

from textual import on
from textual.app import ComposeResult
from textual.containers import Container
from textual.widgets import Input

from bright_inspect.domain.rankings import QueryKey
from bright_inspect.presentation.cells import Cell, Span
from bright_inspect.presentation.traces import (
    FoldedText,
    find_all,
    folded_text,
    group_ends,
    hidden_parts,
    outline_columns,
    outline_rows,
    trace_line,
)
from bright_inspect.rewriting.traces import TracePart, final_text, outline
from bright_inspect.tui import keymap
from bright_inspect.tui.screens.base import AuditTarget
from bright_inspect.tui.screens.copying import CopyingScreen
from bright_inspect.tui.widgets.key_line import KeyLine
from bright_inspect.tui.widgets.line import CellLine
from bright_inspect.tui.widgets.reader import TextReader
from bright_inspect.tui.widgets.table import LineTable

_WIDE = 100


class TraceScreen(CopyingScreen):
    """The outline beside the text, or above it where there is no room; the part under the cursor is at the top."""

    BINDINGS = keymap.bindings("trace")

    def __init__(self, key: QueryKey, traces: Sequence[tuple[str, str]], place: int = 0) -> None:
        """``traces`` are (name, text), at least one; ``place`` is which to read first."""
        super().__init__()
        self._key, self._traces = key, traces
        self._asked = self._place = place  # the text that is read next, and the one on screen
        self._parts: Sequence[TracePart] = ()
        self._folded: set[int] = set()
        self._read = FoldedText("", (), (), ())
        self._wanted = ""
        self._match = -1

    def compose(self) -> ComposeResult:
        yield CellLine(id="top")
        yield CellLine(id="trace-line")
        yield Input(id="filter", placeholder="words to find; Enter keeps, Esc closes", classes="hidden")
        with Container(id="trace-panes"):
            yield LineTable(id="trace-outline", empty_message="reading …")
            yield TextReader(id="trace-text", empty_message="the text is empty")
        yield KeyLine("trace")

    def on_mount(self) -> None:
        super().on_mount()
        if self.ready:
            table = self.query_one(LineTable)
            table.focus()
            # In the frame of the key, which a message would miss.
            self.watch(table, "cursor", self._read_part, init=False)
            self._open()

    def on_resize(self) -> None:
        if self.ready:
            self.set_class(self.size.width < _WIDE, "narrow")

    def leave_level(self) -> bool:
        """Esc first closes the search line, then forgets what was searched for."""
        line = self.query_one("#filter", Input)
        if line.has_focus:
            self._close_line()
            return True
        if self._wanted:
            line.value = ""
            self._search("")
            return True
        self.runner.cancel("trace")
        return False

    def audit_target(self) -> tuple[AuditTarget, int]:
        """The query's value in the compared run."""
        return self._key, self.desk.compared.run.run_id

    # --- the text ------------------------------------------------------------------------------------------------

    @property
    def _text(self) -> str:
        return self._traces[self._place][1]

    def _open(self) -> None:
        place = self._asked
        text = self._traces[place][1]

        def done(parts: Sequence[TracePart]) -> None:
            if self.left:
                return
            self._place, self._parts, self._folded, self._match = place, parts, set(), -1
            final = next((number for number, part in enumerate(parts) if part.role == "final"), 0)
            self._show(cursor=final)

        self.runner.start("trace", lambda token: outline(text), done)

    def action_next_trace(self) -> None:
        """Another text about the query."""
        self._asked = (self._asked + 1) % len(self._traces)
        self._open()

    def action_copy_final(self) -> None:
        """Copy the final text without what announces it, or the whole text where none is told apart."""
        final = final_text(self._text, self._parts)
        self.copy(self._text if final is None else final)

    def action_fold(self) -> None:
        """Fold the part under the cursor, with what is below it, or open it again."""
        row = self.query_one(LineTable).row
        if row is not None:
            self._folded ^= {int(row.key)}
            self._show(cursor=int(row.key))

    def action_fold_thoughts(self) -> None:
        """Fold everything but the final text; without one, all parts; and open all again."""
        row = self.query_one(LineTable).row
        at = int(row.key) if row is not None else 0
        if self._folded:
            self._folded = set()
        else:
            has_final = any(part.role == "final" for part in self._parts)
            inner = hidden_parts(self._parts, range(len(self._parts)))
            self._folded = {
                number
                for number, part in enumerate(self._parts)
                if number not in inner and not (has_final and part.role == "final")
            }
        self._show(cursor=at)

    @on(LineTable.RowChosen)
    def fold_chosen(self) -> None:
        """Enter folds."""
        self.action_fold()

    # --- searching -----------------------------------------------------------------------------------------------

    def action_search(self) -> None:
        """Search the text."""
        line = self.query_one("#filter", Input)
        line.remove_class("hidden")
        line.focus()

    @on(Input.Changed, "#filter")
    def search_while_typing(self, message: Input.Changed) -> None:
        """Light what is typed."""
        self._search(message.value)

    @on(Input.Submitted, "#filter")
    def accept_search(self, message: Input.Submitted) -> None:
        """Keep what was searched for."""
        self._close_line()

    def _close_line(self) -> None:
        self.query_one("#filter", Input).add_class("hidden")
        self.query_one(LineTable).focus()

    def _search(self, wanted: str) -> None:
        if wanted == self._wanted:
            return
        self._wanted, self._match = wanted, -1
        opened = self._folded_with(wanted) if self._folded else set()
        if opened:
            self._folded -= opened
            row = self.query_one(LineTable).row
            self._show(cursor=int(row.key) if row is not None else 0)
        else:
            self._build()
        self.action_next_match(1)

    def _folded_with(self, wanted: str) -> set[int]:
        """The folded parts in which what is searched for stands, or in what is below them."""
        starts = [part.start for part in self._parts]
        found = {bisect_right(starts, start) - 1 for start, _ in find_all(self._text, wanted)}
        ends = group_ends(self._parts)
        return {head for head in self._folded if not found.isdisjoint(range(head, ends[head]))}

    def action_next_match(self, step: int) -> None:
        """The next place of what was searched for."""
        matches = self._read.matches
        if not matches:
            if self._wanted:
                self._say((Span(f"“{self._wanted}” is not in this text", "warning"),))
            return
        self._match = (self._match + step) % len(matches) if self._match >= 0 or step < 0 else 0
        self.query_one(TextReader).scroll_to_offset(matches[self._match][0], lines_above=2)
        self._say((Span(f"“{self._wanted}” {self._match + 1} of {len(matches):,}", "accent"),))

    # --- what is shown -------------------------------------------------------------------------------------------

    def _show(self, *, cursor: int) -> None:
        """Show the outline with the cursor on a part, or on the one that hides it."""
        if not self.ready:
            return
        title: Cell = (Span("outline  ", "accent"), Span(f"{self._key.task} {self._key.query_id}", "strong"))
        self.query_one("#top", CellLine).set_cells(title)
        self._say()
        rows = outline_rows(self._parts, self._folded)
        numbers = [int(row.key) for row in rows]
        at = max((place for place, number in enumerate(numbers) if number <= cursor), default=0)
        with self.app.batch_update():
            self.query_one(LineTable).set_rows(outline_columns(), rows, cursor=at, keep_scroll=True)
            self._build()
            self._read_part()

    def _say(self, found: Cell = ()) -> None:
        key = self.program.key_shown("trace-next")
        name = self._traces[self._place][0]
        left, right = trace_line(name, self._parts, self._place, len(self._traces), key)
        self.query_one("#trace-line", CellLine).set_cells(left, found or right)

    def _build(self) -> None:
        self._read = folded_text(self._text, self._parts, self._folded, self._wanted)
        self.query_one(TextReader).set_text(self._read.text, spans=self._read.spans)

    def _read_part(self) -> None:
        row = self.query_one(LineTable).row
        if row is not None and self._read.places and self.focused is not self.query_one(TextReader):
            self.query_one(TextReader).scroll_to_offset(self._read.places[int(row.key)])

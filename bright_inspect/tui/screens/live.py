"""Live: the query at hand searched again, as edited, with its list beside a stored run's."""

from __future__ import annotations

from collections.abc import Sequence

from textual import on
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.widgets import TextArea

from bright_inspect.domain.names import ORIGINAL
from bright_inspect.domain.rankings import Ranking
from bright_inspect.evaluation.live import LiveResult, ranking_value
from bright_inspect.presentation.cells import Cell, Span
from bright_inspect.presentation.inspect import RankingRows, ranking_columns
from bright_inspect.presentation.live import result_note, stored_title
from bright_inspect.store.query_view import QueryView
from bright_inspect.tui import keymap
from bright_inspect.tui.screens.base import SLOW_SECONDS, DeskScreen
from bright_inspect.tui.widgets.key_line import KeyLine
from bright_inspect.tui.widgets.line import CellLine
from bright_inspect.tui.widgets.reader import TextReader
from bright_inspect.tui.widgets.table import LineTable

DEPTH = 100
_EDITED = "edited"


class LiveScreen(DeskScreen):
    """Edit the text, choose a retriever, run; the compared run's list stands beside the new one."""

    BINDINGS = keymap.bindings("live")

    def __init__(self, view: QueryView, retrievers: Sequence[str]) -> None:
        super().__init__()
        self._view, self._retrievers = view, retrievers
        self._retriever = 0
        self._variants = [(ORIGINAL, view.text or ""), *view.variants]
        self._variant = 0
        self._result: LiveResult | None = None
        self._at_hand: frozenset[str] = frozenset()
        self._restricted = False

    def compose(self) -> ComposeResult:
        yield CellLine(id="top")
        yield TextArea(self._variants[0][1], id="live-text", soft_wrap=True, tab_behavior="focus")
        yield CellLine(id="live-options")
        yield CellLine(id="live-note")
        with Horizontal(id="lists"):
            with Vertical(classes="pane"):
                yield CellLine(id="live-title", classes="pane-title")
                yield LineTable(id="live-list", empty_message="F5 searches the text above")
            with Vertical(classes="pane following"):
                yield CellLine(id="stored-title", classes="pane-title")
                yield LineTable(id="stored-list")
        yield TextReader(id="live-document", empty_message="the document under the cursor is read here")
        yield KeyLine("live")

    def on_mount(self) -> None:
        super().on_mount()
        if self.ready:
            self.query_one(TextArea).focus()
            self._show()

    def on_resize(self) -> None:
        if self.ready:
            self._show()

    def desk_changed(self) -> None:
        self._show()

    def leave_level(self) -> bool:
        """Esc first stops a search that is under way."""
        if self.runner.busy("live"):
            self.runner.cancel("live")
            self._show()
            return True
        self.runner.cancel("live-text")
        return False

    # --- what is asked -------------------------------------------------------------------------------------------

    @property
    def _text(self) -> str:
        return self.query_one(TextArea).text

    @property
    def _variant_name(self) -> str:
        name, text = self._variants[self._variant]
        return name if self._text == text else _EDITED

    def action_next_variant(self) -> None:
        """Put the next variant's text into the editor; edited text would be lost, so it is kept as a variant."""
        if self._variant_name == _EDITED:
            number = 1 + sum(name.startswith(_EDITED) for name, _ in self._variants)
            self._variants.append((f"{_EDITED} {number}", self._text))
            self._variant = 0
        else:
            self._variant = (self._variant + 1) % len(self._variants)
        self.query_one(TextArea).text = self._variants[self._variant][1]
        self._show()

    def action_next_retriever(self) -> None:
        """Choose the next retriever."""
        self._retriever = (self._retriever + 1) % len(self._retrievers)
        self._show()

    def action_restrict(self) -> None:
        """Restrict the stored run's list to the documents that were searched, and back."""
        if self._result is not None and self._result.partial:
            self._restricted = not self._restricted
            self._show()

    def action_search(self) -> None:
        """Search the text as it is now."""
        desk, view, text, name = self.desk, self._view, self._text, self._retrievers[self._retriever]
        if not text.strip():
            self.notify("There is no text to search.", markup=False)
            return

        def done(found: tuple[LiveResult, frozenset[str]]) -> None:
            if not self.left:
                self._result, self._at_hand = found
                self._show()
                self.query_one("#live-list", LineTable).focus()
                self._read()

        self.runner.start("live", lambda token: desk.search_live(view, name, text, DEPTH, self._tell, token), done)
        self.set_timer(SLOW_SECONDS, self._say_searching)

    def _tell(self, done: int, total: int, message: str) -> None:
        self.app.call_from_thread(self._say, f"{message} {done:,} of {total:,} · Esc stops")

    def _say(self, text: str) -> None:
        if self.ready and self.runner.busy("live"):
            self.query_one("#live-note", CellLine).set_cells((Span(text, "dim"),))

    def _say_searching(self) -> None:
        self._say(f"{self._retrievers[self._retriever]} searches … · Esc stops")

    # --- what is shown -------------------------------------------------------------------------------------------

    def _show(self) -> None:
        desk, compared, result = self.desk, self.desk.compared, self._result
        key = self._view.key
        title: Cell = (Span("live  ", "accent"), Span(f"{key.task} {key.query_id}", "strong"))
        self.query_one("#top", CellLine).set_cells(title, self.top_cells()[1])
        options = (
            Span("retriever ", "dim"), Span(self._retrievers[self._retriever], "strong"), Span(" F3 · text ", "dim"),
            Span(self._variant_name, "strong"), Span(f" F2 · {len(self._text):,} characters", "dim"),
        )  # fmt: skip
        self.query_one("#live-options", CellLine).set_cells(options, (Span("F5 searches · Tab to the lists", "dim"),))
        stored = self._view.rankings[compared.run.run_id]
        if stored is not None and self._restricted and result is not None:
            from bright_inspect.evaluation.live import restricted

            stored = restricted(stored, self._at_hand)
        comparable = result is not None and (not result.partial or self._restricted)
        width = self.size.width // 2
        if result is not None:
            self.query_one("#live-note", CellLine).set_cells(*result_note(result, self._restricted))
            name = f"{result.retriever} live"
            value = result.value
            self.query_one("#live-title", CellLine).set_cells(stored_title(name, "accent", desk.scored.measure, value))
            self._fill("#live-list", result.ranking, stored if comparable else None, width)
        stored_value = None if stored is None else ranking_value(stored, self._view, desk.scored.measure)
        run = compared.run
        note = f" among {len(self._at_hand):,} of its documents at hand" if self._restricted else ""
        line = stored_title(run.label, compared.style(run), desk.scored.measure, stored_value, note)
        self.query_one("#stored-title", CellLine).set_cells(line)
        self.query_one("#stored-list", LineTable).empty_message = f"{run.label} has no list for this query"
        self._fill("#stored-list", stored, None, width)

    def _fill(self, table_id: str, ranking: Ranking | None, against: Ranking | None, width: int) -> None:
        table = self.query_one(table_id, LineTable)
        columns = ranking_columns(against is not None, width)
        rows = RankingRows(self._view, ranking, against, columns) if ranking is not None else []
        table.set_rows(columns, rows, cursor=table.cursor, keep_scroll=True)

    @on(TextArea.Changed)
    def follow_text(self) -> None:
        """Say whether the text is still a variant's."""
        if self.ready:
            self._show()

    @on(LineTable.RowHighlighted)
    def follow_cursor(self, message: LineTable.RowHighlighted) -> None:
        """Read the document under the cursor."""
        if message.table.has_focus:
            self._read()

    def _read(self) -> None:
        table = self.focused if isinstance(self.focused, LineTable) else None
        row = table.row if table is not None else None
        if row is None:
            return
        desk, task, doc_id = self.desk, (self._view.key.dataset, self._view.key.task), row.key
        for other in self.query(LineTable):
            other.marked_keys = frozenset([doc_id])

        def done(text: str | None) -> None:
            if not self.left:
                self.query_one(TextReader).set_text(text if text is not None else f"{doc_id}: no text at hand")

        self.runner.start("live-text", lambda token: desk.text(task, doc_id, False, token), done)

"""Ablation: the query searched without each of its sentences in turn, the costliest to lose first."""

from __future__ import annotations

from textual import on
from textual.app import ComposeResult

from bright_inspect.evaluation.ablation import Ablation, costliest_first
from bright_inspect.evaluation.live import LiveRequest
from bright_inspect.presentation.ablation import ablation_columns, ablation_rows, ablation_title
from bright_inspect.presentation.cells import Span
from bright_inspect.store.query_view import QueryView
from bright_inspect.tui import keymap
from bright_inspect.tui.screens.base import DeskScreen
from bright_inspect.tui.screens.working import Working
from bright_inspect.tui.widgets.key_line import KeyLine
from bright_inspect.tui.widgets.line import CellLine
from bright_inspect.tui.widgets.reader import TextReader
from bright_inspect.tui.widgets.table import LineTable


class AblationScreen(DeskScreen):
    """The sentence under the cursor is lit in the query."""

    BINDINGS = keymap.bindings("ablation")

    def __init__(self, view: QueryView, request: LiveRequest) -> None:
        super().__init__()
        self._view, self._request = view, request
        self._ablation: Ablation | None = None
        self._working = Working(self, "ablation", "#ablation-summary")

    def compose(self) -> ComposeResult:
        yield CellLine(id="top")
        yield CellLine(id="ablation-summary")
        yield LineTable(id="ablation-table", empty_message="searching without each sentence …")
        yield TextReader(id="ablation-text")
        yield KeyLine("ablation")

    def on_mount(self) -> None:
        super().on_mount()
        if not self.ready:
            return
        key, request = self._view.key, self._request
        by = request.retriever + (f", reranked by {request.reranker}" if request.reranker else "")
        what = f"{key.task} {key.query_id}, {request.variant}, without each sentence"
        self.query_one("#top", CellLine).set_cells((Span(f"{by}  ", "accent"), Span(what)))
        self.query_one(TextReader).set_text(request.text)
        self.query_one(LineTable).focus()
        desk, view, measure = self.desk.live, self._view, self.desk.scored.measure

        def failed() -> None:
            if not self.left:
                self.dismiss()

        self._working.start(lambda tell, token: desk.ablate(view, request, measure, tell, token), self._done, failed)

    def leave_level(self) -> bool:
        self.runner.cancel("ablation")
        return False

    def _done(self, ablation: Ablation) -> None:
        if self.left:
            return
        self._ablation = ablation
        self.query_one("#ablation-summary", CellLine).set_cells(ablation_title(ablation))
        rows = ablation_rows(ablation, costliest_first(ablation.sentences))
        self.query_one(LineTable).set_rows(ablation_columns(ablation), rows)
        self._light()

    @on(LineTable.RowHighlighted)
    def follow_cursor(self, message: LineTable.RowHighlighted) -> None:
        """Light the row's sentence."""
        self._light()

    def _light(self) -> None:
        row = self.query_one(LineTable).row
        if self._ablation is None or row is None:
            return
        lost = next((each for each in self._ablation.sentences if str(each.start) == row.key), None)
        if lost is not None:
            self.query_one(TextReader).set_text(
                self._request.text, spans=[(lost.start, lost.end, "match")], scroll_to=lost.start
            )

"""Explain: why a retriever scores a document as it does, by term or by sentence, with the document below."""

from __future__ import annotations

from textual import on
from textual.app import ComposeResult

from bright_inspect.evaluation.explaining import Explanation
from bright_inspect.evaluation.live import LiveRequest
from bright_inspect.presentation.explaining import (
    explained_document,
    explanation_columns,
    explanation_rows,
    explanation_summary,
    explanation_title,
)
from bright_inspect.store.query_view import QueryView
from bright_inspect.tui import keymap
from bright_inspect.tui.screens.copying import CopyingScreen
from bright_inspect.tui.screens.working import Working
from bright_inspect.tui.widgets.key_line import KeyLine
from bright_inspect.tui.widgets.line import CellLine
from bright_inspect.tui.widgets.reader import TextReader
from bright_inspect.tui.widgets.table import LineTable


class ExplainScreen(CopyingScreen):
    """The row under the cursor is lit in the document."""

    BINDINGS = keymap.bindings("explain")

    def __init__(self, view: QueryView, request: LiveRequest, doc_id: str, listed: float | None = None) -> None:
        """``listed`` is the document's score in a live list."""
        super().__init__()
        self._view, self._request, self._doc_id, self._listed = view, request, doc_id, listed
        self._explanation: Explanation | None = None
        self._working = Working(self, "explain", "#explain-summary")

    def compose(self) -> ComposeResult:
        yield CellLine(id="top")
        yield CellLine(id="explain-summary")
        yield LineTable(id="explain-table", empty_message="no term of the query is known to the corpus")
        yield TextReader(id="explain-document", empty_message="no text at hand")
        yield KeyLine("explain")

    def on_mount(self) -> None:
        super().on_mount()
        if not self.ready:
            return
        self._show_title(self._request.retriever)
        self.query_one(LineTable).focus()
        desk, view, asked = self.desk.live, self._view, (self._request.retriever, self._request.text, self._doc_id)

        def failed() -> None:
            if not self.left:
                self.dismiss()

        self._working.start(lambda tell, token: desk.explain(view, *asked, tell, token), self._explained, failed)

    def on_resize(self) -> None:
        if self.ready:
            self._show()

    def leave_level(self) -> bool:
        self.runner.cancel("explain")
        return False

    @property
    def document(self) -> str | None:
        """The document's id."""
        return self._doc_id

    def _explained(self, explanation: Explanation) -> None:
        if not self.left:
            self._explanation = explanation
            self._show_title(explanation.retriever)
            self.query_one("#explain-summary", CellLine).set_cells(explanation_summary(explanation, self._listed))
            self._show()

    def _show_title(self, retriever: str) -> None:
        title = explanation_title(retriever, self._request.variant, self._doc_id)
        self.query_one("#top", CellLine).set_cells(title)

    def _show(self) -> None:
        if self._explanation is not None:
            columns = explanation_columns(self._explanation, self.size.width)
            table = self.query_one(LineTable)
            table.set_rows(columns, explanation_rows(self._explanation, columns), cursor=table.cursor, keep_scroll=True)
            self._light()

    @on(LineTable.RowHighlighted)
    def follow_cursor(self, message: LineTable.RowHighlighted) -> None:
        """Light the row's term or sentence."""
        self._light()

    def _light(self) -> None:
        row = self.query_one(LineTable).row
        if self._explanation is not None and self._explanation.document is not None:
            reading = explained_document(self._explanation, row.key if row is not None else None)
            self.query_one(TextReader).set_text(reading.text, spans=reading.spans, scroll_to=reading.scroll_to)

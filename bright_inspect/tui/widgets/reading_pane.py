"""The lower half of Inspect: tabs over one reader, and a line about the document at hand."""

from __future__ import annotations

from collections.abc import Mapping

from textual import events
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.message import Message

from bright_inspect.presentation.cells import Cell, Span
from bright_inspect.presentation.queries import Comparison
from bright_inspect.presentation.reading import (
    Reading,
    document_line,
    document_reading,
    golds_reading,
    query_reading,
    rank_reason_reading,
    reasoning_reading,
)
from bright_inspect.store.query_view import QueryView
from bright_inspect.tui.strips import cell_width
from bright_inspect.tui.widgets.line import CellLine
from bright_inspect.tui.widgets.reader import TextReader

TABS = ("Document", "Query", "Reasoning", "Gold")
#: A tab more where a run came with its reranker's own words.
REASON_TAB = "Rank reason"
_SEPARATOR = Span("│", "dim")


class ReadingPane(Vertical):
    """Shows one tab of what there is to read about a query."""

    class TabClicked(Message):
        """The user clicked a tab's title."""

        def __init__(self, tab: str) -> None:
            super().__init__()
            self.tab = tab

    def __init__(self, *, has_reasons: bool, id: str) -> None:  # noqa: A002  (Textual's name for it)
        super().__init__(id=id)
        self._tabs = (*TABS, REASON_TAB) if has_reasons else TABS
        self._tab = TABS[0]
        self._shown: object = None
        self._golds = 0

    def compose(self) -> ComposeResult:
        yield CellLine(id="tabs")
        yield CellLine(id="document-line", elide="middle")
        yield TextReader(id="reader")

    @property
    def tab(self) -> str:
        """The tab that is shown, one of TABS or REASON_TAB."""
        return self._tab

    @property
    def reader(self) -> TextReader:
        return self.query_one(TextReader)

    def choose_tab(self, tab: str) -> None:
        """Make a tab the one that ``show`` shows."""
        self._tab = tab

    def next_tab(self, step: int) -> None:
        """Choose the tab so many further, round and round."""
        self._tab = self._tabs[(self._tabs.index(self._tab) + step) % len(self._tabs)]

    def show(
        self,
        view: QueryView,
        compared: Comparison,
        texts: Mapping[str, str | None],
        doc_id: str | None,
        no_text: str,
    ) -> bool:
        """Show the chosen tab; ``no_text`` stands in for a document whose text is known not to be at hand (None).
        False if the document is not among ``texts`` at all and has to be asked for."""
        self._show_tabs(len(view.golds))
        text = texts.get(doc_id) if doc_id else None
        of_document = doc_id is not None and self._tab in ("Document", "Gold", REASON_TAB)
        name: Cell = ()
        facts: Cell = ()
        if of_document and doc_id:
            name, facts = document_line(view, compared, doc_id, text, self.size.width - 2)
        self.query_one("#document-line", CellLine).set_cells(name, facts)
        # The same again, after a resize or another baseline, must not lose the reader's place.
        shown = (view.key, view.golds, self._tab, doc_id, text, compared if self._tab == "Gold" else None)
        if shown == self._shown:
            return True
        self._shown = shown
        if self._tab == "Query":
            self.read(query_reading(view, compared))
        elif self._tab == "Reasoning":
            self.read(reasoning_reading(view))
        elif self._tab == REASON_TAB:
            self.read(rank_reason_reading(view, compared, doc_id))
        elif self._tab == "Gold":
            self.read(golds_reading(view, compared, texts, doc_id))
        elif text is not None:
            self.read(document_reading(view, text))
        elif doc_id is None:
            self.read(Reading(""), "no document: no run has a list for this query")
        elif doc_id in texts:
            self.read(Reading(""), no_text)
        else:
            self._shown = None
            return False
        return True

    def read(self, reading: Reading, empty: str = "the text is empty") -> None:
        """Show a reading; ``empty`` stands in for one without text."""
        reader = self.reader
        reader.empty_message = empty
        reader.set_text(reading.text, spans=reading.spans, scroll_to=reading.scroll_to)
        if reading.at_top and reading.scroll_to is not None:
            reader.scroll_to_offset(reading.scroll_to)

    def _titles(self, golds: int) -> list[str]:
        """The tabs' titles; the chosen one stands in brackets, so that it is seen without colour."""
        titles = [f"{tab} {golds}" if tab == "Gold" else tab for tab in self._tabs]
        return [
            f"[{title}]" if tab == self._tab else f" {title} " for tab, title in zip(self._tabs, titles, strict=True)
        ]

    def _show_tabs(self, golds: int) -> None:
        self._golds = golds
        cells: list[Span] = []
        for tab, title in zip(self._tabs, self._titles(golds), strict=True):
            cells += [_SEPARATOR] if cells else []
            cells.append(Span(title, "accent" if tab == self._tab else "dim"))
        self.query_one("#tabs", CellLine).set_cells(tuple(cells), (Span("← → tabs · d full", "dim"),))

    def on_click(self, event: events.Click) -> None:
        """A click on a tab's title chooses it."""
        line = self.query_one("#tabs", CellLine)
        offset = event.get_content_offset(line)
        if event.widget is not line or offset is None:
            return
        end = 0
        for tab, title in zip(self._tabs, self._titles(self._golds), strict=True):
            start, end = end, end + len(title)
            if start <= offset.x < end:
                self.post_message(self.TabClicked(tab))
            end += cell_width((_SEPARATOR,))

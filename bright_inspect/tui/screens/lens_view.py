"""What the Lens screen shows: its lines, its tables, and the texts below them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple

from textual.app import ComposeResult
from textual.containers import Horizontal

from bright_inspect.domain.rankings import QueryKey
from bright_inspect.domain.terms import best_place
from bright_inspect.presentation.cells import Cell, Span
from bright_inspect.presentation.lens import (
    LensDocuments,
    document_change_lines,
    document_columns,
    documents_caption,
    pull_caption,
    scores_line,
    stored_line,
    term_columns,
    term_rows,
)
from bright_inspect.presentation.lens_words import (
    as_one,
    leak_caption,
    leak_columns,
    leak_rows,
    side_by_side,
    words_caption,
    words_line,
)
from bright_inspect.retrieval.bm25 import BM25_NAMES
from bright_inspect.rewriting.leaks import Leaks
from bright_inspect.rewriting.lens import Lens, runs_by_text
from bright_inspect.rewriting.word_change import WordChange
from bright_inspect.store.collections import TaskKey
from bright_inspect.store.progress import CancelToken
from bright_inspect.store.query_view import QueryView
from bright_inspect.tui.screens.base import AuditTarget, are_same
from bright_inspect.tui.screens.copying import CopyingScreen
from bright_inspect.tui.screens.working import Working
from bright_inspect.tui.widgets.key_line import KeyLine
from bright_inspect.tui.widgets.line import CellLine
from bright_inspect.tui.widgets.reader import TextReader
from bright_inspect.tui.widgets.table import LineTable

Tab = Literal["Words", "Bridges", "Drift", "Documents", "Shared"]
TABS: tuple[Tab, ...] = ("Words", "Bridges", "Drift", "Documents", "Shared")
Places = Mapping[str, Sequence[tuple[int, int]]]
#: Narrower, there is no room for two texts.
_WIDE = 100


class LensView(CopyingScreen):
    """The screen as it is shown; what it does on keys is the subclass's."""

    def __init__(self, keys: Sequence[QueryKey], index: int, variant: str | None) -> None:
        super().__init__()
        self._keys, self._index, self._wanted = keys, index, index
        self._variant = variant
        self._view: QueryView | None = None
        self._texts: dict[str, str | None] = {}
        self._words: WordChange | None = None
        self._shared: Leaks | None = None
        self._lens: Lens | None = None
        self._problem = ""
        self._retriever = BM25_NAMES[0]
        self._tab: Tab = TABS[0]
        self._inline = False
        self._texts_shown: tuple[object, ...] = ()
        self._working = Working(self, "lens", "#lens-scores")

    def compose(self) -> ComposeResult:
        yield CellLine(id="top")
        yield CellLine(id="lens-words")
        yield CellLine(id="lens-scores")
        yield CellLine(id="lens-stored", classes="hidden")
        yield CellLine(id="lens-tabs")
        yield LineTable(id="lens-table", classes="hidden")
        yield CellLine(id="lens-caption")
        with Horizontal(id="lens-texts"):
            yield TextReader(id="lens-left", empty_message="no text at hand")
            yield TextReader(id="lens-right", empty_message="no text at hand")
        yield KeyLine("lens")

    def on_resize(self) -> None:
        if self.ready:
            self._show()

    @property
    def view(self) -> QueryView | None:
        """The query on screen."""
        return self._view

    @property
    def key(self) -> QueryKey:
        """The query that is wanted on screen."""
        return self._keys[self._wanted]

    @property
    def tasks(self) -> tuple[TaskKey, ...]:
        """The query's task."""
        return ((self.key.dataset, self.key.task),)

    @property
    def document(self) -> str | None:
        """The document of the row under the cursor."""
        if self._lens is None or self._tab == "Words" or (row := self.query_one(LineTable).row) is None:
            return None
        return self._document_of(row.key)

    @property
    def variant(self) -> str | None:
        """The rewrite on screen: the one that was chosen, else that of the compared run, of the baseline or of another
        run, else the first that this query has."""
        names = [name for name, _ in self._view.variants] if self._view is not None else []
        compared = self.desk.compared
        runs = [run.name.variant for run in (compared.run, compared.baseline, *compared.runs)]
        return next((name for name in (self._variant, *runs, *names) if name in names), None)

    @property
    def _rewrite(self) -> str:
        variants = dict(self._view.variants) if self._view is not None else {}
        return variants.get(self.variant or "", "")

    def audit_target(self) -> tuple[AuditTarget, int] | None:
        """The query's value in the compared run."""
        return None if self._view is None else (self._view.key, self.desk.compared.run.run_id)

    def _show(self, *, first: bool = False) -> None:
        if self.ready:
            with self.app.batch_update():
                self._show_lines()
                self._show_table(first=first)
                self._show_texts()

    def _show_lines(self) -> None:
        view = self._view
        key = view.key if view is not None else self.key  # the next one may be wanted, and not read yet
        text = " ".join((view.text or "").split())[:600] if view is not None else "reading the query …"
        title: Cell = (Span("lens  ", "accent"), Span(f"{key.task} {key.query_id}  ", "accent"), Span(text, "strong"))
        place = (Span(f"{self._index + 1} of {len(self._keys)}", "dim"),)
        self.query_one("#top", CellLine).set_cells(title, place)
        if view is None:
            return
        names = [name for name, _ in view.variants]
        right: Cell = ()
        if self.variant is not None:
            number = f" {names.index(self.variant) + 1} of {len(names)} "
            right = (Span(self.variant, "strong"), Span(number, "dim"), self._key("lens-variant"))
        left = (
            words_line(self._words, self._shared, self.size.width < _WIDE)
            if self._words is not None
            else (Span("comparing the words …", "dim"),)
        )
        self.query_one("#lens-words", CellLine).set_cells(left if names else (Span(self._problem, "warning"),), right)
        if not self._working.busy:
            self._show_scores()
        stored = stored_line(self._lens, self.desk.session, self.variant or "") if self._lens is not None else ()
        self.query_one("#lens-stored", CellLine).set_cells(stored)
        # The place is kept while both texts are searched, so that nothing moves.
        has_stored = bool(self.variant and runs_by_text(self.desk.session, self.variant, "", ""))
        self.query_one("#lens-stored").set_class(not has_stored, "hidden")
        tabs: list[Span] = []
        for tab in TABS:
            shown = f"[{self._tab_title(tab)}]" if tab == self._tab else f" {self._tab_title(tab)} "
            tabs += [Span("│", "dim")] if tabs else []
            tabs.append(Span(shown, "accent" if tab == self._tab else "dim"))
        self.query_one("#lens-tabs", CellLine).set_cells(tuple(tabs), (Span("← → tabs", "dim"),))

    def _show_scores(self) -> None:
        line = self.query_one("#lens-scores", CellLine)
        if self._lens is None:
            line.set_cells((Span(self._problem if self.variant is not None else "", "warning"),))
        else:
            narrow = self.size.width < _WIDE
            scores = scores_line(self._lens, self.desk.scored.measure, self.variant or "", narrow)
            line.set_cells(scores, (self._key("lens-retriever"), Span("" if narrow else " other BM25", "dim")))

    def _key(self, name: str) -> Span:
        return Span(self.program.key_shown(name), "accent")

    def _tab_title(self, tab: Tab) -> str:
        lens, shared = self._lens, self._shared
        counts: dict[Tab, int | None] = {
            "Bridges": len(lens.bridges.over_all.terms) if lens else None,
            "Drift": len(lens.drift.over_all.terms) if lens else None,
            "Documents": len(lens.doc_ids) if lens else None,
            "Shared": len(shared.leaks) if shared else None,
        }
        count = counts.get(tab)
        return tab if count is None else f"{tab} {count}"

    def _show_table(self, *, first: bool) -> None:
        table, caption = self.query_one(LineTable), self.query_one("#lens-caption", CellLine)
        lens, shared, width = self._lens, self._shared, self.size.width
        table.set_class(self._tab == "Words", "hidden")
        caption.set_cells(
            words_caption(self._as_one, self.program.key_shown("lens-inline")) if self._tab == "Words" else ()
        )
        at = 0 if first else table.cursor
        table.empty_message = self._empty_message()
        if self._tab == "Shared" and shared is not None:
            columns = leak_columns()
            table.set_rows(columns, leak_rows(shared.leaks, self._rewrite), cursor=at, keep_scroll=not first)
            caption.set_cells(leak_caption(shared))
        elif lens is not None and self._tab in ("Bridges", "Drift"):
            bridges = self._tab == "Bridges"
            pull = lens.bridges if bridges else lens.drift
            columns = term_columns(width, bridges=bridges)
            table.set_rows(columns, term_rows(pull.over_all.terms, columns), cursor=at, keep_scroll=not first)
            caption.set_cells(pull_caption(pull, bridges=bridges))
        elif lens is not None and self._tab == "Documents" and self._view is not None:
            columns = document_columns(width)
            table.set_rows(columns, LensDocuments(lens, self._view, columns), cursor=at, keep_scroll=not first)
            caption.set_cells(documents_caption(lens))
        else:
            table.set_rows([], [])
        if self._tab != "Words" and first:
            table.focus()
        elif self._tab == "Words" and self.focused is table:
            self.query_one("#lens-right").focus()

    def _empty_message(self) -> str:
        if self._tab == "Shared":
            return (
                "no passage of 8 words or more is shared with a gold" if self._shared else "comparing with the golds …"
            )
        if self._lens is None:
            return self._problem or "searching both texts …"
        if self._tab == "Bridges":
            return "no added word occurs in a gold at hand"
        return "no added word occurs in a document that rose"

    @property
    def _as_one(self) -> bool:
        """Whether both texts are shown as one: by choice, or because there is no room for two."""
        return self._inline or self.size.width < _WIDE

    def _document_of(self, row_key: str) -> str | None:
        lens, shared = self._lens, self._shared
        if self._tab == "Shared":
            return shared.leaks[int(row_key)].gold_id if shared is not None and shared.leaks else None
        if lens is None or self._tab == "Documents":
            return row_key if lens is not None else None
        pull = lens.bridges if self._tab == "Bridges" else lens.drift
        return next((term.doc_id for term in pull.over_all.terms if term.term == row_key), None)

    def _show_texts(self) -> None:
        left, right = self.query_one("#lens-left", TextReader), self.query_one("#lens-right", TextReader)
        row = self.query_one(LineTable).row if self._tab != "Words" else None
        narrow = self.size.width < _WIDE
        # Where there is room for one text it is the one that the tab is about.
        left.set_class(self._as_one if self._tab == "Words" else narrow and self._tab != "Documents", "hidden")
        right.set_class(narrow and self._tab == "Documents", "hidden")
        worked_out = {"Words": self._words, "Shared": self._shared}.get(self._tab, self._lens)
        shown = (self._view, worked_out, self._tab, self.variant, self._as_one, row.key if row is not None else None)
        if are_same(shown, self._texts_shown):
            return  # what else arrives meanwhile must not move what is being read
        self._texts_shown = shown
        if self._tab == "Words":
            self._show_words(left, right)
            return
        left.empty_message = right.empty_message = "no text at hand" if row is not None else ""
        if row is None or self._view is None:
            left.set_text("")
            right.set_text("")
            return
        lens, variant = self._lens, self.variant or ""
        if self._tab == "Documents" and lens is not None:
            there = row.key in lens.change.rewrite.scores
            left.set_lines(document_change_lines(lens.change.document(row.key), variant) if there else [])
        elif self._tab == "Shared" and self._shared is not None:
            leak = self._shared.leaks[int(row.key)]
            left.set_text(self._rewrite, spans=[(leak.start, leak.end, "match")], scroll_to=leak.start)
        elif lens is not None:
            own = lens.places.get(row.key, ())
            left.set_text(self._rewrite, spans=_lit(own), scroll_to=own[0][0] if own else None)
        doc_id = self._document_of(row.key)
        if doc_id is not None:
            self._read_document(self._view, doc_id, row.key)

    def _show_words(self, left: TextReader, right: TextReader) -> None:
        words = self._words
        if words is None or self._view is None:
            left.set_text(self._view.text or "" if self._view is not None else "")
            right.set_text(self._rewrite)
        elif self._as_one:
            text, spans = as_one(words)
            right.set_text(text, spans=spans)
        else:
            removed, rewritten = side_by_side(words)
            left.set_text(words.original, spans=removed)
            right.set_text(words.rewrite, spans=rewritten)

    def _read_document(self, view: QueryView, doc_id: str, row_key: str) -> None:
        tab, lens, shared, live, name = self._tab, self._lens, self._shared, self.desk.live, self._retriever
        known = self._texts.get(doc_id)

        def read(token: CancelToken) -> _Document | None:
            text, places = live.document_terms(view, name, doc_id, known, token)
            return None if text is None else _document(tab, doc_id, row_key, text, places, lens, shared)

        def show(document: _Document | None) -> None:
            if self.left or self._tab != tab or self._lens is not lens or self.document != doc_id:
                return
            reader = self.query_one("#lens-right", TextReader)
            if document is None:
                reader.set_text("")
            else:
                reader.set_text(document.text, spans=document.spans, scroll_to=document.scroll_to)

        self.runner.start("lens-document", read, show)


class _Document(NamedTuple):
    """A document below its id, with what is lit in it, and where it opens."""

    text: str
    spans: list[tuple[int, int, str]]
    scroll_to: int | None


def _document(
    tab: Tab, doc_id: str, row_key: str, text: str, places: Places, lens: Lens | None, shared: Leaks | None
) -> _Document:
    spans, at = _document_spans(tab, row_key, text, places, lens, shared)
    heading = f"{doc_id}\n\n"
    moved = [(start + len(heading), end + len(heading), style) for start, end, style in spans]
    scroll_to = None if at is None else at + len(heading)
    return _Document(heading + text, [(0, len(doc_id), "strong"), *moved], scroll_to)


def _document_spans(
    tab: Tab, row_key: str, text: str, places: Places, lens: Lens | None, shared: Leaks | None
) -> tuple[list[tuple[int, int, str]], int | None]:
    """What is lit in the document of a row, and where it opens: the row's term, the words that were added, or the
    passage that is shared."""
    if tab == "Shared" and shared is not None:
        leak = shared.leaks[int(row_key)]
        return [(leak.gold_start, leak.gold_end, "match")], leak.gold_start
    if tab == "Documents" and lens is not None:
        if row_key not in lens.change.rewrite.scores:
            return [], None
        added = {term.term for term in lens.change.document(row_key).terms if term.kind == "added"}
        spans = sorted(place for term in places if term in added for place in places[term])
        return [(start, end, "accent") for start, end in spans], best_place(text, spans)
    own = places.get(row_key, ())
    return _lit(own), own[0][0] if own else None


def _lit(places: Sequence[tuple[int, int]]) -> list[tuple[int, int, str]]:
    return [(start, end, "match") for start, end in places]

"""Inspect: one query, its rankings side by side or merged, and the texts below them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from textual import events, on
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical

from bright_inspect.domain.rankings import QueryKey
from bright_inspect.evaluation.query_rows import QueryRow
from bright_inspect.presentation.cells import Cell, Column, Span, TableRow
from bright_inspect.presentation.inspect import (
    RankingRows,
    golds_by_rank,
    merged_columns,
    merged_rows,
    merged_title,
    next_unjudged,
    no_list_text,
    no_text_text,
    pane_title,
    ranking_columns,
)
from bright_inspect.presentation.reading import Reading
from bright_inspect.store.documents import KEPT_DEPTH
from bright_inspect.store.query_view import QueryView
from bright_inspect.tui import keymap
from bright_inspect.tui.read_ahead import ReadAhead
from bright_inspect.tui.screens.base import SLOW_SECONDS
from bright_inspect.tui.screens.copying import CopyingScreen
from bright_inspect.tui.widgets.key_line import KeyLine
from bright_inspect.tui.widgets.line import CellLine
from bright_inspect.tui.widgets.reading_pane import REASON_TAB, ReadingPane
from bright_inspect.tui.widgets.table import LineTable

#: A ranking narrower than this cannot show rank, id and score: the lists are merged instead.
LEAST_PANE_WIDTH = 45


class InspectScreen(CopyingScreen):
    """Walks along the rows of the Queries screen, which hears of the query it was left at."""

    BINDINGS = keymap.bindings("inspect")

    def __init__(self, rows: Sequence[QueryRow], index: int, order: str, on_leave: Callable[[QueryKey], None]) -> None:
        super().__init__()
        self._rows, self._index, self._order, self._tell_left = rows, index, order, on_leave
        self._wanted = index  # the query asked for; it is on screen once it was read
        self.view: QueryView | None = None
        self._texts: dict[str, str | None] = {}
        self._doc_id: str | None = None
        self._queries = ReadAhead(self.desk, self.runner)
        self._direction = 1
        self._merged: bool | None = None  # None: as the width asks
        self._judged_by = self.desk.judged_by

    def compose(self) -> ComposeResult:
        yield CellLine(id="title")
        with Horizontal(id="lists"):
            for run in self.desk.session.runs:
                with Vertical(classes="pane following" if run.run_id else "pane", id=f"pane{run.run_id}"):
                    yield CellLine(id=f"pane-title{run.run_id}", classes="pane-title")
                    yield LineTable(id=f"list{run.run_id}")
        with Vertical(id="merged-pane", classes="hidden"):
            yield CellLine(id="merged-title")
            yield LineTable(id="merged")
        yield ReadingPane(has_reasons=self.desk.session.has_reasons, id="reading")
        yield KeyLine("inspect")

    def on_mount(self) -> None:
        if self.left:
            return
        for table in self.query(LineTable):
            self.watch(table, "cursor", partial(self._follow_cursor, table), init=False)
        self._show_title()
        self._load()

    def on_resize(self, event: events.Resize) -> None:
        if self.view is not None:
            self._show_lists()

    def desk_changed(self) -> None:
        if self._judged_by != self.desk.judged_by:
            self._judged_by = self.desk.judged_by
            self._judge_anew()
        elif self.view is not None:
            self._follow_rows()
            self._show()

    def _follow_rows(self) -> None:
        """Take over the rows' new values. A query that the layer does not judge stays in the list, without any."""
        keys = {row.key: row for row in self.desk.scored.rows}
        self._rows = [keys.get(row.key) or row.unjudged() for row in self._rows]

    def _judge_anew(self) -> None:
        """Other judgments count: the query is read again, and the place in it is kept."""
        self._queries.forget()
        self._follow_rows()
        if self.view is None or self._wanted != self._index:
            self._load()
        else:
            self._queries.ask(self.row.key, lambda read: self._loaded_anew(*read), self._show)

    def _loaded_anew(self, view: QueryView, texts: dict[str, str | None]) -> None:
        if self.left:
            return
        self.view, self._texts = view, {**self._texts, **texts}
        self._show()

    def leave_level(self) -> bool:
        """Esc leaves the full reader first."""
        if self.has_class("full"):
            self.action_toggle_full()
            return True
        self._queries.stop()
        self.runner.cancel("text")
        self._tell_left(self.row.key)
        return False

    # --- the query -----------------------------------------------------------------------------------------------

    @property
    def rows(self) -> Sequence[QueryRow]:
        """The queries that n and p walk along."""
        return self._rows

    @property
    def row(self) -> QueryRow:
        """The query on screen."""
        return self._rows[self._index]

    @property
    def document(self) -> str | None:
        """The id of the document at hand."""
        return self._doc_id

    def action_next_query(self) -> None:
        """The next query of the list."""
        self.go_to(self._wanted + 1)

    def action_previous_query(self) -> None:
        """The previous query of the list."""
        self.go_to(self._wanted - 1)

    def go_to(self, index: int) -> None:
        """Show another query of the list."""
        if not 0 <= index < len(self._rows):
            which = "last" if index > 0 else "first"
            self.notify(f"This is the {which} query of the list.", markup=False)
            return
        self._direction = 1 if index >= self._wanted else -1
        self._wanted = index
        self._load()

    def _load(self) -> None:
        """Read the wanted query; until it is there the present one stays."""
        index = self._wanted

        def failed() -> None:
            self._wanted = self._index

        self._queries.ask(self._rows[index].key, lambda read: self._loaded(index, *read), failed)
        self.set_timer(SLOW_SECONDS, self._say_reading)

    def _say_reading(self) -> None:
        if self._queries.busy:
            left = (Span(f"{self._rows[self._wanted].key.query_id}  ", "accent"), Span("reading the query …", "dim"))
            self.query_one("#title", CellLine).set_cells(left)

    def _loaded(self, index: int, view: QueryView, texts: dict[str, str | None]) -> None:
        if self.left:
            return
        self.runner.cancel("text")
        self._index = self._wanted = index
        self.view, self._texts = view, texts
        self._doc_id = None
        self._show(first=True)
        following = index + self._direction
        if 0 <= following < len(self._rows):
            self._queries.read_on(self._rows[following].key)

    def _show(self, *, first: bool = False) -> None:
        """Paint everything in one frame."""
        with self.app.batch_update():
            self._show_title()
            self._show_lists(first=first)

    def _show_title(self) -> None:
        row = self.row
        text = " ".join(row.text[:600].split()) or "no query text at hand"
        left: Cell = (Span(f"{row.key.task} {row.key.query_id}  ", "accent"), Span(text, "strong"))
        right: Cell = (Span(f"{self._index + 1} of {len(self._rows)} by {self._order}", "dim"),)
        self.query_one("#title", CellLine).set_cells(left, right)

    # --- the lists -----------------------------------------------------------------------------------------------

    @property
    def merged(self) -> bool:
        """Whether the lists are merged: by choice, or because they would be too narrow side by side."""
        if self._merged is not None:
            return self._merged
        return self.size.width // len(self.desk.session.runs) < LEAST_PANE_WIDTH

    def _tables(self) -> list[LineTable]:
        if self.merged:
            return [self.query_one("#merged", LineTable)]
        return [self.query_one(f"#list{run.run_id}", LineTable) for run in self.desk.session.runs]

    def _show_lists(self, *, first: bool = False) -> None:
        view = self.view
        if view is None or not self.size.width:
            return
        merged = self.merged
        self.query_one("#lists").set_class(merged, "hidden")
        self.query_one("#merged-pane").set_class(not merged, "hidden")
        focused = self.focused
        if merged:
            self._fill_merged(view, first)
        else:
            for run in self.desk.session.runs:
                self._fill_list(view, run.run_id, first)
        tables = self._tables()
        if focused is None or (isinstance(focused, LineTable) and focused not in tables):
            tables[0].focus()
        if self._doc_id is None:
            table = self.focused if isinstance(self.focused, LineTable) and self.focused in tables else tables[0]
            self._doc_id = table.row.key if table.row else next((gold.doc_id for gold in view.golds), None)
        self._mark()
        self._show_reading()

    def _fill_list(self, view: QueryView, run_id: int, first: bool) -> None:
        compared, session = self.desk.compared, self.desk.session
        run, ranking = session.runs[run_id], view.rankings[run_id]
        table, width = self.query_one(f"#list{run_id}", LineTable), self.size.width // len(session.runs)
        self.query_one(f"#pane-title{run_id}", CellLine).set_cells(pane_title(view, run, compared, self.row, width - 3))
        is_baseline = run is compared.baseline
        columns = ranking_columns(compared.paired and not is_baseline, width)
        if ranking is None:
            table.empty_message = no_list_text(view, run)
        baseline = view.rankings[compared.baseline.run_id]
        rows = RankingRows(view, ranking, baseline, columns) if ranking else []
        self._fill(table, columns, rows, first)

    def _fill_merged(self, view: QueryView, first: bool) -> None:
        compared = self.desk.compared
        table = self.query_one("#merged", LineTable)
        self.query_one("#merged-title", CellLine).set_cells(merged_title(view, compared, self.row, self.size.width - 2))
        rows = merged_rows(view, compared, compared.measure.cutoff or 10)
        table.empty_message = "no run has a list for this query"
        self._fill(table, merged_columns(compared), rows, first)

    def _fill(self, table: LineTable, columns: Sequence[Column], rows: Sequence[TableRow], first: bool) -> None:
        # Not the user moved: the document at hand stays, whatever comes under the cursor.
        with self.prevent(LineTable.RowHighlighted):
            table.set_rows(columns, rows, cursor=0 if first else table.cursor, keep_scroll=not first)

    def _mark(self) -> None:
        keys = frozenset([self._doc_id]) if self._doc_id else frozenset()
        for table in self._tables():
            table.marked_keys = keys

    def _follow_cursor(self, table: LineTable) -> None:
        """The document under the cursor lights up everywhere and is read below, all in the frame of the key."""
        if table.has_focus and (row := table.row) is not None and row.key != self._doc_id:
            self._choose_document(row.key)

    @on(events.DescendantFocus)
    def follow_focus(self, event: events.DescendantFocus) -> None:
        """Coming to a list, its title stands out and its cursor goes to the document at hand, if it is there."""
        for title in self.query(".pane-title"):
            title.set_class(event.widget in title.siblings, "focused")
        if isinstance(event.widget, LineTable):
            self._point_at_document(event.widget)

    def _point_at_document(self, table: LineTable) -> bool:
        rows = table.rows
        index = next((index for index in range(len(rows)) if rows[index].key == self._doc_id), None)
        if index is not None:
            table.cursor = index
        return index is not None

    def _choose_document(self, doc_id: str) -> None:
        self._doc_id = doc_id
        self._mark()
        if self.pane.tab not in ("Document", "Gold", REASON_TAB):
            self.pane.choose_tab("Document")
        self._show_reading()

    def action_next_gold(self, step: int) -> None:
        """The next gold by rank in the list with the cursor; golds that no list holds come after."""
        view = self.view
        if view is None:
            return
        if not view.golds:
            self.notify("Nothing is judged relevant for this query.", markup=False)
            return
        golds = golds_by_rank(view, self._run_at_cursor())
        current = golds.index(self._doc_id) if self._doc_id in golds else (-1 if step > 0 else 0)
        self._choose_document(golds[(current + step) % len(golds)])
        if isinstance(self.focused, LineTable):
            self._point_at_document(self.focused)

    def _run_at_cursor(self) -> int:
        """The run whose list has the cursor; the compared one where the lists are merged."""
        name = (self.focused.id if self.focused else None) or ""
        return int(name.removeprefix("list")) if name.startswith("list") else self.desk.compared.run.run_id

    def action_next_unjudged(self, step: int) -> None:
        """The next unjudged document of the list with the cursor."""
        table = self.focused if isinstance(self.focused, LineTable) else self._tables()[0]
        view = self.view
        if view is None:
            return
        index = next_unjudged(view, table.rows, table.cursor, step)
        if index is None:
            self.notify("No more unjudged documents this way.", markup=False)
        else:
            table.focus()
            table.cursor = index
            self._choose_document(table.rows[index].key)

    def action_toggle_merged(self) -> None:
        """All lists as one, or side by side."""
        merged = not self.merged
        if not merged and self.size.width // len(self.desk.session.runs) < 24:
            self.notify("The window is too narrow for lists side by side.", markup=False)
            return
        self._merged = merged
        self._show_lists()
        self._point_at_document(self._tables()[0])

    # --- the reader ----------------------------------------------------------------------------------------------

    @property
    def pane(self) -> ReadingPane:
        return self.query_one(ReadingPane)

    def action_next_tab(self, step: int) -> None:
        """Another tab of the reader."""
        self.pane.next_tab(step)
        self._show_reading()

    @on(ReadingPane.TabClicked)
    def show_tab(self, message: ReadingPane.TabClicked) -> None:
        """Show the clicked tab."""
        self.pane.choose_tab(message.tab)
        self._show_reading()

    def action_toggle_full(self) -> None:
        """The reader over the whole screen, and back."""
        self.toggle_class("full")
        if self.has_class("full"):
            self.pane.reader.focus()
        else:
            self._tables()[0].focus()

    def _show_reading(self) -> None:
        """Show the chosen tab; a document that is not read yet is asked for."""
        view = self.view
        if view is None:
            return
        shown = self.pane.show(view, self.desk.compared, self._texts, self._doc_id, self._no_text_message())
        if not shown and self._doc_id is not None:
            self._ask_for_text(view, self._doc_id)

    def _ask_for_text(self, view: QueryView, doc_id: str) -> None:
        desk, task = self.desk, (view.key.dataset, view.key.task)

        def still_wanted() -> bool:
            return self.view is view and self._doc_id == doc_id and doc_id not in self._texts

        def say_reading() -> None:
            if still_wanted() and self.runner.busy("text") and self.pane.tab == "Document":
                self.pane.read(Reading(""), "reading the corpus …")

        def done(text: str | None) -> None:
            if not still_wanted():
                return
            self._texts[doc_id] = text
            self._show_reading()

        kept = doc_id in {judgment.doc_id for judgment in view.judgments} or any(
            (rank := view.rank_in(run.run_id, doc_id)) is not None and rank <= KEPT_DEPTH for run in desk.session.runs
        )
        self.runner.start("text", lambda token: desk.text(task, doc_id, kept, token), done)
        self.set_timer(SLOW_SECONDS, say_reading)

    def _no_text_message(self) -> str:
        key = self.row.key
        return no_text_text(key, self.desk.corpus_size((key.dataset, key.task)))

    def audit_target(self) -> tuple[QueryKey, int] | None:
        """The query's value in the run whose list has the cursor."""
        scored = [run_id for run_id, value in enumerate(self.row.values) if value is not None]
        scored.sort(key=lambda run_id: run_id != self._run_at_cursor())
        return (self.row.key, scored[0]) if scored else None

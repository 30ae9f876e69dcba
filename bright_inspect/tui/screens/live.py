"""Live: the query at hand searched again, as edited, with its list beside the stored runs'."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from textual import events, on
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.widgets import TextArea

from bright_inspect.domain.names import EDITED, ORIGINAL
from bright_inspect.domain.rankings import Ranking
from bright_inspect.evaluation.live import LiveRequest, LiveResult, ranking_value, restricted
from bright_inspect.presentation.cells import Cell, Span
from bright_inspect.presentation.inspect import RankingRows, ranking_columns
from bright_inspect.presentation.live import model_note, request_line, result_note, stored_title
from bright_inspect.presentation.reading import document_line, document_reading
from bright_inspect.store.query_view import QueryView
from bright_inspect.store.session import Run
from bright_inspect.tui import keymap
from bright_inspect.tui.live_desk import Choice
from bright_inspect.tui.screens.base import AuditTarget
from bright_inspect.tui.screens.inspect import LEAST_PANE_WIDTH
from bright_inspect.tui.screens.live_choice import LiveChoice
from bright_inspect.tui.screens.rewriting import RewritingScreen
from bright_inspect.tui.screens.working import Working
from bright_inspect.tui.widgets.editor import Editor
from bright_inspect.tui.widgets.key_line import KeyLine
from bright_inspect.tui.widgets.line import CellLine
from bright_inspect.tui.widgets.reader import TextReader
from bright_inspect.tui.widgets.table import LineTable

DEPTHS = (10, 100, 1000)


class LiveScreen(RewritingScreen):
    """Edit the text, choose a retriever, run; the stored lists that there is room for stand beside the new one, the
    compared run's first, which moves and Δ are against."""

    BINDINGS = keymap.bindings("live")

    def __init__(self, view: QueryView, variant: str | None = None) -> None:
        """``variant`` is the text that the editor begins with, the original by default."""
        super().__init__()
        self._view = view
        self._variants = [(ORIGINAL, view.text or ""), *view.variants]
        names = [name for name, _ in self._variants]
        self._variant = names.index(variant) if variant in names else 0
        self._result: LiveResult | None = None
        self._at_hand: frozenset[str] = frozenset()
        self._restricted = False
        self._doc_id: str | None = None
        self._choices: tuple[list[Choice], list[Choice]] | None = None
        self._working = Working(self, "live", "#live-note")
        self.make_rewriting(self._working, view.key.task, "#live-note")

    def compose(self) -> ComposeResult:
        yield CellLine(id="top")
        yield Editor(self._variants[self._variant][1], id="live-text")
        yield CellLine(id="live-options")
        yield CellLine(id="live-note")
        yield CellLine(id="live-model", classes="hidden")
        with Horizontal(id="lists"):
            with Vertical(classes="pane"):
                yield CellLine(id="live-title", classes="pane-title")
                yield LineTable(id="live-list", empty_message="F5 searches the text above")
            for place in range(len(self.desk.session.runs)):
                with Vertical(classes="pane following", id=f"stored{place}"):
                    yield CellLine(id=f"stored-title{place}", classes="pane-title")
                    yield LineTable(id=f"stored-list{place}")
        yield CellLine(id="live-document-title", elide="middle")
        yield TextReader(id="live-document", empty_message="the document under the cursor is read here")
        yield KeyLine("live")

    def on_mount(self) -> None:
        super().on_mount()
        if not self.ready:
            return
        self.query_one(TextArea).focus()
        desk = self.desk.live

        def found(choices: tuple[list[Choice], list[Choice]]) -> None:
            self._choices = choices

        self.runner.start("live-choices", desk.choices, found)
        self._show()

    def on_resize(self) -> None:
        if self.ready:
            self._show()

    def desk_changed(self) -> None:
        self._show()

    def leave_level(self) -> bool:
        """Esc first stops a rewrite or a search that is under way."""
        if self.rewriting.stop():
            self._show_request()
            return True
        if self._working.busy:
            self.runner.cancel("live")
            self._show()
            if self._result is None:
                stopped = (Span("stopped; what was encoded is kept · F5 goes on", "dim"),)
                self.query_one("#live-note", CellLine).set_cells(stopped)
            return True
        for lane in ("live-text", "live-choices", "live-keep"):
            self.runner.cancel(lane)
        return False

    # --- what is asked -------------------------------------------------------------------------------------------

    @property
    def _text(self) -> str:
        return self.query_one(TextArea).text

    @property
    def text_name(self) -> str:
        """The variant that the text is, or that it was edited."""
        name, text = self._variants[self._variant]
        return name if self._text == text else EDITED

    @property
    def _request(self) -> LiveRequest:
        live = self.desk.live
        text, variant = self._text, self.text_name
        made = self.rewriting.made(text) if variant == EDITED else None
        return LiveRequest(live.retriever, variant, text, live.depth, live.reranker, text_from=made)

    def action_next_variant(self) -> None:
        """Put the next variant's text into the editor; edited text would be lost, so it is kept as a variant."""
        if self.occupied():
            return
        self.rewriting.forget()
        if self.text_name == EDITED:
            number = 1 + sum(name.startswith(EDITED) for name, _ in self._variants)
            self._variants.append((f"{EDITED} {number}", self._text))
            self._variant = 0
        else:
            self._variant = (self._variant + 1) % len(self._variants)
        self.query_one(TextArea).text = self._variants[self._variant][1]
        self._show()

    def action_choose_retriever(self) -> None:
        """Choose a retriever from a list, or name one."""
        live = self.desk.live

        def chosen(name: str | None) -> None:
            if name is not None:
                live.retriever = name
                self._show()

        retrievers = self._choices[0] if self._choices else [Choice(live.retriever, "models are looked for …", None)]
        self.app.push_screen(LiveChoice("Search with", retrievers, live.retriever), chosen)

    def action_choose_reranker(self) -> None:
        """Choose a reranker from a list, name one, or none."""
        live = self.desk.live

        def chosen(name: str | None) -> None:
            if name is not None:
                live.reranker = name or None
                self._show()

        rerankers = self._choices[1] if self._choices else []
        self.app.push_screen(LiveChoice("Rerank with", rerankers, live.reranker, none="no reranking"), chosen)

    def action_next_depth(self) -> None:
        """Ask for more documents, or fewer."""
        live = self.desk.live
        live.depth = DEPTHS[(DEPTHS.index(live.depth) + 1) % len(DEPTHS)]
        self._show()

    def action_restrict(self) -> None:
        """Restrict the stored lists to the documents that were searched, and back."""
        if self._result is None:
            self.notify("Nothing was searched yet: F5 searches.", markup=False)
        elif not self._result.partial:
            self.notify("The whole corpus was searched: there is nothing to restrict the runs to.", markup=False)
        else:
            self._restricted = not self._restricted
            self._show()

    def action_search(self) -> None:
        """Search the text as it is now."""
        if self.rewriting.busy and self.occupied():
            return
        live, view, request, measure = self.desk.live, self._view, self._request, self.desk.scored.measure
        if not request.text.strip():
            self.notify("There is no text to search.", markup=False)
            return

        def done(found: tuple[LiveResult, frozenset[str]]) -> None:
            if not self.left:
                self._result, self._at_hand = found
                self._show()
                self.query_one("#live-list", LineTable).focus()
                self._read()

        self._working.start(
            lambda tell, token: live.search(view, request, measure, tell, token),
            done,
            self._say_failed,
            f"{request.retriever} searches",
        )

    def _say_failed(self) -> None:
        if self.ready:
            self._show()
            failed = (Span("the search failed; nothing below is of it", "error"), Span(" · F5 tries again", "dim"))
            self.query_one("#live-note", CellLine).set_cells(failed)

    # --- what follows from a result ------------------------------------------------------------------------------

    def action_keep(self) -> None:
        """Keep the list as a run file, with a sidecar that says how it was made."""
        result, live = self._result, self.desk.live
        if result is None:
            self.notify("There is nothing to keep yet: F5 searches.", markup=False)
            return
        self.runner.start(
            "live-keep",
            lambda token: live.keep(result, token),
            lambda path: self.notify(f"Kept as {path}; {path.name}.json says how it was made.", markup=False),
        )

    def action_ablate(self) -> None:
        """Search without each sentence of the text."""
        from bright_inspect.tui.screens.ablation import AblationScreen

        self.app.push_screen(AblationScreen(self._view, self._request))

    def action_explain(self) -> None:
        """Say why the document under the cursor is scored as it is: by the retriever of the list, or the one chosen."""
        if self._doc_id is None:
            self.notify("There is no document at hand yet: F5 searches, Tab goes to a list.", markup=False)
            return
        from bright_inspect.tui.screens.explain import ExplainScreen

        result = self._result
        request = result.request if result is not None else self._request
        docs = result.ranking.docs if result is not None and request.reranker is None else ()
        listed = next((doc.score for doc in docs if doc.doc_id == self._doc_id), None)
        self.app.push_screen(ExplainScreen(self._view, request, self._doc_id, listed))

    def audit_target(self) -> tuple[AuditTarget, int]:
        """The compared run's value for the query: a live one is not of the session."""
        return self._view.key, self.desk.compared.run.run_id

    @property
    def document(self) -> str | None:
        """The id of the document at hand."""
        return self._doc_id

    # --- what is shown -------------------------------------------------------------------------------------------

    def _show(self) -> None:
        if not self.ready:
            return
        with self.app.batch_update():
            self._show_request()
            self._show_note()
            self._show_lists()

    def _show_request(self) -> None:
        key = self._view.key
        title: Cell = (Span("live  ", "accent"), Span(f"{key.task} {key.query_id}", "strong"))
        self.query_one("#top", CellLine).set_cells(title, self.top_cells()[1])
        right = (Span("F5", "accent"), Span(" searches", "dim"))
        keys = [
            self.program.key_shown(name) for name in ("live-retriever", "live-variant", "live-rerank", "live-depth")
        ]
        self.query_one("#live-options", CellLine).set_cells(request_line(self._request, keys), right)

    def _show_note(self) -> None:
        result = self._result
        if self._working.busy or self.rewriting.busy:
            return
        note = result_note(result, self._restricted, self.program.key_shown("live-restrict")) if result else ((), ())
        self.query_one("#live-note", CellLine).set_cells(*note)
        model = model_note(result) if result else ()
        line = self.query_one("#live-model", CellLine)
        line.set_cells(model)
        line.set_class(not model, "hidden")

    @property
    def _stored_runs(self) -> Sequence[Run]:
        """The runs that there is room for: first one by the text that was searched, if there is any; the compared one,
        the baseline, the others."""
        compared = self.desk.compared
        runs = list(dict.fromkeys((compared.run, compared.baseline, *compared.runs)))
        variant = self._result.request.variant if self._result is not None else ORIGINAL
        runs.sort(key=lambda run: (run.name.variant or ORIGINAL) != variant)
        return runs[: max(1, self.size.width // LEAST_PANE_WIDTH - 1)]

    def _show_lists(self) -> None:
        result, measure, compared = self._result, self.desk.scored.measure, self.desk.compared
        runs = self._stored_runs
        width = self.size.width // (1 + len(runs))
        beside = runs[0]
        against = self._stored(beside)
        comparable = result is not None and (not result.partial or self._restricted)
        if result is not None:
            base = (beside.label, self._value(against)) if comparable else None
            title = stored_title(f"{result.system} live", "accent", measure, result.value, base=base)
            self.query_one("#live-title", CellLine).set_cells(title)
            self._fill("live-list", result.ranking, against if comparable else None, width)
        for place in range(len(compared.runs)):
            self.query_one(f"#stored{place}").set_class(place >= len(runs), "hidden")
            if place < len(runs):
                self._show_stored(place, runs[place], width)

    def _show_stored(self, place: int, run: Run, width: int) -> None:
        desk, stored = self.desk, self._stored(run)
        note = ""
        if self._restricted and stored is not None:
            note = f" · {len(stored.docs):,} at hand"
        title = stored_title(run.label, desk.compared.style(run), desk.scored.measure, self._value(stored), note)
        self.query_one(f"#stored-title{place}", CellLine).set_cells(title)
        self.query_one(f"#stored-list{place}", LineTable).empty_message = f"{run.label} has no list for this query"
        self._fill(f"stored-list{place}", stored, None, width)

    def _stored(self, run: Run) -> Ranking | None:
        """A run's list as it is shown: whole, or among the documents that were searched."""
        ranking = self._view.rankings[run.run_id]
        return restricted(ranking, self._at_hand) if ranking is not None and self._restricted else ranking

    def _value(self, ranking: Ranking | None) -> float | None:
        return None if ranking is None else ranking_value(ranking, self._view, self.desk.scored.measure)

    def _fill(self, table_id: str, ranking: Ranking | None, against: Ranking | None, width: int) -> None:
        table = self.query_one(f"#{table_id}", LineTable)
        columns = ranking_columns(against is not None, width)
        rows = RankingRows(self._view, ranking, against, columns) if ranking is not None else []
        table.set_rows(columns, rows, cursor=table.cursor, keep_scroll=True)

    @on(TextArea.Changed)
    def follow_text(self) -> None:
        """Say whether the text is still a variant's."""
        if self.ready:
            self._show_request()

    @on(LineTable.RowHighlighted)
    def follow_cursor(self, message: LineTable.RowHighlighted) -> None:
        """Read the document under the cursor."""
        if message.table.has_focus:
            self._read()

    @on(events.DescendantFocus)
    def follow_focus(self, event: events.DescendantFocus) -> None:
        """Coming to a list, the document under its cursor is read."""
        if isinstance(event.widget, LineTable):
            self._read()

    def _read(self) -> None:
        table = self.focused if isinstance(self.focused, LineTable) else None
        row = table.row if table is not None else None
        if row is None:
            return
        desk, task, doc_id = self.desk, (self._view.key.dataset, self._view.key.task), row.key
        self._doc_id = doc_id
        for other in self.query(LineTable):
            other.marked_keys = frozenset([doc_id])

        searched = replace(self._view, text=self._result.request.text if self._result else self._text)

        def done(text: str | None) -> None:
            if self.left:
                return
            reader = self.query_one(TextReader)
            title = document_line(searched, desk.compared, doc_id, text)
            known = title[1] if self.size.width >= 2 * LEAST_PANE_WIDTH else ()  # the id is what tells it apart
            self.query_one("#live-document-title", CellLine).set_cells(title[0], known)
            if text is None:
                reader.set_text(f"{doc_id}: no text at hand")
            else:
                reading = document_reading(searched, text)
                reader.set_text(text, spans=reading.spans, scroll_to=reading.scroll_to)

        self.runner.start("live-text", lambda token: desk.text(task, doc_id, False, token), done)

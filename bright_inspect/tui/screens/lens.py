"""Lens: one query by its original text and by a rewrite: the words, the terms that pulled, the documents that moved."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from bright_inspect.domain.rankings import QueryKey
from bright_inspect.evaluation.live import LiveRequest
from bright_inspect.retrieval.bm25 import BM25_NAMES
from bright_inspect.rewriting.leaks import Leaks, find_leaks
from bright_inspect.rewriting.lens import Lens, runs_by_text
from bright_inspect.rewriting.word_change import WordChange, compare_words
from bright_inspect.store.query_view import QueryView
from bright_inspect.tui import keymap
from bright_inspect.tui.collecting import keep_out_of_collections
from bright_inspect.tui.read_ahead import ReadAhead
from bright_inspect.tui.screens.base import SLOW_SECONDS
from bright_inspect.tui.screens.lens_view import TABS, LensView
from bright_inspect.tui.widgets.table import LineTable


class LensScreen(LensView):
    """Walks along queries, as Inspect does. What needs no corpus is there at once; the rest when both texts were
    searched."""

    BINDINGS = keymap.bindings("lens")

    def __init__(
        self,
        keys: Sequence[QueryKey],
        index: int,
        variant: str | None = None,
        tell_left: Callable[[QueryKey], None] | None = None,
    ) -> None:
        """``variant`` is the rewrite to look at, the first at hand by default; ``tell_left`` is told the query that was
        on screen last."""
        super().__init__(keys, index, variant)
        self._tell_left, self._direction = tell_left, 1
        self._queries = ReadAhead(self.desk, self.runner)

    def on_mount(self) -> None:
        super().on_mount()
        if self.ready:
            self.query_one("#lens-right").focus()
            # In the frame of the key, which a message would miss.
            self.watch(self.query_one(LineTable), "cursor", self._show_texts, init=False)
            self._load()

    def desk_changed(self) -> None:
        """Another measure or layer: what is gold and what it is worth are read anew."""
        self._queries.forget()
        self._load()

    def leave_level(self) -> bool:
        """Esc first stops what is being worked out."""
        if self._working.busy:
            self.runner.cancel("lens")
            self._problem = "stopped · F5 goes on"
            self._show()
            return True
        self._queries.stop()
        for lane in ("lens-words", "lens-shared", "lens-document"):
            self.runner.cancel(lane)
        if self._tell_left is not None:
            self._tell_left(self._keys[self._index])
        return False

    # --- the query and its rewrite -------------------------------------------------------------------------------

    def action_next_query(self, step: int) -> None:
        """Another query of the list."""
        wanted = self._wanted + step
        if not 0 <= wanted < len(self._keys):
            self.notify(f"This is the {'last' if step > 0 else 'first'} query of the list.", markup=False)
            return
        self._wanted, self._direction = wanted, step
        self._load()

    def _load(self) -> None:
        index = self._wanted

        def failed() -> None:
            self._wanted = self._index

        self._queries.ask(self._keys[index], lambda read: self._loaded(index, *read), failed)

    def _loaded(self, index: int, view: QueryView, texts: dict[str, str | None]) -> None:
        if self.left:
            return
        self._index, self._view, self._texts = index, view, texts
        self._compare()

    def action_next_variant(self) -> None:
        """The next rewrite of the query."""
        if self._view is None or not self._view.variants:
            return
        names = [name for name, _ in self._view.variants]
        self._variant = names[(names.index(self.variant or names[-1]) + 1) % len(names)]
        self._compare()

    def action_next_retriever(self) -> None:
        """BM25 in another of its forms."""
        self._retriever = BM25_NAMES[(BM25_NAMES.index(self._retriever) + 1) % len(BM25_NAMES)]
        self._look()

    def _compare(self) -> None:
        """Compare the words, which takes no corpus, then search both texts."""
        self._words, self._shared, self._lens, self._problem = None, None, None, ""
        for lane in ("lens", "lens-words", "lens-shared"):
            self.runner.cancel(lane)
        view, rewrite = self._view, self._rewrite
        if view is None:
            return
        if self.variant is None:
            self._problem = "there is no rewrite of this query at hand: --variant NAME=FILE, or r and F10 to make one"
            self._show()
            return

        def show_plain() -> None:
            if self._view is view and self._words is None:
                self._show(first=True)

        self.set_timer(SLOW_SECONDS, show_plain)  # the texts as they are, if comparing them takes long

        def compared(words: WordChange) -> None:
            if not self.left:
                self._words = words
                self._show(first=True)
                # What holds the interpreter waits until the words are painted.
                self.call_after_refresh(self._go_on, words)

        self.runner.start("lens-words", lambda token: compare_words(view.text or "", rewrite), compared)

    def _go_on(self, words: WordChange) -> None:
        if self._view is not None and self._words is words and not self.left:
            following = self._wanted + self._direction
            if 0 <= following < len(self._keys):
                self._queries.read_on(self._keys[following])
            self._find_shared(self._view, self._rewrite)
            self._look()

    def _find_shared(self, view: QueryView, rewrite: str) -> None:
        golds = {gold.doc_id: self._texts.get(gold.doc_id) for gold in view.golds}

        def found(shared: Leaks) -> None:
            if not self.left:
                self._shared = shared
                self._show()

        self.runner.start(
            "lens-shared", lambda token: find_leaks(view.text or "", rewrite, golds, check=token.check), found
        )

    def action_look(self) -> None:
        """Search both texts again, if that was stopped."""
        if self._lens is None and not self._working.busy:
            self._look()

    def _look(self) -> None:
        view, rewrite, variant = self._view, self._rewrite, self.variant
        if view is None or variant is None:
            return
        self._lens, self._problem = None, ""
        desk, measure, retriever = self.desk.live, self.desk.scored.measure, self._retriever
        stored = runs_by_text(self.desk.session, variant, view.text or "", rewrite)

        def done(lens: Lens) -> None:
            if not self.left:
                self._lens = lens
                self._show(first=True)
                self.call_after_refresh(self._keep_out)

        def failed() -> None:
            self._problem = "nothing was searched here; the words are compared all the same"
            if not self.left:
                self._show()

        self._working.start(
            lambda tell, token: desk.lens(view, retriever, rewrite, stored, measure, tell, token), done, failed,
            f"{retriever} searches both texts",
        )  # fmt: skip

    def _keep_out(self) -> None:
        """What searching and comparing loaded stays; a screen that was left and its parts do not, so not again."""
        if not self.desk.live.is_kept_out:
            self.desk.live.is_kept_out = True
            keep_out_of_collections()

    # --- tabs ----------------------------------------------------------------------------------------------------

    def action_next_tab(self, step: int) -> None:
        """Another table."""
        self._tab = TABS[(TABS.index(self._tab) + step) % len(TABS)]
        self._show(first=True)

    def action_toggle_inline(self) -> None:
        """Both texts as one, with what was left out and added, or side by side."""
        self._inline = not self._inline
        self._tab = "Words"
        self._show()

    def action_sentences(self) -> None:
        """Search the rewrite without each of its sentences, by what searches live."""
        from bright_inspect.tui.screens.ablation import AblationScreen

        if self._view is not None and self._rewrite:
            live = self.desk.live
            request = LiveRequest(live.retriever, self.variant or "", self._rewrite, live.depth, live.reranker)
            self.app.push_screen(AblationScreen(self._view, request))

    def action_inspect(self) -> None:
        """The lists of the runs for this query."""
        from bright_inspect.tui.screens.inspect import InspectScreen

        if isinstance(self.app.screen_stack[-2], InspectScreen):
            while self.leave_level():
                pass
            self.app.pop_screen()
            return
        rows = {row.key: row for row in self.desk.scored.rows}
        shown = [rows[key] for key in self._keys if key in rows]
        place = next((place for place, row in enumerate(shown) if row.key == self.key), None)
        if place is None:
            self.notify("No run has a list for this query.", markup=False)
            return

        def follow(key: QueryKey) -> None:
            if self.ready and key in self._keys and key != self.key:
                self._wanted = self._keys.index(key)
                self._load()

        self.app.push_screen(InspectScreen(shown, place, "the list you came from", follow))

    def action_live(self) -> None:
        """Search the query live, and edit it."""
        from bright_inspect.tui.screens.live import LiveScreen

        if self._view is not None:
            self.app.push_screen(LiveScreen(self._view, self.variant))

"""Triage: unjudged documents one after the other, judged by one key each, with what speaks for them and what it
changes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from textual import events

from bright_inspect.domain.rankings import QueryKey
from bright_inspect.judging.decisions import Decision
from bright_inspect.judging.queue import QueueItem
from bright_inspect.store.collections import TaskKey
from bright_inspect.store.query_view import QueryView
from bright_inspect.store.triage_request import offered_tags
from bright_inspect.tui import keymap
from bright_inspect.tui.collecting import keep_out_of_collections
from bright_inspect.tui.screens.base import AuditTarget
from bright_inspect.tui.screens.text_entry import TextEntry
from bright_inspect.tui.screens.triage_view import (
    BELOW,
    CANDIDATE,
    GOLDS,
    GUIDELINES,
    QUERY,
    REASONING,
    THREE_PANES,
    TWO_PANES,
    TriageView,
)
from bright_inspect.tui.triage_desk import Triage, seen, with_texts
from bright_inspect.tui.widgets.reader import TextReader

#: Queries that are read ahead, and how far in the queue they are looked for.
_QUERIES_AHEAD, _ITEMS_AHEAD = 3, 100


class TriageScreen(TriageView):
    """A key is acknowledged by the next document: it comes up once the decision is on disk."""

    BINDINGS = keymap.bindings("triage")

    def on_mount(self) -> None:
        super().on_mount()
        if not self.ready:
            return
        self.query_one("#triage-candidate", TextReader).focus()
        self._open()

    def _open(self) -> None:
        desk, tasks, measure = self.desk.triage, self._of_tasks, self.desk.scored.measure
        self._made_for = measure, self.desk.scored.layers

        def failed() -> None:
            if not self.left:
                self.dismiss()

        self._working.start(
            lambda tell, token: desk.open_triage(tasks, measure, tell, token), self._opened, failed, "making the queue"
        )

    def desk_changed(self) -> None:
        """Another measure or layer: what would change what is worked out anew."""
        made_for = self.desk.scored.measure, self.desk.scored.layers
        if made_for == self._made_for:
            self._show()
            return
        self._queries.forget()
        self._open()

    @property
    def tasks(self) -> tuple[TaskKey, ...]:
        """The tasks whose documents are judged."""
        return self._of_tasks

    def on_resize(self, event: events.Resize) -> None:
        if self.ready:
            self._show()

    def leave_level(self) -> bool:
        """Back to the evidence first, if what the judgments change is shown."""
        if self._changes != BELOW[0] or self._tab == GUIDELINES:
            self._changes = BELOW[0]
            self._tab = QUERY if self._tab == GUIDELINES else self._tab
            self._show()
            return True
        if self._shown is not None and not self._decided(self._shown) and (self._note or self._why or self._tags):
            self.notify(
                "What was written beside the last document was not kept: it goes with a decision.", markup=False
            )
        self._queries.stop()
        for lane in ("triage", "triage-text", "triage-text-ahead"):
            self.runner.cancel(lane)
        self.program.take_over_decisions()
        return False

    @property
    def document(self) -> str | None:
        """The id of the document at hand, which blind judging does not tell."""
        return None if self._shown is None or self._blind else self._shown.doc_id

    # --- the item ------------------------------------------------------------------------------------------------

    def _opened(self, triage: Triage) -> None:
        if not self.left:
            self._triage = triage
            # The queue's many small objects stay: a full collection over them takes longer than a key may.
            keep_out_of_collections(anew=True)
            self._load()

    def _load(self) -> None:
        """Read the current item; until its text is there, no key judges it."""
        triage = self._triage
        if triage is None or self.left:
            return
        item = triage.queue.current
        self._shown = None
        if item is None:
            self._view, self._text = None, None
            self._show()
            return
        self._queries.ask(item.query, lambda read: self._read(item, *read), self._show)

    def _read(self, item: QueueItem, view: QueryView, texts: dict[str, str | None]) -> None:
        if self.left or self._triage is None or self._triage.queue.current != item:
            return
        self._view, self._texts = view, texts

        def done(text: str | None) -> None:
            if not self.left and self._triage is not None and self._triage.queue.current == item:
                self._text, self._shown = text, item
                note, why, tags = self._drafts.get(item, ("", "", []))
                self._note, self._why, self._tags = note, why, list(tags)
                if self.size.width < TWO_PANES:
                    self._tab = CANDIDATE  # another document is read before its query
                self._show()
                # After the paint: another thread's work makes it wait.
                self.call_after_refresh(self._read_on, item)

        if self._text_ahead is not None and self._text_ahead[0] == item:
            self.runner.cancel("triage-text")
            done(self._text_ahead[1])
        elif texts.get(item.doc_id) is not None:
            self.runner.cancel("triage-text")
            done(texts[item.doc_id])
        else:
            self._read_text("triage-text", item, done)

    def _read_text(self, lane: str, item: QueueItem, done: Callable[[str | None], None]) -> None:
        desk, task = self.desk, (item.query.dataset, item.query.task)
        self.runner.start(lane, lambda token: desk.text(task, item.doc_id, False, token), done)

    def _read_on(self, shown: QueueItem) -> None:
        """Read what comes up next: the queries, and the next document's text if it is not read along with its query."""
        if self.left or self._triage is None or self._shown is not shown:
            return
        queries: dict[QueryKey, None] = {}
        item = following = self._triage.following.get(replace(shown, repeat=False))
        for _ in range(_ITEMS_AHEAD):
            if item is None or len(queries) == _QUERIES_AHEAD:
                break
            queries[item.query] = None
            item = self._triage.following.get(item)
        self._queries.read_on(*queries)
        if following is None or (self._text_ahead is not None and self._text_ahead[0] == following):
            return
        read = self._queries.kept(following.query)
        if read is None or read[1].get(following.doc_id) is not None:
            return

        def keep(text: str | None) -> None:
            self._text_ahead = following, text

        self._read_text("triage-text-ahead", following, keep)

    # --- deciding ------------------------------------------------------------------------------------------------

    def action_judge(self, relevance: int) -> None:
        """Judge the document: 0 not relevant, 1 relevant, 2 and 3 graded; -1 unsure."""
        item = self._shown
        if item is None or self._writing or self._view is None:
            return
        if relevance > 0 and self.desk.triage.request.why_needed and not self._why:

            def answered(why: str | None) -> None:
                if why:
                    self._why = why
                    self._keep_draft()
                    self.action_judge(relevance)

            self.app.push_screen(TextEntry("Why does it help?"), answered)
            return
        desk, known = self.desk.triage, self._of(item)
        decision = desk.decision(
            item.query, item.doc_id, None if relevance < 0 else relevance, self._view.text, self._text
        )
        decision = with_texts(decision, note=self._note, why=self._why, tags=self._tags, repeat=item.repeat)
        if known is not None:
            labels = [run.label for run in self.desk.session.runs]
            votes = self._triage.votes.get(item) if self._triage is not None else None
            decision = replace(decision, evidence=seen(known[0], known[2], labels, votes, blind=self._blind))
        self._write(decision, self._judged)

    def action_skip(self) -> None:
        """Leave the document undecided for now; that is kept too."""
        item = self._shown
        if item is not None and not self._writing and self._view is not None:
            decision = self.desk.triage.decision(item.query, item.doc_id, None, self._view.text, self._text)
            self._write(replace(decision, kind="skip"), self._skipped)

    def _write(self, decision: Decision, done: Callable[[Decision], None]) -> None:
        self._writing = True
        desk = self.desk.triage

        def kept(decision: Decision) -> None:
            self._writing = False
            done(decision)

        def failed() -> None:
            self._writing = False

        self.runner.start("judge", lambda token: desk.write(decision, token), kept, failed)

    def _judged(self, decision: Decision) -> None:
        triage, item = self._triage, self._shown
        if triage is None or item is None:
            return
        self._written += 1
        triage.queue.decide(decision.relevance)
        self._overlay(item, decision.relevance)
        self._load()

    def _skipped(self, decision: Decision) -> None:
        if self._triage is not None:
            self._written += 1
            self._triage.queue.next()
            self._load()

    def _overlay(self, item: QueueItem, relevance: int | None) -> None:
        known = self._of(item)
        if self._triage is not None and known is not None:
            self._triage.what_if.decide(item.query, item.doc_id, relevance, ranks=known[0].ranks)

    def action_undo(self) -> None:
        """Take the last decision back, at any depth; its document comes up again."""
        if self._writing or self._triage is None:
            return
        if not self._written and not self._asked:
            self._ask_about_earlier()
            return
        self._writing = True
        desk = self.desk.triage

        def done(taken: Decision | None) -> None:
            self._writing = False
            if not self.left:
                self._undone(taken)

        def failed() -> None:
            self._writing = False

        self.runner.start("judge", desk.undo, done, failed)

    def _ask_about_earlier(self) -> None:
        """Nothing was decided here: say what a second key would take back, which is not on screen."""

        def told(last: Decision | None) -> None:
            if last is None:
                self.notify("There is nothing of yours to take back.", markup=False)
                return
            self._asked = True
            what = f"{last.kind} of {last.doc_id or 'the query'} for query {last.query_id}"
            self.notify(f"Nothing was decided here yet. z again takes back your last: {what}.", markup=False)

        desk = self.desk.triage
        self.runner.start("judge-last", lambda token: desk.last(), told)

    def _undone(self, taken: Decision | None) -> None:
        triage = self._triage
        if taken is None or triage is None:
            self.notify("There is nothing of yours to take back.", markup=False)
            return
        self._written = max(0, self._written - 1)
        self._asked = False
        if taken.kind == "judgment" and triage.queue.decisions:
            last = triage.queue.undo()
            if last is not None:
                self._overlay(last.item, triage.standing(last.item))
        elif taken.kind == "skip":
            triage.queue.previous()
        else:
            about = taken.doc_id or f"query {taken.query_id}"
            said = f"Taken back: {taken.kind} on {about}, from before this queue"
            self.notify(f"{said}; it comes up when judging is opened anew.", markup=False)
        self._load()

    def action_next_item(self) -> None:
        """Pass the document over; it comes round again."""
        if self._triage is not None and not self._writing:
            self._triage.queue.next()
            self._load()

    def action_previous_item(self) -> None:
        """The document shown before."""
        if self._triage is not None and not self._writing and self._triage.queue.previous() is not None:
            self._load()

    def audit_target(self) -> tuple[AuditTarget, int] | None:
        """The compared run's value for the query; blind judging has none to tell."""
        return None if self._shown is None or self._blind else (self._shown.query, self.desk.compared.run.run_id)

    # --- beside it -----------------------------------------------------------------------------------------------

    def _keep_draft(self) -> None:
        """What is written stays with its document, whatever is looked at in between and if a decision is taken back."""
        if self._shown is not None:
            self._drafts[self._shown] = (self._note, self._why, list(self._tags))
        self._show()

    def action_note(self) -> None:
        """Write a note that is kept with the decision."""

        def written(text: str | None) -> None:
            if text is not None:
                self._note = text
                self._keep_draft()

        if self._shown is not None:
            self.app.push_screen(TextEntry("Note on this document", self._note), written)

    def action_why(self) -> None:
        """Write why the document helps; it is kept with the decision."""

        def written(text: str | None) -> None:
            if text is not None:
                self._why = text
                self._keep_draft()

        if self._shown is not None:
            self.app.push_screen(TextEntry("Why does it help?", self._why), written)

    def action_tag(self) -> None:
        """Put a tag on the document, or take it off again; it is kept with the decision."""

        def written(text: str | None) -> None:
            if text:
                if text in self._tags:
                    self._tags.remove(text)
                else:
                    self._tags.append(text)
                self._keep_draft()

        if self._shown is not None:
            used = [*self.desk.tag_names, *(name for _, _, names in self._drafts.values() for name in names)]
            title = f"Tag · takes off {', '.join(self._tags)}" if self._tags else "Tag"
            self.app.push_screen(TextEntry(title, offered=offered_tags(used)), written)

    def action_guidelines(self) -> None:
        """Read the project's guidelines in the place of the query."""
        self._tab = QUERY if self._tab == GUIDELINES else GUIDELINES
        self._show()

    def action_what_if(self) -> None:
        """What the judgments do to the runs, then what each of them does, then back to what speaks for the document.
        Blind judging shows it when all are judged."""
        if self._blind and self._triage is not None and self._triage.queue.current is not None:
            self.notify("Blind judging: what the judgments change is shown once all are judged.", markup=False)
            return
        self._changes = BELOW[(BELOW.index(self._changes) + 1) % len(BELOW)]
        self._show()

    def action_next_text(self) -> None:
        """Another text beside the candidate; on a narrow screen in its place."""
        tabs = [QUERY, REASONING]
        if not self._blind and self.size.width < THREE_PANES:
            tabs.append(GOLDS)
        if self.size.width < TWO_PANES:
            tabs.insert(0, CANDIDATE)
        self._tab = tabs[(tabs.index(self._tab) + 1) % len(tabs)] if self._tab in tabs else tabs[0]
        self._show()

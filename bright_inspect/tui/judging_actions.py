"""What the program does about judgments, whichever screen asks for it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal, cast

if TYPE_CHECKING:
    from bright_inspect.judging.decisions import Decision
    from bright_inspect.tui.app import BrightInspect


class JudgingActions:
    """Actions of the program; its other half is ``BrightInspect``."""

    @property
    def _program(self) -> BrightInspect:
        return cast("BrightInspect", self)

    def action_triage(self) -> None:
        """Judge the unjudged documents of the queries at hand, one by one."""
        from bright_inspect.tui.screens.inspect import InspectScreen
        from bright_inspect.tui.screens.triage import TriageScreen

        screen = self._program.desk_screen()
        if screen is not None and screen.ready and not isinstance(screen, TriageScreen):
            tasks = screen.tasks
            if isinstance(screen, InspectScreen):
                tasks = ((screen.row.key.dataset, screen.row.key.task),)
            self._program.push_screen(TriageScreen(tasks))

    def action_judge(self, relevance: int) -> None:
        """Judge the document at hand on the Inspect screen."""
        from bright_inspect.tui.screens.inspect import InspectScreen

        screen = self._program.desk_screen()
        if not (isinstance(screen, InspectScreen) and screen.ready and screen.view and screen.document):
            return
        if self._program.runner.busy("judge"):
            return
        desk, view, doc_id = self._program.desk, screen.view, screen.document

        def kept(decision: Decision) -> None:
            said = f"{doc_id}: {decision.relevance} by {decision.annotator}, kept in {desk.triage.journal.path.name}"
            self._program.notify(f"{said}; z takes it back, L lets it count.", markup=False)
            self.take_over_decisions()

        self._program.runner.start("judge", lambda token: desk.judge(view, doc_id, relevance, token), kept)

    def action_tag_query(self) -> None:
        """Put a tag on the query at hand."""
        from bright_inspect.store.triage_request import offered_tags

        self._write_on_query("Tag this query", "tag", offered_tags(self._program.desk.tag_names))

    def action_note_query(self) -> None:
        """Write a note on the query at hand."""
        self._write_on_query("Note on this query", "note", ())

    def _write_on_query(self, title: str, kind: Literal["tag", "note"], offered: Sequence[str]) -> None:
        from bright_inspect.tui.screens.inspect import InspectScreen
        from bright_inspect.tui.screens.text_entry import TextEntry

        screen = self._program.desk_screen()
        if not (isinstance(screen, InspectScreen) and screen.ready and screen.view):
            return
        key, desk = screen.view.key, self._program.desk

        def kept(decision: Decision) -> None:
            self._program.notify(
                f"{kind} on query {key.query_id}: {decision.note or ', '.join(decision.tags)}", markup=False
            )
            self.take_over_decisions()

        def written(text: str | None) -> None:
            if text and not self._program.runner.busy("judge"):
                about = desk.triage.about_query(key, kind, text)
                self._program.runner.start("judge", lambda token: desk.triage.write(about, token), kept)

        self._program.push_screen(TextEntry(title, offered=offered), written)

    def action_take_back(self) -> None:
        """Take the annotator's last decision back."""
        if self._program.desk_screen() is None or self._program.runner.busy("judge"):
            return

        def done(taken: Decision | None) -> None:
            what = "There is nothing of yours to take back."
            if taken is not None:
                what = f"Taken back: {taken.kind} of {taken.doc_id or f'query {taken.query_id}'}."
            self._program.notify(what, markup=False)
            self.take_over_decisions()

        self._program.runner.start("judge", self._program.desk.triage.undo, done)

    def take_over_decisions(self) -> None:
        """Let layers made of decisions say what the journal says now; if one of them counts, score anew."""
        desk = self._program.desk

        def done(anew: bool) -> None:
            if anew:
                self._program.score_anew("scoring by the new judgments …")
            else:
                self._program.tell_desk_changed()

        self._program.runner.start("decisions", desk.take_over_decisions, done)

"""Rewriting the text of the Live screen: asked for in a dialog, written into the editor as it comes, and undone."""

from __future__ import annotations

import time
from typing import Any

from textual.timer import Timer
from textual.widgets import TextArea

from bright_inspect.domain.visible import visible
from bright_inspect.errors import BrightInspectError
from bright_inspect.presentation.cells import Cell, Span
from bright_inspect.rewriting.answers import Draft
from bright_inspect.store.progress import CancelToken
from bright_inspect.tui.rewriting_desk import Order, Written
from bright_inspect.tui.runner import message_of
from bright_inspect.tui.screens.base import DeskScreen
from bright_inspect.tui.screens.copying import CopyingScreen
from bright_inspect.tui.screens.rewrite_choice import RewriteChoice
from bright_inspect.tui.screens.working import Working
from bright_inspect.tui.widgets.line import CellLine

_LANE = "live-rewrite"
#: Twenty times a second: as quick as anyone reads, and little to draw.
_PAINT_SECONDS = 0.05
#: Of the time since the last one, the most that putting text into the editor may take: a long line is wrapped anew.
_PAINT_SHARE = 0.2


class Rewriting:
    """The rewriting of one Live screen. ``made`` says how the text in the editor was made, if it is a rewrite or an
    edited one."""

    def __init__(self, screen: DeskScreen, task: str, note: str) -> None:
        """``note`` selects the line that tells how far it is."""
        self._screen, self._task, self._note = screen, task, note
        #: The text before, how it was made, and as what it was written.
        self._before: tuple[str, dict[str, Any] | None, str] | None = None
        self._made: dict[str, Any] | None = None
        self._text = ""
        self._draft = Draft()
        self._order: Order | None = None
        self._said = ""
        self._began = 0.0
        self._timer: Timer | None = None
        self._paint_from = 0.0

    @property
    def busy(self) -> bool:
        return self._screen.runner.busy(_LANE)

    def made(self, text: str) -> dict[str, Any] | None:
        """How ``text``, which is in the editor, was made; None where no model wrote it."""
        if self._made is None:
            return None
        return {**self._made, "edited_after": text != self._text}

    def forget(self) -> None:
        """Another text was put into the editor."""
        self._made = None

    def ask(self, what: str) -> None:
        """Ask for the writer and the prompt, and write. A rewrite is made anew from what it was made from."""
        area = self._screen.query_one(TextArea)
        text = area.text if self._made is None else str(self._made["rewritten_from"])
        if not text.strip():
            self._screen.notify("There is no text to rewrite.", markup=False)
            return
        desk = self._screen.desk.live.rewriting
        try:
            prompt = desk.prompt(self._task)
        except BrightInspectError as error:
            self._screen.notify(visible(" ".join(message_of(error))), severity="error", markup=False)
            return
        name = what if self._made is None else "the text before, anew"

        def asked(order: Order | None) -> None:
            if order is not None and not self._screen.left:
                desk.writer = order.writer
                desk.keep_prompt(self._task, order.prompt)
                self._start(order)

        self._screen.app.push_screen(RewriteChoice(desk, self._screen.runner, name, text, prompt), asked)

    def stop(self) -> bool:
        """Stop what is written; what has come stays. False where nothing is."""
        if not self.busy:
            return False
        self._screen.runner.cancel(_LANE)
        self._paint()
        self._end()
        words = len(self._text.split())  # what is in the editor: more may have come since
        if words:
            self._keep({"finish": "stopped"})
            self._tell((Span(f"stopped after {words:,} words", "warning"), *self._undo_key()))
        else:
            self._put_back()
            self._tell((Span("stopped before a word was written; the text is as it was", "dim"),))
        return True

    def swap(self) -> bool:
        """Put the text before the rewrite into the editor, or the rewrite back. False where there was none."""
        if self._before is None or self.busy:
            return False
        area = self._screen.query_one(TextArea)
        now = (area.text, self._made, self._text)
        area.text, self._made, self._text = self._before
        self._before = now
        area.move_cursor((0, 0))
        what = "the rewrite" if self._made else "the text before the rewrite"
        self._tell((Span(what, "strong"), *self._undo_key("changes back")))
        return True

    def _start(self, order: Order) -> None:
        desk, draft = self._screen.desk.live.rewriting, Draft()
        area = self._screen.query_one(TextArea)
        self._before = (area.text, self._made, self._text)
        self._draft, self._order, self._text, self._began = draft, order, "", time.monotonic()
        self._said = f"{order.writer} is asked"
        area.read_only = True

        def tell(done: int, total: int, message: str) -> None:
            # Read by the timer: a worker touches no widget.
            if draft is self._draft:
                self._said = message

        def work(token: CancelToken) -> Written:
            written: Written = desk.write(order, draft, tell, token)
            return written

        self._screen.runner.start(_LANE, work, self._done, self._failed)
        self._timer = self._screen.set_interval(_PAINT_SECONDS, self._paint)
        self._tell_progress()

    def _paint(self) -> None:
        """Show as much as has come. The text before stays until there is a word."""
        began = time.monotonic()
        if not self._screen.ready or (self.busy and began < self._paint_from):
            return
        self._show_text(self._draft.text)
        ended = time.monotonic()
        self._paint_from = ended + (ended - began) * (1 / _PAINT_SHARE - 1)
        if self.busy:
            self._tell_progress()

    def _show_text(self, text: str) -> None:
        area = self._screen.query_one(TextArea)
        if text == self._text or not text:
            return
        if self._text and text.startswith(self._text):
            area.insert(text[len(self._text) :], area.document.end)
        else:
            area.text = text
        self._text = text
        area.move_cursor(area.document.end)

    def _done(self, written: Written) -> None:
        if not self._screen.ready:
            return
        self._show_text(written.text)
        self._end()
        words, thinking = len(written.text.split()), len(written.thinking.split())
        if not words:
            self._put_back()
            self._tell((Span(f"{written.problem} The text is as it was", "error"), *self._again_key()))
            return
        self._made = written.made
        counts = f"{words:,} words" + (f" after {thinking:,} of thinking" if thinking else "")
        right = (Span(f"{written.seconds:,.1f} s", "dim"),)
        if written.problem:
            self._tell((Span(written.problem, "error"), *self._undo_key()), right)
        else:
            search = (Span(" · ", "dim"), Span(self._screen.program.key_shown("live-search"), "accent"))
            left = (Span(f"rewritten: {counts}", "strong"), *search, Span(" searches", "dim"), *self._undo_key())
            self._tell(left, right)

    def _failed(self) -> None:
        """What has come is part of no answer: it leaves the editor."""
        if not self._screen.ready:
            return
        self._end()
        self._put_back()
        self._tell((Span("the rewrite failed; the text is as it was", "error"), *self._again_key()))

    def _put_back(self) -> None:
        """Put the text before into the editor; nothing was written that could be undone."""
        if self._before is None:
            return
        text, made, written = self._before
        if self._text:
            self._screen.query_one(TextArea).text = text
        self._made, self._text, self._before = made, written, None

    def _keep(self, more: dict[str, Any]) -> None:
        """Remember how a part of an answer was made."""
        order = self._order
        assert order is not None
        self._made = {
            "writer": order.writer, "prompt": order.prompt.template, "prompt_source": order.prompt.source,
            "rewritten_from": order.text, **more,
        }  # fmt: skip

    def _end(self) -> None:
        if self._timer is not None:
            self._timer.stop()
            self._timer = None
        self._screen.query_one(TextArea).read_only = False

    def _tell_progress(self) -> None:
        words, thinking = len(self._text.split()), len(self._draft.reasoning.split())
        order = self._order
        name = order.writer if order is not None else ""
        if words:
            said = f"{name} writes · {words:,} words"
        else:
            said = f"{name} thinks · {thinking:,} words" if thinking else f"{self._said} …"
        seconds = time.monotonic() - self._began
        right = (Span(f"{seconds:,.0f} s · ", "dim"), Span("Esc", "accent"), Span(" stops", "dim"))
        self._tell((Span(said, "dim"),), right)

    def _tell(self, left: Cell, right: Cell = ()) -> None:
        self._screen.query_one(self._note, CellLine).set_cells(left, right)

    def _undo_key(self, what: str = "puts the text before back") -> Cell:
        key = self._screen.program.key_shown("live-text-before")
        return Span(" · ", "dim"), Span(key, "accent"), Span(f" {what}", "dim")

    def _again_key(self) -> Cell:
        return Span(" · ", "dim"), Span(self._screen.program.key_shown("live-rewrite"), "accent"), Span(" asks", "dim")


class RewritingScreen(CopyingScreen):
    """A screen with one text to edit, which a model can rewrite."""

    rewriting: Rewriting
    _other_work: Working

    def make_rewriting(self, other_work: Working, task: str, note: str) -> None:
        """Say what else works on the text, by whose prompt it is rewritten, and which line tells how far it is."""
        self._other_work = other_work
        self.rewriting = Rewriting(self, task, note)

    @property
    def text_name(self) -> str:
        """What the text is called."""
        raise NotImplementedError

    def action_rewrite(self) -> None:
        """Have a model rewrite the text."""
        if not self.occupied():
            self.rewriting.ask(f"text {self.text_name}")

    def action_text_before(self) -> None:
        """Put back the text before the rewrite, or the rewrite."""
        if not self.occupied() and not self.rewriting.swap():
            key = self.program.key_shown("live-rewrite")
            self.notify(f"Nothing was rewritten yet: {key} has a model rewrite the text.", markup=False)

    def occupied(self) -> bool:
        """Whether work is under way that the text must wait for; if so it is said."""
        busy = "rewrite" if self.rewriting.busy else "search" if self._other_work.busy else ""
        if busy:
            self.notify(f"A {busy} is under way: Esc stops it.", markup=False)
        return bool(busy)

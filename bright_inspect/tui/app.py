"""The program: it opens the session in a worker, shows the screen that fits, and answers the keys of every screen.

Only textual and the standard library are imported before the first frame; the screens and DuckDB load in the worker.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import time
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from textual.app import App
from textual.binding import BindingType
from textual.command import Provider
from textual.message import Message
from textual.notifications import SeverityLevel
from textual.screen import Screen

from bright_inspect.domain.visible import visible
from bright_inspect.errors import BrightInspectError
from bright_inspect.store.progress import Cancelled, CancelToken, Progress
from bright_inspect.tui import keymap
from bright_inspect.tui.collecting import keep_out_of_collections
from bright_inspect.tui.judging_actions import JudgingActions
from bright_inspect.tui.runner import Runner, WorkFinished, message_of
from bright_inspect.tui.saving_actions import SavingActions
from bright_inspect.tui.screens.loading import LoadingScreen, ProgressMade
from bright_inspect.tui.themes import THEMES
from bright_inspect.tui.variant_actions import VariantActions

if TYPE_CHECKING:
    from bright_inspect.domain.measures import Measure
    from bright_inspect.store.collections import TaskKey
    from bright_inspect.store.request import OpenRequest
    from bright_inspect.tui.desk import Desk, Scored
    from bright_inspect.tui.screens.base import DeskScreen

#: Screens on the stack at the first level: the loading screen stays below.
_FIRST_LEVEL = 2

OpenDesk = Callable[["Callable[[Progress], None]", CancelToken], "Desk"]


class FindingsAdded(Message):
    """A worker has added to the session's findings."""


def _commands() -> type[Provider]:
    from bright_inspect.tui.palette import BrightCommands

    return BrightCommands


class BrightInspect(JudgingActions, SavingActions, VariantActions, App[BrightInspectError]):
    """The terminal program. ``run()`` returns the error that ended it, or None."""

    TITLE = "bright-inspect"
    CSS_PATH = "app.tcss"
    BINDINGS: ClassVar[list[BindingType]] = keymap.bindings("everywhere")
    COMMANDS: ClassVar[set[type[Provider] | Callable[[], type[Provider]]]] = {_commands}

    def __init__(self, open_desk: OpenDesk, keys: dict[str, str] | None = None) -> None:
        # Textual cannot add the filter for native colours later, when NO_COLOR meets the terminal theme.
        super().__init__(ansi_color=True if os.environ.get("NO_COLOR") else None)
        self._open_desk = open_desk
        self._keys = keys or {}
        self._desk: Desk | None = None
        self._wanted_measure: Measure | None = None
        self._wanted_layer: str | None = None
        self._error_until = 0.0
        self.runner = Runner(self, self._work_failed)
        for theme in THEMES:
            self.register_theme(theme)
        self.theme = THEMES[0].name

    def keys_of(self, key: keymap.Key) -> str:
        """The keys that do something, after the user's own."""
        return self._keys.get(key.id, key.keys)

    def key_shown(self, key_id: str) -> str:
        """The first of the keys that do this, as a person writes it."""
        key = next(key for key in keymap.KEYS if key.id == key_id)
        return keymap.display_keys(self.keys_of(key)).split(" ")[0]

    def get_default_screen(self) -> Screen[None]:
        return LoadingScreen()

    def on_mount(self) -> None:
        self.set_keymap(self._keys)
        self._restore_terminal_when_told_to_end()
        self.call_after_refresh(self._start_opening)

    def _restore_terminal_when_told_to_end(self) -> None:
        """End as by a key on SIGTERM and SIGHUP, so that the terminal is left as it was and nothing stays behind."""
        for number in (signal.SIGTERM, signal.SIGHUP):
            with contextlib.suppress(NotImplementedError, RuntimeError, ValueError):  # not the main thread, or Windows
                asyncio.get_running_loop().add_signal_handler(number, partial(self.exit, return_code=128 + number))

    def on_unmount(self) -> None:
        if self._desk is not None:
            self._desk.stop()
        self.runner.close()
        if self._desk is not None:
            self._desk.close()

    @property
    def has_desk(self) -> bool:
        """Whether the runs are open yet."""
        return self._desk is not None

    @property
    def desk(self) -> Desk:
        """The open session; screens exist only once there is one."""
        assert self._desk is not None
        return self._desk

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """While the runs are opened there is one screen, on which theirs comes: nothing else may come between."""
        return self.has_desk or action not in ("help", "command_palette")

    # --- opening -------------------------------------------------------------------------------------------------

    def _start_opening(self) -> None:
        def work(token: CancelToken) -> Desk:
            # The screens bring the layers below with them: loaded here, off the event loop.
            from bright_inspect.tui.screens import inspect, overview, queries  # noqa: F401

            return self._open_desk(lambda progress: self._tell_progress(progress), token)

        self.runner.start("open", work, self._opened)

    def _tell_progress(self, progress: Progress) -> None:
        self.post_message(ProgressMade(progress))

    def on_progress_made(self, message: ProgressMade) -> None:
        if isinstance(self.screen, LoadingScreen):
            self.screen.show(message.progress)

    def _opened(self, desk: Desk) -> None:
        from bright_inspect.tui.screens.overview import OverviewScreen
        from bright_inspect.tui.screens.queries import QueriesScreen

        self._desk = desk
        desk.found = self._tell_findings
        self.runner.start("convert", desk.convert, lambda _: self.tell_desk_changed())
        tasks = desk.session.tasks
        # Above the loading screen, not in its place: Textual cannot switch its default screen.
        self.push_screen(OverviewScreen() if len(tasks) > 1 else QueriesScreen(tasks))
        if desk.triage.request.at_once:
            self.call_after_refresh(self.action_triage)
        # What is loaded by now stays: a full collection in the middle of a key press costs its budget twice over.
        keep_out_of_collections()

    def _tell_findings(self) -> None:
        self.post_message(FindingsAdded())

    def on_findings_added(self, message: FindingsAdded) -> None:
        """Texts that were read show what the files did not."""
        self.notify(visible(f"{self.desk.session.findings[-1].message} ! lists the findings."), markup=False)
        self.tell_desk_changed()

    def on_work_finished(self, message: WorkFinished) -> None:
        self.runner.deliver(message)

    def _work_failed(self, error: BaseException) -> None:
        if isinstance(error, Cancelled):
            return
        text, hint = message_of(error)
        if self._desk is None:
            self.exit(error if isinstance(error, BrightInspectError) else BrightInspectError(text, hint), return_code=2)
            return
        self.notify(visible(f"{text} {hint}"), severity="error", markup=False, timeout=15)

    def notify(
        self,
        message: str,
        *,
        title: str = "",
        severity: SeverityLevel = "information",
        timeout: float | None = None,
        markup: bool = True,
    ) -> None:
        """Show a note in the place of the last one, so that many do not pile up over the text; errors stay."""
        now = time.monotonic()
        if severity == "error":
            self._error_until = now + (timeout or self.NOTIFICATION_TIMEOUT)
        elif now > self._error_until:
            self.clear_notifications()
        super().notify(message, title=title, severity=severity, timeout=timeout, markup=markup)

    # --- what every screen can do --------------------------------------------------------------------------------

    def tell_desk_changed(self) -> None:
        """Let every screen follow the desk."""
        from bright_inspect.tui.screens.base import DeskScreen

        for screen in self.screen_stack:
            if isinstance(screen, DeskScreen) and screen.ready:
                screen.desk_changed()

    def desk_screen(self) -> DeskScreen | None:
        """The present screen, if it is one over the session."""
        if self._desk is None:
            return None
        from bright_inspect.tui.screens.base import DeskScreen

        return self.screen if isinstance(self.screen, DeskScreen) else None

    async def action_back(self) -> None:
        """Leave one level: a save under way, what the screen has open, then the screen, then the program."""
        if self.stop_saving():
            return
        screen = self.desk_screen()
        if screen is not None and screen.ready and screen.leave_level():
            return
        if len(self.screen_stack) > _FIRST_LEVEL:
            self.pop_screen()
        else:
            self.exit()

    def action_next_baseline(self) -> None:
        """Make the next run the baseline."""
        if self.desk_screen() is None or len(self.desk.session.runs) < 2:
            return
        self.desk.next_baseline()
        self.tell_desk_changed()

    def action_next_run(self) -> None:
        """Compare the next run with the baseline."""
        if self.desk_screen() is None or len(self.desk.session.runs) < 3:
            return
        self.desk.next_run()
        self.tell_desk_changed()

    def action_choose_measure(self) -> None:
        """Choose measure and cutoff from a list."""
        if self.desk_screen() is None:
            return
        from bright_inspect.tui.screens.measure_choice import MeasureChoice

        self.push_screen(MeasureChoice(self.desk.scored.measure), self.use_measure)

    def use_measure(self, measure: Measure | None) -> None:
        """Score everything by another measure; the screens follow when it is done."""
        if measure is not None and measure != (self._wanted_measure or self.desk.scored.measure):
            self._wanted_measure = measure
            self.score_anew(f"scoring by {measure} …")

    def action_choose_layer(self) -> None:
        """Choose which judgments count."""
        if self.desk_screen() is None:
            return
        from bright_inspect.tui.screens.layers import LayersScreen

        self.push_screen(LayersScreen(), self.use_layer)

    def use_layer(self, layer: str | None) -> None:
        """Let another layer of judgments count; the screens follow when everything is scored by it."""
        if layer is not None and (self._wanted_layer is not None or set(self.desk.scored.layers.values()) != {layer}):
            self._wanted_layer = layer
            self.score_anew(f"scoring by the judgments of {visible(layer)} …")

    def score_anew(self, text: str) -> None:
        """Score by what is wanted now; what was asked for before and is not done yet is still wanted."""
        desk, layer = self.desk, self._wanted_layer
        measure = self._wanted_measure or desk.scored.measure

        def done(scored: Scored) -> None:
            self._wanted_measure = self._wanted_layer = None
            desk.scored = scored
            self.tell_desk_changed()

        def failed() -> None:
            self._wanted_measure = self._wanted_layer = None

        self.runner.start("score", lambda token: desk.score(measure, layer, token), done, failed)
        from bright_inspect.tui.screens.base import SLOW_SECONDS

        self.set_timer(SLOW_SECONDS, lambda: self._say_if_busy("score", text))

    def _say_if_busy(self, lane: str, text: str) -> None:
        if self.runner.busy(lane):
            self.notify(text, markup=False, timeout=2)

    def action_next_theme(self) -> None:
        """Dark, light, the terminal's own colours, and round again."""
        names = [theme.name for theme in THEMES]
        self.theme = names[(names.index(self.theme) + 1) % len(names)] if self.theme in names else names[0]

    def action_command_palette(self) -> None:
        """Search everything that is possible now."""
        from bright_inspect.tui.palette import Palette

        if not isinstance(self.screen, Palette):
            self.push_screen(Palette())  # without an id: the last one may still be on its way out

    def action_help(self) -> None:
        """Show every key."""
        from bright_inspect.tui.screens.help import HelpScreen

        if not isinstance(self.screen, HelpScreen):
            self.push_screen(HelpScreen(self._keys))

    def action_findings(self) -> None:
        """Show what was odd in the files."""
        if self.desk_screen() is None:
            return
        from bright_inspect.tui.screens.findings import FindingsScreen

        self.push_screen(FindingsScreen())

    def action_audit(self) -> None:
        """Take the value under the cursor apart."""
        screen = self.desk_screen()
        target = screen.audit_target() if screen is not None and screen.ready else None
        if target is None:
            return
        from bright_inspect.tui.screens.audit import AuditScreen

        self.push_screen(AuditScreen(*target))

    def action_live(self) -> None:
        """Search the query at hand again."""
        from bright_inspect.tui.screens.inspect import InspectScreen

        screen = self.desk_screen()
        if isinstance(screen, InspectScreen) and screen.ready and screen.view is not None:
            from bright_inspect.tui.screens.live import LiveScreen

            self.push_screen(LiveScreen(screen.view))

    def action_explain(self) -> None:
        """Say why the document at hand is scored as it is."""
        from bright_inspect.tui.screens.inspect import InspectScreen

        screen = self.desk_screen()
        if isinstance(screen, InspectScreen) and screen.ready and screen.view is not None and screen.document:
            from bright_inspect.domain.names import ORIGINAL
            from bright_inspect.evaluation.live import LiveRequest
            from bright_inspect.tui.screens.explain import ExplainScreen

            view, live = screen.view, self.desk.live
            request = LiveRequest(live.retriever, ORIGINAL, view.text or "", live.depth)
            self.push_screen(ExplainScreen(view, request, screen.document))

    def open_task(self, tasks: tuple[TaskKey, ...]) -> None:
        """Open the queries of some tasks above the overview."""
        from bright_inspect.tui.screens.queries import QueriesScreen

        self.push_screen(QueriesScreen(tasks))


def make_app(request: OpenRequest, keys: dict[str, str] | None = None) -> BrightInspect:
    """The program for a request; nothing is read before it runs."""

    def open_desk(progress: Callable[[Progress], None], token: CancelToken) -> Desk:
        from bright_inspect.tui.desk import open_desk

        return open_desk(request, progress, token)

    return BrightInspect(open_desk, keys)

"""Saving the session as one file, whichever screen asks for it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, cast

from bright_inspect.domain.visible import visible
from bright_inspect.store.progress import CancelToken, Progress

if TYPE_CHECKING:
    from bright_inspect.retrieval.protocol import Progress as Tell
    from bright_inspect.tui.app import BrightInspect

SAVE_LANE = "save"


class SavingActions:
    """Actions of the program; its other half is ``BrightInspect``."""

    def action_save_session(self) -> None:
        """Ask for a file and save the session in it."""
        from bright_inspect.tui.screens.text_entry import TextEntry
        from bright_inspect.tui.screens.working import Working

        program = cast("BrightInspect", self)
        screen = program.desk_screen()
        if screen is None or not screen.ready or program.runner.busy(SAVE_LANE):
            return
        desk, line = program.desk, "#top" if screen.query("#top") else "#title"
        working = Working(screen, SAVE_LANE, line)

        def named(name: str | None) -> None:
            if not name:
                return
            out = Path(name).expanduser()

            def work(tell: Tell, token: CancelToken) -> int:
                def listen(progress: Progress) -> None:
                    tell(progress.done, progress.total, progress.message)

                return desk.save(out, listen, token)

            def done(size: int) -> None:
                program.notify(visible(f"{out}: saved, {size / 1e6:,.1f} MB. bright-inspect opens it."), markup=False)
                program.tell_desk_changed()

            working.start(work, done, program.tell_desk_changed, "saving the session")

        program.push_screen(TextEntry("Save the session in a new file", "session.duckdb"), named)

    def stop_saving(self) -> bool:
        """Stop a save that is under way; whether there was one."""
        program = cast("BrightInspect", self)
        if not program.runner.busy(SAVE_LANE):
            return False
        program.runner.cancel(SAVE_LANE)
        program.notify("Saving was stopped: no file was made.", markup=False)
        program.tell_desk_changed()
        return True

"""What the screens over an open session have in common: the desk, the top line, and following its changes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, cast

from textual.screen import Screen

from bright_inspect.domain.rankings import QueryKey
from bright_inspect.presentation.cells import Cell, Span
from bright_inspect.presentation.header import top_line
from bright_inspect.store.collections import TaskKey

if TYPE_CHECKING:
    from bright_inspect.tui.app import BrightInspect
    from bright_inspect.tui.desk import Desk
    from bright_inspect.tui.runner import Runner


AuditTarget = QueryKey | tuple[TaskKey, ...]
"""A query's value, or the mean of some tasks."""
#: Anything that takes longer says that it is working.
SLOW_SECONDS = 0.15


def are_same(one: Sequence[object], other: Sequence[object]) -> bool:
    """Whether both are the same objects, or equal numbers and names: comparing all scores or texts would take longer
    than showing them."""
    pairs = zip(one, other, strict=False)
    return len(one) == len(other) and all(a is b or (isinstance(a, int | str) and a == b) for a, b in pairs)


class DeskScreen(Screen[None]):
    """A screen that shows part of the session.

    Keys may come before a pushed screen has its widgets, or after it was left: until it is ``ready`` it takes none.
    """

    _has_widgets = False

    def on_mount(self) -> None:
        self._has_widgets = bool(self.children)

    @property
    def ready(self) -> bool:
        """Whether the screen's widgets are there to be asked and changed."""
        return self._has_widgets and not self.left

    @property
    def left(self) -> bool:
        """Whether the user went back from this screen, perhaps before it was built."""
        return self not in self.app.screen_stack

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        return super().check_action(action, parameters) if self.ready else False

    @property
    def program(self) -> BrightInspect:
        return cast("BrightInspect", self.app)

    @property
    def desk(self) -> Desk:
        return self.program.desk

    @property
    def runner(self) -> Runner:
        return self.program.runner

    def top_cells(self) -> tuple[Cell, Cell]:
        """The top line: what is open on the left, what is measured against what on the right."""
        session = self.desk.session
        left, right = top_line(
            session, self.desk.compared, len(self.desk.scored.rows), session.findings, self.size.width
        )
        return left, right or (Span(""),)

    def desk_changed(self) -> None:
        """Another measure, layer, baseline or compared run: show it, keeping the place."""

    @property
    def tasks(self) -> tuple[TaskKey, ...]:
        """The tasks whose queries are at hand."""
        return tuple(self.desk.session.tasks)

    def audit_target(self) -> tuple[AuditTarget, int] | None:
        """What the value under the cursor is of, and of which run; None where there is no value."""
        return None

    def leave_level(self) -> bool:
        """Close what the screen has open, if anything; False leaves the screen itself."""
        return False

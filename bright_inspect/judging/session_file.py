"""An open session saved with its decisions."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from bright_inspect.db import Cursor
from bright_inspect.domain.measures import Measure
from bright_inspect.judging.layers import DecisionLayers, journals_of_request
from bright_inspect.judging.saved import decided
from bright_inspect.store.opening import Opening
from bright_inspect.store.progress import ProgressListener
from bright_inspect.store.saving import Decided, save_session
from bright_inspect.store.session import Run


def save_judged_session(
    opening: Opening,
    cursor: Cursor,
    out: Path,
    measure: Measure | None,
    progress: ProgressListener,
    check: Callable[[], None],
    baseline: Run | None = None,
) -> int:
    """Write a converted session to a new file; its size. It opens by ``measure`` and with ``baseline``, or as the
    session did.

    Raises:
        BrightInspectError: as ``save_session``.
    """
    session, lines = opening.session, Decided()
    made = session.collections.made.source
    if isinstance(made, DecisionLayers):
        lines = decided(made.decisions, made, cursor, session.tasks, journals_of_request(opening.request))
    return save_session(opening, cursor, out, lines, measure, progress, check, baseline)

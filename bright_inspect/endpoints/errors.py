"""What goes wrong with a server, as one line: which URL and model, what was found, what was expected, what to do."""

from __future__ import annotations

from bright_inspect.domain.visible import visible
from bright_inspect.errors import BrightInspectError

_EXCERPT = 200


class EndpointError(BrightInspectError):
    """A server that does not answer, refuses, or answers nonsense.

    ``lasting``: any other question to this server and model would fail the same, as with a wrong key.
    """

    def __init__(self, message: str, hint: str = "", *, lasting: bool = False) -> None:
        super().__init__(message, hint)
        self.lasting = lasting


def excerpt(text: str) -> str:
    """The beginning of a server's text on one line, with nothing in it that a terminal would obey."""
    start = text[: 4 * _EXCERPT]
    line = visible(" ".join(start.split()))
    return line if len(line) <= _EXCERPT and start == text else line[: _EXCERPT - 1] + "…"

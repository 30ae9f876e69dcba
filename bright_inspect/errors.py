"""The errors a user may see: one line that says what was found, where, and what to do."""

from __future__ import annotations


class BrightInspectError(Exception):
    """Something the user can mend. ``message`` is one line; ``hint`` says what to do next; exit code 2."""

    exit_code = 2

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message} {self.hint}".strip()


class UnreadableInput(BrightInspectError):
    """A file or folder that cannot be used at all."""


class UsageError(BrightInspectError):
    """Options that do not go together, or a name that is not known."""

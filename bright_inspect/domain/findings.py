"""What readers found odd in a file: nothing is dropped or mended without one of these."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Severity = Literal["error", "warning"]


@dataclass(frozen=True, slots=True)
class Finding:
    """One kind of oddity in one file.

    ``count`` is how often it occurs, ``line`` the first place (1-based, None where the file has no lines), and
    ``message`` says what was found, what was done about it and what that changes in the score.
    """

    code: str
    severity: Severity
    file: str
    message: str
    line: int | None = None
    count: int = 1

    @property
    def place(self) -> str:
        """``file:line``, or ``file`` where there is no line."""
        return self.file if self.line is None else f"{self.file}:{self.line}"

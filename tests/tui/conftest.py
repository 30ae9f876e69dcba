"""What tests of the screen get beside what every test gets."""

from __future__ import annotations

import pytest
import textual._wait


@pytest.fixture(autouse=True)
def quick_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    """Textual calls the program idle once it has done nothing for 20 ms, several times a key: most of a test's time.
    ``settle`` asks the program itself whether work is under way, so that a shorter look suffices."""
    monkeypatch.setattr(textual._wait, "SLEEP_GRANULARITY", 1 / 250)
    monkeypatch.setattr(textual._wait, "SLEEP_IDLE", 1 / 2500)

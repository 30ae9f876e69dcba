"""The session over four real runs, opened once."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from bright_inspect.judging.candidates import CandidatePool, pool_candidates
from bright_inspect.store.session import Session
from tests.judging.small import earth_science


@pytest.fixture(scope="session")
def earth(isolated_session: None, bright_data: Path) -> Iterator[Session]:
    """Converted, with the fixed judgments as another layer."""
    fixed = bright_data / "qrels" / "qrels.bright-earth-science.fixed.txt"
    with earth_science(bright_data, f"fixed={fixed}") as opening:
        opening.convert()
        yield opening.session


@pytest.fixture(scope="session")
def earth_pool(earth: Session) -> CandidatePool:
    """The top 10, all ranks known, also without a text."""
    return pool_candidates(earth, earth.cursor, ranks_to=None, hold_back=False)

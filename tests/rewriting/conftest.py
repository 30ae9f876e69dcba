from __future__ import annotations

from pathlib import Path

import pytest

from tests.rewriting.real import EarthScience, earth_science


@pytest.fixture(scope="session")
def earth(bright_data: Path, tmp_path_factory: pytest.TempPathFactory) -> EarthScience:
    return earth_science(bright_data, tmp_path_factory.mktemp("earth"))

"""The rule that a skip is a failure where it would hide that nothing was tested."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from bright_inspect.tui.keymap import key_file
from tests.support import ROOT


def test_a_developers_own_keys_do_not_reach_tests(tmp_path: Path) -> None:
    assert key_file().is_relative_to(tmp_path)


@pytest.mark.parametrize(
    ("ci", "there", "code"), [("true", True, 1), ("true", False, 0), ("", True, 0), ("", False, 0)]
)
def test_skips_fail_in_ci_where_the_data_is(tmp_path: Path, ci: str, there: bool, code: int) -> None:
    if there:
        (tmp_path / "data").mkdir()
    probe = tmp_path / "test_probe.py"
    probe.write_text(
        "import pytest\n"
        "def test_that_skips(): pytest.skip('for a reason')\n"
        "def test_that_needs_data(bright_data): assert bright_data.is_dir()\n"
        "@pytest.mark.xfail(strict=True)\n"
        "def test_that_fails_as_expected(): assert False\n"
    )
    environment = {**os.environ, "CI": ci, "BRIGHT_INSPECT_TEST_DATA": str(tmp_path / "data")}
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "tests.conftest", str(probe)],
        cwd=ROOT, env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == code, done.stdout
    assert ("skipped although CI=true" in done.stdout) == (code == 1)

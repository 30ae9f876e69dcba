"""What every test gets: a user's machine with nothing on it, and the shared real data where it is at hand."""

from __future__ import annotations

import os
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

from tests.support import BRIGHT_TEST_DATA

# The same examples on every run of CI, and fewer: what chance finds elsewhere becomes a case of its own.
settings.register_profile("ci", derandomize=True, max_examples=30)
if os.environ.get("CI") == "true":
    settings.load_profile("ci")


def _isolate(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    monkeypatch.setenv("BRIGHT_INSPECT_CACHE", str(folder / "cache"))
    monkeypatch.delenv("BRIGHT_INSPECT_DATA", raising=False)
    monkeypatch.setenv("HF_HOME", str(folder / "hf"))
    monkeypatch.setenv("HF_HUB_CACHE", str(folder / "hf" / "hub"))
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(folder / "config"))
    monkeypatch.delenv("NO_COLOR", raising=False)
    for name in ("BRIGHT_INSPECT_ENDPOINT", "BRIGHT_INSPECT_API_KEY", "OPENAI_BASE_URL", "OPENAI_API_KEY"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture(scope="session", autouse=True)
def isolated_session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """No test, and no fixture that outlives one, reads or writes what the developer has on this machine."""
    with pytest.MonkeyPatch.context() as monkeypatch:
        _isolate(monkeypatch, tmp_path_factory.mktemp("session"))
        yield


@pytest.fixture(autouse=True)
def isolated_test(isolated_session: None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Each test has a run cache, a Hugging Face cache and a folder of settings of its own, all empty."""
    _isolate(monkeypatch, tmp_path / "isolated")


@pytest.fixture(scope="session")
def bright_data() -> Path:
    """The folder of shared real data (see its README); the test is skipped where there is none."""
    if not BRIGHT_TEST_DATA.is_dir():
        pytest.skip(f"no shared data at {BRIGHT_TEST_DATA} (set BRIGHT_INSPECT_TEST_DATA)")
    return BRIGHT_TEST_DATA


def _forbid_skip(report: pytest.TestReport | pytest.CollectReport) -> None:
    """With CI=true and the data there, nothing may be skipped: it would pass without having been tested."""
    if report.skipped and not hasattr(report, "wasxfail") and os.environ.get("CI") == "true":
        if not BRIGHT_TEST_DATA.is_dir():
            return
        report.outcome = "failed"
        report.longrepr = f"skipped although CI=true and {BRIGHT_TEST_DATA} is there: {report.longrepr}"


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[Any]) -> Generator[None, Any, Any]:
    report = yield
    _forbid_skip(report)
    return report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(collector: pytest.Collector) -> Generator[None, Any, Any]:
    report = yield
    _forbid_skip(report)
    return report

"""How judging is asked for on the command line: what the options come to, and what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from bright_inspect.cli import demo_command
from bright_inspect.errors import UsageError
from bright_inspect.store.request import OpenRequest


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[OpenRequest]:
    """What the demo is opened with."""
    requests: list[OpenRequest] = []
    monkeypatch.setattr(demo_command, "open_program", requests.append)
    return requests


@pytest.mark.parametrize(
    ("options", "order"),
    [
        ("", "effect"),
        ("--blind", "effect"),
        ("--order evidence", "evidence"),
        ("--triage-run bm25", "run"),
        ("--blind --order random", "random"),
        ("--blind --order conflicts", "conflicts"),
        ("--blind --order evidence --per-query 3", "evidence"),
    ],
)
def test_an_order_that_is_followed(asked: list[OpenRequest], options: str, order: str) -> None:
    assert CliRunner().invoke(demo_command.command, options).exit_code == 0
    assert asked[0].triage.order == order


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ("--blind --order evidence", "shuffled"),
        ("--order agreement --triage-run bm25", "give one only"),
        ("--order conflicts --per-query 2", "leave one out"),
    ],
)
def test_an_order_that_would_come_to_nothing(asked: list[OpenRequest], options: str, told: str) -> None:
    error = CliRunner().invoke(demo_command.command, options).exception
    assert isinstance(error, UsageError)
    assert told in error.hint
    assert not asked


def test_the_demo_is_judged_as_other_runs_are(asked: list[OpenRequest]) -> None:
    options = "--triage --annotator anna --journal a.jsonl --layer mine:anna --repeat-rate 0.5 --retriever minilm"
    assert CliRunner().invoke(demo_command.command, options).exit_code == 0
    (request,) = asked
    assert (request.dataset, request.journals, request.layer) == ("demo", (Path("a.jsonl"),), "mine:anna")
    assert request.retrievers == ("minilm",)
    assert (request.triage.annotator, request.triage.at_once, request.triage.repeat_rate) == ("anna", True, 0.5)

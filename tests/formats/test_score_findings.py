"""What is said about the scores of a run, and what is not."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bright_inspect.formats.score_findings import CODES
from tests.formats.reading import Run, run_of

Lines = list[tuple[str, str, int, float]]


def trec(tmp_path: Path, lines: Lines) -> Run:
    return run_of(tmp_path, "".join(f"{q} Q0 {d} {rank} {score!r} t\n" for q, d, rank, score in lines))


def said(run: Run) -> dict[str, int]:
    return {finding.code: finding.count for finding in run.read.findings if finding.code in CODES}


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ([("1", "a", 1, 2.0), ("1", "b", 2, 1.0)], {}),
        ([("1", "a", 1, 2.0)], {}),
        ([("1", "a", 1, 2.5), ("1", "b", 2, 2.5), ("2", "a", 1, 3.0)], {"all-scores-equal": 1}),
        ([("1", "a", 2, 2.5), ("1", "b", 1, 1.0)], {"ranks-contradict-scores": 1}),
        ([("1", "b", 1, 1.0), ("1", "a", 2, 2.5)], {"ranks-contradict-scores": 1}),
        ([("1", "b", 2, 1.0), ("1", "a", 1, 2.5)], {}),
        ([("1", "a", 0, 1.0), ("1", "b", 0, 2.5)], {}),
        ([("1", "a", 1, 1.0), ("1", "b", 1, 2.5), ("1", "c", 2, 0.5)], {}),
        ([("1", "a", 1, 3.0), ("1", "b", 1, 1.0), ("1", "c", 2, 2.5)], {"ranks-contradict-scores": 1}),
        ([("1", "a", 2, 2.5), ("1", "b", 1, 2.5), ("1", "c", 3, 1.0)], {}),
        ([("1", "a", 1, 3.0), ("2", "a", 1, 9.5), ("1", "b", 2, 5.0), ("2", "b", 2, 5.0)],
         {"ranks-contradict-scores": 1}),
        ([("1", "a", 1, 0.876543219), ("1", "b", 2, 0.876543210)], {"float32-ties": 1}),
        ([("1", "b", 2, 0.876543210), ("1", "a", 1, 0.876543219)], {"float32-ties": 1}),
        ([("1", "b", 1, 1e40), ("1", "a", 2, 1e39)], {"float32-ties": 1}),
        ([("1", "b", 1, 5.0), ("2", "b", 1, 0.5), ("1", "a", 2, 5.0 - 1e-9), ("2", "a", 2, 0.25)], {"float32-ties": 1}),
        ([("1", "a", 1, 1.0), ("1", "b", 2, 0.0), ("2", "b", 1, 1.0)], {}),
    ],
)  # fmt: skip
def test_findings_about_scores(tmp_path: Path, lines: Lines, expected: dict[str, int]) -> None:
    assert said(trec(tmp_path, lines)) == expected


def test_messages_say_how_many_and_where(tmp_path: Path) -> None:
    run = trec(tmp_path, [("0", "x", 1, 9.5), ("0", "y", 2, 8.0), ("1", "a", 1, 0.5), ("1", "b", 2, 0.75)])
    message = run.finding("ranks-contradict-scores").message
    assert "1 of 2 queries" in message
    assert "First: query 1. In all of them the lowest score ranks first: are these distances?" in message
    run = trec(tmp_path, [("0", "x", 1, 7.5), ("0", "y", 2, 7.5), ("1", "a", 1, 7.5), ("1", "b", 2, 7.5)])
    assert "every query" in run.finding("all-scores-equal").message
    run = trec(tmp_path, [("0", "x", 1, 9.5), ("1", "a", 1, 5.0), ("1", "b", 2, 5.0 - 1e-9)])
    assert "First: query 1, a and b." in run.finding("float32-ties").message


SCORES = st.sampled_from([0.5, 0.5 + 1e-9, 0.25, 7.125, 7.125 - 1e-8, 1e39, -1e39, 1e40])
LINES = st.lists(st.tuples(st.sampled_from("12"), st.integers(0, 4), SCORES), min_size=1, max_size=12)


@settings(deadline=None, max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(LINES)
def test_against_the_definitions(tmp_path: Path, drawn: list[tuple[str, int, float]]) -> None:
    import numpy

    lines = [(query, f"d{number}", rank, score) for number, (query, rank, score) in enumerate(drawn)]
    with numpy.errstate(over="ignore"):
        queries = {
            query: [(rank, score, float(numpy.float32(score))) for q, _, rank, score in lines if q == query]
            for query in {line[0] for line in lines}
        }
    expected = {
        "all-scores-equal": sum(len(docs) > 1 and len({doc[1] for doc in docs}) == 1 for docs in queries.values()),
        "ranks-contradict-scores": sum(
            any(one[0] < other[0] and one[1] < other[1] for one in docs for other in docs) for docs in queries.values()
        ),
        "float32-ties": sum(len({doc[1] for doc in docs}) > len({doc[2] for doc in docs}) for docs in queries.values()),
    }
    assert said(trec(tmp_path, lines)) == {code: count for code, count in expected.items() if count}


@pytest.mark.parametrize(("score", "expected"), [(0, {"looks-like-judgments": 1}), (4, {}), (0.5, {}), (-1, {})])
def test_json_may_be_judgments(tmp_path: Path, score: float, expected: dict[str, int]) -> None:
    assert said(run_of(tmp_path, json.dumps({"1": {"a": 1, "b": score}, "2": {"c": 1}}))) == expected


def test_mteb_order_is_no_contradiction(tmp_path: Path) -> None:
    assert run_of(tmp_path, json.dumps({"1": {"a": 0.1, "b": 0.9, "c": 0.5}})).codes == []


@pytest.mark.parametrize("task", ["stackoverflow", "pony"])
def test_real_runs(bright_data: Path, tmp_path: Path, task: str) -> None:
    content = (bright_data / "runs" / "reasonir" / f"{task}.txt").read_bytes()
    run = run_of(tmp_path, content)
    ids = [re.split(rb"[ \t]+", line)[0].decode() for line in content.splitlines() if line.strip()]
    assert [row[0] for row in run.rows] == ids
    assert "ranks-contradict-scores" not in run.codes

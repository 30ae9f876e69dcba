"""Findings by what they change: every code of the program has its place, and nothing is lost in the grouping."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import bright_inspect
from bright_inspect.domain.findings import (
    _CHANGES,
    CHANGES,
    NOTHING,
    QUERIES,
    SCORE,
    UNKNOWN,
    Finding,
    changes,
    grouped,
)
from bright_inspect.formats import trec_run
from bright_inspect.presentation.findings import excerpt_lines, finding_in_full, finding_rows, no_excerpt
from tests.unit.making import text_of

PACKAGE = Path(bright_inspect.__file__).parent


def literal_codes() -> Iterator[str]:
    """The first argument of every ``Finding(…)`` in the source that is written out there."""
    for path in PACKAGE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "Finding" and node.args:
                code = getattr(node.args[0], "value", None)
                if isinstance(code, str):
                    yield code


def test_every_code_in_the_source_says_what_it_changes() -> None:
    codes = {*literal_codes(), *(code for code, _, _ in trec_run._STATE_FINDINGS.values())}
    assert len(codes) >= 20
    assert sorted(code for code in codes if changes(code) == UNKNOWN) == []
    assert set(_CHANGES.values()) | {UNKNOWN} == set(CHANGES)


def found(
    code: str, severity: str = "warning", line: int | None = None, file: str = "f.trec", count: int = 1
) -> Finding:
    return Finding(code, severity, file, f"message of {code}", line, count)  # type: ignore[arg-type]


def test_groups_with_errors_come_first_and_errors_first_in_each() -> None:
    findings = [found("utf-16"), found("short-list"), found("new-code", "error"), found("bad-score", "error")]
    findings += [found("missing-query")]
    assert [(group, [each.code for each in of_group]) for group, of_group in grouped(findings)] == [
        (SCORE, ["bad-score", "short-list"]),
        (UNKNOWN, ["new-code"]),
        (QUERIES, ["missing-query"]),
        (NOTHING, ["utf-16"]),
    ]


@given(st.lists(st.tuples(st.sampled_from([*_CHANGES, "never-heard-of"]), st.sampled_from(["error", "warning"]))))
def test_every_finding_is_in_one_group(pairs: list[tuple[str, str]]) -> None:
    findings = [found(code, severity) for code, severity in pairs]
    listed = [each for _, of_group in grouped(findings) for each in of_group]
    assert sorted(map(id, listed)) == sorted(map(id, findings))
    rows = finding_rows(findings)
    assert len(rows) == len(findings) + len(grouped(findings))
    assert [finding for _, finding in rows if finding is not None] == listed


def test_rows_and_one_in_full() -> None:
    findings = [found("comment-line", line=3, count=1200), found("bad-score", "error", line=2)]
    assert [[text_of(cell) for cell in row.cells] for row, _ in finding_rows(findings)] == [
        ["", "", "", "changes the score · 1 error"],
        ["✗", "1", "f.trec:2", "message of bad-score"],
        ["", "", "", "changes nothing in the score · 1 warning"],
        ["!", "1,200", "f.trec:3", "message of comment-line"],
    ]
    assert [text_of(line) for line in finding_in_full(findings[0])] == [
        "warning f.trec:3", "message of comment-line", "comment-line · 1,200 times · changes nothing in the score",
    ]  # fmt: skip


def test_the_line_stands_out_whole_and_its_neighbours_are_elided() -> None:
    lines = [(999, "short"), (1000, "x" * 40), (1001, "a" * 20 + "b" * 20)]
    shown = excerpt_lines(found("bad-score", line=1000), lines, 28)
    assert [text_of(line) for line in shown] == [
        "    999 short", "▌ 1,000 " + "x" * 40, "  1,001 " + "a" * 10 + "…" + "b" * 9,
    ]  # fmt: skip
    assert [line[-1].style for line in shown] == ["dim", "strong", "dim"]


@pytest.mark.parametrize(
    ("file", "said"), [("runs/score.JSON", "by its keys"), ("a.json.gz", "by its keys"), ("a.trec", "as a whole")]
)
def test_why_there_are_no_lines(file: str, said: str) -> None:
    assert said in no_excerpt(found("bad-score", file=file))

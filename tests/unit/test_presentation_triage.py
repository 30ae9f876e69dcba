"""Triage's lines, open and blind."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from bright_inspect.domain.measures import parse_measure
from bright_inspect.domain.rankings import QueryKey
from bright_inspect.judging.candidates import Candidate
from bright_inspect.judging.evidence import EVIDENCE_KINDS, WEIGHTS, Evidence
from bright_inspect.judging.queue import QueueItem, QueueProgress
from bright_inspect.judging.what_if import DecisionShare, RunChange
from bright_inspect.presentation.cells import STYLE_NAMES, TableRow
from bright_inspect.presentation.triage import (
    EVIDENCE_NAMES,
    HIDDEN,
    ShareRows,
    evidence_columns,
    evidence_rows,
    item_line,
    item_title,
    pool_warning,
    progress_line,
    share_columns,
    weight_lines,
    what_if_columns,
    what_if_rows,
    what_if_title,
)
from bright_inspect.store.session import Run, RunFile
from tests.unit.making import BIOLOGY, PONY, make_run, styles_of, text_of

QUERY = QueryKey(*BIOLOGY, "37")


def covering(run: Run) -> Run:
    """The run with a file of biology."""
    return replace(run, files=(RunFile(run.run_id, Path("x"), "rows", (BIOLOGY,)),))


RUNS = (covering(make_run(0, "reasonir@gpt4_reason")), covering(make_run(1, "bm25")), make_run(2, "rader"))
CANDIDATE = Candidate(QUERY, "topic/Page_3.txt", (3, None, None), (0.71234, None, None))
EVIDENCE = (
    Evidence("identical", 1.0, "the text of gold g", "topic/Page_1.txt", WEIGHTS["identical"].weight),
    Evidence("agreement", 0.5, "in the top 10 of 1 of 2 runs, best rank 3", None, WEIGHTS["agreement"].weight),
)
CHANGES = [
    RunChange(RUNS[1], 0.30, 0.41, 2, 1, 0.1, 0.25, 0, 1.25, False),
    RunChange(RUNS[0], 0.35, 0.34, 1, 2, 0.2, 0.2, 2, 3.0, True),
]


def texts(rows: list[TableRow]) -> list[list[str]]:
    return [[text_of(cell) for cell in row.cells] for row in rows]


def test_ranks_and_evidence() -> None:
    rows = evidence_rows(CANDIDATE, EVIDENCE, RUNS, ranks_to=100)
    assert texts(rows) == [
        ["reasonir@gpt4_reason", "3", "", "score 0.7123"],
        ["bm25", ">100", "", "not in its top 100"],
        ["rader", "–", "", "does not cover biology"],
        ["same text", "1.00", "10.0", "the text of gold g"],
        ["runs agree", "0.50", "0.5", "in the top 10 of 1 of 2 runs, best rank 3"],
        ["evidence", "", "10.5", ""],
    ]
    assert [row.key for row in rows[3:]] == ["topic/Page_1.txt", "agreement", "sum"]
    assert all(len(row.cells) == len(evidence_columns()) for row in rows)
    whole = evidence_rows(CANDIDATE, EVIDENCE, RUNS, ranks_to=None)
    assert text_of(whole[1].cells[3]) == "not listed"
    assert set(EVIDENCE_NAMES) == set(EVIDENCE_KINDS)


def test_weights_are_stated() -> None:
    lines = list(map(text_of, weight_lines()))
    assert lines[0].split("  the same text ")[0].split() == ["same", "text", "10"]
    assert len(lines) == len(EVIDENCE_KINDS)


def test_blind_judging_sees_nothing_of_it() -> None:
    (row,) = evidence_rows(CANDIDATE, EVIDENCE, RUNS, ranks_to=100, hidden=True)
    assert text_of(row.cells[3]) == HIDDEN
    item = QueueItem(QUERY, CANDIDATE.doc_id)
    open_title, blind = (text_of(item_title(item, effect=0.0123, score=10.5, blind=form)) for form in (False, True))
    assert open_title == "biology 37 · topic/Page_3.txt · effect 1.23 · evidence 10.5"
    assert blind == "biology 37 · blind"
    assert item_title(replace(item, repeat=True)) == item_title(item)


@pytest.mark.parametrize(
    ("width", "left", "right"),
    [
        (120, "biology 37 · topic/Page_3.txt · effect 1.23 · evidence 10.5", "anna · judgments.jsonl"),
        (80, "biology 37 · topic/Page_3.txt · effect 1.23 · evidence 10.5", "anna"),
        (60, "biology 37 · topic/Page_3.txt · effect 1.23", ""),
        (32, "biology 37 · topic/Page_3.txt", ""),
    ],
)
def test_the_id_is_whole_before_anything_else(width: int, left: str, right: str) -> None:
    item = QueueItem(QUERY, CANDIDATE.doc_id)
    line = item_line(item, "anna", "judgments.jsonl", width, effect=0.0123, score=10.5)
    assert tuple(map(text_of, line)) == (left, right)


@pytest.mark.parametrize(
    ("width", "text"),
    [
        (200, "37 of 1,350 judged · 1,313 left · 12.4 a minute · 1 h 46 min to go · 1,459 held back: no text at hand"
              " · 3 judged twice"),
        (80, "37 of 1,350 judged · 1,313 left · 12.4 a minute · 1 h 46 min to go"),
        (10, "37 of 1,350 judged"),
    ],
)  # fmt: skip
def test_progress(width: int, text: str) -> None:
    assert text_of(progress_line(QueueProgress(37, 1313, 1350, 1459, 3, 12.4, 1313 / 12.4), width)) == text


def test_progress_at_the_ends() -> None:
    again = progress_line(QueueProgress(0, 5, 5, 0, 0, None, None), 80, before=1201, settled=3)
    assert text_of(again) == "0 of 5 judged · 5 left · 1,201 judged before · 3 conflicts you settled before"
    assert text_of(progress_line(QueueProgress(0, 5, 5, 0, 0, None, None), 80)) == "0 of 5 judged · 5 left"
    done = QueueProgress(5, 0, 5, 0, 2, 30.0, 0.0)
    assert text_of(progress_line(done, 80, blind=True)) == "5 of 5 judged · 0 left · 30.0 a minute"
    assert "1 min to go" in text_of(progress_line(QueueProgress(4, 1, 5, 0, 0, 30.0, 0.03), 80))


def test_what_if() -> None:
    columns = what_if_columns(10, 120)
    assert texts(what_if_rows(CHANGES, columns)) == [
        ["2 → 1 ▲", "bm25", "30.0", "41.0", "+11.0", "10.0 → 25.0", "rank 0, mean 1.2"],
        ["1 → 2 ▼", "reasonir@gpt4_reason outside the pool", "35.0", "34.0", "−1.0", "20.0", "rank 2, mean 3.0"],
    ]
    assert styles_of(what_if_rows(CHANGES, columns)[0].cells[0]) == {"gain"}
    narrow = what_if_columns(10, 80)
    assert [column.key for column in narrow] == ["place", "run", "before", "after", "delta", "judged"]
    assert sum(column.width + 1 for column in narrow) <= 76
    title = text_of(what_if_title(BIOLOGY, parse_measure("nDCG@10"), 4, CHANGES))
    assert title == "nDCG@10 biology with 4 judgments · the order of the runs changes"
    same = [replace(change, place_before=change.place_after) for change in CHANGES]
    assert text_of(what_if_title(PONY, parse_measure("RR"), 1, same)).endswith("1 judgment · same order of the runs")
    assert text_of(what_if_rows(same, columns)[0].cells[0]) == "1"


def test_runs_outside_the_pool_are_warned_of() -> None:
    assert pool_warning(CHANGES).startswith("reasonir@gpt4_reason: runs that were not pooled are penalised")
    assert pool_warning(CHANGES[:1]).startswith("runs that were not pooled are penalised")


def test_which_judgments_did_it() -> None:
    shares = [
        DecisionShare(QUERY, "a.txt", None, 1, (0.00551, -0.001, None)),
        DecisionShare(QUERY, "g.txt", 1, 0, (-0.002, 1e-7, None)),
        DecisionShare(QUERY, "h.txt", 1, 2, (0.0, 0.0, None)),
    ]
    rows = list(ShareRows(shares, RUNS))
    assert texts(rows) == [
        ["37", "a.txt", "– → 1", "+0.55", "−0.10", "–"],
        ["37", "g.txt", "1 → 0", "−0.20", "0.00", "–"],
        ["37", "h.txt", "1 → 2", "0.00", "0.00", "–"],
    ]
    assert [styles_of(row.cells[2]) for row in rows] == [{"gain"}, {"loss"}, {""}]
    assert all(len(row.cells) == len(share_columns(RUNS)) for row in rows)


def test_styles_are_known() -> None:
    rows = [
        *evidence_rows(CANDIDATE, EVIDENCE, RUNS, ranks_to=100),
        *what_if_rows(CHANGES, what_if_columns(10, 120)),
    ]
    assert {span.style for row in rows for cell in row.cells for span in cell} <= set(STYLE_NAMES)

"""Data that must neither crash, hang nor mislead: null ids, pipes, unusual blanks in ids, a late Esc."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from bright_inspect.domain.measures import Measure
from bright_inspect.errors import UnreadableInput
from bright_inspect.evaluation.scores import task_scores
from bright_inspect.store.opening import open_session
from bright_inspect.store.progress import CancelToken
from bright_inspect.store.request import OpenRequest
from tests.formats.qrels_reading import read_qrels
from tests.support import example, write_bright


def test_a_query_without_id_is_told(tmp_path: Path) -> None:
    rows = [example("0", ["g0"]), {**example("1", ["g1"]), "id": None}]
    data = write_bright(tmp_path / "data", {"biology": rows})
    run = tmp_path / "biology.trec"
    run.write_text("0 Q0 g0 1 1.0 t\n")
    opening = open_session(OpenRequest((str(run),), data=data))
    try:
        assert any("(no id)" in finding.message for finding in opening.session.findings)
    finally:
        opening.session.close()


def test_a_pipe_in_the_data_folder_is_passed_over(tmp_path: Path) -> None:
    data = write_bright(tmp_path / "data", {"biology": [example("0", ["g0"])]})
    os.mkfifo(data / "examples" / "pony.jsonl")
    run = tmp_path / "biology.trec"
    run.write_text("0 Q0 g0 1 1.0 t\n")
    opening = open_session(OpenRequest((str(run),), data=data))
    opening.session.close()
    assert opening.session.tasks == (("bright", "biology"),)


@pytest.mark.parametrize("odd", ["\u00a0x", "x\u3000", "\u2028x", "\x1cx", "x\u0085y"])
@pytest.mark.parametrize("separator", ["\t", " "])
def test_unusual_blanks_belong_to_ids(tmp_path: Path, odd: str, separator: str) -> None:
    qrels, run = tmp_path / "own.txt", tmp_path / "run.trec"
    qrels.write_bytes(separator.join(["1", "0", odd, "1"]).encode() + b"\n")
    run.write_bytes(f"1 Q0 {odd} 1 1.0 t\n".encode())
    assert read_qrels(qrels).rows == [("1", odd, 1)]
    opening = open_session(OpenRequest((str(run),), qrels=(str(qrels),)))
    try:
        (scores,) = task_scores(opening.session, Measure("RR", None))
        assert scores.mean == 1.0
    finally:
        opening.session.close()


def test_a_late_cancel_of_a_failed_opening_is_harmless(tmp_path: Path) -> None:
    run, token = tmp_path / "run.trec", CancelToken()
    run.write_text("1 Q0 d 0.5 t\n")
    with pytest.raises(UnreadableInput):
        open_session(OpenRequest((str(run),)), cancel=token)
    token.cancel()
    assert token.cancelled

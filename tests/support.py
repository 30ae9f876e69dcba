"""Small makers of files and readers of results that many tests use."""

from __future__ import annotations

import atexit
import functools
import io
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from bright_inspect.cli import main
from bright_inspect.db import Cursor, Database, identifier
from bright_inspect.domain.findings import Finding
from bright_inspect.domain.measures import parse_measure
from bright_inspect.domain.ordering import TieRule
from bright_inspect.evaluation.scores import Engine, TaskScores, task_scores
from bright_inspect.formats.runs import ReadRun, read_runs
from bright_inspect.store.opening import Opening, open_session
from bright_inspect.store.request import OpenRequest

ROOT = Path(__file__).parent.parent
BRIGHT_TEST_DATA = Path(os.environ.get("BRIGHT_INSPECT_TEST_DATA") or ROOT.parent / "shared" / "data").absolute()

Qrels = Mapping[str, Mapping[str, int]]
"""query id -> document id -> relevance"""
Run = Mapping[str, Mapping[str, float]]
"""query id -> document id -> score"""


@dataclass(frozen=True)
class Table:
    """What a reader made of a file."""

    rows: list[tuple[str, str, float, int | None]]
    read: ReadRun

    @property
    def findings(self) -> tuple[Finding, ...]:
        return self.read.findings

    @property
    def codes(self) -> list[str]:
        return sorted(finding.code for finding in self.findings)

    @property
    def scores(self) -> dict[tuple[str, str], float]:
        return {(query_id, doc_id): score for query_id, doc_id, score, _ in self.rows}


@functools.cache
def _database() -> Database:
    """One for all files read alone: opening a database takes longer than reading a small file."""
    database = Database()
    atexit.register(database.close)
    return database


def read_file(path: Path) -> Table:
    """Read a run file with the reader that it needs."""
    cursor = _database().cursor()
    read = read_runs(cursor, path, "run")[0]
    rows = cursor.execute(f"SELECT query_id, doc_id, score, given_rank FROM {identifier('run')}").fetchall()
    cursor.close()
    return Table([(str(q), str(d), float(s), None if r is None else int(r)) for q, d, s, r in rows], read)


def read_bytes(folder: Path, content: bytes | str, name: str = "run.trec") -> Table:
    """Read a run file of this content."""
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return read_file(path)


def trec(run: Run, tag: str = "tag") -> str:
    """A TREC run, documents in the given order."""
    return "".join(
        f"{query_id} Q0 {doc_id} {rank} {score!r} {tag}\n"
        for query_id, docs in run.items()
        for rank, (doc_id, score) in enumerate(docs.items(), 1)
    )


def write_trec(path: Path, run: Run, tag: str = "tag") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(trec(run, tag), encoding="utf-8", newline="\n")
    return path


def write_qrels(path: Path, qrels: Qrels) -> Path:
    lines = [
        f"{query_id} 0 {doc_id} {relevance}\n" for query_id, docs in qrels.items() for doc_id, relevance in docs.items()
    ]
    path.write_text("".join(lines), encoding="utf-8", newline="\n")
    return path


def example(
    query_id: str,
    golds: Sequence[str],
    *,
    excluded: Sequence[str] | None = ("N/A",),
    golds_long: Sequence[str] | None = ("N/A",),
) -> dict[str, Any]:
    """One row of BRIGHT's ``examples``."""
    return {
        "id": query_id,
        "query": f"question {query_id}",
        "reasoning": "N/A",
        "gold_answer": "N/A",
        "excluded_ids": None if excluded is None else list(excluded),
        "gold_ids": list(golds),
        "gold_ids_long": None if golds_long is None else list(golds_long),
    }


def write_bright(folder: Path, tasks: Mapping[str, Sequence[Mapping[str, Any]]], config: str = "examples") -> Path:
    """A folder in BRIGHT's layout, as JSON Lines."""
    (folder / config).mkdir(parents=True, exist_ok=True)
    for task, rows in tasks.items():
        text = "".join(json.dumps(row) + "\n" for row in rows)
        (folder / config / f"{task}.jsonl").write_text(text, encoding="utf-8")
    return folder


@contextmanager
def opened_runs(
    *runs: Path | str,
    data: Path | None = None,
    task: str | None = None,
    dataset: str | None = None,
    qrels: Sequence[Path | str] = (),
    layer: str | None = None,
    ties: TieRule = "trec",
    baseline: str | None = None,
) -> Iterator[Opening]:
    """An open session over these arguments."""
    opening = open_session(
        OpenRequest(tuple(map(str, runs)), data, dataset, task, tuple(map(str, qrels)), baseline, layer, ties)
    )
    try:
        yield opening
    finally:
        opening.session.close()


def scores_of(opening: Opening, measure: str = "nDCG@10", engine: Engine = "sql") -> list[TaskScores]:
    return task_scores(opening.session, parse_measure(measure), engine=engine)


def finding_codes(opening: Opening) -> list[str]:
    return sorted(finding.code for finding in opening.session.findings)


def table_rows(cursor: Cursor, sql: str) -> list[tuple[Any, ...]]:
    return [tuple(row) for row in cursor.execute(sql).fetchall()]


@dataclass(frozen=True)
class Done:
    """What a command has left behind."""

    returncode: int
    stdout: str
    stderr: str


def command(*arguments: str | Path) -> Done:
    """Run ``bright-inspect`` within this process: as the command runs it, but for the start of Python."""
    out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8", newline="\n") for _ in range(2))
    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.chdir(ROOT)
        for name, value in (("argv", ["bright-inspect", *map(str, arguments)]), ("stdout", out), ("stderr", err)):
            monkeypatch.setattr(sys, name, value)
        with pytest.raises(SystemExit) as leaving:
            main()
    assert isinstance(leaving.value.code, int)
    return Done(leaving.value.code, *(_written(stream) for stream in (out, err)))


def _written(stream: io.TextIOWrapper) -> str:
    stream.seek(0)
    return stream.read()


def process(*arguments: str | Path, **options: Any) -> subprocess.CompletedProcess[str]:
    """Run ``bright-inspect`` as a process of its own, with an environment or a folder of its own."""
    return subprocess.run(
        [sys.executable, "-m", "bright_inspect", *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        cwd=options.pop("cwd", ROOT),
        **options,
    )

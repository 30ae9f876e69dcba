"""What each input file was taken for."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from bright_inspect.store.collections import TaskKey
from bright_inspect.store.session import Run, Session


@dataclass(frozen=True, slots=True)
class FileSummary:
    """One task of one file: its queries, rows, and the least and greatest number of documents a query has."""

    path: Path
    run: Run
    task: TaskKey
    queries: int
    rows: int
    depth: tuple[int, ...]


def file_summaries(session: Session) -> list[FileSummary]:
    """Every file's tasks, in the order of the runs."""
    counts = {
        (file_id, dataset, task): (queries, rows, low, high)
        for file_id, dataset, task, queries, rows, low, high in session.cursor.execute(
            """SELECT file_id, dataset, task, count(*), sum(depth)::BIGINT, min(depth), max(depth)
               FROM file_queries GROUP BY ALL"""
        ).fetchall()
    }
    summaries = []
    for run in session.runs:
        for file in run.files:
            for task in file.tasks:
                queries, rows, low, high = counts[file.file_id, *task]
                depth = (low,) if low == high else (low, high)
                summaries.append(FileSummary(file.path, run, task, queries, rows, depth))
    return summaries

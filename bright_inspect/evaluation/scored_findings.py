"""What is seen of runs only when they are scored: lists shorter than a cutoff, and metrics of another run beside."""

from __future__ import annotations

from collections.abc import Iterable

from bright_inspect.db import Cursor
from bright_inspect.domain.findings import Finding
from bright_inspect.domain.measures import Measure, parse_measure
from bright_inspect.evaluation.scores import task_scores
from bright_inspect.store.provenance import metrics_beside, metrics_findings
from bright_inspect.store.session import Session

#: Those of the reported measures that are recomputed: enough to tell another run's.
_COMPARED = ("nDCG@10", "R@10", "P@1")


def depth_findings(session: Session, cursor: Cursor, measures: Iterable[Measure]) -> list[Finding]:
    """Runs whose lists are shorter than the deepest cutoff that is measured and lack golds: longer ones could gain."""
    cutoffs = [measure.cutoff for measure in measures if measure.cutoff is not None]
    if not cutoffs:
        return []
    cutoff = max(cutoffs)
    files = {file.file_id: file for run in session.runs for file in run.files}
    key = "dataset, task, query_id"
    findings = []
    for file_id, short, queries, least, query_id in cursor.execute(f"""
        WITH golds AS (SELECT {key}, count(*) AS golds FROM qrels WHERE relevance > 0 GROUP BY ALL),
        found AS (SELECT file_id, {key}, count(*) AS found FROM file_placed JOIN qrels USING ({key}, doc_id)
                  WHERE relevance > 0 AND rank IS NOT NULL GROUP BY ALL),
        excluded AS (SELECT file_id, {key}, count(*) AS excluded FROM file_excluded GROUP BY ALL),
        lists AS (
            SELECT file_id, query_id, depth - coalesce(excluded, 0) AS depth, coalesce(found, 0) < golds AS lacking
            FROM file_queries JOIN golds USING ({key}) LEFT JOIN found USING (file_id, {key})
            LEFT JOIN excluded USING (file_id, {key})
        )
        SELECT file_id, count(*) FILTER (depth < {cutoff} AND lacking) AS short, count(*),
               min(depth) FILTER (depth < {cutoff} AND lacking), min_by(query_id, depth) FILTER (lacking)
        FROM lists GROUP BY file_id HAVING short > 0 ORDER BY file_id
    """).fetchall():
        message = (
            f"{short} of {queries} lists lack golds and are shorter than the cutoff {cutoff}: longer ones could gain. "
            f"Shortest: query {query_id[:80]}, {least} documents."
        )
        findings.append(Finding("shorter-than-cutoff", "warning", str(files[file_id].path), message, None, short))
    return findings


def metrics_beside_findings(session: Session, cursor: Cursor) -> list[Finding]:
    """Score files whose folder holds metrics of other scores."""
    beside = [
        (file, *found)
        for run in session.runs
        for file in run.files
        if (found := file.metrics if file.digest is not None else metrics_beside(file.path)) is not None
    ]
    if not beside:
        return []
    values: dict[tuple[int, Measure], float] = {}
    for name in _COMPARED:
        measure = parse_measure(name)
        for score in task_scores(session, measure, cursor=cursor):
            for file in score.run.files:
                # BRIGHT divides by the queries of the score file (FORMATS A.8).
                if file.tasks == (score.task,) and score.mean_answered is not None:
                    values[file.file_id, measure] = score.mean_answered
    findings = []
    for file, metrics, reported in beside:
        recomputed = {measure: value for (file_id, measure), value in values.items() if file_id == file.file_id}
        if recomputed:
            findings += metrics_findings(file.path, metrics, recomputed, dict(reported))
    return findings

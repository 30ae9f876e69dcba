"""The same values computed by pytrec_eval itself, to check ours against (``--engine pytrec_eval``)."""

from __future__ import annotations

from typing import Any

from bright_inspect.db import Cursor, identifier
from bright_inspect.domain.measures import Measure
from bright_inspect.errors import UsageError
from bright_inspect.store.session import Session

_NAMES = {"nDCG": "ndcg", "AP": "map", "R": "recall", "P": "P", "RR": "recip_rank"}


def pytrec_values(session: Session, cursor: Cursor, measure: Measure) -> list[tuple[int, str, str, str, float, bool]]:
    """``(run_id, dataset, task, query_id, value, answered)`` as ``per_query_sql``, by pytrec_eval.

    Excluded documents are removed first, and judged queries that a run lacks get 0: pytrec_eval knows neither.

    Raises:
        UsageError: pytrec_eval is not installed or has no such measure.
    """
    try:
        import pytrec_eval
    except ImportError:
        raise UsageError(
            "pytrec_eval is not installed.", "To install: pip install pytrec-eval-terrier (no wheel for Linux on ARM)."
        ) from None
    name, key = _trec_names(measure)
    values = []
    for run in session.runs:
        for dataset, task in run.tasks:
            qrels = _nested(
                cursor.execute(
                    "SELECT query_id, doc_id, relevance FROM qrels WHERE dataset = ? AND task = ?", [dataset, task]
                ).fetchall()
            )
            if not qrels:
                continue
            answers = _answers(session, cursor, run.run_id, dataset, task)
            # A query with negative judgments only can send pytrec_eval 0.5.11 into an endless loop; without a gold the
            # value is 0 anyway.
            golden = {query_id: docs for query_id, docs in qrels.items() if any(grade > 0 for grade in docs.values())}
            found: dict[str, dict[str, float]] = pytrec_eval.RelevanceEvaluator(golden, {name}).evaluate(answers)
            # Not those of ``answers``: a query all of whose documents are excluded has been answered too.
            answered = {
                query_id
                for (query_id,) in cursor.execute(
                    "SELECT query_id FROM run_queries WHERE run_id = ? AND dataset = ? AND task = ?",
                    [run.run_id, dataset, task],
                ).fetchall()
            }
            for query_id in qrels:
                value = found[query_id][key] if query_id in found else 0.0
                values.append((run.run_id, dataset, task, query_id, value, query_id in answered))
    return values


def _trec_names(measure: Measure) -> tuple[str, str]:
    """pytrec_eval's name to ask for, and the key it answers under."""
    base = _NAMES.get(measure.kind)
    if base is None or (measure.kind == "RR" and measure.cutoff is not None):
        raise UsageError(f"pytrec_eval has no {measure}.", "Use the default engine for it.")
    if measure.cutoff is None:
        return base, base
    asked = base + ("_cut" if base in ("ndcg", "map") else "")
    return f"{asked}.{measure.cutoff}", f"{asked}_{measure.cutoff}"


def _answers(session: Session, cursor: Cursor, run_id: int, dataset: str, task: str) -> dict[str, dict[str, float]]:
    answers: dict[str, dict[str, float]] = {}
    for file in session.runs[run_id].files:
        rows = cursor.execute(
            f"""SELECT query_id, doc_id, score FROM {identifier(file.rows)} r
                SEMI JOIN (SELECT query_id FROM file_queries WHERE file_id = ? AND dataset = ? AND task = ?) f
                     USING (query_id)
                ANTI JOIN (SELECT query_id, doc_id FROM exclusions WHERE dataset = ? AND task = ?) e
                     USING (query_id, doc_id)""",
            [file.file_id, dataset, task, dataset, task],
        ).fetchall()
        answers.update(_nested(rows))
    return answers


def _nested(rows: list[tuple[str, str, Any]]) -> dict[str, dict[str, Any]]:
    nested: dict[str, dict[str, Any]] = {}
    for query_id, doc_id, value in rows:
        nested.setdefault(query_id, {})[doc_id] = value
    return nested

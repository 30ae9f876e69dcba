"""Everything that is shown about one query, read in one go on a worker's own cursor."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from bright_inspect.db import Cursor, identifier
from bright_inspect.domain.pages import siblings
from bright_inspect.domain.rankings import Judgment, QueryKey, RankedDoc, Ranking, RankReason
from bright_inspect.store.collections import task_condition
from bright_inspect.store.ordering import row_order
from bright_inspect.store.session import Run, Session

#: Documents of a ranking that are shown; golds further down are shown by their rank.
SHOWN_DEPTH = 1000


@dataclass(frozen=True, slots=True)
class QueryView:
    """One query: its texts, judgments, and each run's ranking.

    ``rankings`` is in the order of the session's runs, None where a run has no list for the query.
    ``variants`` are (name, text) pairs besides the original. ``pages_known`` tells whether siblings can be told.
    ``excluded`` are all documents excluded for the query, listed or not (up to 11,224 in BRIGHT; FORMATS A.3).
    ``reasons`` are the texts in which runs explain their ranking. ``said`` is what the ``annotator`` at work decided of
    documents, whether or not a layer counts it; None = unsure.
    """

    key: QueryKey
    text: str | None
    reasoning: str | None
    gold_answer: str | None
    variants: tuple[tuple[str, str], ...]
    judgments: tuple[Judgment, ...]
    rankings: tuple[Ranking | None, ...]
    siblings: frozenset[str]
    pages_known: bool
    excluded: tuple[str, ...]
    reasons: tuple[RankReason, ...] = ()
    annotator: str = ""
    said: Mapping[str, int | None] = field(default_factory=dict)

    def rank_in(self, run_id: int, doc_id: str) -> int | None:
        """A document's rank in a run; None if the run does not list it, or it is excluded."""
        ranking = self.rankings[run_id]
        return None if ranking is None else ranking.ranks.get(doc_id)

    @property
    def golds(self) -> tuple[Judgment, ...]:
        return tuple(judgment for judgment in self.judgments if judgment.gold)


def read_query(session: Session, cursor: Cursor, key: QueryKey) -> QueryView:
    """Read one query."""
    parameters = [key.dataset, key.task, key.query_id]
    where = "dataset = ? AND task = ? AND query_id = ?"
    texts = cursor.execute(f"SELECT text, reasoning, gold_answer FROM queries WHERE {where}", parameters).fetchone()
    judgments = cursor.execute(
        f"SELECT doc_id, relevance FROM qrels WHERE {where} ORDER BY relevance DESC, doc_id", parameters
    ).fetchall()
    pages = cursor.execute(f"SELECT page_id FROM gold_pages WHERE {where}", parameters).fetchall()
    order = row_order(session.ties).order_by
    rankings = tuple(_ranking(cursor, run, key, order) for run in session.runs)
    listed = {doc.doc_id for ranking in rankings if ranking for doc in ranking.docs}
    text, reasoning, gold_answer = texts or (None, None, None)
    return QueryView(
        key,
        text,
        reasoning,
        gold_answer,
        variants=_variants(cursor, where, parameters),
        judgments=tuple(Judgment(doc_id, relevance) for doc_id, relevance in judgments),
        rankings=rankings,
        siblings=siblings(listed - {doc_id for doc_id, _ in judgments}, (page for (page,) in pages)),
        pages_known=bool(pages),
        excluded=_excluded(session, cursor, key),
        reasons=tuple(reason for run in session.runs for reason in _reasons(cursor, run, key)),
    )


def _excluded(session: Session, cursor: Cursor, key: QueryKey) -> tuple[str, ...]:
    task = (key.dataset, key.task)
    if not session.collections.has_exclusions(task):
        return ()
    # The task is named outright, so that DuckDB skips the other tasks' million exclusions.
    found = cursor.execute(
        f"SELECT list(doc_id) FROM exclusions WHERE {task_condition(task)} AND query_id = ?", [key.query_id]
    ).fetchone()
    return tuple(sorted(set(found[0]))) if found and found[0] else ()


def _reasons(cursor: Cursor, run: Run, key: QueryKey) -> list[RankReason]:
    task = (key.dataset, key.task)
    files = [file for file in run.files if file.reasons is not None and task in file.tasks]
    return [
        RankReason(run.run_id, doc_id, thought or "", response or "")
        for file in files
        for doc_id, thought, response in cursor.execute(
            f"""SELECT doc_id, thought, response FROM {identifier(file.reasons or "")}
                WHERE query_id = ? AND EXISTS (SELECT 1 FROM file_queries
                                               WHERE file_id = ? AND dataset = ? AND task = ? AND query_id = ?)""",
            [key.query_id, file.file_id, key.dataset, key.task, key.query_id],
        ).fetchall()
    ]


def _ranking(cursor: Cursor, run: Run, key: QueryKey, order: str) -> Ranking | None:
    for file in run.files:
        # The same query id may be another task's query in this file.
        of_task = cursor.execute(
            "SELECT 1 FROM file_queries WHERE file_id = ? AND dataset = ? AND task = ? AND query_id = ?",
            [file.file_id, key.dataset, key.task, key.query_id],
        ).fetchone()
        if of_task is None:
            continue
        rows = cursor.execute(
            f"""SELECT doc_id, score, given_rank, (row_number() OVER (ORDER BY {order}))::INTEGER AS raw_rank
                FROM {identifier(file.rows)} WHERE query_id = ? ORDER BY raw_rank""",
            [key.query_id],
        ).fetchall()
        excluded_rows = cursor.execute(
            "SELECT doc_id FROM file_excluded WHERE file_id = ? AND dataset = ? AND task = ? AND query_id = ?",
            [file.file_id, key.dataset, key.task, key.query_id],
        ).fetchall()
        excluded = {doc_id for (doc_id,) in excluded_rows}
        docs: list[RankedDoc] = []
        ranks: dict[str, int | None] = {}
        rank = 0
        for doc_id, score, given_rank, raw_rank in rows:
            rank += doc_id not in excluded
            ranks[doc_id] = None if doc_id in excluded else rank
            if raw_rank <= SHOWN_DEPTH:
                docs.append(RankedDoc(ranks[doc_id], raw_rank, doc_id, score, given_rank))
        return Ranking(run.run_id, key, tuple(docs), ranks, rank)
    return None


def _variants(cursor: Cursor, where: str, parameters: list[str]) -> tuple[tuple[str, str], ...]:
    rows = cursor.execute(
        f"SELECT variant, text FROM variants WHERE {where} AND text <> '' ORDER BY variant", parameters
    ).fetchall()
    return tuple((variant, text) for variant, text in rows)

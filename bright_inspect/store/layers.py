"""How the layers of judgments differ: pairs that one judges otherwise than another."""

from __future__ import annotations

from dataclasses import dataclass

from bright_inspect.db import Cursor
from bright_inspect.domain.rankings import QueryKey
from bright_inspect.store.collections import TaskKey
from bright_inspect.store.layer_source import LayerSource
from bright_inspect.store.session import Session
from bright_inspect.store.standing import place_new_documents


@dataclass(frozen=True, slots=True)
class LayerCounts:
    """One layer of one task: judged queries, pairs with a relevance above 0 (golds), and all judged pairs."""

    task: TaskKey
    layer: str
    queries: int
    golds: int
    judgments: int


@dataclass(frozen=True, slots=True)
class JudgmentChange:
    """A pair that two layers judge differently; None = not judged."""

    query: QueryKey
    doc_id: str
    before: int | None
    after: int | None

    @property
    def changes_gold(self) -> bool:
        """Whether the document is gold in only one of the layers."""
        return ((self.before or 0) > 0) != ((self.after or 0) > 0)


def layer_counts(cursor: Cursor) -> list[LayerCounts]:
    """Every layer of every loaded task."""
    rows = cursor.execute("""
        SELECT dataset, task, layer, count(DISTINCT query_id), count(*) FILTER (relevance > 0), count(*)
        FROM all_qrels GROUP BY ALL ORDER BY ALL
    """).fetchall()
    return [LayerCounts((dataset, task), *others) for dataset, task, *others in rows]


def layer_changes(cursor: Cursor, before: str | None, after: str) -> list[JudgmentChange]:
    """What ``after`` judges otherwise than ``before``, of the tasks that have both, by task, query and document.

    Without ``before``, the layer that counts now for each task is meant.
    """
    present = "FROM all_qrels SEMI JOIN active_layers USING (dataset, task, layer)"
    rows = cursor.execute(
        f"""
        WITH before AS ({"FROM all_qrels WHERE layer = $before" if before is not None else present}),
        tasks AS (SELECT dataset, task FROM before
                  INTERSECT SELECT dataset, task FROM all_qrels WHERE layer = $after),
        b AS (FROM before SEMI JOIN tasks USING (dataset, task)),
        a AS (FROM all_qrels SEMI JOIN tasks USING (dataset, task) WHERE layer = $after)
        SELECT dataset, task, query_id, doc_id, b.relevance, a.relevance
        FROM b FULL JOIN a USING (dataset, task, query_id, doc_id)
        WHERE b.relevance IS DISTINCT FROM a.relevance ORDER BY ALL
        """,
        {"after": after} | ({"before": before} if before is not None else {}),
    ).fetchall()
    return [
        JudgmentChange(QueryKey(dataset, task, query_id), doc_id, old, new)
        for dataset, task, query_id, doc_id, old, new in rows
    ]


def remake_layers(session: Session, cursor: Cursor, made: LayerSource) -> None:
    """Take over what decisions say now: the layers made of them are made anew, all at once for whoever reads, and
    documents judged since are placed in the runs. Scores are to be computed after it."""
    with session.collections.remaking_layers(cursor, made):
        place_new_documents(session, cursor)

"""Where the golds of a task end up in a run: in the top 10, further down, or not in the list at all."""

from __future__ import annotations

from dataclasses import dataclass

from bright_inspect.db import Cursor
from bright_inspect.store.collections import TaskKey

#: The bands' limits, as the overview names them.
NEAR, FAR = 10, 100


@dataclass(frozen=True, slots=True)
class GoldFate:
    """Counts of (query, gold) pairs of one run and task: rank ≤ 10, 11–100, and deeper or not listed."""

    near: int
    far: int
    beyond: int

    @property
    def golds(self) -> int:
        return self.near + self.far + self.beyond


def gold_fates(cursor: Cursor) -> dict[tuple[int, TaskKey], GoldFate]:
    """The fate of golds by (run_id, task), over all judged queries of the task."""
    rows = cursor.execute(f"""
        WITH golds AS (SELECT dataset, task, count(*) AS golds FROM qrels WHERE relevance > 0 GROUP BY ALL),
             placed AS (SELECT run_id, dataset, task, count(*) FILTER (rank <= {NEAR}) AS near,
                               count(*) FILTER (rank > {NEAR} AND rank <= {FAR}) AS far
                        FROM judged WHERE relevance > 0 GROUP BY ALL)
        SELECT run_id, dataset, task, coalesce(near, 0), coalesce(far, 0), golds - coalesce(near + far, 0)
        FROM (SELECT DISTINCT run_id, dataset, task FROM run_queries) JOIN golds USING (dataset, task)
        LEFT JOIN placed USING (run_id, dataset, task)
    """).fetchall()
    return {(run_id, (dataset, task)): GoldFate(near, far, beyond) for run_id, dataset, task, near, far, beyond in rows}

"""What tie order does to a value: its best, worst and expected, exactly, for every query that has tied documents.

Documents of equal score stand in a group of ``tied`` documents below ``above`` others. The best order has the group's
most relevant first, the worst has them last; every measure here is monotone in that. The expected value is over all
orders of each group alike; ``domain.ties`` has the closed forms and their source.

Judged@k has no range here: which unjudged documents are tied makes no difference to anybody's ranking.
"""

from __future__ import annotations

from bright_inspect.db import Cursor, identifier
from bright_inspect.domain.measures import Measure
from bright_inspect.domain.rankings import QueryKey
from bright_inspect.domain.ties import TieRange
from bright_inspect.evaluation.measures_sql import JUDGED_QUERIES_SQL, ideal_sql, value_sql
from bright_inspect.store.ordering import row_order
from bright_inspect.store.session import Session

_KEY = "run_id, dataset, task, query_id"


def tie_ranges(cursor: Cursor, measure: Measure) -> dict[tuple[int, QueryKey], TieRange]:
    """By run and query, the range of each query that lists a relevant document in a tie. All other queries' values do
    not depend on tie order. Empty for Judged@k."""
    if measure.kind == "Judged":
        return {}
    rows = cursor.execute(f"""
        WITH tied AS (
            SELECT DISTINCT {_KEY} FROM judged WHERE relevance > 0 AND rank IS NOT NULL AND tied > 1
        ), relevant AS (
            SELECT *, row_number() OVER (PARTITION BY {_KEY}, above ORDER BY relevance DESC) AS tie_place,
                   count(*) OVER (PARTITION BY {_KEY}, above) AS relevant_tied
            FROM judged SEMI JOIN tied USING ({_KEY}) WHERE relevance > 0 AND rank IS NOT NULL
        ), best AS ({_placed_value(measure, "above + tie_place")}
        ), worst AS ({_placed_value(measure, "above + tied + 1 - tie_place")}
        ), expected AS ({_expected_sql(measure)})
        SELECT {_KEY}, coalesce(best.value, 0), coalesce(worst.value, 0), coalesce(expected.value, 0)
        FROM tied LEFT JOIN best USING ({_KEY}) LEFT JOIN worst USING ({_KEY}) LEFT JOIN expected USING ({_KEY})
    """).fetchall()
    return {
        (run_id, QueryKey(dataset, task, query_id)): TieRange(best, worst, expected)
        for run_id, dataset, task, query_id, best, worst, expected in rows
    }


def _placed_value(measure: Measure, place: str) -> str:
    return f"WITH placed AS (SELECT *, {place} AS place FROM relevant) FROM ({value_sql(measure)})"


def _expected_sql(measure: Measure) -> str:
    """SQL for ``(run_id, dataset, task, query_id, value)``; ``relevant`` has the relevant documents."""
    last = "above + tied" if measure.cutoff is None else f"least(above + tied, {measure.cutoff})"
    ranks = f"unnest(range(above + 1, {last} + 1))"
    groups = f"""
        SELECT {_KEY}, above, any_value(tied) AS tied, any_value(relevant_tied) AS relevant_tied
        FROM relevant GROUP BY {_KEY}, above"""
    if measure.kind == "nDCG":
        return f"""
            WITH ideal AS ({ideal_sql(measure)}),
            discounts AS (SELECT above, tied, sum(1 / log2(rank + 1)) / tied AS discount
                          FROM (SELECT above, tied, {ranks} AS rank FROM (SELECT DISTINCT above, tied FROM relevant))
                          GROUP BY above, tied)
            SELECT {_KEY}, sum(relevance * discount) / any_value(gain) AS value
            FROM relevant JOIN discounts USING (above, tied) JOIN ideal USING (dataset, task, query_id)
            GROUP BY {_KEY}"""
    if measure.kind in ("P", "R"):
        divisor = str(measure.cutoff) if measure.kind == "P" else "any_value(golds)"
        return f"""
            SELECT {_KEY}, sum(greatest({last} - above, 0) / tied) / {divisor} AS value
            FROM relevant JOIN ({JUDGED_QUERIES_SQL}) USING (dataset, task, query_id) GROUP BY {_KEY}"""
    if measure.kind == "AP":
        return f"""
            WITH groups AS (
                SELECT *, sum(relevant_tied) OVER (PARTITION BY {_KEY} ORDER BY above) - relevant_tied AS before
                FROM ({groups})
            ), terms AS (
                SELECT {_KEY}, relevant_tied / tied * (before + 1 + if(tied > 1, (rank - above - 1)
                       * (relevant_tied - 1) / (tied - 1), 0)) / rank AS term
                FROM (SELECT *, {ranks} AS rank FROM groups)
            )
            SELECT {_KEY}, sum(term) / any_value(golds) AS value
            FROM terms JOIN ({JUDGED_QUERIES_SQL}) USING (dataset, task, query_id) GROUP BY {_KEY}"""
    # The logarithm of m · (n − x)! (n − m)! / ((n − x − m + 1)! n!), which is C(n − x, m − 1) / C(n, m).
    return f"""
        WITH first_group AS (FROM ({groups}) QUALIFY above = min(above) OVER (PARTITION BY {_KEY})),
        places AS (SELECT *, {ranks} AS rank FROM first_group)
        SELECT {_KEY}, sum(relevant_tied / rank * exp(
                   lgamma(tied - x + 1) + lgamma(tied - relevant_tied + 1)
                   - lgamma(tied - x - relevant_tied + 2) - lgamma(tied + 1))) AS value
        FROM (SELECT *, rank - above AS x FROM places) WHERE x <= tied - relevant_tied + 1 GROUP BY {_KEY}"""


def tied_at_cutoff(session: Session, cursor: Cursor, cutoff: int) -> dict[tuple[int, str, str], int]:
    """By (run_id, dataset, task), the number of judged queries in whose list the documents at rank ``cutoff`` and
    ``cutoff`` + 1 are tied."""
    key = row_order(session.ties).key
    counts: dict[tuple[int, str, str], int] = {}
    for run in session.runs:
        for file in run.files:
            rows = f"(SELECT query_id, doc_id, {key} AS key FROM {identifier(file.rows)})"
            found = cursor.execute(
                f"""
                WITH kept AS (
                    SELECT q.dataset, q.task, r.query_id, r.key FROM {rows} r
                    JOIN (FROM file_queries WHERE file_id = $file) q USING (query_id)
                    ANTI JOIN (FROM file_excluded WHERE file_id = $file) e USING (dataset, task, query_id, doc_id)
                ), tops AS (SELECT dataset, task, query_id, max(key, {cutoff + 1}) AS top FROM kept GROUP BY ALL)
                SELECT dataset, task, count(*) FROM tops SEMI JOIN qrels USING (dataset, task, query_id)
                WHERE top[{cutoff}] = top[{cutoff + 1}] GROUP BY ALL
                """,
                {"file": file.file_id},
            ).fetchall()
            for dataset, task, count in found:
                place = (run.run_id, dataset, task)
                counts[place] = counts.get(place, 0) + count
    return counts

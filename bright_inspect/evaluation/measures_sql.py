"""The measures in SQL, per query, exactly as pytrec_eval computes them.

Sources: nDCG m_ndcg_cut.c (gain = relevance, discount log2(rank + 1), ideal over all judged documents), AP
m_map_cut.c (divided by all relevant), R m_recall.c (divided by all relevant), P m_P.c (always divided by k), RR
m_recip_rank.c, all of trec_eval; Judged@k ir_measures' judged provider (divided by the smaller of k and the depth).
A document is relevant if its relevance is above 0; negative relevance gains nothing and keeps its rank (FORMATS F.6).
"""

from __future__ import annotations

from bright_inspect.domain.measures import Measure

#: The queries that every mean is over: all that have a judgment.
JUDGED_QUERIES_SQL = """
    SELECT dataset, task, query_id, count(*) FILTER (relevance > 0) AS golds FROM qrels GROUP BY ALL"""


def per_query_sql(measure: Measure, rank: str = "rank") -> str:
    """SQL for ``(run_id, dataset, task, query_id, value DOUBLE, answered BOOLEAN)``: one row for every run and every
    judged query of its tasks; value is 0 where the run has no answer.

    ``rank`` is the column of ``judged`` to go by: ``rank`` or, for the value with excluded documents left in,
    ``raw_rank``.
    """
    return f"""
        WITH run_tasks AS (SELECT DISTINCT run_id, dataset, task FROM run_queries),
        wanted AS (SELECT r.run_id, q.* FROM run_tasks r JOIN ({JUDGED_QUERIES_SQL}) q USING (dataset, task)),
        placed AS (SELECT *, {rank} AS place FROM judged WHERE {rank} IS NOT NULL),
        found AS ({value_sql(measure)})
        SELECT run_id, dataset, task, query_id, coalesce(f.value, 0)::DOUBLE AS value,
               a.query_id IS NOT NULL AS answered
        FROM wanted
        LEFT JOIN found f USING (run_id, dataset, task, query_id)
        LEFT JOIN (SELECT DISTINCT run_id, dataset, task, query_id FROM run_queries) a
             USING (run_id, dataset, task, query_id)"""


def ideal_sql(measure: Measure) -> str:
    """SQL for ``(dataset, task, query_id, gain)``: the discounted gain of the best order of all judged documents."""
    within = "true" if measure.cutoff is None else f"position <= {measure.cutoff}"
    return f"""
        SELECT dataset, task, query_id, sum(relevance / log2(position + 1)) AS gain
        FROM (SELECT *, row_number() OVER (PARTITION BY dataset, task, query_id ORDER BY relevance DESC)
                     AS position FROM qrels WHERE relevance > 0)
        WHERE {within} GROUP BY ALL"""


def value_sql(measure: Measure) -> str:
    """SQL for ``(run_id, dataset, task, query_id, value)`` from the relation ``placed``, which has the judged documents
    of each list and the ``place`` of each; queries without a relevant document in it are left out."""
    within = "true" if measure.cutoff is None else f"place <= {measure.cutoff}"
    key = "run_id, dataset, task, query_id"
    if measure.kind == "nDCG":
        return f"""
            WITH ideal AS ({ideal_sql(measure)}
            ), gains AS (
                SELECT {key}, sum(relevance / log2(place + 1)) AS gain
                FROM placed WHERE relevance > 0 AND {within} GROUP BY ALL
            )
            SELECT run_id, dataset, task, query_id, gains.gain / ideal.gain AS value
            FROM gains JOIN ideal USING (dataset, task, query_id)"""
    if measure.kind == "AP":
        return f"""
            SELECT {key}, sum(number / place) / any_value(golds) AS value
            FROM (SELECT *, row_number() OVER (PARTITION BY {key} ORDER BY place) AS number
                  FROM placed WHERE relevance > 0)
            JOIN ({JUDGED_QUERIES_SQL}) USING (dataset, task, query_id)
            WHERE {within} GROUP BY {key}"""
    if measure.kind == "R":
        return f"""
            SELECT {key}, count(*) / any_value(golds) AS value
            FROM placed JOIN ({JUDGED_QUERIES_SQL}) USING (dataset, task, query_id)
            WHERE relevance > 0 AND {within} GROUP BY {key}"""
    if measure.kind == "P":
        return f"""
            SELECT {key}, count(*) / {measure.cutoff} AS value
            FROM placed WHERE relevance > 0 AND {within} GROUP BY ALL"""
    if measure.kind == "RR":
        return f"""
            SELECT {key}, 1 / min(place) AS value FROM placed WHERE relevance > 0 AND {within} GROUP BY ALL"""
    return f"""
        SELECT {key}, count(*) / least({measure.cutoff}, any_value(q.depth - coalesce(e.excluded, 0))) AS value
        FROM placed JOIN run_queries q USING (run_id, dataset, task, query_id)
        LEFT JOIN (SELECT {key}, count(*) AS excluded FROM excluded_hits GROUP BY ALL) e
             USING (run_id, dataset, task, query_id)
        WHERE {within} GROUP BY {key}"""

"""What the scores of a run say about how it was made: all equal, against the file's ranks, alike only in float32.

One pass over the rows in file order finds the queries whose documents stand best first, as most files have them; only
the others are sorted.
"""

from __future__ import annotations

from pathlib import Path

from bright_inspect.db import Cursor, identifier
from bright_inspect.domain.findings import Finding
from bright_inspect.formats.parts import Part

#: The codes of all findings made here; every other one is about how the file reads.
CODES = frozenset(
    {"order-is-ranking", "all-scores-equal", "ranks-contradict-scores", "float32-ties", "looks-like-judgments"}
)
# Judgments in JSON have the shape of a run (FORMATS E.6); TREC judgments have columns of their own.
_LIKE_JSON_JUDGMENTS = ("score-json", "parquet", "ranx-lz4")
# Beyond float32 a score is infinite there; DuckDB's plain cast refuses it.
_FLOAT32 = "coalesce(try_cast({0} AS FLOAT), if({0} > 0, 'inf', '-inf')::FLOAT)"


def score_findings(cursor: Cursor, path: Path, part: Part) -> list[Finding]:
    """Findings about the rows of a part: ``order-is-ranking``, ``all-scores-equal``, ``ranks-contradict-scores``,
    ``float32-ties`` and ``looks-like-judgments``; each says how many queries, and the first of them."""
    if part.ordered:
        message = (
            "the order of the documents is the ranking: score 1/rank (as Pyserini's evaluator does); "
            "scores in the file, if any, were not used."
        )
        return [Finding("order-is-ranking", "warning", str(path), message)]
    rows, queries = identifier(part.table), identifier(f"{part.table}_queries")
    cursor.execute(f"""
        CREATE OR REPLACE TEMP TABLE {queries} AS
        SELECT query_id, min(place) AS place, count(*) AS documents, min(score) = max(score) AS equal,
               count(*) FILTER (starts) > 1 OR bool_or(unsorted AND NOT starts) AS scattered,
               count(*) FILTER (NOT starts AND float32_tie) AS float32_ties,
               bool_or(given_rank IS NOT NULL) AS ranked,
               bool_or(NOT starts AND given_rank < previous_rank) AS ranks_scattered,
               min(score) >= 0 AND max(score) <= 3 AND bool_and(score = round(score)) AS graded
        FROM (SELECT *, query_id IS DISTINCT FROM previous_query AS starts,
                     coalesce(score > previous_score, false) AS unsorted,
                     CASE WHEN score <> previous_score AND (abs(score - previous_score) <= 1.2e-7 * abs(score)
                                                            OR abs(score) > 3.4e38)
                          THEN {_FLOAT32.format("score")} = {_FLOAT32.format("previous_score")}
                          ELSE false END AS float32_tie
              FROM (SELECT query_id, score, given_rank, rowid AS place, lag(query_id) OVER () AS previous_query,
                           lag(score) OVER () AS previous_score, lag(given_rank) OVER () AS previous_rank
                    FROM {rows}))
        GROUP BY query_id
    """)
    row = cursor.execute(f"""
        SELECT count(*) FILTER (equal AND documents > 1), count(*) FILTER (documents > 1),
               arg_min(query_id, place) FILTER (equal AND documents > 1),
               bool_or(ranked AND (scattered OR ranks_scattered)), bool_or(scattered OR float32_ties > 0),
               bool_and(graded) AND count(*) > 1 AND max(documents) > 1
        FROM {queries}
    """).fetchone()
    equal, several, first_equal, may_contradict, may_tie, graded = row or (0, 0, None, False, False, False)
    findings: list[Finding] = []
    if equal:
        which = "every query" if equal == several else f"{equal} of {several} queries"
        message = (
            f"all scores are equal in {which} with more than one document: only the tie rule (document ids) orders "
            f"them. First: query {first_equal}."
        )
        findings.append(Finding("all-scores-equal", "warning", str(path), message, None, equal))
    if may_contradict:
        findings += _contradicting(cursor, path, rows, queries)
    if may_tie:
        findings += _float32(cursor, path, rows, queries)
    if graded and part.format in _LIKE_JSON_JUDGMENTS:
        message = "every score is 0, 1, 2 or 3, as in judgments written as JSON; give those with --qrels."
        findings.append(Finding("looks-like-judgments", "warning", str(path), message))
    cursor.execute(f"DROP TABLE {queries}")
    return findings


def _contradicting(cursor: Cursor, path: Path, rows: str, queries: str) -> list[Finding]:
    """A document ranked better with a worse score; equal ranks (BEIR: 0 everywhere) or scores never are."""
    row = cursor.execute(f"""
        SELECT count(*), arg_min(query_id, place), count(*) FILTER (reversed),
               (SELECT count(*) FROM {queries} WHERE ranked AND documents > 1)
        FROM (SELECT query_id, min(place) AS place,
                     bool_and(score >= previous_score) FILTER (previous_score IS NOT NULL) AS reversed
              FROM (SELECT query_id, score, rowid AS place,
                           lag(score) OVER (PARTITION BY query_id ORDER BY given_rank, score DESC) AS previous_score
                    FROM {rows} SEMI JOIN (FROM {queries} WHERE ranked AND (scattered OR ranks_scattered))
                                USING (query_id))
              GROUP BY query_id HAVING bool_or(score > previous_score))
    """).fetchone()
    count, first, reversed_queries, ranked = row or (0, None, 0, 0)
    if not count:
        return []
    message = (
        f"the ranks in the file contradict the scores in {count} of {ranked} queries; the scores decide, as in "
        f"trec_eval. First: query {first}."
    )
    if reversed_queries == count:
        message += " In all of them the lowest score ranks first: are these distances?"
    return [Finding("ranks-contradict-scores", "warning", str(path), message, None, count)]


def _float32(cursor: Cursor, path: Path, rows: str, queries: str) -> list[Finding]:
    row = cursor.execute(f"""
        WITH sorted AS (SELECT query_id, place FROM {queries} WHERE NOT scattered AND float32_ties > 0),
             unsorted AS (SELECT query_id, min(rowid) AS place FROM {rows}
                          SEMI JOIN (FROM {queries} WHERE scattered) USING (query_id)
                          GROUP BY query_id HAVING count(DISTINCT score) > count(DISTINCT {_FLOAT32.format("score")}))
        SELECT count(*), arg_min(query_id, place) FROM (FROM sorted UNION ALL FROM unsorted)
    """).fetchone()
    count, first = row or (0, None)
    if not count:
        return []
    pair = cursor.execute(
        f"""SELECT list(doc_id ORDER BY rowid) FROM {rows} WHERE query_id = ?
            GROUP BY {_FLOAT32.format("score")} HAVING count(DISTINCT score) > 1 ORDER BY min(rowid) LIMIT 1""",
        [first],
    ).fetchone()
    names = " and ".join(pair[0][:2]) if pair else ""
    message = (
        f"documents of {count} queries differ in score only beyond float32: trec_eval 9 and pytrec_eval tie them, "
        f"trec_eval 10 does not. First: query {first}, {names}."
    )
    return [Finding("float32-ties", "warning", str(path), message, None, count)]

"""The quick way for regular files of three columns: DuckDB splits them, and one query tells ranks from scores.

What it does not take is read line by line, which says what is odd and where.
"""

from __future__ import annotations

from pathlib import Path

from bright_inspect.db import Cursor, DatabaseError, QueryInterrupted, identifier, path_literal

_COLUMNS = "{'q': 'VARCHAR', 'd': 'VARCHAR', 'v': 'VARCHAR'}"
_READER = "header=false, quote='', escape='', comment='', auto_detect=false"


def read_regular_three(cursor: Cursor, source: Path, table: str, kind: str | None) -> str | None:
    """Fill ``table(query_id, doc_id, score, given_rank)`` from a clean file of (query, document, third) lines, split by
    single tabs or by single spaces; ``msmarco`` where the third column counts 1..n for every query, ``tevatron`` where
    it holds finite scores of which some are fractions. None, and no use of the table, for any other file, or where
    ``kind`` names the other of the two."""
    for delimiter in ("\t", " "):
        try:
            cursor.execute(f"""
                CREATE OR REPLACE TABLE {identifier(table)} AS SELECT q, d, v
                FROM read_csv({path_literal(source)}, delim='{delimiter}', columns={_COLUMNS}, {_READER})
            """)
        except QueryInterrupted:
            raise
        except DatabaseError:
            continue
        found = _kind(cursor, table)
        if found is None or kind not in (None, found):
            return None
        score, rank = ("1 / v::INTEGER", "v::INTEGER") if found == "msmarco" else ("v::DOUBLE", "NULL::INTEGER")
        cursor.execute(f"""
            CREATE OR REPLACE TABLE {identifier(table)} AS
            SELECT q AS query_id, d AS doc_id, ({score})::DOUBLE AS score, {rank} AS given_rank
            FROM {identifier(table)}
        """)
        return found
    return None


def _kind(cursor: Cursor, table: str) -> str | None:
    row = cursor.execute(f"""
        SELECT count(*) > 0 AND count(*) = count(q) AND count(*) = count(d) AND NOT bool_or(starts_with(q, '#')
                   OR contains(q, '\r') OR contains(v, '\r') OR contains(q, '\t') OR trim(q) <> q OR trim(d) <> d),
               -- An aggregate passes over NULL, which is what a failed cast gives.
               bool_and(coalesce(try_cast(v AS INTEGER)::VARCHAR = v AND try_cast(v AS INTEGER) = number, false))
                   AND max(number) > 1,
               bool_and(coalesce(isfinite(try_cast(replace(v, '_', '?') AS DOUBLE)), false))
                   AND bool_or(contains(v, '.'))
        FROM (SELECT q, d, v, row_number() OVER (PARTITION BY q ORDER BY rowid) AS number FROM {identifier(table)})
    """).fetchone()
    usable, counts, scored = row or (False, False, False)
    return None if not usable else "msmarco" if counts else "tevatron" if scored else None

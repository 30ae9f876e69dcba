"""A document listed more than once for a query: the losing rows are deleted where they lie, so that the order stays."""

from __future__ import annotations

from pathlib import Path

from bright_inspect.db import Cursor, identifier
from bright_inspect.domain.findings import Finding
from bright_inspect.formats.parts import Part, RepeatedRow

#: How many of the deleted rows are told; the finding counts all of them.
_MOST_KEPT = 5_000


def settle_duplicates(cursor: Cursor, path: Path, part: Part) -> list[Finding]:
    """Keep of each (query, document) the row with the better score, of equal scores the earlier one.

    The finding counts the deleted rows and names the places of the first pair: lines, or places in its query's list.
    """
    name = identifier(part.table)
    # Hashes first, over the whole file: they may collide, so they only say whether to look closer.
    unlike = cursor.execute(f"SELECT count(*) = count(DISTINCT hash(query_id, doc_id)) FROM {name}").fetchone()
    if unlike and unlike[0]:
        return []
    suspects = cursor.execute(f"""
        SELECT list(query_id) FROM (
            SELECT query_id FROM {name} GROUP BY query_id HAVING count(*) <> count(DISTINCT hash(doc_id)))
    """).fetchone()
    if suspects is None or not suspects[0]:
        return []
    repeats = cursor.execute(
        f"""SELECT query_id, doc_id, list(place ORDER BY place), list(number ORDER BY place), min(place) AS first
            FROM (SELECT query_id, doc_id, rowid AS place,
                         row_number() OVER (PARTITION BY query_id ORDER BY rowid) AS number
                  FROM {name} WHERE query_id IN (SELECT unnest(?::VARCHAR[])))
            GROUP BY query_id, doc_id HAVING count(*) > 1 ORDER BY first LIMIT 1""",
        [suspects[0]],
    ).fetchone()
    if repeats is None:
        return []
    losers = f"""SELECT rowid FROM {name} WHERE query_id IN (SELECT unnest(?::VARCHAR[]))
                 QUALIFY row_number() OVER (PARTITION BY query_id, doc_id ORDER BY score DESC, rowid) > 1"""
    kept = cursor.execute(
        f"""SELECT query_id, doc_id, score, given_rank, rowid FROM {name} WHERE rowid IN ({losers})
            ORDER BY rowid LIMIT {_MOST_KEPT}""",
        [suspects[0]],
    ).fetchall()
    part.repeats = tuple(RepeatedRow(*row) for row in kept)
    deleted = cursor.execute(f"DELETE FROM {name} WHERE rowid IN ({losers})", [suspects[0]]).fetchone()
    query_id, doc_id, _, numbers, _ = repeats
    lines = part.locate(query_id, doc_id) if part.locate else []
    if lines:
        places = f"lines {' and '.join(map(str, lines))}"
    else:
        places = f"places {' and '.join(map(str, numbers[:2]))} of the query's list"
    count = int(deleted[0]) if deleted else 0
    message = (
        f"{count} time(s) a document is listed again for its query; the best score is kept (trec_eval stops). "
        f"First: query {query_id}, {doc_id} on {places}."
    )
    return [Finding("duplicate-document", "error", str(path), message, lines[0] if lines else None, count)]

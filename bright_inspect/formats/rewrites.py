"""Files of rewritten queries: tables by query id, maps from the original text, and QueryGym's pairs of files.

BRIGHT's reason.py and INF-X write a JSON list of example rows, QueryGym a quoted TSV with a JSON of how it was made,
TongSearch one object ``{original text: rewritten text}``, DIVER lines of ``{id, query}`` (FORMATS A.9, E.9, E.10).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bright_inspect.db import Cursor, DatabaseError, identifier, reason_of
from bright_inspect.domain.findings import Finding
from bright_inspect.errors import UnreadableInput
from bright_inspect.formats.files import clean_source, read_head
from bright_inspect.formats.json_stream import JsonStream, json_errors_told
from bright_inspect.formats.tables import ID_NAMES, REWRITE_NAMES, TEXT_NAMES, TextTable, decoded_head

_HEAD_BYTES = 1 << 18
#: How QueryGym calls the texts beside its description of them.
QUERYGYM_SUFFIX = ".queries.tsv"
_QUERYGYM_BYTES = 1 << 20
_EXPECTED = (
    'Expected TSV, CSV, JSON Lines or Parquet with ids and texts, a JSON list of rows, or {"original text": "rewrite"}.'
)
_BATCH = 1000
_COLUMNS = frozenset((*ID_NAMES, *REWRITE_NAMES, *TEXT_NAMES))
_LONE = re.compile("[\ud800-\udfff]")
#: SQL for a row's task as slugs are spelled (``domain.names.normalised_task``), NULL where it names none.
TASK_SLUG = "nullif(lower(regexp_replace(trim(task), '[\\s-]+', '_', 'g')), '')"


@dataclass(frozen=True, slots=True)
class RewritesRead:
    """Rewrites in ``table``: ``(position, key, text, task, golds)``; ``task`` is NULL where the row names none, and
    ``golds`` the row's gold ids as JSON, NULL where it lists none.

    ``is_map`` says that a key may be the original text; else it is a query id. ``path`` is the file with the texts.
    ``told`` is what the file says of itself: the rewriting method or the variant's name, and the task's name as its
    writer spells it.
    """

    path: Path
    table: str
    is_map: bool
    findings: tuple[Finding, ...]
    told: tuple[str | None, str | None] = (None, None)


def read_rewrites_into(cursor: Cursor, path: Path, table: str) -> RewritesRead:
    """Read a file of rewritten queries into a new table.

    Raises:
        UnreadableInput: absent, empty, damaged, or none of these formats.
    """
    named = _querygym_texts(path)
    texts = named or path
    told = _querygym_told(path if named else path.with_name(path.name.removesuffix(QUERYGYM_SUFFIX) + ".json"))
    cursor.execute(
        f"CREATE TABLE {identifier(table)} (position BIGINT, key VARCHAR, text VARCHAR, task VARCHAR, golds VARCHAR)"
    )
    if _is_map(texts):
        return RewritesRead(texts, table, True, tuple(_read_map(cursor, texts, table)), told)
    rows = TextTable(texts, rewritten=True, also=("task", "gold_ids", "variant"))
    findings = [finding for finding in rows.findings(cursor) if finding.code != "repeated-id"]
    try:
        cursor.execute(f"""
            INSERT INTO {identifier(table)}
            SELECT position, id, text, {TASK_SLUG} AS task,
                   CASE WHEN json_valid(gold_ids) AND json_type(gold_ids) = 'ARRAY' AND gold_ids <> '[]'
                        THEN gold_ids END
            FROM ({rows.sql})
            QUALIFY row_number() OVER (PARTITION BY {TASK_SLUG}, id ORDER BY position) = 1""")
        counted = cursor.execute(
            f"SELECT (SELECT count(*) FROM ({rows.sql})) - (SELECT count(*) FROM {identifier(table)})"
        ).fetchone()
        named_in_rows = cursor.execute(f"SELECT DISTINCT trim(variant) FROM ({rows.sql}) LIMIT 2").fetchall()
    except DatabaseError as error:
        raise UnreadableInput(f"{texts}: cannot be read ({reason_of(error)}).", _EXPECTED) from None
    if told[0] is None and len(named_in_rows) == 1:
        told = (named_in_rows[0][0] or None, told[1])
    if counted and counted[0]:
        findings.append(_repeated(texts, int(counted[0]), "id(s)"))
    return RewritesRead(texts, table, False, tuple(findings), told)


def _is_map(path: Path) -> bool:
    """Whether the file is an object of texts, or one such object a line, and no rows with ids and texts."""
    head = read_head(path, _HEAD_BYTES)
    text = decoded_head(head).lstrip()
    stream, keys, texts = JsonStream(text), [], 0
    try:
        for key in stream.members() if text.startswith("{") else ():
            keys.append(key)
            texts += stream.peek() == '"'
            stream.value()
    except (ValueError, RecursionError):
        pass  # where the head ends, or the object: read_map says which
    # A map's keys are whole queries, or ids.
    return 2 * texts >= len(keys) > 0 and _COLUMNS.isdisjoint(key.lower() for key in keys)


def _read_map(cursor: Cursor, path: Path, table: str) -> list[Finding]:
    with clean_source(path, "\\\\") as (source, _, mended), json_errors_told(path, _EXPECTED):
        rewrites: dict[str, str] = {}
        others: list[str] = []
        repeated = 0
        for key, value in _members(JsonStream(source.read_text(encoding="utf-8"))):
            if not isinstance(value, str):
                others.append(key)
            else:
                repeated += key in rewrites
                rewrites.setdefault(key, value)
        findings = list(mended)
    if not rewrites:
        raise UnreadableInput(f"{path}: no rewrite in it.", _EXPECTED)
    if broken := sum(_LONE.search(key + text) is not None for key, text in rewrites.items()):
        rewrites = {_LONE.sub("\ufffd", key): _LONE.sub("\ufffd", text) for key, text in rewrites.items()}
        message = f"{broken} text(s) with half a character (a lone surrogate); shown as \ufffd, and joined as such."
        findings.append(Finding("invalid-utf8", "warning", str(path), message, count=broken))
    rows = [(place, key, text) for place, (key, text) in enumerate(rewrites.items(), 1)]
    for start in range(0, len(rows), _BATCH):
        positions, keys, texts = zip(*rows[start : start + _BATCH], strict=True)
        cursor.execute(
            f"""INSERT INTO {identifier(table)}
                SELECT unnest($positions::BIGINT[]), unnest($keys::VARCHAR[]), unnest($texts::VARCHAR[]), NULL, NULL""",
            {"positions": list(positions), "keys": list(keys), "texts": list(texts)},
        )
    if others:
        message = f'Values that are no text are left out, the first of "{_short(others[0])}".'
        findings.append(Finding("bad-entry", "error", str(path), message, count=len(others)))
    if repeated:
        findings.append(_repeated(path, repeated, "text(s)"))
    empty = sum(not text.strip() for text in rewrites.values())
    if empty:
        message = f"{empty} rewrite(s) without text; shown as empty, scores are as they are."
        findings.append(Finding("row-without-text", "warning", str(path), message, count=empty))
    return findings


def _repeated(path: Path, count: int, what: str) -> Finding:
    message = f"{count} {what} more than once; the first rewrite of each counts."
    return Finding("repeated-id", "warning", str(path), message, count=count)


def _short(text: object) -> str:
    return str(text)[:60]


def _members(stream: JsonStream) -> Iterator[tuple[str, Any]]:
    """The keys and values of one object, or of several after each other."""
    while stream.peek():
        for key in stream.members():
            yield key, stream.value()


def _querygym_texts(path: Path) -> Path | None:
    """The file with the texts beside one of QueryGym's descriptions; None if it is none.

    Raises:
        UnreadableInput: it is one, and the texts are not there.
    """
    made = _querygym(path)
    if made is None:
        return None
    name = made["artifacts"]["reformulated_queries"]
    # The name comes from the file: it must not lead out of the folder.
    texts = path.with_name(name) if isinstance(name, str) and Path(name).name == name else None
    if texts is None or not texts.is_file():
        raise UnreadableInput(
            f"{path}: QueryGym's description of a run, and the queries it names ({_short(name)}) are not beside it.",
            "Put the .queries.tsv into the same folder.",
        )
    return texts


def _querygym_told(path: Path) -> tuple[str | None, str | None]:
    """The method, with its mode where it has several, and the dataset that QueryGym's description names."""
    made = _querygym(path)
    if made is None:
        return None, None
    pipeline = made["pipeline"]
    parameters = made.get("config", {}).get("method_params") if isinstance(made.get("config"), dict) else None
    mode = parameters.get("mode") if isinstance(parameters, dict) else None
    parts = [part for part in (pipeline.get("method_id"), mode) if isinstance(part, str) and part]
    dataset = pipeline.get("dataset_id")
    return "-".join(parts) or None, dataset if isinstance(dataset, str) else None


def _querygym(path: Path) -> dict[str, Any] | None:
    """QueryGym's description in this file (QGYM: runs/{dataset}/{method}/…/{hash}.json), None if it is not one."""
    try:
        if path.suffix != ".json" or path.stat().st_size > _QUERYGYM_BYTES:
            return None
        made = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError):
        return None
    if not isinstance(made, dict) or not all(isinstance(made.get(part), dict) for part in ("pipeline", "artifacts")):
        return None
    return made if "reformulated_queries" in made["artifacts"] else None

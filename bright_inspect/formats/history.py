"""rank_llm's invocation history beside a run: what the model said about each query's list."""

from __future__ import annotations

import re
from pathlib import Path

from bright_inspect.db import Cursor, identifier
from bright_inspect.domain.findings import Finding
from bright_inspect.errors import UnreadableInput
from bright_inspect.formats.files import clean_source, read_head
from bright_inspect.formats.json_records import add_invocations, query_of, records
from bright_inspect.formats.json_stream import json_errors_told
from bright_inspect.formats.parts import Part
from bright_inspect.formats.rows import Problems, ReasonSink

# castorini/rank_llm's scripts write rerank_results*.jsonl beside inference_invocations_history*.json, or rerank.jsonl
# beside invocations.json.
_HISTORY = re.compile(r"(inference_)?invocations(_history)?(?P<rest>.*)\.jsonl?(\.\w+)?", re.IGNORECASE)
_RESULTS = re.compile(r"(rerank)(_results)?(?P<rest>.*?)\.\w+(\.\w+)?", re.IGNORECASE)


def add_history(cursor: Cursor, path: Path, part: Part) -> list[Finding]:
    """Fill the part's reasons from the history file beside the run, if there is exactly one for it."""
    beside = _histories(path)
    if not beside:
        return []
    own = _RESULTS.fullmatch(path.name)
    same = [file for file, rest in beside if own and rest == own["rest"]]
    chosen = same[0] if len(same) == 1 else beside[0][0] if len(beside) == 1 else None
    if chosen is None:
        names = ", ".join(file.name for file, _ in beside[:3])
        message = f"{len(beside)} invocation histories beside the run, none is named like it ({names}); none was read."
        return [Finding("history-not-read", "warning", str(path), message, None, len(beside))]
    return _read(cursor, path, chosen, part)


def _histories(path: Path) -> list[tuple[Path, str]]:
    found = []
    for file in sorted(path.parent.iterdir()):
        match = _HISTORY.fullmatch(file.name)
        if match and file != path and file.is_file():
            found.append((file, match["rest"]))
    return found


def _read(cursor: Cursor, path: Path, history: Path, part: Part) -> list[Finding]:
    rows = cursor.execute(f"SELECT DISTINCT query_id FROM {identifier(part.table)}").fetchall()
    ours = {str(row[0]) for row in rows}
    sink = ReasonSink(cursor, part.table)
    theirs: set[str] = set()
    try:
        read_head(history)
        with clean_source(history, escape="\\\\") as (source, _, _), json_errors_told(history, "Expected a JSON list."):
            for _, _, entry in records(source, Problems()):
                row = dict(entry)
                query_id = query_of(row)
                if query_id is not None:
                    theirs.add(query_id)
                    if query_id in ours:
                        add_invocations(sink, query_id, row.get("invocations_history"))
    except UnreadableInput as error:
        return [Finding("history-not-read", "warning", str(path), f"the invocation history beside the run: {error}")]
    finally:
        part.reasons = sink.finish_reasons() > 0 or part.reasons
    if theirs <= ours:
        return []
    message = f"{len(theirs - ours)} of the {len(theirs)} queries in {history.name} are not in the run; left out."
    return [Finding("history-of-other-queries", "warning", str(path), message, None, len(theirs - ours))]

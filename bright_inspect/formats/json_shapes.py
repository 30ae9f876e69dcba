"""What a JSON value is: which of the run formats, or which other file of this field, by its keys and levels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from bright_inspect.formats.json_stream import Pairs
from bright_inspect.formats.records import (
    DOC_KEYS,
    LIST_KEYS,
    QUERY_KEYS,
    RANK_KEYS,
    are_metric_names,
    first_key,
    score_candidates,
)  # fmt: skip

_EXPECTED = "Expected a run, {query_id: {doc_id: score}}; bright-inspect formats lists all formats."
_QRELS_HINT = "Give judgments with --qrels."


@dataclass(frozen=True, slots=True)
class Shape:
    """A format of the registry, or None: then ``instead`` is what the value is. Where not ``sure``, more of the text
    may tell more."""

    format: str | None
    instead: str = ""
    hint: str = _EXPECTED
    sure: bool = True


def shape_of(value: Any) -> Shape:
    """The shape of a value that may be only the beginning of the one in the file; objects are Pairs."""
    if isinstance(value, Pairs):
        return _shape_of_object(value)
    if isinstance(value, list):
        return _shape_of_list(value)
    return Shape(None, "a single JSON value")


def _shape_of_list(value: Sequence[Any]) -> Shape:
    if not value:
        return Shape(None, "an empty JSON list", sure=False)
    records = [item for item in value if isinstance(item, Pairs)]
    if not records:
        return Shape(None, "a JSON list")
    shapes = [shape for record in records[:20] if (shape := record_shape(record)) is not None]
    return next((shape for shape in shapes if shape.format), shapes[0] if shapes else Shape(None, "a JSON list"))


def record_shape(record: Pairs) -> Shape | None:
    """The shape of one entry of a list or one line of JSON Lines; None if it is none that is known."""
    row = dict(record)
    query = first_key(QUERY_KEYS, row)
    if isinstance(row.get("candidates"), list) and ("query" in row or query):
        return Shape("rank-llm")
    if isinstance(row.get("invocations_history"), list):
        return Shape(
            None, "rank_llm's invocation history alone", "Name the file with the candidates; this one is read with it."
        )
    if query and first_key(DOC_KEYS, (key for key, inner in row.items() if isinstance(inner, str | int))):
        if first_key(RANK_KEYS, row) or score_candidates(row):
            return Shape("json-lines")
        if "relevance" in row:
            return Shape(None, "judgments as JSON rows", _QRELS_HINT)
        return Shape(None, "rows without a score or rank", "Name the field score (or rank).", sure=False)
    if query and first_key(LIST_KEYS, (key for key, inner in row.items() if isinstance(inner, list))):
        return Shape("id-lists")
    if _has_golds(row):
        return Shape(None, "BRIGHT examples (queries with their golds)", "Give them with --data.")
    if ("id" in row or "_id" in row) and any(isinstance(row.get(key), str) for key in ("content", "contents", "text")):
        return Shape(None, "queries or documents with their texts")
    if ("id" in row or query) and isinstance(row.get("query"), str):
        return Shape(None, "a query file (ids and texts)")
    if query or "id" in row or "_id" in row:
        return Shape(None, f"JSON rows without a ranking ({', '.join(list(row)[:4])})", sure=False)
    return None


def _has_golds(row: dict[str, Any]) -> bool:
    return any(isinstance(row.get(key), list) for key in ("gold_ids", "excluded_ids")) and "query" in row


def _shape_of_object(value: Pairs) -> Shape:
    row = dict(value)
    if not row:
        return Shape(None, "an empty JSON object", sure=False)
    if "mteb_model_meta" in row:
        return Shape("mteb")
    if isinstance(row.get("mteb_version"), str) or isinstance(row.get("task_name"), str):
        return Shape(None, "MTEB's metrics of a task")
    if isinstance(row.get("search_results"), Pairs):
        return Shape("retro")
    if isinstance(row.get("queries"), list):
        inner = next((item for item in row["queries"] if isinstance(item, Pairs)), None)
        shape = record_shape(inner) if inner else None
        if shape and shape.format == "id-lists":
            return shape
    shape = record_shape(value)
    if shape and (shape.format or _has_golds(row) or isinstance(row.get("invocations_history"), list)):
        return shape
    return _shape_of_map(value) or shape or _shape_of_numbers(row)


def _shape_of_map(value: Pairs) -> Shape | None:
    """The shape of an object whose keys are queries, or splits and subsets with queries in them."""
    objects = [inner for _, inner in value if isinstance(inner, Pairs) and inner]
    for inner in objects:
        if all(isinstance(score, int | float) for _, score in inner):
            if are_metric_names(key for key, _ in inner):
                return Shape(None, f"metrics ({', '.join(key for key, _ in inner[:3])}, ...)")
            return Shape("score-json")
    if objects:
        levels = _levels(objects[0])
        if levels == 4 - 1:
            return Shape("mteb")
        if levels > 1:
            return Shape(None, "JSON with more levels than a run has")
        return Shape("score-json")
    lists = [inner for _, inner in value if isinstance(inner, list) and not isinstance(inner, Pairs)]
    if len(lists) * 2 > len(value) and any(inner and is_ranked_list(inner) for inner in lists):
        return Shape("id-lists")
    if any(isinstance(inner, Pairs) for _, inner in value):
        return Shape("score-json", sure=False)
    if lists:
        return Shape(None, "a JSON object of lists that hold no document ids")
    return None


def _levels(value: Any) -> int:
    levels = 0
    while isinstance(value, Pairs) and value:
        levels, value = levels + 1, value[0][1]
    return levels


def is_ranked_list(value: Sequence[Any]) -> bool:
    """Whether a list's items are document ids, [id, score] pairs, or objects with an id."""
    item = value[0]
    if isinstance(item, Pairs):
        return first_key((*DOC_KEYS, "id", "_id"), (key for key, _ in item)) is not None
    if isinstance(item, list):
        return len(item) == 2 and isinstance(item[0], str) and isinstance(item[1], int | float)
    return isinstance(item, str) or (isinstance(item, int) and not isinstance(item, bool))


def _shape_of_numbers(row: dict[str, Any]) -> Shape:
    numbers = [key for key, inner in row.items() if isinstance(inner, int | float) and not isinstance(inner, bool)]
    if numbers and (are_metric_names(numbers) or len(numbers) == len(row)):
        return Shape(None, f"metrics ({', '.join(numbers[:3])}, ...)")
    if all(isinstance(inner, str) for inner in row.values()):
        return Shape(None, "a JSON object of texts (rewritten queries?)")
    return Shape(None, "a JSON object without score lists")

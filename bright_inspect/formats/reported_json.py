"""Reported values in JSON: which tool's layout it is, and the values in it with their key paths."""

from __future__ import annotations

import json
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

from bright_inspect.domain.findings import Finding
from bright_inspect.errors import UnreadableInput
from bright_inspect.formats.reported_entries import Entries, Entry, dataset_and_task, measure_or_none, with_task

_EXPECTED = "Expected a file of results, such as results.json of BRIGHT or a result file of MTEB."
# Beside an MTEB subset's values; none of them is a value.
_MTEB_LABELS = {"hf_subset", "languages", "mteb_version"}


def json_entries(path: Path, text: str) -> Entries:
    """The values of a JSON file.

    Raises:
        UnreadableInput: the JSON is damaged, or of no layout that holds results.
    """
    read = Entries(drops_zeros=True, run_by_path=True)
    loaded = _load(path, text, read.findings)
    if not isinstance(loaded, dict):
        raise UnreadableInput(f"{path}: a JSON list, not reported values.", _EXPECTED)
    if "task_name" in loaded and isinstance(loaded.get("scores"), dict):
        read.entries, read.run_by_path = list(_mteb(path, loaded, read.findings)), False
    elif isinstance(loaded.get("metrics"), dict):
        read.entries = list(_querygym(loaded))
    elif any(measure_or_none(name) is not None and not isinstance(value, dict) for name, value in loaded.items()):
        read.entries = list(_flat(loaded))
    elif any(measure_or_none(name) is not None for value in loaded.values() for name in _names(value)):
        read.entries = list(_nested(loaded))
    elif any(isinstance(value, Decimal) for value in loaded.values()):
        read.entries = list(_flat(loaded))
    else:
        raise UnreadableInput(f"{path}: no key of this JSON is a measure (is it a run?).", _EXPECTED)
    return read


def _load(path: Path, text: str, findings: list[Finding]) -> Any:
    repeated: list[str] = []

    def pairs(items: list[tuple[str, Any]]) -> dict[str, Any]:
        made = dict(items)
        if len(made) < len(items):
            keys = [key for key, _ in items]
            repeated.extend(key for key in made if keys.count(key) > 1)
        return made

    try:
        loaded = json.loads(
            text, object_pairs_hook=pairs, parse_float=Decimal, parse_int=Decimal, parse_constant=Decimal
        )
    except json.JSONDecodeError as error:
        raise UnreadableInput(
            f"{path}:{error.lineno}: not valid JSON ({error.msg}).", "Write or fetch the file again."
        ) from None
    except RecursionError:
        raise UnreadableInput(f"{path}: JSON nested too deeply.", _EXPECTED) from None
    if repeated:
        message = f"{len(repeated)} key(s) occur more than once, the last value of each is used. First: {repeated[0]}."
        findings.append(Finding("repeated-key", "error", str(path), message, None, len(repeated)))
    return loaded


def _number(value: object) -> Decimal | None:
    return value if isinstance(value, Decimal) else None


def _flat(loaded: dict[str, Any], prefix: str = "") -> Iterator[Entry]:
    """BRIGHT's results.json: ``{"NDCG@10": 0.27, ...}``. Labels beside the values (texts, lists) are no values, but
    what could hold some, or is called as one, is told."""
    for name, value in loaded.items():
        if isinstance(value, Decimal | dict) or measure_or_none(name) is not None:
            yield Entry(name, _number(value), f"{prefix}{name}")


def _querygym(loaded: dict[str, Any]) -> Iterator[Entry]:
    """QueryGym's run record: ``metrics`` beside the pipeline that made them."""
    pipeline = loaded.get("pipeline")
    names = pipeline if isinstance(pipeline, dict) else {}
    config = loaded.get("config")
    retrieval = config.get("retrieval") if isinstance(config, dict) else None
    retriever = retrieval.get("retriever_id") if isinstance(retrieval, dict) else None
    parts = [part for part in (retriever, names.get("method_id")) if isinstance(part, str)]
    for entry in _flat(loaded["metrics"], "metrics."):
        named = Entry(entry.name, entry.number, entry.place, run="@".join(parts) or None)
        dataset = names.get("dataset_id")
        yield with_task(named, dataset) if isinstance(dataset, str) else named


def _mteb(path: Path, loaded: dict[str, Any], findings: list[Finding]) -> Iterator[Entry]:
    """MTEB's result file: ``scores`` by split, each a list of subsets (FORMATS B.4). The subsets of the legacy tasks
    are BRIGHT's tasks, and their split ``long`` the long documents."""
    task_name = loaded["task_name"] if isinstance(loaded["task_name"], str) else ""
    dataset, task = dataset_and_task(task_name)
    # results/{org__model}/{revision}/{task}.json
    model = path.absolute().parent.parent.name
    run = model.replace("__", "/") if "__" in model else None
    for split, subsets in loaded["scores"].items():
        if not isinstance(subsets, list):
            findings.append(_odd_shape(path, f"scores.{split}"))
            continue
        for number, subset in enumerate(subsets):
            place = f"scores.{split}[{number}]"
            if not isinstance(subset, dict):
                findings.append(_odd_shape(path, place))
                continue
            named = subset.get("hf_subset")
            of_subset = dataset_and_task(named)[1] if isinstance(named, str) and named != "default" else None
            corpus = "bright-long" if dataset == "bright" and split == "long" else dataset
            for name, value in subset.items():
                if name not in _MTEB_LABELS:
                    yield Entry(name, _number(value), f"{place}.{name}", run, corpus, of_subset or task)


def _odd_shape(path: Path, place: str) -> Finding:
    return Finding("odd-shape", "error", str(path), f"{place} is not what MTEB writes there; left out.")


def _nested(loaded: dict[str, Any]) -> Iterator[Entry]:
    """BEIR's save_results, ``{"ndcg": {"NDCG@10": ...}}``, and values by query, ``{query: {"ndcg_cut_10": ...}}``:
    told apart by the outer keys, all of which name measures in BEIR's."""
    outer_names = [
        outer for outer, values in loaded.items() if any(measure_or_none(name) is not None for name in _names(values))
    ]
    by_query = not all(measure_or_none(f"{outer}@1") is not None for outer in outer_names)
    for outer, values in loaded.items():
        if not isinstance(values, dict):
            yield Entry(outer, None, outer)
            continue
        for name, value in values.items():
            yield Entry(name, _number(value), f"{outer}.{name}", query_id=outer if by_query else None)


def _names(value: object) -> list[str]:
    return list(value) if isinstance(value, dict) else []

"""Whole runs from the command line: queries searched batch by batch into a file that a broken run goes on with.

Beside a run lies a sidecar, ``RUN.json``, that says how it was made. Until it is done a run is called ``RUN.part``.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bright_inspect.errors import BrightInspectError, UsageError
from bright_inspect.retrieval.protocol import Check, Retriever
from bright_inspect.store.corpus import TaskQueries

#: Queries searched between two writes: what a kill can cost.
BATCH = 16
Listener = Callable[[int, int], None]
"""(queries done, queries to do)"""


@dataclass(frozen=True, slots=True)
class Retrieved:
    """What a run came to: queries searched, those taken over from a broken run, and by query why its list is shorter
    than the depth, of those searched now."""

    queries: int
    taken_over: int
    short_lists: dict[str, str]


def retrieve_run(
    retriever: Retriever,
    queries: TaskQueries,
    depth: int,
    out: Path,
    provenance: dict[str, Any],
    listener: Listener,
    check: Check,
) -> Retrieved:
    """Write a TREC run of ``depth`` documents a query to ``out``, and the sidecar with ``provenance`` beside it.

    A part that was made with the same provenance is taken over as far as it is whole.

    Raises:
        UsageError: ``out`` exists.
        BrightInspectError: it cannot be written.
    """
    sidecar, part = out.with_name(out.name + ".json"), out.with_name(out.name + ".part")
    part_sidecar = out.with_name(out.name + ".part.json")
    if out.exists():
        raise UsageError(f"{out}: there already.", "Name another --out, or remove it.")
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        done = _taken_over(part, part_sidecar, provenance, queries)
        short_lists: dict[str, str] = {}
        with part.open("a", encoding="utf-8", newline="\n") as file:
            for start in range(done, len(queries.query_ids), BATCH):
                check()
                listener(start, len(queries.query_ids))
                _search(retriever, queries, slice(start, start + BATCH), depth, file, provenance, short_lists, check)
                file.flush()
                os.fsync(file.fileno())
        sidecar.write_text(
            json.dumps({**provenance, "short_lists": [list(item) for item in short_lists.items()]}, indent=1) + "\n",
            encoding="utf-8",
        )
        os.replace(part, out)
        part_sidecar.unlink(missing_ok=True)
    except OSError as error:
        raise BrightInspectError(
            f"{error.filename or out}: cannot be written ({error.strerror or error}).",
            "Free disk, or name another --out.",
        ) from None
    return Retrieved(len(queries.query_ids), done, short_lists)


def _taken_over(part: Path, sidecar: Path, provenance: dict[str, Any], queries: TaskQueries) -> int:
    """How many queries a broken run has whole; the part is cut behind them. Another run's part is started anew."""
    wanted = json.loads(json.dumps(provenance))
    try:
        same = json.loads(sidecar.read_text(encoding="utf-8")) == wanted
    except (OSError, ValueError):
        same = False
    if not same or not part.exists():
        part.unlink(missing_ok=True)
        sidecar.write_text(json.dumps(provenance), encoding="utf-8")
        return 0
    places = {query_id: number for number, query_id in enumerate(queries.query_ids)}
    ends: dict[int, int] = {}
    with part.open("rb") as file:
        for line in iter(file.readline, b""):
            if line.endswith(b"\n"):
                number = places.get(line.split(b" ", 1)[0].decode("utf-8", "replace"))
                if number is not None:
                    ends[number // BATCH] = file.tell()
    # The last batch may have been cut short: only those before it are known to be whole.
    whole = sorted(ends)[:-1]
    os.truncate(part, ends[whole[-1]] if whole else 0)
    return (whole[-1] + 1) * BATCH if whole else 0


def _search(
    retriever: Retriever,
    queries: TaskQueries,
    batch: slice,
    depth: int,
    file: Any,
    provenance: dict[str, Any],
    short_lists: dict[str, str],
    check: Check,
) -> None:
    found = retriever.search(queries.texts[batch], depth, queries.excluded[batch], check)
    for query_id, answer in zip(queries.query_ids[batch], found, strict=True):
        if answer.shortfall:
            short_lists[query_id] = answer.shortfall
        for rank, hit in enumerate(answer.hits, 1):
            file.write(f"{query_id} Q0 {hit.doc_id} {rank} {hit.score!r} {provenance['system']}\n")

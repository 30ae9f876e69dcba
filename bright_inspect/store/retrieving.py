"""Whole runs from the command line: queries searched batch by batch into a file that a broken run goes on with.

Beside a run lies a sidecar, ``RUN.json``, that says how it was made. Until it is done a run is called ``RUN.part``, and
what is to be told of its lists is kept in ``RUN.part.notes``, a line a batch.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from bright_inspect.errors import BrightInspectError, UsageError
from bright_inspect.retrieval.protocol import Check, Found, Retriever
from bright_inspect.store.corpus import TaskQueries
from bright_inspect.store.lists import write_list

#: Queries searched between two writes: what a kill can cost.
BATCH = 16
Listener = Callable[[int, int], None]
"""(queries done, queries to do)"""
Search = Callable[[slice], Sequence[Found]]
"""The lists of a slice of the queries."""


@dataclass(slots=True)
class Told:
    """What is told of a run's lists: by query why a list is shorter than the depth, and if it was reranked, documents
    scored, cut by the model's max length (None where that is not known) and without a text."""

    short_lists: dict[str, str] = field(default_factory=dict)
    scored: int = 0
    cut: int | None = 0
    without_text: int = 0

    def add(self, query_id: str, found: Found) -> None:
        if found.shortfall:
            self.short_lists[query_id] = found.shortfall
        if found.reranking is not None:
            self.scored += found.reranking.scored
            self.without_text += found.reranking.without_text
            known = None not in (self.cut, found.reranking.cut)
            self.cut = (self.cut or 0) + (found.reranking.cut or 0) if known else None

    def join(self, other: Told) -> None:
        self.short_lists.update(other.short_lists)
        self.scored += other.scored
        self.without_text += other.without_text
        self.cut = None if None in (self.cut, other.cut) else (self.cut or 0) + (other.cut or 0)

    def as_json(self) -> dict[str, Any]:
        lists = {"short_lists": [list(item) for item in self.short_lists.items()]}
        if not self.scored and not self.without_text:
            return lists
        return {
            **lists,
            "reranked_documents": self.scored,
            "reranked_documents_cut": self.cut,
            "reranked_documents_without_text": self.without_text,
        }

    @classmethod
    def from_json(cls, told: dict[str, Any]) -> Told:
        return cls(
            {str(query_id): str(reason) for query_id, reason in told["short_lists"]},
            int(told.get("reranked_documents", 0)),
            None if (cut := told.get("reranked_documents_cut", 0)) is None else int(cut),
            int(told.get("reranked_documents_without_text", 0)),
        )


@dataclass(frozen=True, slots=True)
class Retrieved:
    """What a run came to: queries searched, those taken over from a broken run, and what is told of all of them."""

    queries: int
    taken_over: int
    told: Told


def retrieve_run(
    retriever: Retriever,
    queries: TaskQueries,
    depth: int,
    out: Path,
    provenance: dict[str, Any],
    listener: Listener,
    check: Check,
) -> Retrieved:
    """Search all queries of a task and write the run; see ``write_run``."""

    def search(batch: slice) -> Sequence[Found]:
        return retriever.search(queries.texts[batch], depth, queries.excluded[batch], check)

    return write_run(queries.query_ids, search, out, provenance, listener, check)


def write_run(
    query_ids: Sequence[str],
    search: Search,
    out: Path,
    provenance: dict[str, Any],
    listener: Listener,
    check: Check,
) -> Retrieved:
    """Write a TREC run of what ``search`` finds to ``out``, and the sidecar with ``provenance`` beside it; its
    ``system`` is the tag of the run's lines.

    A part that was made with the same provenance is taken over as far as it is whole.

    Raises:
        UsageError: ``out`` exists.
        BrightInspectError: it cannot be written.
    """
    part = _Part(out, query_ids)
    refuse_existing(out)
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        done, told = part.taken_over(provenance)
        with (
            part.run.open("a", encoding="utf-8", newline="\n") as file,
            part.notes.open("a", encoding="utf-8") as notes,
        ):
            for start in range(done, len(query_ids), BATCH):
                check()
                listener(start, len(query_ids))
                now = Told()
                batch = slice(start, start + BATCH)
                lists = search(batch)
                if len(lists) != len(query_ids[batch]):
                    raise BrightInspectError(
                        f"{provenance['system']}: it gave {len(lists)} lists for {len(query_ids[batch])} queries."
                    )
                for query_id, found in zip(query_ids[batch], lists, strict=True):
                    now.add(query_id, found)
                    write_list(file, query_id, found.hits, provenance["system"])
                _synced(file)
                notes.write(json.dumps(now.as_json()) + "\n")
                _synced(notes)
                told.join(now)
        sidecar_of(out).write_text(json.dumps({**provenance, **told.as_json()}, indent=1) + "\n", encoding="utf-8")
        os.replace(part.run, out)
        part.remove()
    except OSError as error:
        raise BrightInspectError(
            f"{error.filename or out}: cannot be written ({error.strerror or error}).",
            "Free disk, or name another --out.",
        ) from None
    return Retrieved(len(query_ids), done, told)


def refuse_existing(out: Path) -> None:
    """
    Raises:
        UsageError: ``out`` exists.
    """
    if out.exists():
        raise UsageError(f"{out}: there already.", "Name another --out, or remove it.")


def sidecar_of(run: Path) -> Path:
    """The file that says how a run was made."""
    return run.with_name(run.name + ".json")


class _Part:
    """What is kept of a run that is not done: its lines, how it is made, and what is told of it."""

    def __init__(self, out: Path, query_ids: Sequence[str]) -> None:
        self.run = out.with_name(out.name + ".part")
        self.sidecar = out.with_name(out.name + ".part.json")
        self.notes = out.with_name(out.name + ".part.notes")
        self._query_ids = query_ids

    def remove(self) -> None:
        for path in (self.run, self.sidecar, self.notes):
            path.unlink(missing_ok=True)

    def taken_over(self, provenance: dict[str, Any]) -> tuple[int, Told]:
        """How many queries a broken run has whole, and what was told of them; files are cut behind them. A part that
        was made otherwise is removed."""
        wanted = json.loads(json.dumps(provenance))
        try:
            same = json.loads(self.sidecar.read_text(encoding="utf-8")) == wanted
        except (OSError, ValueError):
            same = False
        if not same or not self.run.exists():
            self.remove()
            self.sidecar.write_text(json.dumps(provenance), encoding="utf-8")
            return 0, Told()
        ends, notes = self._batch_ends(), self._whole_notes()
        # A batch's note is written once its lines are safe: only batches with one are known to be whole.
        whole = min(len(ends), len(notes))
        os.truncate(self.run, ends[whole - 1] if whole else 0)
        self.notes.write_bytes(b"".join(notes[:whole]))
        told = Told()
        for note in notes[:whole]:
            told.join(Told.from_json(json.loads(note)))
        return min(whole * BATCH, len(self._query_ids)), told

    def _batch_ends(self) -> list[int]:
        """Where each batch that the file has lines of ends, the first one first; batches without lines end where the
        one before does."""
        places = {query_id: number for number, query_id in enumerate(self._query_ids)}
        ends: list[int] = []
        with self.run.open("rb") as file:
            for line in iter(file.readline, b""):
                number = places.get(line.split(b" ", 1)[0].decode("utf-8", "replace"))
                if not line.endswith(b"\n") or number is None:
                    break
                while len(ends) <= number // BATCH:
                    ends.append(ends[-1] if ends else 0)
                ends[number // BATCH] = file.tell()
        return ends

    def _whole_notes(self) -> list[bytes]:
        try:
            lines = self.notes.read_bytes().splitlines(keepends=True)
        except OSError:
            return []
        whole = []
        for line in lines:
            try:
                Told.from_json(json.loads(line))
            except (ValueError, KeyError, TypeError):
                break
            if not line.endswith(b"\n"):
                break
            whole.append(line)
        return whole


def _synced(file: IO[str]) -> None:
    file.flush()
    os.fsync(file.fileno())

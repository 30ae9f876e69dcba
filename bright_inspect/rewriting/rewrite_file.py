"""A file of rewrites, JSON Lines, one query a line, which a broken run goes on with.

A line is written whole, flushed and synced before the next query counts as done, under a lock on the file. It has the
rewrite as ``query`` beside ``query_id``, so that every reader of queries reads the file as a variant, and says how it
was made. Beside it may lie ``FILE.failures.jsonl``, the queries that have no rewrite, with the reason for each, and
``FILE.json``, the sidecar.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO, Any

from bright_inspect.domain.visible import visible
from bright_inspect.errors import BrightInspectError, UsageError
from bright_inspect.rewriting.answers import Rewrite
from bright_inspect.store.sidecars import failures_of, sidecar_of

#: How every line begins.
_BEGINS = b'{"query_id": '
#: What must be the same in all lines of a file; the others may differ, as where the server is.
_SAME = (
    "dataset", "task", "variant", "from_variant", "model", "prompt", "settings", "model_revision", "precision",
)  # fmt: skip
_OTHER_FILE = "Name another --out for it, or remove this file."


@dataclass(frozen=True, slots=True)
class Making:
    """What the lines of a file have in common: the task, the variant that is made and the one that it is made from, the
    writer, the prompt's template, the settings, and what the writer says of itself."""

    dataset: str
    task: str
    variant: str
    from_variant: str
    writer: str
    model: str
    prompt: str
    prompt_source: str
    settings: Mapping[str, Any]
    provenance: Mapping[str, Any]

    def as_json(self) -> dict[str, Any]:
        common = asdict(self)
        return {**{name: common[name] for name in common if name != "provenance"}, **self.provenance}

    def line(self, query_id: str, rewrite: Rewrite, seconds: float, created: str) -> dict[str, Any]:
        """The line of a query: its rewrite, the thinking before it, and how it was made. ``seconds`` from the question
        to the end of the answer; ``created``: ISO 8601, UTC."""
        return {
            "query_id": query_id, "query": rewrite.text, "reasoning": rewrite.reasoning, **self.as_json(),
            "finish": rewrite.finish, "usage": dict(rewrite.usage), "seconds": round(seconds, 3), "created": created,
        }  # fmt: skip


@dataclass(frozen=True, slots=True)
class Failure:
    """A query without a rewrite, and why."""

    query_id: str
    error: str
    hint: str
    tries: int


class RewriteFile:
    """The file while it is written. Made by ``opened_rewrites``; used by one thread."""

    def __init__(self, path: Path, file: IO[bytes]) -> None:
        self.path = path
        self._file = file
        #: The queries whose rewrites are in the file.
        self.done: set[str] = set()
        #: What was odd in it.
        self.told: list[str] = []

    def add(self, line: Mapping[str, Any]) -> None:
        """Append a line; it is on the disk when this returns."""
        content = json.dumps(line, ensure_ascii=False).encode("utf-8", errors="replace") + b"\n"
        self._file.write(content)
        self._file.flush()
        os.fsync(self._file.fileno())
        self.done.add(str(line["query_id"]))

    def add_failure(self, failure: Failure) -> None:
        """Note a query that has no rewrite, beside the file."""
        with failures_of(self.path).open("a", encoding="utf-8", errors="replace") as file:
            file.write(json.dumps(asdict(failure), ensure_ascii=False) + "\n")

    def take_over(self, making: Mapping[str, Any], query_ids: Collection[str]) -> None:
        """Read what is there; a line that a kill cut in half is cut off.

        Raises:
            UsageError: the file is of something else, or its lines were made otherwise.
        """
        self._file.seek(0)
        content = self._file.read()
        *lines, tail = content.split(b"\n")
        if tail and _value(tail) is not None:
            # An editor may leave out the last line's break.
            lines, tail = [*lines, tail], b""
            self._file.write(b"\n")
        if not (tail.startswith(_BEGINS) or _BEGINS.startswith(tail)):
            raise UsageError(f"{self.path}: its end is no line of rewrites.", _OTHER_FILE)
        known = frozenset(query_ids)
        for number, line in enumerate(lines, 1):
            self._take_line(number, line, making, known)
        if tail:
            os.truncate(self._file.fileno(), len(content) - len(tail))
            self.told.append(f"{self.path}: a half line at its end was cut off; its query is asked again.")

    def _take_line(self, number: int, line: bytes, making: Mapping[str, Any], known: frozenset[str]) -> None:
        value = _value(line)
        if value is None or not isinstance(value.get("query"), str) or "model" not in value:
            raise UsageError(f"{self.path}:{number}: this is no rewrite that this command made.", _OTHER_FILE)
        different = [name for name in _SAME if value.get(name) != making.get(name)]
        if different:
            raise UsageError(f"{self.path}:{number}: made with {_difference(different[0], value, making)}", _OTHER_FILE)
        query_id = str(value["query_id"])
        if query_id not in known:
            raise UsageError(f"{self.path}:{number}: there is no query {query_id!r} in the task.", _OTHER_FILE)
        if query_id in self.done:
            raise UsageError(
                f"{self.path}:{number}: query {query_id!r} is in it twice.", "Remove one of the two lines."
            )
        self.done.add(query_id)


@contextmanager
def opened_rewrites(
    path: Path, making: Making, query_ids: Collection[str], asked: Collection[str] | None = None
) -> Iterator[RewriteFile]:
    """The file with what was made before, to append to; nobody else can meanwhile. One that is new and got no line is
    removed. ``query_ids`` are the task's, ``asked`` those of them that are asked now, by default all: their failures of
    before are forgotten.

    Raises:
        UsageError: as ``RewriteFile.take_over``; another process writes to it; it is a folder, a pipe or a device.
        BrightInspectError: it cannot be read or written, then or later.
    """
    if path.exists() and not path.is_file():
        raise UsageError(f"{path}: a folder, a pipe or a device, not a file.", "Name a file: --out FILE.jsonl.")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        is_new = not path.exists()
        with path.open("a+b") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise UsageError(
                    f"{path}: another process writes to it.", "Wait for it, or name another --out."
                ) from None
            rewrites = RewriteFile(path, file)
            # As they are read from the file again: tuples are lists there.
            rewrites.take_over(json.loads(json.dumps(making.as_json())), query_ids)
            _forget_failures(failures_of(path), query_ids if asked is None else asked)
            try:
                yield rewrites
            finally:
                if is_new and not rewrites.done:
                    with contextlib.suppress(OSError):
                        path.unlink()
    except OSError as error:
        raise BrightInspectError(
            f"{error.filename or path}: cannot be read or written ({error.strerror or error}).",
            "Free disk, or name another --out; what was written stays.",
        ) from None


def _forget_failures(path: Path, asked: Collection[str]) -> None:
    """Take the queries that are asked again out of a file of failures; one that is empty then is removed."""
    if not path.exists():
        return
    again = frozenset(asked)
    lines = path.read_text(encoding="utf-8", errors="replace").splitlines(keepends=True)
    kept = [line for line in lines if (_value(line.encode()) or {}).get("query_id") not in again]
    if kept:
        path.write_text("".join(kept), encoding="utf-8")
    else:
        path.unlink()


def write_sidecar(path: Path, made: Mapping[str, Any]) -> None:
    """Say beside a file of rewrites how it was made.

    Raises:
        BrightInspectError: it cannot be written.
    """
    try:
        text = json.dumps(made, indent=1, ensure_ascii=False) + "\n"
        sidecar_of(path).write_text(text, encoding="utf-8", errors="replace")
    except OSError as error:
        raise BrightInspectError(f"{sidecar_of(path)}: cannot be written ({error.strerror or error}).") from None


def _value(line: bytes) -> dict[str, Any] | None:
    """A line's object with a query's id, or None."""
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) and isinstance(value.get("query_id"), str) else None


def _difference(name: str, there: Mapping[str, Any], wanted: Mapping[str, Any]) -> str:
    """What a line was made with, and what is wanted now."""
    if name == "prompt":
        return "another prompt than is asked for now."
    before, now = (json.dumps(each.get(name), ensure_ascii=False) for each in (there, wanted))
    return visible(f"{name} {before}, and now asked with {now}.")

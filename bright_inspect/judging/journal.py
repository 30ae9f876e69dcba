"""The journal: an append-only file of decisions, one JSON line each, that several programs may write at once.

A decision is safe when ``append`` returns: the line was written under an exclusive lock on the file itself, and synced.
Nothing is ever cut off or rewritten. What a dead writer left without a line feed stays as a line of its own, which
readers report; so are lines that a merge or an editor damaged. Two people's journals are merged by concatenation, as
ids tell which lines are the same.
"""

from __future__ import annotations

import errno
import fcntl
import json
import os
import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import IO

from bright_inspect.domain.findings import Finding
from bright_inspect.errors import BrightInspectError, UnreadableInput
from bright_inspect.judging.decisions import BadDecision, Decision, encode_line, parse_fields

#: In the working folder.
DEFAULT_JOURNAL = Path("bright-inspect.judgments.jsonl")
#: How every line begins: where to look for a whole line behind a broken one.
_BEGINS = b'{"v":'
_MERGE_MARKS = (b"<<<<<<<", b"=======", b">>>>>>>", b"|||||||")
_BOM = b"\xef\xbb\xbf"
#: Damaged lines that get a finding of their own.
_MOST_TOLD = 20
#: Times that a file may be replaced between opening and locking it.
_MOST_TRIES = 100


@dataclass(frozen=True, slots=True)
class Damage:
    """A line that is no decision: what was found, and whether a whole decision behind a broken one was saved."""

    line: int
    found: str
    saved: bool = False


@dataclass(frozen=True, slots=True)
class Place:
    """Up to where a journal was read: bytes, lines, and which file that was."""

    offset: int = 0
    line: int = 0
    file: tuple[int, int] | None = None


@dataclass(slots=True)
class Lines:
    """Decisions in file order, and damaged lines. ``anew`` says that they are all of the file's, not only those behind
    the place asked for: it was replaced, or cut."""

    decisions: list[Decision] = field(default_factory=list)
    damaged: list[Damage] = field(default_factory=list)
    place: Place = Place()
    anew: bool = False


class Journal:
    """A journal file, which need not exist yet."""

    def __init__(self, path: Path = DEFAULT_JOURNAL) -> None:
        self.path = path

    def append(self, *decisions: Decision) -> None:
        """Write decisions at the end; they are on disk when this returns.

        If it raises, none of them is acknowledged, though whole lines of the first may be there.

        Raises:
            BrightInspectError: a full disk, no permission, no such folder, or no file.
        """
        data = b"".join(map(encode_line, decisions))
        if not data:
            return
        try:
            with self._locked() as file:
                size = os.fstat(file).st_size
                if size and os.pread(file, 1, size - 1) != b"\n":
                    data = b"\n" + data
                _write_whole(file, data)
                _sync(file)
                if not size:
                    self._sync_folder()
        except OSError as error:
            raise BrightInspectError(
                f"{self.path}: the decision was not kept ({error.strerror or error}).",
                "Free disk and decide again."
                if error.errno in _FULL
                else "Name a file you may write to: --journal FILE.",
            ) from None

    def read(self) -> Lines:
        """All whole decisions of the file, in order; none if it does not exist.

        Raises:
            UnreadableInput: the file cannot be read.
        """
        return self.read_new(Place(), ended=True)

    def read_new(self, place: Place, *, ended: bool = False) -> Lines:
        """What was added behind ``place``. A last line that is not ended yet is left for the next time, unless
        ``ended`` says that there is none.

        Raises:
            UnreadableInput: the file cannot be read.
        """
        try:
            if not stat.S_ISREG(self.path.stat().st_mode):
                raise OSError(errno.EINVAL, "not a file")
            with self.path.open("rb") as file:
                status = os.fstat(file.fileno())
                which = status.st_dev, status.st_ino
                size = _size_between_writes(file)
                anew = place.file is not None and (place.file != which or size < place.offset)
                if anew:
                    place = Place()
                return _read_lines(file, place, which, size, ended=ended, anew=anew)
        except FileNotFoundError:
            return Lines(anew=place.file is not None)
        except OSError as error:
            raise UnreadableInput(f"{self.path}: the journal cannot be read ({error.strerror or error}).") from None

    def findings(self, damaged: Sequence[Damage]) -> list[Finding]:
        """Damaged lines as findings: the first ones one by one, the others together."""
        findings = [
            Finding(
                "damaged-decision",
                "error",
                str(self.path),
                f"{damage.found}; "
                + ("the decision behind it counts." if damage.saved else "it is kept, and counts for nothing."),
                damage.line,
            )
            for damage in damaged[:_MOST_TOLD]
        ]
        if others := damaged[_MOST_TOLD:]:
            message = f"{len(others)} more lines are no decisions; they are kept, and count for nothing."
            findings.append(Finding("damaged-decision", "error", str(self.path), message, others[0].line, len(others)))
        return findings

    @contextmanager
    def _locked(self) -> Iterator[int]:
        """The file, opened for appending and locked; it is the one that the path names now."""
        for _ in range(_MOST_TRIES):
            file = os.open(self.path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NONBLOCK, 0o666)
            try:
                if not stat.S_ISREG(os.fstat(file).st_mode):
                    raise OSError(errno.EINVAL, "not a file")
                fcntl.flock(file, fcntl.LOCK_EX)
                # An editor or git may have put another file in its place meanwhile.
                if _is_at(file, self.path):
                    yield file
                    return
            finally:
                os.close(file)
        raise OSError(errno.EBUSY, "replaced again and again")

    def _sync_folder(self) -> None:
        folder = os.open(self.path.parent, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(folder)
        except OSError as error:
            if error.errno != errno.EINVAL:  # some file systems cannot sync folders
                raise
        finally:
            os.close(folder)


def _is_at(file: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(file), path.stat())
    except FileNotFoundError:
        return False


_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}


def _write_whole(file: int, data: bytes) -> None:
    """One write, unless the system takes less: then what is left, until it is written or fails."""
    left = memoryview(data)
    while left:
        left = left[os.write(file, left) :]


def _sync(file: int) -> None:
    full_sync = getattr(fcntl, "F_FULLFSYNC", None)
    if full_sync is not None:
        # macOS: fsync leaves the data in the drive's cache.
        with suppress(OSError):
            fcntl.fcntl(file, full_sync)
            return
    os.fsync(file)


def _size_between_writes(file: IO[bytes]) -> int:
    """The file's size while nobody is in the middle of a line."""
    try:
        fcntl.flock(file, fcntl.LOCK_SH)
    except OSError:  # no locks here, or a file of somebody else's
        return os.fstat(file.fileno()).st_size
    try:
        return os.fstat(file.fileno()).st_size
    finally:
        fcntl.flock(file, fcntl.LOCK_UN)


def _read_lines(file: IO[bytes], place: Place, which: tuple[int, int], size: int, *, ended: bool, anew: bool) -> Lines:
    read = Lines(anew=anew)
    offset, number = place.offset, place.line
    file.seek(offset)
    while offset < size and (line := file.readline(size - offset)):
        whole = line.endswith(b"\n")
        if not (whole or ended):
            break
        _take_line(read, number + 1, line, whole)
        if not whole:
            break  # the place stays before it: its rest may come
        offset, number = offset + len(line), number + 1
    read.place = Place(offset, number, which)
    return read


def _take_line(read: Lines, number: int, line: bytes, whole: bool) -> None:
    text = line.removeprefix(_BOM).strip() if number == 1 else line.strip()
    if not text:
        return
    try:
        read.decisions.append(_decision(text))
        return
    except BadDecision as error:
        found = str(error)
    saved = _saved(text)
    read.decisions += saved
    if text.startswith(_MERGE_MARKS):
        found = "a mark of a merge that is not finished"
    elif not whole:
        found = f"a half-written last line ({len(line)} bytes)"
    read.damaged.append(Damage(number, found, bool(saved)))


def _decision(text: bytes) -> Decision:
    try:
        return parse_fields(json.loads(text))
    except UnicodeDecodeError:
        raise BadDecision("a line that is not UTF-8") from None
    except RecursionError:
        raise BadDecision("a line that is nested too deeply") from None
    except BadDecision:
        raise
    except ValueError:
        what = "a half-written line" if text.startswith(_BEGINS) else "a line that is no JSON"
        raise BadDecision(f"{what} ({len(text)} bytes)") from None


def _saved(text: bytes) -> list[Decision]:
    """Whole decisions on a line with broken ones: a journal was put behind one that has no last line feed.

    Inside a JSON text a quote has a backslash before it, so what looks like a beginning is one.
    """
    saved: list[Decision] = []
    starts = []
    start = text.find(_BEGINS)
    while start >= 0:
        starts.append(start)
        start = text.find(_BEGINS, start + 1)
    for start, end in pairwise([*starts, len(text)]):
        with suppress(BadDecision):
            saved.append(_decision(text[start:end].removesuffix(_BOM)))
    return saved

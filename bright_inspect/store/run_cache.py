"""Runs converted once: one Parquet file per content, sorted by query and rank, in the user's cache folder.

The folder can be deleted at any time. A converted run is found by the size and SHA-256 of the original and the format
that was asked for; path, size, modification time and inode only save computing that digest again. A file that holds
several runs has a Parquet file for each, and one more for each run's reasons. The Parquet files' own SHA-256 are
checked before use, because DuckDB reads a damaged file without complaint.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import tempfile
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path

import platformdirs

from bright_inspect.db import Cursor, identifier, text_literal, transaction
from bright_inspect.domain.findings import Finding
from bright_inspect.formats.parts import RepeatedRow
from bright_inspect.formats.runs import ReadRun
from bright_inspect.store.ordering import row_order

CACHE_VARIABLE = "BRIGHT_INSPECT_CACHE"
#: Raised when a reader or the layout changes, so that older conversions are not used.
LAYOUT = 3
#: More than this is not kept: the runs that were not opened for longest go first.
MOST_BYTES = 4_000_000_000
# A file changed in the last two seconds may change again within the clock's resolution: its digest is not trusted.
_SETTLED_SECONDS = 2.0
_REASONS = ".reasons.parquet"
_ROWS_RANKED_AT_ONCE = 300_000

FileState = tuple[int, int, int]
"""Size, modification time and inode of a file."""


@dataclass(frozen=True, slots=True)
class CachedRun:
    """A converted run: its Parquet file ``(query_id, doc_id, score, given_rank, position, rank, above, tied)``, that of
    its reasons ``(query_id, doc_id, thought, response)`` if it has any, and how the original read."""

    parquet: Path
    reasons: Path | None
    read: ReadRun


def cache_folder() -> Path:
    """The cache folder of this user, or what BRIGHT_INSPECT_CACHE says."""
    return Path(os.environ.get(CACHE_VARIABLE) or platformdirs.user_cache_dir("bright-inspect"))


def ranked_sql(rows: str) -> str:
    """SQL for rows with their place in the file, their rank by trec_eval's rule, how many documents of the query are
    ``above`` them by score, and how many are ``tied`` with them, themselves included."""
    order = row_order("trec")
    return f"""
        SELECT query_id, doc_id, score, given_rank, position::INTEGER AS position,
               (row_number() OVER (PARTITION BY query_id ORDER BY {order.order_by}))::INTEGER AS rank,
               (rank() OVER (PARTITION BY query_id ORDER BY {order.key} DESC) - 1)::INTEGER AS above,
               (count(*) OVER (PARTITION BY query_id, {order.key}))::INTEGER AS tied
        FROM {rows}"""


class RunCache:
    """Looks up and writes converted runs. Several programs may use the same folder at once."""

    def __init__(self, folder: Path) -> None:
        self._runs = folder / f"runs-{LAYOUT}"

    def find(self, path: Path, wanted_format: str | None = None) -> tuple[CachedRun, ...] | None:
        """The converted runs of this file's present content, read as ``wanted_format``, if they are there and whole."""
        try:
            state = file_state(path)
            digest = self._known_digest(path, state) or self._computed_digest(path, state)
        except OSError:
            return None
        if digest is None:
            return None
        entry = _entry(digest, state[0], wanted_format)
        first = self._load(entry, 0, path)
        if first is None:
            return None
        runs = [first[0], *(part[0] for number in range(1, first[1]) if (part := self._load(entry, number, path)))]
        return tuple(runs) if len(runs) == first[1] else None

    def write(
        self, cursor: Cursor, path: Path, reads: Sequence[ReadRun], state: FileState, wanted_format: str | None = None
    ) -> tuple[CachedRun, ...]:
        """Convert the tables of a file's runs, which ``rank_rows`` has sorted, and remember where they came from;
        ``state`` is the file's when it was read.

        Raises:
            OSError: the folder cannot be written (full disk, permissions).
            DatabaseError: DuckDB could not write the file.
        """
        self._runs.mkdir(parents=True, exist_ok=True)
        entry = _entry(reads[0].digest, state[0], wanted_format)
        written = []
        # The first part says how many there are, so it comes last.
        for number in reversed(range(len(reads))):
            read = reads[number]
            target, reasons = self._parquet(entry, number), self._reasons(entry, number) if read.reasons else None
            manifest = {"sha256": self._copy(cursor, read.table, target), "parts": len(reads), **asdict(read)}
            if reasons is not None:
                manifest["reasons_sha256"] = self._copy(cursor, f"{read.table}_reasons", reasons)
            _write_json(self._manifest(entry, number), manifest)
            written.append(CachedRun(target, reasons, read))
        self._remember_digest(path, reads[0].digest, state)
        self._make_room({run.parquet for run in written})
        return tuple(reversed(written))

    def _copy(self, cursor: Cursor, table: str, target: Path) -> str:
        """Write a table to a Parquet file; its SHA-256."""
        # A name of our own, then a rename: another window sees the old file or the whole new one.
        handle, temporary = tempfile.mkstemp(dir=self._runs, suffix=".parquet.tmp")
        os.close(handle)
        try:
            cursor.execute(f"""
                COPY {identifier(table)} TO {text_literal(temporary)}
                (FORMAT parquet, PARQUET_VERSION v2, COMPRESSION zstd, ROW_GROUP_SIZE 20480)
            """)
            digest = _sha256(Path(temporary))
            os.replace(temporary, target)
            return digest
        finally:
            Path(temporary).unlink(missing_ok=True)

    def _load(self, entry: str, part: int, path: Path) -> tuple[CachedRun, int] | None:
        """One of a file's converted runs, and how many there are."""
        parquet, reasons = self._parquet(entry, part), self._reasons(entry, part)
        try:
            manifest = json.loads(self._manifest(entry, part).read_bytes())
            parts = int(manifest.pop("parts"))
            if manifest.pop("sha256") != _sha256(parquet):
                return None
            has_reasons = bool(manifest["reasons"])
            if has_reasons and manifest.pop("reasons_sha256") != _sha256(reasons):
                return None
            findings = tuple(Finding(**{**finding, "file": str(path)}) for finding in manifest.pop("findings"))
            repeats = tuple(RepeatedRow(*row) for row in manifest.pop("repeats"))
            read = ReadRun(**manifest, findings=findings, repeats=repeats)
        except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
            # Absent or damaged, which is the same to the caller: the original is read again and replaces it.
            return None
        with suppress(OSError):
            os.utime(parquet)  # the time of the last use, for _make_room
        return CachedRun(parquet, reasons if has_reasons else None, read), parts

    def _make_room(self, newest: set[Path]) -> None:
        """Remove what other versions of the program left, and the runs not used for longest beyond ``MOST_BYTES``."""
        for other in self._runs.parent.glob("runs-*"):
            if other != self._runs:
                shutil.rmtree(other, ignore_errors=True)
        with suppress(OSError):  # another program may be doing the same
            runs = (file for file in self._runs.glob("*.parquet") if not file.name.endswith(_REASONS))
            total = 0
            for _, file in sorted(((file.stat().st_mtime, file) for file in runs), reverse=True):
                reasons = file.with_name(file.stem + _REASONS)
                total += sum(each.stat().st_size for each in (file, reasons) if each.exists())
                if total > MOST_BYTES and file not in newest:
                    for each in (file.with_suffix(".json"), file, reasons):
                        each.unlink(missing_ok=True)

    def _parquet(self, entry: str, part: int) -> Path:
        return self._runs / f"{entry}-{part}.parquet"

    def _reasons(self, entry: str, part: int) -> Path:
        return self._runs / f"{entry}-{part}{_REASONS}"

    def _manifest(self, entry: str, part: int) -> Path:
        return self._runs / f"{entry}-{part}.json"

    def _memo(self, path: Path) -> Path:
        name = hashlib.sha256(os.fsencode(path.absolute())).hexdigest()
        return self._runs / "digests" / f"{name}.json"

    def _known_digest(self, path: Path, state: FileState) -> str | None:
        try:
            memo = json.loads(self._memo(path).read_bytes())
            return str(memo["digest"]) if memo["state"] == list(state) else None
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def _computed_digest(self, path: Path, state: FileState) -> str | None:
        """The digest of a file that may be here under another name or an older date: only then is it worth its time."""
        if not any(self._runs.glob(f"*-{state[0]}-*.json")):
            return None
        digest = _sha256(path)
        if file_state(path) != state:
            return None
        with suppress(OSError):
            self._remember_digest(path, digest, state)
        return digest

    def _remember_digest(self, path: Path, digest: str, state: FileState) -> None:
        try:
            changed = file_state(path) != state
        except OSError:
            return  # The file is gone; there is nothing to remember.
        # The date may lie in the future, as of files from another machine; then it is as good as any.
        if changed or abs(time.time() - state[1] / 1e9) < _SETTLED_SECONDS:
            return
        memo = self._memo(path)
        memo.parent.mkdir(parents=True, exist_ok=True)
        _write_json(memo, {"digest": digest, "state": state})


def _entry(digest: str, size: int, wanted_format: str | None) -> str:
    """The name of a file's converted runs: of which content and how many bytes, and what they were read as."""
    return f"{digest}-{size}-{re.sub('[^A-Za-z0-9-]', _spelled_out, wanted_format or 'any')}"


def _spelled_out(char: re.Match[str]) -> str:
    """A character that a file's name should not hold, so that no two formats have one name."""
    return f"_{ord(char[0]):x}_"


def rank_rows(cursor: Cursor, table: str) -> None:
    """Give a table of rows the columns of ``ranked_sql`` and sort it by query and rank.

    Some queries at a time, and before Parquet is written rather than on the way there: at once, 1.4 million rows take
    200 MB more and are no faster.

    Raises:
        DatabaseError: there is not enough memory or disk; the table is as before.
    """
    rows, ranked = identifier(table), identifier(f"{table}_ranked")
    ranges = cursor.execute(f"""
        SELECT min(query_id), max(query_id)
        FROM (SELECT query_id, sum(count(*)) OVER (ORDER BY query_id) // {_ROWS_RANKED_AT_ONCE} AS part
              FROM {rows} GROUP BY query_id)
        GROUP BY part ORDER BY part
    """).fetchall()
    placed = f"(SELECT *, rowid AS position FROM {rows})"  # readers keep the file's order
    cursor.execute(f"CREATE OR REPLACE TABLE {ranked} AS FROM ({ranked_sql(placed)}) LIMIT 0")
    some_queries = f"(FROM {placed} WHERE query_id BETWEEN ? AND ?)"
    for first, last in ranges:
        cursor.execute(
            f"INSERT INTO {ranked} SELECT * FROM ({ranked_sql(some_queries)}) ORDER BY query_id, rank", [first, last]
        )
    with transaction(cursor):
        cursor.execute(f"DROP TABLE {rows}")
        cursor.execute(f"ALTER TABLE {ranked} RENAME TO {rows}")


def file_state(path: Path) -> FileState:
    """What changes when a file does."""
    state = path.stat()
    return state.st_size, state.st_mtime_ns, state.st_ino


def _write_json(path: Path, value: object) -> None:
    handle, temporary = tempfile.mkstemp(dir=path.parent, suffix=".json.tmp")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            json.dump(value, file)
        os.replace(temporary, path)
    finally:
        Path(temporary).unlink(missing_ok=True)


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()

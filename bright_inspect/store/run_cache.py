"""Runs converted once: one Parquet file per content, sorted by query and rank, in the user's cache folder.

The folder can be deleted at any time. A converted run is found by the size and SHA-256 of the original; path, size,
modification time and inode only save computing that digest again. The Parquet file's own SHA-256 is checked before
use, because DuckDB reads a damaged file without complaint.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import tempfile
import time
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path

import platformdirs

from bright_inspect.db import Cursor, identifier, text_literal, transaction
from bright_inspect.domain.findings import Finding
from bright_inspect.formats.runs import ReadRun
from bright_inspect.store.ordering import FileRows, row_order

CACHE_VARIABLE = "BRIGHT_INSPECT_CACHE"
#: Raised when a reader or the layout changes, so that older conversions are not used.
LAYOUT = 3
#: More than this is not kept: the runs that were not opened for longest go first.
MOST_BYTES = 4_000_000_000
# A file changed in the last two seconds may change again within the clock's resolution: its digest is not trusted.
_SETTLED_SECONDS = 2.0
_ROWS_RANKED_AT_ONCE = 300_000

FileState = tuple[int, int, int]
"""Size, modification time and inode of a file."""


@dataclass(frozen=True, slots=True)
class CachedRun:
    """A converted run: its Parquet file ``(query_id, doc_id, score, given_rank, position, rank,
    above, tied)`` and how the original read."""

    parquet: Path
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

    def find(self, path: Path) -> CachedRun | None:
        """The converted run of this file's present content, if there is one and it is whole."""
        try:
            state = file_state(path)
            digest = self._known_digest(path, state) or self._computed_digest(path, state)
        except OSError:
            return None
        return None if digest is None else self._load(_entry(digest, state[0]), path)

    def write(self, cursor: Cursor, rows: str, path: Path, read: ReadRun, state: FileState) -> CachedRun:
        """Convert the table ``rows``, which ``rank_rows`` has sorted, and remember where it came from; ``state`` is the
        file's when it was read.

        Raises:
            OSError: the folder cannot be written (full disk, permissions).
            DatabaseError: DuckDB could not write the file.
        """
        self._runs.mkdir(parents=True, exist_ok=True)
        entry = _entry(read.digest, state[0])
        target = self._parquet(entry)
        # A name of our own, then a rename: another window sees the old file or the whole new one.
        handle, temporary = tempfile.mkstemp(dir=self._runs, suffix=".parquet.tmp")
        os.close(handle)
        try:
            cursor.execute(f"""
                COPY {identifier(rows)} TO {text_literal(temporary)}
                (FORMAT parquet, PARQUET_VERSION v2, COMPRESSION zstd, ROW_GROUP_SIZE 20480)
            """)
            manifest = {"sha256": _sha256(Path(temporary)), **asdict(read)}
            os.replace(temporary, target)
        finally:
            Path(temporary).unlink(missing_ok=True)
        _write_json(self._manifest(entry), manifest)
        self._remember_digest(path, read.digest, state)
        self._make_room(target)
        return CachedRun(target, read)

    def _load(self, entry: str, path: Path) -> CachedRun | None:
        parquet = self._parquet(entry)
        try:
            manifest = json.loads(self._manifest(entry).read_bytes())
            if manifest.pop("sha256") != _sha256(parquet):
                return None
            findings = tuple(Finding(**{**finding, "file": str(path)}) for finding in manifest.pop("findings"))
            cached = CachedRun(parquet, ReadRun(**manifest, findings=findings))
        except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
            # Absent or damaged, which is the same to the caller: the original is read again and replaces it.
            return None
        with suppress(OSError):
            os.utime(parquet)  # the time of the last use, for _make_room
        return cached

    def _make_room(self, newest: Path) -> None:
        """Remove what other versions of the program left, and the runs not used for longest beyond ``MOST_BYTES``."""
        for other in self._runs.parent.glob("runs-*"):
            if other != self._runs:
                shutil.rmtree(other, ignore_errors=True)
        with suppress(OSError):  # another program may be doing the same
            used = sorted(((file.stat().st_mtime, file) for file in self._runs.glob("*.parquet")), reverse=True)
            total = 0
            for _, file in used:
                total += file.stat().st_size
                if total > MOST_BYTES and file != newest:
                    file.with_suffix(".json").unlink(missing_ok=True)
                    file.unlink(missing_ok=True)

    def _parquet(self, entry: str) -> Path:
        return self._runs / f"{entry}.parquet"

    def _manifest(self, entry: str) -> Path:
        return self._runs / f"{entry}.json"

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
        if not any(self._runs.glob(_entry("*", state[0]) + ".json")):
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


def _entry(digest: str, size: int) -> str:
    """The name of a converted run: of which content, and of how many bytes."""
    return f"{digest}-{size}"


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
    placed = FileRows(table, converted=False).sql
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

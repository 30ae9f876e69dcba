"""The only door to DuckDB: connections, cursors, settings, and names made safe for SQL.

Threads: ``Database.cursor()`` gives each worker a handle of its own, because a shared handle hands one thread's rows to
another. Tables and views are made by one loader at a time; everything else only reads. A running query is stopped
through the cursor it runs on, not through the database.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import socket
import tempfile
import threading
import time
import weakref
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Self

import duckdb

from bright_inspect.errors import BrightInspectError

Cursor = duckdb.DuckDBPyConnection
DatabaseError = duckdb.Error
QueryInterrupted = duckdb.InterruptException

#: DuckDB spills to disk beyond this; a laptop keeps its memory for the browser.
MEMORY_LIMIT = "3GB"
#: How long ``Database.close`` waits for interrupted queries to end.
_CLOSING_SECONDS = 2.0


class Database:
    """An in-memory DuckDB, so that nothing is locked and any number of windows can be open on the same files.

    ``spill_place`` is the folder where what does not fit into memory goes, in a folder of this database's own; without
    it, or where it cannot be written, that is the system's temporary folder.
    """

    def __init__(self, spill_place: Path | None = None) -> None:
        self._spill_folder = _make_spill_folder(spill_place)
        self._connection = duckdb.connect(
            ":memory:",
            config={
                "autoload_known_extensions": False,
                "autoinstall_known_extensions": False,
                "memory_limit": MEMORY_LIMIT,
                "temp_directory": str(self._spill_folder),
                # Give back what reading a file took, before the next one is read: at no cost in time, and the reader
                # alone takes 100 MB.
                "allocator_flush_threshold": "16MB",
                "allocator_bulk_deallocation_flush_threshold": "16MB",
            },
        )
        self._cursors_lock = threading.Lock()
        self._cursors: weakref.WeakSet[Cursor] = weakref.WeakSet()

    def cursor(self) -> Cursor:
        """A handle for one thread. It sees the same tables; its temporary tables are its own."""
        cursor = self._connection.cursor()
        with self._cursors_lock:
            self._cursors.add(cursor)
        return cursor

    def close(self) -> None:
        """Stop what runs on any cursor, and close. Never fails: a query that does not end is left to end by itself."""
        deadline = time.monotonic() + _CLOSING_SECONDS
        try:
            while not self._closed() and time.monotonic() < deadline:
                time.sleep(0.01)
        finally:
            shutil.rmtree(self._spill_folder, ignore_errors=True)

    def _closed(self) -> bool:
        """Close, unless a query is running; DuckDB refuses to close under it."""
        with self._cursors_lock:
            cursors = [self._connection, *self._cursors]
        for cursor in cursors:
            with contextlib.suppress(DatabaseError):
                cursor.interrupt()
        try:
            self._connection.close()
        except DatabaseError:
            return False
        return True

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _make_spill_folder(place: Path | None) -> Path:
    """A new folder; its name holds the process and the machine, so that others know when nobody needs it any more."""
    prefix = f"bright-inspect-{os.getpid()}-{socket.gethostname()}-"
    if place is not None:
        with contextlib.suppress(OSError):
            place.mkdir(parents=True, exist_ok=True)
            _remove_abandoned(place)
            return Path(tempfile.mkdtemp(prefix=prefix, dir=place))
    return Path(tempfile.mkdtemp(prefix=prefix))


def _remove_abandoned(place: Path) -> None:
    """Remove spill folders of this machine's processes that ended without doing so. A home folder may be shared by
    several machines: their processes cannot be seen from here."""
    ours = re.compile(rf"bright-inspect-(\d+)-{re.escape(socket.gethostname())}-\w+")
    for folder in place.iterdir():
        name = ours.fullmatch(folder.name)
        if name and not _is_running(int(name[1])):
            shutil.rmtree(folder, ignore_errors=True)


def _is_running(process: int) -> bool:
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except OSError:
        return True  # somebody else's
    return True


@contextlib.contextmanager
def transaction(cursor: Cursor) -> Iterator[None]:
    """All of the statements inside, or none of them."""
    cursor.execute("BEGIN")
    try:
        yield
        cursor.execute("COMMIT")
    except BaseException:
        with contextlib.suppress(DatabaseError):
            cursor.execute("ROLLBACK")
        raise


def reason_of(error: Exception) -> str:
    """The first line of what DuckDB or the system says; the others show SQL."""
    return next(iter(str(error).splitlines()), type(error).__name__)


@contextlib.contextmanager
def database_errors_told() -> Iterator[None]:
    """What DuckDB could not do and nobody could mend reaches the user as one line, not as a traceback.

    Raises:
        BrightInspectError: instead of a DatabaseError.
        KeyboardInterrupt: instead of what DuckDB makes of that.
    """
    try:
        yield
    except QueryInterrupted:
        raise
    except DatabaseError as error:
        raise BrightInspectError(
            f"the database failed: {reason_of(error)}.",
            "If it does so again, try with an empty cache folder (BRIGHT_INSPECT_CACHE) and report it.",
        ) from error
    except RuntimeError as error:
        if str(error) == "Query interrupted":
            raise KeyboardInterrupt from None
        raise


def text_literal(text: str) -> str:
    """A SQL string literal."""
    return "'" + text.replace("'", "''") + "'"


def path_literal(path: str | Path) -> str:
    """A SQL string literal that names exactly this file: DuckDB reads ``* ? [`` in paths as patterns."""
    return text_literal("".join(f"[{char}]" if char in "*?[" else char for char in str(path)))


def paths_literal(paths: list[Path]) -> str:
    """A SQL list of exact file names."""
    return "[" + ", ".join(path_literal(path) for path in paths) + "]"


def identifier(name: str) -> str:
    """A SQL identifier."""
    return '"' + name.replace('"', '""') + '"'

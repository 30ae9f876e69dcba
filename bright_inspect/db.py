"""The only door to DuckDB: connections, cursors, settings, and names made safe for SQL.

Threads: ``Database.cursor()`` gives each worker a handle of its own, because a shared handle hands one thread's rows to
another. Tables and views are made by one loader at a time; everything else only reads. A running query is stopped
through the cursor it runs on, not through the database.
"""

from __future__ import annotations

import contextlib
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Self

import duckdb

Cursor = duckdb.DuckDBPyConnection
DatabaseError = duckdb.Error
QueryInterrupted = duckdb.InterruptException

#: DuckDB spills to disk beyond this; a laptop keeps its memory for the browser.
MEMORY_LIMIT = "3GB"


class Database:
    """An in-memory DuckDB, so that nothing is locked and any number of windows can be open on the same files."""

    def __init__(self) -> None:
        self._spill_folder = tempfile.mkdtemp(prefix="bright-inspect-")
        self._connection = duckdb.connect(
            ":memory:",
            config={
                "autoload_known_extensions": False,
                "autoinstall_known_extensions": False,
                "memory_limit": MEMORY_LIMIT,
                "temp_directory": self._spill_folder,
                # Give back what reading a file took, before the next one is read: at no cost in time, and the reader
                # alone takes 100 MB.
                "allocator_flush_threshold": "16MB",
                "allocator_bulk_deallocation_flush_threshold": "16MB",
            },
        )

    def cursor(self) -> Cursor:
        """A handle for one thread. It sees the same tables; its temporary tables are its own."""
        return self._connection.cursor()

    def close(self) -> None:
        with contextlib.suppress(DatabaseError):
            self._connection.interrupt()
        self._connection.close()
        shutil.rmtree(self._spill_folder, ignore_errors=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


@contextlib.contextmanager
def any_row_order(cursor: Cursor) -> Iterator[None]:
    """Let DuckDB fill a table in the order in which its threads finish: a quarter faster, and less memory.

    The setting is the database's, not the cursor's: meanwhile no other query gets its rows in file order either, so
    one that needs an order must ask for it.
    """
    cursor.execute("SET preserve_insertion_order = false")
    try:
        yield
    finally:
        cursor.execute("SET preserve_insertion_order = true")


@contextlib.contextmanager
def transaction(cursor: Cursor) -> Iterator[None]:
    """All of the block's statements, or, if it raises, none of them."""
    cursor.execute("BEGIN")
    try:
        yield
    except BaseException:
        with contextlib.suppress(DatabaseError):  # DuckDB may have rolled back already
            cursor.execute("ROLLBACK")
        raise
    cursor.execute("COMMIT")


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

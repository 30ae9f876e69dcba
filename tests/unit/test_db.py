"""Databases: where they spill, how they close, and statements that belong together."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from bright_inspect.db import Cursor, Database, DatabaseError, QueryInterrupted, database_errors_told, transaction
from bright_inspect.errors import BrightInspectError
from tests.support import table_rows

ENDLESS = "SELECT count(*) FROM range(1000000000) a, range(1000) b"


def test_it_spills_into_a_folder_of_its_own_and_removes_it(tmp_path: Path) -> None:
    place = tmp_path / "cache" / "spilled"
    with Database(place) as database:
        (folder,) = place.iterdir()
        assert str(os.getpid()) in folder.name
        (setting,) = table_rows(database.cursor(), "SELECT current_setting('temp_directory')")
        assert setting == (str(folder),)
        (folder / "spilled").write_text("x")
    assert list(place.iterdir()) == []


def test_it_spills_elsewhere_where_the_place_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with Database(tmp_path / "file" / "spilled") as database:
        ((setting,),) = table_rows(database.cursor(), "SELECT current_setting('temp_directory')")
        assert Path(setting).is_dir()
    assert not Path(setting).exists()


def test_what_ended_processes_left_is_removed(tmp_path: Path) -> None:
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    host = socket.gethostname()
    left = tmp_path / f"bright-inspect-{ended.pid}-{host}-abc_12"
    others = {f"bright-inspect-{os.getppid()}-{host}-abc", f"bright-inspect-{ended.pid}-other.{host}-abc", "else"}
    for folder in (left, *(tmp_path / name for name in others)):
        folder.mkdir()
        (folder / "spilled").write_text("x")
    with Database(tmp_path):
        pass
    assert {path.name for path in tmp_path.iterdir()} == others


def test_closing_stops_what_is_running(tmp_path: Path) -> None:
    database = Database(tmp_path)
    started = threading.Event()
    seen: list[BaseException] = []

    def work() -> None:
        cursor = database.cursor()
        started.set()
        try:
            cursor.execute(ENDLESS).fetchall()
        except DatabaseError as error:
            seen.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    started.wait()
    time.sleep(0.2)
    database.close()
    thread.join(10)
    assert not thread.is_alive()
    assert isinstance(seen[0], QueryInterrupted)
    assert list(tmp_path.iterdir()) == []
    database.close()


def drop_and_fail(cursor: Cursor) -> None:
    cursor.execute("DROP TABLE t")
    cursor.execute("SELECT * FROM nothing")


def test_a_transaction_is_all_or_nothing() -> None:
    with Database() as database:
        cursor = database.cursor()
        cursor.execute("CREATE TABLE t AS SELECT 1 AS x")
        with pytest.raises(DatabaseError, match="nothing"), transaction(cursor):
            drop_and_fail(cursor)
        assert table_rows(cursor, "FROM t") == [(1,)]
        with transaction(cursor):
            cursor.execute("INSERT INTO t VALUES (2)")
        assert table_rows(database.cursor(), "FROM t ORDER BY x") == [(1,), (2,)]


def test_database_errors_are_one_line() -> None:
    with Database() as database:
        cursor = database.cursor()
        with (
            pytest.raises(BrightInspectError, match=r"failed: Catalog Error: .*nothing") as caught,
            database_errors_told(),
        ):
            cursor.execute("SELECT *\nFROM nothing")
        assert "\n" not in str(caught.value)

"""Ctrl+C stops a query of DuckDB at once, which Python's own signal handling does not."""

from __future__ import annotations

import contextlib
import signal
import subprocess
import sys

_ENDLESS_QUERY = """
from bright_inspect.cli.options import interruptible
from bright_inspect.db import Database
with Database() as database:
    def work(token):
        cursor = database.cursor()
        token.watch(cursor)
        print("running", flush=True)
        cursor.execute("SELECT count(*) FROM range(1000000000) a, range(1000) b").fetchall()
    try:
        interruptible(work)
    except KeyboardInterrupt:
        print("interrupted")
"""


def test_ctrl_c_stops_a_running_query() -> None:
    with subprocess.Popen([sys.executable, "-c", _ENDLESS_QUERY], stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == "running\n"
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(0.5)  # until the query runs
            process.send_signal(signal.SIGINT)
            assert process.communicate(timeout=20)[0] == "interrupted\n"
        finally:
            process.kill()

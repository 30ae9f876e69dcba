"""The program on a real terminal, and what it leaves behind there."""

from __future__ import annotations

import os
import pty
import select
import signal
import struct
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from fcntl import ioctl
from pathlib import Path
from termios import TIOCSWINSZ, tcgetattr

import pytest

from tests.support import process

_SECONDS = 60.0


class Terminal:
    """A program that runs on a terminal of 120×34."""

    def __init__(self, process: subprocess.Popen[bytes], ours: int, theirs: int) -> None:
        self.process, self._ours, self._theirs = process, ours, theirs
        self.output = b""
        self._settings = tcgetattr(theirs)

    @property
    def has_its_settings(self) -> bool:
        """Whether the terminal echoes keys and waits for whole lines, as before."""
        return tcgetattr(self._theirs) == self._settings

    def read(self, seconds: float = 0.1) -> bool:
        """Take what the program has written; False once it has closed the terminal."""
        if select.select([self._ours], [], [], seconds)[0]:
            try:
                piece = os.read(self._ours, 65536)
            except OSError:  # Linux raises when the other end is closed
                return False
            self.output += piece
            return bool(piece)
        return True

    def until(self, text: str) -> None:
        """Wait until a text was painted."""
        deadline = time.monotonic() + _SECONDS
        while text.encode() not in self.output:
            assert self.process.poll() is None, f"ended with {self.process.returncode}: {self.tail}"
            assert time.monotonic() < deadline, f"{text!r} was not painted: {self.tail}"
            self.read()

    def type(self, keys: str) -> None:
        os.write(self._ours, keys.encode())

    def exit_code(self, seconds: float = _SECONDS) -> int:
        """Wait for the end, and read all that was written."""
        deadline = time.monotonic() + seconds
        while self.process.poll() is None:
            assert time.monotonic() < deadline, f"still running: {self.tail}"
            self.read()
        while self.read(0.2) and select.select([self._ours], [], [], 0)[0]:
            pass
        return self.process.returncode

    def hang_up(self) -> None:
        """Close the terminal, as a window that is closed or a connection that breaks."""
        os.close(self._ours)
        self._ours = -1

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
        if self._ours >= 0:
            os.close(self._ours)

    @property
    def tail(self) -> str:
        return self.output[-2000:].decode(errors="replace")


@contextmanager
def terminal(folder: Path, *arguments: str) -> Iterator[Terminal]:
    ours, theirs = pty.openpty()
    ioctl(theirs, TIOCSWINSZ, struct.pack("HHHH", 34, 120, 0, 0))
    environment = {**os.environ, "TERM": "xterm-256color", "TMPDIR": str(folder)}
    with subprocess.Popen(
        [sys.executable, "-m", "bright_inspect", *arguments],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        cwd=folder,
        env=environment,
        start_new_session=True,
    ) as process:
        program = Terminal(process, ours, theirs)
        try:
            yield program
        finally:
            os.close(theirs)
            program.close()


def assert_restored(output: bytes) -> None:
    """The alternate screen is left, the cursor shown, and the mouse free again."""
    for on, off in [(b"\x1b[?1049h", b"\x1b[?1049l"), (b"\x1b[?25l", b"\x1b[?25h"), (b"\x1b[?1000h", b"\x1b[?1000l")]:
        assert on in output
        assert output.rindex(off) > output.rindex(on), off


def test_the_demo_draws_answers_q_and_restores_the_terminal(tmp_path: Path) -> None:
    with terminal(tmp_path, "demo") as program:
        program.until("mean of 4 tasks")
        program.type("A")
        program.until("20 of 20 queries")
        program.type("q")
        time_of_key = time.monotonic()
        program.type("q")
        assert program.exit_code() == 0
        assert time.monotonic() - time_of_key < 5
        assert program.has_its_settings
    assert_restored(program.output)
    assert b"Traceback" not in program.output
    assert not list(tmp_path.glob("bright-inspect-*")), "its temporary folder is gone"


def test_q_while_loading_leaves(tmp_path: Path) -> None:
    with terminal(tmp_path, "demo") as program:
        program.until("opening")
        program.type("q")
        assert program.exit_code() == 0
        assert program.has_its_settings
    assert_restored(program.output)
    assert b"Traceback" not in program.output


def test_a_failure_is_told_below_the_restored_terminal(tmp_path: Path) -> None:
    run = tmp_path / "run.trec"
    run.write_text("0 Q0 d 1 x t\n")
    with terminal(tmp_path, "run.trec") as program:
        assert program.exit_code() == 2
    text = program.output.decode()
    assert "bright-inspect: run.trec: " in text
    assert "Traceback" not in text
    if "\x1b[?1049h" in text:
        assert text.rindex("bright-inspect: run.trec") > text.rindex("\x1b[?1049l")


@pytest.mark.parametrize("name", ["SIGTERM", "SIGHUP"])
def test_signals_leave_no_hang(tmp_path: Path, name: str) -> None:
    with terminal(tmp_path, "demo") as program:
        program.until("mean of 4 tasks")
        program.process.send_signal(signal.Signals[name])
        assert program.exit_code(10) == 128 + signal.Signals[name]
    assert b"Traceback" not in program.output
    assert b"\x1b[?1049l" in program.output, "the terminal's own screen is back"


def test_a_closed_window_leaves_no_hang(tmp_path: Path) -> None:
    with terminal(tmp_path, "demo") as program:
        program.until("mean of 4 tasks")
        program.hang_up()
        program.process.send_signal(signal.SIGHUP)
        assert program.process.wait(10) != 0


@pytest.mark.parametrize("where", ["stdin", "stdout"])
def test_not_a_terminal(where: str) -> None:
    if where == "stdin":
        done = process("demo", stdin=subprocess.DEVNULL)
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr == (
            "bright-inspect: the screen needs a terminal. For output into a file or pipe use eval, compare or check.\n"
        )
        return
    ours, theirs = pty.openpty()
    try:
        done = process("demo", stdin=theirs)
        assert done.returncode == 2
        assert "the screen needs a terminal" in done.stderr
    finally:
        os.close(ours)
        os.close(theirs)

"""Writers that are killed, that write at once, and that run out of disk: what was acknowledged is there."""

from __future__ import annotations

import json
import random
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import pytest

from bright_inspect.judging.history import Log, current
from bright_inspect.judging.journal import Journal

SET = (sys.executable, "-m", "bright_inspect", "judge", "set", "--dataset", "d", "--task", "t", "--annotator")


def lines_of(numbers: Sequence[int]) -> bytes:
    return b"".join(
        json.dumps({"query_id": str(number % 50), "doc_id": f"doc {number}", "relevance": number % 3}).encode() + b"\n"
        for number in numbers
    )


def feed(process: subprocess.Popen[bytes], data: bytes, *, close: bool = True) -> threading.Thread:
    """Write to the process's stdin from a thread, so that its answers can be read meanwhile."""

    def write() -> None:
        assert process.stdin is not None
        with suppress(BrokenPipeError):
            process.stdin.write(data)
            process.stdin.flush()
            if close:
                process.stdin.close()

    thread = threading.Thread(target=write)
    thread.start()
    return thread


def run_until_killed(journal: Path, numbers: Sequence[int], seconds: float | None = None) -> tuple[int, float]:
    """Feed decisions and kill the process so many seconds after its first answer, or let it end; how many were
    acknowledged, and how long the last answer took."""
    with subprocess.Popen(
        [*SET, "anna", "--journal", str(journal)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        thread = feed(process, lines_of(numbers), close=seconds is None)
        answers = [process.stdout.readline()]
        begun = last = time.monotonic()
        if seconds is not None:
            timer = threading.Timer(seconds, process.kill)
            timer.start()
        while answer := process.stdout.readline():
            answers.append(answer)
            last = time.monotonic()
        process.wait()
        thread.join()
    # A killed process may leave half an answer: that is none.
    acknowledged = [json.loads(answer)["ok"] for answer in answers if answer.endswith(b"\n")]
    assert acknowledged == list(range(1, len(acknowledged) + 1))
    return len(acknowledged), last - begun


def killed_again_and_again(journal: Path, decisions: int, kills: int) -> None:
    """One session of so many decisions, killed so often at random instants, each time taken up behind the last answer.

    The journal is looked at after every kill.
    """
    random_ = random.Random(kills)
    seconds_each, done, at_work = 0.0002, 0, 0
    for left in range(kills, 0, -1):
        # On average the kills use up a little less than the session.
        numbers = range(done, min(decisions - 1, done + max(2, 2 * (decisions - done) // (left + 1))))
        count, took = run_until_killed(journal, numbers, random_.uniform(0, 0.8 * len(numbers) * seconds_each))
        seconds_each = (seconds_each + took / max(1, count - 1)) / 2
        at_work += count < len(numbers)
        done += count
        there = {line.doc_id: line.relevance for line in Log([journal]).decisions}
        assert all(there[f"doc {number}"] == number % 3 for number in range(done)), f"with {left} kills left"
    print(f"{kills} kills, {at_work} of them before all was answered; {done} decisions by then")
    assert at_work >= kills // 5
    assert run_until_killed(journal, range(done, decisions))[0] == decisions - done
    found = current(Log([journal]).decisions)
    assert {pair[3]: said["anna"].relevance for pair, said in found.items()} == {
        f"doc {number}": number % 3 for number in range(decisions)
    }


def test_killed_five_times(tmp_path: Path) -> None:
    killed_again_and_again(tmp_path / "j.jsonl", 1000, 5)


@pytest.mark.slow
def test_killed_two_hundred_times(tmp_path: Path) -> None:
    killed_again_and_again(tmp_path / "j.jsonl", 2000, 200)


def written_at_once(journal: Path, processes: int, decisions: int) -> None:
    data = lines_of(range(decisions))
    running = [
        subprocess.Popen(
            [*SET, f"annotator {number}", "--journal", str(journal)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        for number in range(processes)
    ]
    threads = [feed(process, data) for process in running]
    for process in running:
        assert process.stdout is not None
        assert len(process.stdout.readlines()) == decisions
        assert process.wait() == 0
        process.stdout.close()
    for thread in threads:
        thread.join()
    content = journal.read_bytes()
    assert content.count(b"\n") == processes * decisions
    read = Journal(journal).read()
    assert read.damaged == []
    assert len({line.id for line in read.decisions}) == processes * decisions
    for number in range(processes):
        own = [line.doc_id for line in read.decisions if line.annotator == f"annotator {number}"]
        assert own == [f"doc {place}" for place in range(decisions)]


def test_four_at_once(tmp_path: Path) -> None:
    written_at_once(tmp_path / "j.jsonl", 4, 50)


@pytest.mark.slow
def test_eight_at_once(tmp_path: Path) -> None:
    written_at_once(tmp_path / "j.jsonl", 8, 500)


def test_a_disk_that_fills_up(tmp_path: Path) -> None:
    """A limit on the size of files ends a write in the middle, as a full disk does."""
    journal = tmp_path / "j.jsonl"
    limited = ["bash", "-c", 'ulimit -f 4; exec "$@"', "bash", *SET, "anna", "--journal", str(journal)]
    done = subprocess.run(limited, input=lines_of(range(100)), capture_output=True, timeout=60, check=False)
    acknowledged = len(done.stdout.splitlines())
    assert 5 < acknowledged < 50
    assert done.returncode == 2
    assert done.stderr.decode() == (
        f"bright-inspect: {journal}: the decision was not kept (File too large). Free disk and decide again.\n"
    )
    assert journal.stat().st_size == 4096
    rest = range(acknowledged, 100)
    assert run_until_killed(journal, rest)[0] == len(rest)
    read = Journal(journal).read()
    assert [damage.line for damage in read.damaged] == [acknowledged + 1]
    assert [line.doc_id for line in read.decisions] == [f"doc {number}" for number in range(100)]

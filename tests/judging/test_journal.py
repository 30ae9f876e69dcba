"""The journal file: what is acknowledged is there, whatever happened to it."""

from __future__ import annotations

import errno
import fcntl
import os
from pathlib import Path

import pytest

from bright_inspect.errors import BrightInspectError, UnreadableInput
from bright_inspect.judging.decisions import Decision, encode_line
from bright_inspect.judging.history import Log
from bright_inspect.judging.journal import Journal, Place
from tests.judging.making import judged


@pytest.fixture
def journal(tmp_path: Path) -> Journal:
    return Journal(tmp_path / "j.jsonl")


def docs(decisions: list[Decision]) -> list[str | None]:
    return [decision.doc_id for decision in decisions]


def test_lines_come_back_in_order(journal: Journal) -> None:
    assert journal.read().decisions == []
    first, second, third = (judged(doc_id, 1) for doc_id in "abc")
    journal.append(first)
    journal.append(second, third)
    journal.append()
    assert journal.read().decisions == [first, second, third]
    assert journal.path.read_bytes() == b"".join(map(encode_line, (first, second, third)))


def test_synced_before_it_returns(journal: Journal, monkeypatch: pytest.MonkeyPatch) -> None:
    synced: list[str] = []

    def fsync(file: int) -> None:
        synced.append(os.readlink(f"/proc/self/fd/{file}") if Path("/proc").is_dir() else str(file))

    monkeypatch.setattr(os, "fsync", fsync)
    journal.append(judged("a", 1))
    assert len(synced) == 2, "the file, and its folder where it is new"
    journal.append(judged("b", 1))
    assert len(synced) == 3
    assert synced[0] == synced[2]


def test_what_cannot_be_synced_is_not_acknowledged(journal: Journal, monkeypatch: pytest.MonkeyPatch) -> None:
    def fsync(file: int) -> None:
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(os, "fsync", fsync)
    with pytest.raises(BrightInspectError, match=r"j\.jsonl: the decision was not kept \(Input/output error\)\."):
        journal.append(judged("a", 1))


@pytest.mark.parametrize("cut", [1, 20, 100])
def test_a_half_written_last_line_is_kept_and_told(journal: Journal, cut: int) -> None:
    journal.append(judged("a", 1))
    with journal.path.open("ab") as file:
        file.write(encode_line(judged("lost", 1))[:cut])
    read = journal.read()
    assert docs(read.decisions) == ["a"]
    assert [(damage.line, damage.found) for damage in read.damaged] == [(2, f"a half-written last line ({cut} bytes)")]
    before = journal.path.read_bytes()
    journal.append(judged("b", 0))
    assert journal.path.read_bytes().startswith(before + b"\n")
    read = journal.read()
    assert docs(read.decisions) == ["a", "b"]
    (finding,) = journal.findings(read.damaged)
    assert finding.place == f"{journal.path}:2"
    assert finding.severity == "error"
    assert "it is kept, and counts for nothing" in finding.message


def test_a_last_line_that_lacks_only_its_end_counts(journal: Journal) -> None:
    journal.path.write_bytes(encode_line(judged("a", 1)).rstrip())
    assert docs(journal.read().decisions) == ["a"]
    journal.append(judged("b", 1))
    read = journal.read()
    assert docs(read.decisions) == ["a", "b"]
    assert read.damaged == []


def test_a_full_disk_in_mid_line(journal: Journal, monkeypatch: pytest.MonkeyPatch) -> None:
    journal.append(judged("a", 1))
    write, left = os.write, [30, 0]

    def full(file: int, data: memoryview) -> int:
        size = left.pop(0)
        if not size:
            raise OSError(errno.ENOSPC, "No space left on device")
        return write(file, data[:size])

    with monkeypatch.context() as patched:
        patched.setattr(os, "write", full)
        with pytest.raises(BrightInspectError, match=r"not kept \(No space left on device\)\. Free disk") as raised:
            journal.append(judged("b", 1))
    assert "\n" not in str(raised.value)
    journal.append(judged("b", 1))
    read = journal.read()
    assert docs(read.decisions) == ["a", "b"]
    assert [damage.line for damage in read.damaged] == [2]


@pytest.mark.parametrize("place", ["", "missing/j.jsonl", "fifo"])
def test_what_is_no_file_is_one_line(tmp_path: Path, place: str) -> None:
    os.mkfifo(tmp_path / "fifo")
    with pytest.raises(BrightInspectError, match="the decision was not kept") as raised:
        Journal(tmp_path / place).append(judged("a", 1))
    assert "\n" not in str(raised.value)
    if place != "missing/j.jsonl":
        with pytest.raises(UnreadableInput, match=r"the journal cannot be read \(not a file\)"):
            Journal(tmp_path / place).read()


def test_no_permission_is_one_line(journal: Journal, monkeypatch: pytest.MonkeyPatch) -> None:
    def forbidden(*_: object) -> int:  # root may write everything
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(os, "open", forbidden)
    with pytest.raises(BrightInspectError, match=r"not kept \(Permission denied\)"):
        journal.append(judged("b", 1))


DAMAGED: dict[str, bytes] = {
    "a line that is no JSON": b"hello",
    "a half-written line": b'{"v":1,"id":"x","kind"',
    "not UTF-8": b'{"v":1,"id":"\xff"}',
    "not a JSON object": b"[1]",
    "no kind": b"{}",
    "nested too deeply": b"[" * 100_000,
    "a mark of a merge": b"<<<<<<< HEAD",
    "no time": encode_line(judged("x", 1)).replace(b'"time"', b'"tIme"').rstrip(),
}


@pytest.mark.parametrize("kind", DAMAGED)
def test_damaged_lines_are_told_by_line(journal: Journal, kind: str) -> None:
    journal.append(judged("a", 1))
    with journal.path.open("ab") as file:
        file.write(b"\r\n" + DAMAGED[kind] + b"\n")
    journal.append(judged("b", 1))
    read = journal.read()
    assert docs(read.decisions) == ["a", "b"]
    assert [damage.line for damage in read.damaged] == [3]
    assert kind in read.damaged[0].found


def test_many_damaged_lines_are_few_findings(journal: Journal) -> None:
    journal.path.write_bytes(b"x\n" * 1000)
    findings = journal.findings(journal.read().damaged)
    assert sum(finding.count for finding in findings) == 1000
    assert len(findings) == 21
    assert findings[-1].line == 21


def test_two_journals_concatenated(tmp_path: Path) -> None:
    """With a half-written line at the end of the first, without a line feed, and with one file twice."""
    first, second = Journal(tmp_path / "first"), Journal(tmp_path / "second")
    first.append(judged("a", 1))
    second.append(judged("b", 1, "bob"), judged("c", 1, "bob"))
    half = encode_line(judged("lost", 1))[:60]
    both = Journal(tmp_path / "both")
    both.path.write_bytes(
        first.path.read_bytes() + half + second.path.read_bytes().rstrip() + b"\xef\xbb\xbf" + second.path.read_bytes()
    )
    read = both.read()
    assert docs(read.decisions) == ["a", "b", "c", "b", "c"]
    assert [(damage.line, damage.saved) for damage in read.damaged] == [(2, True), (3, True)]
    log = Log([both.path])
    assert docs(log.decisions) == ["a", "b", "c"]
    assert ["the decision behind it counts" in finding.message for finding in log.findings] == [True, True]


def test_others_lines_are_seen(journal: Journal) -> None:
    log, other = Log([journal.path]), Journal(journal.path)
    assert log.follow() == []
    other.append(judged("a", 1))
    assert docs(log.follow()) == ["a"]
    assert log.follow() == []
    line = encode_line(judged("b", 1))
    with journal.path.open("ab") as file:
        file.write(line[:50])
        file.flush()
        assert log.follow() == [], "not before it is whole"
        file.write(line[50:])
    assert docs(log.follow()) == ["b"]
    with journal.path.open("ab") as file:
        file.write(b"half")
    assert docs(log.follow()) == []
    other.append(judged("c", 1))
    assert docs(log.follow()) == ["c"]
    assert [finding.line for finding in log.findings] == [3]
    assert docs(log.decisions) == ["a", "b", "c"]
    assert docs(Log([journal.path]).decisions) == ["a", "b", "c"]


def test_a_journal_that_was_replaced_is_read_anew(journal: Journal, tmp_path: Path) -> None:
    kept = judged("a", 1)
    journal.append(kept, judged("b", 1))
    log = Log([journal.path])
    merged = Journal(tmp_path / "merged")
    merged.append(judged("c", 1), kept)
    merged.path.replace(journal.path)
    assert docs(log.follow()) == ["c"]
    assert docs(log.decisions) == ["c", "a"]
    journal.path.write_bytes(encode_line(kept))
    log.follow()
    assert docs(log.decisions) == ["a"]
    journal.path.unlink()
    log.follow()
    assert log.decisions == []


def test_a_place_is_whole_lines(journal: Journal) -> None:
    journal.append(judged("a", 1))
    read = journal.read_new(Place())
    assert read.place.offset == journal.path.stat().st_size
    assert read.place.line == 1


def test_a_file_put_in_its_place_gets_the_line(
    journal: Journal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """git may replace the file while a writer waits for its lock."""
    journal.append(judged("a", 1))
    flock, other = fcntl.flock, Journal(tmp_path / "other")
    other.append(judged("b", 1))

    def replaced(file: int, what: int) -> None:
        if other.path.exists():
            other.path.replace(journal.path)
        flock(file, what)

    monkeypatch.setattr(fcntl, "flock", replaced)
    journal.append(judged("c", 1))
    assert docs(journal.read().decisions) == ["b", "c"]


def test_an_id_for_two_lines_is_told(journal: Journal) -> None:
    first = judged("a", 1, id="same")
    journal.append(first, judged("a", 0, id="same"), first)
    log = Log([journal.path])
    assert [decision.relevance for decision in log.decisions] == [1]
    assert [(finding.code, finding.count) for finding in log.findings] == [("repeated-decision-id", 1)]

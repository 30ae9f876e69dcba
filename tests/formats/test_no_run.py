"""Files that are no run are refused in one line, and exactly the file that was named is read."""

from __future__ import annotations

import codecs
import gzip
import os
import pickle
from pathlib import Path

import pytest

from bright_inspect.errors import UnreadableInput
from tests.support import read_bytes, read_file

GOOD = "1 Q0 a 1 0.9 tag\n1 Q0 b 2 0.5 tag\n2 Q0 c 1 7 tag\n"


@pytest.mark.parametrize("protocol", range(6))
def test_a_pickle_is_refused_and_never_opened(tmp_path: Path, protocol: int) -> None:
    content = pickle.dumps({"1": {"a": 0.5}}, protocol=protocol)
    with pytest.raises(UnreadableInput, match=r"a Python pickle, not a run.*--save_text" if protocol > 1 else "run"):
        read_bytes(tmp_path, content)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "the file is empty"),
        (b" \n\n\t\r\n", "the file is empty"),
        (b"\x00\x01\x02binary", "binary data"),
        (b"PK\x03\x04" + bytes(100), "binary data"),
        (b"1 Q0 a 1 .9 t\n\0", "binary data"),
        (b"\x1f\x8b\x08\x00broken", "damaged gzip"),
        (gzip.compress(GOOD.encode() * 1000, mtime=0)[:-20], "damaged gzip"),
        (b"# only\n# comments\n", "only blank lines or comments"),
        (codecs.BOM_UTF8, "holds no run"),
        (codecs.BOM_UTF16_LE, "holds no run"),
        (b"1 Q0 a 1 0.9\n1 Q0 b 2 0.5\n", "5 columns, the tag is missing"),
        (b"1 Q0 a 0.9 tag\n1 Q0 b 0.5 tag\n", "5 columns, the score or the rank is missing"),
        (b"1\tQ0\ta\t1\t0.9\n", "5 columns, the tag is missing"),
        (b"1 0 a 1\n1 0 b 0\n", "judgments (4 columns), not a run. Give judgments with --qrels"),
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 9\n", "a Git LFS pointer in place of the"),
        (b"<!DOCTYPE html>\n<html><body>404</body></html>\n", "a web page, not a run"),
        (b"1\ta\t1\n", "3 columns that may be ranks, scores or judgments"),
        (b"some prose\nwithout end\n", "2 columns"),
        (b"1 Q0 a 1 abc tag\n", "no score is a number"),
        (b"1 Q0 a 1 nan tag\n", "every score is NaN"),
        (b"1 Q0 a x 1 tag\n", "the rank is not a number"),
    ],
)
def test_files_that_are_no_run(tmp_path: Path, content: bytes, said: str) -> None:
    with pytest.raises(UnreadableInput) as caught:
        read_bytes(tmp_path, content)
    message = str(caught.value)
    assert said in message
    assert message.startswith(str(tmp_path / "run.trec"))
    assert "\n" not in message


def test_a_folder_an_absent_file_and_a_pipe(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path, said in ((tmp_path, "is a folder"), (tmp_path / "no", "no such file"), (tmp_path / "pipe", "a pipe")):
        with pytest.raises(UnreadableInput, match=said):
            read_file(path)


@pytest.mark.parametrize(
    ("name", "decoy"),
    [
        ("we[1]rd.trec", "we1rd.trec"),
        ("run*.trec", "runs.trec"),
        ("run?.trec", "runs.trec"),
        ("it's.trec", "its.trec"),
        ('a "b".trec', "a b.trec"),
        ("with space.trec", "withspace.trec"),
        ("naïve 日本.trec", "naive.trec"),
        ("100%s.trec", "100.trec"),
        ("back\\slash.trec", "backslash.trec"),
        ("{a,b}.trec", "a.trec"),
        ("a;b--.trec", "a.trec"),
    ],
)
@pytest.mark.parametrize("odd", [False, True], ids=["regular", "odd"])
def test_exactly_the_named_file_is_read(tmp_path: Path, name: str, decoy: str, odd: bool) -> None:
    (tmp_path / decoy).write_text("1 Q0 decoy 1 1 t\n")
    table = read_bytes(tmp_path, "1 Q0 right 1 1 t\n" + ("# odd\n" if odd else ""), name)
    assert [doc_id for _, doc_id in table.scores] == ["right"]

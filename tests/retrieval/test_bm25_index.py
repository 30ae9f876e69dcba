"""Indexes on disk: built once, whole or not at all, rebuilt when damaged, shared by processes."""

from __future__ import annotations

import errno
import multiprocessing
import os
import time
from pathlib import Path
from typing import Any

import pytest

from bright_inspect.errors import BrightInspectError
from bright_inspect.retrieval import bm25_index
from bright_inspect.retrieval.bm25 import make_bm25, make_bm25_lucene
from bright_inspect.retrieval.protocol import Corpus, ignore_progress, never_stop
from tests.retrieval.corpora import DOCUMENTS, corpus_of, retriever, scores


class Stopped(Exception):
    """What a check raises here."""


def unread(corpus: Corpus) -> Corpus:
    """The same corpus, of which no document can be read any more."""

    def read() -> Any:
        raise AssertionError("the corpus was read again")

    return Corpus(corpus.dataset, corpus.task, corpus.size, corpus.digest, read)


def test_built_once_for_both_flavours(tmp_path: Path) -> None:
    corpus = corpus_of(DOCUMENTS)
    first = make_bm25(corpus, tmp_path, ignore_progress, never_stop)
    second = make_bm25(unread(corpus), tmp_path, ignore_progress, never_stop)
    make_bm25_lucene(unread(corpus), tmp_path, ignore_progress, never_stop)
    assert first.search(["warm water"], 9) == second.search(["warm water"], 9)
    with pytest.raises(AssertionError, match="read again"):
        make_bm25(unread(corpus_of({**DOCUMENTS, "new": "text"})), tmp_path, ignore_progress, never_stop)


ARRAYS = ("starts", "rows", "weights", "counts", "idf", "ids", "term_hashes")


@pytest.mark.parametrize("name", ["manifest.json", *(f"{name}.npy" for name in ARRAYS)])
@pytest.mark.parametrize("damage", ["gone", "cut", "longer", "empty"])
def test_a_damaged_index_is_built_anew(name: str, damage: str, tmp_path: Path) -> None:
    wanted = scores(retriever("bm25", DOCUMENTS, tmp_path), "warm water")
    (path,) = tmp_path.rglob(name)
    content = path.read_bytes()
    path.unlink()
    if damage != "gone":
        path.write_bytes({"cut": content[:-1], "longer": content + b" }", "empty": b""}[damage])
    assert scores(retriever("bm25", DOCUMENTS, tmp_path), "warm water") == wanted
    assert path.read_bytes() == content
    assert len(list((tmp_path / "bm25").iterdir())) == 1


def test_a_full_disk_is_one_line_and_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written: list[Path] = []

    def full(path: Path, *_: object) -> int:
        if len(written) == 3:
            raise OSError(errno.ENOSPC, "No space left on device")
        path.write_bytes(b"x")
        written.append(path)
        return 1

    monkeypatch.setattr(bm25_index, "_write_array", full)
    with pytest.raises(BrightInspectError, match=r"index of custom/small cannot be written: No space left on device\."):
        retriever("bm25", DOCUMENTS, tmp_path)
    assert written
    assert list((tmp_path / "bm25").iterdir()) == []


def test_a_folder_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "bm25").write_text("a file")
    with pytest.raises(BrightInspectError, match="cannot be written"):
        retriever("bm25", DOCUMENTS, tmp_path)


@pytest.mark.parametrize("stop_at", range(1, 9))
def test_stopping_leaves_nothing(stop_at: int, tmp_path: Path) -> None:
    checks = 0

    def check() -> None:
        nonlocal checks
        checks += 1
        if checks == stop_at:
            raise Stopped

    with pytest.raises(Stopped):
        make_bm25(corpus_of({f"d{number}": "warm water" for number in range(500)}), tmp_path, ignore_progress, check)
    assert list(tmp_path.rglob("*.npy")) == []


def test_progress_reaches_the_end(tmp_path: Path) -> None:
    seen: list[tuple[int, int, str]] = []
    corpus = corpus_of({f"d{number}": "warm water" for number in range(500)})
    make_bm25(corpus, tmp_path, lambda *step: seen.append(step), never_stop)
    assert [done for done, _, _ in seen] == sorted(done for done, _, _ in seen)
    assert seen[-1][:2] == (500, 500)
    assert all(message for _, _, message in seen)


def test_what_killed_processes_left_goes_after_a_day(tmp_path: Path) -> None:
    folder = tmp_path / "bm25"
    for name, hours in (("old", 25), ("new", 1)):
        (folder / f".building-{name}").mkdir(parents=True)
        os.utime(folder / f".building-{name}", (time.time() - hours * 3600,) * 2)
    retriever("bm25", DOCUMENTS, tmp_path)
    assert [path.name for path in folder.iterdir() if path.name.startswith(".")] == [".building-new"]


@pytest.mark.parametrize("digest", ["", "../up", "a/b", "é"])
def test_a_digest_is_no_path(digest: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="not a digest"):
        make_bm25(Corpus("custom", "c", 0, digest, lambda: iter(())), tmp_path, ignore_progress, never_stop)


def _search_in_a_process(folder: str) -> dict[str, float]:
    return scores(retriever("bm25", DOCUMENTS, Path(folder)), "warm water")


def test_processes_that_build_at_once(tmp_path: Path) -> None:
    with multiprocessing.get_context("spawn").Pool(3) as pool:
        results = pool.map(_search_in_a_process, [str(tmp_path)] * 6, chunksize=1)
    assert results == [_search_in_a_process(str(tmp_path / "alone"))] * 6
    assert len(list((tmp_path / "bm25").iterdir())) == 1

"""``rerank``: the top of a stored run by a reranker of the user's own."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support import command, example, write_bright, write_trec

OWN = "tests.tui.own_retrievers:make_by_length"
DOCUMENTS = {"a": "x" * 50, "b": "x" * 10, "c": "x" * 20, "d": "x" * 5}


@pytest.fixture
def data(tmp_path: Path) -> Path:
    rows = [example(str(number), ["b"], excluded=["d"]) for number in range(3)]
    folder = write_bright(tmp_path / "data", {"biology": rows, "economics": rows})
    documents = [{"id": name, "content": text} for name, text in DOCUMENTS.items()]
    return write_bright(folder, {"biology": documents, "economics": documents}, "documents")


def lists(path: Path) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for line in path.read_text().splitlines():
        query_id, _, doc_id, *_ = line.split()
        found.setdefault(query_id, []).append(doc_id)
    return found


def test_the_top_is_in_the_rerankers_order_and_the_rest_below(tmp_path: Path, data: Path) -> None:
    listed = {"a": 9.0, "d": 8.0, "nowhere": 7.0, "c": 6.0, "b": 5.0}
    run = write_trec(tmp_path / "first" / "biology.trec", {"0": listed, "1": listed})
    out = tmp_path / "second" / "biology.trec"
    asked = ("rerank", run, "--reranker", OWN, "--data", data, "--top", "3", "--out", out)
    done = command(*asked)
    assert done.returncode == 0, done.stderr
    # d is excluded; nowhere has no text, and b is below the top.
    assert lists(out) == {"0": ["c", "a", "nowhere", "b"], "1": ["c", "a", "nowhere", "b"]}
    assert "4 pairs of query and document were scored by the reranker; 2 of them were cut." in done.stderr
    assert "2 documents to rerank have no text at hand" in done.stderr
    made = json.loads(Path(f"{out}.json").read_text())
    assert (made["system"], made["reranked_top"], made["reranker"]) == ("first+by-length", 3, "by-length")
    assert (made["reranked_documents"], made["reranked_documents_cut"]) == (4, 2)
    assert made["input"]["files"][0]["path"] == str(run)
    again = command(*asked)
    assert (again.returncode, "there already" in again.stderr) == (2, True)
    scored = json.loads(command("eval", out, "--data", data, "-m", "RR", "--json").stdout)["results"][0]
    assert scored["mean"] == pytest.approx((1 / 4 + 1 / 4 + 0) / 3), (
        "b is the gold, at rank 4 of two of the three queries"
    )


def test_tasks_that_are_done_are_not_done_again(tmp_path: Path, data: Path) -> None:
    for task in ("biology", "economics"):
        write_trec(tmp_path / "first" / task / "run.trec", {"0": {"a": 2.0, "b": 1.0}})
    out = tmp_path / "second"
    asked = ("rerank", tmp_path / "first", "--reranker", OWN, "--data", data, "--out", out)
    assert command(*asked).returncode == 0
    (out / "economics.trec").unlink()
    written = (out / "biology.trec").stat().st_mtime_ns
    done = command(*asked)
    assert done.returncode == 0, done.stderr
    assert (out / "biology.trec").stat().st_mtime_ns == written
    assert lists(out / "economics.trec") == {"0": ["b", "a"]}
    other = command(*asked, "--top", "1")
    assert (other.returncode, "there already" in other.stderr) == (2, True)


def test_what_cannot_be_reranked(tmp_path: Path, data: Path) -> None:
    run = write_trec(tmp_path / "first" / "biology.trec", {"0": {"a": 2.0}})
    other = write_trec(tmp_path / "other" / "biology.trec", {"0": {"b": 2.0}})
    base = ("rerank", "--data", data, "--out", tmp_path / "x.trec")
    for arguments, said in (
        ((run, other, "--reranker", OWN), "rerank takes one"),
        ((run, "--reranker", "bm25"), "'bm25' is not a reranker."),
        ((run, "--reranker", OWN, "--variant", "x"), "has no variant 'x'"),
        ((run, "--reranker", "cross-encoder:no/such-model"), "hf download no/such-model"),
    ):
        done = command(*base, *arguments)
        assert (done.returncode, said in done.stderr) == (2, True), done.stderr
        assert "Traceback" not in done.stderr

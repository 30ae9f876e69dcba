"""``retrieve`` and ``models``: runs made from the command line, broken off and gone on with."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from pathlib import Path

import pytest

from bright_inspect.errors import UsageError
from bright_inspect.retrieval.protocol import Check, Found, Hit, never_stop
from bright_inspect.store.corpus import TaskQueries
from bright_inspect.store.retrieving import BATCH, retrieve_run
from tests.support import command, example, write_bright

QUERIES = 3 * BATCH + 5


@pytest.fixture
def data(tmp_path: Path) -> Path:
    rows = [example(str(number), [f"d{number % 7}"], excluded=["d0"]) for number in range(5)]
    for number, row in enumerate(rows):
        row["query"] = f"word{number} common"
    documents = [{"id": f"d{number}", "content": f"word{number} common text {number}"} for number in range(7)]
    folder = write_bright(tmp_path / "data", {"biology": rows})
    reasoned = [{**row, "query": "word6"} for row in rows]
    write_bright(folder, {"biology": reasoned}, "gpt4_reason")
    return write_bright(folder, {"biology": documents}, "documents")


@pytest.mark.parametrize("retriever", ["bm25", "bm25-lucene", "rank-bm25"])
def test_a_run_with_its_sidecar(tmp_path: Path, data: Path, retriever: str) -> None:
    out = tmp_path / "runs" / "biology.trec"
    done = command("retrieve", "--task", "biology", "--data", data, "--retriever", retriever, "--out", out)
    assert done.returncode == 0, done.stderr
    lines = [line.split() for line in out.read_text().splitlines()]
    assert {line[0] for line in lines} == {"0", "1", "2", "3", "4"}
    assert all(line[2] != "d0" for line in lines), "excluded documents leave before the cut"
    assert next(line[2] for line in lines if line[0] == "3") == "d3"
    assert {line[5] for line in lines} == {retriever}
    made = json.loads((tmp_path / "runs" / "biology.trec.json").read_text())
    assert (made["system"], made["task"], made["corpus_documents"]) == (retriever, "biology", 7)
    assert "searched 7 of 57,359 documents" in done.stderr
    assert not list(out.parent.glob("*.part*"))
    assert len(json.loads(command("check", out.parent, "--data", data, "--json").stdout)["passed_over"]) == 1
    again = command("retrieve", "--task", "biology", "--data", data, "--retriever", retriever, "--out", out)
    assert again.returncode == 2
    assert "there already" in again.stderr
    scored = command("eval", out, "--data", data, "-m", "RR", "--json")
    assert json.loads(scored.stdout)["results"][0]["mean"] > 0.5


def test_variants_and_what_is_not_there(tmp_path: Path, data: Path) -> None:
    base = ("retrieve", "--data", data, "--out", tmp_path / "x.trec")
    for arguments, said in (
        (("--task", "biology", "--retriever", "bm52"), "'bm52' is not a retriever"),
        (("--task", "botany", "--retriever", "bm25"), "no data for task 'botany'"),
        (("--task", "biology", "--retriever", "bm25", "--variant", "x"), "There are: original, gpt4_reason"),
    ):
        done = command(*base, *arguments)
        assert (done.returncode, said in done.stderr) == (2, True), done.stderr
    done = command(*base, "--task", "biology", "--retriever", "bm25", "--variant", "gpt4_reason", "--depth", "1")
    assert done.returncode == 0
    assert {line.split()[2] for line in (tmp_path / "x.trec").read_text().splitlines()} == {"d6"}


def test_models() -> None:
    names = [row["name"] for row in json.loads(command("models", "--json").stdout)]
    assert names[:3] == ["bm25", "bm25-lucene", "rank-bm25"]
    assert "BM25" in command("models").stdout


class _Echo:
    """Ranks one document that is named after the query's text."""

    name, device = "echo", None

    def __init__(self) -> None:
        self.searched: list[str] = []

    def search(
        self, texts: Sequence[str], k: int, excluded: Sequence[Collection[str]] = (), check: Check = never_stop
    ) -> list[Found]:
        self.searched += texts
        return [Found([Hit(f"doc of {text}", 0.1), Hit("other", 0.05)]) for text in texts]


class _Stop(Exception):
    pass


@pytest.mark.parametrize("broken_in", [0, 1, 2, 3])
@pytest.mark.parametrize("damage", [b"", b"7 Q0 half a li", b"99 Q0 x 1 1 t\n"])
def test_a_broken_run_goes_on_and_equals_an_unbroken_one(tmp_path: Path, broken_in: int, damage: bytes) -> None:
    ids = tuple(str(number) for number in range(QUERIES))
    queries = TaskQueries(ids, tuple(f"t{query_id}" for query_id in ids), (frozenset(),) * QUERIES)
    provenance = {"system": "echo", "depth": 2}
    whole, out = tmp_path / "whole.trec", tmp_path / "broken.trec"
    retrieve_run(_Echo(), queries, 2, whole, provenance, lambda done, total: None, never_stop)

    def stop(done: int, total: int) -> None:
        if done == broken_in * BATCH:
            raise _Stop

    with pytest.raises(_Stop):
        retrieve_run(_Echo(), queries, 2, out, provenance, stop, never_stop)
    with (tmp_path / "broken.trec.part").open("ab") as part:
        part.write(damage)
    second = _Echo()
    made = retrieve_run(second, queries, 2, out, provenance, lambda done, total: None, never_stop)
    assert out.read_bytes() == whole.read_bytes()
    assert len(second.searched) <= QUERIES - max(0, broken_in - 1) * BATCH, "at most one batch is searched again"
    assert made.taken_over == QUERIES - len(second.searched)
    with pytest.raises(UsageError, match="there already"):
        retrieve_run(second, queries, 2, out, provenance, lambda done, total: None, never_stop)


def test_a_part_made_otherwise_is_not_taken_over(tmp_path: Path) -> None:
    ids = tuple(str(number) for number in range(QUERIES))
    queries = TaskQueries(ids, ids, (frozenset(),) * QUERIES)

    def stop(done: int, total: int) -> None:
        if done:
            raise _Stop

    with pytest.raises(_Stop):
        retrieve_run(_Echo(), queries, 2, tmp_path / "r", {"system": "a"}, stop, never_stop)
    made = retrieve_run(_Echo(), queries, 2, tmp_path / "r", {"system": "b"}, lambda done, total: None, never_stop)
    assert made.taken_over == 0
    assert {line.split()[-1] for line in (tmp_path / "r").read_text().splitlines()} == {"b"}

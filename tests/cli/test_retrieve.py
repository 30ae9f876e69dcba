"""``retrieve`` and ``models``: runs made from the command line, broken off and gone on with."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Sequence
from pathlib import Path

import pytest

from bright_inspect.errors import BrightInspectError, UsageError
from bright_inspect.retrieval.protocol import Check, Found, Hit, Reranking, never_stop
from bright_inspect.store.corpus import TaskQueries
from bright_inspect.store.retrieving import BATCH, retrieve_run, write_run
from tests.support import Done, command, example, write_bright

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
    rows = json.loads(command("models", "--json").stdout)
    assert [row["name"] for row in rows][:3] == ["bm25", "bm25-lucene", "rank-bm25"]
    kinds = [row["kind"] for row in rows]
    assert list(dict.fromkeys(kinds)) == ["retriever", "reranker", "writer"]
    assert kinds == sorted(kinds, key=["retriever", "reranker", "writer"].index)
    needs = {row["name"]: row["needs"] for row in rows}
    assert needs["minilm"] is None
    assert needs["reasonir"] == "to get: hf download reasonir/ReasonIR-8B"
    assert all(row["name"].startswith("cross-encoder:") for row in rows if row["kind"] == "reranker")
    for kind in ("retriever", "reranker", "writer"):
        missing = [row["needs"] is not None for row in rows if row["kind"] == kind]
        assert missing == sorted(missing), "what can be used here comes first"
    table = command("models").stdout
    assert "BM25" in table
    assert "hf download BAAI/bge-large-en-v1.5" in table


def retrieve(data: Path, out: Path, *options: str) -> Done:
    return command("retrieve", "--task", "biology", "--data", data, "--out", out, *options)


def test_a_users_own_retriever_and_reranker(tmp_path: Path, data: Path) -> None:
    out = tmp_path / "run.trec"
    done = retrieve(
        data, out, "--retriever", "tests.cli.own_models:outsiders", "--rerank", "tests.cli.own_models:longest",
        "--rerank-top", "9", "--depth", "8",
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
    assert done.stderr.splitlines() == [
        f"{out}: 5 queries of bright/biology by own outsiders+length, original.",
        "searched 7 of 57,359 documents: scores do not compare with runs over the whole corpus.",
        "35 pairs of query and document were scored by the reranker; 35 of them were cut.",
        "5 documents to rerank have no text at hand and keep their order below the others.",
    ]
    lines = [line.split(" ") for line in out.read_text().splitlines()]
    assert {len(line) for line in lines} == {6}
    assert {line[5] for line in lines} == {"own_outsiders+length"}
    assert [line[2] for line in lines if line[0] == "0"] == [*(f"d{n}" for n in range(6, -1, -1)), "outsider"]
    assert [float(line[4]) for line in lines if line[0] == "0"] == [19.0] * 7 + [18.0]
    made = json.loads((tmp_path / "run.trec.json").read_text())
    told = {key: made[key] for key in made if "rerank" in key or key in ("system", "retriever", "device")}
    assert told == {
        "system": "own outsiders+length", "retriever": "own outsiders", "reranker": "length", "reranked_top": 9,
        "reranker_max_length": 10,
        "reranked_documents": 35, "reranked_documents_cut": 35, "reranked_documents_without_text": 5, "device": "cpu",
    }  # fmt: skip
    assert json.loads(command("eval", out, "--data", data, "--json").stdout)["results"]


def test_lists_that_are_short_and_cuts_that_are_not_known(tmp_path: Path, data: Path) -> None:
    done = retrieve(
        data, tmp_path / "run.trec", "--retriever", "tests.cli.own_models:make", "--rerank",
        "tests.cli.own_models:unlimited", "--rerank-top", "2", "--depth", "8",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    lines = done.stderr.splitlines()
    assert "5 lists are shorter than 8, as of query 0: The corpus has only 7 documents (1 excluded)." in lines
    assert lines[-1] == (
        "10 pairs of query and document were scored by the reranker; how many were cut at its max length is not known."
    )
    made = json.loads((tmp_path / "run.trec.json").read_text())
    assert (made["reranked_documents_cut"], made["reranked_documents_without_text"]) == (None, 0)
    assert (made["model"], made["dimensions"], len(made["short_lists"])) == ("hash of the text", 8, 5)
    assert made["retriever"] == "hash"


def test_scores_of_numpy_are_written_as_numbers(tmp_path: Path, data: Path) -> None:
    out = tmp_path / "run.trec"
    assert retrieve(data, out, "--retriever", "tests.cli.own_models:outsiders").returncode == 0
    scores = [float(line.split(" ")[4]) for line in out.read_text().splitlines() if line.startswith("0 ")]
    assert scores == sorted(scores, reverse=True)
    assert (scores[0], len(scores)) == (1.0, 8)


def test_the_package_rank_bm25_itself(tmp_path: Path, data: Path) -> None:
    for engine in ((), ("--engine", "rank_bm25")):
        out = tmp_path / f"run{len(engine)}.trec"
        assert retrieve(data, out, "--retriever", "rank-bm25", *engine).returncode == 0
        assert json.loads(out.with_name(f"{out.name}.json").read_text())["engine"] == (engine[1] if engine else None)
    runs = [
        [line.split(" ") for line in (tmp_path / f"run{number}.trec").read_text().splitlines()] for number in (0, 2)
    ]
    assert [line[2] for line in runs[0]] == [line[2] for line in runs[1]]
    assert [float(line[4]) for line in runs[0]] == pytest.approx([float(line[4]) for line in runs[1]])


def test_options_that_do_not_fit(tmp_path: Path, data: Path) -> None:
    out = tmp_path / "x.trec"
    for options, said in (
        (("--retriever", "bm25", "--engine", "rank_bm25"), "--engine rank_bm25 is of rank-bm25, not of bm25."),
        (("--retriever", "rank-bm25", "--engine", "bm25s"), "'bm25s' is not"),
        (("--retriever", "bm25", "--rerank", "bm25"), "'bm25' is not a reranker"),
        (("--retriever", "bm25", "--rerank", "cross-encoder:no/such"), "the model 'no/such' is not on this machine"),
        (("--retriever", "bm25", "--rerank", "tests.cli.own_models:nothing"), "own_models has no 'nothing'"),
        (("--retriever", "bm25", "--rerank", "tests.cli.own_models:make"), "own_models:make is called otherwise"),
        (("--retriever", "bm25", "--depth", "0"), "0 is not in the range"),
        (("--retriever", "bm25", "--rerank-top", "0"), "0 is not in the range"),
    ):
        done = retrieve(data, out, *options)
        assert (done.returncode, said in done.stderr) == (2, True), done.stderr
        assert len(done.stderr.splitlines()) == 1
    assert not list(tmp_path.glob("x.trec*"))


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


def reranked(query_ids: Sequence[str], cut: int | None = 2) -> Callable[[slice], list[Found]]:
    """Each list is short, and of three documents two were cut and one has no text."""

    def search(batch: slice) -> list[Found]:
        return [Found([Hit("d", 1.0)], f"{query_id} is short.", Reranking(3, cut, 1)) for query_id in query_ids[batch]]

    return search


@pytest.mark.parametrize("cut", [2, None])
@pytest.mark.parametrize("broken_in", range(5))
@pytest.mark.parametrize("notes", ["whole", "half a line", "gone", "longer"])
def test_what_is_told_is_of_both_halves(tmp_path: Path, broken_in: int, cut: int | None, notes: str) -> None:
    ids = [str(number) for number in range(QUERIES)]
    provenance = {"system": "r", "depth": 9}
    write_run(ids, reranked(ids, cut), tmp_path / "whole", provenance, lambda done, total: None, never_stop)

    def stop(done: int, total: int) -> None:
        if done == broken_in * BATCH:
            raise _Stop

    part = tmp_path / "broken.part.notes"
    if broken_in < 4:
        with pytest.raises(_Stop):
            write_run(ids, reranked(ids, cut), tmp_path / "broken", provenance, stop, never_stop)
    else:
        # As killed behind the last batch, before the part is called a run.
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("bright_inspect.store.retrieving.os.replace", lambda *_: (_ for _ in ()).throw(_Stop()))
            with pytest.raises(_Stop):
                write_run(ids, reranked(ids, cut), tmp_path / "broken", provenance, stop, never_stop)
    content = part.read_bytes()
    if notes == "half a line":
        part.write_bytes(content[:-3])
    elif notes == "gone":
        part.unlink()
    elif notes == "longer":
        part.write_bytes(content + b'{"short_lists": 5}\n')
    made = write_run(ids, reranked(ids, cut), tmp_path / "broken", provenance, lambda done, total: None, never_stop)
    assert (tmp_path / "broken").read_bytes() == (tmp_path / "whole").read_bytes()
    assert (tmp_path / "broken.json").read_bytes() == (tmp_path / "whole.json").read_bytes()
    told = made.told
    assert (told.scored, told.cut, told.without_text) == (3 * QUERIES, cut and cut * QUERIES, QUERIES)
    assert list(told.short_lists) == ids
    if notes in ("whole", "longer"):
        assert made.taken_over == min(broken_in * BATCH, QUERIES)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["broken", "broken.json", "whole", "whole.json"]


def test_a_retriever_that_gives_too_few_lists(tmp_path: Path) -> None:
    def search(batch: slice) -> list[Found]:
        return [Found([])]

    with pytest.raises(BrightInspectError, match="own: it gave 1 lists for 2 queries"):
        write_run(["a", "b"], search, tmp_path / "r", {"system": "own"}, lambda done, total: None, never_stop)


@pytest.mark.parametrize(("system", "tag"), [("dense:my models/x\ty", "dense:my_models/x_y"), (" ", "run"), ("é", "é")])
def test_a_tag_is_one_word(tmp_path: Path, system: str, tag: str) -> None:
    ids = ["a"]
    write_run(ids, reranked(ids), tmp_path / "r", {"system": system}, lambda done, total: None, never_stop)
    assert (tmp_path / "r").read_text(encoding="utf-8") == f"a Q0 d 1 1.0 {tag}\n"


def test_by_a_file_of_rewrites(tmp_path: Path, data: Path) -> None:
    rewrites = tmp_path / "rewrites.tsv"
    rewrites.write_text("".join(f"{number}\tword{number + 1}\n" for number in range(4)))
    out = tmp_path / "run.trec"
    base = ("--task", "biology", "--data", data, "--depth", "1", "--variant", f"next={rewrites}", "--out", out)
    done = command("retrieve", "--retriever", "bm25", *base)
    assert done.returncode == 0, done.stderr
    assert "by bm25, next." in done.stderr
    assert "1 queries of bright/biology have no text in the variant next: 4." in done.stderr
    assert {tuple(line.split()[:3:2]) for line in out.read_text().splitlines()} == {
        (str(number), f"d{number + 1}") for number in range(4)
    }
    assert json.loads(Path(f"{out}.json").read_text())["variant"] == "next"
    [file] = json.loads(command("check", out, "--data", data, "--json").stdout)["files"]
    assert file["variant"] == "next"

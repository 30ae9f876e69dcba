"""``fuse``: several runs made into one, and what it refuses."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from tests.support import Run, command, example, write_bright, write_trec

DENSE: Run = {"0": {"g0": 0.9, "x": 0.8, "a b": 0.7}, "1": {"y": 0.9, "g1": 0.9}}
SPARSE: Run = {"0": {"a b": 20.0, "g0": 10.0, "y": 5.0}, "1": {"g1": 3.0, "z": 1.0}}


@pytest.fixture
def data(tmp_path: Path) -> Path:
    rows = [example("0", ["g0"], excluded=["x"]), example("1", ["g1"])]
    return write_bright(tmp_path / "data", {"biology": rows, "pony": [example("0", ["p0"])]})


@pytest.fixture
def runs(tmp_path: Path) -> tuple[Path, Path]:
    dense = write_trec(tmp_path / "dense" / "biology.trec", DENSE)
    sparse = tmp_path / "biology_sparse_long_False" / "score.json"
    sparse.parent.mkdir()
    sparse.write_text(json.dumps(SPARSE))
    return dense, sparse


def lists_of(path: Path) -> dict[str, list[tuple[str, float]]]:
    """By query, documents and scores of a TREC file, ranks checked."""
    lists: dict[str, list[tuple[str, float]]] = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        query_id, _, rest = line.split(" ", 2)
        doc_id, rank, score, _ = rest.rsplit(" ", 3)
        ranked = lists.setdefault(query_id, [])
        ranked.append((doc_id, float(score)))
        assert int(rank) == len(ranked)
    return lists


def fused(*arguments: Any, code: int = 0) -> str:
    done = command("fuse", *arguments)
    assert done.returncode == code, done.stderr
    assert done.stdout == ""
    return done.stderr


def test_by_ranks_without_excluded_documents(tmp_path: Path, data: Path, runs: tuple[Path, Path]) -> None:
    out = tmp_path / "made" / "biology.trec"
    said = fused(*runs, "--data", data, "--out", out)
    # Without x, "a b" is second in dense. Query 1: y and g1 tie, so y is first.
    assert {query_id: [doc_id for doc_id, _ in ranked] for query_id, ranked in lists_of(out).items()} == {
        "0": ["g0", "a b", "y"],
        "1": ["g1", "y", "z"],
    }
    assert [score for _, score in lists_of(out)["0"]] == pytest.approx([1 / 61 + 1 / 62, 1 / 62 + 1 / 61, 1 / 63])
    assert "biology.trec: 2 queries of bright/biology, rrf of dense, sparse." in said
    assert "excluded document" in said
    assert sorted(path.name for path in out.parent.iterdir()) == ["biology.trec", "biology.trec.json"]
    scored = json.loads(command("eval", out, "--data", data, "-m", "RR", "--json").stdout)
    assert scored["results"][0]["mean"] == 1.0
    assert [finding["code"] for finding in scored["findings"]] == []


def test_the_sidecar_says_how(tmp_path: Path, data: Path, runs: tuple[Path, Path]) -> None:
    out = tmp_path / "f.trec"
    fused(*runs, "--data", data, "--out", out, "--method", "weighted", "--weight", "sparse=0.5", "--depth", 2)
    made = json.loads((tmp_path / "f.trec.json").read_text())
    assert (made["method"], made["normalisation"], made["k"], made["depth"]) == ("weighted", "min-max", None, 2)
    assert (made["task"], made["queries"], made["queries_in_some_runs"]) == ("biology", 2, 0)
    assert [(run["label"], run["weight"], run["variant"]) for run in made["inputs"]] == [
        ("dense", 1.0, None), ("sparse", 0.5, "original")
    ]  # fmt: skip
    assert [run["files"][0]["sha256"] for run in made["inputs"]] == [
        hashlib.sha256(path.read_bytes()).hexdigest() for path in runs
    ]
    # dense: g0 1, "a b" 0; sparse: "a b" 1, g0 1/3, y 0, at half weight
    ranked = lists_of(out)["0"]
    assert [doc_id for doc_id, _ in ranked] == ["g0", "a b"]
    assert [score for _, score in ranked] == pytest.approx([7 / 6, 0.5])


def test_a_query_that_one_run_lacks(tmp_path: Path, data: Path) -> None:
    first = write_trec(tmp_path / "one" / "biology.trec", {"0": {"g0": 1.0}})
    second = write_trec(tmp_path / "two" / "biology.trec", {"0": {"a": 2.0}, "1": {"g1": 1.0}})
    said = fused(first, second, "--data", data, "--out", tmp_path / "f.trec")
    assert "1 of 2 queries are fused from some of the runs: 1 (not in one)." in said
    ((doc_id, score),) = lists_of(tmp_path / "f.trec")["1"]
    assert doc_id == "g1"
    assert score == pytest.approx(1 / 61)
    assert json.loads((tmp_path / "f.trec.json").read_text())["queries_in_some_runs"] == 1


def test_several_tasks_are_a_folder(tmp_path: Path, data: Path) -> None:
    for name, scores in (("one", {"g0": 1.0}), ("two", {"a": 2.0})):
        write_trec(tmp_path / name / "biology.trec", {"0": scores})
        write_trec(tmp_path / name / "pony.trec", {"0": {"p0": 1.0}})
    arguments = (tmp_path / "one", tmp_path / "two", "--data", data)
    said = fused(*arguments, "--out", tmp_path / "f.trec", code=2)
    assert "the runs are of 2 tasks: bright/biology, bright/pony" in said
    fused(*arguments, "--out", tmp_path / "made")
    names = ["biology.trec", "biology.trec.json", "pony.trec", "pony.trec.json"]
    assert sorted(path.name for path in (tmp_path / "made").iterdir()) == names
    assert "there already" in fused(*arguments, "--out", tmp_path / "made", code=2)
    (tmp_path / "two" / "pony.trec").unlink()
    said = fused(*arguments, "--out", tmp_path / "other")
    assert "left out, only one run has them: bright/pony" in said
    assert sorted(path.name for path in (tmp_path / "other").iterdir()) == names[:2]


def test_what_is_refused(tmp_path: Path, data: Path, runs: tuple[Path, Path]) -> None:
    base = (*runs, "--data", data, "--out", tmp_path / "f.trec")
    for arguments, said in (
        ((runs[0], *base[2:]), "only one run given: dense"),
        ((*base, "--k", "10", "--method", "weighted"), "--k goes with --method rrf"),
        ((*base, "--normalise", "none"), "--normalise goes with --method weighted"),
        ((*base, "--k", "-1"), "not 0 or more"),
        ((*base, "--weight", "dense"), "not NAME=W"),
        ((*base, "--weight", "dense=nan"), "not NAME=W"),
        ((*base, "--weight", "bm25=1"), "no run is called so. Runs: dense, sparse."),
        ((*base, "--weight", "dense=1", "--weight", "dense=2"), "has a weight already"),
        ((*base, "--weight", "dense=0", "--weight", "sparse=0"), "all weights are 0"),
        ((*base[:-1], tmp_path), "a folder"),
    ):
        assert said in fused(*arguments, code=2)
    (tmp_path / "f.trec.json").write_text("{}")
    assert "f.trec.json: there already" in fused(*base, code=2)
    assert not list(tmp_path.glob("*.part"))
    assert not (tmp_path / "f.trec").exists()


def test_an_id_that_a_trec_file_cannot_hold(tmp_path: Path, data: Path) -> None:
    for name in ("one", "two"):
        folder = tmp_path / f"biology_{name}_long_False"
        folder.mkdir()
        (folder / "score.json").write_text(json.dumps({"0": {"g0": 2.0, "a\tb": 1.0}}))
    folders = sorted(tmp_path.glob("biology_*"))
    said = fused(*folders, "--data", data, "--out", tmp_path / "f.trec", code=2)
    assert "query 0" in said
    assert not list(tmp_path.glob("f.trec*"))


def test_real_runs(tmp_path: Path, bright_data: Path) -> None:
    """Against sums made here; ids with a space come back as they were."""
    data = bright_data / "bright"
    inputs = (bright_data / "runs" / "reasonir" / "stackoverflow.txt", bright_data / "rader" / "stackoverflow")
    out = tmp_path / "stackoverflow.trec"
    fused(*inputs, "--data", data, "--out", out)
    scored = json.loads(command("eval", *inputs, out, "--data", data, "--json").stdout)
    reasonir, rader, both = (result["mean"] for result in scored["results"])
    assert (round(reasonir, 4), round(rader, 4)) == (0.3096, 0.2836)
    assert both > max(reasonir, rader)
    assert any(" " in doc_id for ranked in lists_of(out).values() for doc_id, _ in ranked)

    ranks: list[dict[str, dict[str, int]]] = []
    trec: dict[str, dict[str, float]] = {}
    for line in inputs[0].read_text().splitlines():
        query_id, rest = line.split(None, 1)
        doc_id, _, score, _ = rest.split(None, 1)[1].rsplit(None, 3)
        trec.setdefault(query_id, {})[doc_id] = float(score)
    for scores in (trec, json.loads((inputs[1] / "gpt4_score.json").read_text())):
        ordered = {q: sorted(docs, key=lambda d, docs=docs: (docs[d], d), reverse=True) for q, docs in scores.items()}
        ranks.append({q: {d: rank for rank, d in enumerate(ids, 1)} for q, ids in ordered.items()})
    made = lists_of(out)
    assert set(made) == set(ranks[0]) | set(ranks[1])
    for query_id, ranked in made.items():
        expected = {
            doc_id: sum(1 / (60 + run[query_id][doc_id]) for run in ranks if doc_id in run[query_id])
            for doc_id in {*ranks[0][query_id], *ranks[1][query_id]}
        }
        assert dict(ranked) == pytest.approx(expected, rel=1e-6)

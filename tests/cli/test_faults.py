"""What goes wrong inside reaches the user as one line, and numbers read the same everywhere."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

import bright_inspect.cli.eval_command
from bright_inspect.cli import main
from bright_inspect.db import DatabaseError, QueryInterrupted
from tests.support import command, example, write_bright, write_qrels, write_trec

RUN = {"0": {"x": 2.0, "a": 1.0}, "1": {"a": 1.0}}


def run_main(monkeypatch: pytest.MonkeyPatch, *arguments: str | Path) -> int:
    monkeypatch.setattr(sys, "argv", ["bright-inspect", *map(str, arguments)])
    with pytest.raises(SystemExit) as leaving:
        main()
    assert isinstance(leaving.value.code, int)
    return leaving.value.code


@pytest.mark.parametrize(
    ("error", "code", "said"),
    [
        (DatabaseError("IO Error: no file\nLINE 1: SELECT"), 2, "the database failed: IO Error: no file."),
        (QueryInterrupted("Interrupted!"), 130, "Cancelled."),
        (RuntimeError("Query interrupted"), 130, ""),
    ],
)
def test_what_the_database_says_is_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
    error: Exception, code: int, said: str,
) -> None:  # fmt: skip
    def fail(*arguments: object) -> None:
        raise error

    monkeypatch.setattr(bright_inspect.cli.eval_command, "all_scores", fail)
    run = write_trec(tmp_path / "r.trec", RUN)
    assert run_main(monkeypatch, "eval", run, "--qrels", write_qrels(tmp_path / "j.txt", {"0": {"a": 1}})) == code
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.count("\n") <= 1
    assert said in printed.err


@pytest.mark.parametrize("relevance", ["99999999999", "9" * 5000], ids=["over int64", "5,000 digits"])
def test_a_relevance_beyond_all_measure(tmp_path: Path, relevance: str) -> None:
    run = write_trec(tmp_path / "r.trec", RUN)
    qrels = tmp_path / "j.txt"
    qrels.write_text(f"0 0 a 1\n1 0 a {relevance}\n")
    done = command("eval", run, "--qrels", qrels, "--json")
    assert (done.returncode, done.stderr) == (0, "")
    assert {finding["code"] for finding in json.loads(done.stdout)["findings"]} == {"bad-judgment", "unknown-query"}
    qrels.write_text(f"1 0 a {relevance}\n")
    done = command("eval", run, "--qrels", qrels)
    assert (done.returncode, done.stdout) == (2, "")
    assert "no line is a judgment" in done.stderr


def test_a_difference_of_nothing_has_no_sign(tmp_path: Path) -> None:
    runs = [write_trec(tmp_path / name / "r.trec", RUN) for name in ("a", "b")]
    qrels = write_qrels(tmp_path / "j.txt", {"0": {"a": 1}, "1": {"a": 1}})
    done = command("compare", *runs, "--qrels", qrels, "--per-query")
    cells = done.stdout.split()
    assert cells.count("0.0") == 3
    assert not {"+0.0", "−0.0"} & set(cells)


def test_the_mean_over_common_tasks(tmp_path: Path) -> None:
    data = write_bright(tmp_path / "data", {name: [example("0", ["a"])] for name in ("biology", "aops")})
    answers = {"new": ({"a": 1.0}, {"a": 1.0}), "old": ({"a": 1.0}, {"x": 2.0, "a": 1.0})}
    for name, lists in answers.items():
        for task, docs in zip(("biology", "aops"), lists, strict=True):
            write_trec(tmp_path / name / f"{task}.trec", {"0": docs})
    done = command("compare", tmp_path / "new", tmp_path / "old", "--data", data, "-m", "RR")
    line = done.stdout.splitlines()[-1]
    assert "mean of 2 common tasks" in line
    assert line.split()[-7:] == ["100.0", "75.0", "+25.0", "1", "1", "(0)", "0"]


def test_the_layer_of_each_result(tmp_path: Path) -> None:
    data = write_bright(tmp_path / "data", {name: [example("0", ["a"])] for name in ("biology", "aops")})
    runs = [write_trec(tmp_path / f"{task}.trec", {"0": {"a": 1.0}}) for task in ("biology", "aops")]
    qrels = write_qrels(tmp_path / "biology.txt", {"0": {"a": 1}})
    for chosen, layer in ((runs, "mixed"), (runs[:1], "qrels"), (runs[1:], "original")):
        done = command("eval", *chosen, "--data", data, "--qrels", qrels, "--json")
        found = json.loads(done.stdout)
        assert found["layer"] == layer
        layers = {result["task"]: result["layer"] for result in found["results"]}
        assert layers == {key: value for key, value in (("biology", "qrels"), ("aops", "original")) if key in layers}

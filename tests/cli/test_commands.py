"""The command line as a user meets it: exit codes, what goes where, and the shapes of JSON and CSV."""

from __future__ import annotations

import csv
import io
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.support import ROOT, command, example, process, write_bright, write_qrels, write_trec

GOOD = {"0": {"x": 3.0, "a": 2.0}, "1": {"a": 1.0}}


@pytest.fixture
def data(tmp_path: Path) -> Path:
    rows = [example("0", ["a"], excluded=["never"]), example("1", ["a"])]
    return write_bright(tmp_path / "data", {"biology": rows})


def results_of(*arguments: str | Path) -> dict[str, Any]:
    done = command(*arguments, "--json")
    assert (done.returncode, done.stderr) == (0, "")
    loaded: dict[str, Any] = json.loads(done.stdout)
    return loaded


BAD_INPUT: dict[str, tuple[bytes | None, str]] = {
    "absent": (None, "no such file or folder"),
    "empty": (b"", "the file is empty"),
    "binary": (b"\x89PNG\r\n\x1a\n\0\0\0", "binary data"),
    "truncated JSON": (b'{"0": {"a": 1.0, "b"', "ends in mid-value at byte"),
    "metrics": (b'{"NDCG@10": 0.5, "MRR": 0.5}', "metrics (NDCG@10, MRR, ...), not a run"),
    "five columns": (b"0 Q0 a 1 0.5\n1 Q0 a 1 0.5\n", "5 columns, the tag is missing"),
    "judgments": (b"0 0 a 1\n", "Give judgments with --qrels"),
    "no usable line": (b"0 Q0 a 1 abc t\n", "no score is a number"),
    "no shared query": (b"one Q0 a 1 1 t\ntwo Q0 a 1 1 t\n", "the run has one, two; the judgments have 0, 1"),
}


@pytest.mark.parametrize("name", ["eval", "check", "compare"])
@pytest.mark.parametrize("kind", BAD_INPUT)
def test_input_that_cannot_be_used_is_one_line_and_exit_code_2(
    tmp_path: Path, data: Path, kind: str, name: str
) -> None:
    content, said = BAD_INPUT[kind]
    path = tmp_path / "biology.txt"
    if content is not None:
        path.write_bytes(content)
    others = [write_trec(tmp_path / "good" / "biology.trec", GOOD)] if name == "compare" else []
    done = command(name, path, *others, "--data", data)
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.count("\n") == 1
    assert done.stderr.startswith(f"bright-inspect: {path}")
    assert said in done.stderr


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--measure", "bpref"], "unknown measure 'bpref'"),
        (["--task", "chemistry"], "no data for task 'chemistry'"),
        (["--data", "nowhere"], "nowhere: no such folder"),
        (["--qrels", "nowhere.txt"], "nowhere.txt: no such file"),
        (["--engine", "other"], "Invalid value for '--engine'"),
        (["--nonsense"], "No such option"),
        (["@v=x.trec"], "no name before the @"),
        (["--engine", "pytrec_eval", "-m", "Judged@10"], "pytrec_eval has no Judged@10"),
    ],
)
def test_options_that_cannot_be_used_are_one_line_and_exit_code_2(
    tmp_path: Path, data: Path, arguments: list[str], said: str
) -> None:
    done = command("eval", write_trec(tmp_path / "biology.trec", GOOD), "--data", data, *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.count("\n") == 1
    assert said in done.stderr


def test_compare_needs_two_runs_with_a_task_in_common(tmp_path: Path, data: Path) -> None:
    run = write_trec(tmp_path / "biology.trec", GOOD)
    done = command("compare", run, "--data", data)
    assert (done.returncode, done.stdout) == (2, "")
    assert "only one run given" in done.stderr
    write_bright(data, {"aops": [example("0", ["z"])]})
    other = write_trec(tmp_path / "aops.trec", {"0": {"z": 1.0}})
    done = command("compare", f"one={run}", f"other={other}", "--data", data)
    assert (done.returncode, done.stdout) == (2, "")
    assert "no run shares a task with the baseline other" in done.stderr


def test_no_judgments_at_hand(tmp_path: Path) -> None:
    done = command("eval", write_trec(tmp_path / "qwen.trec", GOOD))
    assert (done.returncode, done.stdout) == (2, "")
    assert "no judgments at hand for custom:qwen/qwen" in done.stderr
    assert command("check", tmp_path / "qwen.trec").returncode == 0


ODD_INPUT = {
    "one bad line": ("0 Q0 a 1 1 t\n0 Q0 b\n1 Q0 a 1 1 t\n", "too-few-columns", 2),
    "NaN": ("0 Q0 a 1 1 t\n1 Q0 a 1 1 t\n1 Q0 b 1 NaN t\n", "nan-score", 3),
    "abc": ("0 Q0 a 1 1 t\n1 Q0 a 1 1 t\n1 Q0 b 1 abc t\n", "bad-score", 3),
    "duplicate": ("0 Q0 a 1 1 t\n1 Q0 a 1 1 t\n0 Q0 a 2 .5 t\n", "duplicate-document", 1),
    "unknown query": ("0 Q0 a 1 1 t\n1 Q0 a 1 1 t\n7 Q0 a 1 1 t\n", "unknown-query", None),
    "missing query": ("0 Q0 a 1 1 t\n", "missing-query", None),
    "excluded present": ("0 Q0 never 1 2 t\n0 Q0 a 1 1 t\n1 Q0 a 1 1 t\n", "excluded-document", None),
}


@pytest.mark.parametrize("kind", ODD_INPUT)
def test_odd_input_is_a_finding_and_only_strict_fails(tmp_path: Path, data: Path, kind: str) -> None:
    content, code, line = ODD_INPUT[kind]
    path = tmp_path / "biology.txt"
    path.write_text(content)
    found = results_of("eval", path, "--data", data)
    (finding,) = found["findings"]
    assert (finding["code"], finding["line"], finding["file"]) == (code, line, str(path))
    assert found["results"][0]["mean"] == (0.5 if kind == "missing query" else 1.0)
    place = f"{path}:{line}:" if line else f"{path}:"
    for name, options, expected in (("eval", [], 0), ("eval", ["--strict"], 1), ("check", ["--strict", "--json"], 1)):
        done = command(name, path, "--data", data, *options)
        assert done.returncode == expected, (name, options)
        assert done.stdout
        if name == "eval":
            assert done.stderr.count("\n") == 1
            assert place in done.stderr
        else:
            assert done.stderr == ""


def test_strict_passes_where_there_is_nothing_to_find(tmp_path: Path, data: Path) -> None:
    run = write_trec(tmp_path / "biology.trec", GOOD)
    for name in ("eval", "check"):
        assert command(name, run, "--data", data, "--strict").returncode == 0


def test_eval_json(tmp_path: Path, data: Path) -> None:
    run = write_trec(tmp_path / "bm25@gpt4_reason" / "biology.trec", {"0": {"x": 3.0, "a": 2.0}})
    found = results_of("eval", run, "--data", data, "-m", "RR,P@1", "-m", "recip_rank", "--per-query")
    assert list(found) == ["layer", "ties", "results", "means_over_tasks", "findings"]
    assert found["means_over_tasks"] == []
    assert (found["layer"], found["ties"]) == ("original", "trec")
    assert found["results"] == [
        {
            "run": "bm25@gpt4_reason", "system": "bm25", "variant": "gpt4_reason", "path": str(run),
            "dataset": "bright", "task": "biology", "measure": measure, "mean": mean, "mean_answered": answered,
            "queries": 2, "answered": 1, "best": mean, "worst": mean, "expected": mean, "tie_sensitive": 0,
            "tied_at_cutoff": at_cutoff, "excluded": 0, "mean_without_exclusion": mean, "layer": "original",
            "per_query": per_query, "per_query_ties": {},
        }
        for measure, mean, answered, at_cutoff, per_query in (
            ("RR", 0.25, 0.5, None, {"0": 0.5, "1": 0.0}), ("P@1", 0.0, 0.0, 0, {"0": 0.0, "1": 0.0}),
        )
    ]  # fmt: skip
    (finding,) = found["findings"]
    assert list(finding) == ["code", "severity", "file", "line", "count", "message"]
    assert (finding["code"], finding["severity"], finding["line"], finding["count"]) == (
        "missing-query",
        "warning",
        None,
        1,
    )
    without = results_of("eval", run, "--data", data)["results"]
    assert [result["measure"] for result in without] == ["nDCG@10"]
    assert "per_query" not in without[0]


def test_a_run_that_answers_nothing_judged_has_no_answered_mean(tmp_path: Path) -> None:
    run = write_trec(tmp_path / "r.trec", {"0": {"a": 1.0}})
    qrels = write_qrels(tmp_path / "j.txt", {"0": {"b": 1}})
    (result,) = results_of("eval", run, "--qrels", qrels)["results"]
    assert (result["mean"], result["mean_answered"], result["variant"]) == (0.0, 0.0, None)
    assert (result["dataset"], result["task"]) == ("custom:j", "j")


def test_compare_json(tmp_path: Path, data: Path) -> None:
    new = write_trec(tmp_path / "new.trec", {"0": {"a": 1.0}, "1": {"a": 1.0}})
    old = write_trec(tmp_path / "old.trec", {"0": {"x": 2.0, "a": 1.0}, "1": {"a": 1.0}})
    found = results_of("compare", new, old, "--data", data, "-m", "RR")
    assert list(found) == ["results", "findings"]
    assert found["results"] == [
        {
            "run": "new", "baseline": "old", "dataset": "bright", "task": "biology", "measure": "RR",
            "mean_run": 1.0, "mean_baseline": 0.75, "delta": 0.25, "win": 1, "tie": 1, "tie_both_zero": 0, "loss": 0,
            "answered_run": 2, "answered_baseline": 2, "differs": ["system"],
            "per_query": [
                {"query_id": "0", "run": 1.0, "baseline": 0.5, "delta": 0.5},
                {"query_id": "1", "run": 1.0, "baseline": 1.0, "delta": 0.0},
            ],
        }
    ]  # fmt: skip
    turned = results_of("compare", new, old, "--data", data, "-m", "RR", "--baseline", "new")["results"][0]
    assert (turned["run"], turned["baseline"], turned["delta"], turned["loss"]) == ("old", "new", -0.25, 1)


def test_check_json(tmp_path: Path, data: Path) -> None:
    run = write_trec(tmp_path / "biology.trec", {**GOOD, "9": {"a": 1.0}})
    found = results_of("check", f"mine={run}", "--data", data)
    assert list(found) == ["files", "passed_over", "findings"]
    assert found["files"] == [
        {
            "path": str(run), "run": "mine", "system": "mine", "variant": None, "dataset": "bright",
            "task": "biology", "queries": 3, "rows": 4, "depth": [1, 2],
        }
    ]  # fmt: skip
    assert [(each["code"], each["changes"]) for each in found["findings"]] == [("unknown-query", "which queries count")]


def rows_of(*arguments: str | Path) -> list[dict[str, str]]:
    done = command(*arguments, "--csv")
    assert done.returncode == 0
    return list(csv.DictReader(io.StringIO(done.stdout)))


def test_csv(tmp_path: Path, data: Path) -> None:
    run = write_trec(tmp_path / "biology.trec", {"0": {"x": 3.0, "a": 2.0}})
    one = f'a "b", c={run}'
    (row,) = rows_of("eval", one, "--data", data, "-m", "RR")
    assert row == {
        "run": 'a "b", c', "system": 'a "b", c', "variant": "", "path": str(run), "dataset": "bright",
        "task": "biology", "measure": "RR", "mean": "0.25", "mean_answered": "0.5", "queries": "2", "answered": "1",
        "best": "0.25", "worst": "0.25", "expected": "0.25", "tie_sensitive": "0", "tied_at_cutoff": "",
        "excluded": "0", "mean_without_exclusion": "0.25", "layer": "original",
    }  # fmt: skip
    rows = rows_of("eval", one, "--data", data, "-m", "RR", "--per-query")
    assert [(row["query_id"], row["value"]) for row in rows] == [("0", "0.5"), ("1", "0.0")]
    rows = rows_of("compare", one, f"d={run}", "--data", data, "-m", "RR")
    assert list(rows[0]) == [
        "run", "baseline", "dataset", "task", "measure", "query_id", "run_value", "baseline_value", "delta"
    ]  # fmt: skip
    assert len(rows) == 2
    (row,) = rows_of("check", one, "--data", data)
    assert (row["code"], row["severity"], row["line"], row["count"]) == ("missing-query", "warning", "", "1")


def test_tables(tmp_path: Path, data: Path) -> None:
    run = write_trec(tmp_path / "qwen" / "biology.trec", {"0": {"x": 3.0, "a": 2.0}})
    other = write_trec(tmp_path / "bm25" / "biology.trec", GOOD)
    done = command("eval", run, "--data", data, "-m", "RR", "--per-query")
    lines = [line.split() for line in done.stdout.splitlines()]
    assert lines[1] == ["qwen", "bright", "biology", "RR", "25.0", "1", "of", "2", "50.0"]
    assert lines[2:] == [["0", "50.0"], ["1", "0.0"]]
    done = command("compare", run, other, "--data", data, "-m", "RR")
    assert done.stdout.splitlines()[1].split() == [
        "qwen", "bm25", "bright/biology", "RR", "25.0", "75.0", "−50.0", "0", "1", "(0)", "1", "system"
    ]  # fmt: skip
    done = command("check", other, "--data", data)
    assert "No findings." in done.stdout
    assert done.stderr == ""


def test_check_groups_findings_by_what_they_change_errors_first(tmp_path: Path, data: Path) -> None:
    run = tmp_path / "biology.trec"
    run.write_text("# why\n0 Q0 x 1 3 t\n0 Q0 a 2 2 t\n0 Q0 b 3 abc t\n")
    lines = command("check", run, "--data", data).stdout.splitlines()
    shown = [line.split()[0] if not line.startswith("Changes") else line for line in lines[3:] if line]
    assert shown == [
        "Changes the score:", "place", "error", "Changes which queries count:", "place", "warning",
        "Changes nothing in the score:", "place", "warning", "3",
    ]  # fmt: skip
    assert lines[-1] == "3 finding(s), 1 of them errors."
    (first, *_) = rows_of("check", run, "--data", data)
    assert first["changes"] in ("the score", "nothing in the score", "which queries count")


@pytest.mark.parametrize("engine", ["sql", "pytrec_eval"])
def test_both_engines_on_the_command_line(tmp_path: Path, data: Path, engine: str) -> None:
    run = write_trec(tmp_path / "biology.trec", {"0": {"x": 3.0, "a": 2.0}, "1": {"never": 2.0, "a": 1.0}})
    found = results_of("eval", run, "--data", data, "--engine", engine, "-m", "nDCG@10", "--per-query")["results"]
    assert found[0]["per_query"] == pytest.approx({"0": 0.6309297535714575, "1": 0.6309297535714575})


@pytest.mark.parametrize(
    "name",
    ["we[1]rd?*.trec", 'it\'s "it".trec', "日本 é.trec", "esc\x1b[31m.trec", "new\nline.trec", "-x.trec", "a=b.trec"],
)
def test_odd_paths(tmp_path: Path, data: Path, name: str) -> None:
    path = write_trec(tmp_path / name, {"0": {"a": 1.0}})
    alone = process("eval", path, "--data", data, "--json")
    assert (alone.returncode, alone.stderr) == (0, "")
    assert json.loads(alone.stdout)["results"][0]["path"] == str(path)
    for options in ([], ["--csv"]):
        done = command("eval", path, "--data", data, *options)
        assert done.returncode == 0
        assert "\x1b" not in done.stderr
        assert done.stderr.count("\n") == 1
    path.write_text("")
    done = command("eval", path)
    assert done.returncode == 2
    assert "\x1b" not in done.stderr
    assert done.stderr.count("\n") == 1


def test_a_file_name_that_is_not_utf8_is_one_line(tmp_path: Path, data: Path) -> None:
    path = os.fsencode(tmp_path) + b"/caf\xe9.trec"
    with open(path, "wb") as file:
        file.write(b"0 Q0 a 1 1 t\n")
    done = subprocess.run(
        [os.fsencode(sys.executable), b"-m", b"bright_inspect", b"eval", path],
        capture_output=True,
        cwd=ROOT,
        check=False,
    )
    assert (done.returncode, done.stdout) == (2, b"")
    assert done.stderr.count(b"\n") == 1
    assert b"not valid UTF-8" in done.stderr


def test_output_that_the_terminal_cannot_spell(tmp_path: Path, data: Path) -> None:
    run = write_trec(tmp_path / "日本.trec", GOOD)
    environment = {**os.environ, "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}
    for options in ([], ["--json"], ["--csv"]):
        done = process("compare", run, f"o={run}", "--data", data, *options, env=environment)
        assert done.returncode == 0, done.stderr
        assert "Traceback" not in done.stderr
    done = process("eval", run, "--data", data, "--json", env=environment)
    assert json.loads(done.stdout)["results"][0]["path"] == str(run)


def test_a_file_called_as_a_command(tmp_path: Path, data: Path) -> None:
    write_trec(tmp_path / "eval", GOOD)
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = process("eval", "./eval", "--task", "biology", "--data", data, "--json", cwd=tmp_path, env=environment)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["results"][0]["path"] == "eval"


@pytest.mark.parametrize("options", [["--csv"], ["--json"], []])
def test_a_reader_that_leaves_early(tmp_path: Path, options: list[str]) -> None:
    run = {f"query{number}": {"a": 1.0} for number in range(20_000)}
    path = write_trec(tmp_path / "r.trec", run)
    qrels = write_qrels(tmp_path / "j.txt", {query_id: {"a": 1} for query_id in run})
    line = [sys.executable, "-m", "bright_inspect", "eval", str(path), "--qrels", str(qrels), "--per-query", *options]
    with subprocess.Popen(line, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.readline()
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait(60) == 0


def test_version_and_help() -> None:
    from bright_inspect import __version__

    assert process("--version").stdout == f"bright-inspect, version {__version__}\n"
    for arguments in (["--help"], ["-h"], ["eval", "--help"], ["compare", "-h"], ["check", "-h"]):
        done = command(*arguments)
        assert (done.returncode, done.stderr) == (0, "")
        assert "Usage: " in done.stdout


def loaded_modules(*arguments: str | Path) -> set[str]:
    """The modules that a command has loaded when it is done."""
    code = (
        "import sys; from bright_inspect.cli import main\n"
        "try: main()\n"
        "except SystemExit as leaving: assert leaving.code == 0, leaving.code\n"
        "finally: print(*sys.modules, file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, *map(str, arguments)], cwd=ROOT, capture_output=True, text=True, check=True
    )
    return set(done.stderr.split())


def test_version_loads_next_to_nothing() -> None:
    modules = loaded_modules("--version")
    assert "bright_inspect.cli" in modules
    heavy = {
        "textual",
        "rich",
        "duckdb",
        "polars",
        "numpy",
        "scipy",
        "huggingface_hub",
        "pytrec_eval",
        "torch",
        "asyncio",
    }
    assert not modules & heavy


@pytest.mark.parametrize("name", ["eval", "compare", "check"])
@pytest.mark.parametrize("output", ["--json", "--csv"])
def test_commands_never_load_the_screen(tmp_path: Path, data: Path, name: str, output: str) -> None:
    runs = [write_trec(tmp_path / folder / "biology.trec", GOOD) for folder in ("a", "b")]
    modules = loaded_modules(name, *runs, "--data", data, output)
    assert "duckdb" in modules
    assert not modules & {"textual", "polars", "scipy", "torch", "huggingface_hub", "rich"}

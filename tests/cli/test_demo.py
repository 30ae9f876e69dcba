"""The demo as a user meets it: its runs in a clone, its command, and what a wheel carries of it."""

from __future__ import annotations

import importlib.util
import json
import os
import pty
import select
import shutil
import struct
import subprocess
import sys
import tarfile
import time
import zipfile
from contextlib import suppress
from fcntl import ioctl
from pathlib import Path
from termios import TIOCSWINSZ
from typing import Any

import pytest

from bright_inspect.demo import RUN_FILES
from tests.support import ROOT, command, process

RUNS = ("runs/bm25@demo_reason.trec", "runs/bm25@original.trec")
DENSE = "minilm@original.trec"
# By pytrec_eval 0.5 (pytrec-eval-terrier 0.5.11) on the runs split at blanks from both ends, once.
NDCG_10 = {
    ("bm25@demo_reason", "kitchen_science"): 0.8528136245145183,
    ("bm25@demo_reason", "city_ecology"): 0.8254426661827964,
    ("bm25@demo_reason", "home_computing"): 0.8798374924996374,
    ("bm25@demo_reason", "contest_maths"): 0.9424526133029193,
    ("bm25", "kitchen_science"): 0.3065735963827292,
    ("bm25", "city_ecology"): 0.2771135783568733,
    ("bm25", "home_computing"): 0.24109596158231753,
    ("bm25", "contest_maths"): 0.22174699126979966,
}
RECALL_10 = {
    ("bm25@demo_reason", "kitchen_science"): 0.9,
    ("bm25@demo_reason", "city_ecology"): 1.0,
    ("bm25@demo_reason", "home_computing"): 1.0,
    ("bm25@demo_reason", "contest_maths"): 1.0,
    ("bm25", "kitchen_science"): 0.3,
    ("bm25", "city_ecology"): 0.36666666666666664,
    ("bm25", "home_computing"): 0.3333333333333333,
    ("bm25", "contest_maths"): 0.26666666666666666,
}
MINILM_NDCG_10 = {
    "kitchen_science": 0.4854112177597125,
    "city_ecology": 0.4766328669841423,
    "home_computing": 0.43077457566321475,
    "contest_maths": 0.3421216594845456,
}
CONTEST_MATHS_NDCG_10 = {
    "demo_olympiad_2021/Problem_4": (1.0, 0.0),
    "demo_olympiad_2019/Problem_2": (1.0, 0.141266973),
    "demo_olympiad_2022/Problem_1": (1.0, 0.0),
    "demo_olympiad_2020/Problem_5": (1.0, 0.0),
    "demo_olympiad_2018/Problem_3": (0.712263067, 0.967467983),
}
WINS_AND_LOSSES = (4, 1)  # in every task


def output_of(*arguments: str, **options: Any) -> dict[str, Any]:
    done = process(*arguments, **options) if options else command(*arguments)
    assert (done.returncode, done.stderr) == (0, "")
    result: dict[str, Any] = json.loads(done.stdout)
    return result


def make_runs(root: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    script = str(root / "runs" / "make.py")
    return subprocess.run(
        [sys.executable, script, *arguments], capture_output=True, text=True, timeout=300, check=False
    )


@pytest.fixture
def maker(tmp_path: Path) -> Any:
    """runs/make.py as a module, over a copy of the runs."""
    shutil.copytree(ROOT / "runs", tmp_path / "runs")
    spec = importlib.util.spec_from_file_location("make_runs", tmp_path / "runs" / "make.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def without_model(maker: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    """The module, as if the model found what the dense run of the repository holds."""
    kept = (ROOT / "runs" / DENSE).read_text(encoding="utf-8")
    monkeypatch.setattr(maker, "made", lambda wanted, cache: maker.read(kept))
    return maker


def edit(maker: Any, name: str, old: str, new: str) -> None:
    path = maker.HERE / name
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")


def test_the_lexical_runs_are_what_make_py_makes() -> None:
    done = make_runs(ROOT, "--check", *RUN_FILES)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.slow
def test_the_dense_run_is_what_make_py_makes() -> None:
    done = make_runs(ROOT, "--check", DENSE)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_a_lexical_run_is_checked_byte_for_byte(maker: Any, capsys: pytest.CaptureFixture[str]) -> None:
    name = RUN_FILES[1]
    first = (maker.HERE / name).read_text(encoding="utf-8").splitlines()[0]
    *others, score, tag = first.split(" ")
    edit(maker, name, first, " ".join([*others, f"{float(score) + 0.000001:.6f}", tag]))
    (maker.HERE / RUN_FILES[0]).unlink()
    assert maker.main(["--check", *RUN_FILES]) == 1
    errors = capsys.readouterr().err
    assert f"{maker.HERE / RUN_FILES[0]}: no such file." in errors
    assert f"{maker.HERE / name}: not what it would be now." in errors
    assert maker.main([*RUN_FILES]) == 0
    assert maker.main(["--check", *RUN_FILES]) == 0


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (0.0009, None),
        (0.002, "query 0, enamelware/Enamelware_3.txt: "),
        (-5.0, "not written or not ordered as it would be"),
    ],
)
def test_a_dense_run_may_differ_by_rounding_only(
    without_model: Any, capsys: pytest.CaptureFixture[str], change: float, told: str | None
) -> None:
    first = (ROOT / "runs" / DENSE).read_text(encoding="utf-8").splitlines()[0]
    *others, score, tag = first.split(" ")
    edit(without_model, DENSE, first, " ".join([*others, f"{float(score) + change:.6f}", tag]))
    assert without_model.main(["--check", DENSE]) == (told is not None)
    assert (told or "") in capsys.readouterr().err


def test_ranks_of_a_dense_run_may_change_with_the_scores_only(without_model: Any) -> None:
    wanted, kept = without_model.RUNS[DENSE], (without_model.HERE / DENSE).read_text(encoding="utf-8")
    lists = without_model.read(kept)
    query_id, docs = next(iter(lists.items()))
    close = [docs[0], docs[0]._replace(doc_id=docs[1].doc_id, score=docs[0].score - 0.0004), *docs[2:]]
    swapped = [close[0]._replace(score=close[0].score - 0.0008), *close[1:]]
    text = "".join(without_model.lines({**lists, query_id: swapped}, wanted.tag))
    assert text.split(" ")[2] == docs[1].doc_id
    assert list(without_model.differences(text, wanted, {**lists, query_id: close})) == []


def test_a_dense_run_has_the_same_queries_and_documents(without_model: Any) -> None:
    wanted, kept = without_model.RUNS[DENSE], (without_model.HERE / DENSE).read_text(encoding="utf-8")
    lists = without_model.read(kept)
    query_id, docs = list(lists.items())[-1]
    shorter = "".join(without_model.lines({**lists, query_id: docs[:-1]}, wanted.tag))
    assert list(without_model.differences(shorter, wanted, lists)) == [f"query {query_id}: other documents"]
    fewer = "".join(without_model.lines({each: lists[each] for each in lists if each != query_id}, wanted.tag))
    assert list(without_model.differences(fewer, wanted, lists)) == ["other queries"]
    assert list(without_model.differences("0 Q0 d 1\n", wanted, lists)) == ["not in TREC format"]


def test_without_its_packages_the_dense_run_is_not_checked(
    maker: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("bright_inspect.retrieval.neural.locating.missing_package", lambda: "to install: a package")
    assert maker.main(["--check", DENSE]) == 0
    assert capsys.readouterr().err == f"{maker.HERE / DENSE}: not checked; to install: a package\n"


def test_the_dense_run_is_scored_without_its_model() -> None:
    result = output_of("eval", f"runs/{DENSE}", "--json", "-m", "nDCG@10")
    assert result["findings"] == []
    means = {row["task"]: row["mean"] for row in result["results"]}
    assert means == pytest.approx(MINILM_NDCG_10, abs=1e-9)


@pytest.mark.parametrize("engine", ["sql", "pytrec_eval"])
def test_eval_needs_no_option_in_a_fresh_clone(engine: str) -> None:
    result = output_of("eval", *RUNS, "--json", "--engine", engine, "-m", "nDCG@10,R@10")
    assert result["findings"] == []
    rows = result["results"]
    assert {row["dataset"] for row in rows} == {"demo"}
    assert all((row["queries"], row["answered"]) == (5, 5) for row in rows)
    for measure, expected in (("nDCG@10", NDCG_10), ("R@10", RECALL_10)):
        means = {(row["run"], row["task"]): row["mean"] for row in rows if row["measure"] == measure}
        assert means == pytest.approx(expected, abs=1e-9)


def test_compare_needs_no_option_in_a_fresh_clone() -> None:
    result = output_of("compare", *RUNS, "--json")
    assert result["findings"] == []
    assert len(result["results"]) == 4
    for row in result["results"]:
        task = row["task"]
        delta = NDCG_10["bm25@demo_reason", task] - NDCG_10["bm25", task]
        assert (row["run"], row["baseline"], row["differs"]) == ("bm25@demo_reason", "bm25", ["variant"])
        assert row["delta"] == pytest.approx(delta, abs=1e-9)
        assert (row["win"], row["loss"]) == WINS_AND_LOSSES
    maths = next(row for row in result["results"] if row["task"] == "contest_maths")
    values = {query["query_id"]: (query["run"], query["baseline"]) for query in maths["per_query"]}
    assert values.keys() == CONTEST_MATHS_NDCG_10.keys()
    for query_id, expected in CONTEST_MATHS_NDCG_10.items():
        assert values[query_id] == pytest.approx(expected, abs=1e-8)


def test_check_finds_nothing_odd_in_the_runs() -> None:
    done = command("check", "runs", "--strict")
    assert (done.returncode, done.stderr) == (0, "")


def test_demo_needs_a_terminal() -> None:
    done = process("demo", stdin=subprocess.DEVNULL)
    assert done.returncode == 2
    assert "the screen needs a terminal" in done.stderr
    assert done.stderr.count("\n") == 1


def run_on_a_terminal(arguments: list[str], until: str, keys: str, cwd: Path) -> int:
    """Run the program on a terminal of 120×34 until the text is painted, press keys, and wait for its exit code."""
    ours, theirs = pty.openpty()
    ioctl(theirs, TIOCSWINSZ, struct.pack("HHHH", 34, 120, 0, 0))
    program = [sys.executable, "-m", "bright_inspect", *arguments]
    environment = {**os.environ, "TERM": "xterm-256color"}
    seen, deadline = b"", time.monotonic() + 60
    with subprocess.Popen(program, stdin=theirs, stdout=theirs, stderr=theirs, cwd=cwd, env=environment) as process:
        os.close(theirs)
        try:
            while process.poll() is None and time.monotonic() < deadline:
                if select.select([ours], [], [], 0.1)[0]:
                    with suppress(OSError):  # Linux raises when the other end is closed.
                        seen += os.read(ours, 65536)
                if keys and until.encode() in seen:
                    os.write(ours, keys.encode())
                    keys = ""
        finally:
            process.kill()
            os.close(ours)
    assert not keys, f"{until!r} was not painted: {seen[-3000:].decode(errors='replace')}"
    return process.returncode


def test_demo_opens_anywhere_on_the_overview_and_q_leaves_it(tmp_path: Path) -> None:
    assert run_on_a_terminal(["demo"], "mean of", "q", tmp_path) == 0


@pytest.mark.slow
def test_a_wheel_carries_the_demo_and_nothing_beside_the_package(tmp_path: Path) -> None:
    for kind in ("wheel", "sdist"):
        subprocess.run(
            [sys.executable, "-m", "hatchling", "build", "-t", kind, "-d", str(tmp_path / "dist")],
            cwd=ROOT,
            check=True,
            capture_output=True,
            timeout=300,
        )
    (wheel,) = (tmp_path / "dist").glob("*.whl")
    site = tmp_path / "site"
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        archive.extractall(site)
    assert {name.split("/")[0] for name in names if ".dist-info/" not in name} == {"bright_inspect"}
    assert {f"bright_inspect/demo/runs/{name}" for name in RUN_FILES} <= set(names)
    assert sum(name.startswith("bright_inspect/demo/data/") for name in names) == 12
    assert not [name for name in names if name.endswith("runs/make.py")]
    _works_from(site, tmp_path)

    (sdist,) = (tmp_path / "dist").glob("*.tar.gz")
    with tarfile.open(sdist) as source:
        files = {name.partition("/")[2] for name in source.getnames()}
    assert {f"runs/{name}" for name in (*RUN_FILES, DENSE, "make.py", "README.md")} <= files
    assert not [name for name in files if name.startswith(("tests/", "screenshots/"))]


def _works_from(site: Path, elsewhere: Path) -> None:
    """The unpacked wheel finds its own runs and data, with no repository in sight."""
    environment = {**os.environ, "PYTHONPATH": str(site)}
    script = "from bright_inspect.demo import demo_runs; print(*demo_runs(), sep='\\n')"
    paths = subprocess.run(
        [sys.executable, "-c", script], cwd=elsewhere, env=environment, text=True, capture_output=True, check=True
    ).stdout.splitlines()
    assert [Path(path).parent for path in paths] == [(site / "bright_inspect" / "demo" / "runs").resolve()] * 2
    result = output_of("eval", *paths, "--json", cwd=elsewhere, env=environment)
    means = {(row["run"], row["task"]): row["mean"] for row in result["results"]}
    assert means == pytest.approx(NDCG_10, abs=1e-9)

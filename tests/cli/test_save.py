"""``save``: what it refuses, what it says, and real runs that open as they were."""

from __future__ import annotations

import csv
import hashlib
import re
import resource
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import pytest

from tests.store.test_saved_session import alike, answer, small
from tests.support import ROOT, command
from tests.tui.driving import AppPilot, app_of, driven, press, queries, reader_of, shown


@pytest.fixture
def inputs(tmp_path: Path) -> Path:
    return tmp_path / "inputs"


def test_it_overwrites_nothing(inputs: Path) -> None:
    arguments, out = small(inputs), inputs / "s.duckdb"
    part = inputs / "s.duckdb.part"
    for path, told in ((out, "there already"), (part, "there already")):
        path.write_text("mine")
        done = command("save", *arguments, "--out", out)
        assert (done.returncode, done.stderr.count("\n")) == (2, 1)
        assert f"{path}: {told}" in done.stderr
        assert path.read_text() == "mine"
        path.unlink()
    done = command("save", *arguments, "--out", inputs / "nowhere" / "s.duckdb")
    assert (done.returncode, "no such folder" in done.stderr) == (2, True)
    done = command("save", *arguments, "--out", out, "--measure", "niceness")
    assert (done.returncode, "niceness" in done.stderr) == (2, True)
    assert not out.exists()
    done = command("save", *arguments, "--out", out)
    assert (done.returncode, done.stderr) == (0, "")
    assert re.fullmatch(rf"{re.escape(str(out))}: 2 runs, bright/biology, \d+\.\d MB\.\n", done.stdout)
    assert not part.exists()


def limited_to(size: int) -> Callable[[], None]:
    return lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))


@pytest.mark.skipif(sys.platform != "linux", reason="limits of file sizes")
def test_a_full_disk_is_one_line(inputs: Path) -> None:
    arguments, out = small(inputs), inputs / "s.duckdb"
    done = subprocess.run(
        [sys.executable, "-m", "bright_inspect", "save", *map(str, arguments), "--out", str(out)],
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
        preexec_fn=limited_to(600_000),
    )
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1), done.stderr
    assert done.stderr.startswith(f"bright-inspect: {out}: the session was not saved (")
    assert list(inputs.glob("s.duckdb*")) == []


def readme_query() -> str:
    (found,) = re.findall(r"<!-- saved-query -->\n```sql\n((?s:.*?))```", (ROOT / "README.md").read_text("utf-8"))
    return str(found)


@pytest.fixture
def earth_science(bright_data: Path, tmp_path: Path) -> list[str | Path]:
    """Copies of real inputs, which can be taken away: two runs, the data, and a second layer."""
    inputs = tmp_path / "inputs"
    names = (
        "runs/reasonir/earth_science.txt",
        "outputs/earth_science_bm25_long_False",
        "bright",
        "qrels/qrels.bright-earth-science.fixed.txt",
    )
    for name in names:
        source, target = bright_data / name, inputs / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            shutil.copytree(source, target, ignore=lambda folder, held: [n for n in held if _of_other_task(n)])
        else:
            shutil.copy(source, target)
    reasonir, bm25, data, fixed = (inputs / name for name in names)
    return [reasonir, bm25, "--data", data, "--qrels", f"fixed={fixed}", "--layer", "original"]


def _of_other_task(name: str) -> bool:
    return "." in name and "-0000" in name and not name.startswith("earth_science")


NUMBERS = (
    ("eval", "--per-query"),
    ("eval", "--layer", "fixed", "-m", "AP@100,R@100"),
    ("compare",),
    ("compare", "--ties", "file", "--baseline", "reasonir"),
    ("layers",),
    ("layers", "--difference", "original", "fixed"),
    ("check",),
    ("explain", "--query", "earth_science/37"),
)


def test_real_runs_say_the_same_without_their_inputs(earth_science: list[str | Path], tmp_path: Path) -> None:
    out = tmp_path / "es.duckdb"
    before: list[Any] = [answer(name, *earth_science, *options) for name, *options in NUMBERS]
    hits = answer("eval", *earth_science, "-m", "P@1")["results"]
    assert command("save", *earth_science, "--out", out).returncode == 0
    (tmp_path / "inputs").rename(tmp_path / "gone")
    shutil.rmtree(tmp_path / "isolated")
    digest = hashlib.sha256(out.read_bytes()).hexdigest()
    for (name, *options), wanted in zip(NUMBERS, before, strict=True):
        if name == "check":
            wanted["passed_over"] = []  # what else lay in the folder is no part of the session
        assert alike(answer(name, out, *options), wanted), (name, *options)
    with duckdb.connect(str(out), read_only=True) as connection:
        found = {label: value for label, _, value in connection.execute(readme_query()).fetchall()}
    assert found == {row["run"]: pytest.approx(row["mean"]) for row in hits}
    assert 0.3 < found["reasonir"] < 0.7
    assert hashlib.sha256(out.read_bytes()).hexdigest() == digest


async def seen(pilot: AppPilot) -> list[Any]:
    """The rows and lines of the Queries screen, and the texts and lists of its first query."""
    told: list[Any] = [[(row.key, row.text, row.values) for row in queries(pilot).shown]]
    told.append(shown(pilot))
    await press(pilot, "enter")
    told.append(shown(pilot))
    for _ in range(4):
        await press(pilot, "right")
        told.append(reader_of(pilot).text)
    return told


async def test_the_screen_is_the_same(earth_science: list[str | Path], tmp_path: Path) -> None:
    reasonir, bm25, _, data, _, fixed, *_ = earth_science
    out = tmp_path / "es.duckdb"
    assert command("save", *earth_science, "--out", out).returncode == 0
    async with driven(app_of(reasonir, bm25, data=Path(data), qrels=[str(fixed)], layer="original")) as pilot:
        before = await seen(pilot)
    (tmp_path / "inputs").rename(tmp_path / "gone")
    async with driven(app_of(out)) as pilot:
        after = await seen(pilot)
    assert len(before[0]) == 116
    assert alike([list(row[2]) for row in after[0]], [list(row[2]) for row in before[0]])
    assert [row[:2] for row in after[0]] == [row[:2] for row in before[0]]
    assert after[1:] == before[1:]


async def test_the_measure_saved_is_opened(inputs: Path) -> None:
    out = inputs / "s.duckdb"
    assert command("save", *small(inputs), "--out", out, "--measure", "RR").returncode == 0
    async with driven(app_of(out)) as pilot:
        assert "RR" in shown(pilot).splitlines()[0]
    for name, asked in (("eval", ()), ("compare", ()), ("explain", ()), ("eval", ("-m", "P@2"))):
        told = csv.DictReader(command(name, out, *asked, "--csv").stdout.splitlines())
        assert {row["measure"] for row in told} == {asked[-1] if asked else "RR"}

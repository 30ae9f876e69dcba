"""Fetching BRIGHT from a hub of the tests' own: what comes, what is kept, and what is said when it does not come."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from bright_inspect.datasets.hub import choose_files, megabytes
from bright_inspect.db import Database, path_literal
from bright_inspect.errors import UsageError
from tests.cli.hub import COMMIT, Hub, serving
from tests.support import ROOT, command, example, process, write_bright, write_trec

EXAMPLES = "examples/biology-00000-of-00001.parquet"
DOCUMENTS = "documents/biology-00000-of-00001.parquet"


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    folder = tmp_path_factory.mktemp("hub")
    lines = write_bright(folder / "lines", {"biology": [example("0", ["g"])], "pony": [example("0", ["p"])]})
    write_bright(lines, {"biology": [{"id": "g", "content": "words " * 2000}]}, "documents")
    served = {"README.md": b"# BRIGHT", ".gitattributes": b""}
    with Database() as database:
        for path in sorted(lines.glob("*/*.jsonl")):
            parquet = folder / "x.parquet"
            database.cursor().execute(f"COPY (FROM read_json({path_literal(path)})) TO {path_literal(parquet)}")
            served[f"{path.parent.name}/{path.stem}-00000-of-00001.parquet"] = parquet.read_bytes()
    served["gpt4_reason/biology-00000-of-00001.parquet"] = served[EXAMPLES]
    served["long_documents/biology-00000-of-00001.parquet"] = served[DOCUMENTS]
    return served


@pytest.fixture
def hub(files: dict[str, bytes]) -> Iterator[Hub]:
    with serving(files) as hub:
        yield hub


def environment(hub: Hub | None) -> dict[str, str]:
    return {
        **os.environ,
        "HF_ENDPOINT": hub.url if hub else "http://127.0.0.1:9",
        "HF_HUB_OFFLINE": "0",
        "HF_HUB_ETAG_TIMEOUT": "5",
        "HF_HUB_DOWNLOAD_TIMEOUT": "5",
    }


def fetch(hub: Hub | None, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
    return process("fetch", "bright", *arguments, env=environment(hub))


def test_into_a_folder_and_only_once(tmp_path: Path, hub: Hub, files: dict[str, bytes]) -> None:
    folder = tmp_path / "my data"
    done = fetch(hub, "--to", folder)
    assert (done.returncode, done.stdout) == (0, f"{folder}\n")
    fetched = {path for path in files if path.endswith(".parquet") and not path.startswith("long")}
    assert set(hub.fetched()) == fetched
    assert {path: (folder / path).read_bytes() for path in fetched} == {path: files[path] for path in fetched}
    assert f"4 files, 0.0 MB, xlangai/BRIGHT at {COMMIT[:7]}" in done.stderr
    assert f"--data '{folder}' RUN..." in done.stderr
    assert fetch(hub, "--to", folder).returncode == 0
    assert len(hub.gets) == 4
    run = write_trec(tmp_path / "biology.trec", {"0": {"g": 1.0}})
    assert "100.0" in command("eval", run, "--data", folder).stdout


def test_into_the_cache_where_it_is_found(tmp_path: Path, hub: Hub) -> None:
    done = fetch(hub, "--task", "biology", "--config", "examples")
    assert (done.returncode, hub.fetched()) == (0, [EXAMPLES])
    folder = Path(done.stdout.strip())
    assert (folder.name, (folder / EXAMPLES).is_file()) == (COMMIT, True)
    run = write_trec(tmp_path / "biology.trec", {"0": {"x": 2.0, "g": 1.0}})
    found = process("eval", run, "-m", "RR", env={**os.environ, "HF_HUB_OFFLINE": "1"})
    assert "50.0" in found.stdout


def test_a_broken_connection_is_taken_up_where_it_broke(tmp_path: Path, hub: Hub, files: dict[str, bytes]) -> None:
    chunk = 10 * 1024 * 1024
    path = "documents/pony-00000-of-00001.parquet"
    content = os.urandom(chunk + 5000)
    hub.files = {**files, path: content}
    hub.cut[path] = chunk + 100
    done = fetch(hub, "--to", tmp_path / "d", "--task", "pony", "--config", "documents")
    assert done.returncode == 0
    assert hub.gets == [(path, None), (path, f"bytes={chunk}-")]
    assert (tmp_path / "d" / path).read_bytes() == content


def test_after_ctrl_c_only_the_rest_is_fetched(tmp_path: Path, hub: Hub, files: dict[str, bytes]) -> None:
    hub.stalled.add(DOCUMENTS)
    arguments = ["--to", str(tmp_path / "d"), "--task", "biology", "--config", "examples,documents"]
    with subprocess.Popen(
        [sys.executable, "-m", "bright_inspect", "fetch", "bright", *arguments],
        stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment(hub), cwd=ROOT,
    ) as process:  # fmt: skip
        try:
            deadline = time.monotonic() + 30
            while DOCUMENTS not in hub.fetched() and time.monotonic() < deadline:
                time.sleep(0.05)
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=20)
        finally:
            process.kill()
    assert (process.returncode, out) == (130, "")
    assert "stopped; 1 of 2 files are there, the same command fetches the rest." in err
    assert "Traceback" not in err
    hub.stalled.clear()
    hub.stall.set()
    hub.gets.clear()
    assert fetch(hub, *arguments).returncode == 0
    assert hub.fetched() == [DOCUMENTS]
    assert (tmp_path / "d" / DOCUMENTS).read_bytes() == files[DOCUMENTS]


def test_a_file_of_another_size_is_not_kept(tmp_path: Path, hub: Hub) -> None:
    hub.told_sizes[EXAMPLES] = 7
    done = fetch(hub, "--to", tmp_path / "d", "--task", "biology", "--config", "examples")
    assert done.returncode == 2
    assert "a file came with another size than it should" in done.stderr
    assert not (tmp_path / "d" / EXAMPLES).exists()


@pytest.mark.parametrize(
    ("refuse", "arguments", "said"),
    [
        (None, ["--revision", "nope"], "xlangai/BRIGHT has no revision 'nope'"),
        (None, ["--config", "exmples"], "no config 'exmples'. There are documents, examples, gpt4_reason"),
        (None, ["--task", "biologie"], "no task 'biologie'. There are biology, pony"),
        (None, ["--task", "pony", "--config", "documents"], "no file of these tasks and configs"),
        ((403, "GatedRepo"), [], "access must be asked for"),
        ((401, "RepoNotFound"), [], "is not to be found at http://127.0.0.1"),
        ((500, "broken"), [], "HTTP 500"),
    ],
)
def test_what_goes_wrong_is_one_line(
    tmp_path: Path, hub: Hub, refuse: tuple[int, str] | None, arguments: list[str], said: str
) -> None:
    hub.refuse = refuse
    done = fetch(hub, "--to", tmp_path / "d", *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stderr.splitlines()[-1].startswith("bright-inspect: ")
    assert hub.gets == []


def test_without_a_network(tmp_path: Path) -> None:
    done = fetch(None, "--to", tmp_path / "d")
    assert (done.returncode, done.stdout) == (2, "")
    assert "http://127.0.0.1:9 cannot be reached (" in done.stderr
    offline = process("fetch", "bright", env={**environment(None), "HF_HUB_OFFLINE": "1"})
    assert (offline.returncode, "HF_HUB_OFFLINE is set" in offline.stderr) == (2, True)


def test_without_room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import shutil

    from bright_inspect.datasets.hub import _require_room
    from bright_inspect.errors import BrightInspectError

    (tmp_path / "there.parquet").write_bytes(b"1234567")
    monkeypatch.setattr(shutil, "disk_usage", lambda path: shutil._ntuple_diskusage(100, 95, 5))
    _require_room(tmp_path, {"there.parquet": 7, "b.parquet": 5}, COMMIT)
    with pytest.raises(BrightInspectError, match=r"0\.0 MB to fetch, but only 0\.0 MB free"):
        _require_room(tmp_path / "new" / "er", {"there.parquet": 7}, COMMIT)


def test_choosing_files() -> None:
    paths = [
        "documents/a-0.parquet",
        "documents/a-1.parquet",
        "x_reason/a-0.parquet",
        "examples/b.parquet",
        "README.md",
    ]
    assert choose_files(paths, [], ["examples", "*_reason"]) == ["examples/b.parquet", "x_reason/a-0.parquet"]
    assert choose_files(paths, ["a"], ["*"]) == [*paths[:2], "x_reason/a-0.parquet"]
    with pytest.raises(UsageError, match="no config 'exampels'"):
        choose_files(paths, [], ["exampels"])


@pytest.mark.parametrize(
    ("size", "text"), [(0, "0.0 MB"), (400_000, "0.4 MB"), (120_000_000, "120 MB"), (1_300_000_000, "1.3 GB")]
)
def test_sizes(size: int, text: str) -> None:
    assert megabytes(size) == text

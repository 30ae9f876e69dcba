"""``encode``: a corpus made ready for a retriever, broken off and gone on with."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from tests.support import ROOT, Done, command, example, process, write_bright

OWN = "tests.cli.own_models:make"


def write_data(folder: Path, documents: dict[str, str]) -> Path:
    rows = [{"id": doc_id, "content": text} for doc_id, text in documents.items()]
    write_bright(folder, {"biology": [example("0", [next(iter(documents))])]})
    return write_bright(folder, {"biology": rows}, "documents")


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return write_data(tmp_path / "data", {f"d{number}": f"text number {number}" for number in range(9)})


def encode(data: Path, retriever: str, *options: str, **environment: str) -> Done | subprocess.CompletedProcess[str]:
    arguments: tuple[str | Path, ...] = (
        "encode",
        "--task",
        "biology",
        "--data",
        data,
        "--retriever",
        retriever,
        *options,
    )
    return process(*arguments, env={**os.environ, **environment}) if environment else command(*arguments)


def started(data: Path, retriever: str, *options: str, **environment: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "bright_inspect", "encode", "--task", "biology", "--data", str(data),
         "--retriever", retriever, *options],
        cwd=ROOT, env={**os.environ, **environment}, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip


def test_a_corpus_is_encoded_once(data: Path, tmp_path: Path) -> None:
    log = tmp_path / "log"
    for _ in range(2):
        done = encode(data, OWN, OWN_LOG=str(log))
        assert (done.returncode, done.stdout) == (0, ""), done.stderr
        assert done.stderr.startswith("9 documents of bright/biology are ready for hash, after ")
        assert len(done.stderr.splitlines()) == 1
    assert sorted(log.read_text().splitlines()) == [f"text number {number}" for number in range(9)]
    (folder,) = (tmp_path / "isolated" / "cache" / "retrieval" / "dense").iterdir()
    assert (folder / "vectors").stat().st_size == 9 * 8 * 4
    searched = process(
        "retrieve", "--task", "biology", "--data", data, "--retriever", OWN, "--out", tmp_path / "run.trec",
        env={**os.environ, "OWN_LOG": str(log)},
    )  # fmt: skip
    assert searched.returncode == 0, searched.stderr
    assert len(log.read_text().splitlines()) == 9


def test_what_bm25_needs(data: Path, tmp_path: Path) -> None:
    done = encode(data, "bm25")
    assert done.returncode == 0
    assert done.stderr.startswith("9 documents of bright/biology are ready for bm25, after ")
    assert list((tmp_path / "isolated" / "cache" / "retrieval" / "bm25").iterdir())


@pytest.mark.parametrize(
    ("retriever", "options", "message"),
    [
        ("dense:no/such-model", (), "the model 'no/such-model' is not on this machine. Get it with: hf download no/su"),
        ("reasonir", (), "the model 'reasonir/ReasonIR-8B' is not on this machine."),
        ("dense:no/such-folder/x", (), "there is no folder 'no/such-folder/x', and it is no name on the Hugging Face"),
        ("dense:.", (), ".: no modules.json in it"),
        ("dense:", (), "dense cannot be imported: ModuleNotFoundError"),
        ("nothing", (), "'nothing' is not a retriever"),
        ("minilm", ("--batch-size", "0"), "0 is not in the range x>=1"),
        ("minilm", ("--max-length", "0"), "0 is not in the range x>=1"),
        ("minilm", ("--precision", "float64"), "'float64' is not one of"),
        ("dense:bright_inspect", ("--revision", "abc"), "a folder has no revision 'abc'"),
    ],
)
def test_what_cannot_be_is_one_line(data: Path, retriever: str, options: tuple[str, ...], message: str) -> None:
    done = encode(data, retriever, *options)
    assert done.returncode == 2
    assert message in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_a_task_without_documents(tmp_path: Path) -> None:
    folder = write_bright(tmp_path / "data", {"biology": [example("0", ["d0"])]})
    done = encode(folder, "bm25")
    assert done.returncode == 2
    assert "no documents at hand for bright/biology" in done.stderr


def lines_of(log: Path) -> list[str]:
    return log.read_text().splitlines() if log.exists() else []


def test_ctrl_c_stops_and_it_goes_on(data: Path, tmp_path: Path) -> None:
    log = tmp_path / "log"
    with started(data, OWN, OWN_LOG=str(log), OWN_PAUSE="0.4") as process:
        try:
            while len(lines_of(log)) < 4 and process.poll() is None:
                time.sleep(0.05)
            process.send_signal(signal.SIGINT)
            stdout, stderr = process.communicate(timeout=20)
        finally:
            process.kill()
    assert (process.returncode, stdout, stderr.strip()) == (130, "", "")
    assert 4 <= len(lines_of(log)) <= 6
    done = encode(data, OWN, OWN_LOG=str(log))
    assert done.returncode == 0, done.stderr
    assert len(lines_of(log)) == 9, "nothing was encoded twice"


def vector_files(cache: Path) -> list[Path]:
    return [next(cache.rglob(name), cache / "none") for name in ("vectors", "batches")]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("retriever", "dimensions", "batch", "kills"), [(OWN, 8, 2, 5), ("minilm", 384, 8, 1)], ids=["own", "minilm"]
)
def test_killed_at_any_moment_it_goes_on_to_the_same_vectors(
    tmp_path: Path, retriever: str, dimensions: int, batch: int, kills: int
) -> None:
    moments = random.Random(7)
    words = ["tide", "moon", "reef", "coral", "ozone", "water", "spring", "layer", "warm", "light"]
    documents = {
        f"d{number}": " ".join(moments.choices(words, k=moments.randint(1, 60))) for number in range(25 * batch)
    }
    data = write_data(tmp_path / "data", documents)
    options = ("--device", "cpu", "--batch-size", str(batch))
    environment: dict[str, Any] = {"BRIGHT_INSPECT_CACHE": str(tmp_path / "whole"), "OWN_PAUSE": "0.02"}
    assert encode(data, retriever, *options, **environment).returncode == 0
    whole = [path.read_bytes() for path in vector_files(tmp_path / "whole")]
    assert len(whole[1]) == 25 * 12

    environment["BRIGHT_INSPECT_CACHE"] = str(tmp_path / "killed")
    kept = 0
    for number in range(kills):
        wanted = 12 * moments.randint(5 * number, 5 * number + 3)
        with started(data, retriever, *options, **environment) as process:
            try:
                while process.poll() is None:
                    vectors, batches = vector_files(tmp_path / "killed")
                    size = batches.stat().st_size if batches.exists() else 0
                    assert size >= kept, "what is whole is not encoded again"
                    if size >= wanted and size + bool(wanted):
                        time.sleep(moments.random() / 20)
                        break
                    time.sleep(0.002)
            finally:
                process.kill()
        vectors, batches = vector_files(tmp_path / "killed")
        records = batches.stat().st_size // 12 if batches.exists() else 0
        rows = vectors.stat().st_size // (4 * dimensions) if vectors.exists() else 0
        assert batch * records <= rows <= batch * (records + 1), "at most one batch is lost"
        kept = 12 * records
    assert 0 < kept < len(whole[1])
    assert encode(data, retriever, *options, **environment).returncode == 0
    assert [path.read_bytes() for path in vector_files(tmp_path / "killed")] == whole

"""``rewrite`` against a real server on loopback: whole tasks, killed and gone on with, failures, and single queries."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from tests.retrieval import chat_faults
from tests.retrieval import server as faults
from tests.retrieval.server import ModelServer, model_server
from tests.support import ROOT, Done, command

__all__ = ["model_server"]

TASK = ("--task", "kitchen_science", "--dataset", "demo")
WRITER = ("--writer", "endpoint:bag-of-words")
KEY = "sk-secret-0123456789abcdef"
IDS = {"0", "1", "2", "3", "4"}


@pytest.fixture(autouse=True)
def server_of_the_environment(model_server: ModelServer, monkeypatch: pytest.MonkeyPatch) -> None:
    model_server.key = KEY
    monkeypatch.setenv("BRIGHT_INSPECT_ENDPOINT", model_server.url)
    monkeypatch.setenv("BRIGHT_INSPECT_API_KEY", KEY)


def rewrite(out: Path | None, *more: str | Path) -> Done:
    kept = () if out is None else ("--variant", "words", "--out", out)
    done = command("rewrite", *TASK, *WRITER, *kept, *more)
    assert KEY not in done.stdout + done.stderr
    return done


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_a_whole_task_is_rewritten_with_all_that_made_it(tmp_path: Path, model_server: ModelServer) -> None:
    out = tmp_path / "made" / "words.jsonl"
    model_server.thinks = "it is about food"
    done = rewrite(out, "--temperature", "0", "--max-tokens", "500", "--seed", "3")
    assert done.returncode == 0, done.stderr
    assert "5 queries of demo/kitchen_science rewritten by endpoint:bag-of-words; it has 5 of 5." in done.stderr
    assert done.stdout == ""
    made = lines(out)
    assert {line["query_id"] for line in made} == IDS
    for line in made:
        assert line["query"].startswith("What explains: ")
        assert (line["reasoning"], line["model"], line["finish"]) == ("it is about food", "bag-of-words", "stop")
        assert line["settings"] == {"temperature": 0.0, "max_tokens": 500, "seed": 3}
        assert "{query}" in line["prompt"]
        assert line["seconds"] >= 0
    sidecar = json.loads((tmp_path / "made" / "words.jsonl.json").read_text())
    assert (sidecar["variant"], sidecar["rewrites"], sidecar["failures"]) == ("words", 5, 0)
    assert sidecar["made_by"].startswith("bright-inspect ")
    assert not any(KEY in path.read_text() for path in out.parent.iterdir())
    asked = len(model_server.asked)
    again = rewrite(out, "--temperature", "0", "--max-tokens", "500", "--seed", "3")
    assert again.returncode == 0
    assert "5 of those asked for were there before" in again.stderr
    assert len(model_server.asked) == asked
    other = rewrite(out, "--temperature", "1")
    assert other.returncode == 2
    assert "words.jsonl:1: made with settings" in other.stderr


def test_failures_are_listed_kept_apart_and_asked_again(tmp_path: Path, model_server: ModelServer) -> None:
    out = tmp_path / "words.jsonl"
    model_server.faults = [chat_faults.cut_by_length, chat_faults.events(faults_said_nothing())]
    done = rewrite(out, "--retries", "0", "--concurrency", "1")
    assert done.returncode == 1
    assert "2 failed and have no rewrite:" in done.stderr
    assert ", asked once: the answer is cut at the limit of tokens" in done.stderr
    assert "--max-tokens" in done.stderr
    assert "the answer is empty" in done.stderr
    failed = {line["query_id"] for line in lines(Path(f"{out}.failures.jsonl"))}
    assert len(failed) == 2
    assert {line["query_id"] for line in lines(out)} == IDS - failed
    done = rewrite(out)
    assert done.returncode == 0
    assert "2 queries of demo/kitchen_science rewritten" in done.stderr
    assert sorted(line["query_id"] for line in lines(out)) == sorted(IDS)
    assert not Path(f"{out}.failures.jsonl").exists()


def faults_said_nothing() -> dict[str, object]:
    return chat_faults.said("", "stop")


def test_faults_that_pass_cost_no_query(tmp_path: Path, model_server: ModelServer) -> None:
    out = tmp_path / "words.jsonl"
    model_server.faults = [
        faults.status(429, None, Retry_After="0"), chat_faults.cut_midway, faults.status(500),
        chat_faults.events({"error": {"message": "busy"}}), faults.text("<html>"), chat_faults.dropped_midway,
    ]  # fmt: skip
    done = rewrite(out, "--retries", "5", "--concurrency", "5")
    assert done.returncode == 0, done.stderr
    assert sorted(line["query_id"] for line in lines(out)) == sorted(IDS)


def test_what_all_queries_would_meet_ends_the_run(tmp_path: Path, model_server: ModelServer) -> None:
    out = tmp_path / "words.jsonl"
    model_server.key = "another"
    done = rewrite(out)
    assert done.returncode == 2
    assert "refuses the key in BRIGHT_INSPECT_API_KEY" in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert not list(tmp_path.glob("words*"))
    assert len(model_server.asked) <= 4


def started(out: Path) -> subprocess.Popen[bytes]:
    arguments = [sys.executable, "-m", "bright_inspect", "rewrite", *TASK, *WRITER, "--variant", "w", "--out", str(out)]
    return subprocess.Popen([*arguments, "--concurrency", "2"], cwd=ROOT, stderr=subprocess.PIPE, env=os.environ.copy())


def until_lines(out: Path, count: int, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + 20
    while not out.exists() or out.read_bytes().count(b"\n") < count:
        assert time.monotonic() < deadline
        assert process.poll() is None
        time.sleep(0.005)


def test_killed_and_interrupted_it_loses_no_line_and_doubles_none(tmp_path: Path, model_server: ModelServer) -> None:
    out = tmp_path / "words.jsonl"
    model_server.slow = 0.01
    with started(out) as process:
        until_lines(out, 1, process)
        process.kill()
    first = out.read_bytes()
    whole = first.splitlines(keepends=True)
    assert 0 < len(whole) < 5
    out.write_bytes(first + b'{"query_id": "0", "que')  # what a kill within a write leaves
    with started(out) as process:
        until_lines(out, len(whole) + 1, process)
        process.send_signal(signal.SIGINT)
        told = process.communicate(timeout=20)[1]
        assert process.returncode == 130, told
        assert b"the same command goes on there" in told
    second = out.read_bytes()
    assert second.startswith(first)
    assert second.endswith(b"\n")
    model_server.slow = 0
    done = command("rewrite", *TASK, *WRITER, "--variant", "w", "--out", out)
    assert done.returncode == 0, done.stderr
    assert out.read_bytes().startswith(second)
    assert sorted(line["query_id"] for line in lines(out)) == sorted(IDS)


def test_single_queries_are_printed(model_server: ModelServer, tmp_path: Path) -> None:
    done = rewrite(None, "--query", "2")
    assert done.returncode == 0
    assert done.stdout.startswith("What explains: ")
    several = json.loads(rewrite(None, "--query", "4", "--query", "2", "--json").stdout)
    assert [each["query_id"] for each in several] == ["2", "4"]
    assert several[0]["query"] == done.stdout.strip()
    model_server.fault = chat_faults.events(chat_faults.said("a\x1b[2J\nb", "stop"))
    assert rewrite(None, "--query", "2").stdout == "a␛[2J\nb\n"
    model_server.fault = chat_faults.cut_midway
    failed = rewrite(None, "--query", "2", "--retries", "0")
    assert (failed.returncode, failed.stdout) == (1, "")
    assert "without an end" in failed.stderr
    absent = rewrite(None, "--query", "99")
    assert absent.returncode == 2
    assert "has no query '99'. It has" in absent.stderr


def test_a_prompt_of_ones_own(tmp_path: Path, model_server: ModelServer) -> None:
    shown = command("rewrite", *TASK, "--show-prompt").stdout
    prompt = tmp_path / "mine.txt"
    prompt.write_text("Mine, and nothing but mine.\n{query} Thanks")
    assert "{query}" in shown
    out = tmp_path / "words.jsonl"
    assert rewrite(out, "--prompt", prompt, "--query", "1").returncode == 0
    (made,) = lines(out)
    assert made["prompt"] == prompt.read_text()
    assert made["prompt_source"] == str(prompt)
    assert model_server.asked[-1].body["messages"][0]["content"].startswith("Mine, and nothing but mine.\n")
    assert rewrite(out, "--prompt", prompt).returncode == 0, "the other queries join it"
    assert len(lines(out)) == 5
    prompt.write_text("no place")
    done = rewrite(out, "--prompt", prompt)
    assert done.returncode == 2
    assert "no {query} in the prompt" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (("--query", "1"), "no writer is named"),
        (("--writer", "gpt", "--query", "1"), "'gpt' is no model that writes"),
        (("--writer", "endpoint:", "--query", "1"), "names no model"),
        ((*WRITER,), "no file is named for the rewrites"),
        ((*WRITER, "--out", "x.jsonl"), "the rewrites have no name"),
        ((*WRITER, "--out", "x.jsonl", "--variant", "original"), "original is no name for rewrites"),
        ((*WRITER, "--query", "1", "--from-variant", "none"), "has no variant 'none'"),
        (("--writer", "transformers:no/model", "--query", "1"), "'no/model' is not on this machine"),
    ],
)
def test_mistakes_are_told_in_a_line(arguments: tuple[str, ...], problem: str) -> None:
    done = command("rewrite", *TASK, *arguments)
    assert done.returncode == 2
    assert problem in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_a_device_is_not_written_and_stays(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    done = command("rewrite", *TASK, *WRITER, "--variant", "v", "--out", pipe)
    assert (done.returncode, "a pipe or a device, not a file" in done.stderr) == (2, True)
    assert pipe.exists()


def test_without_a_server(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("BRIGHT_INSPECT_ENDPOINT")
    done = rewrite(None, "--query", "1")
    assert done.returncode == 2
    assert "No server is named" in done.stderr
    listed = json.loads(command("models", "--json").stdout)
    writers = {each["name"]: each["needs"] for each in listed if each["kind"] == "writer"}
    assert "BRIGHT_INSPECT_ENDPOINT" in writers["endpoint:MODEL"]
    with contextlib.suppress(KeyError):
        assert writers["transformers:MODEL"] is None

"""A whole task rewritten into a file: tried again, broken off, gone on with; no query twice, none lost."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from bright_inspect.db import Database
from bright_inspect.domain.writing import End
from bright_inspect.endpoints.errors import EndpointError
from bright_inspect.errors import BrightInspectError, UsageError
from bright_inspect.formats.tables import TextTable
from bright_inspect.retrieval.protocol import Check, ignore_progress, never_stop
from bright_inspect.rewriting.prompts import Prompt
from bright_inspect.rewriting.rewrite_file import Making, opened_rewrites
from bright_inspect.rewriting.whole_task import Asking, Rewritten, making_lines, rewrite_queries
from bright_inspect.store.progress import Cancelled
from bright_inspect.store.sidecars import failures_of
from tests.rewriting.writers import WordWriter

PROMPT = Prompt("{query}", "the test")
QUERIES = {f"q{number}": f"why {number}" for number in range(12)}
QUICK = Asking(concurrency=3, retries=2, first_wait=0.001)


def making(**changed: Any) -> Making:
    same = {
        "dataset": "demo", "task": "garden", "variant": "words", "from_variant": "original", "writer": "test:words",
        "model": "words", "prompt": PROMPT.template, "prompt_source": PROMPT.source, "settings": {"seed": 1},
        "provenance": {"model_revision": "1", "endpoint": "http://localhost:1"},
    }  # fmt: skip
    return Making(**{**same, **changed})


def run(
    out: Path,
    writer: WordWriter,
    asking: Asking = QUICK,
    check: Check = never_stop,
    queries: Mapping[str, str] = QUERIES,
    how: Making | None = None,
) -> tuple[Rewritten, list[str]]:
    """A run into a file: what it came to, and what was told of the file."""
    how = how or making()
    with opened_rewrites(out, how, queries) as file:
        keep = making_lines(file, how)
        result = rewrite_queries(
            writer, PROMPT, queries, asking, keep, file.add_failure, ignore_progress, check, file.done
        )
        return result, file.told


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_a_line_a_query_with_all_that_made_it(tmp_path: Path) -> None:
    out = tmp_path / "made" / "words.jsonl"
    result, _ = run(out, WordWriter())
    assert (result.made, result.failures) == (12, [])
    made = {line["query_id"]: line for line in lines(out)}
    assert set(made) == set(QUERIES)
    line = made["q7"]
    assert line.pop("seconds") >= 0
    assert line.pop("created").endswith("+00:00")
    assert line == {
        "query_id": "q7", "query": "WHY 7", "reasoning": "", "dataset": "demo", "task": "garden", "variant": "words",
        "from_variant": "original", "writer": "test:words", "model": "words", "prompt": "{query}",
        "prompt_source": "the test", "settings": {"seed": 1}, "model_revision": "1", "endpoint": "http://localhost:1",
        "finish": "stop", "usage": {"completion_tokens": 2},
    }  # fmt: skip
    assert not failures_of(out).exists()


def test_what_others_error_ends_is_no_error_of_its_own(tmp_path: Path) -> None:
    out = tmp_path / "words.jsonl"
    writer, failed = WordWriter(), threading.Event()

    def slow() -> None:
        # Ended by the other's error, and looked at first: it was asked first.
        failed.wait(20)
        time.sleep(0.1)

    def refuse() -> None:
        failed.set()
        raise EndpointError("a key is wanted", "", lasting=True)

    writer.fails = {"why 0": [slow], "why 1": [refuse]}

    def late(done: int, total: int, message: str) -> None:
        # Both are over when they are first looked at.
        failed.wait(20)
        time.sleep(0.3)

    how, queries = making(), {"q0": "why 0", "q1": "why 1"}
    with opened_rewrites(out, how, queries) as file:
        keep = making_lines(file, how)
        result = rewrite_queries(writer, PROMPT, queries, QUICK, keep, file.add_failure, late, never_stop)
    assert result.stopped_by is not None
    assert (result.made, result.failures) == (0, [])


def test_the_file_is_read_as_queries(tmp_path: Path) -> None:
    out = tmp_path / "words.jsonl"
    run(out, WordWriter())
    with Database() as database:
        rows = database.cursor().execute(f"SELECT id, text FROM ({TextTable(out).sql})").fetchall()
    assert dict(rows) == {query_id: text.upper() for query_id, text in QUERIES.items()}


def test_several_at_once_but_no_more(tmp_path: Path) -> None:
    writer = WordWriter(pause=0.005)
    run(tmp_path / "a.jsonl", writer)
    assert 1 < writer.most <= 3
    alone = WordWriter(pause=0.001, at_once=1)
    run(tmp_path / "b.jsonl", alone)
    assert alone.most == 1


def test_failures_are_tried_again_then_listed_and_never_written(tmp_path: Path) -> None:
    out = tmp_path / "words.jsonl"
    writer = WordWriter()
    passing, wrong = EndpointError("broke off.", "Look."), BrightInspectError("the model failed.", "Mend it.")
    writer.fails = {"why 1": [passing, passing], "why 2": [passing] * 3, "why 3": [wrong]}
    writer.ends = {"why 4": End("length")}
    result, _ = run(out, writer)
    assert result.made == 9
    assert {failure.query_id: failure.tries for failure in result.failures} == {"q2": 3, "q3": 1, "q4": 1}
    assert {line["query_id"] for line in lines(out)} == set(QUERIES) - {"q2", "q3", "q4"}
    kept = {line["query_id"]: line for line in lines(failures_of(out))}
    assert kept["q2"] == {"query_id": "q2", "error": "broke off.", "hint": "Look.", "tries": 3}
    assert "--max-tokens" in kept["q4"]["hint"]
    asked = len(writer.asked)
    writer.ends = {}
    result, _ = run(out, writer)
    assert (result.made, result.failures) == (3, [])
    assert sorted(writer.asked[asked:]) == ["why 2", "why 3", "why 4"], "only what is missing is asked again"
    assert sorted(line["query_id"] for line in lines(out)) == sorted(QUERIES)
    assert not failures_of(out).exists()


def test_what_all_would_meet_ends_the_run(tmp_path: Path) -> None:
    out = tmp_path / "words.jsonl"
    writer = WordWriter()
    writer.fails = {"why 5": [EndpointError("refuses the key.", "Set it.", lasting=True)]}
    result, _ = run(out, writer, Asking(concurrency=1))
    assert str(result.stopped_by) == "refuses the key. Set it."
    assert [line["query_id"] for line in lines(out)] == [f"q{number}" for number in range(5)]
    assert result.failures == []
    writer.fails = {}
    assert run(out, writer)[0].made == 7


def test_the_first_that_fail_alike_speak_for_all(tmp_path: Path) -> None:
    writer = WordWriter()
    refused = BrightInspectError("HTTP 400: temperature must be 1", "Leave --temperature out.")
    writer.fails = {text: [refused] * 9 for text in QUERIES.values()}
    out = tmp_path / "words.jsonl"
    result, _ = run(out, writer, Asking(concurrency=1, retries=0))
    assert result.made == 0
    assert len(result.failures) >= 8  # those under way by then are listed too
    assert result.stopped_by is not None
    assert "the first 8 queries failed alike: HTTP 400" in result.stopped_by.message
    assert result.stopped_by.hint == refused.hint
    assert not out.exists()
    writer.fails["why 0"] = []
    result, _ = run(out, writer, Asking(concurrency=1, retries=0))
    assert (result.made, len(result.failures), result.stopped_by) == (1, 11, None)


def test_failures_of_queries_that_are_not_asked_stay(tmp_path: Path) -> None:
    out = tmp_path / "words.jsonl"
    writer = WordWriter()
    writer.fails = {f"why {number}": [BrightInspectError("no")] * 2 for number in (1, 2)}
    run(out, writer, Asking(retries=0))
    with opened_rewrites(out, making(), QUERIES, ["q1"]):
        pass
    assert [line["query_id"] for line in lines(failures_of(out))] == ["q2"]
    with opened_rewrites(out, making(), QUERIES):
        pass
    assert not failures_of(out).exists()


def test_a_defect_is_no_failure_of_a_query(tmp_path: Path) -> None:
    writer = WordWriter()

    def defect() -> None:
        raise ZeroDivisionError

    writer.fails = {"why 0": [defect]}
    with pytest.raises(ZeroDivisionError):
        run(tmp_path / "words.jsonl", writer)


def test_stopped_it_keeps_what_is_whole(tmp_path: Path) -> None:
    out = tmp_path / "words.jsonl"
    stop = threading.Event()

    def check() -> None:
        if stop.is_set():
            raise Cancelled

    writer = WordWriter(pause=0.001)
    writer.fails = {"why 6": [stop.set]}
    with pytest.raises(Cancelled):
        run(out, writer, check=check)
    assert {f"q{number}" for number in range(3)} <= {line["query_id"] for line in lines(out)} < set(QUERIES)
    assert not failures_of(out).exists()
    before = out.read_bytes()
    run(out, writer)
    assert out.read_bytes().startswith(before)
    assert sorted(line["query_id"] for line in lines(out)) == sorted(QUERIES)


@pytest.mark.parametrize("cut", [1, 5, 14, 100, 500])
def test_a_half_line_is_cut_off(tmp_path: Path, cut: int) -> None:
    out = tmp_path / "words.jsonl"
    run(out, WordWriter())
    whole = out.read_bytes()
    last = whole.splitlines(keepends=True)[-1]
    half = last[: min(cut, len(last) - 2)]
    out.write_bytes(whole[: -len(last)] + half)
    result, told = run(out, WordWriter())
    assert result.made == 1
    assert told == [f"{out}: a half line at its end was cut off; its query is asked again."]
    assert sorted(line["query_id"] for line in lines(out)) == sorted(QUERIES)


def test_only_the_last_break_is_missing(tmp_path: Path) -> None:
    out = tmp_path / "words.jsonl"
    run(out, WordWriter())
    out.write_bytes(out.read_bytes()[:-1])
    result, told = run(out, WordWriter())
    assert (result.made, told) == (0, [])
    assert len(lines(out)) == 12
    assert out.read_bytes().endswith(b"\n")


@pytest.mark.parametrize(
    ("changed", "problem"),
    [
        ({"model": "other"}, 'made with model "words", and now asked with "other"'),
        ({"settings": {}}, 'made with settings {"seed": 1}, and now asked with {}'),
        ({"prompt": "other {query}"}, "made with another prompt"),
        ({"task": "other"}, 'made with task "garden"'),
        ({"provenance": {"model_revision": "2"}}, 'made with model_revision "1"'),
    ],
)
def test_lines_that_were_made_otherwise(tmp_path: Path, changed: dict[str, Any], problem: str) -> None:
    out = tmp_path / "words.jsonl"
    run(out, WordWriter())
    before = out.read_bytes()
    with pytest.raises(UsageError) as raised:
        run(out, WordWriter(), how=making(**changed))
    assert f"{out}:1: {problem}" in raised.value.message
    assert "--out" in raised.value.hint
    assert out.read_bytes() == before


def test_a_server_may_move(tmp_path: Path) -> None:
    out = tmp_path / "words.jsonl"
    run(out, WordWriter())
    moved = making(provenance={"model_revision": "1", "endpoint": "http://localhost:2"}, prompt_source="a file")
    assert run(out, WordWriter(), how=moved)[0].made == 0


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"1\tsome query", "its end is no line of rewrites"),
        (b'{"query_id": "q0", "query": "x"}\n', ":1: this is no rewrite that this command made"),
        (b"\x00\x01\n", ":1: this is no rewrite"),
        (b"[1]", "its end is no line of rewrites"),
    ],
)
def test_other_files_are_left_alone(tmp_path: Path, content: bytes, problem: str) -> None:
    out = tmp_path / "other.jsonl"
    out.write_bytes(content)
    with pytest.raises(UsageError, match=problem):
        run(out, WordWriter())
    assert out.read_bytes() == content


def test_a_query_twice_or_of_another_task(tmp_path: Path) -> None:
    out = tmp_path / "words.jsonl"
    run(out, WordWriter())
    first = out.read_bytes().splitlines(keepends=True)[0]
    with pytest.raises(UsageError, match="there is no query 'q"):
        run(out, WordWriter(), queries={"x": "y"})
    out.write_bytes(first * 2)
    with pytest.raises(UsageError, match=r":2: query 'q\d+' is in it twice"):
        run(out, WordWriter())


def test_one_writes_at_a_time(tmp_path: Path) -> None:
    out = tmp_path / "words.jsonl"
    with opened_rewrites(out, making(), QUERIES), pytest.raises(UsageError, match="another process writes to it"):
        run(out, WordWriter())
    assert not out.exists(), "without a line there is no file"


def test_a_place_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(BrightInspectError, match="cannot be read or written"):
        run(tmp_path / "file" / "words.jsonl", WordWriter())


def test_texts_that_no_encoding_has(tmp_path: Path) -> None:
    out = tmp_path / "words.jsonl"
    run(out, WordWriter(), queries={"q": "a\ud800b é"})
    assert lines(out)[0]["query"] == "A?B É"

"""The cache of converted runs: used when it can be, never trusted when it should not be."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

import bright_inspect.store.opening
from bright_inspect.store.opening import Opening
from bright_inspect.store.run_cache import cache_folder
from tests.support import ROOT, finding_codes, opened_runs, scores_of, write_qrels, write_trec

RUN = {
    str(query): {f"doc {number}": 1.0 / (1 + (number * 7 + query) % 13) for number in range(40)} for query in range(9)
}
QRELS = {query_id: {"doc 3": 1, "doc 11": 2, "doc 39": 1} for query_id in RUN}


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """A run that nobody has touched for a minute."""
    path = write_trec(tmp_path / "qwen.trec", RUN)
    settle(path)
    return path


@pytest.fixture
def qrels(tmp_path: Path) -> Path:
    return write_qrels(tmp_path / "judged.txt", QRELS)


def settle(path: Path, seconds: float = 60) -> None:
    past = time.time() - seconds
    os.utime(path, (past, past))


def values(run: Path, qrels: Path) -> dict[str, float]:
    """Open, score, convert: what each command does."""
    with opened_runs(run, qrels=[qrels]) as opening:
        per_query = scores_of(opening)[0].per_query
        opening.convert()
        assert scores_of(opening)[0].per_query == per_query
        return per_query


def was_read(opening: Opening) -> bool:
    """Whether the run was read from the file itself: only then is it a table, and not a view of the cache."""
    cursor, (file,) = opening.session.cursor, opening.session.runs[0].files
    return bool(
        cursor.execute("SELECT count(*) FROM duckdb_tables() WHERE table_name = ?", [file.rows]).fetchall()[0][0]
    )


def is_cached(run: Path, qrels: Path) -> bool:
    with opened_runs(run, qrels=[qrels]) as opening:
        return not was_read(opening)


def parquet() -> Path:
    (path,) = cache_folder().rglob("*.parquet")
    return path


def manifest() -> Path:
    return parquet().with_suffix(".json")


def test_the_second_opening_uses_it(run: Path, qrels: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = values(run, qrels)
    assert not list(cache_folder().rglob("*.tmp"))

    def never(*arguments: object) -> None:
        raise AssertionError("the file was read again")

    monkeypatch.setattr(bright_inspect.store.opening, "read_run", never)
    assert values(run, qrels) == first


def test_findings_come_out_of_it_too(tmp_path: Path, qrels: Path) -> None:
    run = tmp_path / "odd.trec"
    run.write_text("0 Q0 doc 3 1 .5 t\n0 Q0 x 2 abc t\n# why\n0 Q0 doc 3 3 .2 t\n")
    settle(run)
    seen = []
    for _ in range(2):
        with opened_runs(run, qrels=[qrels]) as opening:
            seen.append(list(opening.session.findings))
            opening.convert()
    assert is_cached(run, qrels)
    assert seen[0] == seen[1]
    assert {finding.code for finding in seen[1]} >= {"bad-score", "comment-line", "duplicate-document"}


@pytest.mark.parametrize("where", [0.02, 0.3, 0.5, 0.7, 0.98])
def test_a_flipped_bit_is_noticed_and_the_file_rebuilt(run: Path, qrels: Path, where: float) -> None:
    first = values(run, qrels)
    content = bytearray(parquet().read_bytes())
    good = bytes(content)
    content[int(len(content) * where)] ^= 1
    parquet().write_bytes(content)
    assert not is_cached(run, qrels)
    assert values(run, qrels) == first
    assert parquet().read_bytes() == good
    assert is_cached(run, qrels)


@pytest.mark.parametrize(
    "damage",
    [b"", b"{", b"[]", b'"text"', b"5", b"null", b"{}", b'{"sha256": 1}', b"\xff\xfe", b"[" * 100_000],
    ids=["empty", "cut", "list", "text", "number", "null", "no keys", "other sum", "no UTF-8", "deep"],
)
def test_a_damaged_manifest_is_as_none(run: Path, qrels: Path, damage: bytes) -> None:
    first = values(run, qrels)
    manifest().write_bytes(damage)
    assert not is_cached(run, qrels)
    assert values(run, qrels) == first
    assert is_cached(run, qrels)


@pytest.mark.parametrize("key", ["digest", "format", "tag", "findings"])
def test_a_manifest_that_lacks_a_key_is_as_none(run: Path, qrels: Path, key: str) -> None:
    values(run, qrels)
    content = json.loads(manifest().read_bytes())
    del content[key]
    manifest().write_text(json.dumps(content))
    assert not is_cached(run, qrels)


@pytest.mark.parametrize("damage", [b"", b"[]", b'"x"', b'{"digest": 5, "state": []}'])
def test_a_damaged_memo_is_as_none(run: Path, qrels: Path, damage: bytes) -> None:
    first = values(run, qrels)
    (memo,) = cache_folder().rglob("digests/*.json")
    memo.write_bytes(damage)
    assert values(run, qrels) == first


def test_a_file_changed_just_now_is_read_again(run: Path, qrels: Path) -> None:
    os.utime(run)
    values(run, qrels)
    assert not is_cached(run, qrels)


def test_a_changed_file_is_read_again(run: Path, qrels: Path) -> None:
    first = values(run, qrels)
    state = run.stat()
    lines = run.read_text().splitlines(keepends=True)
    run.write_text("".join(lines).replace("doc 3 ", "doc Q "))
    assert run.stat().st_size == state.st_size
    changed = values(run, qrels)
    assert changed != first
    settle(run, 30)
    assert values(run, qrels) == changed


def test_a_file_changed_between_reading_and_converting_is_not_remembered(run: Path, qrels: Path) -> None:
    with opened_runs(run, qrels=[qrels]) as opening:
        before = scores_of(opening)[0].per_query
        run.write_text(run.read_text().replace("doc 3 ", "doc Q "))
        settle(run, 30)
        opening.convert()
        assert scores_of(opening)[0].per_query == before
    assert values(run, qrels) != before


def test_a_folder_that_cannot_be_written_is_a_finding(
    run: Path, qrels: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = values(run, qrels)
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("BRIGHT_INSPECT_CACHE", str(tmp_path / "file" / "cache"))
    with opened_runs(run, qrels=[qrels]) as opening:
        assert scores_of(opening)[0].per_query == first
        opening.convert()
        assert finding_codes(opening) == ["cache-not-written"]
        assert scores_of(opening)[0].per_query == first
        opening.convert()
        assert finding_codes(opening) == ["cache-not-written"]


def test_the_same_content_elsewhere_names_its_own_file(run: Path, qrels: Path, tmp_path: Path) -> None:
    with run.open("a") as file:
        file.write("0 Q0 bad 9 abc t\n")
    settle(run)
    values(run, qrels)
    other = tmp_path / "it's [another] 'one'.trec"
    other.write_bytes(run.read_bytes())
    settle(other)
    values(other, qrels)
    with opened_runs(other, qrels=[qrels]) as opening:
        assert not was_read(opening)
        assert {finding.file for finding in opening.session.findings} == {str(other)}


@pytest.mark.parametrize("name", ["it's a cache", "c[1]*?", 'q"uote', "日本"])
def test_cache_folders_of_odd_names(
    run: Path, qrels: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setenv("BRIGHT_INSPECT_CACHE", str(tmp_path / name))
    first = values(run, qrels)
    assert is_cached(run, qrels)
    assert values(run, qrels) == first


def test_two_programs_at_once(run: Path, qrels: Path) -> None:
    command = [sys.executable, "-m", "bright_inspect", "eval", str(run), "--qrels", str(qrels), "--json", "--per-query"]
    started = [subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE) for _ in range(4)]
    outputs = [process.communicate(timeout=100) for process in started]
    assert [process.returncode for process in started] == [0] * 4
    assert {error for _, error in outputs} == {b""}
    results = [json.loads(output)["results"][0]["per_query"] for output, _ in outputs]
    assert all(result == results[0] for result in results)
    assert is_cached(run, qrels)
    assert values(run, qrels) == pytest.approx(results[0])

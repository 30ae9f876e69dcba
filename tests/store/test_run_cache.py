"""The cache of converted runs: used when it can be, never trusted when it should not be."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

import bright_inspect.store.open_file
import bright_inspect.store.run_cache
from bright_inspect.db import DatabaseError
from bright_inspect.errors import BrightInspectError
from bright_inspect.store.opening import Opening
from bright_inspect.store.run_cache import CachedRun, RunCache, cache_folder
from tests.support import ROOT, finding_codes, opened_runs, scores_of, table_rows, write_qrels, write_trec


def _scores(query: int) -> dict[str, float]:
    """40 documents, the best first, most of them tied with others."""
    scores = {f"doc {number}": 1.0 / (1 + (number * 7 + query) % 13) for number in range(40)}
    return dict(sorted(scores.items(), key=lambda item: -item[1]))


RUN = {str(query): _scores(query) for query in range(9)}
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
    """Whether the run was read from the file itself: only then is there a table of it."""
    tables = opening.session.cursor.execute("SELECT count(*) FROM duckdb_tables() WHERE table_name LIKE 'read_%'")
    return bool(tables.fetchall()[0][0])


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

    monkeypatch.setattr(bright_inspect.store.open_file, "read_runs", never)
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


def memos() -> list[Path]:
    return list(cache_folder().rglob("digests/*.json"))


def test_the_state_of_a_file_changed_just_now_tells_nothing(run: Path, qrels: Path) -> None:
    os.utime(run)
    values(run, qrels)
    assert is_cached(run, qrels)
    assert memos() == []


def test_a_date_in_the_future_is_as_good_as_any(run: Path, qrels: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settle(run, -3600)
    values(run, qrels)
    assert len(memos()) == 1
    monkeypatch.setattr(RunCache, "_computed_digest", lambda *arguments: None)
    assert is_cached(run, qrels)


def test_a_copied_or_touched_file_is_known_by_its_content(run: Path, qrels: Path, tmp_path: Path) -> None:
    first = values(run, qrels)
    copy = tmp_path / "elsewhere" / "copy.trec"
    copy.parent.mkdir()
    copy.write_bytes(run.read_bytes())
    settle(copy)
    settle(run, 1000)
    for path in (copy, run):
        assert is_cached(path, qrels)
        assert values(path, qrels) == first
    assert len(memos()) == 2


def test_a_file_is_only_hashed_where_one_of_its_size_is_known(
    run: Path, qrels: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    values(run, qrels)
    hashed: list[Path] = []

    def noted(path: Path) -> str:
        hashed.append(path)
        return hashlib.sha256(path.read_bytes()).hexdigest()

    monkeypatch.setattr(bright_inspect.store.run_cache, "_sha256", noted)
    shorter, alike = tmp_path / "shorter.trec", tmp_path / "alike.trec"
    shorter.write_bytes(run.read_bytes()[:-1])
    alike.write_bytes(run.read_bytes().replace(b"doc 3 ", b"doc Q "))
    assert not is_cached(shorter, qrels)
    assert not is_cached(alike, qrels)
    assert hashed == [alike]


def test_an_original_that_is_gone_is_no_reason_not_to_convert(run: Path, qrels: Path) -> None:
    content = run.read_bytes()
    with opened_runs(run, qrels=[qrels]) as opening:
        run.unlink()
        opening.convert()
        assert finding_codes(opening) == []
    run.write_bytes(content)
    assert is_cached(run, qrels)


def test_runs_not_used_for_longest_make_room(
    run: Path, qrels: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    others = [tmp_path / f"{name}.trec" for name in ("second", "third")]
    for number, other in enumerate(others):
        other.write_bytes(run.read_bytes() + b"0 Q0 more 99 0 t\n" * (number + 1))
        settle(other)
    values(run, qrels)
    values(others[0], qrels)
    first, second = sorted(cache_folder().rglob("*.parquet"), key=lambda path: path.stat().st_mtime_ns)
    settle(first, 200)
    settle(second, 100)
    assert is_cached(run, qrels)  # which makes it the one used last
    monkeypatch.setattr(bright_inspect.store.run_cache, "MOST_BYTES", 2.5 * first.stat().st_size)
    values(others[1], qrels)
    assert [is_cached(path, qrels) for path in (run, *others)] == [True, False, True]
    assert len(list(cache_folder().glob("runs-*/*.json"))) == 2
    monkeypatch.setattr(bright_inspect.store.run_cache, "MOST_BYTES", 1)
    values(others[0], qrels)
    assert is_cached(others[0], qrels)


def test_what_other_versions_left_is_removed(run: Path, qrels: Path) -> None:
    for name in ("runs-0", "other"):
        (cache_folder() / name).mkdir(parents=True)
        (cache_folder() / name / "x.parquet").write_text("x")
    values(run, qrels)
    assert {path.name for path in cache_folder().iterdir()} >= {"other"}
    assert not (cache_folder() / "runs-0").exists()


def test_a_converted_run_that_goes_before_it_is_looked_at(
    run: Path, qrels: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = values(run, qrels)
    find = RunCache.find

    def find_and_lose(cache: RunCache, path: Path, wanted_format: str | None) -> tuple[CachedRun, ...] | None:
        cached = find(cache, path, wanted_format)
        if cached is not None:
            cached[0].parquet.unlink()
        return cached

    monkeypatch.setattr(RunCache, "find", find_and_lose)
    assert values(run, qrels) == first


def fail(*arguments: object, **options: object) -> None:
    raise DatabaseError("no memory\nand some SQL")


def test_rows_that_cannot_be_sorted_are_one_message(run: Path, qrels: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with opened_runs(run, qrels=[qrels]) as opening:
        with monkeypatch.context() as patch:
            patch.setattr(bright_inspect.store.open_file, "rank_rows", fail)
            with pytest.raises(BrightInspectError, match=r"qwen\.trec: its rows could not be sorted \(no memory\)"):
                opening.convert()
        opening.convert()
        assert finding_codes(opening) == []


def test_rows_have_ranks_where_the_cache_could_not_be_written(
    run: Path, qrels: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(RunCache, "write", fail)
    with opened_runs(run, qrels=[qrels]) as opening:
        opening.convert()
        assert finding_codes(opening) == ["cache-not-written"]
        rows = opening.session.runs[0].files[0].rows
        assert table_rows(opening.session.cursor, f"SELECT max(rank) FROM {rows}") == [(40,)]


def test_a_converted_run_that_goes_before_it_is_read_leaves_the_table(
    run: Path, qrels: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write = RunCache.write

    def write_and_lose(*arguments: Any) -> tuple[CachedRun, ...]:
        cached = write(*arguments)
        cached[0].parquet.unlink()
        return cached

    monkeypatch.setattr(RunCache, "write", write_and_lose)
    with opened_runs(run, qrels=[qrels]) as opening:
        before = scores_of(opening)[0].per_query
        opening.convert()
        assert finding_codes(opening) == ["cache-not-written"]
        assert was_read(opening)
        assert scores_of(opening)[0].per_query == before
        opening.session.cursor.execute("BEGIN")
        opening.session.cursor.execute("ROLLBACK")


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

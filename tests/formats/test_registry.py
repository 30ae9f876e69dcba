"""The list of formats shows what the readers take: every example is read back, packed and unpacked."""

from __future__ import annotations

import bz2
import gzip
import json
import lzma
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import lz4.frame
import pytest

from bright_inspect.errors import UnreadableInput, UsageError
from bright_inspect.formats.packing import _zstd
from bright_inspect.formats.registry import FORMATS, NAMES, RunFormat
from tests.formats.reading import Row, run_of, runs_of
from tests.support import command

compress_zstd: Callable[[bytes], bytes] = _zstd().compress
TIDE, MOON = "tides/Spring_tide_2.txt", "moon/Orbit_4.txt"
EXPECTED: dict[str, list[Row]] = {
    "trec": [("q1", TIDE, 14.2, 1), ("q1", "moon/Orbit 4.txt", 9.75, 2)],
    "score-json": [("q1", TIDE, 0.82, None), ("q1", MOON, 0.73, None)],
    "mteb": [("q1", MOON, 0.73, None), ("q1", TIDE, 0.82, None)],
    "retro": [("short-q1", TIDE, 0.82, None)],
    "rank-llm": [("1", TIDE, 1.0, 1), ("1", MOON, 0.5, 2)],
    "json-lines": [("q1", TIDE, 0.9, None), ("q1", MOON, 0.2, None)],
    "id-lists": [("q0", TIDE, 1.0, 1), ("q0", MOON, 0.5, 2)],
    "msmarco": [("q1", TIDE, 1.0, 1), ("q1", MOON, 0.5, 2)],
    "tevatron": [("q1", TIDE, 0.8021, None), ("q1", MOON, 0.7312, None)],
    "table": [("q1", TIDE, 0.82, 1), ("q1", "moon/Orbit, 4.txt", 0.73, 2)],
    "parquet": [("q1", TIDE, 0.82, None), ("q1", MOON, 0.73, None)],
    "ranx-lz4": [("q1", TIDE, 0.82, None), ("q1", MOON, 0.73, None)],
}
ORDERED = {"rank-llm", "id-lists", "msmarco"}
PACKERS: dict[str, Callable[[bytes], bytes]] = {
    "plain": bytes,
    "gzip": gzip.compress,
    "zstd": compress_zstd,
    "zstd, two frames": lambda content: b"".join(compress_zstd(part) for part in (content[:20], content[20:])),
    "bzip2": bz2.compress,
    "xz": lzma.compress,
    "lz4": lz4.frame.compress,
}


def by_name(known: RunFormat) -> str:
    return known.name


@pytest.mark.parametrize("known", FORMATS, ids=by_name)
def test_an_example_is_told_apart_and_read(tmp_path: Path, known: RunFormat) -> None:
    run = run_of(tmp_path, known.content())
    assert run.rows == EXPECTED[known.name]
    assert run.read.format == known.name
    assert ("order-is-ranking" in run.codes) == (known.name in ORDERED)
    assert set(run.codes) <= {"order-is-ranking"}


@pytest.mark.parametrize("known", FORMATS, ids=by_name)
def test_an_example_is_read_by_the_name_of_its_format(tmp_path: Path, known: RunFormat) -> None:
    assert run_of(tmp_path, known.content(), format=known.name).rows == EXPECTED[known.name]


@pytest.mark.parametrize("pack", PACKERS.values(), ids=PACKERS)
@pytest.mark.parametrize("known", [known for known in FORMATS if not known.binary], ids=by_name)
def test_an_example_is_read_packed(tmp_path: Path, known: RunFormat, pack: Callable[[bytes], bytes]) -> None:
    run = run_of(tmp_path, pack(known.content()))
    assert run.rows == EXPECTED[known.name]
    assert run.read.format == known.name


@pytest.mark.parametrize("pack", list(PACKERS.values())[1:], ids=list(PACKERS)[1:])
def test_packed_data_that_is_cut_is_named(tmp_path: Path, pack: Callable[[bytes], bytes]) -> None:
    content = "".join(f"1 Q0 {number * 7919 % 99991:x} {number} {-number} t\n" for number in range(20_000)).encode()
    with pytest.raises(UnreadableInput, match=r"damaged (gzip|zstd|bzip2|xz|lz4) data"):
        run_of(tmp_path, pack(content)[:-1000])


@pytest.mark.parametrize("known", FORMATS, ids=by_name)
@pytest.mark.parametrize("name", NAMES)
def test_the_wrong_format_by_name_is_an_error_or_leaves_out_what_does_not_fit(
    tmp_path: Path, known: RunFormat, name: str
) -> None:
    path = tmp_path / "file"
    path.write_bytes(known.content())
    with suppress(UnreadableInput):
        assert all(run.rows for run in runs_of(path, name))


@pytest.mark.parametrize("name", ["TREC", "", "json", "trec:score", "parquet:x"])
def test_a_format_that_there_is_not(tmp_path: Path, name: str) -> None:
    with pytest.raises(UsageError, match="no run format is called"):
        run_of(tmp_path, "1 Q0 a 1 1 t\n", format=name)


def test_the_command_lists_them() -> None:
    shown = command("formats")
    assert shown.returncode == 0
    listed = json.loads(command("formats", "--json").stdout)
    assert tuple(entry["name"] for entry in listed) == NAMES
    for entry in listed:
        assert entry["title"] in shown.stdout
        assert set(entry) == {"name", "title", "writers", "example", "binary"}

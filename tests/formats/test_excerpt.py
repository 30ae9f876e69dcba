"""Lines of a file around one of them: any line end, any encoding, packed or not, and only as much as is needed."""

from __future__ import annotations

import codecs
import gzip
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bright_inspect.errors import UnreadableInput
from bright_inspect.formats import excerpt
from bright_inspect.formats.excerpt import MOST_CHARACTERS, lines_around

LINES = [f"line {number}" for number in range(1, 11)]


@pytest.mark.parametrize(
    ("line", "around", "numbers"),
    [(1, 2, [1, 2, 3]), (5, 1, [4, 5, 6]), (10, 3, [7, 8, 9, 10]), (11, 3, []), (99, 2, []), (5, 0, [5])],
)
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("packed", [False, True])
def test_lines(tmp_path: Path, line: int, around: int, numbers: list[int], end: str, packed: bool) -> None:
    path, content = tmp_path / "f", end.join(LINES).encode()
    path.write_bytes(gzip.compress(content + end.encode()) if packed else content)
    assert lines_around(path, line, around) == [(number, f"line {number}") for number in numbers]


@pytest.mark.parametrize(
    ("content", "shown"),
    [
        (b"a\nb\xff\n", "b\\xff"),
        (codecs.BOM_UTF8 + "a\nü\n".encode(), "ü"),
        (codecs.BOM_UTF16_LE + "a\nü\n".encode("utf-16-le"), "ü"),
        (codecs.BOM_UTF16_BE + "a\nü\n".encode("utf-16-be"), "ü"),
        (b"a\n\x1b[31m[/x]\x0bc\n", "\x1b[31m[/x]\x0bc"),
        (b"a\n\nc", ""),
    ],
)
def test_bytes_as_they_come(tmp_path: Path, content: bytes, shown: str) -> None:
    (tmp_path / "f").write_bytes(content)
    assert lines_around(tmp_path / "f", 2, 0) == [(2, shown)]


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\r\n"), max_size=12), min_size=1),
       st.integers(1, 40), st.integers(0, 3), st.integers(1, 9))  # fmt: skip
def test_blocks_do_not_matter(
    tmp_path_factory: pytest.TempPathFactory, lines: list[str], line: int, around: int, block: int
) -> None:
    path = tmp_path_factory.mktemp("blocks") / "f"
    path.write_bytes(("x" + "\n".join(lines) + "\n").encode())
    lines = ["x" + lines[0], *lines[1:]]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(excerpt, "_BLOCK", block)
        found = lines_around(path, line, around)
    wanted = range(max(1, line - around), min(len(lines), line + around) + 1)
    assert found == ([(number, lines[number - 1]) for number in wanted] if line <= len(lines) else [])


def test_only_what_is_needed_is_read_and_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(excerpt, "_BLOCK", 100)
    path = tmp_path / "f"
    path.write_text("a\n" + "y" * (MOST_CHARACTERS + 500) + "\nb\n" + "z\n" * 100_000)
    blocks: list[None] = []
    found = lines_around(path, 2, 1, lambda: blocks.append(None))
    assert [(number, len(text)) for number, text in found] == [(1, 1), (2, MOST_CHARACTERS), (3, 1)]
    assert len(blocks) < 30, "the rest of the file is not read"


def test_files_that_are_gone_or_damaged(tmp_path: Path) -> None:
    with pytest.raises(UnreadableInput, match="no such file"):
        lines_around(tmp_path / "absent", 1)
    (tmp_path / "cut.gz").write_bytes(gzip.compress(b"line\n" * 1000)[:-12])
    with pytest.raises(UnreadableInput, match="damaged gzip data"):
        lines_around(tmp_path / "cut.gz", 900_000)


def test_it_can_be_stopped(tmp_path: Path) -> None:
    (tmp_path / "f").write_text("a\n")

    def stop() -> None:
        raise KeyError

    with pytest.raises(KeyError):
        lines_around(tmp_path / "f", 1, 1, stop)

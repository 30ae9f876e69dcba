"""TREC judgments."""

from __future__ import annotations

import codecs
import gzip
from pathlib import Path

import pytest

from bright_inspect.errors import UnreadableInput
from bright_inspect.formats.trec_qrels import QrelsFile, read_trec_qrels

GOOD = "1 0 a 1\n1 0 b 0\nq2 Q0 c -100\n"
ROWS = [("1", "a", 1), ("1", "b", 0), ("q2", "c", -100)]


def read(folder: Path, content: bytes | str) -> QrelsFile:
    path = folder / "qrels.txt"
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return read_trec_qrels(path)


@pytest.mark.parametrize(
    ("content", "codes"),
    [
        (GOOD, []),
        (GOOD.rstrip("\n"), []),
        (GOOD.replace(" ", "\t"), []),
        (GOOD.replace(" ", "  "), []),
        (GOOD.replace("\n", "\r\n"), []),
        (GOOD.replace("\n", "\r"), []),
        ("# judged by me\n\n" + GOOD, []),
        (codecs.BOM_UTF8 + GOOD.encode(), ["byte-order-mark"]),
        (GOOD.encode("utf-16"), ["utf-16"]),
        (gzip.compress(GOOD.encode()), []),
    ],
    ids=["plain", "no final newline", "tabs", "two blanks", "CRLF", "CR", "comment", "BOM", "UTF-16", "gz"],
)
def test_the_same_judgments_however_they_are_written(tmp_path: Path, content: bytes | str, codes: list[str]) -> None:
    file = read(tmp_path, content)
    assert file.rows == ROWS
    assert [finding.code for finding in file.findings] == codes


@pytest.mark.parametrize("separator", [" ", "\t"])
@pytest.mark.parametrize("doc_id", ["Memory Management_1_0.txt", "a b 3", "it's", '"q"', "é’", "#x", "\\"])
def test_document_ids_whole(tmp_path: Path, doc_id: str, separator: str) -> None:
    assert read(tmp_path, separator.join(["1", "0", doc_id, "2"])).rows == [("1", doc_id, 2)]


TOO_LARGE = ["1 0 b 99999999999", "1\t0\tb\t2147483648", "1 0 b c -2147483649", "1 0 b " + "9" * 5000]


@pytest.mark.parametrize(
    "line", ["1 0 b", "1 0 b 0.5", "1 0 b x", "1 0 b 1_0", "query", "1\t0\tb\tyes", "1 0  1", *TOO_LARGE]
)
def test_a_bad_line_is_left_out_and_named(tmp_path: Path, line: str) -> None:
    file = read(tmp_path, f"1 0 a 1\n{line}\n1 0 c 1\n")
    assert file.rows == [("1", "a", 1), ("1", "c", 1)]
    (finding,) = file.findings
    assert (finding.code, finding.severity, finding.line, finding.count) == ("bad-judgment", "error", 2, 1)


@pytest.mark.parametrize("relevance", [2**31 - 1, -(2**31), 0])
def test_relevances_of_32_bits(tmp_path: Path, relevance: int) -> None:
    assert read(tmp_path, f"1 0 a {relevance:+040d}\n").rows == [("1", "a", relevance)]


def test_of_a_pair_judged_twice_the_first_counts(tmp_path: Path) -> None:
    file = read(tmp_path, "1 0 a 1\n1 0 a 0\n2 0 a 3\n1 0 a 2\n")
    assert file.rows == [("1", "a", 1), ("2", "a", 3)]
    (finding,) = file.findings
    assert (finding.code, finding.line, finding.count) == ("repeated-judgment", 2, 2)


@pytest.mark.parametrize("content", ["", "\n", "no judgments\n", "1 Q0 a 1 0.5 tag\n", "\0\0"])
def test_files_that_hold_no_judgment(tmp_path: Path, content: str) -> None:
    with pytest.raises(UnreadableInput, match=r"qrels\.txt"):
        read(tmp_path, content)

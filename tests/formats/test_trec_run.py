"""TREC runs: what is read from regular and odd files, and what is said about the rest."""

from __future__ import annotations

import codecs
import gzip
import math
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bright_inspect.errors import UnreadableInput
from tests.formats.reading import reading, reading_codes
from tests.support import Table, read_bytes

GOOD = "1 Q0 a 1 0.9 tag\n1 Q0 b 2 0.5 tag\n2 Q0 c 1 7 tag\n"
GOOD_ROWS = [("1", "a", 0.9, 1), ("1", "b", 0.5, 2), ("2", "c", 7.0, 1)]


def one(table: Table) -> tuple[str, str, float, int | None]:
    (row,) = table.rows
    return row


def test_a_regular_file(tmp_path: Path) -> None:
    table = read_bytes(tmp_path, GOOD)
    assert sorted(table.rows) == GOOD_ROWS
    assert reading(table) == ()
    assert (table.read.format, table.read.tag) == ("trec", "tag")


@pytest.mark.parametrize(
    ("content", "codes"),
    [
        (GOOD.rstrip("\n"), []),
        (GOOD.replace("\n", "\r\n"), []),
        (GOOD.replace("\n", "\r"), []),
        (GOOD.replace("\n", "\r\n", 1).replace("b 2 0.5 tag\n", "b 2 0.5 tag\r"), []),
        (GOOD.replace(" ", "\t"), []),
        (GOOD.replace(" ", "\t", 3), []),
        (GOOD.replace(" ", "  "), []),
        (GOOD.replace(" ", " \t "), []),
        (GOOD.replace("\n", " \n"), []),
        (GOOD.replace(" ", "\t").replace("\n", "\t\n"), []),
        ("\n" + GOOD.replace("\n", "\n\n") + "  \n\t\n", []),
        (" " + GOOD, []),
        ("# made by me\n" + GOOD + "#1 Q0 x\n", ["comment-line"]),
        ("# made by me on a long day of many words\n" + GOOD, ["comment-line"]),
        (codecs.BOM_UTF8 + GOOD.encode(), ["byte-order-mark"]),
        (codecs.BOM_UTF8 + GOOD.replace("\n", "\r\n").encode(), ["byte-order-mark"]),
        (GOOD.encode("utf-16"), ["utf-16"]),
        (codecs.BOM_UTF16_BE + GOOD.replace("\n", "\r\n").encode("utf-16-be"), ["utf-16"]),
        (gzip.compress(GOOD.encode(), mtime=0), []),
        (gzip.compress(codecs.BOM_UTF8 + GOOD.replace("\n", "\r\n").encode(), mtime=0), ["byte-order-mark"]),
    ],
    ids=[
        "no final newline", "CRLF", "lone CR", "mixed ends", "tabs", "tabs in one line", "two blanks",
        "blanks and tabs", "blank at the end", "tab at the end", "blank lines", "blank at the start", "comments",
        "long comment", "BOM", "BOM and CRLF", "UTF-16 LE", "UTF-16 BE", "gz", "gz with BOM and CRLF",
    ],
)  # fmt: skip
def test_the_same_rows_however_they_are_written(tmp_path: Path, content: bytes | str, codes: list[str]) -> None:
    table = read_bytes(tmp_path, content)
    assert sorted(table.rows) == GOOD_ROWS
    assert reading_codes(table) == codes
    assert table.read.tag == "tag"


@pytest.mark.parametrize(
    "doc_id",
    [
        "torch/Memory Management_1_0.txt",
        "a b c d e f",
        "7 8 9",
        "with 3 numbers 0.5 in it",
        "camel#1",
        "#first",
        "it's",
        '"quoted"',
        'half"quoted',
        "back\\slash\\n",
        "100%s%d",
        "L'Hôpital",
        "protein_in_food/ProteinΓÇôprotein_5.txt",
        "Liouville’s_theorem",
        "no\u00a0break",
        "日本\u3000語",
        "👩\u200d💻",
        "semi;colon,comma|pipe",
        "{brace}",
        "NULL",
        "unit\x1fseparator",
        "\x1erecord",
    ],
)
@pytest.mark.parametrize("separator", [" ", "\t", "  "])
def test_document_ids_whole(tmp_path: Path, doc_id: str, separator: str) -> None:
    content = separator.join(["q", "Q0", doc_id, "1", "0.5", "t"]) + "\n" + "r Q0 x 1 1 t\n"
    table = read_bytes(tmp_path, content)
    assert sorted(table.rows) == [("q", doc_id, 0.5, 1), ("r", "x", 1.0, 1)]
    assert reading(table) == ()


@pytest.mark.parametrize("query_id", ["#1", "#", "'q'", '"q"', "%", "{1}", "[1]", "{", "aops_2019/Problem_17", "\\"])
def test_query_ids_whole(tmp_path: Path, query_id: str) -> None:
    table = read_bytes(tmp_path, f"{query_id} Q0 a 1 0.5 tag\n{query_id} Q0 b c 2 0.25 tag\n")
    assert sorted(table.rows) == [(query_id, "a", 0.5, 1), (query_id, "b c", 0.25, 2)]
    assert table.read.tag == "tag"


def test_a_numeric_word_in_a_document_id_does_not_shift_the_columns(tmp_path: Path) -> None:
    # Read from the left, "18" would be the rank and "2" the score (FORMATS trap 2).
    assert one(read_bytes(tmp_path, "1 Q0 Chapter 18 2 .5 t\n"))[:3] == ("1", "Chapter 18", 0.5)


@pytest.mark.parametrize(
    ("text", "score"),
    [
        ("5.", 5.0),
        (".5", 0.5),
        ("+5", 5.0),
        ("-5", -5.0),
        ("1e3", 1000.0),
        ("1E+3", 1000.0),
        ("1.e-3", 0.001),
        ("007", 7.0),
        ("1e39", 1e39),
        ("-1e39", -1e39),
        ("1e-400", 0.0),
        ("0.1234567890123456789", 0.1234567890123456789),
    ],
)
def test_scores(tmp_path: Path, text: str, score: float) -> None:
    table = read_bytes(tmp_path, f"1 Q0 a 1 {text} t\n1 Q0 b 2 0 t\n")
    assert table.scores == {("1", "a"): score, ("1", "b"): 0.0}
    assert reading(table) == ()


@pytest.mark.parametrize("text", ["inf", "+INF", "Infinity", "1e400"])
@pytest.mark.parametrize("sign", ["", "-"])
def test_infinite_scores_are_kept_and_reported(tmp_path: Path, text: str, sign: str) -> None:
    score = sign + text.lstrip("+")
    table = read_bytes(tmp_path, f"1 Q0 b 1 1 t\n1 Q0 a 2 {score} t\n")
    assert table.scores["1", "a"] == (-math.inf if sign else math.inf)
    assert [(finding.code, finding.line, finding.severity) for finding in reading(table)] == [
        ("infinite-score", 2, "warning")
    ]


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("abc", "bad-score"),
        ("0,5", "bad-score"),
        ("1_000", "bad-score"),
        ("0x10", "bad-score"),
        ("1e", "bad-score"),
        (".", "bad-score"),
        ("--5", "bad-score"),
        ("１", "bad-score"),
        ("true", "bad-score"),
        ("nan", "nan-score"),
        ("NaN", "nan-score"),
        ("-nan", "nan-score"),
    ],
)
def test_a_line_without_a_score_is_left_out_and_named(tmp_path: Path, text: str, code: str) -> None:
    table = read_bytes(tmp_path, f"1 Q0 a 1 1.5 t\n1 Q0 b 2 {text} t\n1 Q0 c 3 {text} t\n")
    assert table.scores == {("1", "a"): 1.5}
    (finding,) = reading(table)
    assert (finding.code, finding.severity, finding.line, finding.count) == (code, "error", 2, 2)
    assert text in finding.message or ascii(text)[1:-1] in finding.message
    assert finding.place == f"{tmp_path / 'run.trec'}:2"


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("1 Q0 b .5 t", "too-few-columns"),
        ("1 Q0 b  2 .5", "too-few-columns"),
        ("1  b 2 .5 t", "too-few-columns"),
        (" Q0 b 2 .5 t", "too-few-columns"),
        ("1 Q0 18695  2 .5", "too-few-columns"),
        ("1 Q0 b 2 .5 ", "too-few-columns"),
        ("1", "too-few-columns"),
        ("1\tQ0\tb\t2\t.5", "too-few-columns"),
        ("1 Q0 my doc .5 t", "bad-rank"),
        ("1 Q0 b two .5 t", "bad-rank"),
        ("1 Q0 my b two .5 t", "bad-rank"),
        ("1 Q0 my b 1.5 .5 t", "bad-rank"),
        ("# 1 Q0 b two .5 t", "comment-line"),
    ],
)
def test_a_line_that_is_no_ranking_line(tmp_path: Path, line: str, code: str) -> None:
    table = read_bytes(tmp_path, f"1 Q0 a 1 1.5 t\n{line}\n1 Q0 c 3 0.5 t\n")
    assert set(table.scores) == {("1", "a"), ("1", "c")}
    (finding,) = reading(table)
    assert (finding.code, finding.line, finding.count) == (code, 2, 1)


@pytest.mark.parametrize("rank", ["0", "+1", "-1", "007"])
def test_any_whole_number_is_a_rank(tmp_path: Path, rank: str) -> None:
    table = read_bytes(tmp_path, f"1 Q0 a {rank} 1.5 t\n")
    assert table.rows == [("1", "a", 1.5, int(rank))]
    assert reading(table) == ()


@pytest.mark.parametrize("rank", ["-", "1.0", "1.5", "1_0", "99999999999"])
def test_a_rank_that_is_no_whole_number_is_not_used_and_named(tmp_path: Path, rank: str) -> None:
    table = read_bytes(tmp_path, f"1 Q0 b 1 2 t\n1 Q0 a {rank} 1.5 t\n")
    assert table.rows == [("1", "b", 2.0, 1), ("1", "a", 1.5, None)]
    assert [(finding.code, finding.line) for finding in reading(table)] == [("odd-rank", 2)]


@pytest.mark.parametrize("kind", ["3 columns", "4 columns"])
def test_a_first_line_of_another_kind_is_only_one_bad_line(tmp_path: Path, kind: str) -> None:
    first = "query document 1" if kind == "3 columns" else "query 0 document 1"
    table = read_bytes(tmp_path, f"{first}\n{GOOD}")
    assert sorted(table.rows) == GOOD_ROWS
    assert [(finding.code, finding.line) for finding in reading(table)] == [("too-few-columns", 1)]


@pytest.mark.parametrize("before", [b"", b"\xef\xbb\xbf", b"x Q0 y 1 1 t\r\n"])
def test_bytes_that_are_not_utf8_stay_apart_and_are_reported(tmp_path: Path, before: bytes) -> None:
    table = read_bytes(tmp_path, before + b"1 Q0 caf\xe9 1 .9 t\n1 Q0 caf\xe8 2 .5 t\n1 Q0 \xe2\x82 3 .1 t\n")
    assert {("1", "caf\\xe9"), ("1", "caf\\xe8"), ("1", "\\xe2\\x82")} <= set(table.scores)
    finding = next(finding for finding in reading(table) if finding.code == "invalid-utf8")
    assert (finding.line, finding.count) == (before.count(b"\n") + 1, 4)


def test_bytes_cut_by_a_read_block_are_whole(tmp_path: Path) -> None:
    filler = "".join(f"1 Q0 d{number} 1 1 t\n" for number in range(70_000)).encode()
    cut = (1 << 20) - 8
    content = filler[:cut].rsplit(b"\n", 1)[0] + b"\n"
    content += b"1 Q0 " + b"x" * ((1 << 20) - len(content) - 6) + "é 1 1 t\n".encode() + b"1 Q0 \xff 2 1 t\n"
    assert content[(1 << 20) - 1 : (1 << 20) + 1] == "é".encode()
    table = read_bytes(tmp_path, content)
    assert any(doc_id.endswith("xé") for _, doc_id in table.scores)
    finding = next(finding for finding in reading(table) if finding.code == "invalid-utf8")
    assert (finding.line, finding.count) == (content.count(b"\n"), 1)


def test_a_document_listed_twice_keeps_its_best_rank_and_both_lines_are_named(tmp_path: Path) -> None:
    content = "1 Q0 x a y 1 2 t\n1 Q0 a 2 0.5 t\n1 Q0 b 3 nan t\n1 Q0 a 1 0.9 t\n2 Q0 a 1 1 t\n"
    table = read_bytes(tmp_path, content)
    assert sorted(table.rows) == [("1", "a", 0.9, 1), ("1", "x a y", 2.0, 1), ("2", "a", 1.0, 1)]
    finding = next(finding for finding in reading(table) if finding.code == "duplicate-document")
    assert (finding.line, finding.count, finding.severity) == (2, 1, "error")
    assert "lines 2 and 4" in finding.message


@pytest.mark.parametrize(
    ("doc_id", "separator"), [("my a", " "), ("my a", "\t"), ("\"a\" 'b' \\c %", " "), ("é", "\t")]
)
def test_lines_of_odd_duplicates(tmp_path: Path, doc_id: str, separator: str) -> None:
    rows = [["1", "Q0", other, "1", "1", "t"] for other in ("z", doc_id, f"{doc_id}2", doc_id)]
    table = read_bytes(tmp_path, "".join(separator.join(row) + "\n" for row in rows))
    (finding,) = reading(table)
    assert "lines 2 and 4" in finding.message
    assert len(table.rows) == 3


def test_a_line_of_three_megabytes(tmp_path: Path) -> None:
    long_id = "x" * 3_000_000
    table = read_bytes(tmp_path, f"1 Q0 {long_id} 1 1 t\n1 Q0 b 2 .5 t\n")
    assert table.scores == {("1", long_id): 1.0, ("1", "b"): 0.5}


def test_a_line_too_long_is_one_line_of_message(tmp_path: Path) -> None:
    with pytest.raises(UnreadableInput, match=r"run\.trec: .*longer than 16 MB"):
        read_bytes(tmp_path, f"1 Q0 {'x' * 17_000_000} 1 1 t\n1 Q0 b 2 .5 t\n")


def test_a_nul_far_down_is_kept_as_part_of_the_id(tmp_path: Path) -> None:
    filler = "".join(f"1 Q0 d{number} 1 1 t\n" for number in range(10_000))
    table = read_bytes(tmp_path, f"{filler}2 Q0 nul\0inside 1 1 t\n")
    assert ("2", "nul\0inside") in table.scores
    assert len(table.rows) == 10_001
    (finding,) = [finding for finding in table.findings if finding.code == "nul-character"]
    assert (finding.line, finding.count) == (10_001, 1)


@pytest.mark.parametrize("blank", [b"\n", b" \r\n", b"\t\n"])
def test_a_run_behind_many_blank_lines(tmp_path: Path, blank: bytes) -> None:
    table = read_bytes(tmp_path, blank * 100_000 + GOOD.encode())
    assert table.rows == GOOD_ROWS
    assert (reading(table), table.read.tag) == ((), "tag")


@pytest.mark.parametrize("odd", ["", "# comment\n"])
def test_rows_stay_in_the_order_of_the_file(tmp_path: Path, odd: str) -> None:
    ids = [f"d{number * 7919 % 300_007}" for number in range(300_000)]
    lines = [f"{number // 1000} Q0 {doc_id} 1 1.5 t\n" for number, doc_id in enumerate(ids)]
    lines.insert(10, "0 Q0 d7919 1 1.75 t\n")
    table = read_bytes(tmp_path, "".join(lines) + odd)
    kept = [ids[0], *ids[2:10], ids[1], *ids[10:]]
    assert [row[1] for row in table.rows] == kept
    (finding,) = [finding for finding in table.findings if finding.code == "duplicate-document"]
    assert (finding.line, finding.count) == (2, 1)
    assert "lines 2 and 11" in finding.message


ID_CHARACTERS = st.characters(exclude_categories=("C", "Z"))
QUERY_IDS = st.text(ID_CHARACTERS, min_size=1, max_size=6)
DOC_IDS = st.lists(QUERY_IDS, min_size=1, max_size=3).map(" ".join)
SCORES = st.floats(allow_nan=False, allow_infinity=False)
ROWS = st.dictionaries(st.tuples(QUERY_IDS, DOC_IDS), SCORES, min_size=1, max_size=12)


@settings(deadline=None, max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(rows=ROWS, separators=st.lists(st.sampled_from([" ", "\t"]), min_size=1, max_size=12), data=st.data())
def test_what_is_written_is_read(
    tmp_path: Path, rows: dict[tuple[str, str], float], separators: list[str], data: st.DataObject
) -> None:
    end = data.draw(st.sampled_from(["\n", "\r\n", "\r"]))
    lines = []
    for number, ((query_id, doc_id), score) in enumerate(rows.items()):
        separator = separators[number % len(separators)]
        lines.append(separator.join([query_id, "Q0", doc_id, str(number + 1), repr(score), "t"]) + end)
    table = read_bytes(tmp_path, "".join(lines))
    assert table.scores == rows
    assert reading(table) == ()


LINES = st.sampled_from(
    [
        "1 Q0 {n} 1 0.5 t", "1\tQ0\t{n} b\t1\t0.5\tt", "1 Q0 my {n} 1 0.5 t", "1 Q0 {n} 1 inf t", "", "  ", "# comment",
        "1 Q0 {n} 1 t", "1 Q0 {n} 1 abc t", "1 Q0 {n} 1 nan t", "1 Q0 {n} x 0.5 t", "{n}", "1 Q0 {n} 1 1_0 t",
    ]
)  # fmt: skip


@settings(deadline=None, max_examples=100, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(LINES, max_size=30))
def test_every_line_is_accounted_for(tmp_path: Path, templates: list[str]) -> None:
    lines = [template.format(n=f"d{number}") for number, template in enumerate(templates)] + ["1 Q0 last 1 0.5 t"]
    table = read_bytes(tmp_path, "\n".join(lines))
    left_out = [finding for finding in reading(table) if finding.code not in ("infinite-score", "odd-rank")]
    blank = sum(not line.strip() for line in lines)
    assert len(table.rows) + sum(finding.count for finding in left_out) + blank == len(lines)
    for finding in reading(table):
        assert finding.line is not None
        assert lines[finding.line - 1].strip()

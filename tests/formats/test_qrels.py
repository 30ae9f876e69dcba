"""Judgments: every format to the same rows, and what is said about everything else."""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bright_inspect.db import Database, path_literal
from bright_inspect.errors import UnreadableInput
from bright_inspect.formats.qrels import read_qrels_into
from bright_inspect.formats.qrels_sniff import QrelsFormat
from tests.formats.qrels_reading import QrelsFile, read_qrels

GOOD = "1 0 a 1\n1 0 b 0\nq2 Q0 c 3\n"
ROWS = [("1", "a", 1), ("1", "b", 0), ("q2", "c", 3)]
BEIR = "query-id\tcorpus-id\tscore\n1\ta\t1\n1\tb\t0\nq2\tc\t3\n"


def read(
    folder: Path, content: bytes | str, name: str = "qrels.txt", format: QrelsFormat | None = None  # noqa: A002
) -> QrelsFile:  # fmt: skip
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return read_qrels(path, format)


def codes(file: QrelsFile) -> list[str]:
    return [finding.code for finding in file.findings]


@pytest.mark.parametrize(
    ("content", "found"),
    [
        (GOOD, []),
        (GOOD.rstrip("\n"), []),
        (GOOD.replace(" ", "\t"), []),
        (GOOD.replace(" ", " \t"), []),
        (GOOD.replace(" ", "  "), []),
        (GOOD.replace("1 0", " 1 0"), []),
        (GOOD.replace("\n", " \n"), []),
        (GOOD.replace("\n", "\r\n"), []),
        (GOOD.replace("\n", "\r"), []),
        (GOOD.replace("\n", "\n\n"), []),
        (GOOD.replace(" 1\n", " 1.0\n").replace(" 3", " +03."), []),
        ("# judged by me\n\n" + GOOD, ["comment-line"]),
        (codecs.BOM_UTF8 + GOOD.encode(), ["byte-order-mark"]),
        (GOOD.encode("utf-16"), ["utf-16"]),
        (gzip.compress(GOOD.encode(), mtime=0), []),
        (GOOD.replace(" 0 ", " ").replace(" Q0 ", " "), []),
        (GOOD.replace(" 0 ", " ").replace(" Q0 ", " ").replace(" ", "\t"), []),
        (BEIR, []),
        (BEIR.replace("\n", "\r\n"), []),
        (BEIR.replace("\t", ","), []),
        (BEIR.replace("\n1", '\n"1"').replace("\tc", '\t"c"'), []),
        ("\n" + BEIR, []),
        (codecs.BOM_UTF8 + BEIR.encode(), ["byte-order-mark"]),
        ("qid\titer\tdocno\trel\n1\t0\ta\t1\n1\t0\tb\t0\nq2\t0\tc\t3\n", []),
        ("score\tdoc_id\tquery_id\n1\ta\t1\n0\tb\t1\n3\tc\tq2\n", []),
        (
            '{"query-id": 1, "corpus-id": "a", "score": 1}\n{"query-id": "1", "corpus-id": "b", "score": 0.0}\n'
            '{"score": 3, "corpus-id": "c", "query-id": "q2", "note": null}\n',
            [],
        ),
        ('{"1": {"a": 1, "b": 0}, "q2": {"c": 3}}', []),
        ('{"1": {"a": 1.0, "b": false}, "q2": {"c": 3}}', []),
        (' \n{"1": {"a": 1, "b": 0},\r\n "q2": {"c": 3}}', []),
        ('{"1": {"a": 1}, "q2": {"c": 3}, "1": {"b": 0}}', []),
    ],
)
def test_the_same_judgments_however_they_are_written(tmp_path: Path, content: bytes | str, found: list[str]) -> None:
    file = read(tmp_path, content)
    assert sorted(file.rows) == ROWS
    assert file.exclusions == []
    assert codes(file) == found


@pytest.mark.parametrize("separator", [" ", "\t"])
@pytest.mark.parametrize("doc_id", ["Memory Management_1_0.txt", "a b 3", "it's", '"q"', "é’", "#x", "\\", "\xa0", "{"])
def test_document_ids_whole(tmp_path: Path, doc_id: str, separator: str) -> None:
    assert read(tmp_path, separator.join(["1", "0", doc_id, "2"])).rows == [("1", doc_id, 2)]


_IDS = st.text(st.characters(exclude_categories=["Cs", "Cc", "Zl", "Zp"]), min_size=1).filter(
    lambda text: text == text.strip() and not text.startswith("#")
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=25, deadline=None)
@given(st.dictionaries(st.tuples(_IDS, _IDS), st.integers(-(2**31), 2**31 - 1), min_size=1, max_size=6))
def test_beirs_table_round_trips(tmp_path: Path, judged: dict[tuple[str, str], int]) -> None:
    table = io.StringIO()
    writer = csv.writer(table, delimiter="\t", quoting=csv.QUOTE_MINIMAL, lineterminator="\n")
    writer.writerow(["query-id", "corpus-id", "score"])
    writer.writerows([*pair, relevance] for pair, relevance in judged.items())
    file = read(tmp_path, table.getvalue())
    assert {(q, d): r for q, d, r in file.rows} == {p: r for p, r in judged.items() if r != -100}


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=25, deadline=None)
@given(st.dictionaries(st.tuples(st.text(), st.text()), st.integers(-(2**31), 2**31 - 1), min_size=1, max_size=6))
def test_json_round_trips(tmp_path: Path, judged: dict[tuple[str, str], int]) -> None:
    nested: dict[str, dict[str, int]] = {}
    for (query_id, doc_id), relevance in judged.items():
        nested.setdefault(query_id, {})[doc_id] = relevance
    file = read(tmp_path, json.dumps(nested, ensure_ascii=False).encode("utf-8", "surrogatepass"))
    assert {(q, d): r for q, d, r in file.rows} == {p: r for p, r in judged.items() if r != -100}


TOO_LARGE = ["1 0 b 99999999999", "1\t0\tb\t2147483648", "1 0 b c -2147483649", "1 0 b " + "9" * 5000]


@pytest.mark.parametrize(
    ("line", "code"),
    [
        *((line, "bad-judgment") for line in ("1 0 b", "1 0 b x", "1 0 b 1_0", "query", "1\t0\tb\tyes", "1 0  1")),
        *((line, "bad-judgment") for line in TOO_LARGE),
        ("x" * 3_000_000, "bad-judgment"),
        ("1 0 b 0.5", "fractional-relevance"),
        ("1\t0\tb\t1.9", "fractional-relevance"),
        ("1 0 b 1e-3", "fractional-relevance"),
        ("# not judged", "comment-line"),
    ],
)
def test_a_bad_line_is_left_out_and_named(tmp_path: Path, line: str, code: str) -> None:
    file = read(tmp_path, GOOD * 6000 + f"\n\n{line}\n1 0 d 1\n")  # beyond what is sniffed
    assert file.rows == [*ROWS, ("1", "d", 1)]
    finding = file.findings[0]
    assert (finding.code, finding.line, finding.count) == (code, 18003, 1)
    assert finding.severity == ("warning" if code == "comment-line" else "error")


@pytest.mark.parametrize("line", ["1\tb\tx", "1\tb", "1\tb\t0.5", '1\t"b\t1', '1\t"b"x\t1', "\tb\t1", "1\tb\t1\t1"])
def test_a_bad_line_under_a_header(tmp_path: Path, line: str) -> None:
    file = read(tmp_path, f"{BEIR}{line}\n2\td\t1\n")
    assert file.rows == [*ROWS, ("2", "d", 1)]
    (finding,) = file.findings
    assert (finding.severity, finding.line, finding.count) == ("error", 5, 1)


@pytest.mark.parametrize("relevance", [2**31 - 1, -(2**31), 0])
def test_relevances_of_32_bits(tmp_path: Path, relevance: int) -> None:
    assert read(tmp_path, f"1 0 a {relevance:+040d}\n").rows == [("1", "a", relevance)]


@pytest.mark.parametrize("format", ["trec", "beir", "json"])
def test_only_minus_100_excludes(tmp_path: Path, format: str) -> None:  # noqa: A002
    content = {
        "trec": "1 0 a 1\n1 0 b -100\n1 0 c -1\n2 0 a -100\n2 0 b -99\n",
        "beir": "query-id\tcorpus-id\tscore\n1\ta\t1\n1\tb\t-100\n1\tc\t-1\n2\ta\t-100\n2\tb\t-99\n",
        "json": '{"1": {"a": 1, "b": -100, "c": -1}, "2": {"a": -100, "b": -99}}',
    }[format]
    file = read(tmp_path, content)
    assert file.rows == [("1", "a", 1), ("1", "c", -1), ("2", "b", -99)]
    assert file.exclusions == [("1", "b"), ("2", "a")]
    assert codes(file) == ["excluded-by-relevance", "negative-relevance"]
    assert file.findings[0].count == 2
    assert "down to -99" in file.findings[1].message


@pytest.mark.parametrize("separator", [" ", "\t"])
def test_anserinis_lists_of_excluded_documents(tmp_path: Path, separator: str) -> None:
    content = f"0{separator}leetcode/a\n0{separator}a b\n1{separator}c\n0{separator}leetcode/a\n"
    for name, wanted in (("exclude.bright-leetcode.txt", None), ("q.txt", "exclusions")):
        file = read(tmp_path, content, name, wanted)  # type: ignore[arg-type]
        assert (file.rows, file.exclusions) == ([], [("0", "leetcode/a"), ("0", "a b"), ("1", "c")])
        assert codes(file) == ["repeated-judgment"]
    with pytest.raises(UnreadableInput, match="has exclude in its name"):
        read(tmp_path, content.replace("a b", "ab"))


def test_of_a_pair_judged_twice_the_first_counts(tmp_path: Path) -> None:
    file = read(tmp_path, "1 0 a 1\n\n1 0 a 0\n2 0 a 3\n1 0 a 2\n1 0 a 1\n")
    assert file.rows == [("1", "a", 1), ("2", "a", 3)]
    (finding,) = file.findings
    assert (finding.code, finding.severity, finding.line, finding.count) == ("repeated-judgment", "error", 3, 3)
    assert "2 of them with another relevance" in finding.message
    same = read(tmp_path, '{"1": {"a": 1}, "1": {"a": 1}}')
    assert (same.rows, same.findings[0].severity) == ([("1", "a", 1)], "warning")


RANKED = "".join(f"{query}\td{rank}\t{rank}\n" for query in "12" for rank in range(1, 6))
SCORES = json.dumps({"1": {f"d{rank}": 1 / rank for rank in range(1, 9)}})
ORDER = json.dumps({"1": {f"d{rank}": 100 - rank for rank in range(12)}})


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("", "empty"),
        ("\n", "empty"),
        ("no judgments\n", "no line is a judgment"),
        ("1\tWhat is a query?\n2\tAnd another\n", "no line is a judgment"),
        ("# only\n# comments\n", "no line is a judgment"),
        ("query-id\tcorpus-id\tscore\n", "no line is a judgment"),
        ("1 0 a 0.5\n2 0 b 0.7\n", "every relevance is a fraction"),
        ("1 Q0 a 1 0.5 tag\n1 Q0 b 2 0.4 tag\n", "a run .6 columns"),
        ("1\ta\t0.93\n1\tb\t0.81\n", "scores .0.93.: a run as Tevatron"),
        (RANKED, "ranks of a run"),
        ("1 0 a\n1 0 b\n", "the relevance is missing|no line is a judgment"),
        ("1 0 18695\n1 0 18696\n", "the relevance is missing"),
        (SCORES, "a run, not judgments"),
        (ORDER, "the scores of a run"),
        ('{"NDCG@10": 0.5, "MRR": 1}', "metrics"),
        ('{"mteb_model_meta": {}, "default": {}}', "MTEB"),
        ('[{"id": "1"}]', "a JSON list"),
        ('{"_id": "1"}\n{"_id": "2"}\n', "more than one JSON value"),
        ('{"1": {"a": 1', "ends in mid-value"),
        ('{"1": {"a": "x"}}', "no usable judgment"),
        ("{}", "an empty JSON object"),
        ("\0\0", "binary"),
        (b"PAR1\0\0", "damaged Parquet"),
        ('{"query": "1", "doc_id": "a", "score": 1}\n{"query": "1"', "more than one JSON value"),
    ],
)
def test_what_is_no_judgment_file_is_named_for_what_it_is(tmp_path: Path, content: bytes | str, said: str) -> None:
    with pytest.raises(UnreadableInput, match=rf"qrels\.txt.*({said})"):
        read(tmp_path, content)


@pytest.mark.parametrize(("content", "format", "rows"), [(RANKED, "triples", 10), (ORDER, "json", 12)])
def test_the_format_can_be_said(tmp_path: Path, content: str, format: QrelsFormat, rows: int) -> None:  # noqa: A002
    assert len(read(tmp_path, content, format=format).rows) == rows
    with pytest.raises(UnreadableInput, match="no header with query-id"):
        read(tmp_path, content, format="beir")


def test_bad_json_entries_are_left_out_and_named(tmp_path: Path) -> None:
    file = read(tmp_path, '{"1": {"a": 1, "b": 0.5, "c": "x", "d": null}, "2": 3, "\\ud800": {"e": 2}}')
    assert file.rows == [("1", "a", 1), ("\\ud800", "e", 2)]
    assert {(finding.code, finding.count) for finding in file.findings} == {
        ("fractional-relevance", 1),
        ("bad-judgment", 3),
    }


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ('{"query-id": "2", "corpus-id": "b"}', "bad-judgment"),
        ('{"query-id": "2", "corpus-id": "b", "score": 0.5}', "fractional-relevance"),
        ('{"query-id": "2", "corpus-id": "b", "sc', "bad-judgment"),
        ('{"query-id": null, "corpus-id": "b", "score": 1}', "bad-judgment"),
        ("[1]", "bad-judgment"),
    ],
)
def test_a_bad_row_is_left_out_and_named(tmp_path: Path, line: str, code: str) -> None:
    row = '{"query-id": "1", "corpus-id": "a", "score": -100}\n'
    file = read(tmp_path, f"{row}\n{line}\n" + row.replace("-100", "2").replace('"a"', '"b"'))
    assert (file.rows, file.exclusions) == ([("1", "b", 2)], [("1", "a")])
    assert (file.findings[0].code, file.findings[0].line) == (code, 3)


def test_parquet_rows(tmp_path: Path) -> None:
    path = tmp_path / "test-00000-of-00001.parquet"
    rows = "(VALUES (1, 'a', 1::BIGINT), (1, 'b', -100), (2, NULL, 1), (2, 'c', 2), (2, 'c', 1)) t(qid, docno, rel)"
    with Database() as database:
        database.cursor().execute(f"COPY (FROM {rows}) TO {path_literal(path)}")
        database.cursor().execute(f"COPY (SELECT 1 AS x) TO {path_literal(tmp_path / 'x.parquet')}")
    file = read_qrels(path)
    assert (file.rows, file.exclusions) == ([("1", "a", 1), ("2", "c", 2)], [("1", "b")])
    assert codes(file) == ["bad-judgment", "repeated-judgment", "excluded-by-relevance"]
    with pytest.raises(UnreadableInput, match="no columns query-id, corpus-id and score among x"):
        read_qrels(tmp_path / "x.parquet")


def test_into_tables(tmp_path: Path) -> None:
    path = tmp_path / "we[1]rd's.txt"
    path.write_text("1 0 a 1\n1 0 b -100\n")
    with Database() as database:
        cursor = database.cursor()
        read = read_qrels_into(cursor, path, 'odd "name"')
        assert (read.format, read.has_exclusions, len(read.digest)) == ("trec", True, 64)
        assert cursor.execute('FROM "odd ""name"""').fetchall() == [("1", "a", 1)]
        assert cursor.execute('FROM "odd ""name""_exclusions"').fetchall() == [("1", "b")]
        assert not read_qrels_into(cursor, _plain(tmp_path), 'odd "name"').has_exclusions
        assert cursor.execute('FROM "odd ""name""_exclusions"').fetchall() == []
        assert {name for (name,) in cursor.execute("SELECT table_name FROM duckdb_tables()").fetchall()} == {
            'odd "name"',
            'odd "name"_exclusions',
        }


def _plain(folder: Path) -> Path:
    path = folder / "plain.txt"
    path.write_text(GOOD)
    return path


def test_real_judgments(bright_data: Path) -> None:
    golds = {"biology": 372, "stackoverflow": 478, "sustainable_living": 576, "theoremqa_questions": 439}
    for task, expected in golds.items():
        file = read_qrels(bright_data / "qrels" / f"qrels.bright-{task.replace('_', '-')}.txt")
        assert (len(file.rows), file.findings, file.exclusions) == (expected, [], [])

"""Runs in three columns, and tables with named columns as text and Parquet."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import polars
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bright_inspect.errors import UnreadableInput
from bright_inspect.formats.score_findings import CODES
from tests.formats.reading import Row, run_of


@pytest.mark.parametrize("separator", ["\t", " ", "  ", "\t "])
@pytest.mark.parametrize("end", ["\n", "\r\n", " \n", "\n\n"])
def test_ranks_count_and_scores_do_not(tmp_path: Path, separator: str, end: str) -> None:
    def lines(rows: list[tuple[str, str, str]]) -> str:
        return "".join(separator.join(row) + end for row in rows)

    # Without tabs, an id with a blank makes a line look like a judgment.
    doc = "a b" if "\t" in separator else "ab"
    ranks = run_of(tmp_path, lines([("1", doc, "1"), ("1", "c", "2"), ("2", doc, "1")]))
    assert ranks.rows == [("1", doc, 1.0, 1), ("1", "c", 0.5, 2), ("2", doc, 1.0, 1)]
    assert (ranks.read.format, ranks.codes) == ("msmarco", ["order-is-ranking"])
    scores = run_of(tmp_path, lines([("1", doc, "3"), ("1", "c", ".5"), ("2", doc, "-1e-3")]))
    assert scores.rows == [("1", doc, 3.0, None), ("1", "c", 0.5, None), ("2", doc, -1e-3, None)]
    assert (scores.read.format, scores.codes) == ("tevatron", [])


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([("1", 1), ("1", 2), ("1", 3)], "msmarco"),
        ([("1", 1), ("2", 1), ("1", 2), ("2", 2)], "msmarco"),
        ([("1", 9), ("1", 7), ("2", 7), ("2", 7)], "tevatron"),
        ([("1", 1), ("1", 0.5)], "tevatron"),
        ([("1", 1), ("2", 1)], None),
        ([("1", 0), ("1", 1), ("1", 2)], None),
        ([("1", 1), ("1", 1), ("1", 0)], "tevatron"),
        ([("1", 1), ("1", 5), ("1", 3)], None),
        ([("1", 1), ("1", 1)], None),
    ],
)
def test_what_the_third_column_is(tmp_path: Path, values: list[tuple[str, float]], kind: str | None) -> None:
    content = "".join(f"{query}\td{number}\t{value}\n" for number, (query, value) in enumerate(values))
    if kind:
        assert run_of(tmp_path, content).read.format == kind
        return
    with pytest.raises(UnreadableInput, match=r"--format msmarco .* or give judgments with --qrels"):
        run_of(tmp_path, content)
    assert len(run_of(tmp_path, content, format="tevatron").rows) == len(values)


def test_the_whole_file_decides_not_its_first_lines(tmp_path: Path) -> None:
    head = "".join(f"1\td{number}\t{300_000 - number}\n" for number in range(300))
    run = run_of(tmp_path, head + "1\tx\t0.5\n1\tx\t0.75\n")
    assert (run.read.format, len(run.rows), run.rows[-1]) == ("tevatron", 301, ("1", "x", 0.75, None))
    assert "lines 301 and 302" in run.finding("duplicate-document").message


def test_lines_that_are_no_rows_are_named(tmp_path: Path) -> None:
    run = run_of(tmp_path, "# mine\n1\ta\t2.5\n1\tb\n1\tc\tabc\n1\td\tnan\n1\te\tinf\n1\t\t1\n")
    assert run.rows == [("1", "a", 2.5, None), ("1", "e", float("inf"), None)]
    assert {code: (run.finding(code).line, run.finding(code).count) for code in run.codes} == {
        "comment-line": (1, 1),
        "too-few-columns": (3, 2),
        "bad-score": (4, 1),
        "nan-score": (5, 1),
        "infinite-score": (6, 1),
    }


@pytest.mark.parametrize(
    ("content", "rows"),
    [
        ("qid,docid,score\n1,a b,2\n1,c,1.5\n", [("1", "a b", 2.0, None), ("1", "c", 1.5, None)]),
        ("score\tQID\tdocno\tdocid\n2\t1\ta\t17\n", [("1", "a", 2.0, None)]),
        ('"q_id";"doc_id";"rank";"score"\n"1";"a;""b""";3;2e-1\n', [("1", 'a;"b"', 0.2, 3)]),
        ("query-id\tcorpus-id\tscore\n1\ta\t0.25\n", [("1", "a", 0.25, None)]),
        ("query_id,Q0,doc_id,rank,score,tag\n1,Q0,a,1,2.5,t\n", [("1", "a", 2.5, 1)]),
        ("query_id\tdoc_id\trank\n1\ta\t1\n1\tb\t2\n", [("1", "a", 1.0, 1), ("1", "b", 0.5, 2)]),
        ("\ufeffqid,docid,score\r\n1,a,2\r\n\r\n", [("1", "a", 2.0, None)]),
    ],
)
def test_named_columns(tmp_path: Path, content: str, rows: list[Row]) -> None:
    run = run_of(tmp_path, content)
    assert (run.rows, run.read.format) == (rows, "table")


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("query-id\tcorpus-id\tscore\n1\ta\t1\n1\tb\t0\n", "judgments with BEIR's header"),
        ("query_id,doc_id,text\n1,a,t\n", "a table without a score or rank column"),
        ("qid,docid,score\n1,a,x\n", ":2: no usable line."),
    ],
)
def test_tables_that_are_no_run(tmp_path: Path, content: str, said: str) -> None:
    with pytest.raises(UnreadableInput) as caught:
        run_of(tmp_path, content)
    assert said in str(caught.value)


def test_rows_of_a_table_that_cannot_be_used_are_named(tmp_path: Path) -> None:
    content = 'qid,docid,score,rank\n1,a,2,1\n1,b\n1,c,1,2,3\n1,d,abc,3\n,e,1,1\n1,"f\n1,g,1,1\n1,h,"0",9\n'
    run = run_of(tmp_path, content)
    assert run.rows == [("1", "a", 2.0, 1)]
    assert {code: (run.finding(code).line, run.finding(code).count) for code in run.codes} == {
        "too-few-columns": (3, 5),
        "too-many-columns": (4, 1),
        "bad-score": (5, 1),
    }


TEXTS = st.text(st.characters(exclude_categories=["C", "Z"]), min_size=1, max_size=6)


@settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    rows=st.dictionaries(st.tuples(TEXTS, TEXTS), st.floats(allow_nan=False, allow_infinity=False), min_size=1),
    delimiter=st.sampled_from(",;\t"),
)
def test_what_csv_writes_is_read(tmp_path: Path, rows: dict[tuple[str, str], float], delimiter: str) -> None:
    text = io.StringIO()
    writer = csv.writer(text, delimiter=delimiter)
    writer.writerow(["query_id", "doc_id", "score"])
    writer.writerows([*ids, repr(score)] for ids, score in rows.items())
    assert [(row[:2], row[2]) for row in run_of(tmp_path, text.getvalue()).rows] == list(rows.items())


def parquet(**columns: object) -> bytes:
    file = io.BytesIO()
    polars.DataFrame(columns).write_parquet(file)
    return file.getvalue()


def test_parquet(tmp_path: Path) -> None:
    content = parquet(q_id=[1, 1, 2, 2], doc_id=["a", "b", None, "d"], score=[0.5, float("nan"), 1, float("inf")])
    run = run_of(tmp_path, content)
    assert run.rows == [("1", "a", 0.5, None), ("2", "d", float("inf"), None)]
    assert run.codes == ["bad-row", "infinite-score", "nan-score"]
    ranked = run_of(tmp_path, parquet(query_id=["1", "1"], docno=["a", "b"], rank=[2, 1]))
    assert (ranked.rows, ranked.codes) == ([("1", "a", 0.5, 2), ("1", "b", 1.0, 1)], ["order-is-ranking"])


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (parquet(id=["1"], query=["why?"]), "a Parquet table with the columns id, query, not a run"),
        (parquet(query_id=[1.5], doc_id=["a"], score=[1]), "column query_id is DOUBLE, not texts"),
        (parquet(query_id=["1"], doc_id=["a"], score=["x"]), "no row has a query, a document and a score"),
        (parquet(query_id=["1"], doc_id=["a"], score=[1])[:-30], "damaged Parquet"),
        (b"PAR1" + bytes(100), "damaged Parquet"),
    ],
)
def test_parquet_that_is_no_run(tmp_path: Path, content: bytes, said: str) -> None:
    with pytest.raises(UnreadableInput) as caught:
        run_of(tmp_path, content)
    assert said in str(caught.value)


@pytest.mark.parametrize("name", ["msmarco", "tevatron"])
@pytest.mark.parametrize("where", [0, 33, 60])
@pytest.mark.parametrize("odd", ["odd\tdoc\tabc", "odd\t7\tdoc", "odd\tdoc\t", "odd\tdoc\t1_0", "odd\tdoc\tnan"])
def test_one_odd_line_in_a_regular_file_is_told(tmp_path: Path, name: str, where: int, odd: str) -> None:
    thirds = ("1", "2") if name == "msmarco" else ("0.75", "0.5")
    expected = [(f"q{query}", f"d{third}", third) for query in range(30) for third in thirds]
    lines = ["\t".join(row) for row in expected]
    lines.insert(where, odd)
    run = run_of(tmp_path, "".join(f"{line}\n" for line in lines))
    assert run.read.format == name
    assert len(run.rows) + sum(f.count for f in run.read.findings if f.code not in CODES) == len(lines)
    scores = [(query_id, doc_id, score) for query_id, doc_id, score, _ in run.rows if query_id != "odd"]
    assert scores == [(q, d, 1 / int(text) if name == "msmarco" else float(text)) for q, d, text in expected]

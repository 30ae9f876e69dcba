"""Collections by layout and file by file: the same queries, judgments and documents however they are written."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from bright_inspect.datasets.places import find_sources, folder_sources
from bright_inspect.datasets.plain_files import PlainFiles, collection_name
from bright_inspect.datasets.source import Source
from bright_inspect.db import Cursor, Database, path_literal
from bright_inspect.errors import UnreadableInput, UsageError
from tests.support import example, table_rows, write_bright

QUERIES = {"q 1": 'why "so"?', "2": "tabs, commas\u2028and ünicode"}
DOCS = {"d/1 x": "some text", "d2": 'A "quoted" text'}
QRELS = "q 1\t0\td/1 x\t1\n2\t0\td2\t2\n2\t0\td/1 x\t-100\n"


def json_lines(rows: Mapping[str, str], key: str, text: str, **more: Any) -> str:
    return "".join(
        json.dumps({key: row, text: value, **more}, ensure_ascii=False) + "\n" for row, value in rows.items()
    )


def tsv(rows: Mapping[str, str]) -> str:
    return "".join(f"{row}\t{value}\n" for row, value in rows.items())


def quoted(rows: Mapping[str, str], delimiter: str) -> str:
    def field(text: str) -> str:
        return '"' + text.replace('"', '""') + '"'

    return "".join(f"{field(row)}{delimiter}{field(value)}\n" for row, value in rows.items())


def parquet(folder: Path, rows: list[dict[str, Any]], name: str = "x.parquet") -> Path:
    lines = folder / "rows.jsonl"
    lines.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    with Database() as database:
        database.cursor().execute(f"COPY (FROM read_json({path_literal(lines)})) TO {path_literal(path)}")
    lines.unlink()
    return path


WRITERS: dict[str, tuple[str, Callable[[Mapping[str, str]], str | bytes]]] = {
    "TSV": (".tsv", tsv),
    "TSV, CRLF": (".tsv", lambda rows: tsv(rows).replace("\n", "\r\n")),
    "TSV with a header": (".tsv", lambda rows: "qid\tquery\n" + tsv(rows)),
    "quoted TSV": (".tsv", lambda rows: "qid\tquery\n" + quoted(rows, "\t")),
    "quoted TSV without header": (".tsv", lambda rows: quoted(rows, "\t")),
    "minimally quoted": (
        ".tsv",
        lambda rows: '"q 1"\t"why ""so""?"\n' + "".join(tsv(rows).splitlines(True)[1:]) if "q 1" in rows else tsv(rows),
    ),
    "columns of no interest": (
        ".tsv",
        lambda rows: "n\tid\ttext\n" + "".join(f"0\t{i}\t{t}\n" for i, t in rows.items()),
    ),
    "CSV": (".csv", lambda rows: "docid,contents\n" + quoted(rows, ",")),
    "JSONL": (".jsonl", lambda rows: json_lines(rows, "_id", "text", metadata={"a": 1})),
    "other names": (".jsonl", lambda rows: json_lines(rows, "docid", "contents")),
    "JSON list": (".json", lambda rows: json.dumps([{"id": i, "content": t} for i, t in rows.items()])),
    "UTF-16": (".tsv", lambda rows: tsv(rows).encode("utf-16")),
    "BOM": (".jsonl", lambda rows: b"\xef\xbb\xbf" + json_lines(rows, "id", "text").encode()),
    "gzip": (".jsonl.gz", lambda rows: gzip.compress(json_lines(rows, "id", "text").encode())),
    "misnamed": (".txt", lambda rows: json_lines(rows, "id", "query")),
}


def written(folder: Path, name: str, content: str | bytes) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


@pytest.fixture
def cursor() -> Any:
    with Database() as database:
        yield database.cursor()


def queries_of(cursor: Cursor, source: Source) -> dict[str, str]:
    key = key_of(source)
    rows = table_rows(cursor, f"FROM ({source.queries_sql(*key)}) ORDER BY position")
    assert [position for position, *_ in rows] == sorted(position for position, *_ in rows)
    return {query_id: text for _, query_id, text, *_ in rows}


def key_of(source: Source) -> tuple[str, str]:
    ((dataset, (task,)),) = list(source.tasks().items())[:1]
    return dataset, task


def documents_of(cursor: Cursor, source: Source) -> dict[str, str]:
    sql = source.documents_sql(*key_of(source))
    assert sql is not None
    return dict(table_rows(cursor, f"SELECT doc_id, content FROM ({sql})"))


@pytest.mark.parametrize("writer", WRITERS)
def test_plain_files(tmp_path: Path, cursor: Cursor, writer: str) -> None:
    suffix, write = WRITERS[writer]
    source = PlainFiles(
        written(tmp_path, f"nice-topics{suffix}", write(QUERIES)),
        [written(tmp_path, "qrels.txt", QRELS)],
        [written(tmp_path, f"corpus{suffix}", write(DOCS))],
    )
    assert source.tasks() == {"custom:nice": ("nice",)}
    key = key_of(source)
    assert queries_of(cursor, source) == QUERIES
    assert table_rows(cursor, f"FROM ({source.qrels_sql(*key)})") == [("q 1", "d/1 x", 1), ("2", "d2", 2)]
    assert table_rows(cursor, f"FROM ({source.exclusions_sql(*key)})") == [("2", "d/1 x")]
    assert table_rows(cursor, f"FROM ({source.gold_pages_sql(*key)})") == []
    assert documents_of(cursor, source) == DOCS
    mended = {"utf-16", "byte-order-mark"}
    assert {finding.code for finding in source.findings(cursor, *key)} - mended == {"excluded-by-relevance"}
    assert {finding.code for finding in source.document_findings(cursor, *key)} <= mended


@pytest.mark.parametrize(
    ("content", "texts"),
    [
        ('1\t"Hello," he said\n2\t"yes"\n', ['"Hello," he said', '"yes"']),
        ('1\t"open\n2\tx\n', ['"open', "x"]),
        ('1\t"two\nlines"\n2\t"yes"\n', ["two\nlines", "yes"]),
        ('1\t"a ""b"""\n2\tx\n', ['a "b"', "x"]),
        ('1\t""\n2\tx "y"\n', ['""', 'x "y"']),
    ],
)
def test_quotes_of_the_text_and_of_the_format(tmp_path: Path, cursor: Cursor, content: str, texts: list[str]) -> None:
    assert list(queries_of(cursor, PlainFiles(written(tmp_path, "q.tsv", content))).values()) == texts


def test_parquet_with_numbers_as_ids(tmp_path: Path, cursor: Cursor) -> None:
    queries = parquet(tmp_path, [{"query_id": 3, "query": "x"}, {"query_id": 12, "query": "y"}], "queries.parquet")
    source = PlainFiles(queries, name="My Own")
    assert (key_of(source), queries_of(cursor, source)) == (("custom:my_own", "my_own"), {"3": "x", "12": "y"})
    assert source.documents_sql(*key_of(source)) is None
    assert table_rows(cursor, f"FROM ({source.qrels_sql(*key_of(source))})") == []


def test_titles_come_before_texts_of_documents(tmp_path: Path, cursor: Cursor) -> None:
    lines = '{"_id": "a", "title": "T", "text": "x"}\n{"_id": "b", "title": "", "text": "y"}\n{"_id": 3, "text": "z"}\n'
    source = PlainFiles(corpus=[written(tmp_path / "mine", "corpus.jsonl", lines)])
    assert documents_of(cursor, source) == {"a": "T x", "b": "y", "3": "z"}
    assert key_of(source) == ("custom:mine", "mine")


def test_a_corpus_in_a_folder(tmp_path: Path, cursor: Cursor) -> None:
    folder = tmp_path / "parts"
    written(folder, "1.jsonl", json_lines({"a": "x"}, "id", "text"))
    written(folder, "2.tsv.gz", gzip.compress(b"b\ty\n"))
    parquet(folder, [{"docid": "c", "contents": "z"}], "3.parquet")
    written(folder, "README.md", "not a corpus")
    written(folder, ".hidden.tsv", "d\tw\n")
    assert documents_of(cursor, PlainFiles(corpus=[folder])) == {"a": "x", "b": "y", "c": "z"}
    written(tmp_path / "none", "README.md", "x")
    with pytest.raises(UnreadableInput, match="no file of texts in it"):
        PlainFiles(corpus=[tmp_path / "none"])


def test_what_is_odd_is_told_and_the_rest_is_read(tmp_path: Path, cursor: Cursor) -> None:
    lines = '{"id": "a", "text": "x"}\n\n{"id": "b", "te\n{"id": null}\n{"id": "a", "text": "again"}\n{"id": "c"}\n'
    source = PlainFiles(written(tmp_path, "queries.jsonl", lines), name="odd")
    assert queries_of(cursor, source) == {"a": "x", "c": ""}
    found = {(f.code, f.severity, f.line, f.count) for f in source.findings(cursor, *key_of(source))}
    assert found == {
        ("row-without-id", "error", 3, 2),
        ("row-without-text", "warning", None, 1),
        ("repeated-id", "warning", None, 1),
    }
    plain = PlainFiles(written(tmp_path, "q.tsv", "id\ttext\n1\tx\nno tab\n\n2\ty\tz\n"))
    assert queries_of(cursor, plain) == {"1": "x", "2": "y\tz"}
    assert [(f.code, f.line) for f in plain.findings(cursor, *key_of(plain))] == [("row-without-id", 3)]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("", "empty"),
        ("just words\nand more\n", "neither a header with id and text nor"),
        ('{"name": "x", "value": "y"}\n', "no column of ids among name, value"),
        ('{"id": "x", "value": "y"}\n', "no column of texts among id, value"),
        ('{"id": ', "no line at its start is a JSON object"),
        ("[1, 2]", "a JSON list, but not of objects"),
        (b"PAR1xxxx", "damaged Parquet"),
        (b"\0\1\2", "binary"),
    ],
)
def test_other_files_are_named_for_what_they_are(tmp_path: Path, content: str | bytes, said: str) -> None:
    with pytest.raises(UnreadableInput, match=rf"queries\.x: .*{said}"):
        PlainFiles(written(tmp_path, "queries.x", content))


def test_nothing_given() -> None:
    with pytest.raises(UsageError, match="no file of queries"):
        PlainFiles()


def test_judgments_in_several_files_count_together(tmp_path: Path, cursor: Cursor) -> None:
    first = written(tmp_path, "a.qrels", "1 0 x 1\n1 0 y 0\n")
    second = written(tmp_path, "b.qrels", "1 0 x 2\n2 0 z 1\n")
    excluded = written(tmp_path, "exclude.txt", "2 z\n1 w\n")
    source = PlainFiles(qrels=[first, second, excluded], name="n")
    key = key_of(source)
    assert table_rows(cursor, f"FROM ({source.qrels_sql(*key)})") == [("1", "x", 1), ("1", "y", 0), ("2", "z", 1)]
    assert table_rows(cursor, f"FROM ({source.exclusions_sql(*key)})") == [("2", "z"), ("1", "w")]
    assert [finding.code for finding in source.findings(cursor, *key)] == ["repeated-judgment", "excluded-gold"]


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("x/nfc/queries.tsv", "nfc"), ("x/nfc/qrels/test.tsv", "nfc"), ("nfc.queries.tsv.gz", "nfc"),
        ("topics.dl-20.txt", "dl-20"), ("my_data.jsonl", "my_data"),
    ],
)  # fmt: skip
def test_names_of_collections(path: str, name: str) -> None:
    assert collection_name(Path(path)) == name


def beir(folder: Path, splits: Mapping[str, str]) -> Path:
    written(folder, "queries.jsonl", json_lines({"1": "one", "2": "two", "9": "of another split"}, "_id", "text"))
    written(folder, "corpus.jsonl", json_lines(DOCS, "_id", "text", title="T"))
    for split, rows in splits.items():
        written(folder / "qrels", f"{split}.tsv", "query-id\tcorpus-id\tscore\n" + rows)
    return folder


def test_a_beir_folder(tmp_path: Path, cursor: Cursor) -> None:
    (source,) = folder_sources(beir(tmp_path / "SciFact", {"test": "1\td2\t1\n2\td2\t2\n", "dev": "9\td2\t1\n"}))
    assert source.tasks() == {"beir": ("scifact",)}
    assert queries_of(cursor, source) == {"1": "one", "2": "two"}
    assert table_rows(cursor, f"FROM ({source.qrels_sql('beir', 'scifact')})") == [("1", "d2", 1), ("2", "d2", 2)]
    assert documents_of(cursor, source) == {doc: f"T {text}" for doc, text in DOCS.items()}
    assert source.findings(cursor, "beir", "scifact") == []


def test_a_folder_of_beir_folders_and_other_splits(tmp_path: Path, cursor: Cursor) -> None:
    beir(tmp_path / "a", {"test": "1\td2\t1\n"})
    beir(tmp_path / "b", {"dev": "9\td2\t1\n"})
    sources = folder_sources(tmp_path)
    assert [source.tasks() for source in sources] == [{"beir": ("a",)}, {"beir": ("b",)}]
    assert [finding.code for finding in sources[1].findings(cursor, "beir", "b")] == ["other-split"]
    beir(tmp_path / "c", {"dev": "9\td2\t1\n", "train": "1\td2\t1\n"})
    with pytest.raises(UnreadableInput, match=r"no qrels/test\.tsv; there are dev, train"):
        folder_sources(tmp_path)


@pytest.mark.parametrize(
    ("made", "said"),
    [
        (lambda folder: None, "no such folder"),
        (lambda folder: folder.write_text("x"), "a file, not a folder"),
        (lambda folder: folder.mkdir(), r"neither BRIGHT's layout .*; it holds nothing"),
        (lambda folder: written(folder, "notes.txt", "x"), r"neither .* nor BEIR's .*; it holds notes\.txt"),
        (lambda folder: written(folder / "examples", "notes.txt", "x"), r"no examples/\{task\}"),
    ],
)
def test_other_folders_are_told_what_was_looked_for(tmp_path: Path, made: Callable[[Path], object], said: str) -> None:
    made(tmp_path / "data")
    with pytest.raises(UnreadableInput, match=f"data: {said}"):
        folder_sources(tmp_path / "data")


def test_plain_files_are_asked_first(tmp_path: Path) -> None:
    data = write_bright(tmp_path / "data", {"biology": [example("0", ["a"])]})
    queries = written(tmp_path, "mine.tsv", "1\tx\n")
    found = find_sources(data, queries, name="own")
    assert [next(found).tasks() for _ in range(2)] == [
        {"custom:own": ("own",)},
        {"bright": ("biology",), "bright-long": ("biology",)},
    ]


BRIGHT_ROWS: dict[str, tuple[list[dict[str, Any]], list[tuple[str, str]]]] = {
    "lists": ([{"id": "0", "query": "q", "gold_ids": ["a", "a"], "excluded_ids": ["x", "N/A"]}], [("0", "x")]),
    "N/A in lists": ([{"id": 0, "query": "q", "gold_ids": ["a"], "excluded_ids": ["N/A"]}], []),
    "N/A as a text": ([{"id": "0", "query": "q", "gold_ids": ["a"], "excluded_ids": "N/A"}], []),
    "no lists": ([{"id": "0", "query": "q", "gold_ids": ["a"], "excluded_ids": None}], []),
    "no column": ([{"id": 0, "query": "q", "gold_ids": ["a"]}], []),
    "numbers": ([{"id": 0, "query": "q", "gold_ids": ["a"], "excluded_ids": [7]}], [("0", "7")]),
}


@pytest.mark.parametrize("suffix", [".parquet", ".jsonl", ".json"])
@pytest.mark.parametrize("rows", BRIGHT_ROWS)
def test_brights_columns_come_and_go(tmp_path: Path, cursor: Cursor, rows: str, suffix: str) -> None:
    content, excluded = BRIGHT_ROWS[rows]
    if suffix == ".parquet":
        parquet(tmp_path, content, "examples/biology-00000-of-00001.parquet")
    else:
        lines = "".join(json.dumps(row) + "\n" for row in content) if suffix == ".jsonl" else json.dumps(content)
        written(tmp_path / "examples", f"biology{suffix}", lines)
    (source,) = folder_sources(tmp_path)
    assert table_rows(cursor, source.queries_sql("bright", "biology")) == [(1, "0", "q", None, None)]
    assert table_rows(cursor, source.qrels_sql("bright", "biology")) == [("0", "a", 1)]
    assert table_rows(cursor, source.exclusions_sql("bright", "biology")) == excluded
    assert table_rows(cursor, source.gold_pages_sql("bright", "biology")) == []


@pytest.mark.parametrize("suffix", [".json", ".parquet"])
def test_bright_pro(tmp_path: Path, cursor: Cursor, suffix: str) -> None:
    tables: dict[str, list[dict[str, Any]]] = {
        "examples": [{"id": 4, "query": "q", "gold_ids": ["biology/1"], "reference_answer": "because"}],
        "documents": [{"id": "biology/1", "content": "text"}],
        "aspects": [{"id": "biology-4-a1", "content": "c", "weight": 2, "supporting_docs": ["biology/1"]}],
    }
    for config, rows in tables.items():
        if suffix == ".json":
            written(tmp_path / config, "biology.json", json.dumps(rows))
        else:
            parquet(tmp_path, rows, f"{config}/biology-00000-of-00001.parquet")
    (source,) = folder_sources(tmp_path)
    assert source.tasks() == {"bright-pro": ("biology",)}
    key = ("bright-pro", "biology")
    assert table_rows(cursor, source.queries_sql(*key)) == [(1, "4", "q", None, "because")]
    assert table_rows(cursor, source.qrels_sql(*key)) == [("4", "biology/1", 1)]
    assert table_rows(cursor, source.exclusions_sql(*key)) == []
    assert documents_of(cursor, source) == {"biology/1": "text"}


def test_mm_brights_negatives_are_excluded(tmp_path: Path, cursor: Cursor) -> None:
    row = {"id": "1", "query": "q", "gold_ids": ["a"], "negative_ids": ["b"]}
    for config in ("examples", "examples_multimodal"):
        parquet(tmp_path, [row], f"{config}/gis.parquet")
    (source,) = folder_sources(tmp_path)
    assert source.tasks() == {"mm-bright": ("gis",)}
    assert table_rows(cursor, source.exclusions_sql("mm-bright", "gis")) == [("1", "b")]


def test_real_counts(bright_data: Path, cursor: Cursor) -> None:
    (source,) = folder_sources(bright_data / "bright")
    for task, queries, golds, excluded in (
        ("stackoverflow", 117, 478, 0),
        ("theoremqa_questions", 194, 439, 606_523),
        ("theoremqa_theorems", 76, 151, 0),
    ):
        for sql, expected in (
            (source.queries_sql("bright", task), queries),
            (source.qrels_sql("bright", task), golds),
            (source.exclusions_sql("bright", task), excluded),
        ):
            assert table_rows(cursor, f"SELECT count(*) FROM ({sql})") == [(expected,)]


def test_a_quoted_table_longer_than_what_is_looked_at(tmp_path: Path, cursor: Cursor) -> None:
    texts = {str(number): f'"{number}" and ""more\nlines' * 40 for number in range(1000)}
    assert queries_of(cursor, PlainFiles(written(tmp_path, "q.tsv", quoted(texts, "\t")))) == texts


def test_real_rewrites(bright_data: Path, cursor: Cursor) -> None:
    files = sorted((bright_data / "rewrites" / "querygym").rglob("*.queries.tsv"))
    for path in files:
        texts = queries_of(cursor, PlainFiles(path))
        assert len(texts) == 116
        assert not any(text.startswith('"') and text.endswith('"') for text in texts.values())
    assert files

"""Files of rewritten queries: what each format holds, which queries its rows are joined to, and what is said."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

from bright_inspect.datasets.places import folder_sources
from bright_inspect.db import Cursor, Database
from bright_inspect.domain.findings import UNKNOWN, Finding, changes
from bright_inspect.errors import BrightInspectError, UnreadableInput, UsageError
from bright_inspect.store.collections import Collections, TaskKey
from bright_inspect.store.schema import create_tables
from bright_inspect.store.variants import load_given_variants, variant_counts, variant_names, variant_sql
from tests.support import command, example, write_bright

ROWS = {
    "pony": [example("1", ["p/a.txt"]), example("2", ["p/b.txt"])],
    "aops": [example("1", ["q/a.txt"]), example("3", ["q/c.txt"])],
}
PONY, AOPS = ("bright", "pony"), ("bright", "aops")


@contextmanager
def loaded(data: Path, tasks: Sequence[TaskKey] = (PONY, AOPS)) -> Iterator[tuple[Cursor, Collections]]:
    with Database() as database:
        cursor = database.cursor()
        create_tables(cursor)
        collections = Collections(cursor, folder_sources(data))
        for task in tasks:
            assert collections.find(task[1], task[0]) == task
            collections.load(task)
        yield cursor, collections


@pytest.fixture
def data(tmp_path: Path) -> Path:
    # "question 1" is a text of both tasks.
    return write_bright(tmp_path / "data", ROWS)


def joined(
    data: Path, *arguments: str, tasks: Sequence[TaskKey] = (PONY, AOPS), task: str | None = None
) -> tuple[dict[tuple[str, str], dict[str, str]], list[Finding]]:
    """(variant, task) -> query id -> text, and the findings."""
    with loaded(data, tasks) as (cursor, collections):
        findings = load_given_variants(cursor, collections, arguments, tasks, task, complete=True)
        assert all(changes(finding.code) != UNKNOWN for finding in findings)
        return {
            (name, key[1]): dict(cursor.execute(variant_sql(collections, key, name)).fetchall())
            for key in tasks
            for name in collections.given_variants.get(key, ())
        }, findings


def write(path: Path, content: object) -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    return str(path)


def test_map_is_joined_by_text_in_every_task(data: Path, tmp_path: Path) -> None:
    path = write(tmp_path / "all.json", {"question 1": "one", "question 3": "three", "question 2": ""})
    found, findings = joined(data, f"new={path}")
    assert found == {("new", "pony"): {"1": "one", "2": ""}, ("new", "aops"): {"1": "one", "3": "three"}}
    assert [finding.code for finding in findings] == ["row-without-text"]


def test_one_pair_a_line_repeated_and_unknown_texts_and_other_values(data: Path, tmp_path: Path) -> None:
    lines = [{"question 1": "one"}, {"question 1": "uno"}, {"question 9": "nine"}, {"question 2": ["two"]}]
    path = write(tmp_path / "all.jsonl", "".join(json.dumps(line) + "\n" for line in lines))
    found, findings = joined(data, f"new={path}", tasks=[PONY])
    assert found == {("new", "pony"): {"1": "one"}}
    assert [(finding.code, finding.count) for finding in findings] == [
        ("bad-entry", 1), ("repeated-id", 1), ("variant-lacks-queries", 1), ("variant-unknown-queries", 1),
    ]  # fmt: skip


def test_map_by_query_id_of_a_named_task(data: Path, tmp_path: Path) -> None:
    path = write(tmp_path / "pony.json", {"1": "one", "2": "two"})
    assert joined(data, f"new={path}")[0] == {("new", "pony"): {"1": "one", "2": "two"}}


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("pony.tsv", '1\t"first line\nsecond ""line"""\n2\ttwo\n'),
        ("pony_queries.json", [{"id": "1", "query": 'first line\nsecond "line"'}, {"id": "2", "query": "two"}]),
        ("pony.jsonl", '{"query_id":"1","query":"x","rewrite":"first line\\nsecond \\"line\\""}\n'
                       '{"query_id":"2","query":"y","rewrite":"two"}\n'),
        ("pony.csv", 'qid,text\n1,"first line\nsecond ""line"""\n2,two\n'),
    ],
)  # fmt: skip
def test_tables_by_id(data: Path, tmp_path: Path, name: str, content: object) -> None:
    found, findings = joined(data, f"new={write(tmp_path / name, content)}")
    assert found == {("new", "pony"): {"1": 'first line\nsecond "line"', "2": "two"}}
    assert findings == []


def test_rows_name_their_tasks(data: Path, tmp_path: Path) -> None:
    rows = [{"task": "pony", "id": "1", "query": "p"}, {"task": "AOPS", "id": "1", "query": "a"}]
    found, findings = joined(data, f"new={write(tmp_path / 'all.json', rows)}")
    assert found == {("new", "pony"): {"1": "p"}, ("new", "aops"): {"1": "a"}}
    assert [finding.code for finding in findings] == ["variant-lacks-queries"] * 2


def test_golds_tell_the_task_and_differ(data: Path, tmp_path: Path) -> None:
    rows = [
        {"id": "1", "query": "one", "gold_ids": ["q/a.txt"]},
        {"id": "3", "query": "three", "gold_ids": ["q/c.txt", "q/new.txt"]},
        {"id": "7", "query": "seven", "gold_ids": ["q/x.txt"]},
    ]
    found, findings = joined(data, f"new={write(tmp_path / 'rows.json', rows)}")
    assert found == {("new", "aops"): {"1": "one", "3": "three"}}
    assert [(finding.code, finding.count) for finding in findings] == [
        ("variant-unknown-queries", 1),
        ("variant-other-golds", 1),
    ]


def test_nothing_tells_the_task(data: Path, tmp_path: Path) -> None:
    path = write(tmp_path / "rows.tsv", "1\tone\n")
    with pytest.raises(UsageError, match=r"nothing tells of which task.*pony, aops"):
        joined(data, f"new={path}")
    assert joined(data, f"new={path}", task="aops")[0] == {("new", "aops"): {"1": "one"}}
    assert joined(data, f"new={path}", tasks=[AOPS])[0] == {("new", "aops"): {"1": "one"}}


def test_folder_of_a_file_a_task_is_named_by_its_folder(data: Path, tmp_path: Path) -> None:
    for task in ("pony", "aops"):
        write(tmp_path / "inf-x" / f"{task}_queries.json", [{"id": "1", "query": f"of {task}"}])
    found, _ = joined(data, str(tmp_path / "inf-x"))
    assert found == {("inf-x", "pony"): {"1": "of pony"}, ("inf-x", "aops"): {"1": "of aops"}}


def test_folder_of_what_rewrite_makes(data: Path, tmp_path: Path) -> None:
    folder = tmp_path / "made"
    line = json.dumps({"query_id": "1", "query": "one", "dataset": "bright", "task": "pony", "variant": "qwen"})
    path = write(folder / "pony.jsonl", line + "\n")
    write(folder / "pony.jsonl.json", {"made_by": "bright-inspect rewrite", "variant": "qwen"})
    write(folder / "pony.jsonl.failures.jsonl", json.dumps({"query_id": "2", "error": "empty", "tries": 3}) + "\n")
    for argument in (path, str(folder)):
        found, findings = joined(data, argument)
        assert found == {("qwen", "pony"): {"1": "one"}}, "the lines tell the variant"
        assert [finding.code for finding in findings] == ["variant-lacks-queries"]
    assert set(joined(data, f"new={path}")[0]) == {("new", "pony")}


def test_querygym_by_its_description_its_texts_or_its_folder(data: Path, tmp_path: Path) -> None:
    folder = tmp_path / "query2doc" / "model"
    texts = write(folder / "ab.queries.tsv", "1\tone\n")
    made = {
        "pipeline": {"dataset_id": "bright-pony", "method_id": "query2doc"},
        "config": {"method_params": {"mode": "cot"}},
        "artifacts": {"reformulated_queries": "ab.queries.tsv"},
    }
    description = write(folder / "ab.json", made)
    for argument in (description, texts, str(tmp_path / "query2doc")):
        assert joined(data, argument)[0] == {("query2doc-cot", "pony"): {"1": "one"}}
    made["artifacts"] = {"reformulated_queries": "../../elsewhere.tsv"}
    with pytest.raises(UnreadableInput, match="are not beside it"):
        joined(data, write(folder / "ab.json", made))


def test_name_that_is_taken(data: Path, tmp_path: Path) -> None:
    write_bright(data, {"pony": [{"id": "1", "query": "x"}]}, "gpt4_reason")
    path = write(tmp_path / "pony.tsv", "1\tone\n")
    with pytest.raises(UsageError, match="bright/pony has a variant gpt4_reason already"):
        joined(data, f"gpt4_reason={path}")
    with pytest.raises(UsageError, match="query 1 of bright/pony has a variant new already"):
        joined(data, f"new={path}", f"new={path}")
    with pytest.raises(UsageError, match="original is no name"):
        joined(data, f"original={path}")


def test_file_that_is_of_no_query_here(data: Path, tmp_path: Path) -> None:
    path = write(tmp_path / "biology.tsv", "1\tone\n")
    found, findings = joined(data, f"new={path}")
    assert found == {}
    assert [finding.code for finding in findings] == ["unused-variant"]


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"a": 1}', '{"a": "b"', "no table", '{"a": ["b"]}', "\0\1"])
def test_damaged_file(data: Path, tmp_path: Path, content: str) -> None:
    with pytest.raises(BrightInspectError, match="pony"):
        joined(data, f"new={write(tmp_path / 'pony.json', content)}")


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("pony.jsonl", json.dumps({"query": "w " * 200_000, "id": "1"}) + "\n" + '{"query": "two", "id": "2"}\n'),
        ("pony.json", [{"query": "w " * 200_000, "id": "1"}, {"query": "two", "id": "2"}]),
        ("pony.jsonl", '{"query":"one\u2028line\u0085more","id":"1"}\n{"query":"two","id":"2"}\n'),
        ("pony.json", '{"question 9": null, "question 1": "one", "question 2": "two"}'),
    ],
    ids=["long first line", "long first row", "other line separators", "a value that is none"],
)
def test_what_is_large_or_odd_and_good(data: Path, tmp_path: Path, name: str, content: object) -> None:
    found, findings = joined(data, f"new={write(tmp_path / name, content)}", tasks=[PONY])
    assert {query_id for query_id, text in found["new", "pony"].items() if text} == {"1", "2"}
    assert {finding.code for finding in findings} <= {"bad-entry"}


def test_map_in_utf_16_and_with_half_characters(data: Path, tmp_path: Path) -> None:
    path = tmp_path / "all.json"
    path.write_text('{"question 2": "two", "question 1": "o\\ud800ne"}', encoding="utf-16")
    found, findings = joined(data, f"new={path}", tasks=[PONY])
    assert found == {("new", "pony"): {"1": "o\ufffdne", "2": "two"}}
    assert [finding.code for finding in findings] == ["utf-16", "invalid-utf8"]


def test_a_task_spelled_in_two_ways_and_one_that_is_not_known(data: Path, tmp_path: Path) -> None:
    rows = [
        {"task": " Pony", "id": "1", "query": "first", "gold_ids": "no list"},
        {"task": "pony", "id": "1", "query": "second"},
        {"task": "pony", "id": "2", "query": "two"},
        {"task": "ponny", "id": "2", "query": "lost"},
    ]
    found, findings = joined(data, f"new={write(tmp_path / 'all.json', rows)}", tasks=[PONY])
    assert found == {("new", "pony"): {"1": "first", "2": "two"}}
    assert [(finding.code, finding.count) for finding in findings] == [
        ("repeated-id", 1),
        ("variant-unknown-queries", 1),
    ]
    assert "ponny" in findings[1].message


def test_the_typed_path_goes_before_the_task(data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path / "aops.tsv", "1\tone\n")
    monkeypatch.chdir(tmp_path)
    assert joined(data, "new=aops.tsv", task="pony")[0] == {("new", "aops"): {"1": "one"}}


def test_variant_of_another_upload_of_the_data(data: Path) -> None:
    rows = [{**example("1", ["p/z.txt"]), "query": "long"}, {**example("8", ["p/b.txt"]), "query": "longer"}]
    write_bright(data, {"pony": rows}, "gpt4_reason")
    with loaded(data, [PONY]) as (cursor, collections):
        assert variant_names(collections, PONY) == ("gpt4_reason",)
        assert [(finding.code, finding.count) for finding in collections.findings] == [
            ("variant-lacks-queries", 1), ("variant-unknown-queries", 1), ("variant-other-golds", 1),
        ]  # fmt: skip
        [count] = variant_counts(cursor, collections, [PONY])
        assert (count.queries, count.joined, count.unjoined) == (2, 1, 1)


def test_every_shared_file_joins_every_query(bright_data: Path) -> None:
    rewrites = bright_data / "rewrites"
    files = [rewrites / "tongsearch-qr-7b.json", rewrites / "inf-x", rewrites / "querygym"]
    done = command("variants", "--data", bright_data / "bright", "--json", *(f"--variant={file}" for file in files))
    assert (done.returncode, done.stderr) == (0, "")
    found = json.loads(done.stdout)["variants"]
    assert all(row["joined"] == row["queries"] and row["unjoined"] == 0 for row in found)
    by_name: dict[str, list[int]] = {}
    for row in found:
        by_name.setdefault(row["name"], []).append(row["joined"])
    assert {name: (len(counts), sum(counts)) for name, counts in by_name.items()} == {
        "gpt4_reason": (2, 258), "tongsearch-qr-7b": (12, 1384), "inf-x": (4, 446), "lamer": (1, 116),
        "mugi": (1, 116), "query2doc-cot": (1, 116), "query2doc-fs": (1, 116), "query2doc-zs": (1, 116),
    }  # fmt: skip

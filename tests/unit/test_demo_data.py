"""The embedded data set keeps what it was written to show: sizes, odd ids, twins, siblings, exclusions."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import bright_inspect.demo
from bright_inspect.datasets.places import demo_source
from bright_inspect.demo import BASELINE, RUN_FILES, demo_runs
from bright_inspect.domain.pages import siblings
from bright_inspect.errors import UnreadableInput

DATA = Path(bright_inspect.demo.__file__).parent / "data"
TASKS = ("kitchen_science", "city_ecology", "home_computing", "contest_maths")
NONE = ["N/A"]

Rows = list[dict[str, Any]]


def rows(config: str, task: str) -> Rows:
    text = (DATA / config / f"{task}.jsonl").read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


def over_all_tasks(config: str) -> Rows:
    return [row for task in TASKS for row in rows(config, task)]


def test_the_source_has_the_four_tasks_and_one_variant_of_each() -> None:
    source = demo_source()
    assert sorted(source.tasks()["demo"]) == sorted(TASKS)
    assert [source.variants("demo", task) for task in TASKS] == [("demo_reason",)] * 4


def test_sizes() -> None:
    assert len(over_all_tasks("examples")) >= 16
    assert len(over_all_tasks("documents")) >= 110


def test_queries_have_the_length_of_real_posts() -> None:
    lengths = [len(row["query"].split()) for row in over_all_tasks("examples")]
    assert min(lengths) >= 60


@pytest.mark.parametrize("task", TASKS)
def test_passages_have_60_to_200_words(task: str) -> None:
    odd = {row["id"]: n for row in rows("documents", task) if not 60 <= (n := len(row["content"].split())) <= 200}
    assert odd == {}


def test_query_ids_are_unique_over_the_tasks_so_that_one_trec_file_can_hold_them() -> None:
    for config in ("examples", "demo_reason"):
        ids = [row["id"] for row in over_all_tasks(config)]
        assert len(set(ids)) == len(ids)


@pytest.mark.parametrize("task", TASKS)
def test_document_ids_are_unique(task: str) -> None:
    ids = [row["id"] for row in rows("documents", task)]
    assert len(set(ids)) == len(ids)


@pytest.mark.parametrize("character", [" ", "#", "'"])
def test_some_document_id_holds(character: str) -> None:
    assert any(character in row["id"] for row in over_all_tasks("documents"))


def test_some_document_id_is_not_ascii_and_some_query_id_is_a_path() -> None:
    assert any(not row["id"].isascii() for row in over_all_tasks("documents"))
    assert any("/" in row["id"] for row in over_all_tasks("examples"))


def test_two_documents_of_a_task_have_the_same_text() -> None:
    twins = [
        text
        for task in TASKS
        for text, count in Counter(row["content"] for row in rows("documents", task)).items()
        if count == 2
    ]
    assert twins


@pytest.mark.parametrize("task", TASKS)
def test_golds_exist_are_listed_once_and_are_not_excluded(task: str) -> None:
    ids = {row["id"] for row in rows("documents", task)}
    for row in rows("examples", task):
        golds = row["gold_ids"]
        assert golds
        assert len(set(golds)) == len(golds)
        assert set(golds) <= ids
        assert not set(golds) & set(row["excluded_ids"])


@pytest.mark.parametrize("task", TASKS)
def test_most_of_the_corpus_is_not_gold(task: str) -> None:
    golds = {gold for row in rows("examples", task) for gold in row["gold_ids"]}
    assert len(golds) <= len(rows("documents", task)) / 2


def test_one_task_has_exclusions_and_its_corpus_holds_excluded_documents() -> None:
    excluding = [task for task in TASKS if any(row["excluded_ids"] != NONE for row in rows("examples", task))]
    assert excluding == ["contest_maths"]
    ids = {row["id"] for row in rows("documents", "contest_maths")}
    for row in rows("examples", "contest_maths"):
        assert row["id"] in row["excluded_ids"]
        assert len(ids & set(row["excluded_ids"])) >= 2


@pytest.mark.parametrize("task", TASKS[:3])
def test_golds_come_from_their_pages_and_have_siblings(task: str) -> None:
    ids = {row["id"] for row in rows("documents", task)}
    with_siblings = 0
    for row in rows("examples", task):
        golds = set(row["gold_ids"])
        of_pages = siblings(ids, row["gold_ids_long"])
        assert golds <= of_pages
        with_siblings += of_pages > golds
    assert with_siblings >= 2


def test_every_query_has_human_reasoning_and_a_variant_of_its_own() -> None:
    for task in TASKS:
        rewritten = {row["id"]: row["query"] for row in rows("demo_reason", task)}
        for row in rows("examples", task):
            assert len(row["reasoning"].split()) >= 20
            assert rewritten[row["id"]] != row["query"]
        assert len(rewritten) == len(rows("examples", task))


def test_gold_answers_are_there_and_written_as_bright_writes_none() -> None:
    answers = [row["gold_answer"] for row in over_all_tasks("examples")]
    assert sum(answer != "N/A" for answer in answers) >= 16
    assert all(answers)


def test_demo_runs_end_with_the_baseline() -> None:
    paths = demo_runs()
    assert [path.name for path in paths] == list(RUN_FILES)
    assert all(path.is_file() for path in paths)
    assert paths[-1].stem == f"{BASELINE}@original"


def test_demo_runs_in_the_package_come_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "site" / "bright_inspect" / "demo"
    (package / "runs").mkdir(parents=True)
    monkeypatch.setattr(bright_inspect.demo, "__file__", str(package / "__init__.py"))
    for name in RUN_FILES:
        (package / "runs" / name).touch()
    assert {path.parent for path in demo_runs()} == {(package / "runs").resolve()}


def test_without_its_runs_the_demo_says_where_it_looked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    module = tmp_path / "bright_inspect" / "demo" / "__init__.py"
    monkeypatch.setattr(bright_inspect.demo, "__file__", str(module))
    with pytest.raises(UnreadableInput) as caught:
        demo_runs()
    assert str(tmp_path / "runs") in str(caught.value)
    assert "runs/make.py" in caught.value.hint

"""Which files are one column, and what the columns are called."""

from __future__ import annotations

from pathlib import PurePath

import pytest

from bright_inspect.domain.columns import NamedFile, name_runs, need_full_labels
from bright_inspect.domain.names import RunName, describe_path, parse_run_argument
from bright_inspect.errors import UsageError


def file(argument: str, task: str = "biology", tag: str | None = None, folder: str = "/home/me") -> NamedFile:
    """A file as typed in ``folder``, of one BRIGHT task."""
    name, path = parse_run_argument(argument)
    whole = path if path.startswith("/") else f"{folder}/{path}"
    described = describe_path(whole, typed_parts=len(PurePath(path).parts))
    return NamedFile(name, describe_path(path), described, tag, frozenset({("bright", task)}))


def names(*files: NamedFile) -> list[str]:
    return [str(name) for name in name_runs(files)]


def test_files_of_one_system_over_several_tasks_are_one_column() -> None:
    assert names(file("reasonir/biology.txt"), file("reasonir/aops.txt", "aops")) == ["reasonir", "reasonir"]


def test_two_files_of_one_system_and_one_task_take_one_more_path_part() -> None:
    assert names(file("old/qwen/biology.txt"), file("new/qwen/biology.txt")) == ["old/qwen", "new/qwen"]


def test_a_clash_takes_as_many_parts_as_it_needs_and_others_keep_theirs() -> None:
    files = [file("a/x/qwen/biology.txt"), file("b/x/qwen/biology.txt"), file("bm25/biology.txt")]
    assert names(*files) == ["a/x/qwen", "b/x/qwen", "bm25"]


def test_a_clash_goes_on_above_the_typed_path() -> None:
    one, other = file("qwen.trec", folder="/one"), file("qwen.trec", folder="/other")
    assert len(set(names(one, other))) == 2


def test_variants_keep_columns_apart() -> None:
    files = [file("o/biology_bm25_long_False/score.json"), file("o/biology_bm25_gpt4_reason_long_False/score.json")]
    assert names(*files) == ["bm25", "bm25@gpt4_reason"]


def test_a_folder_above_what_was_typed_names_no_variant() -> None:
    assert name_runs([file("qwen.trec", folder="/home/me@lab")]) == [RunName("qwen", None)]
    assert name_runs([file("q@v/aops.trec", "aops", folder="/home/me@lab")]) == [RunName("q", "v")]


def test_an_unknown_variant_is_a_run_of_its_own() -> None:
    known, unknown = RunName("bm25", "original"), RunName("bm25", None)
    found = name_runs([file("o/biology_bm25_long_False/score.json"), file("bm25/aops.txt", "aops"), file("bm25.txt")])
    assert found == [known, RunName("bm25", None), RunName("bm25", None)]
    assert need_full_labels(found) == {known, unknown}
    assert need_full_labels([known, RunName("bm25", "gpt4_reason"), RunName("qwen", None)]) == set()
    assert need_full_labels([RunName("a@b", None), RunName("a", "b")]) == {RunName("a@b", None), RunName("a", "b")}


def test_the_same_file_twice_gets_a_number() -> None:
    assert names(file("qwen.trec"), file("qwen.trec")) == ["qwen", "qwen#2"]


def test_an_explicit_name_stands_and_keeps_the_variant_of_the_path() -> None:
    assert names(file("mine=o/biology_bm25_gpt4_reason_long_False/score.json")) == ["mine@gpt4_reason"]
    assert names(file("mine@own=o/biology_bm25_gpt4_reason_long_False/score.json")) == ["mine@own"]


def test_one_name_for_two_files_of_a_task_is_an_error() -> None:
    with pytest.raises(UsageError, match="two files are named mine for the same task"):
        names(file("mine=a.trec"), file("mine=b.trec"))


def test_one_name_for_files_of_several_tasks_is_one_column() -> None:
    assert names(file("mine=a.trec"), file("mine=b.trec", "aops")) == ["mine", "mine"]


def test_a_derived_name_gives_way_to_an_explicit_one() -> None:
    assert names(file("qwen=a.trec"), file("x/qwen.trec")) == ["qwen", "x/qwen"]


def test_the_tag_names_a_run_whose_path_tells_nothing() -> None:
    assert names(file("biology.txt", tag="dense-v2")) == ["dense-v2"]
    assert names(file("biology.txt")) == ["me"]
    assert names(file("/score.json")) == ["run"]


def test_equal_tags_take_the_folder_too() -> None:
    one, other = file("biology.txt", tag="t", folder="/lab/one"), file("biology.txt", tag="t", folder="/lab/other")
    assert names(one, other) == ["one/t", "other/t"]

"""Prompt templates: each task's own, a user's, and queries that look like templates."""

from __future__ import annotations

from pathlib import Path

import pytest

from bright_inspect.domain.names import BRIGHT_TASKS
from bright_inspect.errors import UsageError
from bright_inspect.rewriting.prompts import Prompt, checked, prompt_for, prompts_folder


def test_each_task_has_the_template_of_its_kind() -> None:
    kinds = {task: prompt_for(task).source for task in (*BRIGHT_TASKS, "demo-of-none")}
    assert kinds["biology"] == kinds["stackoverflow"] == "built in: question"
    assert kinds["leetcode"] == kinds["pony"] == "built in: coding"
    assert kinds["aops"] == kinds["theoremqa_theorems"] == "built in: maths"
    assert kinds["demo-of-none"] == "built in: general"
    for task in kinds:
        assert prompt_for(task).template.count("{query}") == 1


def test_a_query_is_put_in_literally() -> None:
    query = "what is {query} in '{0}' % {x!r} {{}} \\1?"
    assert Prompt("{a} {query} {{b}}", "").filled(query) == "{a} " + query + " {{b}}"


def test_a_users_own_come_first(tmp_path: Path) -> None:
    folder = prompts_folder()
    folder.mkdir(parents=True)
    (folder / "maths.txt").write_text("of the kind: {query}")
    (folder / "aops.txt").write_text("\ufeffof the task: {query}", encoding="utf-8")
    assert prompt_for("aops").template == "of the task: {query}"
    assert prompt_for("theoremqa-questions").template == "of the kind: {query}"
    named = tmp_path / "mine.txt"
    named.write_text("named: {query}")
    assert prompt_for("aops", named) == Prompt("named: {query}", str(named))


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"no place", "no {query} in the prompt"),
        (b"", "no {query} in the prompt"),
        (b"\xff\xfe{query}", "not text in UTF-8"),
        (None, "cannot be read (No such file or directory)"),
        (b"{query}" * 200_000, "larger than 1,000,000 bytes"),
    ],
    ids=["no place", "empty", "utf-16", "absent", "large"],
)
def test_what_is_no_prompt(tmp_path: Path, content: bytes | None, problem: str) -> None:
    path = tmp_path / "mine.txt"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(UsageError) as raised:
        prompt_for("aops", path)
    assert str(path) in raised.value.message
    assert problem in raised.value.message
    assert "{query}" in raised.value.hint


def test_an_edited_one_is_checked() -> None:
    with pytest.raises(UsageError, match="the edited prompt: no"):
        checked("text", "the edited prompt")

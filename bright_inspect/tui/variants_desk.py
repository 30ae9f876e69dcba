"""What the texts of variants are like, read once per task. Methods that take a token run in workers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager

from bright_inspect.db import Cursor
from bright_inspect.domain.names import ORIGINAL
from bright_inspect.rewriting.lengths import VariantLengths, task_lengths
from bright_inspect.store.collections import TaskKey
from bright_inspect.store.progress import CancelToken
from bright_inspect.store.session import Session
from bright_inspect.store.variants import variant_names


class VariantsDesk:
    """The variants of a session's tasks."""

    def __init__(self, session: Session, cursor: Callable[[CancelToken], AbstractContextManager[Cursor]]) -> None:
        self._session, self._cursor = session, cursor
        self._read: dict[TaskKey, list[VariantLengths]] = {}

    def is_read(self, tasks: Sequence[TaskKey]) -> bool:
        """Whether the texts of these tasks were measured."""
        return all(task in self._read for task in tasks)

    def lengths(self, tasks: Sequence[TaskKey]) -> dict[tuple[TaskKey, str], VariantLengths]:
        """What is known of the texts of these tasks by now."""
        return {(task, each.variant): each for task in tasks for each in self._read.get(task, ())}

    def read(self, tasks: Sequence[TaskKey], tell: Callable[[int], None], token: CancelToken) -> None:
        """Measure the texts of these tasks; ``tell`` hears after each how many are done. What is done stays."""
        for number, task in enumerate(tasks, 1):
            if task not in self._read:
                with self._cursor(token) as cursor:
                    self._read[task] = task_lengths(cursor, self._session.collections, task, token.check)
            tell(number)

    def names(self, run_id: int, token: CancelToken) -> list[str]:
        """The variants that a run can have been made with, as far as their texts are at hand: the original first."""
        tasks = self._session.runs[run_id].tasks
        names = dict.fromkeys([ORIGINAL])
        for task in tasks:
            token.check()
            names.update(dict.fromkeys(variant_names(self._session.collections, task)))
        # Where no texts are at hand, what other runs were made with.
        names.update(dict.fromkeys(run.name.variant for run in self._session.runs if run.name.variant))
        return list(names)

"""How other tools score the same lists, so that a value that differs from another program's can be traced to a rule.

Each convention states one tool's rule with its source, computes a query's value and a task's mean by it, and says in
one line why that differs from ours for the query at hand. The tests hold every one of them to the tool itself.
"""

from __future__ import annotations

from bright_inspect.errors import UsageError
from bright_inspect.evaluation.conventions.cases import ListedDoc, QueryCase, QueryValue, TaskMean
from bright_inspect.evaluation.conventions.known import CONVENTIONS, OURS
from bright_inspect.evaluation.conventions.rules import Convention

__all__ = [
    "CONVENTIONS", "OURS", "Convention", "ListedDoc", "QueryCase", "QueryValue", "TaskMean", "find_convention",
]  # fmt: skip


def find_convention(name: str) -> Convention:
    """The convention of this name, whatever its case.

    Raises:
        UsageError: there is none.
    """
    for convention in CONVENTIONS:
        if convention.name == name.strip().lower():
            return convention
    raise UsageError(f"unknown convention {name!r}.", f"Known: {', '.join(known.name for known in CONVENTIONS)}.")

"""Sorting rows of which some have no value: those come last, whichever way the others are sorted."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeVar

T = TypeVar("T")


def sorted_by(rows: Iterable[T], value: Callable[[T], Any], descending: bool) -> list[T]:
    """The rows by a value each, which is worked out once; equals stay in their order, rows whose value is None too."""
    valued = [(value(row), row) for row in rows]
    present = [pair for pair in valued if pair[0] is not None]
    absent = [row for found, row in valued if found is None]
    return [row for _, row in sorted(present, key=lambda pair: pair[0], reverse=descending)] + absent

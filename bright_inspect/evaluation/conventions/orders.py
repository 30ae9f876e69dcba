"""The orders in which tools rank equal and nearly equal scores."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from bright_inspect.evaluation.conventions.cases import ListedDoc

_Docs = Sequence[ListedDoc]
#: Up to this many documents numba sorts by insertion, which keeps the order of equal ones (numba/misc/quicksort.py).
_INSERTION_SORT = 15


def float32(score: float) -> float:
    """The score rounded to float32, infinite beyond its range."""
    return ctypes.c_float(score).value


@dataclass(frozen=True, slots=True)
class Order:
    """A ranking rule: ``rank`` puts documents in order, best first; ``key`` is the number that it compares, and ``tie``
    says in words which of two equal ones is first."""

    rank: Callable[[_Docs], list[ListedDoc]]
    key: Callable[[float], float]
    tie: str


def _by_score(docs: _Docs) -> list[ListedDoc]:
    return sorted(docs, key=lambda doc: -doc.score)


def _by_numba(docs: _Docs) -> list[ListedDoc]:
    return [docs[index] for index in numba_argsort([-doc.score for doc in docs])]


# Code points sort as the UTF-8 bytes that strcmp compares.
FLOAT32 = Order(
    lambda docs: sorted(docs, key=lambda doc: (float32(doc.score), doc.doc_id), reverse=True),
    float32,
    "document id descending",
)
FLOAT64 = Order(
    lambda docs: sorted(docs, key=lambda doc: (doc.score, doc.doc_id), reverse=True), float, "document id descending"
)
ID_ASCENDING = Order(
    lambda docs: sorted(docs, key=lambda doc: (-doc.score, doc.doc_id)), float, "document id ascending"
)
STABLE = Order(_by_score, float, "the file's order")
AS_LISTED = Order(list, float, "the file's order")
NUMBA = Order(_by_numba, float, "the order that numba's quicksort leaves")
NUMBA_TWICE = Order(
    lambda docs: _by_numba(_by_numba(docs)), float, "the order that numba's quicksort leaves when run twice"
)


def numba_argsort(values: Sequence[float]) -> list[int]:
    """The indices that sort the values, ascending and NaN last, with equal values where numba's ``np.argsort`` leaves
    them: quicksort with the median of three as pivot, the larger part put off, insertion for short parts
    (numba/misc/quicksort.py). numpy's own argsort leaves them elsewhere."""
    order = list(range(len(values)))
    waiting = [(0, len(values) - 1)]
    while waiting:
        low, high = waiting.pop()
        while high - low >= _INSERTION_SORT:
            pivot = _partition(values, order, low, high)
            if high - pivot > pivot - low:
                waiting.append((pivot + 1, high))
                high = pivot - 1
            else:
                if pivot > low:
                    waiting.append((low, pivot - 1))
                low = pivot + 1
        # A stable sort: what insertion gives.
        order[low : high + 1] = sorted(order[low : high + 1], key=lambda index: _nan_last(values[index]))
    return order


def _nan_last(value: float) -> tuple[bool, float]:
    return (True, 0.0) if value != value else (False, value)


def _partition(values: Sequence[float], order: list[int], low: int, high: int) -> int:
    """Part ``order[low : high + 1]`` around the median of its first, middle and last value; where that ends up."""

    def less(left: int, right: int) -> bool:
        return _nan_last(values[left]) < _nan_last(values[right])

    def swap(first: int, second: int) -> None:
        order[first], order[second] = order[second], order[first]

    middle = (low + high) // 2
    for first, second in ((low, middle), (middle, high), (low, middle)):
        if less(order[second], order[first]):
            swap(first, second)
    pivot = order[middle]
    swap(middle, high)
    left, right = low, high - 1
    while True:
        while left < high and less(order[left], pivot):
            left += 1
        while right >= low and less(pivot, order[right]):
            right -= 1
        if left >= right:
            break
        swap(left, right)
        left, right = left + 1, right - 1
    swap(left, high)
    return left

"""Orders, and the way through the queue."""

from __future__ import annotations

import time
from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bright_inspect.domain.rankings import QueryKey
from bright_inspect.errors import UsageError
from bright_inspect.judging.candidates import CandidatePool
from bright_inspect.judging.queue import (
    LONGEST_DECISION,
    ORDERS,
    REPEAT_GAP,
    Order,
    Queue,
    QueueItem,
    ordered_places,
    queue_items,
)

KEYS = tuple(QueryKey("bright", "biology", query_id) for query_id in "123")
# Candidates 0–5 of queries 1, 1, 1, 2, 2, 3; two runs.
RANKS = [(1, 3), (2, 0), (30, 2), (1, 1), (0, 4), (9, 0)]
EFFECTS = [0.1, 0.4, 0.2, 0.5, 0.3, 0.4]
SCORES = [1.0, 0.0, 3.0, 1.0, 2.0, 0.5]


def make_pool(decided: tuple[int, ...] = ()) -> CandidatePool:
    ranks = np.array(RANKS, np.int32)
    marks = np.zeros(len(RANKS), np.bool_)
    marks[list(decided)] = True
    numbers = np.array([0, 0, 0, 1, 1, 2], np.int32)
    return CandidatePool(10, 100, KEYS, numbers, list("abcdef"), ranks, ranks.astype(np.float64), marks, {})


def order(name: Order, **options: object) -> list[int]:
    return ordered_places(make_pool(), name, effects=EFFECTS, scores=SCORES, **options)  # type: ignore[arg-type]


def test_orders() -> None:
    assert order("effect") == [3, 4, 1, 2, 0, 5]
    assert order("evidence") == [2, 4, 0, 3, 5, 1]
    assert order("agreement") == [0, 3, 1, 2, 4, 5]
    assert order("run", run_id=0) == [0, 3, 1, 5, 2]
    assert order("run", run_id=1) == [3, 2, 0, 4]
    assert sorted(order("random")) == list(range(6))


def test_a_query_is_not_asked_about_more_often_than_wanted() -> None:
    assert order("effect", per_query=1) == [3, 1, 5]
    assert order("effect", per_query=2) == [3, 4, 1, 2, 5]
    assert order("evidence", per_query=1) == [2, 4, 5]


def test_what_is_decided_is_left_out() -> None:
    pool = make_pool((3, 1))
    assert ordered_places(pool, "effect", effects=EFFECTS) == [5, 4, 2, 0]
    assert [item.doc_id for item in queue_items(pool, [5, 4])] == ["f", "e"]


def test_random_is_by_seed_and_of_each_document_alone() -> None:
    orders = {tuple(order("random", seed=seed)) for seed in range(20)}
    assert len(orders) > 10
    assert order("random", seed=7) == order("random", seed=7)
    whole, part = order("random", seed=7), ordered_places(make_pool((2,)), "random", seed=7)
    assert part == [place for place in whole if place != 2]


def test_blind_chooses_by_the_order_and_tells_nothing_of_it() -> None:
    chosen = order("effect", per_query=1, blind=True)
    assert set(chosen) == {3, 1, 5}
    shuffled = {tuple(order("effect", blind=True, seed=seed)) for seed in range(30)}
    assert len(shuffled) > 10
    for places in shuffled:  # a query's documents stay together
        queries = [int(make_pool().query_of[place]) for place in places]
        assert len([one for one, other in pairwise(queries) if one != other]) == 2


@pytest.mark.parametrize("name", ORDERS)
def test_an_order_says_what_it_needs(name: Order) -> None:
    if name in ("agreement", "random"):
        assert ordered_places(make_pool(), name)
    else:
        with pytest.raises(UsageError, match="needs"):
            ordered_places(make_pool(), name)
    with pytest.raises(UsageError, match="a query"):
        order(name, run_id=0, per_query=0)


class Clock:
    """Seconds that pass when they are told to."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def items(count: int) -> list[QueueItem]:
    return [QueueItem(KEYS[0], f"d{number}") for number in range(count)]


def shown(queue: Queue) -> str | None:
    return queue.current.doc_id if queue.current else None


def test_next_previous_and_undo() -> None:
    queue = Queue(items(3))
    assert queue.previous() is None
    assert shown(queue) == "d0"
    queue.decide(1)
    queue.decide(0)
    assert (shown(queue), queue.position) == ("d2", 2)
    queue.previous()
    assert shown(queue) == "d1"
    queue.next()
    assert shown(queue) == "d2"
    undone = queue.undo()
    assert undone is not None
    assert (undone.item.doc_id, undone.relevance, shown(queue)) == ("d1", 0, "d1")
    queue.undo()
    assert (shown(queue), queue.progress().done) == ("d0", 0)
    assert queue.undo() is None
    for _ in range(3):
        queue.decide(None)
    assert queue.current is None
    assert queue.decide(1) is None
    assert queue.next() is None
    assert [(decided.item.doc_id, decided.relevance) for decided in queue.decisions] == [
        ("d0", None), ("d1", None), ("d2", None)
    ]  # fmt: skip
    queue.previous()
    assert shown(queue) == "d2"
    queue.decide(1)  # another mind
    assert (queue.current, queue.progress().done) == (None, 3)
    queue.undo()
    assert (shown(queue), queue.progress().done) == ("d2", 3)


def test_what_is_passed_over_comes_round_again() -> None:
    queue = Queue(items(3))
    queue.next()
    queue.decide(1)
    queue.next()
    assert shown(queue) == "d0"
    queue.next()
    assert shown(queue) == "d2"
    queue.decide(1)
    assert shown(queue) == "d0"
    assert queue.next() is None
    assert shown(queue) == "d0"
    queue.decide(1)
    assert queue.current is None
    queue.undo()
    queue.undo()
    assert shown(queue) == "d2"
    queue.next()
    assert shown(queue) == "d0"
    queue.decide(0)
    assert shown(queue) == "d2"


def test_an_empty_queue() -> None:
    queue = Queue([], held_back=4)
    assert queue.current is None
    assert queue.next() is None
    assert queue.previous() is None
    assert queue.undo() is None
    progress = queue.progress()
    assert (progress.done, progress.remaining, progress.held_back, progress.pace) == (0, 0, 4, None)


def test_pace_and_time_left() -> None:
    clock = Clock()
    queue = Queue(items(100), held_back=7, clock=clock)
    assert queue.progress().minutes_left is None
    for seconds in (30.0, 30.0, LONGEST_DECISION + 1, *[6.0] * 19):
        clock.now += seconds
        queue.decide(1)
    progress = queue.progress()
    assert (progress.done, progress.remaining, progress.total, progress.held_back) == (22, 78, 100, 7)
    assert progress.pace == pytest.approx(10.0)  # the last 20 only; a pause is no work
    assert progress.minutes_left == pytest.approx(7.8)
    queue.undo()
    assert queue.progress().done == 21


def test_repeats_come_at_the_rate_and_never_twice_in_a_row() -> None:
    def run(seed: int) -> list[QueueItem]:
        queue, seen = Queue(items(1000), repeat_rate=0.1, seed=seed), []
        while queue.current is not None:
            seen.append(queue.current)
            queue.decide(1)
        assert queue.progress().done == 1000
        assert queue.progress().repeats == sum(item.repeat for item in seen)
        return seen

    seen = run(1)
    assert seen == run(1) != run(2)
    assert 70 <= sum(item.repeat for item in seen) <= 130
    assert not any(one.repeat and other.repeat for one, other in pairwise(seen))
    first = {item.doc_id: place for place, item in reversed(list(enumerate(seen)))}
    again = {item.doc_id: place for place, item in enumerate(seen) if item.repeat}
    assert all(place - first[doc_id] > REPEAT_GAP for doc_id, place in again.items())
    assert max(Counter(item.doc_id for item in seen).values()) == 2


def test_what_was_judged_earlier_may_come_back() -> None:
    earlier = [QueueItem(KEYS[1], f"e{number}") for number in range(5)]
    queue, seen = Queue(items(50), repeat_rate=1.0, earlier=earlier), []
    while queue.current is not None:
        seen.append(queue.current)
        queue.decide(1)
    assert {item.doc_id for item in seen if item.repeat} >= {item.doc_id for item in earlier}
    with pytest.raises(UsageError, match="repeat rate"):
        Queue([], repeat_rate=1.5)


@settings(max_examples=200, deadline=None)
@given(
    st.lists(st.sampled_from(["decide", "next", "previous", "undo"]), max_size=60),
    st.integers(1, 15), st.sampled_from([0.0, 0.3, 1.0]), st.integers(0, 3),
)  # fmt: skip
def test_nothing_is_lost_whatever_is_pressed(steps: list[str], count: int, rate: float, seed: int) -> None:
    queue = Queue(items(count), repeat_rate=rate, seed=seed)
    for step in steps:
        if step == "decide":
            queue.decide(1)
        else:
            getattr(queue, step)()
        decided = {taken.item for taken in queue.decisions}
        progress = queue.progress()
        assert progress.done == sum(not item.repeat for item in decided)
        assert progress.repeats == sum(item.repeat for item in decided)
    for _ in range(4 * count + len(steps)):
        if queue.current is None:
            break
        queue.decide(1)
    assert queue.current is None
    assert {taken.item for taken in queue.decisions if not taken.item.repeat} == set(items(count))


def test_steps_do_not_take_longer_with_more_items() -> None:
    queue = Queue(items(5000), repeat_rate=0.05)
    started = time.perf_counter()
    while queue.current is not None:
        queue.decide(1)
    for _ in range(4000):
        queue.undo()
    assert time.perf_counter() - started < 5  # 0.1 s; walking over the items at each step would take minutes

"""Queries read ahead: in order, once each, and handed over if they are asked for meanwhile."""

from __future__ import annotations

from typing import Any, cast

import pytest

from bright_inspect.domain.rankings import QueryKey
from bright_inspect.tui.desk import Desk
from bright_inspect.tui.read_ahead import ReadAhead
from bright_inspect.tui.runner import Runner

A, B, C, D = (QueryKey("bright", "biology", name) for name in "abcd")


class ByHand:
    """A desk that answers with the key, and a runner whose work is done when a test says so."""

    def __init__(self) -> None:
        self.lanes: dict[str, tuple[Any, Any, Any]] = {}
        self.read: list[QueryKey] = []

    def start(self, lane: str, work: Any, done: Any, failed: Any) -> None:
        self.lanes[lane] = work, done, failed

    def cancel(self, lane: str) -> None:
        self.lanes.pop(lane, None)

    def busy(self, lane: str) -> bool:
        return lane in self.lanes

    def read_query(self, key: QueryKey, token: None) -> QueryKey:
        self.read.append(key)
        return key

    def finish(self, lane: str, *, failing: bool = False) -> None:
        work, done, failed = self.lanes.pop(lane)
        if failing:
            failed()
        else:
            done(work(None))


@pytest.fixture
def hand() -> ByHand:
    return ByHand()


@pytest.fixture
def ahead(hand: ByHand) -> ReadAhead:
    return ReadAhead(cast(Desk, hand), cast(Runner, hand))


def test_several_are_read_in_order_and_once(hand: ByHand, ahead: ReadAhead) -> None:
    ahead.read_on(A, B)
    ahead.read_on(A, B, C)  # what is being read goes on
    for _ in range(3):
        hand.finish("ahead")
    assert (hand.read, hand.lanes) == ([A, B, C], {})
    ahead.read_on(B, C)
    assert not hand.lanes
    found: list[Any] = []
    ahead.ask(B, found.append, found.clear)
    assert (found, ahead.busy) == ([B], False)


def test_what_is_asked_for_while_it_is_read_is_not_read_twice(hand: ByHand, ahead: ReadAhead) -> None:
    found: list[Any] = []
    ahead.read_on(A, B)
    ahead.ask(A, found.append, found.clear)
    assert ahead.busy
    assert "query" not in hand.lanes
    hand.finish("ahead")
    assert (found, ahead.busy) == ([A], False)
    hand.finish("ahead")
    assert hand.read == [A, B]


def test_another_asked_for_meanwhile_supersedes_it(hand: ByHand, ahead: ReadAhead) -> None:
    found: list[Any] = []
    ahead.read_on(A)
    ahead.ask(A, found.append, found.clear)
    ahead.ask(D, found.append, found.clear)
    hand.finish("ahead")
    assert found == []
    hand.finish("query")
    assert found == [D]


def test_a_failure_is_told_to_who_asked_and_it_can_be_asked_again(hand: ByHand, ahead: ReadAhead) -> None:
    found: list[Any] = []
    ahead.read_on(A, B)
    ahead.ask(A, found.append, lambda: found.append("failed"))
    hand.finish("ahead", failing=True)
    assert (found, ahead.busy, hand.lanes) == (["failed"], False, {})
    ahead.ask(A, found.append, found.clear)
    hand.finish("query")
    assert found == ["failed", A]


def test_stopping_hands_nothing_over(hand: ByHand, ahead: ReadAhead) -> None:
    ahead.read_on(A)
    handed: list[Any] = []
    ahead.ask(A, handed.append, lambda: handed.append("failed"))
    ahead.stop()
    assert (handed, ahead.busy, hand.lanes) == ([], False, {})
    ahead.read_on(B)
    hand.finish("ahead")
    kept = ahead.kept
    assert kept(B) is not None
    ahead.forget()
    assert [kept(B)] == [None]

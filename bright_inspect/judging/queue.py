"""The order in which candidates come up, and the way through them: next, previous, undo, repeats, pace."""

from __future__ import annotations

import hashlib
import time
from collections import deque
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal, get_args

from bright_inspect.domain.rankings import QueryKey
from bright_inspect.errors import UsageError
from bright_inspect.judging.candidates import CandidatePool

#: ``effect``: queries by the largest effect of any of their candidates, then by effect; ``evidence``: by evidence
#: score; ``agreement``: by how many runs list the document in their top, then by best rank; ``run``: by one run's rank;
#: ``random``: by a seed.
Order = Literal["effect", "evidence", "agreement", "run", "random"]
ORDERS: tuple[Order, ...] = get_args(Order)

#: Decisions that the pace is taken from, and the pause in seconds beyond which nobody was judging.
PACE_DECISIONS = 20
LONGEST_DECISION = 300.0
#: How many decisions lie between a document and its repeat at least.
REPEAT_GAP = 10


@dataclass(frozen=True, slots=True)
class QueueItem:
    """A document to judge for a query. ``repeat`` says that it was judged before and comes back to see whether it is
    judged alike."""

    query: QueryKey
    doc_id: str
    repeat: bool = False


def ordered_places(
    pool: CandidatePool,
    order: Order = "effect",
    *,
    effects: Sequence[float] | None = None,
    scores: Sequence[float] | None = None,
    run_id: int | None = None,
    seed: int = 0,
    per_query: int | None = None,
    blind: bool = False,
) -> list[int]:
    """The places in the pool of the undecided candidates, in an order, at most ``per_query`` of each query: those that
    come first in it.

    ``effects`` and ``scores`` (of evidence) are by place, as the orders of those names need them. The order ``run`` has
    only what that run lists. ``blind`` chooses by the order, then shuffles queries and documents within them by the
    seed, so that the order tells nothing. The same seed gives the same order of what two pools share.

    Raises:
        UsageError: the order needs what was not given, or ``per_query`` is below 1.
    """
    if per_query is not None and per_query < 1:
        raise UsageError(f"{per_query} documents a query.", "Give --per-query 1 or more.")
    places = [place for place, done in enumerate(pool.decided.tolist()) if not done]
    ordered = _sorted(pool, places, order, effects, scores, run_id, seed)
    if per_query is not None:
        taken: dict[int, int] = {}
        kept = []
        for place in ordered:
            query = int(pool.query_of[place])
            taken[query] = taken.get(query, 0) + 1
            if taken[query] <= per_query:
                kept.append(place)
        ordered = kept
    if blind:
        of_query = {
            number: _shuffled(seed, pool.queries[number]) for number in {int(pool.query_of[p]) for p in ordered}
        }
        ordered.sort(key=lambda place: (of_query[int(pool.query_of[place])], _shuffled(seed, *_named(pool, place))))
    return ordered


def _sorted(
    pool: CandidatePool,
    places: list[int],
    order: Order,
    effects: Sequence[float] | None,
    scores: Sequence[float] | None,
    run_id: int | None,
    seed: int,
) -> list[int]:
    # Sorts are stable: what an order does not tell apart stays in the pool's, by query and best rank.
    if order == "effect":
        if effects is None:
            raise UsageError("the order by effect needs the effects.")
        most: dict[int, float] = {}
        for place in places:
            query = int(pool.query_of[place])
            most[query] = max(most.get(query, 0.0), effects[place])
        return sorted(
            places, key=lambda place: (-most[int(pool.query_of[place])], int(pool.query_of[place]), -effects[place])
        )
    if order == "evidence":
        if scores is None:
            raise UsageError("the order by evidence needs the evidence's scores.")
        return sorted(places, key=lambda place: -scores[place])
    if order == "agreement":
        near = ((pool.ranks > 0) & (pool.ranks <= pool.depth)).sum(axis=1).tolist()
        best = [min(filter(None, ranks), default=0) for ranks in pool.ranks.tolist()]
        return sorted(places, key=lambda place: (-near[place], best[place]))
    if order == "run":
        if run_id is None or not 0 <= run_id < pool.ranks.shape[1]:
            raise UsageError("the order by one run needs the run.", "Name one of the open runs.")
        ranks = pool.ranks[:, run_id].tolist()
        return sorted((place for place in places if ranks[place]), key=lambda place: ranks[place])
    return sorted(places, key=lambda place: _shuffled(seed, *_named(pool, place)))


def _named(pool: CandidatePool, place: int) -> tuple[QueryKey, str]:
    return pool.queries[pool.query_of[place]], pool.doc_ids[place]


def _shuffled(seed: int, key: QueryKey, doc_id: str = "") -> bytes:
    """A place in an order that only seed and name determine."""
    name = "\0".join((str(seed), key.dataset, key.task, key.query_id, doc_id))
    return hashlib.blake2b(name.encode("utf-8", "surrogatepass"), digest_size=8).digest()


def queue_items(pool: CandidatePool, places: Iterable[int]) -> list[QueueItem]:
    """The candidates at these places of a pool, to be judged."""
    return [QueueItem(*_named(pool, place)) for place in places]


@dataclass(frozen=True, slots=True)
class Decided:
    """A decision taken in this queue: ``relevance`` None means unsure, ``at`` is the clock's seconds."""

    item: QueueItem
    relevance: int | None
    at: float


@dataclass(frozen=True, slots=True)
class QueueProgress:
    """How far one is: items ``done``, without repeats, and ``remaining`` of ``total``; ``held_back`` candidates have no
    text at hand; ``repeats`` were judged again; ``pace`` is decisions a minute over the last 20 and ``minutes_left``
    what the rest takes at it, both None before the second decision."""

    done: int
    remaining: int
    total: int
    held_back: int
    repeats: int
    pace: float | None
    minutes_left: float | None


@dataclass(slots=True)
class _Taken:
    """A decision with what undoing it must restore: the place shown, and whether it was the item's first."""

    decided: Decided
    place: int
    first: bool


class Queue:
    """One annotator's way through the items.

    It keeps what was shown, so that previous and next go back and forth; next beyond the last shown brings a new item.
    What was passed over comes round again after the others. Every step is O(1), whatever the number of items.
    """

    def __init__(
        self,
        items: Sequence[QueueItem],
        *,
        held_back: int = 0,
        repeat_rate: float = 0.0,
        earlier: Collection[QueueItem] = (),
        seed: int = 0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """``repeat_rate`` is the share of judged items that come back, from 0 to 1; which ones and when, the seed and
        the decisions determine. ``earlier`` are pairs that the annotator judged before, which may come back too.

        Raises:
            UsageError: the rate is not from 0 to 1.
        """
        if not 0 <= repeat_rate <= 1:
            raise UsageError(f"a repeat rate of {repeat_rate}.", "Give a share from 0 to 1, as 0.05.")
        self._total, self._held_back = len(set(items)), held_back
        self._rate, self._seed, self._clock = repeat_rate, seed, clock
        #: What is still to be brought, and what was passed over; each once.
        self._waiting = deque(dict.fromkeys(items))
        self._queued = set(items)
        self._shown: list[QueueItem] = []
        self._place = -1
        self._done: set[QueueItem] = set()
        self._taken: list[_Taken] = []
        self._repeats = 0
        #: Judged long enough ago to come back; what was undone since is dropped when it is drawn.
        self._repeatable = [QueueItem(item.query, item.doc_id) for item in earlier]
        self._earlier = frozenset(self._repeatable)
        self._recent: deque[QueueItem] = deque()
        self._known = set(self._repeatable)
        self._fresh = 0
        self.next()

    @property
    def current(self) -> QueueItem | None:
        """The item to judge; None when all are."""
        return self._shown[self._place] if 0 <= self._place < len(self._shown) else None

    @property
    def position(self) -> int:
        """The place of the current item among those shown, from 0."""
        return self._place

    @property
    def decisions(self) -> Sequence[Decided]:
        """What was decided and not undone, in order."""
        return [taken.decided for taken in self._taken]

    def next(self) -> QueueItem | None:
        """Go to the next item shown, or bring a new one; an undecided one that is left comes round again. None, and the
        same item stays, when there is no other."""
        if self._place + 1 < len(self._shown):
            self._place += 1
            return self.current
        item = self._draw()
        if item is None:
            if self.current is not None and not self._is_open(self.current):
                self._place = len(self._shown)
            return None
        self._shown.append(item)
        self._place = len(self._shown) - 1
        return item

    def previous(self) -> QueueItem | None:
        """Go back to the item shown before; None, and the same item stays, at the first."""
        if self._place <= 0:
            return None
        self._place -= 1
        return self.current

    def decide(self, relevance: int | None) -> QueueItem | None:
        """Take a decision on the current item and go on; None when there is nothing left.

        An item that one went back to can be decided again: the last decision counts.
        """
        item = self.current
        if item is None:
            return None
        first = item not in self._done
        self._done.add(item)
        self._taken.append(_Taken(Decided(item, relevance, self._clock()), self._place, first))
        if item.repeat:
            self._repeats += first
        elif first:
            self._recent.append(item)
            if len(self._recent) > REPEAT_GAP:
                self._remember(self._recent.popleft())
        return self.next()

    def undo(self) -> Decided | None:
        """Take the last decision back, at any depth, and show its item again; None when there is none."""
        if not self._taken:
            return None
        taken = self._taken.pop()
        item = taken.decided.item
        if taken.first:
            self._done.discard(item)
            self._repeats -= item.repeat
            self._enqueue(item)
            if self._recent and self._recent[-1] == item:
                self._recent.pop()
        self._place = taken.place
        return taken.decided

    def progress(self) -> QueueProgress:
        """How far it is, and how fast."""
        done = len(self._done) - self._repeats
        remaining = self._total - done
        pace = self._pace()
        left = remaining / pace if pace else None
        return QueueProgress(done, remaining, self._total, self._held_back, self._repeats, pace, left)

    def _pace(self) -> float | None:
        times = [taken.decided.at for taken in self._taken[-PACE_DECISIONS:]]
        gaps = [later - earlier for earlier, later in pairwise(times)]
        working = [gap for gap in gaps if gap <= LONGEST_DECISION]
        return 60 * len(working) / sum(working) if working and sum(working) > 0 else None

    def is_done(self, item: QueueItem) -> bool:
        """Whether the item was decided here and that was not taken back."""
        return item in self._done

    def _is_open(self, item: QueueItem) -> bool:
        return item not in self._done

    def _draw(self) -> QueueItem | None:
        """A repeat, or the next item that is not decided, what was passed over last."""
        current = self.current
        if current is not None and self._is_open(current):
            self._enqueue(current)
        if self._shown and not self._shown[-1].repeat and (repeat := self._repeat()) is not None:
            return repeat
        while self._waiting:
            item = self._waiting[0]
            if item == current and self._is_open(item):
                return None  # the only one left: another that is not decided would stand before it
            self._waiting.popleft()
            self._queued.discard(item)
            if self._is_open(item):
                self._fresh += 1
                return item
        return None

    def _enqueue(self, item: QueueItem) -> None:
        """Let an item come round again."""
        if not item.repeat and item not in self._queued:
            self._queued.add(item)
            self._waiting.append(item)

    def _remember(self, item: QueueItem) -> None:
        if item not in self._known:
            self._known.add(item)
            self._repeatable.append(item)

    def _repeat(self) -> QueueItem | None:
        """Now and then, by the seed, an item judged before; each comes back once."""
        if not self._rate or not self._repeatable or self._chance("when") >= self._rate:
            return None
        place = int(self._chance("which") * len(self._repeatable))
        item = self._repeatable[place]
        if item in self._recent:
            return None  # undone, and judged again just now
        self._repeatable[place] = self._repeatable[-1]
        self._repeatable.pop()
        if item not in self._earlier and self._is_open(item):
            self._known.discard(item)  # undone: it counts again once it is judged
            return None
        return QueueItem(item.query, item.doc_id, repeat=True)

    def _chance(self, what: str) -> float:
        """A number from 0 to 1 that depends on the seed and on how many new items were shown."""
        digest = hashlib.blake2b(f"{self._seed} {what} {self._fresh}".encode(), digest_size=8).digest()
        return int.from_bytes(digest, "big") / 2**64

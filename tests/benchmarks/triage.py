"""Measures triage against the budgets of the design: ``python -m tests.benchmarks.triage``.

Four made-up runs of full BRIGHT's size (1,384 queries × 1,000 documents), converted: pooling their top 100, the effect
of each candidate, and for 5,000 of them the way through the queue with what each judgment changes. Medians of three;
the machine's other work is in them. With ``--check`` the exit code is 1 if a budget is broken.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from bright_inspect.domain.measures import parse_measure
from bright_inspect.judging.candidates import CandidatePool, pool_candidates
from bright_inspect.judging.effect import candidate_effects
from bright_inspect.judging.queue import Queue, ordered_places, queue_items
from bright_inspect.judging.what_if import load_what_if
from bright_inspect.store.session import Session
from tests.benchmarks import synthetic
from tests.support import opened_runs

RUNS = 4
REPETITIONS = 3
ITEMS = 5_000
#: Seconds, in the order of the report.
LIMITS = {"pool to rank 100": 2.0, "effects": 1.0, "one decision, median": 0.02, "one decision, p95": 0.02}

T = TypeVar("T")


def main() -> int:
    """Print each figure beside its budget."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="exit with 1 if a budget is broken")
    checked = parser.parse_args().check
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        os.environ["BRIGHT_INSPECT_CACHE"] = str(place / "cache")
        synthetic.write_qrels(place / "qrels.txt")
        for number in range(RUNS):
            synthetic.write_run(place / f"run{number}.trec", number)
        named = [f"run{number}={place / f'run{number}.trec'}" for number in range(RUNS)]
        with opened_runs(*named, qrels=[place / "qrels.txt"], task="all", dataset="custom:all") as opening:
            opening.convert()
            found = _measure(opening.session)
    broken = False
    print(f"load of the machine: {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    for name, seconds in found.items():
        limit = LIMITS[name]
        broken |= seconds > limit
        print(f"{name:24} {1000 * seconds:9.2f} ms   budget {1000 * limit:6.0f} ms{'   BROKEN' * (seconds > limit)}")
    return int(checked and broken)


def _measure(session: Session) -> dict[str, float]:
    measure = parse_measure("nDCG@10")
    pool, pooling = _timed(lambda: pool_candidates(session, session.cursor, depth=100, hold_back=False))
    effects, effect = _timed(lambda: candidate_effects(session, session.cursor, pool, measure))
    print(f"{len(pool):,} candidates of {RUNS} runs")
    steps = sorted(_decisions(session, pool, effects.tolist()))
    return {
        "pool to rank 100": pooling,
        "effects": effect,
        "one decision, median": statistics.median(steps),
        "one decision, p95": steps[len(steps) * 95 // 100],
    }


def _decisions(session: Session, pool: CandidatePool, effects: list[float]) -> list[float]:
    """Seconds from a decision to the next item and the new means, for the first 500 of the queue's items."""
    places = ordered_places(pool, effects=effects, per_query=10)[:ITEMS]
    queue = Queue(queue_items(pool, places), repeat_rate=0.05)
    candidates = {(pool[place].query, pool[place].doc_id): pool[place] for place in places}
    what_if = load_what_if(session, session.cursor, parse_measure("nDCG@10"))
    steps: list[float] = []
    while queue.current is not None and len(steps) < 500:
        item = queue.current
        candidate = candidates[item.query, item.doc_id]
        started = time.perf_counter()
        what_if.decide(item.query, item.doc_id, len(steps) % 2, candidate.ranks)
        queue.decide(len(steps) % 2)
        queue.progress()
        what_if.task_changes((item.query.dataset, item.query.task))
        steps.append(time.perf_counter() - started)
    return steps


def _timed(work: Callable[[], T]) -> tuple[T, float]:
    seconds = []
    for _ in range(REPETITIONS):
        started = time.perf_counter()
        done = work()
        seconds.append(time.perf_counter() - started)
    return done, statistics.median(seconds)


if __name__ == "__main__":
    sys.exit(main())

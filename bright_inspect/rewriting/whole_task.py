"""All queries of a task rewritten: several at a time, each failure tried again, what was made never made again."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Collection, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from bright_inspect.domain.durations import about
from bright_inspect.domain.writing import WritingSettings
from bright_inspect.endpoints.errors import EndpointError
from bright_inspect.endpoints.transport import pause
from bright_inspect.errors import BrightInspectError
from bright_inspect.retrieval.protocol import Check, Progress
from bright_inspect.rewriting.answers import NoRewrite, Rewrite, answered
from bright_inspect.rewriting.prompts import Prompt
from bright_inspect.rewriting.rewrite_file import Failure, Making, RewriteFile
from bright_inspect.rewriting.writers import Writer
from bright_inspect.store.progress import Cancelled

_POLL = 0.1
_LONGEST_WAIT = 30.0


@dataclass(frozen=True, slots=True)
class Asking:
    """How each query is asked: ``concurrency`` at a time, a failure ``retries`` times more, ``first_wait`` seconds
    after it and then twice as long each time."""

    settings: WritingSettings = field(default_factory=WritingSettings)
    concurrency: int = 4
    retries: int = 2
    first_wait: float = 1.0


@dataclass(slots=True)
class Rewritten:
    """What a run came to: rewrites made now, queries without one, and what stopped it before its end."""

    made: int = 0
    failures: list[Failure] = field(default_factory=list)
    stopped_by: EndpointError | None = None


@dataclass(frozen=True, slots=True)
class Answered:
    """A query's rewrite, the seconds it took, and when it was there (ISO 8601, UTC)."""

    query_id: str
    rewrite: Rewrite
    seconds: float
    created: str


#: So many queries that fail with the same words before any has a rewrite speak for all.
_ALIKE = 8


class _Stopped(Exception):
    """Ends the questions under way when the run ends."""


def rewrite_query(writer: Writer, prompt: Prompt, query_id: str, query: str, asking: Asking, check: Check) -> Answered:
    """Ask for one rewrite, once.

    Raises:
        BrightInspectError: there is none.
    """
    began = time.monotonic()
    draft = answered(writer.write(prompt.filled(query), asking.settings, check))
    seconds = time.monotonic() - began
    return Answered(query_id, draft.rewrite(), seconds, datetime.now(UTC).isoformat(timespec="seconds"))


def rewrite_queries(
    writer: Writer,
    prompt: Prompt,
    queries: Mapping[str, str],
    asking: Asking,
    keep: Callable[[Answered], None],
    keep_failure: Callable[[Failure], None],
    progress: Progress,
    check: Check,
    done: Collection[str] = (),
) -> Rewritten:
    """Rewrite ``queries`` (id -> text) but those that are ``done``. ``keep`` and ``keep_failure`` are called in this
    thread, once a query, as soon as it is known.

    An error that any other query would meet too (a wrong key, no server; the same words from each of the first
    ``_ALIKE``, as of a setting that the model refuses) ends the run: it is in ``stopped_by``, and the queries that are
    left are neither made nor failures.

    Raises:
        Whatever ``check`` raises, and what is no ``BrightInspectError``; answers that are whole by then are kept.
    """
    left = {query_id: text for query_id, text in queries.items() if query_id not in set(done)}
    told = _Told(progress, len(queries), len(left))
    result = Rewritten()
    ending = threading.Event()

    def stop() -> None:
        if ending.is_set():
            raise _Stopped
        check()

    def ask(query_id: str, text: str) -> Answered | Failure:
        try:
            return _tried(writer, prompt, query_id, text, asking, stop)
        except EndpointError:
            # No thread need ask the next one.
            ending.set()
            raise

    def settle(future: Future[Answered | Failure]) -> None:
        try:
            outcome = future.result()
        except _Stopped:
            return  # by the error of another query, which this may be seen before
        if isinstance(outcome, Answered):
            keep(outcome)
            result.made += 1
        else:
            keep_failure(outcome)
            result.failures.append(outcome)
            alike = {failure.error for failure in result.failures}
            if not result.made and len(result.failures) == _ALIKE < len(left) and len(alike) == 1:
                ending.set()
                raise EndpointError(f"the first {_ALIKE} queries failed alike: {outcome.error}", outcome.hint)
        told.tell(result)

    at_once = min(asking.concurrency, writer.at_once or asking.concurrency)
    with ThreadPoolExecutor(at_once, thread_name_prefix="rewrite") as pool:
        finished: list[Future[Answered | Failure]] = []
        waiting = [pool.submit(ask, query_id, text) for query_id, text in left.items()]
        told.tell(result)
        try:
            while waiting:
                check()
                done_now = wait(waiting, timeout=_POLL, return_when=FIRST_COMPLETED).done
                finished = [future for future in waiting if future in done_now]
                waiting = [future for future in waiting if future not in done_now]
                told.tell(result)
                while finished:
                    settle(finished.pop(0))
        except EndpointError as error:
            result.stopped_by = error
        finally:
            ending.set()
            pool.shutdown(wait=True, cancel_futures=True)
            for future in (*finished, *waiting):
                if not future.cancelled() and future.exception() is None:
                    settle(future)
    return result


def making_lines(file: RewriteFile, making: Making) -> Callable[[Answered], None]:
    """What keeps an answer as a line of a file."""

    def keep(answer: Answered) -> None:
        file.add(making.line(answer.query_id, answer.rewrite, answer.seconds, answer.created))

    return keep


def _tried(
    writer: Writer, prompt: Prompt, query_id: str, text: str, asking: Asking, check: Check
) -> Answered | Failure:
    """The rewrite, after as many tries as are allowed, or why there is none.

    Raises:
        EndpointError: one that any other query would meet too.
    """
    tries = 0
    delay = asking.first_wait
    while True:
        tries += 1
        try:
            return rewrite_query(writer, prompt, query_id, text, asking, check)
        except Cancelled:
            raise
        except BrightInspectError as error:
            if isinstance(error, EndpointError) and error.lasting:
                raise
            again = error.again if isinstance(error, NoRewrite) else isinstance(error, EndpointError)
            if not again or tries > asking.retries:
                return Failure(query_id, error.message, error.hint, tries)
        pause(delay, check)
        delay = min(2 * delay, _LONGEST_WAIT)


class _Told:
    """Tells how far a run is, and how long it may still take."""

    def __init__(self, progress: Progress, whole: int, left: int) -> None:
        self._progress, self._whole, self._left = progress, whole, left
        self._began = time.monotonic()

    def tell(self, result: Rewritten) -> None:
        now = result.made + len(result.failures)
        message = "rewriting"
        if result.failures:
            message += f", {len(result.failures):,} failed"
        seconds = time.monotonic() - self._began
        if now and seconds > 1 and now < self._left:
            message += f", {about(seconds * (self._left - now) / now)} left"
        self._progress(self._whole - self._left + now, self._whole, message)


def sidecar_json(making: Making, made_by: str, rewrites: int, queries: int, failures: int) -> dict[str, Any]:
    """What the sidecar of a file of rewrites says."""
    return {
        "made_by": made_by, **making.as_json(), "queries": queries, "rewrites": rewrites, "failures": failures,
    }  # fmt: skip

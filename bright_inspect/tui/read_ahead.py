"""Reads queries for a screen: the one asked for, and meanwhile those that would come next."""

from __future__ import annotations

from collections.abc import Callable

from bright_inspect.domain.rankings import QueryKey
from bright_inspect.store.query_view import QueryView
from bright_inspect.tui.desk import Desk
from bright_inspect.tui.runner import Runner

#: Queries kept in memory: those just seen and those read ahead.
_MOST_KEPT = 8
ReadQuery = tuple[QueryView, dict[str, str | None]]
"""A query, and the texts of its golds and of the short documents its runs list (None: not at hand)."""


class ReadAhead:
    """The lanes "query" and "ahead" of the runner, and the queries they brought."""

    def __init__(self, desk: Desk, runner: Runner) -> None:
        self._desk, self._runner = desk, runner
        self._kept: dict[QueryKey, ReadQuery] = {}
        self._wanted: tuple[QueryKey, ...] = ()
        self._ahead: QueryKey | None = None  # what the lane "ahead" reads now
        #: Whom to tell when that is read: it was asked for meanwhile.
        self._promised: tuple[Callable[[ReadQuery], None], Callable[[], None]] | None = None

    @property
    def busy(self) -> bool:
        """Whether a query that was asked for is still being read."""
        return self._runner.busy("query") or self._promised is not None

    def kept(self, key: QueryKey) -> ReadQuery | None:
        """The query, if it is at hand already."""
        return self._kept.get(key)

    def ask(self, key: QueryKey, done: Callable[[ReadQuery], None], failed: Callable[[], None]) -> None:
        """Hand the query to ``done``: at once if it was read ahead, else when it is read."""
        self._promised = None
        if key in self._kept or key == self._ahead:
            self._runner.cancel("query")
            if key in self._kept:
                done(self._kept[key])
            else:
                self._promised = done, failed
            return

        def keep(read: ReadQuery) -> None:
            self._keep(key, read)
            done(read)

        desk = self._desk
        self._runner.start("query", lambda token: desk.read_query(key, token), keep, failed)

    def read_on(self, *keys: QueryKey) -> None:
        """Read queries that may be asked for next, one after the other, the likeliest first."""
        self._wanted = keys
        for key in reversed(keys):
            if key in self._kept:  # not to be dropped for what is read now
                self._kept[key] = self._kept.pop(key)
        if self._promised is None and (self._ahead is None or self._ahead not in keys):
            self._read_next()

    def _read_next(self) -> None:
        key = self._ahead = next((key for key in self._wanted if key not in self._kept), None)
        if key is None:
            return
        desk, wanted = self._desk, key

        def keep(read: ReadQuery) -> None:
            self._keep(wanted, read)
            self._ahead, promised, self._promised = None, self._promised, None
            if promised is not None:
                promised[0](read)
            if self._ahead is None:
                self._read_next()

        def failed() -> None:
            promised = self._promised
            self._wanted, self._ahead, self._promised = (), None, None
            if promised is not None:
                promised[1]()

        self._runner.start("ahead", lambda token: desk.read_query(wanted, token), keep, failed)

    def forget(self) -> None:
        """Drop what was read: the judgments in it do not count any more."""
        self.stop()
        self._kept.clear()

    def stop(self) -> None:
        """Stop reading; nothing more is handed over."""
        self._wanted, self._ahead, self._promised = (), None, None
        self._runner.cancel("query")
        self._runner.cancel("ahead")

    def _keep(self, key: QueryKey, read: ReadQuery) -> None:
        self._kept[key] = read
        while len(self._kept) > _MOST_KEPT:
            del self._kept[next(iter(self._kept))]

"""Reads queries for the Inspect screen: the one asked for, and meanwhile the one that would come next."""

from __future__ import annotations

from collections.abc import Callable

from bright_inspect.domain.rankings import QueryKey
from bright_inspect.store.query_view import QueryView
from bright_inspect.tui.desk import Desk
from bright_inspect.tui.runner import Runner

#: Queries kept in memory: those just seen and the one read ahead.
_MOST_KEPT = 8
ReadQuery = tuple[QueryView, dict[str, str | None]]
"""A query, and the texts of its golds and of the short documents its runs list (None: not at hand)."""


class ReadAhead:
    """The lanes "query" and "ahead" of the runner, and the queries they brought."""

    def __init__(self, desk: Desk, runner: Runner) -> None:
        self._desk, self._runner = desk, runner
        self._kept: dict[QueryKey, ReadQuery] = {}

    @property
    def busy(self) -> bool:
        """Whether a query that was asked for is still being read."""
        return self._runner.busy("query")

    def ask(self, key: QueryKey, done: Callable[[ReadQuery], None], failed: Callable[[], None]) -> None:
        """Hand the query to ``done``: at once if it was read ahead, else when it is read."""
        if key in self._kept:
            self._runner.cancel("query")
            done(self._kept[key])
            return

        def keep(read: ReadQuery) -> None:
            self._keep(key, read)
            done(read)

        desk = self._desk
        self._runner.start("query", lambda token: desk.read_query(key, token), keep, failed)

    def read_on(self, key: QueryKey) -> None:
        """Read a query that may be asked for next."""
        if key not in self._kept:
            desk = self._desk
            self._runner.start("ahead", lambda token: desk.read_query(key, token), lambda read: self._keep(key, read))

    def forget(self) -> None:
        """Drop what was read: the judgments in it do not count any more."""
        self.stop()
        self._kept.clear()

    def stop(self) -> None:
        """Stop reading; nothing more is handed over."""
        self._runner.cancel("query")
        self._runner.cancel("ahead")

    def _keep(self, key: QueryKey, read: ReadQuery) -> None:
        self._kept[key] = read
        while len(self._kept) > _MOST_KEPT:
            del self._kept[next(iter(self._kept))]

"""The filter line below a list of queries, for the screens that have one."""

from __future__ import annotations

from textual import on
from textual.widgets import Input

from bright_inspect.errors import UsageError
from bright_inspect.presentation.cells import Span
from bright_inspect.presentation.filters import FILTER_HINT, RowFilter, parse_filter
from bright_inspect.tui.screens.base import DeskScreen
from bright_inspect.tui.widgets.line import CellLine
from bright_inspect.tui.widgets.table import LineTable


class FilteringScreen(DeskScreen):
    """A screen that shows the queries which ``row_filter`` lets pass; it yields ``filter_line()`` and has a line with
    the id ``status``."""

    row_filter = RowFilter("", ())

    @staticmethod
    def filter_line() -> Input:
        """The hidden line, for ``compose``."""
        return Input(id="filter", classes="hidden", placeholder=FILTER_HINT, select_on_focus=False)

    @property
    def filtered_table(self) -> LineTable:
        """The table that the filter is of."""
        return self.query_one(LineTable)

    def show_rows(self) -> None:
        """Fill the table anew."""
        raise NotImplementedError

    def parse_filter_anew(self) -> None:
        """Read the filter again, since the runs that its terms are about may be others."""
        if self.row_filter.text:
            self.row_filter = self._parsed(self.row_filter.text) or self.row_filter

    def action_filter(self) -> None:
        """Open the filter line."""
        line = self.query_one("#filter", Input)
        line.value = self.row_filter.text
        line.remove_class("hidden")
        line.focus()

    def _parsed(self, text: str) -> RowFilter | None:
        compared = self.desk.compared
        try:
            return parse_filter(text, compared.run.run_id, compared.baseline.run_id, self.desk.tags)
        except UsageError as error:
            self.query_one("#status", CellLine).set_cells((Span(f"{error.message} {error.hint}", "error"),))
            return None

    @on(Input.Changed, "#filter")
    def filter_while_typing(self, message: Input.Changed) -> None:
        """Narrow the list as the filter is typed; a term that is not finished changes nothing."""
        parsed = self._parsed(message.value)
        if parsed is not None and parsed.text != self.row_filter.text:
            self.row_filter = parsed
            self.show_rows()

    @on(Input.Submitted, "#filter")
    def accept_filter(self, message: Input.Submitted) -> None:
        """Keep the filter and go back to the list."""
        if self._parsed(message.value) is not None:
            self._close_filter_line()

    def _close_filter_line(self) -> None:
        self.query_one("#filter", Input).add_class("hidden")
        self.filtered_table.focus()

    def leave_level(self) -> bool:
        """Esc leaves the filter line, then clears the filter, then leaves the screen."""
        if self.query_one("#filter", Input).has_focus:
            self._close_filter_line()
            return True
        if self.row_filter.text:
            self.row_filter = RowFilter("", ())
            self.query_one("#filter", Input).value = ""
            self.show_rows()
            return True
        return False

"""What the Triage screen shows: the item, the texts side by side, what speaks for it or what the judgments change."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical

from bright_inspect.domain.measures import Measure
from bright_inspect.domain.names import ORIGINAL
from bright_inspect.judging.candidates import Candidate
from bright_inspect.judging.evidence import Evidence
from bright_inspect.judging.queue import QueueItem
from bright_inspect.presentation.cells import Cell, Span
from bright_inspect.presentation.numbers import delta_style, percent, signed_percent
from bright_inspect.presentation.reading import Reading, document_reading, golds_reading, reasoning_reading
from bright_inspect.presentation.triage import (
    ShareRows,
    evidence_columns,
    evidence_rows,
    item_line,
    pool_warning,
    progress_line,
    share_columns,
    what_if_columns,
    what_if_rows,
    what_if_title,
)
from bright_inspect.store.collections import TaskKey
from bright_inspect.store.query_view import QueryView
from bright_inspect.tui.read_ahead import ReadAhead
from bright_inspect.tui.screens.copying import CopyingScreen
from bright_inspect.tui.screens.working import Working
from bright_inspect.tui.triage_desk import Triage
from bright_inspect.tui.widgets.key_line import KeyLine
from bright_inspect.tui.widgets.line import CellLine
from bright_inspect.tui.widgets.reader import TextReader
from bright_inspect.tui.widgets.table import LineTable

#: From these widths on, query and candidate stand side by side, and the golds beside them.
TWO_PANES, THREE_PANES = 100, 180
QUERY, REASONING, GOLDS, CANDIDATE = "query", "reasoning", "golds", "candidate"
GUIDELINES = "guidelines"
#: What stands below the texts: what speaks for the document, what the judgments do to the runs, what each of them does.
BELOW = _EVIDENCE, _RUNS, _JUDGMENTS = "evidence", "runs", "judgments"


class TriageView(CopyingScreen):
    """The lines, panes and table of the Triage screen, filled from a queue; deciding is the subclass'."""

    def __init__(self, tasks: Sequence[TaskKey]) -> None:
        super().__init__()
        self._of_tasks = tuple(tasks)
        self._triage: Triage | None = None
        self._view: QueryView | None = None
        self._texts: dict[str, str | None] = {}
        self._text: str | None = None
        self._text_ahead: tuple[QueueItem, str | None] | None = None
        self._shown: QueueItem | None = None  # the item whose text is on screen: only that one can be judged
        self._writing = False
        self._tab = CANDIDATE
        self._changes = _EVIDENCE
        self._note, self._why, self._tags = "", "", list[str]()
        self._drafts: dict[QueueItem, tuple[str, str, list[str]]] = {}
        self._written = 0  # lines of this visit to the journal that are not taken back
        self._asked = False
        self._made_for: tuple[Measure, Mapping[TaskKey, str]] | None = None  # what the queue was made for
        self._queries = ReadAhead(self.desk, self.runner)
        self._working = Working(self, "triage", "#triage-progress")

    def compose(self) -> ComposeResult:
        yield CellLine(id="top", elide="middle")
        yield CellLine(id="triage-progress")
        with Horizontal(id="triage-panes"):
            with Vertical(classes="pane", id="triage-left"):
                yield CellLine(id="triage-left-title", classes="pane-title")
                yield TextReader(id="triage-query")
            with Vertical(classes="pane following", id="triage-middle"):
                yield CellLine(id="triage-middle-title", classes="pane-title")
                yield TextReader(id="triage-golds")
            with Vertical(classes="pane following", id="triage-right"):
                yield CellLine(id="triage-right-title", classes="pane-title")
                yield TextReader(id="triage-candidate")
        yield CellLine(id="triage-below-title")
        yield LineTable(id="triage-below")
        yield KeyLine("triage")

    @property
    def _blind(self) -> bool:
        return self.desk.triage.request.blind

    def _of(self, item: QueueItem) -> tuple[Candidate, float | None, tuple[Evidence, ...]] | None:
        return self._triage.candidates.get(replace(item, repeat=False)) if self._triage is not None else None

    def _show(self) -> None:
        if not self.ready:
            return
        if self._triage is None:
            self._show_panes()
            return
        with self.app.batch_update():
            self._show_lines()
            self._show_texts()
            self._show_below()

    def _show_lines(self) -> None:
        triage = self._triage
        assert triage is not None
        item, desk = triage.queue.current, self.desk.triage
        if item is None:
            progress = triage.queue.progress()
            what = "nothing to judge" if not progress.total else "all judged"
            title: Cell = (Span(what, "strong"), Span(" · w shows what it changes · q leaves", "dim"))
            who: Cell = (Span(desk.annotator, "accent"),)
        else:
            known = self._of(item)
            title, who = item_line(
                item, desk.annotator, desk.journal.path.name, self.size.width, blind=self._blind,
                effect=known[1] if known else None,
                score=sum(piece.points for piece in known[2]) if known and known[2] else None,
            )  # fmt: skip
        self.query_one("#top", CellLine).set_cells(title, who)
        right = self._change_of_compared(item)
        width = self.size.width - sum(len(span.text) for span in right) - 4
        self.query_one("#triage-progress", CellLine).set_cells(
            progress_line(
                triage.queue.progress(), width, before=triage.before, settled=triage.settled, blind=self._blind
            ),
            right,
        )

    def _change_of_compared(self, item: QueueItem | None) -> Cell:
        """What the judgments so far do to the compared run's mean."""
        triage, compared = self._triage, self.desk.compared
        if triage is None or self._blind or item is None:
            return ()
        for change in triage.what_if.task_changes((item.query.dataset, item.query.task)):
            if change.run is compared.run:
                return (
                    Span(f"{change.run.label} ", compared.style(change.run)), Span(percent(change.after), "strong"),
                    Span(" "), Span(signed_percent(change.delta), delta_style(change.delta)),
                )  # fmt: skip
        return ()

    def _show_panes(self) -> bool:
        """Show the panes that there is room for; whether the golds have one."""
        width = self.size.width
        narrow, wide = width < TWO_PANES, width >= THREE_PANES and not self._blind
        if not narrow and self._tab == CANDIDATE:
            self._tab = QUERY
        self.set_class(narrow, "narrow")
        self.query_one("#triage-left").set_class(narrow and self._tab == CANDIDATE, "hidden")
        self.query_one("#triage-right").set_class(narrow and self._tab != CANDIDATE, "hidden")
        self.query_one("#triage-middle").set_class(not wide, "hidden")
        return wide

    def _show_texts(self) -> None:
        wide = self._show_panes()
        view, item = self._view, self._shown
        if view is None:
            self.query_one("#triage-candidate", TextReader).empty_message = "nothing is left to judge"
            for pane in ("query", "golds", "candidate"):
                self.query_one(f"#triage-{pane}", TextReader).set_text("")
            for pane in ("left", "middle", "right"):
                self.query_one(f"#triage-{pane}-title", CellLine).set_cells(())
            return
        self._read_into("#triage-query", "#triage-left-title", self._left_reading(view), self._tab)
        if wide:
            golds = golds_reading(view, self.desk.compared, self._texts, None)
            self._read_into(
                "#triage-golds",
                "#triage-middle-title",
                golds,
                f"{len(view.golds)} gold{'' if len(view.golds) == 1 else 's'}",
            )
        if item is not None:
            self.query_one("#triage-candidate", TextReader).empty_message = "no text at hand"
            reading = document_reading(view, self._text) if self._text is not None else Reading("")
            written = [*(f"#{tag}" for tag in self._tags), *(f"“{text}”" for text in (self._note, self._why) if text)]
            said = self._decided(item)
            if said:
                written.insert(0, f"you said {'unsure' if said[0] is None else said[0]}")
            title = f"candidate · {len(self._text or ''):,} characters" + "".join(f" · {each}" for each in written)
            self._read_into("#triage-candidate", "#triage-right-title", reading, title)

    def _left_reading(self, view: QueryView) -> Reading:
        if self._tab == GUIDELINES:
            text = self.desk.triage.guidelines()
            return Reading(text or "This project has no guidelines: give --guidelines FILE.")
        if self._tab == REASONING:
            return reasoning_reading(view)
        if self._tab == GOLDS:
            return golds_reading(view, self.desk.compared, self._texts, None)
        return Reading(view.text or f"no text of the {ORIGINAL} query at hand")

    def _read_into(self, reader_id: str, title_id: str, reading: Reading, title: str) -> None:
        self.query_one(title_id, CellLine).set_cells((Span(title, "dim"),))
        reader = self.query_one(reader_id, TextReader)
        if reader.text != reading.text:
            reader.set_text(reading.text, spans=reading.spans, scroll_to=reading.scroll_to)

    def _show_below(self) -> None:
        triage = self._triage
        assert triage is not None
        table, item = self.query_one(LineTable), triage.queue.current
        if self._blind and item is not None:
            self._changes = _EVIDENCE  # means and their changes tell which run has the document
        if self._changes == _JUDGMENTS:
            self._show_shares(table)
            return
        if self._changes == _RUNS:
            task = self._task_at_hand(item)
            changes = triage.what_if.task_changes(task)
            columns = what_if_columns(triage.what_if.pool_depth, self.size.width)
            own = sum(pair[:2] == task for pair in triage.what_if.decisions)
            title = what_if_title(task, triage.what_if.measure, own, changes)
            warning = (Span(pool_warning(changes), "dim"),)
            self.query_one("#triage-below-title", CellLine).set_cells(title, warning if self.size.width > 160 else ())
            table.set_rows(columns, what_if_rows(changes, columns))
            return
        votes = triage.votes.get(item, {}) if item is not None and not self._blind else {}
        said: Cell = (Span("what speaks for it", "dim"),)
        for annotator, relevance in votes.items():
            style = "gain" if relevance > 0 else "loss"
            said = (*said, Span(" · ", "dim"), Span(f"{annotator} "), Span(str(relevance), style))
        self.query_one("#triage-below-title", CellLine).set_cells(said)
        known = self._of(item) if item is not None else None
        if known is None:
            table.empty_message = "no candidate" if item is None else "judged before: nothing was worked out for it"
            table.set_rows(evidence_columns(), [])
            return
        judged = item is not None and bool(self._decided(item))
        rows = evidence_rows(
            known[0], known[2], self.desk.session.runs, ranks_to=triage.ranks_to, hidden=self._blind and not judged
        )
        table.set_rows(evidence_columns(), rows)

    def _task_at_hand(self, item: QueueItem | None) -> TaskKey:
        """The task of the item, or of the last one judged when none is left."""
        if item is None and self._triage is not None and self._triage.queue.decisions:
            item = self._triage.queue.decisions[-1].item
        return (item.query.dataset, item.query.task) if item is not None else self._of_tasks[0]

    def _decided(self, item: QueueItem) -> list[int | None]:
        """What was said of the item in this queue, last first; nothing if it is not decided."""
        if self._triage is None or not self._triage.queue.is_done(item):
            return []
        decisions = self._triage.queue.decisions
        return [decided.relevance for decided in reversed(decisions) if decided.item == item]

    def _show_shares(self, table: LineTable) -> None:
        """What each judgment alone does to every run's mean, the largest first."""
        triage, runs = self._triage, self.desk.session.runs
        assert triage is not None
        item = triage.queue.current
        task = self._task_at_hand(item)
        shares = triage.what_if.decision_shares(task)
        number = f"{len(shares)} judgment{'' if len(shares) == 1 else 's'}"
        title = (Span(f"{number} of {task[1]} and what each alone does to the means, ×100", "dim"),)
        self.query_one("#triage-below-title", CellLine).set_cells(title)
        table.empty_message = "nothing is judged yet"
        table.set_rows(share_columns(runs), ShareRows(shares, runs))

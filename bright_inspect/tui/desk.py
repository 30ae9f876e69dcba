"""What the screens share: the open session, what is compared by which measure, and the rows that follow from it.

Values are computed in workers and replaced whole; screens only read.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path

from bright_inspect.db import Cursor, DatabaseError, QueryInterrupted, transaction
from bright_inspect.domain.measures import Measure, parse_measure
from bright_inspect.domain.rankings import QueryKey
from bright_inspect.errors import BrightInspectError
from bright_inspect.evaluation.audit import Audit, audit
from bright_inspect.evaluation.gold_fate import GoldFate, gold_fates
from bright_inspect.evaluation.query_rows import QueryRow, query_rows
from bright_inspect.evaluation.scored_findings import depth_findings, metrics_beside_findings
from bright_inspect.evaluation.scores import ExclusionEffect, TaskScores, exclusion_effects, task_scores
from bright_inspect.evaluation.task_audit import TaskAudit, audit_task, mean_audit
from bright_inspect.judging.decisions import Decision
from bright_inspect.judging.hashes import read_document_mismatches
from bright_inspect.judging.layers import DecisionLayers, layers_of_request
from bright_inspect.judging.session_file import save_judged_session
from bright_inspect.presentation.layers import LayerLine, layer_lines
from bright_inspect.presentation.overview import opening_measure
from bright_inspect.presentation.queries import Comparison
from bright_inspect.store.collections import TaskKey
from bright_inspect.store.corpus import corpus_texts_of
from bright_inspect.store.documents import KEPT_DEPTH, kept_texts, load_task_texts, short_texts
from bright_inspect.store.layers import JudgmentChange, layer_changes, layer_counts, remake_layers
from bright_inspect.store.opening import Opening, open_session
from bright_inspect.store.progress import Cancelled, CancelToken, ProgressListener
from bright_inspect.store.query_view import QueryView, read_query
from bright_inspect.store.request import OpenRequest
from bright_inspect.store.saving import check_target
from bright_inspect.store.session import Session
from bright_inspect.tui.live_desk import LiveDesk
from bright_inspect.tui.locks import held
from bright_inspect.tui.triage_desk import TriageDesk
from bright_inspect.tui.variants_desk import VariantsDesk

#: Listed documents of this many characters are read along with their query, so that the cursor moves without waiting.
_SHORT_TEXT = 20_000


@dataclass(frozen=True, slots=True)
class Scored:
    """Everything that depends on the measure and on which judgments count (``layers``, by task)."""

    measure: Measure
    scores: dict[tuple[int, TaskKey], TaskScores]
    rows: tuple[QueryRow, ...]
    fates: dict[tuple[int, TaskKey], GoldFate]
    effects: dict[tuple[int, TaskKey], ExclusionEffect]
    layers: dict[TaskKey, str]


class Desk:
    """The session and the present choice of runs and measure. Methods that take a token run in workers."""

    def __init__(self, opening: Opening, scored: Scored) -> None:
        self._opening = opening
        self.session: Session = opening.session
        self.scored = scored
        self.baseline_index = self.session.baseline.run_id
        self.run_index = 0 if self.baseline_index else min(1, len(self.session.runs) - 1)
        self.live = LiveDesk(self.session, self._cursor, opening.request.retrievers, opening.request.model_options)
        self.triage = TriageDesk(
            self.session, self._cursor, opening.request.journals, opening.request.triage, self.live
        )
        self.variants = VariantsDesk(self.session, self._cursor)
        #: The tags of each query and of its documents.
        self.tags: dict[QueryKey, frozenset[str]] = self.triage.query_tags()
        self._said = self.triage.said_of_queries()
        self._taken_over = len(self.triage.log().decisions)
        self._converted = threading.Event()
        self._task_lock = threading.Lock()
        self._score_lock = threading.Lock()
        self._corpus_sizes: dict[TaskKey, int | None] = {}
        self._loading = CancelToken()
        #: Called from a worker when findings were added to the session's.
        self.found: Callable[[], None] = lambda: None

    @property
    def compared(self) -> Comparison:
        runs = self.session.runs
        return Comparison(runs, runs[self.run_index], runs[self.baseline_index], self.scored.measure)

    def next_baseline(self) -> None:
        """Make the next run the baseline; the compared run gives way if it was that one."""
        count = len(self.session.runs)
        self.baseline_index = (self.baseline_index + 1) % count
        if self.baseline_index == self.run_index:
            self.run_index = (self.baseline_index + 1) % count

    def next_run(self) -> None:
        """Compare the next run that is not the baseline."""
        count = len(self.session.runs)
        self.run_index = (self.run_index + 1) % count
        if self.run_index == self.baseline_index:
            self.run_index = (self.run_index + 1) % count

    def name_variant(self, run_id: int, variant: str | None) -> None:
        """Say which variant a run was made with; all that is named after runs follows.

        Raises:
            UsageError: as ``Session.name_variant``.
        """
        self.session.name_variant(run_id, variant)
        runs, scores = self.session.runs, self.scored.scores
        self.scored = replace(
            self.scored, scores={key: replace(score, run=runs[key[0]]) for key, score in scores.items()}
        )

    def convert(self, token: CancelToken) -> None:
        """Write the run cache; queries can be read afterwards."""
        token.watch(self.session.cursor)
        try:
            self._opening.convert()
        except QueryInterrupted:
            raise Cancelled from None
        finally:
            token.unwatch()
            self._converted.set()

    def score(self, measure: Measure, layer: str | None, token: CancelToken) -> Scored:
        """Score every run by a measure, and if ``layer`` is given by its judgments, which then count.

        Which judgments count and what follows from it change together: if this is stopped, neither does.
        """
        with held(self._score_lock, token), self._cursor(token) as cursor:
            collections = self.session.collections
            with collections.using_layer(cursor, layer) if layer is not None else nullcontext():
                scored = _score(self.session, cursor, measure)
                token.check()
            return replace(scored, layers=_active_layers(self.session))

    def layer_lines(self, token: CancelToken) -> list[LayerLine]:
        """The layers at hand, decisions taken since included, each with its counts and what differs from the data's
        own."""
        if len(self.triage.log().decisions) != self._taken_over:
            self.take_over_decisions(token)
        with self._cursor(token) as cursor:
            layers, tasks = self.layers, set(self.session.tasks)
            counts = [count for count in layer_counts(cursor) if count.task in tasks]
            changes = {layer: self._of_open_tasks(layer_changes(cursor, layers[0], layer)) for layer in layers[1:]}
            return layer_lines(layers, counts, changes, _active_layers(self.session))

    def layer_changes(self, layer: str, token: CancelToken) -> list[JudgmentChange]:
        """What a layer judges otherwise than the judgments that count now."""
        with self._cursor(token) as cursor:
            return self._of_open_tasks(layer_changes(cursor, None, layer))

    @property
    def tag_names(self) -> frozenset[str]:
        """The tags that are in use."""
        return frozenset(name for names in self.tags.values() for name in names)

    @property
    def judged_by(self) -> tuple[dict[TaskKey, str], int]:
        """What the judgments in view hang on: the layers that count, and how many decisions they are made of."""
        return self.scored.layers, self._taken_over

    def take_over_decisions(self, token: CancelToken) -> bool:
        """Make the layers of decisions anew, so that they say what the journal says now; whether one of them counts, so
        that scores change."""
        with held(self._score_lock, token), self._cursor(token) as cursor:
            log = self.triage.log()
            made = DecisionLayers(log.decisions, log.findings)
            remake_layers(self.session, cursor, made)
            self.tags, self._said = self.triage.query_tags(), self.triage.said_of_queries()
            self._taken_over = len(log.decisions)
            own = {layer for task in self.session.tasks for layer in made.names(task)}
            return any(layer in own or ":" in layer for layer in _active_layers(self.session).values())

    def judge(self, view: QueryView, doc_id: str, relevance: int, token: CancelToken) -> Decision:
        """Keep a judgment of any document of a query, a gold too.

        Raises:
            BrightInspectError: it was not kept.
        """
        text = self.text((view.key.dataset, view.key.task), doc_id, False, token)
        return self.triage.write(self.triage.decision(view.key, doc_id, relevance, view.text, text), token)

    @property
    def layers(self) -> tuple[str, ...]:
        """The layers that an open task has; others may be loaded to tell tasks apart."""
        collections = self.session.collections
        return tuple(dict.fromkeys(layer for task in self.session.tasks for layer in collections.layers_of(task)))

    def _of_open_tasks(self, changes: list[JudgmentChange]) -> list[JudgmentChange]:
        tasks = set(self.session.tasks)
        return [change for change in changes if (change.query.dataset, change.query.task) in tasks]

    def read_query(self, key: QueryKey, token: CancelToken) -> tuple[QueryView, dict[str, str | None]]:
        """Read one query, once the runs are converted, with the texts of its golds and of the listed documents that
        are short; None stands for a text that is not at hand."""
        task = (key.dataset, key.task)
        self._wait_for_conversion(token)
        self._load_task(task, token)
        with self._cursor(token) as cursor:
            view = replace(
                read_query(self.session, cursor, key), annotator=self.triage.annotator, said=self._said.get(key, {})
            )
            listed = {doc.doc_id for ranking in view.rankings if ranking for doc in ranking.docs[:KEPT_DEPTH]}
            wanted = listed | {gold.doc_id for gold in view.golds}
            short, long = short_texts(cursor, task, wanted, _SHORT_TEXT)
            texts: dict[str, str | None] = {doc_id: short.get(doc_id) for doc_id in wanted - long}
            texts.update(kept_texts(cursor, task, [gold.doc_id for gold in view.golds if gold.doc_id in long]))
            return view, texts

    def text(self, task: TaskKey, doc_id: str, kept: bool, token: CancelToken) -> str | None:
        """The text of any document, or None if it is not at hand; one that is not ``kept``, neither judged nor in the
        top of a list, is looked for in the corpus itself."""
        self._load_task(task, token)
        with self._cursor(token) as cursor:
            found = kept_texts(cursor, task, [doc_id])
            if not found and not kept:
                found = corpus_texts_of(cursor, self.session.collections, task, [doc_id])
            return found.get(doc_id)

    def audit_query(self, run_id: int, key: QueryKey, token: CancelToken) -> Audit:
        """Take a run's value for a query apart."""
        with self._cursor(token) as cursor:
            return audit(self.session, cursor, self.session.runs[run_id], key, self.scored.measure)

    def audit_tasks(
        self, run_id: int, tasks: Sequence[TaskKey], token: CancelToken
    ) -> tuple[TaskAudit, list[TaskScores], list[ExclusionEffect | None]]:
        """Take a run's mean over a task apart, or the mean of several tasks' means."""
        scored, run = self.scored, self.session.runs[run_id]
        with self._cursor(token) as cursor:
            effects = exclusion_effects(self.session, cursor, scored.measure)
            audits = [audit_task(self.session, cursor, run, task, scored.measure, token.check) for task in tasks]
        return (
            audits[0] if len(audits) == 1 else mean_audit(audits),
            [scored.scores[run_id, task] for task in tasks],
            [effects.get((run_id, task)) for task in tasks],
        )

    def _load_task(self, task: TaskKey, token: CancelToken) -> None:
        """Read a task's texts once. Going on to another query does not stop it: all that query needs is this."""
        with held(self._task_lock, token):
            if task not in self._corpus_sizes:
                with self._cursor(self._loading) as cursor, transaction(cursor):
                    self._corpus_sizes[task] = load_task_texts(self.session, cursor, task)
                with self._cursor(self._loading) as cursor:
                    self._compare_with_judged(cursor, task)

    def _compare_with_judged(self, cursor: Cursor, task: TaskKey) -> None:
        """Add a finding if documents of the task had another text when they were judged."""
        made = self.session.collections.made.source
        if isinstance(made, DecisionLayers) and (findings := read_document_mismatches(cursor, made.decisions, task)):
            self.session.findings += findings
            self.found()

    def corpus_size(self, task: TaskKey) -> int | None:
        """How many documents the corpus at hand has; None if there is none or it was not looked at yet."""
        return self._corpus_sizes.get(task)

    def save(self, out: Path, progress: ProgressListener, token: CancelToken) -> int:
        """Write the session as it is now to a new file; its size.

        Raises:
            BrightInspectError: there is such a file already, or it cannot be written.
        """
        check_target(out)
        self._wait_for_conversion(token)
        if len(self.triage.log().decisions) != self._taken_over:
            self.take_over_decisions(token)
        with self._cursor(token) as cursor:
            return save_judged_session(
                self._opening, cursor, out, self.scored.measure, progress, token.check, self.compared.baseline
            )

    def stop(self) -> None:
        """Stop reading a task's texts, which no lane's token does."""
        self._loading.cancel()

    def close(self) -> None:
        self.session.close()

    def _wait_for_conversion(self, token: CancelToken) -> None:
        while not self._converted.wait(0.05):
            token.check()

    @contextmanager
    def _cursor(self, token: CancelToken) -> Iterator[Cursor]:
        cursor = self.session.database.cursor()
        try:
            token.watch(cursor)
            yield cursor
        except QueryInterrupted:
            raise Cancelled from None
        except DatabaseError as error:
            raise BrightInspectError(
                f"reading failed: {str(error).splitlines()[0]}",
                "If the run cache or the data was moved or deleted meanwhile, open the runs again.",
            ) from error
        finally:
            token.unwatch()
            cursor.close()


def open_desk(request: OpenRequest, progress: ProgressListener, token: CancelToken) -> Desk:
    """Open the session and score it by its first task's measure.

    Raises:
        BrightInspectError: as ``open_session``, or the runs hold no query.
    """
    opening = open_session(request, made=layers_of_request(request), progress=progress, cancel=token)
    session = opening.session
    if not session.tasks:
        raise BrightInspectError("the runs hold no query.")
    measure = parse_measure(session.measure) if session.measure else opening_measure(session.tasks)
    session.findings += depth_findings(session, session.cursor, [measure])
    session.findings += metrics_beside_findings(session, session.cursor)
    return Desk(opening, _score(session, session.cursor, measure))


def _score(session: Session, cursor: Cursor, measure: Measure) -> Scored:
    scores = task_scores(session, measure, cursor=cursor)
    return Scored(
        measure,
        {(score.run.run_id, score.task): score for score in scores},
        tuple(query_rows(session, cursor, scores)),
        gold_fates(cursor),
        exclusion_effects(session, cursor, measure),
        _active_layers(session),
    )


def _active_layers(session: Session) -> dict[TaskKey, str]:
    """Which layer counts for each open task."""
    active = session.collections.active_layers
    return {task: active[task] for task in session.tasks if task in active}

"""Judging in a session: the annotator's journal, the queue of what to judge, and what the judgments change.

Methods that take a token run in workers. ``write`` is the only way into the journal; it returns once the line is on
disk.
"""

from __future__ import annotations

import getpass
import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import astuple, dataclass, field, replace
from itertools import pairwise
from pathlib import Path
from typing import Literal

from bright_inspect.db import Cursor
from bright_inspect.domain.measures import Measure
from bright_inspect.domain.rankings import QueryKey
from bright_inspect.errors import UnreadableInput, UsageError
from bright_inspect.judging.candidates import Candidate, pool_candidates, ranks_needed
from bright_inspect.judging.decisions import Decision, PairKey, text_sha256
from bright_inspect.judging.effect import candidate_effects
from bright_inspect.judging.evidence import Evidence, evidence_score, pool_evidence
from bright_inspect.judging.history import CONFLICT, Log, conflicts, current, settled_by, tags, undoable
from bright_inspect.judging.journal import DEFAULT_JOURNAL, Journal
from bright_inspect.judging.queue import Queue, QueueItem, ordered_places, queue_items
from bright_inspect.judging.ranked import document_ranks
from bright_inspect.judging.what_if import WhatIf, load_what_if
from bright_inspect.retrieval.protocol import Progress
from bright_inspect.store.collections import TaskKey
from bright_inspect.store.progress import CancelToken
from bright_inspect.store.session import Session
from bright_inspect.store.triage_request import TriageRequest
from bright_inspect.tui.live_desk import LiveDesk


@dataclass(frozen=True, slots=True)
class Triage:
    """A queue that was made, with what is shown of its items: the candidate, its effect (None = not worked out) and its
    evidence; of conflicts, what each annotator said. ``said`` is what the annotator said before the queue was made,
    ``before`` of how many of the pooled documents, ``settled`` how many conflicts are left out because they were
    settled."""

    queue: Queue
    candidates: Mapping[QueueItem, tuple[Candidate, float | None, tuple[Evidence, ...]]]
    ranks_to: int | None
    what_if: WhatIf
    following: Mapping[QueueItem, QueueItem]
    votes: Mapping[QueueItem, Mapping[str, int]] = field(default_factory=dict)
    said: Mapping[PairKey, int | None] = field(default_factory=dict)
    before: int = 0
    settled: int = 0

    def standing(self, item: QueueItem) -> int | None:
        """What the annotator's decisions say of a document now: the last one in the queue, or one from before it."""
        pair = (*astuple(item.query), item.doc_id)
        for taken in reversed(self.queue.decisions):
            if (*astuple(taken.item.query), taken.item.doc_id) == pair:
                return taken.relevance
        return self.said.get(pair)


class TriageDesk:
    """One annotator's work in a session."""

    def __init__(
        self,
        session: Session,
        cursor: Callable[[CancelToken], AbstractContextManager[Cursor]],
        journals: Sequence[Path],
        request: TriageRequest,
        live: LiveDesk,
    ) -> None:
        self._session, self._cursor, self._journals = session, cursor, tuple(journals) or (DEFAULT_JOURNAL,)
        self.request, self._live = request, live
        self.annotator = request.annotator or _user()
        self.journal = Journal(self._journals[0])
        self._log: Log | None = None

    def log(self) -> Log:
        """What is in the journals; read once, and followed.

        Raises:
            UnreadableInput: one cannot be read.
        """
        if self._log is None:
            self._log = Log(self._journals)
        else:
            self._log.follow()
        return self._log

    def said(self) -> dict[PairKey, int | None]:
        """What the annotator last said of each pair, None for unsure."""
        return {
            pair: lines[self.annotator].relevance
            for pair, lines in current(self.log().decisions).items()
            if self.annotator in lines
        }

    def said_of_queries(self) -> dict[QueryKey, dict[str, int | None]]:
        """What the annotator last said of each query's documents, None for unsure."""
        found: dict[QueryKey, dict[str, int | None]] = {}
        for pair, relevance in self.said().items():
            found.setdefault(QueryKey(*pair[:3]), {})[pair[3]] = relevance
        return found

    def query_tags(self) -> dict[QueryKey, frozenset[str]]:
        """The tags that anyone put on each query and on its documents.

        Raises:
            UnreadableInput: a journal cannot be read.
        """
        found: dict[QueryKey, set[str]] = {}
        for subject, of_subject in tags(self.log().decisions).items():
            found.setdefault(QueryKey(*subject[:3]), set()).update(of_subject)
        return {key: frozenset(names) for key, names in found.items()}

    def guidelines(self) -> str | None:
        """The project's guidelines, or None if there are none.

        Raises:
            UnreadableInput: the file cannot be read.
        """
        path = self.request.guidelines
        if path is None:
            return None
        try:
            return path.read_text(encoding="utf-8", errors="replace")
        except OSError as error:
            raise UnreadableInput(
                f"{path}: {error.strerror or error}.", "Name a text file: --guidelines FILE."
            ) from None

    def open_triage(self, tasks: Sequence[TaskKey], measure: Measure, tell: Progress, token: CancelToken) -> Triage:
        """Pool the unjudged documents of these tasks, and put them in order.

        Raises:
            UsageError: the order names a run that is not open.
            UnreadableInput: a journal cannot be read.
        """
        request, session = self.request, self._session
        if request.order == "conflicts":
            return self._open_conflicts(tasks, measure, token)
        with self._cursor(token) as cursor:
            tell(0, 1, "pooling unjudged documents")
            said = self.said()
            pool = pool_candidates(
                session, cursor, depth=request.depth, ranks_to=ranks_needed(measure), tasks=tasks, decided=list(said)
            )
            token.check()
            tell(0, 1, "working out what each would change")
            effects = candidate_effects(session, cursor, pool, measure).tolist()
            with self._live.indexed(tasks, token) as retrievers:
                evidence = pool_evidence(
                    session, cursor, pool, retrievers=retrievers, reranked=self._live.reranked, progress=tell,
                    check=token.check,
                )  # fmt: skip
            scores = [evidence_score(pieces) for pieces in evidence]
            places = ordered_places(
                pool, request.order, effects=effects, scores=scores, run_id=self._run_id(), seed=request.seed,
                per_query=request.per_query, blind=request.blind,
            )  # fmt: skip
            what_if = load_what_if(session, cursor, measure, _known(said), pool_depth=request.depth)
        items = queue_items(pool, places)
        earlier = [QueueItem(QueryKey(*pair[:3]), pair[3]) for pair in said]
        queue = Queue(
            items, held_back=pool.held_back_count, repeat_rate=request.repeat_rate, earlier=earlier, seed=request.seed
        )
        named = queue_items(pool, range(len(pool)))
        return Triage(
            queue,
            {item: (pool[place], effects[place], evidence[place]) for place, item in enumerate(named)},
            pool.ranks_to,
            what_if,
            dict(pairwise(items)),
            said=said,
            before=int(pool.decided.sum()),
        )

    def _open_conflicts(self, tasks: Sequence[TaskKey], measure: Measure, token: CancelToken) -> Triage:
        """What annotators judged differently, this one's own judgments included; what each said stands for evidence."""
        said, decisions = self.said(), self.log().decisions
        disputed = {pair: votes for pair, votes in conflicts(decisions).items() if pair[:2] in tasks}
        settled = disputed.keys() & settled_by(decisions, self.annotator)
        for pair in settled:
            del disputed[pair]
        items = [QueueItem(QueryKey(*pair[:3]), pair[3]) for pair in disputed]
        with self._cursor(token) as cursor:
            ranks = document_ranks(self._session, cursor, [(item.query, item.doc_id) for item in items])
            what_if = load_what_if(self._session, cursor, measure, _known(said), pool_depth=self.request.depth)
        unknown = (None,) * len(self._session.runs)
        candidates: dict[QueueItem, tuple[Candidate, float | None, tuple[Evidence, ...]]] = {
            item: (Candidate(item.query, item.doc_id, ranks.get((item.query, item.doc_id), unknown), unknown), None, ())
            for item in items
        }
        votes = dict(zip(items, disputed.values(), strict=True))
        queue = Queue(items, seed=self.request.seed)
        return Triage(
            queue, candidates, None, what_if, dict(pairwise(items)), votes, said=said, settled=len(settled)
        )  # fmt: skip

    def _run_id(self) -> int | None:
        wanted = self.request.run
        if wanted is None:
            return None
        for run in self._session.runs:
            if wanted in (run.label, run.name.in_full, run.name.system):
                return run.run_id
        labels = ", ".join(run.label for run in self._session.runs)
        raise UsageError(f"--triage-run {wanted}: no run is called so.", f"Runs: {labels}.")

    def decision(
        self, query: QueryKey, doc_id: str, relevance: int | None, query_text: str | None, text: str | None
    ) -> Decision:
        """A judgment by the annotator, with the hashes of the texts that were in view."""
        return Decision(
            query.dataset, query.task, query.query_id, doc_id, self.annotator, relevance,
            query_sha256=None if query_text is None else text_sha256(query_text),
            doc_sha256=None if text is None else text_sha256(text),
        )  # fmt: skip

    def about_query(self, query: QueryKey, kind: Literal["tag", "note"], text: str) -> Decision:
        """A tag or a note of the annotator's on a query."""
        note, names = (text, ()) if kind == "note" else ("", (text,))
        return Decision(
            query.dataset, query.task, query.query_id, None, self.annotator, kind=kind, note=note, tags=names
        )

    def write(self, decision: Decision, token: CancelToken) -> Decision:
        """Append a line to the annotator's journal; it is on disk when this returns.

        Raises:
            BrightInspectError: it was not kept.
        """
        # Not stopped between: a line that is on disk must be acknowledged.
        self.journal.append(decision)
        return decision

    def last(self) -> Decision | None:
        """The annotator's last line that counts, which an undo takes back."""
        return undoable(self.log().decisions, self.annotator)

    def undo(self, token: CancelToken) -> Decision | None:
        """Take back the annotator's last line, at any depth; the line that was taken back, or None if there is none.

        Raises:
            BrightInspectError: it was not kept.
        """
        last = self.last()
        if last is not None:
            self.journal.append(last.undo())
        return last


def seen(
    candidate: Candidate,
    evidence: Sequence[Evidence],
    labels: Sequence[str],
    votes: Mapping[str, int] | None = None,
    *,
    blind: bool,
) -> tuple[str, ...]:
    """What the annotator had in view, as the journal keeps it; of a conflict, that it was one."""
    if blind:
        return ("blind",) if votes is None else ("blind", CONFLICT)
    ranks = [f"{label} {rank}" for label, rank in zip(labels, candidate.ranks, strict=True) if rank is not None]
    said = [f"{CONFLICT}: " + ", ".join(f"{name} {relevance}" for name, relevance in votes.items())] if votes else []
    return (*ranks, *said, *(f"{piece.kind} {piece.value:.2f}" for piece in evidence))


def with_texts(decision: Decision, *, note: str, why: str, tags: Sequence[str], repeat: bool) -> Decision:
    """The decision with what was written beside it."""
    return replace(decision, note=note, why=why, tags=tuple(tags), repeat=repeat)


def _known(said: dict[PairKey, int | None]) -> dict[PairKey, int | None]:
    return {pair: relevance for pair, relevance in said.items() if relevance is not None}


def _user() -> str:
    """The user's name, as an annotator's."""
    try:
        return getpass.getuser()
    except (OSError, KeyError):
        return os.environ.get("USER") or "me"

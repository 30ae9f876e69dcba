"""What a journal's lines come to: which count, what each annotator says now, and what is noted.

Lines are in file order, files in the order they were given: the last line counts. An undo takes back one line by its
id, of the same annotator only; an undo may itself be undone, to any depth. Lines of the same id are one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from bright_inspect.domain.findings import Finding
from bright_inspect.judging.decisions import Decision, PairKey
from bright_inspect.judging.journal import DEFAULT_JOURNAL, Journal, Place

Subject = tuple[str, str, str, str | None]
"""(dataset, task, query_id, doc_id); without a document the query is meant"""

#: What the evidence of a decision begins with that was taken on a conflict, to settle it.
CONFLICT = "conflict"

Votes = Mapping[PairKey, Mapping[str, int]]
"""pair -> annotator -> relevance; who is unsure has none"""


def subject_of(decision: Decision) -> Subject:
    """What a line is about."""
    return (*decision.query, decision.doc_id)


def distinct(decisions: Iterable[Decision]) -> list[Decision]:
    """The lines without those whose id was there before."""
    kept: dict[str, Decision] = {}
    for decision in decisions:
        kept.setdefault(decision.id, decision)
    return list(kept.values())


def alive(decisions: Iterable[Decision]) -> list[Decision]:
    """The lines that count, each once: no undos, and nothing that was taken back."""
    lines = {decision.id: decision for decision in distinct(decisions)}
    undos: dict[str, list[str]] = {}
    for decision in lines.values():
        undone = lines.get(decision.undoes or "")
        if undone is not None and undone.annotator == decision.annotator:
            undos.setdefault(undone.id, []).append(decision.id)
    dead = _taken_back(undos)
    return [decision for decision in lines.values() if decision.kind != "undo" and decision.id not in dead]


def _taken_back(undos: Mapping[str, Sequence[str]]) -> set[str]:
    """Ids that an undo which counts names. An undo counts unless it is taken back; in a ring, which no program writes,
    the one asked for first does."""
    dead: dict[str, bool] = {}
    for start in undos:
        stack = [start]
        open_ids: set[str] = set()
        while stack:
            line = stack[-1]
            if line in dead:
                stack.pop()
                continue
            waiting = [undo for undo in undos.get(line, ()) if undo not in dead and undo not in open_ids]
            if line not in open_ids:
                open_ids.add(line)
                if waiting:
                    stack += waiting
                    continue
            dead[line] = any(not dead.get(undo, True) for undo in undos.get(line, ()))
            stack.pop()
    return {line for line, is_dead in dead.items() if is_dead}


def current(decisions: Iterable[Decision]) -> dict[PairKey, dict[str, Decision]]:
    """What each annotator last said of each pair, unsure included: pair -> annotator -> judgment."""
    said: dict[PairKey, dict[str, Decision]] = {}
    for decision in alive(decisions):
        if decision.kind == "judgment":
            said.setdefault(decision.pair, {})[decision.annotator] = decision
    return said


def votes_of(decisions: Iterable[Decision]) -> dict[PairKey, dict[str, int]]:
    """What each annotator last said of each pair, without those who are unsure."""
    votes: dict[PairKey, dict[str, int]] = {}
    for pair, said in current(decisions).items():
        sure = {annotator: line.relevance for annotator, line in said.items() if line.relevance is not None}
        if sure:
            votes[pair] = sure
    return votes


def conflicts(decisions: Iterable[Decision]) -> Votes:
    """The pairs that some annotators call relevant and others not, with what each says."""
    return {
        pair: votes
        for pair, votes in votes_of(decisions).items()
        if len({relevance > 0 for relevance in votes.values()}) > 1
    }


def settled_by(decisions: Iterable[Decision], annotator: str) -> set[PairKey]:
    """The pairs that an annotator judged knowing that others differ, and nobody has judged since."""
    last: dict[PairKey, Decision] = {}
    for line in alive(decisions):
        if line.kind == "judgment":
            last[line.pair] = line
    return {
        pair
        for pair, line in last.items()
        if line.annotator == annotator and any(told.startswith(CONFLICT) for told in line.evidence)
    }


def skipped(decisions: Iterable[Decision], annotator: str) -> set[PairKey]:
    """The pairs that an annotator has skipped and not judged since."""
    pairs: dict[PairKey, str] = {}
    for decision in alive(decisions):
        if decision.annotator == annotator and decision.kind in ("judgment", "skip"):
            pairs[decision.pair] = decision.kind
    return {pair for pair, kind in pairs.items() if kind == "skip"}


def notes(decisions: Iterable[Decision]) -> dict[Subject, dict[str, str]]:
    """Each annotator's last note on each query and document, subject -> annotator -> text; an empty one removes it."""
    found: dict[Subject, dict[str, str]] = {}
    for decision in alive(decisions):
        if decision.kind == "note" or (decision.kind == "judgment" and decision.note):
            of_subject = found.setdefault(subject_of(decision), {})
            of_subject.pop(decision.annotator, None)
            if decision.note:
                of_subject[decision.annotator] = decision.note
    return {subject: texts for subject, texts in found.items() if texts}


def tags(decisions: Iterable[Decision]) -> dict[Subject, dict[str, frozenset[str]]]:
    """The tags on each query and document and who put them there, subject -> tag -> annotators."""
    found: dict[Subject, dict[str, set[str]]] = {}
    for decision in alive(decisions):
        of_subject = found.setdefault(subject_of(decision), {})
        for tag in decision.tags:
            annotators = of_subject.setdefault(tag, set())
            if decision.kind == "untag":
                annotators.discard(decision.annotator)
            else:
                annotators.add(decision.annotator)
    return {
        subject: {tag: frozenset(annotators) for tag, annotators in of_subject.items() if annotators}
        for subject, of_subject in found.items()
        if any(of_subject.values())
    }


def undoable(decisions: Iterable[Decision], annotator: str) -> Decision | None:
    """The last line of an annotator that counts: what an undo takes back next."""
    return next((line for line in reversed(alive(decisions)) if line.annotator == annotator), None)


@dataclass(slots=True)
class _Read:
    journal: Journal
    place: Place
    findings: list[Finding]


class Log:
    """The lines of several journals, which can be followed while others write."""

    def __init__(self, paths: Sequence[Path] = (DEFAULT_JOURNAL,)) -> None:
        """Reads them; a journal that does not exist yet has no lines.

        Raises:
            UnreadableInput: one cannot be read.
        """
        self._reads = [_Read(Journal(path), Place(), []) for path in paths]
        self._lines: list[list[Decision]] = [[] for _ in paths]
        for read, lines in zip(self._reads, self._lines, strict=True):
            told = read.journal.read()
            read.place, lines[:] = told.place, told.decisions
            read.findings = read.journal.findings(told.damaged)

    @property
    def decisions(self) -> list[Decision]:
        """All lines, each id once: those of the first journal first."""
        return distinct(line for lines in self._lines for line in lines)

    @property
    def findings(self) -> list[Finding]:
        """Damaged lines, and ids that stand for different lines."""
        findings = [finding for read in self._reads for finding in read.findings]
        for read, lines in zip(self._reads, self._lines, strict=True):
            by_id: dict[str, Decision] = {}
            differing = [line.id for line in lines if by_id.setdefault(line.id, line) != line]
            if differing:
                message = f"{len(differing)} line(s) repeat the id of another and differ; the first counts."
                findings.append(
                    Finding("repeated-decision-id", "error", str(read.journal.path), message, None, len(differing))
                )
        return findings

    def follow(self) -> list[Decision]:
        """Read what was added since, and return it; a file that was replaced is read anew.

        Raises:
            UnreadableInput: as at the beginning.
        """
        known = {line.id for lines in self._lines for line in lines}
        added: list[Decision] = []
        for read, lines in zip(self._reads, self._lines, strict=True):
            told = read.journal.read_new(read.place)
            read.place = told.place
            if told.anew:
                lines[:], read.findings = [], []
            lines += told.decisions
            read.findings += read.journal.findings(told.damaged)
            added += (line for line in told.decisions if line.id not in known)
        return distinct(added)

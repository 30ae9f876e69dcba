"""Layers of judgments made of decisions.

================  ==========================================================================================
``mine:NAME``     what the annotator NAME says (also just ``NAME``; ``mine`` if there is one annotator only)
``majority``      what most annotators say of a pair; a tie decides nothing: the data's own judgment stands
``unanimous``     relevant only if all who judged the pair say so, which is BRIGHT's rule; else not relevant
``union``         relevant if anyone says so
``only:LAYER``    the decisions alone, without the data's judgments
``graded:LAYER``  grades as they were given
================  ==========================================================================================

Each lies over the data's own judgments (``original``, or the first layer given): pairs that were decided get the
decision, 0 on a gold included, all others keep what they have. Unsure is no vote: the pair keeps what it has. Without
``graded:`` every relevance above 0 counts as 1. With it, ``unanimous`` is the lowest grade, ``union`` the highest, and
``majority`` the lower median of those on the larger side. The data's own grades are left as they are.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from statistics import median_low

from bright_inspect.db import Cursor
from bright_inspect.domain.findings import Finding
from bright_inspect.errors import UnreadableInput
from bright_inspect.judging.decisions import Decision, PairKey
from bright_inspect.judging.hashes import query_mismatches
from bright_inspect.judging.history import Log, distinct, votes_of
from bright_inspect.judging.journal import DEFAULT_JOURNAL
from bright_inspect.judging.saved import decisions_of_sessions
from bright_inspect.store.collections import TaskKey
from bright_inspect.store.layer_source import Overlay
from bright_inspect.store.request import OpenRequest

MINE = "mine:"
ONLY = "only:"
GRADED = "graded:"


def majority(grades: Sequence[int]) -> int | None:
    """The lower median of the larger side, relevant or not; None for a tie."""
    relevant = [grade for grade in grades if grade > 0]
    if 2 * len(relevant) == len(grades):
        return None
    return median_low(relevant) if 2 * len(relevant) > len(grades) else 0


_RULES: dict[str, Callable[[Sequence[int]], int | None]] = {"majority": majority, "unanimous": min, "union": max}
#: The rules that make one judgment of several annotators'.
RULES = tuple(_RULES)


class DecisionLayers:
    """The layers of some decisions, as a session asks for them (see ``LayerSource``)."""

    def __init__(
        self, decisions: Sequence[Decision], findings: Sequence[Finding] = (), told: Path | None = None
    ) -> None:
        """``findings`` are what reading them told; ``told`` is the journal that was read without being asked for, which
        is said."""
        self.decisions = list(decisions)
        self._findings = list(findings)
        self._told = told
        self._votes: dict[TaskKey, dict[PairKey, dict[str, int]]] = {}
        for pair, said in votes_of(decisions).items():
            self._votes.setdefault(pair[:2], {})[pair] = said
        self.annotators = tuple(dict.fromkeys(line.annotator for line in decisions if line.kind == "judgment"))

    def tasks(self) -> tuple[TaskKey, ...]:
        return tuple(self._votes)

    def names(self, task: TaskKey) -> tuple[str, ...]:
        """Each annotator's layer, and the three rules where there are several annotators. Those with ``only:`` and
        ``graded:`` are there for the asking."""
        voted = {annotator for said in self._votes.get(task, {}).values() for annotator in said}
        own = tuple(f"{MINE}{annotator}" for annotator in self.annotators if annotator in voted)
        return own + (RULES if len(own) > 1 else ())

    def overlay(self, task: TaskKey, layer: str) -> Overlay | None:
        rest, alone, graded = layer, False, False
        while rest.startswith((ONLY, GRADED)):
            alone, graded = alone or rest.startswith(ONLY), graded or rest.startswith(GRADED)
            rest = rest.split(":", 1)[1]
        rule = self._rule(rest)
        if rule is None:
            return None
        judgments = {}
        for pair, said in self._votes.get(task, {}).items():
            relevance = rule(said)
            if relevance is not None:
                judgments[pair[2:]] = relevance if graded else min(relevance, 1)
        return Overlay(judgments, alone)

    def _rule(self, name: str) -> Callable[[Mapping[str, int]], int | None] | None:
        if name in _RULES:
            rule = _RULES[name]
            return lambda said: rule(list(said.values()))
        annotator = name.removeprefix(MINE)
        if name == "mine" and len(self.annotators) == 1:
            annotator = self.annotators[0]
        return (lambda said: said.get(annotator)) if annotator in self.annotators else None

    def findings(self, cursor: Cursor, tasks: Sequence[TaskKey]) -> list[Finding]:
        """Damaged lines; queries of the loaded tasks whose text is another than the one judged; and that decisions of
        the working folder were read, if nobody asked for them."""
        findings = [*self._findings, *query_mismatches(cursor, self.decisions, tasks)]
        judged = [task for task in tasks if task in self._votes]
        if self._told is not None and judged:
            pairs = sum(len(self._votes[task]) for task in judged)
            layers = ", ".join(dict.fromkeys(name for task in judged for name in self.names(task)))
            message = (
                f"{pairs} decided pair{'' if pairs == 1 else 's'} of these tasks, read because the journal lies in "
                f"this folder. They count only where --layer (on the screen: L) names a layer of them: {layers}."
            )
            findings.append(Finding("journal-read", "note", str(self._told), message, None, pairs))
        return findings


def layers_of_request(request: OpenRequest) -> DecisionLayers | None:
    """The layers of the request's journals and saved session; without a journal, of the working folder's if it is
    there; None without any of them. A journal that judging is to begin need not be there.

    Raises:
        UnreadableInput: a journal is not there, or cannot be read.
    """
    default = not request.journals
    paths = journals_of_request(request)
    for number, path in enumerate(paths):
        if not path.exists() and (number or not request.triage.at_once):
            raise UnreadableInput(
                f"{path}: no such file.", "Give --journal a file of decisions; with --triage the first is made."
            )
    decisions, findings = decisions_of_sessions(request.runs)
    if not paths and not decisions and not findings:
        return None
    log = Log(paths)
    told = DEFAULT_JOURNAL if default and paths else None
    return DecisionLayers(distinct([*decisions, *log.decisions]), [*findings, *log.findings], told)


def journals_of_request(request: OpenRequest) -> list[Path]:
    """The journals that a request names; without any, the working folder's if it is there."""
    if request.journals:
        return list(request.journals)
    return [DEFAULT_JOURNAL] if DEFAULT_JOURNAL.exists() else []

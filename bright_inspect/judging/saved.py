"""Decisions on their way into a saved session, and back."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from bright_inspect.db import Cursor
from bright_inspect.domain.findings import Finding
from bright_inspect.errors import BrightInspectError
from bright_inspect.judging.decisions import BadDecision, Decision, encode_line, parse_fields
from bright_inspect.store.collections import TaskKey
from bright_inspect.store.inputs import expand_arguments
from bright_inspect.store.layer_source import LayerSource
from bright_inspect.store.saved_schema import is_session_file
from bright_inspect.store.saved_session import saved_decisions
from bright_inspect.store.saving import Decided, SavedDecision

#: Seen anew when the session is opened, or true only of the folder where a journal was read unasked.
_NOT_KEPT = ("query-text-differs", "journal-read")


def decided(
    decisions: Sequence[Decision], made: LayerSource, cursor: Cursor, tasks: Sequence[TaskKey], journals: Sequence[Path]
) -> Decided:
    """What a saved session keeps of decisions, whose layers are ``made``."""
    findings = [finding for finding in made.findings(cursor, tasks) if finding.code not in _NOT_KEPT]
    return Decided([_saved(line) for line in decisions], findings, journals)


def _saved(line: Decision) -> SavedDecision:
    return SavedDecision(
        line.id, line.kind, line.dataset, line.task, line.query_id, line.doc_id, line.relevance, line.annotator,
        line.time, line.note, line.undoes, encode_line(line).decode().rstrip("\n"),
    )  # fmt: skip


def decisions_of_sessions(runs: Sequence[str]) -> tuple[list[Decision], list[Finding]]:
    """The decisions in the saved sessions among these arguments, and what is odd about them.

    Raises:
        UnreadableInput: a saved session cannot be read.
    """
    decisions: list[Decision] = []
    findings: list[Finding] = []
    for path in _sessions(runs):
        lines, told = saved_decisions(path)
        findings += told
        for line in lines:
            try:
                decisions.append(parse_fields(json.loads(line)))
            except (ValueError, RecursionError) as error:
                what = str(error) if isinstance(error, BadDecision) else "a line that is no JSON"
                message = f"{what}; it counts for nothing."
                findings.append(Finding("damaged-decision", "error", str(path), message))
    return decisions, findings


def _sessions(runs: Sequence[str]) -> list[Path]:
    try:
        inputs = expand_arguments(runs)
    except BrightInspectError:
        return []  # said when the runs are opened
    return list(dict.fromkeys(each.path for each in inputs if is_session_file(each.path)))

"""What readers found odd in a file, and what it changes: nothing is dropped or mended without one of these."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

Severity = Literal["error", "warning", "note"]
"""A note says what was done where nothing is odd; ``--strict`` does not mind it."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One kind of oddity in one file.

    ``count`` is how often it occurs, ``line`` the first place (1-based, None where the file has no lines), and
    ``message`` says what was found, what was done about it and what that changes in the score.
    """

    code: str
    severity: Severity
    file: str
    message: str
    line: int | None = None
    count: int = 1

    @property
    def place(self) -> str:
        """``file:line``, or ``file`` where there is no line."""
        return self.file if self.line is None else f"{self.file}:{self.line}"


#: What a finding can change, most consequential first.
SCORE, ORDER, QUERIES = "the score", "the order", "which queries count"
JUDGMENTS, MEANING = "which judgments count", "what the run is taken for"
NOTHING, UNKNOWN = "nothing in the score", "not said what"
CHANGES = (SCORE, ORDER, QUERIES, JUDGMENTS, MEANING, NOTHING, UNKNOWN)

#: Code -> what it changes. A new code gets its place here; until then it is shown in a group of its own, the last.
_CHANGES: dict[str, str] = {
    # Lines, documents and scores that are left out or read as something else.
    "bad-document-id": SCORE, "bad-entry": SCORE, "bad-json-line": SCORE, "bad-rank": SCORE, "bad-score": SCORE,
    "duplicate-document": SCORE, "invalid-utf8": SCORE, "nan-score": SCORE, "nul-character": SCORE,
    "rank-for-score": SCORE, "repeated-query": SCORE, "several-lists": SCORE, "several-scores": SCORE,
    "short-list": SCORE, "shorter-than-cutoff": SCORE, "too-few-columns": SCORE, "too-many-columns": SCORE,
    # What comes before what.
    "all-scores-equal": ORDER, "excluded-document": ORDER, "float32-ties": ORDER, "infinite-score": ORDER,
    "odd-rank": ORDER, "order-is-ranking": ORDER, "ranks-contradict-scores": ORDER,
    # Queries without a list or without judgments.
    "bad-query-id": QUERIES, "missing-query": QUERIES, "query-without-list": QUERIES, "query-without-scores": QUERIES,
    "other-vintage": QUERIES, "prefixed-query-ids": QUERIES, "unknown-query": QUERIES,
    # Judgments and exclusions, and the rows they come from.
    "bad-judgment": JUDGMENTS, "excluded-by-relevance": JUDGMENTS, "excluded-gold": JUDGMENTS,
    "fractional-relevance": JUDGMENTS, "negative-relevance": JUDGMENTS, "other-split": JUDGMENTS,
    "damaged-decision": JUDGMENTS, "document-text-differs": JUDGMENTS, "query-text-differs": JUDGMENTS,
    "repeated-decision-id": JUDGMENTS,
    "document-alias": JUDGMENTS, "other-judgments": JUDGMENTS, "repeated-judgment": JUDGMENTS,
    # Which task, query or run it is.
    "ambiguous-query": MEANING, "history-of-other-queries": MEANING, "looks-like-judgments": MEANING,
    "metrics-disagree": MEANING, "model-name-mismatch": MEANING, "scores-reused": MEANING, "shared-folder": MEANING,
    "shared-metrics": MEANING, "stale-metrics": MEANING,
    "no-gold-listed": MEANING, "partial-corpus": MEANING,
    "path-task-mismatch": MEANING, "repeated-id": MEANING, "row-without-id": MEANING,
    "unused-variant": MEANING, "variant-lacks-queries": MEANING, "variant-other-golds": MEANING,
    "variant-unknown-queries": MEANING,
    # Of reported values, which are compared and not scored.
    "bad-line": NOTHING, "bad-row": NOTHING, "bad-value": NOTHING, "mixed-scale": NOTHING,
    "not-reported-values": NOTHING, "odd-shape": NOTHING, "percentages": NOTHING, "repeated-key": NOTHING,
    "unknown-measure": NOTHING, "unused-column": NOTHING,
    "byte-order-mark": NOTHING, "cache-not-written": NOTHING, "comment-line": NOTHING, "history-not-read": NOTHING,
    "journal-read": NOTHING,
    "row-without-text": NOTHING, "utf-16": NOTHING,
}  # fmt: skip


def changes(code: str) -> str:
    """What a finding of this code changes, one of CHANGES; UNKNOWN for a code that the table does not have."""
    return _CHANGES.get(code, UNKNOWN)


def grouped(findings: Iterable[Finding]) -> list[tuple[str, list[Finding]]]:
    """The findings by what they change, errors first in each group; groups that have an error before those that do
    not, and both in the order of CHANGES."""
    groups: dict[str, list[Finding]] = {}
    for finding in findings:
        groups.setdefault(changes(finding.code), []).append(finding)

    def place(group: str) -> tuple[bool, int]:
        has_error = any(finding.severity == "error" for finding in groups[group])
        return not has_error, CHANGES.index(group)

    return [
        (group, sorted(groups[group], key=lambda finding: finding.severity != "error"))
        for group in sorted(groups, key=place)
    ]

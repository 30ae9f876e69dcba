"""What the variants that runs were made with do to them: ``bright-inspect variants RUN…``."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

import click

from bright_inspect.cli.eval_command import add_scored_findings, all_scores, tell_layer
from bright_inspect.cli.options import interruptible, opened
from bright_inspect.cli.output import finding_json, print_csv, print_json, print_table, report_findings
from bright_inspect.cli.variants_command import COUNTS, count_rows
from bright_inspect.domain.measures import Measure
from bright_inspect.domain.names import ORIGINAL
from bright_inspect.domain.visible import visible
from bright_inspect.evaluation.scores import TaskScores
from bright_inspect.presentation.numbers import percent, signed_percent
from bright_inspect.presentation.variants import VariantLine, variant_lines, variant_notes
from bright_inspect.rewriting.comparison import VariantScore, variant_scores
from bright_inspect.rewriting.lengths import VariantLengths, task_lengths
from bright_inspect.store.collections import TaskKey
from bright_inspect.store.progress import CancelToken
from bright_inspect.store.request import OpenRequest
from bright_inspect.store.session import Session
from bright_inspect.store.variants import variant_counts

_NAMES = ("run", "system", "variant", "original", "dataset", "task", "measure")
_NUMBERS = (
    "queries", "answered", "mean", "shared", "delta", "win", "tie", "tie_both_zero", "loss", "words", "characters",
    "original_words", "surviving",
)  # fmt: skip
_Scores = Mapping[tuple[int, TaskKey], TaskScores]


def show_runs(
    request: OpenRequest, wanted: list[Measure], *, per_query: bool, as_json: bool, as_csv: bool, strict: bool
) -> int:
    """Print each run beside its system's run on the original queries; the exit code."""
    with opened(request) as opening:
        session = opening.session
        by_measure: dict[Measure, dict[tuple[int, TaskKey], TaskScores]] = {}
        for score in all_scores(session, wanted):
            by_measure.setdefault(score.measure, {})[score.run.run_id, score.task] = score
        add_scored_findings(session, by_measure)
        lengths = interruptible(lambda token: _lengths(session, token))
        tables = [(measure, scores, _lines(session, scores, lengths)) for measure, scores in by_measure.items()]
        if as_json:
            counts = variant_counts(session.cursor, session.collections, session.tasks)
            results = [_json(line, measure, scores) for measure, scores, lines in tables for line in _of_runs(lines)]
            print_json(
                {
                    "variants": [dict(zip(COUNTS, row, strict=True)) for row in count_rows(counts)],
                    "runs": [result for result in results if result["task"] is not None],
                    "means": [_without_queries(result) for result in results if result["task"] is None],
                    "findings": [finding_json(finding) for finding in session.findings],
                }
            )
        elif as_csv:
            _print_csv(tables, per_query)
        else:
            _print_table(tables, per_query)
            tell_layer(session)
        sys.stdout.flush()
        if not as_json:
            for _, _, lines in tables[:1]:
                for note in variant_notes(lines, lengths, reading=False, on_screen=False):
                    click.echo("bright-inspect: " + visible("".join(span.text for span in note)), err=True)
        return report_findings(session.findings if not as_json else [], strict) or int(
            strict and bool(session.findings)
        )


def _lengths(session: Session, token: CancelToken) -> dict[tuple[TaskKey, str], VariantLengths]:
    token.watch(session.cursor)
    try:
        return {
            (task, each.variant): each
            for task in session.tasks
            for each in task_lengths(session.cursor, session.collections, task, token.check)
        }
    finally:
        token.unwatch()


def _lines(
    session: Session, scores: _Scores, lengths: Mapping[tuple[TaskKey, str], VariantLengths]
) -> list[VariantLine]:
    tasks = [task for task in session.tasks if any(key[1] == task for key in scores)]
    lines = variant_lines(tasks, variant_scores(scores, session.runs), session.runs, lengths)
    # In a table that scrolls past, the means come last.
    return [line for line in lines if len(line.tasks) == 1] + [line for line in lines if len(line.tasks) > 1]


def _of_runs(lines: list[VariantLine]) -> list[VariantLine]:
    return [line for line in lines if line.score is not None]


def _json(line: VariantLine, measure: Measure, scores: _Scores) -> dict[str, Any]:
    score = line.score
    assert score is not None
    run, base, outcome, texts = score.run, score.base, score.outcome, line.lengths
    result: dict[str, Any] = {
        "run": run.label,
        "system": run.name.system,
        "variant": run.name.variant,
        "original": base.label if base is not None and score.delta is not None else None,
        "dataset": score.task[0],
        "task": score.task[1] or None,
        "measure": str(measure),
        "queries": score.queries,
        "answered": score.answered,
        "mean": score.value,
        "shared": score.shared if outcome is not None else None,
        "delta": score.delta,
        "win": outcome.win if outcome else None,
        "tie": outcome.tie if outcome else None,
        "tie_both_zero": outcome.tie_both_zero if outcome else None,
        "loss": outcome.loss if outcome else None,
        "words": texts.words if texts else None,
        "characters": texts.characters if texts else None,
        "original_words": texts.original_words if texts else None,
        "surviving": texts.surviving if texts else None,
    }
    if len(line.tasks) > 1:
        return {**result, "tasks": score.tasks, "delta_tasks": score.delta_tasks}
    return {**result, "per_query": _per_query(score, scores)}


def _without_queries(result: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in result.items() if name not in ("task", "per_query")}


def _per_query(score: VariantScore, scores: _Scores) -> list[dict[str, Any]]:
    """Values, 0 without a list, and deltas where run and original both have one."""
    own = scores[score.run.run_id, score.task]
    base = scores.get((score.base.run_id, score.task)) if score.base is not None else None
    shared = own.answered & base.answered if base is not None else frozenset()
    return [
        {
            "query_id": query_id,
            "value": value,
            "delta": value - base.per_query[query_id] if base is not None and query_id in shared else None,
        }
        for query_id, value in own.per_query.items()
    ]


_Tables = list[tuple[Measure, dict[tuple[int, TaskKey], TaskScores], list[VariantLine]]]


def _print_csv(tables: _Tables, per_query: bool) -> None:
    results = [
        _json(line, measure, scores)
        for measure, scores, lines in tables
        for line in _of_runs(lines)
        if len(line.tasks) == 1
    ]
    if not per_query:
        print_csv([*_NAMES, *_NUMBERS], ([result[name] for name in (*_NAMES, *_NUMBERS)] for result in results))
        return
    names = [*_NAMES, "query_id", "value", "delta"]
    print_csv(names, ([(result | row)[name] for name in names] for result in results for row in result["per_query"]))


def _print_table(tables: _Tables, per_query: bool) -> None:
    rows = []
    for measure, scores, lines in tables:
        for line in lines:
            rows.append(_row(line, measure))
            if per_query and line.score is not None and len(line.tasks) == 1:
                rows += [
                    ["", each["query_id"], "", "", percent(each["value"]), signed_percent(each["delta"]), *[""] * 6]
                    for each in _per_query(line.score, scores)
                ]
    right = ("n", "mean", "Δ", "win", "tie (both 0)", "loss", "words", "× original", "kept")
    print_table(("run", "task", "measure", *right), rows, right=right)


def _row(line: VariantLine, measure: Measure) -> list[str]:
    score, texts = line.score, line.lengths
    words = ["", "", ""]
    if texts is not None:
        growth = "" if texts.growth is None else f"{texts.growth:.1f}"
        words = [f"{texts.words:,.0f}", growth, "" if texts.surviving is None else f"{100 * texts.surviving:.0f} %"]
    if score is None:
        return [f"no run @{line.variant}", "/".join(line.tasks[0]), *[""] * 7, *words]
    outcome = score.outcome
    counts = ["", "", ""]
    if outcome is not None:
        counts = [str(outcome.win), f"{outcome.tie} ({outcome.tie_both_zero})", str(outcome.loss)]
    shared = score.shared if outcome is not None else score.answered
    return [
        score.run.name.in_full,
        "/".join(line.tasks[0])
        if len(line.tasks) == 1
        else f"mean of {score.tasks} {score.task[0]} {'task' if score.tasks == 1 else 'tasks'}",
        str(measure),
        f"{shared}/{score.queries}" if score.partial else str(score.queries),
        percent(score.value),
        "" if score.run.name.variant == ORIGINAL else signed_percent(score.delta),
        *counts,
        *words,
    ]

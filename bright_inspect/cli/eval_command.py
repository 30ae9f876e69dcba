"""``bright-inspect eval``: scores of runs, with how many queries they are over."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from dataclasses import asdict
from typing import Any, cast

import click

from bright_inspect.cli.options import (
    measure_option,
    opened,
    output_options,
    run_arguments,
    saved_measures,
    wanted_measures,
)
from bright_inspect.cli.output import finding_json, print_csv, print_json, print_table, report_findings, strict_code
from bright_inspect.domain.measures import Measure
from bright_inspect.domain.ties import TieRange
from bright_inspect.domain.visible import visible
from bright_inspect.errors import UnreadableInput
from bright_inspect.evaluation.defaults import default_measure
from bright_inspect.evaluation.scored_findings import depth_findings, metrics_beside_findings
from bright_inspect.evaluation.scores import (
    Engine,
    ExclusionEffect,
    TaskScores,
    exclusion_effects,
    macro_mean,
    task_scores,
)
from bright_inspect.evaluation.tie_ranges import tied_at_cutoff
from bright_inspect.presentation.numbers import percent
from bright_inspect.store.collections import TaskKey
from bright_inspect.store.request import OpenRequest
from bright_inspect.store.session import Session

_Effects = dict[Measure, dict[tuple[int, TaskKey], ExclusionEffect]]
_Straddling = dict[int, dict[tuple[int, str, str], int]]


@click.command()
@run_arguments()
@measure_option
@click.option("--per-query", is_flag=True, help="Also print every query's value.")
@click.option("--engine", type=click.Choice(["sql", "pytrec_eval"]), default="sql", help="What computes the values.")
@output_options
def command(
    request: OpenRequest,
    measures: tuple[str, ...],
    per_query: bool,
    engine: str,
    as_json: bool,
    as_csv: bool,
    strict: bool,
) -> int:
    """Score runs as pytrec_eval does, over all judged queries (missing = 0).

    RUN is a TREC run or BRIGHT score JSON, a folder of them, a pattern, NAME=PATH or NAME@variant=PATH.
    """
    wanted = wanted_measures(measures)
    with opened(request) as opening:
        session = opening.session
        wanted = wanted or saved_measures(session)
        scores = all_scores(session, wanted, cast(Engine, engine))
        add_scored_findings(session, [score.measure for score in scores])
        effects = {
            measure: exclusion_effects(session, session.cursor, measure)
            for measure in dict.fromkeys(score.measure for score in scores)
        }
        if as_json or as_csv:
            straddling = {
                cutoff: tied_at_cutoff(session, session.cursor, cutoff)
                for cutoff in dict.fromkeys(score.measure.cutoff for score in scores)
                if cutoff is not None
            }
            results = [_result(session, score, effects, straddling) for score in scores]
            if as_csv:
                _print_csv(results, per_query)
            else:
                findings = [finding_json(finding) for finding in session.findings]
                if not per_query:
                    results = [
                        {name: value for name, value in result.items() if not name.startswith("per_query")}
                        for result in results
                    ]
                print_json(
                    {
                        "layer": session.layer,
                        "ties": session.ties,
                        "results": results,
                        "means_over_tasks": _means_over_tasks(results),
                        "findings": findings,
                    }
                )
        else:
            _print_table(session, scores, effects, per_query)
            tell_layer(session)
        sys.stdout.flush()
        report_findings(session.findings if not as_json else [], strict)
        return strict_code(session.findings, strict)


def tell_layer(session: Session) -> None:
    """Say on a line of its own which judgments and tie rule the values above rest on, if there are others."""
    if len(session.collections.layers) > 1 or session.ties != "trec":
        others = [layer for layer in session.collections.layers if layer != session.layer]
        at_hand = f" (also at hand: {', '.join(others)})" if others else ""
        ties = "" if session.ties == "trec" else f" · ties by {session.ties}"
        click.echo("\n" + visible(f"layer {session.layer}{at_hand}{ties}"))


def add_scored_findings(session: Session, measures: Iterable[Measure]) -> None:
    """Add to the session's findings what scoring by these measures shows."""
    session.findings += depth_findings(session, session.cursor, measures)
    session.findings += metrics_beside_findings(session, session.cursor)


def all_scores(session: Session, wanted: list[Measure], engine: Engine = "sql") -> list[TaskScores]:
    """Scores in every wanted measure, or in each dataset's default measure if none is wanted.

    Raises:
        UnreadableInput: there are no judgments for any task of the runs.
    """
    if len(session.unscored) == len(session.tasks):
        names = ", ".join("/".join(key) for key in session.unscored)
        raise UnreadableInput(
            f"no judgments at hand for {names}.", "Give --data DIR (a BRIGHT snapshot) or --qrels FILE, and --task."
        )
    if wanted:
        return [score for measure in wanted for score in task_scores(session, measure, engine=engine)]
    defaults = dict.fromkeys(default_measure(dataset) for run in session.runs for dataset, _ in run.tasks)
    return [
        score
        for measure in defaults
        for score in task_scores(session, measure, engine=engine)
        if default_measure(score.task[0]) == measure
    ]


def _path_of(score: TaskScores) -> str:
    return next(str(file.path) for file in score.run.files if score.task in file.tasks)


_HEADER = (
    "run", "system", "variant", "path", "dataset", "task", "measure", "mean", "mean_answered", "queries", "answered",
    "best", "worst", "expected", "tie_sensitive", "tied_at_cutoff", "excluded", "mean_without_exclusion", "layer",
)  # fmt: skip


def _result(session: Session, score: TaskScores, effects: _Effects, straddling: _Straddling) -> dict[str, Any]:
    key = (score.run.run_id, score.task)
    effect = effects[score.measure].get(key)
    cutoff = score.measure.cutoff
    has_ties = score.measure.kind != "Judged"
    return {
        "run": score.run.label,
        "system": score.run.name.system,
        "variant": score.run.name.variant,
        "path": _path_of(score),
        "dataset": score.task[0],
        "task": score.task[1],
        "measure": str(score.measure),
        "mean": score.mean,
        "mean_answered": score.mean_answered,
        "queries": len(score.per_query),
        "answered": len(score.answered),
        "best": score.best if has_ties else None,
        "worst": score.worst if has_ties else None,
        "expected": score.expected if has_ties else None,
        "tie_sensitive": score.tie_sensitive if has_ties else None,
        "tied_at_cutoff": None if cutoff is None else straddling[cutoff].get((score.run.run_id, *score.task), 0),
        "excluded": effect.documents if effect else 0,
        "mean_without_exclusion": effect.mean_without if effect else score.mean,
        "layer": session.collections.layer_of(score.task),
        "per_query": score.per_query,
        "per_query_ties": {query_id: asdict(ties) for query_id, ties in score.ties.items() if ties.tie_sensitive},
    }


def _means_over_tasks(results: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """For each run, dataset and measure of several tasks: means of their means, and sums of their counts."""
    groups: dict[tuple[str, ...], list[dict[str, Any]]] = {}
    for result in results:
        groups.setdefault(tuple(result[name] for name in ("run", "dataset", "measure")), []).append(result)
    means = []
    for (run, dataset, measure), group in groups.items():
        row: dict[str, Any] = {"run": run, "dataset": dataset, "measure": measure, "tasks": len(group)}
        for name in ("mean", "best", "worst", "expected", "mean_without_exclusion"):
            values = [result[name] for result in group]
            row[name] = None if None in values else sum(values) / len(values)
        for name in ("queries", "answered", "tie_sensitive", "tied_at_cutoff", "excluded"):
            values = [result[name] for result in group]
            row[name] = None if None in values else sum(values)
        means.append(row)
    return [row for row in means if row["tasks"] > 1]


def _print_csv(results: list[dict[str, Any]], per_query: bool) -> None:
    if not per_query:
        print_csv(_HEADER, ([result[name] for name in _HEADER] for result in results))
        return
    ranges = ("best", "worst", "expected")
    rows = []
    for result in results:
        for query_id, value in result["per_query"].items():
            own = dict.fromkeys(ranges, value if result["best"] is not None else None)
            ties = result["per_query_ties"].get(query_id, own)
            rows.append([*(result[name] for name in _HEADER[:7]), query_id, value, *(ties[name] for name in ranges)])
    print_csv([*_HEADER[:7], "query_id", "value", *ranges], rows)


def _print_table(session: Session, scores: list[TaskScores], effects: _Effects, per_query: bool) -> None:
    rows = []
    for run in session.runs:
        of_run = [score for score in scores if score.run is run]
        for score in of_run:
            answered = len(score.answered)
            n = f"{answered} of {len(score.per_query)}"
            mean_answered = percent(score.mean_answered) if answered < len(score.per_query) else ""
            effect = effects[score.measure].get((run.run_id, score.task))
            removed = f"{effect.documents:,} ({percent(effect.mean_without)})" if effect else ""
            names = [run.label, *score.task, str(score.measure), percent(score.mean)]
            rows.append([*names, _tie_cell([score]), n, mean_answered, removed])
            if per_query:
                rows += [
                    ["", "", query_id, "", percent(value), _range_text(score.ties.get(query_id)), "", "", ""]
                    for query_id, value in score.per_query.items()
                ]
        for dataset, measure in dict.fromkeys((score.task[0], score.measure) for score in of_run):
            same = [score for score in of_run if score.task[0] == dataset and score.measure == measure]
            if len(same) > 1:
                names = [run.label, dataset, f"mean of {len(same)} tasks", str(measure), percent(macro_mean(same))]
                rows.append([*names, _tie_cell(same), "", "", ""])
    header = ["run", "dataset", "task", "measure", "mean", "≈ worst–best", "answered", "of those", "excluded (if kept)"]
    # Columns that say nothing here stay away.
    kept = [column for column in range(len(header)) if column not in (5, 7, 8) or any(row[column] for row in rows)]
    print_table(
        [header[column] for column in kept],
        ([row[column] for column in kept] for row in rows),
        right=("mean", "≈ worst–best", "answered", "of those", "excluded (if kept)"),
    )


def _tie_cell(scores: list[TaskScores]) -> str:
    """The range that tie order leaves the mean of some tasks' means in; empty where it changes nothing."""
    if not any(score.tie_sensitive for score in scores):
        return ""
    worst, best = (sum(values) / len(scores) for values in zip(*((s.worst, s.best) for s in scores), strict=True))
    return f"{percent(worst)}–{percent(best)}"


def _range_text(ties: TieRange | None) -> str:
    return f"{percent(ties.worst)}–{percent(ties.best)}" if ties is not None and ties.tie_sensitive else ""

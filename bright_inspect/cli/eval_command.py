"""``bright-inspect eval``: scores of runs, with how many queries they are over."""

from __future__ import annotations

import sys
from typing import Any, cast

import click

from bright_inspect.cli.options import measure_option, opened, output_options, run_arguments, wanted_measures
from bright_inspect.cli.output import finding_json, print_csv, print_json, print_table, report_findings
from bright_inspect.domain.measures import Measure
from bright_inspect.errors import UnreadableInput
from bright_inspect.evaluation.defaults import default_measure
from bright_inspect.evaluation.scores import Engine, TaskScores, macro_mean, task_scores
from bright_inspect.presentation.numbers import percent
from bright_inspect.store.request import OpenRequest
from bright_inspect.store.session import Session


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
        scores = all_scores(session, wanted, cast(Engine, engine))
        if as_json:
            results = [
                {**_result_json(score, per_query), "layer": session.collections.layer_of(score.task)}
                for score in scores
            ]
            findings = [finding_json(finding) for finding in session.findings]
            print_json({"layer": session.layer, "ties": "trec", "results": results, "findings": findings})
        elif as_csv:
            _print_csv(scores, per_query)
        else:
            _print_table(session, scores, per_query)
        sys.stdout.flush()
        return report_findings(session.findings if not as_json else [], strict) or int(
            strict and bool(session.findings)
        )


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


def _result_json(score: TaskScores, per_query: bool) -> dict[str, Any]:
    result: dict[str, Any] = {
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
    }
    if per_query:
        result["per_query"] = score.per_query
    return result


def _print_csv(scores: list[TaskScores], per_query: bool) -> None:
    results = [_result_json(score, per_query) for score in scores]
    if per_query:
        header = ["run", "system", "variant", "path", "dataset", "task", "measure", "query_id", "value"]
        print_csv(
            header,
            (
                [*(result[name] for name in header[:7]), query_id, value]
                for result in results
                for query_id, value in result["per_query"].items()
            ),
        )
    else:
        header = [
            "run", "system", "variant", "path", "dataset", "task", "measure", "mean", "mean_answered", "queries",
            "answered",
        ]  # fmt: skip
        print_csv(header, ([result[name] for name in header] for result in results))


def _print_table(session: Session, scores: list[TaskScores], per_query: bool) -> None:
    rows = []
    for run in session.runs:
        of_run = [score for score in scores if score.run is run]
        for score in of_run:
            answered = len(score.answered)
            n = f"{answered} of {len(score.per_query)}"
            mean_answered = percent(score.mean_answered) if answered < len(score.per_query) else ""
            rows.append([run.label, *score.task, str(score.measure), percent(score.mean), n, mean_answered])
            if per_query:
                rows += [["", "", query_id, "", percent(value), "", ""] for query_id, value in score.per_query.items()]
        for dataset, measure in dict.fromkeys((score.task[0], score.measure) for score in of_run):
            same = [score for score in of_run if score.task[0] == dataset and score.measure == measure]
            if len(same) > 1:
                rows.append(
                    [run.label, dataset, f"mean of {len(same)} tasks", str(measure), percent(macro_mean(same)), "", ""]
                )
    header = ["run", "dataset", "task", "measure", "mean", "answered", "of those"]
    print_table(header, rows, right=("mean", "answered", "of those"))

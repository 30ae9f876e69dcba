"""``bright-inspect compare``: runs against a baseline, per task and per query."""

from __future__ import annotations

import sys
from typing import Any

import click

from bright_inspect.cli.eval_command import add_scored_findings, all_scores, tell_layer
from bright_inspect.cli.options import (
    measure_option,
    opened,
    output_options,
    run_arguments,
    saved_measures,
    wanted_measures,
)
from bright_inspect.cli.output import finding_json, print_csv, print_json, print_table, report_findings, strict_code
from bright_inspect.domain.tally import Tally
from bright_inspect.domain.visible import visible
from bright_inspect.errors import UsageError
from bright_inspect.evaluation.scores import TaskComparison, compare_runs, macro_mean
from bright_inspect.presentation.numbers import percent, signed_percent
from bright_inspect.store.request import OpenRequest
from bright_inspect.store.session import Session, differs


@click.command()
@run_arguments()
@measure_option
@click.option("--per-query", is_flag=True, help="Also print every query's values in the table (JSON always has them).")
@output_options
def command(
    request: OpenRequest,
    measures: tuple[str, ...],
    per_query: bool,
    as_json: bool,
    as_csv: bool,
    strict: bool,
) -> int:
    """Compare runs with a baseline: delta = run − baseline, over tasks that both have.

    What you care about comes first and the baseline last, or name it with --baseline.
    """
    wanted = wanted_measures(measures)
    with opened(request) as opening:
        session = opening.session
        wanted = wanted or saved_measures(session)
        if len(session.runs) < 2:
            raise UsageError("only one run given.", "compare needs a run and a baseline.")
        scores = all_scores(session, wanted)
        add_scored_findings(session, [score.measure for score in scores])
        comparisons = [
            comparison
            for measure in dict.fromkeys(score.measure for score in scores)
            for comparison in compare_runs([score for score in scores if score.measure == measure], session.baseline)
        ]
        if not comparisons:
            raise UsageError(
                f"no run shares a task with the baseline {session.baseline.label}.",
                "; ".join(f"{run.label}: {', '.join(map('/'.join, run.tasks))}" for run in session.runs) + ".",
            )
        if as_json:
            findings = [finding_json(finding) for finding in session.findings]
            print_json({"results": [_result_json(comparison) for comparison in comparisons], "findings": findings})
        elif as_csv:
            _print_csv(comparisons)
        else:
            _print_table(comparisons, per_query)
            tell_layer(session)
        sys.stdout.flush()
        _tell_left_out(session, comparisons)
        report_findings(session.findings if not as_json else [], strict)
        return strict_code(session.findings, strict)


def _tell_left_out(session: Session, comparisons: list[TaskComparison]) -> None:
    """Say on stderr which tasks of which runs the baseline lacks, so that nobody takes a part for the whole."""
    for run in session.runs:
        if run is not session.baseline:
            compared = {comparison.run.task for comparison in comparisons if comparison.run.run is run}
            missing = ["/".join(task) for task in run.tasks if task not in compared]
            if missing:
                text = f"{run.label}: not compared, {session.baseline.label} lacks them: {', '.join(missing)}."
                click.echo(f"bright-inspect: {visible(text)} (--baseline NAME chooses another.)", err=True)


def _result_json(comparison: TaskComparison) -> dict[str, Any]:
    run, baseline, counts = comparison.run, comparison.baseline, comparison.tally
    return {
        "run": run.run.label,
        "baseline": baseline.run.label,
        "dataset": run.task[0],
        "task": run.task[1],
        "measure": str(run.measure),
        "mean_run": run.mean,
        "mean_baseline": baseline.mean,
        "delta": comparison.delta,
        "win": counts.win,
        "tie": counts.tie,
        "tie_both_zero": counts.tie_both_zero,
        "loss": counts.loss,
        "answered_run": len(run.answered),
        "answered_baseline": len(baseline.answered),
        "differs": list(differs(run.run.name, baseline.run.name)),
        "per_query": [
            {"query_id": query_id, "run": value, "baseline": base, "delta": delta}
            for query_id, value, base, delta in comparison.per_query()
        ],
    }


def _print_csv(comparisons: list[TaskComparison]) -> None:
    header = ["run", "baseline", "dataset", "task", "measure", "query_id", "run_value", "baseline_value", "delta"]
    print_csv(
        header,
        (
            [c.run.run.label, c.baseline.run.label, *c.run.task, str(c.run.measure), *row]
            for c in comparisons
            for row in c.per_query()
        ),
    )


def _print_table(comparisons: list[TaskComparison], per_query: bool) -> None:
    rows = []
    for c in comparisons:
        names = [c.run.run.label, c.baseline.run.label, "/".join(c.run.task), str(c.run.measure)]
        difference = " and ".join(differs(c.run.run.name, c.baseline.run.name))
        rows.append([*names, *_number_cells(c.run.mean, c.baseline.mean, [c.tally]), difference])
        if per_query:
            rows += [
                ["", "", query_id, "", percent(value), percent(base), signed_percent(delta), "", "", "", ""]
                for query_id, value, base, delta in c.per_query()
            ]
    for run_id, dataset, measure in dict.fromkeys(
        (c.run.run.run_id, c.run.task[0], c.run.measure) for c in comparisons
    ):
        same = [
            c for c in comparisons if (c.run.run.run_id, c.run.task[0], c.run.measure) == (run_id, dataset, measure)
        ]
        if len(same) > 1:
            run_mean, baseline_mean = macro_mean(c.run for c in same), macro_mean(c.baseline for c in same)
            names = [
                same[0].run.run.label,
                same[0].baseline.run.label,
                f"mean of {len(same)} common tasks",
                str(measure),
            ]
            rows.append([*names, *_number_cells(run_mean, baseline_mean, [c.tally for c in same]), ""])
    numbers = ("run mean", "base mean", "Δ", "win", "tie (both 0)", "loss")
    print_table(("run", "baseline", "task", "measure", *numbers, "differs in"), rows, right=numbers)


def _number_cells(run_mean: float | None, baseline_mean: float | None, tallies: list[Tally]) -> list[str]:
    """Means, delta, wins, ties (of which both zero) and losses, over all the tallies."""
    delta = None if run_mean is None or baseline_mean is None else run_mean - baseline_mean
    ties = f"{sum(t.tie for t in tallies)} ({sum(t.tie_both_zero for t in tallies)})"
    return [
        percent(run_mean),
        percent(baseline_mean),
        signed_percent(delta),
        str(sum(t.win for t in tallies)),
        ties,
        str(sum(t.loss for t in tallies)),
    ]

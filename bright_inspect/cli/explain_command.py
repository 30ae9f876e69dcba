"""``bright-inspect explain``: where one query's value comes from, and what other tools make of the same list."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import click

from bright_inspect.cli.options import (
    measure_option,
    opened,
    output_options,
    progress_line,
    run_arguments,
    saved_measures,
    wanted_measures,
)
from bright_inspect.cli.output import (
    finding_json,
    print_cells,
    print_csv,
    print_json,
    print_table,
    report_findings,
    strict_code,
)
from bright_inspect.domain.measures import Measure
from bright_inspect.domain.rankings import QueryKey
from bright_inspect.errors import UnreadableInput, UsageError
from bright_inspect.evaluation.audit import Audit, audit
from bright_inspect.evaluation.defaults import default_measure
from bright_inspect.evaluation.scores import ExclusionEffect, TaskScores, exclusion_effects, task_scores
from bright_inspect.evaluation.task_audit import TaskAudit, audit_task, mean_audit
from bright_inspect.presentation.audit import AuditSection, facts, headline, sections
from bright_inspect.presentation.cells import Cell
from bright_inspect.presentation.task_audit import task_convention_section, task_facts, task_headline
from bright_inspect.store.progress import Progress
from bright_inspect.store.request import OpenRequest
from bright_inspect.store.session import Session


@click.command()
@run_arguments()
@click.option(
    "--query",
    "query_names",
    multiple=True,
    metavar="[TASK/]QUERY",
    help="The query to explain, with its task if the runs have several. May be repeated. Without it, means are.",
)
@measure_option
@output_options
def command(
    request: OpenRequest,
    query_names: tuple[str, ...],
    measures: tuple[str, ...],
    as_json: bool,
    as_csv: bool,
    strict: bool,
) -> int:  # fmt: skip
    """Take values apart: every rank with gain, discount and contribution, the ideal list, ties, exclusions, layers, and
    the same list by the rules of BRIGHT's code, trec_eval 9 and 10, BEIR, MTEB, ranx and others. Without --query, the
    mean of each task, and of all tasks, by the same rules.
    """
    wanted = wanted_measures(measures)
    with opened(request) as opening:
        session = opening.session
        wanted = wanted or saved_measures(session)
        if query_names:
            _explain_queries(session, query_names, wanted, as_json, as_csv)
        else:
            _explain_means(session, wanted, as_json, as_csv)
        sys.stdout.flush()
        report_findings(session.findings if not as_json else [], strict)
        return strict_code(session.findings, strict)


def _explain_queries(
    session: Session, query_names: Sequence[str], wanted: list[Measure], as_json: bool, as_csv: bool
) -> None:
    audits = []
    for text in query_names:
        key = find_query(session, text)
        for run in session.runs:
            if (key.dataset, key.task) in run.tasks:
                for measure in wanted or [default_measure(key.dataset)]:
                    audits.append(audit(session, session.cursor, run, key, measure))
    if as_json:
        findings = [finding_json(finding) for finding in session.findings]
        print_json({"audits": [_audit_json(each) for each in audits], "findings": findings})
    elif as_csv:
        header = ["run", "dataset", "task", "query_id", "measure", "rank", "doc_id", "score", "given_rank",
                  "position", "relevance", "gain", "discount", "contribution"]  # fmt: skip
        print_csv(
            header,
            (
                [each.run.label, *asdict(each.query).values(), str(each.measure), row.rank, row.doc_id, row.score,
                 row.given_rank, row.position, row.relevance, row.gain, row.discount, row.contribution]
                for each in audits
                for row in each.rows
            ),
        )  # fmt: skip
    else:
        for number, each in enumerate(audits):
            if number:
                click.echo()
            _print(headline(each), facts(each), sections(each))


def _explain_means(session: Session, wanted: list[Measure], as_json: bool, as_csv: bool) -> None:
    results: list[tuple[TaskAudit, list[TaskScores], list[ExclusionEffect | None]]] = []
    with progress_line() as listener:
        for run in session.runs:
            for measure in wanted or dict.fromkeys(default_measure(dataset) for dataset, _ in run.tasks):
                scores = [score for score in task_scores(session, measure) if score.run is run]
                scores = [score for score in scores if wanted or default_measure(score.task[0]) == measure]
                effects = exclusion_effects(session, session.cursor, measure)
                audits = []
                for number, score in enumerate(scores):
                    listener(Progress(number, len(scores), f"{run.label}: {measure} of {score.task[1]}"))
                    audits.append(audit_task(session, session.cursor, run, score.task, measure))
                own = [effects.get((run.run_id, score.task)) for score in scores]
                results += [(one, [score], [effect]) for one, score, effect in zip(audits, scores, own, strict=True)]
                for dataset in dict.fromkeys(score.task[0] for score in scores):
                    group = [index for index, score in enumerate(scores) if score.task[0] == dataset]
                    if len(group) > 1:
                        mean = mean_audit([audits[index] for index in group])
                        results.append((mean, [scores[i] for i in group], [own[i] for i in group]))
    if not results:
        raise UnreadableInput("no judgments at hand for these runs.", "Give --data DIR or --qrels FILE, and --task.")
    header = ["run", "dataset", "task", "measure", "layer", "convention", "mean", "counted", "queries", "differing",
              "note"]  # fmt: skip
    rows = [
        [one.run.label, *one.task, str(one.measure), one.layer, name, mean, counted, queries, differing, note]
        for one, _, _ in results
        for name, mean, counted, queries, differing, note in (
            ("bright-inspect", one.mean, one.queries, one.queries, 0, ""),
            *((row.convention.name, row.mean.value, row.mean.counted, row.mean.queries, row.differing, row.mean.note)
              for row in one.conventions),
        )
    ]  # fmt: skip
    if as_json:
        findings = [finding_json(finding) for finding in session.findings]
        print_json({"means": [dict(zip(header, row, strict=True)) for row in rows], "findings": findings})
    elif as_csv:
        print_csv(header, rows)
    else:
        for number, (one, scores, own) in enumerate(results):
            if number:
                click.echo()
            _print(task_headline(one), task_facts(one, scores, own), [task_convention_section(one)])


def find_query(session: Session, text: str) -> QueryKey:
    """The query of this id, which may come after its task (or dataset and task) and a slash; ids hold slashes too.

    Raises:
        UsageError: no task has it, or several have.
    """
    known = session.cursor.execute("""
        SELECT DISTINCT dataset, task, query_id FROM run_queries
        UNION SELECT DISTINCT q.dataset, q.task, q.query_id FROM qrels q SEMI JOIN run_queries USING (dataset, task)
    """).fetchall()
    keys = [QueryKey(*row) for row in known]
    found = [
        key for key in keys if text in (key.query_id, f"{key.task}/{key.query_id}",
                                        f"{key.dataset}/{key.task}/{key.query_id}")
    ]  # fmt: skip
    if not found:
        some = ", ".join(f"{key.task}/{key.query_id}" for key in sorted(keys)[:3])
        raise UsageError(f"no query {text!r} in the tasks of these runs.", f"Queries are named as in {some}.")
    if len(found) > 1:
        names = ", ".join(f"{key.task}/{key.query_id}" for key in sorted(found)[:4])
        raise UsageError(f"query {text!r} is in {len(found)} tasks.", f"Say which: {names}.")
    return found[0]


def _audit_json(audit: Audit) -> dict[str, Any]:
    return {
        "run": audit.run.label,
        **asdict(audit.query),
        "measure": str(audit.measure),
        "layer": audit.layer,
        "ties": audit.tie_rule,
        "value": audit.value,
        "answered": audit.answered,
        "golds": audit.golds,
        "depth": audit.depth,
        "unjudged": audit.unjudged,
        "ideal_gain": audit.ideal_gain,
        "repeated": dict(audit.repeated),
        "excluded": audit.excluded,
        "excluded_listed": list(audit.excluded_listed),
        "layers": dict(audit.layers),
        "tie_range": None if audit.ties is None else asdict(audit.ties),
        "ranks": [asdict(row) for row in audit.rows],
        "ideal": [asdict(row) for row in audit.ideal],
        "conventions": [
            {"name": row.convention.name, "value": row.value.value, "outcome": row.value.outcome, "why": row.why,
             "rule": row.convention.rule, "source": row.convention.source}
            for row in audit.conventions
        ],
    }  # fmt: skip


def _print(title: Cell, lines: Sequence[Cell], tables: Sequence[AuditSection]) -> None:
    for line in (title, *lines):
        print_cells(line)
    for section in tables:
        click.echo()
        print_cells(section.title)
        header = ["".join(span.text for span in column.title) for column in section.columns]
        rows = [["".join(span.text for span in cell) for cell in row.cells] for row in section.rows]
        right = [name for name, column in zip(header, section.columns, strict=True) if column.align == "right"]
        if rows:
            print_table(header, rows, right=right)
        else:
            click.echo(section.empty)

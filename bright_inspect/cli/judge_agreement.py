"""``bright-inspect judge agreement``: how far annotators agree."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

import click

from bright_inspect.cli.judge_options import (
    Part,
    data_option,
    journals_option,
    opened_data,
    part_options,
    read_journals,
)
from bright_inspect.cli.output import finding_json, print_json, print_table, report_findings
from bright_inspect.domain.visible import visible
from bright_inspect.errors import UsageError
from bright_inspect.judging.agreement import LEVELS, Agreement, Level, agreement
from bright_inspect.judging.decisions import PairKey
from bright_inspect.judging.history import votes_of

#: What the data's own judgments are called among annotators.
_GOLD = "original"


@click.command("agreement")
@journals_option
@part_options
@click.option(
    "--gold",
    is_flag=True,
    help=f"Compare with the data's judgments too, as an annotator called {_GOLD}: documents that it does not "
    "judge are not relevant to it, as in scoring.",
)
@click.option("--graded", is_flag=True, help="Tell grades apart; without it every relevance above 0 is 1.")
@click.option(
    "--level",
    type=click.Choice(LEVELS),
    default="nominal",
    show_default=True,
    help="Of alpha: what a difference of grades means.",
)
@click.option("--conflicts", is_flag=True, help="List the pairs that are judged differently.")
@data_option
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(
    journals: tuple[Path, ...],
    part: Part,
    gold: bool,
    graded: bool,
    level: str,
    conflicts: bool,
    data: Path | None,
    as_json: bool,
) -> int:
    """Compare annotators over the pairs that they judged: the share of equal judgments, Cohen's kappa of every two,
    Krippendorff's alpha of all, and each with themselves where items came twice. Unsure is no judgment.

    A dash: not defined, as where all judgments are the same.
    """
    log = read_journals(journals)
    decisions = part.of(log.decisions)
    votes = votes_of(decisions)
    if gold:
        _add_gold(votes, data)
    found = agreement(votes, decisions, cast(Level, level), graded=graded)
    if as_json:
        print_json(_json(found) | {"findings": list(map(finding_json, log.findings))})
    else:
        _print(found, conflicts)
    sys.stdout.flush()
    return report_findings([] if as_json else log.findings, strict=False)


def _add_gold(votes: dict[PairKey, dict[str, int]], data: Path | None) -> None:
    if any(_GOLD in said for said in votes.values()):
        raise UsageError(f"an annotator is called {_GOLD} as well.", "Leave out --gold, or name others: --annotator.")
    with opened_data(data) as (cursor, collections):
        for task in dict.fromkeys(pair[:2] for pair in votes):
            if collections.find(task[1], task[0]) is None:
                raise UsageError(f"no judgments of {'/'.join(task)} at hand.", "Give --data DIR, or one --task.")
            collections.load(task)
            rows = cursor.execute(
                "SELECT query_id, doc_id, relevance FROM qrels WHERE dataset = ? AND task = ?", list(task)
            ).fetchall()
            judged = {(query_id, doc_id): max(0, relevance) for query_id, doc_id, relevance in rows}
            for pair, said in votes.items():
                if pair[:2] == task:
                    said[_GOLD] = judged.get(pair[2:], 0)


def _json(found: Agreement) -> dict[str, Any]:
    def table(counts: Mapping[tuple[int, int], int]) -> list[dict[str, int]]:
        return [{"first": a, "second": b, "count": count} for (a, b), count in sorted(counts.items())]

    return {
        "annotators": list(found.annotators),
        "pairs": found.pairs,
        "level": found.level,
        "alpha": found.alpha,
        "between": [
            {
                "first": each.first,
                "second": each.second,
                "common": each.common,
                "raw": each.raw,
                "kappa": each.kappa,
                "table": table(each.table),
            }
            for each in found.between
        ],
        "self": [
            {
                "annotator": each.annotator,
                "repeated": each.repeated,
                "raw": each.raw,
                "kappa": each.kappa,
                "table": table(each.table),
            }
            for each in found.selves
        ],
        "conflicts": [
            dict(zip(("dataset", "task", "query_id", "doc_id"), pair, strict=True)) | {"relevance": dict(said)}
            for pair, said in found.conflicts.items()
        ],
    }


def _print(found: Agreement, conflicts: bool) -> None:
    click.echo(f"{found.pairs} pair(s) judged by several · alpha ({found.level}) {_number(found.alpha)}")
    if found.between:
        click.echo()
        print_table(
            ["first", "second", "both judged", "equal", "kappa", "table (first second: pairs)"],
            (
                [each.first, each.second, str(each.common), _number(each.raw), _number(each.kappa), _table(each.table)]
                for each in found.between
            ),
            right=("both judged", "equal", "kappa"),
        )
    if found.selves:
        click.echo()
        print_table(
            ["with themselves", "judged twice", "equal", "kappa", "table (before after: pairs)"],
            (
                [each.annotator, str(each.repeated), _number(each.raw), _number(each.kappa), _table(each.table)]
                for each in found.selves
            ),
            right=("judged twice", "equal", "kappa"),
        )
    click.echo(f"\n{len(found.conflicts)} pair(s) judged differently" + (":" if conflicts and found.conflicts else "."))
    if conflicts:
        for pair, said in found.conflicts.items():
            judged = " · ".join(f"{name} {relevance}" for name, relevance in said.items())
            click.echo(visible(f"{'/'.join(pair[:2])} {pair[2]}  {pair[3]}  {judged}"))


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"


def _table(counts: Mapping[tuple[int, int], int]) -> str:
    return ", ".join(f"{a} {b}: {count}" for (a, b), count in sorted(counts.items()))

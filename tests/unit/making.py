"""Makers of the values that presentation turns into rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from bright_inspect.domain.measures import Measure, parse_measure
from bright_inspect.domain.names import RunName
from bright_inspect.domain.rankings import Judgment, QueryKey, RankedDoc, Ranking
from bright_inspect.domain.ties import TieRange
from bright_inspect.evaluation.query_rows import QueryRow
from bright_inspect.evaluation.scores import TaskScores
from bright_inspect.presentation.cells import Cell
from bright_inspect.presentation.queries import Comparison
from bright_inspect.store.collections import TaskKey
from bright_inspect.store.query_view import QueryView
from bright_inspect.store.session import Run

BIOLOGY: TaskKey = ("bright", "biology")
PONY: TaskKey = ("bright", "pony")


def text_of(cell: Cell) -> str:
    return "".join(span.text for span in cell)


def styles_of(cell: Cell) -> set[str]:
    return {span.style for span in cell if span.text.strip()}


def make_run(run_id: int, name: str) -> Run:
    """A run without files; the name may be ``system@variant``."""
    system, _, variant = name.partition("@")
    return Run(run_id, RunName(system, variant or None), ())


def make_compared(*names: str, run: int = 0, baseline: int | None = None, measure: str = "nDCG@10") -> Comparison:
    """A comparison of runs with these names; the last is the baseline."""
    runs = tuple(make_run(run_id, name) for run_id, name in enumerate(names))
    return Comparison(runs, runs[run], runs[-1 if baseline is None else baseline], parse_measure(measure))


def make_row(
    query_id: str,
    *values: float | None,
    text: str = "",
    golds: int = 1,
    depths: Sequence[int] | None = None,
    ranks: Sequence[int | None] | None = None,
    task: TaskKey = BIOLOGY,
    position: int = 0,
    ties: Mapping[int, tuple[float, float, float]] | None = None,
    removed: Sequence[int] | None = None,
) -> QueryRow:
    """A query and its runs' values, each with a list of 100 unless said otherwise; ``ties`` has (best, worst, expected)
    by run."""
    return QueryRow(
        QueryKey(*task, query_id),
        position,
        text,
        golds,
        values,
        tuple(depths) if depths is not None else (100,) * len(values),
        tuple(ranks) if ranks is not None else (None,) * len(values),
        tuple(TieRange(*ties[run]) if ties and run in ties else None for run in range(len(values))),
        tuple(removed) if removed is not None else (0,) * len(values),
    )


def make_ranking(
    run_id: int,
    *doc_ids: str,
    scores: Sequence[float] = (),
    excluded: Sequence[str] = (),
    deep: Mapping[str, int] | None = None,
) -> Ranking:
    """A list in this order; excluded documents have no rank, ``deep`` ones are listed below what is shown."""
    docs: list[RankedDoc] = []
    rank = 0
    for index, doc_id in enumerate(doc_ids):
        rank += doc_id not in excluded
        score = scores[index] if scores else float(len(doc_ids) - index)
        docs.append(RankedDoc(None if doc_id in excluded else rank, index + 1, doc_id, score, None))
    ranks = {doc.doc_id: doc.rank for doc in docs}
    return Ranking(run_id, QueryKey(*BIOLOGY, "1"), tuple(docs), {**ranks, **(deep or {})}, rank)


def make_view(
    *rankings: Ranking | None,
    judged: Mapping[str, int] | None = None,
    siblings: Sequence[str] = (),
    text: str | None = "a question",
    reasoning: str | None = None,
    gold_answer: str | None = None,
    variants: Sequence[tuple[str, str]] = (),
    pages_known: bool = True,
    excluded: Sequence[str] = (),
) -> QueryView:
    """A query's view."""
    return QueryView(
        QueryKey(*BIOLOGY, "1"),
        text,
        reasoning,
        gold_answer,
        tuple(variants),
        tuple(Judgment(doc_id, relevance) for doc_id, relevance in (judged or {}).items()),
        rankings,
        frozenset(siblings),
        pages_known,
        tuple(excluded),
    )


def make_scores(
    run: Run,
    task: TaskKey,
    values: Mapping[str, float],
    unanswered: Sequence[str] = (),
    measure: Measure | None = None,
    ties: Mapping[str, tuple[float, float, float]] | None = None,
) -> TaskScores:
    """A run's scores on a task; ``ties`` has (best, worst, expected) by query."""
    answered = frozenset(values) - frozenset(unanswered)
    ranges = {query_id: TieRange(*of_query) for query_id, of_query in (ties or {}).items()}
    return TaskScores(run, task, measure or parse_measure("nDCG@10"), dict(values), answered, ranges)

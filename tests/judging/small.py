"""A collection of which everything is known, and the values of its lists by the evaluation's own rule."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from bright_inspect.domain.measures import parse_measure
from bright_inspect.evaluation.conventions import OURS, ListedDoc, QueryCase
from bright_inspect.store.opening import Opening
from tests.support import BRIGHT_TEST_DATA, Qrels, Run, opened_runs, write_qrels, write_trec

EARTH = ("bright", "earth_science")


def earth_science_runs(folder: Path) -> list[Path]:
    """The four runs whose pool is known: 2,809 candidates in the top 10, of which 1,350 have a text."""
    outputs = folder / "outputs"
    return [
        outputs / "earth_science_bm25_long_False",
        outputs / "earth_science_bm25_gpt4_reason_long_False",
        folder / "runs" / "reasonir" / "earth_science.txt",
        folder / "rader" / "earth_science",
    ]


@contextmanager
def earth_science(data: Path = BRIGHT_TEST_DATA, *qrels: str) -> Iterator[Opening]:
    """The session over those runs."""
    layer = "original" if qrels else None
    with opened_runs(*earth_science_runs(data), data=data / "bright", qrels=qrels, layer=layer) as opening:
        yield opening


@contextmanager
def opened(folder: Path, runs: Sequence[Run], qrels: Qrels) -> Iterator[Opening]:
    """A session over these runs, which share the task ``custom:qrels``; no texts are at hand."""
    paths = [write_trec(folder / f"run{number}" / "run.trec", run) for number, run in enumerate(runs)]
    named = [f"run{number}={path}" for number, path in enumerate(paths)]
    judgments = write_qrels(folder / "qrels.txt", qrels)
    with opened_runs(*named, qrels=[judgments], task="small", dataset="custom:small") as opening:
        yield opening


def mean_of(measure: str, run: Run, qrels: Qrels, excluded: Mapping[str, frozenset[str]] | None = None) -> float:
    """The mean over all judged queries."""
    cases = [
        QueryCase(
            query_id,
            tuple(ListedDoc(doc_id, score) for doc_id, score in run[query_id].items()) if query_id in run else None,
            relevance,
            (excluded or {}).get(query_id, frozenset()),
        )
        for query_id, relevance in qrels.items()
        if relevance
    ]
    return OURS.mean(parse_measure(measure), cases).value or 0.0


def with_judgment(qrels: Qrels, query_id: str, doc_id: str, relevance: int = 1) -> Qrels:
    """The judgments and one more, or another."""
    return {**qrels, query_id: {**qrels.get(query_id, {}), doc_id: relevance}}

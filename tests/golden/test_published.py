"""Real runs: what BRIGHT's own code reported, the figures of the data README, and pytrec_eval query by query."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from bright_inspect.domain.measures import parse_measure
from bright_inspect.evaluation.measures_sql import per_query_sql
from bright_inspect.evaluation.scores import task_scores
from bright_inspect.store.opening import Opening
from tests.evaluation.test_measures import MEASURES, reference
from tests.support import finding_codes, opened_runs, scores_of, table_rows

OUTPUTS = [
    "earth_science_bm25_long_False",
    "earth_science_bm25_gpt4_reason_long_False",
    "leetcode_bm25_long_False",
    "leetcode_bm25_gpt4_reason_long_False",
    "theoremqa_theorems_inf_long_False",
    "pony_inf_long_True",
]
# nDCG@10 × 100 by the README of the shared data.
REASONIR = {
    "aops": 7.37, "biology": 43.49, "earth_science": 43.00, "economics": 32.65, "leetcode": 31.68, "pony": 19.55,
    "psychology": 39.57, "robotics": 20.82, "stackoverflow": 30.96, "sustainable_living": 27.34,
    "theoremqa_questions": 33.93, "theoremqa_theorems": 36.68,
}  # fmt: skip
RADER = {
    "aops": 7.04, "biology": 50.23, "earth_science": 48.85, "economics": 26.08, "leetcode": 26.45, "pony": 27.45,
    "psychology": 38.06, "robotics": 26.28, "stackoverflow": 28.36, "sustainable_living": 33.30,
    "theoremqa_questions": 23.49, "theoremqa_theorems": 45.79,
}  # fmt: skip


@pytest.fixture(scope="module")
def everything(bright_data: Path) -> Iterator[Opening]:
    """Every run of the shared data in one session, read from the files themselves."""
    folders = [bright_data / "outputs", bright_data / "runs" / "reasonir", bright_data / "rader"]
    with opened_runs(*folders, data=bright_data / "bright") as opening:
        yield opening


@pytest.mark.parametrize("name", OUTPUTS)
def test_official_outputs_have_their_published_values(bright_data: Path, name: str) -> None:
    published = json.loads((bright_data / "outputs" / name / "results.json").read_bytes())
    assert len(published) == 25
    with opened_runs(bright_data / "outputs" / name, data=bright_data / "bright") as opening:
        assert finding_codes(opening) == []
        for measure, value in published.items():
            (score,) = scores_of(opening, measure)
            if measure == "MRR" and "bm25" in name:
                # Computed from 1,000 documents a query, of which the shared file holds the first 100.
                assert value - 1 / 101 < score.mean <= value
            else:
                assert score.mean == pytest.approx(value, abs=1e-5), measure
            assert score.task[0] == ("bright-long" if name.endswith("True") else "bright")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("earth_science_bm25_long_False", 0.27174),
        ("earth_science_bm25_gpt4_reason_long_False", 0.54063),
        ("leetcode_bm25_long_False", 0.24369),
        ("leetcode_bm25_gpt4_reason_long_False", 0.19273),
        ("theoremqa_theorems_inf_long_False", 0.67865),
    ],
)
def test_ndcg_of_official_outputs(bright_data: Path, name: str, value: float) -> None:
    with opened_runs(bright_data / "outputs" / name / "score.json", data=bright_data / "bright") as opening:
        (score,) = scores_of(opening)
    assert score.mean == pytest.approx(value, abs=1e-5)


@pytest.mark.parametrize("name", ["pony_inf_long_True/score.json", "pony.json", "run.json"])
def test_a_run_over_long_documents_is_scored_against_long_golds_only(
    bright_data: Path, tmp_path: Path, name: str
) -> None:
    path = tmp_path / name
    path.parent.mkdir(exist_ok=True)
    path.write_bytes((bright_data / "outputs" / "pony_inf_long_True" / "score.json").read_bytes())
    with opened_runs(path, data=bright_data / "bright") as opening:
        (score,) = scores_of(opening, "R@1")
        codes = finding_codes(opening)
    assert score.task == ("bright-long", "pony")
    assert score.mean == pytest.approx(0.1205, abs=5e-5)
    assert codes == (["path-task-mismatch"] if name == "pony.json" else [])


@pytest.mark.parametrize(("system", "figures"), [("reasonir", REASONIR), ("rader", RADER)])
def test_figures_of_the_readme(everything: Opening, system: str, figures: dict[str, float]) -> None:
    found = {
        score.task[1]: round(100 * score.mean, 2) for score in scores_of(everything) if score.run.name.system == system
    }
    assert found == figures


def test_columns_of_every_shared_run(everything: Opening) -> None:
    assert {run.label: len(run.files) for run in everything.session.runs} == {
        "bm25@gpt4_reason": 2,
        "bm25": 2,
        "inf": 2,
        "reasonir": 12,
        "rader@gpt4_reason": 12,
    }
    found = [(finding.code, Path(finding.file).parent.name) for finding in everything.session.findings]
    assert found == [("all-scores-equal", "theoremqa_questions")]


def _qrels(opening: Opening, task: tuple[str, str]) -> dict[str, dict[str, int]]:
    rows = table_rows(
        opening.session.cursor,
        f"SELECT query_id, doc_id, relevance FROM qrels WHERE (dataset, task) = ('{task[0]}', '{task[1]}')",
    )
    qrels: dict[str, dict[str, int]] = {}
    for query_id, doc_id, relevance in rows:
        qrels.setdefault(query_id, {})[doc_id] = relevance
    return qrels


def _published_run(path: Path) -> dict[str, dict[str, float]]:
    """The run by the plainest reading there is: whole lines, from both ends."""
    if path.suffix == ".json":
        loaded: dict[str, dict[str, float]] = json.loads(path.read_bytes())
        return loaded
    run: dict[str, dict[str, float]] = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        query_id, _, rest = line.split(" ", 2)
        doc_id, _, score, _ = rest.rsplit(" ", 3)
        run.setdefault(query_id, {})[doc_id] = float(score)
    return run


def test_every_query_of_every_shared_run_equals_pytrec_eval(everything: Opening) -> None:
    session = everything.session
    ours: dict[tuple[str, int, str, str], dict[str, float]] = {}
    for name in MEASURES:
        rows = session.cursor.execute(per_query_sql(parse_measure(name))).fetchall()
        for run_id, dataset, task, query_id, value, _ in rows:
            ours.setdefault((name, run_id, dataset, task), {})[query_id] = value
    compared = 0
    for run in session.runs:
        for file in run.files:
            (task,) = file.tasks
            # Excluded documents are in none of these files (FORMATS A.5).
            expected = reference(_qrels(everything, task), _published_run(file.path), {})
            for name in MEASURES:
                assert ours[name, run.run_id, *task] == pytest.approx(expected[name], abs=1e-9, rel=0), (name, file)
                compared += len(expected[name])
    queries = 2 * 1384 + 2 * 116 + 2 * 142 + 76 + 112
    assert compared == len(MEASURES) * queries


@pytest.mark.parametrize("name", ["nDCG@10", "AP", "RR", "R@100"])
def test_the_pytrec_eval_engine_gives_the_same(everything: Opening, name: str) -> None:
    measure = parse_measure(name)
    ours, theirs = (task_scores(everything.session, measure, engine=engine) for engine in ("sql", "pytrec_eval"))
    assert len(ours) == len(theirs) == 30
    for one, other in zip(ours, theirs, strict=True):
        assert (one.run, one.task, one.answered) == (other.run, other.task, other.answered)
        assert one.per_query == pytest.approx(other.per_query, abs=1e-9, rel=0)


def test_converted_runs_have_the_same_values(bright_data: Path) -> None:
    arguments = [bright_data / "runs" / "reasonir", bright_data / "rader" / "stackoverflow"]
    values = []
    for _ in range(2):
        with opened_runs(*arguments, data=bright_data / "bright") as opening:
            values.append({(s.run.label, s.task): s.per_query for s in scores_of(opening, "nDCG@10")})
            opening.convert()
            values.append({(s.run.label, s.task): s.per_query for s in scores_of(opening, "nDCG@10")})
    assert len(values[0]) == 13
    for other in values[1:]:
        for key, per_query in values[0].items():
            assert other[key] == pytest.approx(per_query, abs=1e-12, rel=0)


def test_an_excluded_document_in_a_real_run_is_removed(bright_data: Path, tmp_path: Path) -> None:
    source = (bright_data / "runs" / "reasonir" / "leetcode.txt").read_text()
    with opened_runs(bright_data / "runs" / "reasonir" / "leetcode.txt", data=bright_data / "bright") as opening:
        (before,) = scores_of(opening)
        ((query_id, doc_id),) = table_rows(
            opening.session.cursor, "SELECT query_id, doc_id FROM exclusions WHERE query_id = '0' ORDER BY ALL LIMIT 1"
        )
    path = tmp_path / "leetcode.txt"
    path.write_text(f"{query_id} Q0 {doc_id} 1 1e9 x\n{source}")
    with opened_runs(path, data=bright_data / "bright") as opening:
        (after,) = scores_of(opening)
        (finding,) = opening.session.findings
        (raw,) = opening.session.cursor.execute(
            f"SELECT avg(value) FROM ({per_query_sql(parse_measure('nDCG@10'), 'raw_rank')})"
        ).fetchall()
    assert after.per_query == before.per_query
    assert (finding.code, finding.count) == ("excluded-document", 1)
    assert raw[0] <= before.mean

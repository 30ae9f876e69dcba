"""A value taken apart: the parts add up, and every way to reach the value agrees."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

from bright_inspect.domain.measures import parse_measure
from bright_inspect.domain.ordering import TIE_RULES, TieRule
from bright_inspect.domain.rankings import QueryKey
from bright_inspect.evaluation.audit import audit
from bright_inspect.evaluation.scores import task_scores
from bright_inspect.evaluation.task_audit import audit_task
from bright_inspect.presentation.audit import facts, sections
from bright_inspect.presentation.task_audit import task_convention_section, task_facts
from tests.support import command, example, opened_runs, scores_of, write_bright, write_qrels, write_trec
from tests.unit.making import text_of

MEASURES = ("nDCG@10", "nDCG", "AP", "AP@5", "R@10", "P@10", "RR", "RR@3", "Judged@10")
BIOLOGY = ("bright", "biology")


@pytest.mark.parametrize("ties", TIE_RULES)
def test_every_value_is_that_of_the_scores_and_the_sum_of_its_parts(bright_data: Path, ties: TieRule) -> None:
    """Reasonir's stackoverflow has ties and ids with a space; rader's biology is nothing but ties."""
    runs = [bright_data / "runs" / "reasonir" / "stackoverflow.txt", bright_data / "rader" / "biology"]
    with opened_runs(*runs, data=bright_data / "bright", ties=ties) as opening:
        session = opening.session
        for name in MEASURES:
            measure = parse_measure(name)
            for score in task_scores(session, measure):
                for query_id in list(score.per_query)[:15]:
                    found = audit(session, session.cursor, score.run, QueryKey(*score.task, query_id), measure)
                    assert found.value == pytest.approx(score.per_query[query_id], abs=1e-12)
                    assert math.fsum(row.contribution for row in found.rows) == pytest.approx(found.value, abs=1e-12)
                    if query_id in score.ties:
                        assert found.ties is not None
                        assert found.ties.best == pytest.approx(score.ties[query_id].best, abs=1e-12)
                        assert found.ties.expected == pytest.approx(score.ties[query_id].expected, abs=1e-12)
                    if measure.kind == "nDCG":
                        gains = math.fsum(row.gain for row in found.ideal)
                        assert gains == pytest.approx(found.ideal_gain, abs=1e-12)


@pytest.fixture
def data(tmp_path: Path) -> Path:
    rows = [example("0", ["a", "b"], excluded=["x", "y"]), example("1", ["a"])]
    return write_bright(tmp_path / "data", {"biology": rows})


def test_what_an_audit_tells(tmp_path: Path, data: Path) -> None:
    run = tmp_path / "biology.trec"
    scores = [("x", 5), ("c", 4), ("a", 3), ("d", 3), ("c", 2), ("e", 1), ("b", 0.5)]
    run.write_text("".join(f"0 Q0 {doc} {rank} {score} t\n" for rank, (doc, score) in enumerate(scores, 1)))
    mine = write_qrels(tmp_path / "biology.mine.txt", {"0": {"c": 2}})
    with opened_runs(run, data=data, qrels=[mine], layer="original") as opening:
        session = opening.session
        found = audit(session, session.cursor, session.runs[0], QueryKey(*BIOLOGY, "0"), parse_measure("nDCG@3"))
        missing = audit(session, session.cursor, session.runs[0], QueryKey(*BIOLOGY, "1"), parse_measure("nDCG@3"))
        opening.convert()
        again = audit(session, session.cursor, session.runs[0], QueryKey(*BIOLOGY, "0"), parse_measure("nDCG@3"))
    assert found == again
    assert [(row.rank, row.doc_id, row.position, row.tied) for row in found.rows] == [
        (None, "x", 1, None),
        (1, "c", 2, None),
        (2, "d", 4, (2, 3)),
        (3, "a", 3, (2, 3)),
        (5, "b", 7, None),
    ]
    assert (found.excluded, found.excluded_listed, found.repeated) == (2, ("x",), {"c": 2})
    assert (found.golds, found.depth, found.unjudged) == (2, 5, 2)
    assert found.layers == pytest.approx({"original": 0.5 / (1 + 1 / math.log2(3)), "mine": 1.0})
    told = "\n".join(text_of(line) for line in facts(found))
    for text in (
        "2 judged relevant, 2 listed, 1 within rank 3",
        "≈ 0.3066 to 0.3869 by tie order alone, expected 0.3467",
        "2 documents never to be ranked; 1 listed and removed, the value if they had stayed is 0.0000",
        "c is listed 2 times; the best score counts",
        "original 0.3066 · mine 1.0000",
    ):
        assert text in told
    by_name = {row.convention.name: row for row in found.conventions}
    assert by_name["trec_eval-9"].value.outcome == "stops"
    assert by_name["file-order"].value.value == pytest.approx(1 / math.log2(3) / (1 + 1 / math.log2(3)))
    assert "a at rank 2, by ours 3" in by_name["file-order"].why
    tables = sections(found)
    assert [text_of(table.title).split("  ")[0].strip()[:8] for table in tables] == ["rank by ", "the idea", "other ru"]
    assert not missing.answered
    assert missing.value == 0
    assert [text_of(line) for line in facts(missing)][1] == "The run has no list for this query: it counts as 0."


def test_a_tasks_mean_by_other_rules(tmp_path: Path, data: Path) -> None:
    run = write_trec(tmp_path / "biology.trec", {"0": {"a": 1.0, "x": 2.0}})
    with opened_runs(run, data=data) as opening:
        session = opening.session
        (score,) = scores_of(opening, "RR")
        found = audit_task(session, session.cursor, session.runs[0], BIOLOGY, parse_measure("RR"))
    assert (found.mean, found.queries, found.layers) == (0.5, 2, {"original": 0.5})
    means = {row.convention.name: row.mean.value for row in found.conventions}
    assert (means["missing-dropped"], means["no-exclusion"], means["bright"]) == (1.0, 0.25, 1.0)
    assert means["beir"] is None
    told = "\n".join(text_of(line) for line in task_facts(found, [score], [None]))
    assert "1 of 2 · the others count as 0; the mean of the answered is 1.0000" in told
    rows = {row.key: [text_of(cell) for cell in row.cells] for row in task_convention_section(found).rows}
    assert rows["missing-dropped"][1:4] == ["1.0000", "+0.5000", "1"]
    assert rows["file-order"][2] == ""


def test_explain(tmp_path: Path, data: Path) -> None:
    run = write_trec(tmp_path / "biology.trec", {"0": {"a": 1.0, "c": 2.0}})
    done = command("explain", run, "--data", data, "--query", "0", "-m", "RR,P@1", "--json")
    first, second = json.loads(done.stdout)["audits"]
    assert (first["measure"], first["value"], second["measure"], second["value"]) == ("RR", 0.5, "P@1", 0.0)
    assert {"bright", "trec_eval-9", "trec_eval-10", "beir", "mteb", "ranx", "file-order", "missing-dropped",
            "no-exclusion", "ideal-from-retrieved"} <= {row["name"] for row in first["conventions"]}  # fmt: skip
    assert all(row["rule"] and row["source"] and row["why"] for row in first["conventions"])
    for name in ("biology/0", "bright/biology/0"):
        assert "sum = nDCG@10" in command("explain", run, "--data", data, "--query", name).stdout
    lines = command("explain", run, "--data", data, "--query", "0", "--csv").stdout.splitlines()
    assert len(lines) == 1 + 2
    done = command("explain", run, "--data", data, "--query", "9")
    assert done.returncode == 2
    assert "no query '9' in the tasks of these runs. Queries are named as in biology/0, biology/1." in done.stderr


def test_a_query_id_of_several_tasks_must_be_told_apart(tmp_path: Path) -> None:
    data = write_bright(tmp_path / "data", {task: [example("0", ["a"])] for task in ("biology", "pony")})
    runs = [write_trec(tmp_path / f"{task}.trec", {"0": {"a": 1.0}}) for task in ("biology", "pony")]
    done = command("explain", *runs, "--data", data, "--query", "0")
    assert done.returncode == 2
    assert "query '0' is in 2 tasks. Say which: biology/0, pony/0." in done.stderr


def test_means_are_explained_without_a_query(tmp_path: Path) -> None:
    rows = {"biology": [example("0", ["a"]), example("1", ["a"])], "pony": [example("0", ["p"])]}
    data = write_bright(tmp_path / "data", rows)
    runs = [
        write_trec(tmp_path / "r" / "biology.trec", {"0": {"a": 1.5}}),
        write_trec(tmp_path / "r" / "pony.trec", {"0": {"x": 1.5, "p": 0.5}}),
    ]
    done = command("explain", *runs, "--data", data, "-m", "RR", "--json")
    means = {(row["task"], row["convention"]): row["mean"] for row in json.loads(done.stdout)["means"]}
    assert means["biology", "bright-inspect"] == 0.5
    assert means["biology", "missing-dropped"] == 1.0
    assert means["mean of 2 tasks", "bright-inspect"] == 0.5
    assert means["mean of 2 tasks", "missing-dropped"] == 0.75
    table = command("explain", *runs, "--data", data, "-m", "RR").stdout
    assert "mean of 2 tasks" in table
    assert "2 of 3 · the others count as 0; the mean of the answered is 0.7500" in table


@pytest.mark.parametrize("ties", TIE_RULES)
def test_the_better_of_two_lines_of_a_document_counts_where_it_stands(tmp_path: Path, ties: TieRule) -> None:
    run = tmp_path / "r.trec"
    run.write_text("1 Q0 b 1 1 t\n1 Q0 a 2 2 t\n1 Q0 c 3 2 t\n1 Q0 b 4 2 t\n")
    qrels = write_qrels(tmp_path / "j.txt", {"1": {"b": 1}})
    with opened_runs(run, qrels=[qrels], ties=ties) as opening:
        session, measure = opening.session, parse_measure("RR")
        (score,) = task_scores(session, measure)
        key = QueryKey(*score.task, "1")
        assert audit(session, session.cursor, score.run, key, measure).value == pytest.approx(score.mean)

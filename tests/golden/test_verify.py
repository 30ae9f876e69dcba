"""Reported values of real runs: equal, or differing by a known cause, which must be named."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest

from tests.golden.test_published import OUTPUTS, REASONIR
from tests.support import command, opened_runs, scores_of


def verified(*arguments: str | Path) -> list[dict[str, str]]:
    done = command("verify", *arguments, "--csv")
    assert done.returncode == 0, done.stderr
    return list(csv.DictReader(io.StringIO(done.stdout)))


def test_official_outputs_against_their_own_results(bright_data: Path) -> None:
    """All measures but the uncut RR of files that were cut to 100 documents a query."""
    folders = [bright_data / "outputs" / name for name in OUTPUTS]
    rows = verified(*folders, "--data", bright_data / "bright")
    assert len(rows) == 25 * len(OUTPUTS)
    odd = [row for row in rows if row["verdict"] != "equal"]
    assert all(row["measure"] == "RR" and row["verdict"] == "explained" for row in odd)
    assert all("the file lists at most 100 documents a query and RR looks at all ranks" in row["reason"] for row in odd)
    assert len(odd) == 4


def test_planted_differences_are_named(bright_data: Path, tmp_path: Path) -> None:
    """One task scored in file order, one with missing queries dropped, one against the fixed layer."""
    runs = tmp_path / "reasonir"
    runs.mkdir()
    missing = {"3", "14", "15"}
    for task in REASONIR:
        text = (bright_data / "runs" / "reasonir" / f"{task}.txt").read_text(encoding="utf-8")
        if task == "biology":
            text = "".join(line for line in text.splitlines(keepends=True) if line.split()[0] not in missing)
        (runs / f"{task}.txt").write_text(text, encoding="utf-8")
    data, qrels = bright_data / "bright", bright_data / "qrels"
    with opened_runs(runs, data=data, qrels=[qrels], layer="original") as opening:
        scores = {score.task[1]: score for score in scores_of(opening)}
        opening.session.collections.use_layer(opening.session.cursor, "fixed")
        fixed = {score.task[1]: score.mean for score in scores_of(opening)}
    with opened_runs(runs, data=data, ties="file") as opening:
        in_file_order = {score.task[1]: score.mean for score in scores_of(opening)}
    values = {task: score.mean for task, score in scores.items()}
    planted = {
        "stackoverflow": (in_file_order["stackoverflow"], "file-order"),
        "biology": (scores["biology"].mean_answered or 0.0, "missing-dropped"),
        "sustainable_living": (fixed["sustainable_living"], "layer fixed instead of original"),
    }
    for task, (value, _) in planted.items():
        assert abs(value - values[task]) > 1e-5, task
        values[task] = value
    table = tmp_path / "reported.csv"
    lines = [f"reasonir,{task},nDCG@10,{value:.6f}\n" for task, value in values.items()]
    table.write_text("run,task,measure,value\n" + "".join(lines), encoding="utf-8")
    rows = verified(runs, "--data", data, "--qrels", qrels, "--layer", "original", "--against", table)
    assert len(rows) == len(REASONIR)
    reasons = {row["task"].removeprefix("bright/"): row["reason"] for row in rows if row["verdict"] != "equal"}
    assert reasons.keys() == planted.keys()
    for task, (_, cause) in planted.items():
        assert cause in reasons[task].split(" (so do")[0]


@pytest.mark.parametrize(
    ("lines", "verdict", "reason"),
    [
        ("reasonir,biology,nDCG@10,.4349", "equal", ""),
        ("ReasonIR,biology,ndcg_cut_10,43.49", "equal", ""),
        ("reasonir,biology,nDCG@10,.5000", "unexplained", "no rule that was tried gives it; nearest: "),
        ("other,biology,nDCG@10,.4349", "equal", "the file calls it other"),
        ("reasonir,biology,RR,0.99", "unexplained", "no rule that was tried gives it"),
        ("reasonir,biology,RR,0.5500", "explained", "another order of ties can give it, 0.53906 to 0.55524"),
        ("reasonir,biology,nDCG@10,.4350", "explained", "another order of ties can give it, 0.43166 to 0.43732"),
        ("reasonir,pony,nDCG@10,.4349", "not compared", "reasonir has no pony"),
        ("reasonir,biology,nDCG@10,.39377", "explained", "it is the value of nDCG@5"),
    ],
)
def test_verdicts(bright_data: Path, tmp_path: Path, lines: str, verdict: str, reason: str) -> None:
    (tmp_path / "reported.csv").write_text(f"run,task,measure,value\n{lines}\n", encoding="utf-8")
    run = bright_data / "runs" / "reasonir" / "biology.txt"
    (row,) = verified(run, "--data", bright_data / "bright", "--against", tmp_path / "reported.csv")
    assert (row["verdict"], row["reason"][: len(reason)]) == (verdict, reason)


def test_json_and_strict(bright_data: Path, tmp_path: Path) -> None:
    (tmp_path / "reported.json").write_text(json.dumps({"NDCG@10": 0.1, "MAP@10": 0.2}), encoding="utf-8")
    run = bright_data / "runs" / "reasonir" / "biology.txt"
    arguments = (run, "--data", bright_data / "bright", "--against", tmp_path / "reported.json", "--json")
    done = command("verify", *arguments, "--strict")
    assert done.returncode == 1
    found = json.loads(done.stdout)["values"]
    assert [value["verdict"] for value in found] == ["unexplained", "unexplained"]
    assert found[0]["difference"] == pytest.approx(0.1 - 0.4349, abs=1e-4)


def test_nothing_to_verify_against(bright_data: Path) -> None:
    run = bright_data / "runs" / "reasonir" / "biology.txt"
    done = command("verify", run, "--data", bright_data / "bright")
    assert done.returncode == 2
    assert "no results.json lies beside the runs" in done.stderr


def test_the_mean_of_tasks_is_explained_too(bright_data: Path, tmp_path: Path) -> None:
    """FORMATS F.8: the published value rests on the file's order; the other is the value expected of random ties."""
    table = tmp_path / "reported.csv"
    table.write_text("run,task,measure,value\nrader,mean,nDCG@10,0.3881\nrader,all,nDCG@10,0.3300\n", encoding="utf-8")
    rows = verified(bright_data / "rader", "--data", bright_data / "bright", "--against", table)
    assert [(row["verdict"], row["reason"][:20]) for row in rows] == [
        ("explained", "scored as file-order"),
        ("explained", "the value expected o"),
    ]


def test_values_of_another_dataset_are_not_compared(bright_data: Path) -> None:
    """MTEB's file of the short documents against a run over the long ones."""
    (reported,) = sorted((bright_data / "mteb" / "results").glob("BAAI__bge-m3/*/BrightPonyRetrieval.json"))[:1]
    run = bright_data / "outputs" / "pony_inf_long_True"
    rows = verified(run, "--data", bright_data / "bright", "--against", reported)
    assert {row["verdict"] for row in rows} == {"not compared"}
    assert all(row["reason"] == "inf has no bright/pony" for row in rows)

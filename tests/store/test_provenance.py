"""What ids, counts, names and dates give away about where a run comes from."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bright_inspect.domain.measures import parse_measure
from bright_inspect.store.provenance import (
    judgment_findings,
    metrics_findings,
    model_name_findings,
    name_other_models,
    output_folder_findings,
    query_set_findings,
)

RUN = Path("out/x.trec")


def ids(count: int, first: int = 0) -> list[str]:
    return [str(number) for number in range(first, first + count)]


@pytest.mark.parametrize(
    ("task", "run", "data", "said"),
    [
        ("theoremqa_theorems", ids(76), ids(76), []),
        ("theoremqa_theorems", ids(70), ids(76), []),
        ("theoremqa_theorems", ids(78), ids(76), ["has 78 queries", "only in the run: 76, 77.", "July 2024 *_reason"]),
        ("theoremqa_theorems", ids(65), ids(76), ["only in the data: 65, 66, 67 and 8 more", "June 2024", "count 0"]),
        ("theoremqa_questions", ids(205), ids(194), ["194, 195, 196 and 8 more", "a75a0eb"]),
        (
            "biology",
            [*ids(102), "x"],
            ids(103),
            ["only in the run: x; only in the data: 102", "As many, but not the same"],
        ),
        ("biology", ids(104), ids(103), []),
        ("earth_science", ids(115), ids(116), ["BRIGHT-Pro"]),
    ],
)
def test_query_sets(task: str, run: list[str], data: list[str], said: list[str]) -> None:
    findings = query_set_findings(RUN, "bright", task, run, data)
    assert [(f.code, f.severity, f.file) for f in findings] == [("other-vintage", "warning", str(RUN))] * bool(said)
    assert all(part in findings[0].message for part in said)


@pytest.mark.parametrize(
    ("dataset", "task", "golds", "said"),
    [
        ("bright", "stackoverflow", 478, ""),
        ("bright", "stackoverflow", 819, "819 golds are those of the June 2024 upload"),
        ("bright", "stackoverflow", 580, "castorini's fixed judgments"),
        ("bright", "stackoverflow", 500, ""),
        ("bright", "aops", 524, ""),
        ("bright-long", "stackoverflow", 819, ""),
        ("custom:x", "x", 819, ""),
    ],
)
def test_judgments(dataset: str, task: str, golds: int, said: str) -> None:
    messages = [finding.message for finding in judgment_findings(RUN, dataset, task, golds)]
    assert bool(messages) == bool(said)
    assert all(said in message and "where BRIGHT now has 478" in message for message in messages)


@pytest.mark.parametrize(
    ("path", "told", "differ"),
    [
        ("qwen2", "BAAI/bge-m3", True),
        ("Qwen__Qwen3-Embedding-0.6B", "BAAI/bge-m3", True),
        ("Qwen__Qwen3-Embedding-0.6B", "Qwen/Qwen3-Embedding-0.6B", False),
        ("qwen3_embedding_0.6b", "Qwen/Qwen3-Embedding-0.6B", False),
        ("reasonir", "ReasonIR-8B", False),
        ("bge-m3/reranked-by-x", "bge-m3", False),
        ("qwen2", "Anserini", False),
        ("qwen2", "rank_llm", False),
        ("run", "bge", False),
        ("qwen2", "filtered", False),
        ("qwen2", None, False),
        (None, "bge", False),
        ("qwen2", "---", False),
        ("bm25", "splade", True),
    ],
)
def test_model_names(path: str | None, told: str | None, differ: bool) -> None:
    findings = model_name_findings(RUN, path, told, "the TREC tag")
    assert [finding.code for finding in findings] == ["model-name-mismatch"] * differ
    assert all(f"path says {path}" in f.message and f"the TREC tag says {told}" in f.message for f in findings)


def test_metrics_beside_scores() -> None:
    ours = {parse_measure("nDCG@10"): 0.123456, parse_measure("RR"): 0.5, parse_measure("P@5"): 0.2}
    same = {"NDCG@10": 0.12346, "MRR": 0.5, "P@5": 0.2, "Oracle NDCG@10": 0.9, "note": 1}
    results = Path("out/results.json")
    assert metrics_findings(RUN, results, ours, same) == []
    (finding,) = metrics_findings(RUN, results, ours, {**same, "NDCG@10": 0.1235, "MRR": 0.9})
    assert (finding.code, finding.count) == ("metrics-disagree", 2)
    assert "2 of 3 values in results.json" in finding.message
    assert "MRR: 0.90000 reported, 0.50000 from the scores" in finding.message
    assert metrics_findings(RUN, results, ours, {"MRR": float("nan")})[0].count == 1


HOUR = 3600.0
DAY = 24 * HOUR


@pytest.mark.parametrize(
    ("path", "modified", "codes"),
    [
        ("biology_bm25_long_False/score.json", {"score.json": DAY, "results.json": DAY + 60}, []),
        ("biology_bm25_long_False/score.json", {"score.json": DAY}, []),
        ("biology_bm25_long_False/score.json", {"score.json": 9 * DAY, "results.json": DAY}, ["stale-metrics"]),
        ("biology_bm25_long_False/score.json", {"score.json": DAY, "results.json": 3 * DAY}, ["scores-reused"]),
        (
            "biology_reasonir_long_False/gpt4_score.json",
            {"gpt4_score.json": 0, "score.json": 0, "results.json": 1},
            ["shared-metrics"],
        ),
        ("biology_reasonir_long_False/gpt4_score.json", {"gpt4_score.json": 0, "results.json": 1}, []),
        ("biology_reasonir_long_False/gpt4_score.json", {"gpt4_score.json": 0, "score.json": 0}, []),
        ("run_bm25/gis/scores.json", {"scores.json": 0, "metrics.json": 0}, ["shared-folder"]),
        ("run_bm25/gis/scores.json", {"scores.json": DAY, "metrics.json": 0}, ["stale-metrics", "shared-folder"]),
        ("multimodal_it2i_bm25/gis/scores.json", {"scores.json": 0, "metrics.json": 0}, []),
        ("runs/bm25.trec", {"bm25.trec": DAY, "results.json": 0}, []),
    ],
)
def test_output_folders(path: str, modified: dict[str, float], codes: list[str]) -> None:
    findings = output_folder_findings(Path("out") / path, modified)
    assert [finding.code for finding in findings] == codes
    assert all(finding.file == str(Path("out") / path) and finding.message for finding in findings)


def test_how_long_ago() -> None:
    for seconds, said in ((5 * HOUR, "5 hours older"), (9 * DAY, "9 days older")):
        (finding,) = output_folder_findings(Path("a/score.json"), {"score.json": seconds, "results.json": 0})
        assert said in finding.message


def test_real_results_files_are_understood(bright_data: Path) -> None:
    folder = bright_data / "outputs" / "earth_science_bm25_long_False"
    reported = json.loads((folder / "results.json").read_text())
    ours = {parse_measure(name): value + (0.001 if name == "MRR" else 0) for name, value in reported.items()}
    (finding,) = metrics_findings(folder / "score.json", folder / "results.json", ours, reported)
    assert f"1 of {len(reported)} values" in finding.message


@pytest.mark.parametrize(
    ("path_system", "tag", "others"),
    [
        ("bm25", "reasonir", True),
        ("qwen2-7b", "my-BM25", True),
        ("exp1", "reasonir", False),
        ("reasonir-8b", "ReasonIR", False),
        ("bm25", "run7", False),
        ("bm25+qwen", "qwen", False),
        (None, "bm25", False),
        ("bm25", None, False),
    ],
)
def test_only_known_models_are_said_to_be_others(path_system: str | None, tag: str | None, others: bool) -> None:
    assert name_other_models(path_system, tag) is others

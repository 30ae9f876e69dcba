"""The commands on the shared real data."""

from __future__ import annotations

from pathlib import Path

from tests.cli.test_commands import results_of


def test_the_main_job_in_numbers(bright_data: Path) -> None:
    found = results_of(
        "compare",
        bright_data / "runs" / "reasonir" / "earth_science.txt",
        bright_data / "outputs" / "earth_science_bm25_long_False",
        "--data",
        bright_data / "bright",
    )
    (result,) = found["results"]
    assert (result["run"], result["baseline"], result["measure"]) == ("reasonir", "bm25", "nDCG@10")
    assert (result["win"], result["tie"], result["tie_both_zero"], result["loss"]) == (62, 28, 23, 26)
    assert round(100 * result["delta"], 1) == 15.8
    assert result["differs"] == ["system", "variant"]
    assert (result["answered_run"], result["answered_baseline"], len(result["per_query"])) == (116, 116, 116)
    deltas = [abs(row["delta"]) for row in result["per_query"]]
    assert deltas == sorted(deltas, reverse=True)
    assert found["findings"] == []


def test_default_measures_by_dataset(bright_data: Path) -> None:
    outputs = bright_data / "outputs"
    found = results_of(
        "eval", outputs / "pony_inf_long_True", outputs / "leetcode_bm25_long_False", "--data", bright_data / "bright"
    )["results"]
    assert [(r["dataset"], r["measure"], round(r["mean"], 4)) for r in found] == [
        ("bright-long", "R@1", 0.1205), ("bright", "nDCG@10", 0.2437)
    ]  # fmt: skip

"""Real runs on BRIGHT's queries as posted and as GPT-4 reasoned about them: what the rewriting did to BM25."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support import command


@pytest.fixture(scope="module")
def bm25(bright_data: Path) -> list[str]:
    outputs = bright_data / "outputs"
    return [
        f"bm25@{variant}={outputs / f'{task}_bm25_{middle}long_False'}"
        for variant, middle in (("gpt4_reason", "gpt4_reason_"), ("original", ""))
        for task in ("earth_science", "leetcode")
    ]


def result(*arguments: object) -> Any:
    done = command(*map(str, arguments), "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_gpt4_reasoning_helps_earth_science_and_harms_leetcode(bright_data: Path, bm25: list[str]) -> None:
    results = result("compare", *bm25, "--data", bright_data / "bright")["results"]
    figures = {row["task"]: (round(100 * row["delta"], 1), row["win"], row["tie"], row["loss"]) for row in results}
    assert figures == {"earth_science": (26.9, 77, 25, 14), "leetcode": (-5.1, 12, 90, 40)}
    assert {tuple(row["differs"]) for row in results} == {("variant",)}
    assert {(row["run"], row["baseline"]) for row in results} == {("bm25@gpt4_reason", "bm25")}


def test_on_the_same_rewrites_reasonir_loses_to_bm25(bright_data: Path) -> None:
    runs = (
        f"reasonir@gpt4_reason={bright_data / 'runs' / 'reasonir' / 'earth_science.txt'}",
        f"bm25@gpt4_reason={bright_data / 'outputs' / 'earth_science_bm25_gpt4_reason_long_False'}",
    )
    (row,) = result("compare", *runs, "--data", bright_data / "bright")["results"]
    assert round(100 * row["delta"], 1) == -11.1
    assert (row["win"], row["tie"], row["loss"]) == (20, 37, 59)
    assert row["differs"] == ["system"]


def test_the_path_tells_the_variant(bright_data: Path) -> None:
    outputs = bright_data / "outputs"
    runs = [outputs / f"earth_science_bm25_{middle}long_False" for middle in ("gpt4_reason_", "")]
    (row,) = result("compare", *runs, "--data", bright_data / "bright")["results"]
    assert (row["run"], row["differs"], round(100 * row["delta"], 1)) == ("bm25@gpt4_reason", ["variant"], 26.9)


def test_variants_of_runs(bright_data: Path, bm25: list[str]) -> None:
    reasonir = f"reasonir@gpt4_reason={bright_data / 'runs' / 'reasonir' / 'earth_science.txt'}"
    found = result("variants", *bm25, reasonir, "--data", bright_data / "bright")
    assert {(row["name"], row["task"], row["joined"]) for row in found["variants"]} == {
        ("gpt4_reason", "earth_science", 116),
        ("gpt4_reason", "leetcode", 142),
    }
    rows = {(row["run"], row["task"]): row for row in found["runs"]}
    rewritten = rows["bm25@gpt4_reason", "earth_science"]
    assert (rewritten["original"], rewritten["variant"], rewritten["shared"]) == ("bm25", "gpt4_reason", 116)
    assert (round(100 * rewritten["mean"], 1), round(100 * rewritten["delta"], 1)) == (54.1, 26.9)
    assert (rewritten["win"], rewritten["tie"], rewritten["tie_both_zero"], rewritten["loss"]) == (77, 25, 14, 14)
    assert rewritten["surviving"] == pytest.approx(0.65926, abs=1e-5)
    assert rewritten["words"] / rewritten["original_words"] == pytest.approx(6.081, abs=1e-3)
    deltas = [row["delta"] for row in rewritten["per_query"]]
    assert sum(deltas) / len(deltas) == pytest.approx(rewritten["delta"])
    assert round(100 * rows["bm25@gpt4_reason", "leetcode"]["delta"], 1) == -5.1
    other = rows["reasonir@gpt4_reason", "earth_science"]
    assert (other["original"], other["delta"], other["win"]) == (None, None, None)
    assert other["words"] == rewritten["words"]
    means = {row["run"]: row for row in found["means"]}
    assert (means["bm25@gpt4_reason"]["tasks"], means["bm25@gpt4_reason"]["delta_tasks"]) == (2, 2)
    assert means["bm25@gpt4_reason"]["delta"] == pytest.approx((0.2689 - 0.0510) / 2, abs=1e-3)


@pytest.mark.parametrize(
    ("name", "variants", "tasks", "queries"),
    [
        ("tongsearch-qr-7b.json", {"tongsearch-qr-7b"}, 12, 1384),  # 1,308 texts: some tasks share queries
        ("inf-x", {"inf-x"}, 4, 446),
        ("querygym", {"lamer", "mugi", "query2doc-cot", "query2doc-fs", "query2doc-zs"}, 1, 5 * 116),
    ],
)
def test_every_published_rewrite_is_joined(
    bright_data: Path, name: str, variants: set[str], tasks: int, queries: int
) -> None:
    done = command(
        "variants", "--variant", str(bright_data / "rewrites" / name), "--data", str(bright_data / "bright"), "--json"
    )
    assert (done.returncode, done.stderr) == (0, ""), "no finding"
    rows = [row for row in json.loads(done.stdout)["variants"] if row["name"] != "gpt4_reason"]
    assert {row["name"] for row in rows} == variants
    assert len({row["task"] for row in rows}) == tasks
    assert (sum(row["joined"] for row in rows), sum(row["unjoined"] for row in rows)) == (queries, 0)

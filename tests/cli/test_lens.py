"""``lens``: which added words moved which documents, as data."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest

from bright_inspect.demo import demo_runs
from tests.support import command


@pytest.fixture(scope="module")
def looked() -> list[dict[str, object]]:
    done = command("lens", *demo_runs(), "--dataset", "demo", "--json")
    assert (done.returncode, done.stderr) == (0, "")
    found: list[dict[str, object]] = json.loads(done.stdout)["queries"]
    return found


def test_the_demos_own_runs_are_recomputed(looked: list[dict[str, object]]) -> None:
    assert len(looked) == 20
    for query in looked:
        assert query["golds"] == query["golds_at_hand"]
        # The runs were made by this program over the whole corpus: the live values are theirs.
        assert query["value_rewrite"] == pytest.approx(query["value_run"], abs=1e-9)
        assert query["value_original"] == pytest.approx(query["value_baseline"], abs=1e-9)
        for run in query["recomputed"]:  # type: ignore[attr-defined]
            assert run["documents"] == run["of"]
            assert run["largest_difference"] < 1e-5


def test_bridges_are_in_golds_and_drift_is_not(looked: list[dict[str, object]]) -> None:
    assert any(query["bridges"] for query in looked)
    assert any(query["drift"] for query in looked)
    for query in looked:
        for kind, least in (("bridges", "golds"), ("drift", "others")):
            parts = [term["part"] for term in query[kind]]  # type: ignore[attr-defined]
            assert parts == sorted(parts, reverse=True)
            assert len(parts) <= 10
            assert all(term[least] >= 1 and term["share"] <= 0.1 for term in query[kind])  # type: ignore[attr-defined]
        by_gold: dict[str, list[dict[str, Any]]] = query["bridges_by_gold"]  # type: ignore[assignment]
        assert len(by_gold) == query["golds_at_hand"]
        assert all(term["doc_id"] == gold for gold, terms in by_gold.items() for term in terms)
        largest = {str(term["term"]): term["part"] for term in query["bridges"]}  # type: ignore[attr-defined]
        found = [term for terms in by_gold.values() for term in terms if term["term"] in largest]
        assert {term: max(each["part"] for each in found if each["term"] == term) for term in largest} == largest


def test_best_and_worst_as_table_and_csv() -> None:
    base = ("lens", *map(str, demo_runs()), "--dataset", "demo", "--best", "1", "--worst", "1")
    table = command(*base)
    assert (table.returncode, table.stdout.count("bridges: "), table.stdout.count("golds at hand")) == (0, 2, 2)
    assert " delta +" in table.stdout
    rows = list(csv.DictReader(io.StringIO(command(*base, "--csv").stdout)))
    assert {row["kind"] for row in rows} <= {"bridge", "drift"}
    assert len({row["query_id"] for row in rows}) <= 2


def test_what_cannot_be_looked_at(tmp_path: Path) -> None:
    base = ("lens", *map(str, reversed(demo_runs())), "--dataset", "demo")
    for arguments, said in (
        ((), "no rewrite is named"),
        (("--rewrite", "nobody"), "no query has a text nobody"),
        (("--rewrite", "nobody", "--query", "kitchen_science/1"), "has no text nobody. At hand: demo_reason"),
        (("--rewrite", "demo_reason", "-m", "nDCG@10,P@1"), "lens takes one"),
    ):
        done = command(*base, *arguments)
        assert (done.returncode, said in done.stderr) == (2, True), done.stderr


def test_gpt4s_reasoning_on_earth_science(bright_data: Path) -> None:
    runs = [
        f"bm25@{variant}={bright_data}/outputs/earth_science_bm25_{part}long_False"
        for variant, part in (("gpt4_reason", "gpt4_reason_"), ("original", ""))
    ]
    named = [option for query in ("0", "52", "78") for option in ("--query", query)]
    done = command("lens", *runs, "--data", bright_data / "bright", *named, "--json")
    gained, clausius, lost = json.loads(done.stdout)["queries"]
    assert (gained["value_run"], gained["value_baseline"]) == (pytest.approx(1.0), 0.0)
    assert [term["surfaces"][0] for term in clausius["bridges"][:2]] == ["Clapeyron", "Clausius"]
    assert (clausius["value_original"], clausius["value_rewrite"]) == (0.0, pytest.approx(1.0))
    assert lost["value_rewrite"] == 0.0
    assert lost["value_original"] == pytest.approx(0.586, abs=5e-4)
    for query in (gained, clausius, lost):
        assert query["idf_source"] == "bm25 index of 1,084 of 121,249 documents"
        assert query["golds_at_hand"] == query["golds"]

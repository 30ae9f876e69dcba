"""``variants RUN…``: the Variants screen's numbers without the screen."""

from __future__ import annotations

import csv
import io
from pathlib import Path

from tests.support import command, example, write_bright, write_trec

DEMO = ("runs/bm25@original.trec", "runs/bm25@demo_reason.trec", "runs/minilm@original.trec")


def test_table_says_what_the_screen_says() -> None:
    done = command("variants", *DEMO)
    lines = [" ".join(line.split()) for line in done.stdout.splitlines()]
    assert lines[0] == "run task measure n mean Δ win tie (both 0) loss words × original kept"
    assert "bm25@demo_reason demo/contest_maths nDCG@10 5 94.2 +72.1 4 0 (0) 1 203 2.3 45 %" in lines
    assert "bm25@demo_reason mean of 4 demo tasks nDCG@10 20 87.5 +61.4 16 0 (0) 4 214 1.3 38 %" in lines
    assert done.stderr == ""


def test_csv_and_every_query() -> None:
    rows = list(csv.DictReader(io.StringIO(command("variants", *DEMO, "--csv").stdout)))
    assert len(rows) == 12
    assert [row["original"] for row in rows[:3]] == ["", "bm25", ""]
    queries = list(csv.DictReader(io.StringIO(command("variants", *DEMO, "--csv", "--per-query").stdout)))
    assert len(queries) == 60
    deltas = [float(row["delta"]) for row in queries if row["delta"] and row["task"] == "contest_maths"]
    assert round(sum(deltas) / len(deltas), 3) == 0.721
    per_query = command("variants", *DEMO, "--per-query", "-m", "R@10")
    assert per_query.stdout.count("R@10") == 15
    assert len(per_query.stdout.splitlines()) == 1 + 15 + 60


def test_what_is_missing_is_said_on_stderr(tmp_path: Path) -> None:
    rows = [example(query_id, [f"g{query_id}"]) for query_id in "01"]
    data = write_bright(tmp_path / "data", {"biology": rows})
    write_bright(data, {"biology": [{"id": "0", "query": "question 0 again", "gold_ids": ["g0"]}]}, "lamer_reason")
    runs = [write_trec(tmp_path / name / "biology.trec", {"0": {"g0": 1.0}}) for name in ("one", "two")]
    done = command("variants", f"bm25@gpt4={runs[0]}", f"dense={runs[1]}", "--data", data)
    said = [line.removeprefix("bright-inspect: ") for line in done.stderr.splitlines()]
    assert "dense: variant not known, name it: NAME@VARIANT=PATH" in said
    assert any(line.startswith("bm25: no run of that name on the original queries, so no Δ.") for line in said)
    assert "no run with lamer_reason: bright-inspect retrieve --variant NAME[=FILE]" in said
    assert "! lamer_reason has texts of 1 of 2 queries of biology" in said
    lines = [" ".join(line.split()) for line in done.stdout.splitlines()]
    assert "bm25@gpt4 bright/biology nDCG@10 1/2 50.0 –" in lines
    assert "no run @lamer_reason bright/biology 3 1.5 100 %" in lines


def test_what_counts_with_runs_only_is_refused_without() -> None:
    for option in (["-m", "P@1"], ["--per-query"], ["--ties", "file"]):
        done = command("variants", *option)
        assert (done.returncode, "Name runs, or leave the others out" in done.stderr) == (2, True)

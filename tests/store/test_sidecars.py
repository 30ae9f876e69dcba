"""What this program's sidecars tell of the runs beside them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bright_inspect.presentation.conditions import partial_corpus_note
from bright_inspect.store.sidecars import Sidecar, read_sidecar, sidecar_findings
from tests.support import command, example, opened_runs, write_bright, write_trec

MADE = {
    "made_by": "bright-inspect 0.1.0 retrieve", "variant": "gpt4_reason", "dataset": "bright", "task": "biology",
    "corpus_documents": 7, "corpus_documents_of": 57_359,
}  # fmt: skip


def test_task_and_variant_come_from_the_sidecar_where_the_path_is_silent(tmp_path: Path) -> None:
    data = write_bright(tmp_path / "data", {"biology": [example("0", ["g"])], "economics": [example("0", ["g"])]})
    run = write_trec(tmp_path / "out" / "7.trec", {"0": {"g": 1.0}})
    Path(f"{run}.json").write_text(json.dumps(MADE))
    scored = json.loads(command("eval", run, "--data", data, "--json").stdout)
    assert [(row["task"], row["variant"]) for row in scored["results"]] == [("biology", "gpt4_reason")]
    assert [finding["code"] for finding in scored["findings"]] == ["partial-corpus"]
    assert "7 of the corpus' 57,359 documents were searched" in scored["findings"][0]["message"]
    with opened_runs(run, data=data) as opening:
        [note] = partial_corpus_note(opening.session, opening.session.runs)
        assert "".join(span.text for span in note).startswith(
            f"{opening.session.runs[0].label}: over a part of the corpus"
        )
        opening.session.findings.clear()
        assert partial_corpus_note(opening.session, opening.session.runs) == []
    named = json.loads(command("eval", f"x@original={run}", "--data", data, "--json").stdout)
    assert [row["variant"] for row in named["results"]] == ["original"]


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"[]",
        b"null",
        b'{"made_by": 3}',
        b'{"made_by": "mteb 2", "task": "biology"}',
        b"[" * 100_000,
        b"\xff",
    ],
)
def test_other_files_beside_a_run_are_none(tmp_path: Path, content: bytes) -> None:
    run = tmp_path / "run.trec"
    Path(f"{run}.json").write_bytes(content)
    assert read_sidecar(run) is None
    assert sidecar_findings(run) == []


def test_odd_values_are_not_said(tmp_path: Path) -> None:
    run = tmp_path / "run.trec"
    Path(f"{run}.json").write_text(json.dumps({**MADE, "variant": 3, "task": "", "corpus_documents": True}))
    assert read_sidecar(run) == Sidecar(None, "bright", None, None, 57_359)
    assert sidecar_findings(run) == []


def test_a_whole_corpus_is_nothing_to_tell(tmp_path: Path) -> None:
    run = tmp_path / "run.trec"
    Path(f"{run}.json").write_text(json.dumps({**MADE, "corpus_documents": 57_359}))
    assert sidecar_findings(run) == []

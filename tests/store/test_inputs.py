"""What is opened from a folder, and what is said about everything else in it."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

import bright_inspect.formats.files
from bright_inspect.errors import UnreadableInput
from bright_inspect.store.inputs import expand_arguments, folder_verdicts

FILES: dict[str, tuple[bytes, str, bool]] = {
    "a/bm25.trec": (b"1 Q0 a 1 2.5 t\n", "trec", True),
    "a/score.json": (b'{"1": {"a": 0.5}}', "score-json", True),
    "a/results.json": (b'{"NDCG@10": 0.5, "MRR": 0.25}', "metrics (NDCG@10, MRR, ...)", False),
    "a/reranker_results.json": (b'{"1": {"ndcg_cut_10": 0.5}}', "metrics (ndcg_cut_10, ...)", False),
    "a/x_predictions.json": (b'{"mteb_model_meta": {}, "default": {"test": {"1": {"a": 1}}}}', "mteb", True),
    "b/qrels.txt": (b"1 0 a 1\n", "judgments (4 columns)", False),
    "b/three.tsv": (b"1\ta\t1\n", "3 columns that may be ranks, scores or judgments", False),
    "b/empty": (b"", "the file is empty", False),
    "b/result.pkl": (b"\x80\x04\x95abc.", "a Python pickle, not a run", False),
    "b/examples.json": (json.dumps([{"id": "0", "query": "?", "gold_ids": []}]).encode(), "BRIGHT examples", False),
    "b/notes.md": (b"# Notes\n\nsome words\n", "nothing that is known", False),
    "b/picture.png": (b"\x89PNG\r\n\x1a\n\0\0", "binary data: a picture, not a run", False),
    "b/queries.tsv": (b"0\twhy is it so blue\n1\thow do six words look\n", "nothing that is known", False),
    "b/tokens.jsonl": (
        b'{"id": "1", "tokens": ["a"]}\n' * 2,
        "a JSON object of lists that hold no document ids",
        False,
    ),
    "b/cut.json": (b'{"1": {"a": 0.5, "b', "score-json", True),
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, (content, _, _) in FILES.items():
        path = tmp_path / "runs" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    for hidden in (".git/config", "a/.score.json"):
        path = tmp_path / "runs" / hidden
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"1 Q0 a 1 2.5 t\n")
    os.mkfifo(tmp_path / "runs" / "pipe")
    return tmp_path / "runs"


def test_every_file_gets_a_verdict(folder: Path) -> None:
    verdicts = {str(verdict.path.relative_to(folder)): verdict for verdict in folder_verdicts(folder)}
    assert list(verdicts) == sorted(FILES)
    for name, (_, what, used) in FILES.items():
        verdict = verdicts[name]
        assert what in verdict.what, name
        assert verdict.used == used, name
        assert used or verdict.why or "metrics" in verdict.what or "binary" in verdict.what, name


def test_the_runs_among_them_are_opened(folder: Path) -> None:
    used = sorted(name for name, (_, _, used) in FILES.items() if used)
    assert [str(run.path.relative_to(folder)) for run in expand_arguments([str(folder)])] == used


def test_a_folder_without_runs_says_what_is_in_it(tmp_path: Path) -> None:
    (tmp_path / "results.json").write_text('{"NDCG@10": 0.5}')
    with pytest.raises(UnreadableInput, match=r"no run among the 1 files in it, such as results.json \(metrics"):
        expand_arguments([str(tmp_path)])


def test_large_files_are_not_read_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    line = b"1 Q0 document 1 2.5 t\n"
    (tmp_path / "big.trec").write_bytes(line * 200_000)
    (tmp_path / "big.json").write_text(json.dumps({str(q): {f"d{d}": 0.5 for d in range(1000)} for q in range(100)}))
    read = []
    original = bright_inspect.formats.files.peek

    def counting(path: Path, size: int) -> bytes:
        read.append(size)
        return original(path, size)

    monkeypatch.setattr(bright_inspect.formats.files, "peek", counting)
    assert [verdict.what for verdict in folder_verdicts(tmp_path)] == ["score-json", "trec"]
    assert sum(read) <= 2 * (1 << 14)

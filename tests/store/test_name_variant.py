"""Saying afterwards which variant a run was made with."""

from __future__ import annotations

from pathlib import Path

import pytest

from bright_inspect.errors import UsageError
from bright_inspect.store.saving import Decided, save_session
from bright_inspect.store.session import differs
from tests.support import example, opened_runs, write_bright, write_trec

RUN = {"0": {"g0": 1.0}}


def test_names_labels_and_the_baseline_follow(tmp_path: Path) -> None:
    data = write_bright(tmp_path / "data", {"biology": [example("0", ["g0"])]})
    paths = [write_trec(tmp_path / name / "biology.trec", RUN) for name in ("one", "two", "three")]
    named = [f"{name}={path}" for name, path in zip(("bm25@original", "bm25", "dense"), paths, strict=True)]
    with opened_runs(*named, data=data, baseline="bm25@original") as opening:
        session = opening.session
        assert [run.label for run in session.runs] == ["bm25@original", "bm25@?", "dense"]
        session.name_variant(1, "gpt4_reason")
        assert [run.label for run in session.runs] == ["bm25", "bm25@gpt4_reason", "dense"]
        assert [run.run_id for run in session.runs] == [0, 1, 2]
        assert session.baseline is session.runs[0]
        assert differs(session.runs[1].name, session.baseline.name) == ("variant",)
        with pytest.raises(UsageError, match="another run is bm25@original already"):
            session.name_variant(1, "original")
        session.name_variant(1, None)
        session.name_variant(2, "original")
        assert [run.label for run in session.runs] == ["bm25@original", "bm25@?", "dense"]


def test_a_saved_session_keeps_it(tmp_path: Path) -> None:
    data = write_bright(tmp_path / "data", {"biology": [example("0", ["g0"])]})
    run, out = write_trec(tmp_path / "dense" / "biology.trec", RUN), tmp_path / "saved.duckdb"
    with opened_runs(run, data=data) as opening:
        opening.convert()
        opening.session.name_variant(0, "gpt4_reason")
        save_session(opening, opening.session.database.cursor(), out, Decided())
    with opened_runs(out) as opening:
        assert [run.name.in_full for run in opening.session.runs] == ["dense@gpt4_reason"]

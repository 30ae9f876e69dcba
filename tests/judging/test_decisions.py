"""Decisions and their lines: written and read back alike, and what is no decision."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bright_inspect.judging.decisions import (
    KINDS,
    BadDecision,
    Decision,
    encode_line,
    parse_fields,
    relevance_of,
    text_sha256,
)
from tests.judging.making import judged

NAMES = st.text(min_size=1).filter(str.strip)
LINE_NAMES = st.text(st.characters(exclude_categories=["Cc", "Cs"]), min_size=1, max_size=50).filter(str.strip)
DIGESTS = st.one_of(st.none(), st.text("0123456789abcdef", min_size=64, max_size=64))


@st.composite
def decisions(draw: st.DrawFn) -> Decision:
    kind = draw(st.sampled_from(KINDS))
    about_pair = kind in ("judgment", "skip")
    return Decision(
        draw(NAMES),
        draw(NAMES),
        draw(NAMES),
        draw(NAMES if about_pair else st.one_of(st.none(), NAMES)),
        draw(LINE_NAMES),
        draw(st.one_of(st.none(), st.integers(0, 3))) if kind == "judgment" else None,
        kind,
        draw(DIGESTS),
        draw(DIGESTS),
        tuple(draw(st.lists(st.text(), max_size=3))),
        draw(st.text()),
        draw(st.text()),
        tuple(draw(st.lists(st.text(), min_size=1 if kind in ("tag", "untag") else 0, max_size=3))),
        draw(st.booleans()),
        draw(st.text(min_size=1)) if kind == "undo" else None,
        others=draw(st.dictionaries(st.from_regex(r"new_[a-z]+", fullmatch=True), st.integers(), max_size=2)),
    )


@given(decisions())
def test_a_line_is_read_back_as_it_was(decision: Decision) -> None:
    line = encode_line(decision)
    assert line.startswith(b'{"v":')
    assert line.count(b"\n") == 1
    assert parse_fields(json.loads(line)) == decision


def test_ids_of_undecodable_bytes_are_kept() -> None:
    decision = judged("caf\udce9", 1)
    assert parse_fields(json.loads(encode_line(decision))) == decision


def test_fields_of_newer_versions_are_kept() -> None:
    told = json.loads(encode_line(judged("a", 1))) | {"v": 2, "mood": {"good": True}}
    decision = parse_fields(told)
    assert decision.others == {"v": 2, "mood": {"good": True}}
    assert json.loads(encode_line(decision)) == told


def test_hash_of_a_text() -> None:
    assert text_sha256("") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"


BAD: dict[str, dict[str, Any]] = {
    "no annotator": {"annotator": None},
    "no dataset": {"dataset": ""},
    "no doc_id": {"doc_id": None},
    "query_id.*is not a text": {"query_id": ["0"]},
    'relevance "1.5" is not a whole number': {"relevance": 1.5},
    'relevance "true"': {"relevance": True},
    'relevance "-1"': {"relevance": -1},
    'relevance "high"': {"relevance": "high"},
    'kind "guess" is not one of': {"kind": "guess"},
    "annotator is not a name of one line": {"annotator": "a\nb"},
    "doc_sha256.*is not 64 hex digits": {"doc_sha256": "abc"},
    "evidence.*is not a list of texts": {"evidence": "bm25"},
    "undoes is of an undo only": {"undoes": "x"},
    "an undo without the id": {"kind": "undo"},
    "a tag without tags": {"kind": "tag"},
    'repeat "1" is not true or false': {"repeat": 1},
}


@pytest.mark.parametrize("said", BAD)
def test_what_is_no_decision_is_said(said: str) -> None:
    good = {"dataset": "d", "task": "t", "query_id": "0", "doc_id": "a", "relevance": 1, "annotator": "anna"}
    assert parse_fields(good, new=True).relevance == 1
    with pytest.raises(BadDecision, match=said):
        parse_fields({**good, **BAD[said]}, new=True)
    with pytest.raises(BadDecision, match="no id"):
        parse_fields({**good, "kind": "judgment"})


@pytest.mark.parametrize(("text", "relevance"), [("0", 0), (" 2 ", 2), ("1.0", 1), ("x", None), ("Unsure", None)])
def test_relevance_as_typed(text: str, relevance: int | None) -> None:
    assert relevance_of(text) == relevance


@pytest.mark.parametrize("text", ["1.5", "yes", "nan", "inf", "-1", "1001"])
def test_relevance_that_is_none(text: str) -> None:
    with pytest.raises(BadDecision, match="relevance"):
        relevance_of(text)

"""What each sentence of a query is worth: by hand on three documents, and in batches."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bright_inspect.domain.measures import parse_measure
from bright_inspect.errors import BrightInspectError
from bright_inspect.evaluation.ablation import BATCH, SentenceLoss, ablate, costliest_first, without_sentence
from bright_inspect.retrieval.protocol import Check, Found, Hit, never_stop
from bright_inspect.retrieval.sentences import sentences
from tests.retrieval.corpora import retriever
from tests.unit.making import make_view

DOCUMENTS = {"g": "moon", "a": "coral reef", "b": "ozone"}
TEXT = "Moon! Coral reef.\n\nZebra."
RR = parse_measure("RR")


def test_by_hand(tmp_path: Path) -> None:
    """Two words of a are in the text and one of g: g is second, first without a's words, and lost without its own."""
    found = ablate(retriever("bm25", DOCUMENTS, tmp_path), make_view(judged={"g": 1, "b": 0}), TEXT, 10, RR)
    assert (found.value, found.rank, found.retriever, found.depth) == (0.5, 2, "bm25", 10)
    assert found.sentences == (
        SentenceLoss(0, 5, "Moon!", 0.0, -0.5, None, 2),
        SentenceLoss(6, 17, "Coral reef.", 1.0, 0.5, 1, 2),
        SentenceLoss(19, 25, "Zebra.", 0.5, 0.0, 2, 2),
    )
    assert [loss.text for loss in costliest_first(found.sentences)] == ["Moon!", "Zebra.", "Coral reef."]


def test_excluded_documents_are_out_before_the_cut(tmp_path: Path) -> None:
    view = make_view(judged={"g": 1}, excluded=["a"])
    found = ablate(retriever("bm25", DOCUMENTS, tmp_path), view, TEXT, 1, RR)
    assert [(loss.value, loss.rank) for loss in found.sentences] == [(0.0, None), (1.0, 1), (1.0, 1)]
    assert (found.value, found.rank) == (1.0, 1)


@pytest.mark.parametrize(
    ("text", "judged", "said"),
    [
        ("Only one sentence here", {"g": 1}, "the text has one sentence"),
        (" \n ", {"g": 1}, "the text has no sentence"),
        (TEXT, {}, "query 1 has no judgments"),
    ],
)
def test_nothing_to_tell(tmp_path: Path, text: str, judged: dict[str, int], said: str) -> None:
    with pytest.raises(BrightInspectError, match=said):
        ablate(retriever("bm25", DOCUMENTS, tmp_path), make_view(judged=judged), text, 10, RR)


class _Counting:
    """Finds the gold wherever a text has the word."""

    name, device = "counting", None

    def __init__(self) -> None:
        self.batches: list[list[str]] = []

    def search(
        self, texts: Sequence[str], k: int, excluded: Sequence[Collection[str]] = (), check: Check = never_stop
    ) -> list[Found]:
        assert len(excluded) == len(texts)
        self.batches.append(list(texts))
        return [Found([Hit("g", 1.0)] if "word7 " in text else [Hit("x", 1.0)]) for text in texts]


class _Stop(Exception):
    pass


def test_batches_progress_and_a_way_out() -> None:
    text = " ".join(f"The word{number} is here." for number in range(2 * BATCH + 3))
    view, searcher, told = make_view(judged={"g": 1}), _Counting(), list[tuple[int, int]]()
    found = ablate(searcher, view, text, 5, RR, progress=lambda done, total, message: told.append((done, total)))
    assert [len(batch) for batch in searcher.batches] == [1, BATCH, BATCH, 3]
    assert [loss.delta for loss in found.sentences] == [-1.0 if number == 7 else 0.0 for number in range(2 * BATCH + 3)]
    total = 2 * BATCH + 4
    assert told == [(0, total), (1, total), (1 + BATCH, total), (1 + 2 * BATCH, total), (total, total)]

    def stop() -> None:
        if len(searcher.batches) == 6:
            raise _Stop

    with pytest.raises(_Stop):
        ablate(searcher, view, text, 5, RR, stop)
    assert len(searcher.batches) == 6


@pytest.mark.parametrize(
    ("text", "without"),
    [
        ("One. Two. Six.", ["Two. Six.", "One. Six.", "One. Two."]),
        ("One. Two.\n\nSix.", ["Two.\n\nSix.", "One.\n\nSix.", "One. Two."]),
        ("  One.\n- two\n- six\n", ["- two\n- six\n", "  One.\n- six\n", "  One.\n- two"]),
        ("一。二。三。", ["二。三。", "一。三。", "一。二。"]),
        ("一。二。 三。", ["二。 三。", "一。 三。", "一。二。"]),
    ],
)
def test_the_text_without_a_sentence(text: str, without: list[str]) -> None:
    assert [without_sentence(text, span) for span in sentences(text)] == without


@given(st.text("aB. \n\t。", max_size=40))
def test_only_the_sentence_goes(text: str) -> None:
    for span in sentences(text):
        assert without_sentence(text, span).split() == (text[: span[0]] + text[span[1] :]).split()


def test_where_values_tie_the_fall_of_the_best_gold_tells() -> None:
    def loss(start: int, delta: float, rank: int | None, rank_with: int | None = 20) -> SentenceLoss:
        return SentenceLoss(start, start + 1, "", 0.0, delta, rank, rank_with)

    losses = [
        loss(0, 0.0, 20),
        loss(1, 0.0, 50),
        loss(2, 0.0, None),
        loss(3, 0.1, 1),
        loss(4, -0.1, 20),
        loss(5, 0, 11),
    ]
    assert [each.start for each in costliest_first(losses)] == [4, 2, 1, 0, 5, 3]
    unfound = [loss(0, 0.0, None, None), loss(1, 0.0, 30, None)]
    assert [each.start for each in costliest_first(unfound)] == [0, 1]

"""A query searched live: its value by our rule, and stored lists among the same documents."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import pytest

from bright_inspect.domain.measures import parse_measure
from bright_inspect.evaluation.live import LiveRequest, ranking_value, restricted, search_live
from bright_inspect.retrieval.protocol import Check, Corpus, Found, Hit, never_stop
from tests.unit.making import make_ranking, make_view


class _Fixed:
    """Finds what it was given, less what is excluded."""

    name, device = "fixed", "cpu"

    def __init__(self, *doc_ids: str) -> None:
        self._doc_ids = doc_ids

    def search(
        self, texts: Sequence[str], k: int, excluded: Sequence[Collection[str]] = (), check: Check = never_stop
    ) -> list[Found]:
        kept = [doc_id for doc_id in self._doc_ids if doc_id not in excluded[0]]
        return [Found([Hit(doc_id, 1.0) for doc_id in kept[:k]]) for _ in texts]


def test_the_value_is_of_the_list_in_its_order_even_where_scores_tie() -> None:
    view = make_view(make_ranking(0, "a"), judged={"g": 1})
    corpus = Corpus("bright", "biology", 3, "0", lambda: iter(()))
    found = search_live(
        _Fixed("x", "g", "y"),
        corpus,
        view,
        LiveRequest("fixed", "original", "text", 10),
        parse_measure("RR"),
        never_stop,
    )
    assert (found.value, found.searched, found.of, found.partial) == (0.5, 3, 57_359, True)
    assert [(doc.rank, doc.doc_id) for doc in found.ranking.docs] == [(1, "x"), (2, "g"), (3, "y")]


def test_nothing_judged_has_no_value() -> None:
    view = make_view(make_ranking(0, "a"))
    assert ranking_value(make_ranking(0, "a"), view, parse_measure("RR")) is None


def test_a_stored_list_among_some_documents_moves_up() -> None:
    ranking = make_ranking(0, "a", "x", "b", "c", excluded=["x"])
    some = restricted(ranking, {"x", "b", "c"})
    assert [(doc.rank, doc.doc_id) for doc in some.docs] == [(None, "x"), (1, "b"), (2, "c")]
    assert (some.depth, some.ranks) == (2, {"x": None, "b": 1, "c": 2})
    view = make_view(ranking, judged={"c": 1})
    assert ranking_value(ranking, view, parse_measure("RR")) == pytest.approx(1 / 3)
    assert ranking_value(some, view, parse_measure("RR")) == 0.5

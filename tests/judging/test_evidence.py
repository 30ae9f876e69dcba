"""What speaks for a candidate, piece by piece, and the order that the pieces make."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bright_inspect.domain.rankings import QueryKey
from bright_inspect.judging.candidates import Candidate, CandidatePool, pool_candidates
from bright_inspect.judging.evidence import (
    EVIDENCE_KINDS,
    WEIGHTS,
    Evidence,
    GoldSide,
    evidence_score,
    folded_words,
    gold_similarities,
    pool_evidence,
    query_evidence,
    text_print,
)
from bright_inspect.retrieval.protocol import Check, Found, Hit, never_stop
from bright_inspect.store.session import Session
from tests.judging.small import EARTH
from tests.support import example, opened_runs, write_bright, write_trec

QUERY = QueryKey("bright", "biology", "1")
GOLD = "One two three four five six seven, eight nine ten."


def candidate(doc_id: str = "t/Q_1.txt", *ranks: int | None) -> Candidate:
    return Candidate(QUERY, doc_id, ranks or (1, None), (1.0,) * len(ranks or (1, None)))


def evidence_of(text: str, golds: dict[str, str], doc_id: str = "t/Q_1.txt", **side: object) -> dict[str, Evidence]:
    """By kind."""
    gold_side = GoldSide(tuple(golds), golds, **side)  # type: ignore[arg-type]
    (pieces,) = query_evidence([candidate(doc_id)], {doc_id: text}, gold_side, depth=10, runs=2)
    return {piece.kind: piece for piece in pieces}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("The  cat's\n\nSAT — on “it”.", ["the", "cat", "s", "sat", "on", "it"]),
        ("x_1 = 2*y + 3", ["x", "1", "=", "2", "y", "+", "3"]),
        ("ﬁne ＡＢＣ Straße", ["fine", "abc", "strasse"]),
        ("...", []),
    ],
)
def test_texts_are_folded(text: str, words: list[str]) -> None:
    assert folded_words(text) == words


def test_the_same_text_in_another_dress_is_identical() -> None:
    found = evidence_of("one TWO three — four five six seven eight\n\nnine ten", {"other": "else", "g": GOLD})
    assert found["identical"].value == found["jaccard"].value == found["contained"].value == 1.0
    assert {found[kind].gold_id for kind in ("identical", "jaccard", "contained")} == {"g"}
    assert found["identical"].text == "the text of gold g, but for spaces, case and punctuation"


def test_overlap_is_counted() -> None:
    """Of 5-grams, the gold has 6, the text 4: three of them are shared."""
    found = evidence_of("three four five six seven eight nine and", {"g": GOLD})
    assert "identical" not in found
    assert found["jaccard"].value == pytest.approx(3 / 7)
    assert found["jaccard"].text == "3 of 7 5-word shingles are both its own and gold g's"
    assert found["contained"].value == pytest.approx(3 / 4)
    assert found["contained"].text == "3 of its 4 shingles stand in gold g"
    longer = evidence_of(GOLD + " and so on and on", {"g": GOLD})
    assert longer["contained"].text == "6 of gold g's 6 shingles stand in it"


@pytest.mark.parametrize(("text", "gold"), [("", GOLD), (GOLD, ""), ("?!", "?!"), ("quite another thing", GOLD)])
def test_nothing_in_common_is_no_evidence(text: str, gold: str) -> None:
    assert set(evidence_of(text, {"g": gold})) == {"agreement"}


@given(st.lists(st.sampled_from("abc"), max_size=12), st.lists(st.sampled_from("abc"), max_size=12))
def test_shared_shingles_are_those_of_sets(own: list[str], theirs: list[str]) -> None:
    def grams(words: Sequence[str]) -> set[tuple[str, ...]]:
        size = min(5, len(words))
        return {tuple(words[start : start + size]) for start in range(len(words) - size + 1)} if words else set()

    assert len(text_print(" ".join(own))) == len(grams(own))
    found = evidence_of(" ".join(own), {"g": " ".join(theirs)})
    shared, both = len(grams(own) & grams(theirs)), len(grams(own) | grams(theirs))
    assert found["jaccard"].value == shared / both if shared else "jaccard" not in found
    assert ("identical" in found) == (own == theirs and own != [])


def test_siblings_name_the_gold_of_their_page() -> None:
    found = evidence_of("x", {"t/P_1.txt": "y", "t/R_1.txt": "z"}, "t/R_7.txt", pages=("t/P.txt", "t/R.txt"))
    assert (found["sibling"].value, found["sibling"].gold_id) == (1.0, "t/R_1.txt")
    assert "sibling" not in evidence_of("x", {"t/P_1.txt": "y"}, "t/R_7.txt", pages=("t/P.txt",))
    assert "sibling" not in evidence_of("x", {"t/P_1.txt": "y"}, "t/P_7.txt")


class _Fixed:
    """Finds the same for every text."""

    name, device = "fixed", None

    def __init__(self, *hits: Hit) -> None:
        self.hits = hits

    def search(
        self, texts: Sequence[str], k: int, excluded: Sequence[object] = (), check: Check = never_stop
    ) -> list[Found]:
        return [Found(self.hits) for _ in texts]


def test_similarity_is_a_share_of_the_golds_own_score() -> None:
    similar = gold_similarities(_Fixed(Hit("g", 20.0), Hit("a", 15.0), Hit("b", 0.0)), {"g": GOLD, "h": GOLD})
    assert similar == {"g": {"a": 0.75}, "h": {"g": 1.0, "a": 0.75}}
    assert gold_similarities(_Fixed(), {"g": GOLD}) == {}
    found = evidence_of("x", {"g": GOLD}, "a", similar=similar, similar_by="fixed")
    assert (found["similarity"].value, found["similarity"].gold_id) == (0.75, "g")
    assert found["similarity"].text == "for gold g's text, fixed gives it 75 % of the gold's own score"


def test_agreement_and_reranker() -> None:
    candidates = [candidate("a", 1, 10, 11, None), candidate("b", None, 2, None, None)]
    scores = {"a": -1.5, "c": 3.0, "d": 0.0}
    first, second = query_evidence(candidates, {}, GoldSide(), depth=10, runs=4, reranked=scores)
    assert [(piece.kind, piece.value) for piece in first] == [("agreement", 0.5), ("reranker", 0.0)]
    assert first[0].text == "in the top 10 of 2 of 4 runs, best rank 1"
    assert first[1].text == "reranker's score -1.5, between -1.5 and 3 for this query"
    assert [(piece.kind, piece.value) for piece in second] == [("agreement", 0.25)]
    assert evidence_score(second) == 0.25 * WEIGHTS["agreement"].weight


def test_every_kind_has_a_weight_and_a_reason() -> None:
    assert set(WEIGHTS) == set(EVIDENCE_KINDS)
    assert all(weight.weight > 0 and weight.reason for weight in WEIGHTS.values())
    alike = sum(WEIGHTS[kind].weight for kind in ("identical", "jaccard", "contained"))
    others = sum(weight.weight for kind, weight in WEIGHTS.items() if kind != "identical")
    assert alike > others


def test_texts_come_from_the_corpus_whatever_the_spelling_of_spaces(tmp_path: Path) -> None:
    data = write_bright(tmp_path / "data", {"pony": [example("0", ["g 1"], golds_long=["p.txt"])]})
    write_bright(data, {"pony": [{"id": "g 1", "content": GOLD}, {"id": "a b_1", "content": GOLD}]}, "documents")
    run = write_trec(tmp_path / "run" / "pony.trec", {"0": {"a_b_1": 2.0, "g_1": 1.0, "none": 0.5}})
    with opened_runs(run, data=data) as opening:
        pool = pool_candidates(opening.session, opening.session.cursor)
        assert len(pool) == 1
        (pieces,) = pool_evidence(opening.session, opening.session.cursor, pool)
        assert pieces[0].kind == "identical"


def test_earth_science_duplicates_of_golds_come_first(earth: Session, earth_pool: CandidatePool) -> None:
    """What the fixed judgments add for queries 6 and 7 are the four documents with most evidence."""
    pool = pool_candidates(earth, earth.cursor)
    seen: list[tuple[int, int]] = []
    found = pool_evidence(
        earth, earth.cursor, pool, retrievers={}, progress=lambda done, total, _: seen.append((done, total))
    )
    scores = [evidence_score(pieces) for pieces in found]
    order = sorted(range(len(pool)), key=lambda place: -scores[place])
    added = set(
        earth.cursor.execute("""
            SELECT query_id, doc_id FROM all_qrels WHERE layer = 'fixed'
            EXCEPT SELECT query_id, doc_id FROM all_qrels WHERE layer = 'original'""").fetchall()
    )
    assert {(pool[place].query.query_id, pool[place].doc_id) for place in order[:4]} == added
    assert len(added) == 4
    assert scores[order[3]] > 2 * scores[order[4]]
    assert all(piece.kind != "identical" for place in order[4:] for piece in found[place])
    assert sum(piece.kind == "sibling" for pieces in found for piece in pieces) > 0
    assert seen[0][0] == 0
    assert seen[-1][0] < seen[-1][1]
    assert {(key.dataset, key.task) for key in pool.queries} == {EARTH}

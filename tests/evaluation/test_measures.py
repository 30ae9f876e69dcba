"""The SQL measures against pytrec_eval and against values known by hand (FORMATS F and G 7)."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bright_inspect.domain.measures import parse_measure
from bright_inspect.errors import UsageError
from bright_inspect.evaluation.measures_sql import per_query_sql
from tests.support import (
    Qrels,
    Run,
    example,
    finding_codes,
    opened_runs,
    scores_of,
    write_bright,
    write_qrels,
    write_trec,
)

CUTOFFS = (1, 3, 5, 10, 25, 100, 1000)
MEASURES = [
    *(f"{kind}@{cutoff}" for kind in ("nDCG", "AP", "R", "P") for cutoff in CUTOFFS),
    "nDCG",
    "AP",
    "RR",
]


def values(folder: Path, run: Run, qrels: Qrels, measure: str) -> dict[str, float]:
    """Per query values of one run, by the default engine."""
    with opened_runs(
        write_trec(folder / "run.trec", run), qrels=[write_qrels(folder / "judged.txt", qrels)]
    ) as opening:
        (score,) = scores_of(opening, measure)
        return score.per_query


@pytest.mark.parametrize(("gold", "ndcg", "rr"), [("a", 0.5, 1 / 3), ("b", 1 / math.log2(3), 0.5), ("c", 1.0, 1.0)])
def test_tied_documents_go_by_id_descending(tmp_path: Path, gold: str, ndcg: float, rr: float) -> None:
    run = {"1": {"a": 1.0, "b": 1.0, "c": 1.0}}
    assert values(tmp_path, run, {"1": {gold: 1}}, "nDCG@10")["1"] == pytest.approx(ndcg, abs=1e-12)
    assert values(tmp_path, run, {"1": {gold: 1}}, "RR")["1"] == pytest.approx(rr, abs=1e-12)


def test_gain_is_linear(tmp_path: Path) -> None:
    value = values(tmp_path, {"1": {"b": 2.0, "a": 1.0}}, {"1": {"a": 3, "b": 1}}, "nDCG@10")["1"]
    assert value == pytest.approx(0.7967, abs=5e-5)


def test_a_negative_judgment_gains_nothing_and_keeps_its_rank(tmp_path: Path) -> None:
    run, qrels = {"1": {"bad": 2.0, "gold": 1.0}}, {"1": {"bad": -1, "gold": 1}}
    assert values(tmp_path, run, qrels, "nDCG@10")["1"] == pytest.approx(0.6309, abs=5e-5)
    assert values(tmp_path, run, qrels, "RR")["1"] == 0.5


def test_the_ideal_is_over_all_judged_documents(tmp_path: Path) -> None:
    run = {"1": {"x": 2.0, "g1": 1.0}}
    qrels = {"1": {f"g{number}": 1 for number in range(1, 6)}}
    assert values(tmp_path, run, qrels, "nDCG@10")["1"] == pytest.approx(0.2140, abs=5e-5)


@pytest.mark.parametrize(
    ("a", "b"), [(0.123456781, 0.123456780), (0.876543219, 0.876543210), (1e40, 1e39), (-1e39, -1e40), (1e-46, 0.0)]
)
def test_scores_are_compared_as_float32(tmp_path: Path, a: float, b: float) -> None:
    # As float64 a is first; as float32 the two are tied and b is.
    run = {"1": {"a": a, "b": b}}
    assert values(tmp_path, run, {"1": {"a": 1}}, "RR")["1"] == 0.5
    assert values(tmp_path, run, {"1": {"b": 1}}, "nDCG@10")["1"] == 1.0


def test_a_document_id_with_a_space(tmp_path: Path) -> None:
    run = {"1": {"gold": 0.9, "torch/Memory Management_1.txt": 0.5}}
    # Split from the left, the rank 2 becomes the score and the document with the space comes first.
    assert values(tmp_path, run, {"1": {"gold": 1}}, "RR")["1"] == 1.0


def test_ids_are_compared_by_bytes(tmp_path: Path) -> None:
    run = {"1": {"Z": 1.0, "a": 1.0, "é": 1.0, "z": 1.0, "\U0001f600": 1.0, "\uffee": 1.0}}
    order = ["\U0001f600", "\uffee", "é", "z", "a", "Z"]
    for place, doc_id in enumerate(order, 1):
        assert values(tmp_path, run, {"1": {doc_id: 1}}, "RR")["1"] == pytest.approx(1 / place)


def test_missing_queries_count_as_zero_and_the_answered_mean_is_beside(tmp_path: Path) -> None:
    run = write_trec(tmp_path / "run.trec", {"1": {"a": 1.0}})
    qrels = write_qrels(tmp_path / "judged.txt", {"1": {"a": 1}, "2": {"a": 1}})
    with opened_runs(run, qrels=[qrels]) as opening:
        (score,) = scores_of(opening)
        assert (score.mean, score.mean_answered) == (0.5, 1.0)
        assert score.per_query == {"1": 1.0, "2": 0.0}
        assert score.answered == {"1"}
        (finding,) = opening.session.findings
        assert (finding.code, finding.count) == ("missing-query", 1)


def test_a_query_with_only_zero_judgments_counts(tmp_path: Path) -> None:
    # FORMATS H: q2 has only grade 0, q3 is missing from the run: .3333 of 3, answered .5 of 2.
    run = write_trec(tmp_path / "run.trec", {"q1": {"a": 1.0}, "q2": {"a": 1.0}})
    qrels = write_qrels(tmp_path / "judged.txt", {"q1": {"a": 1}, "q2": {"a": 0}, "q3": {"a": 1}})
    with opened_runs(run, qrels=[qrels]) as opening:
        (score,) = scores_of(opening)
    assert score.mean == pytest.approx(1 / 3)
    assert score.mean_answered == pytest.approx(0.5)


def test_duplicates_count_once(tmp_path: Path) -> None:
    run = tmp_path / "run.trec"
    run.write_text("1 Q0 a 1 0.9 t\n1 Q0 b 2 0.7 t\n1 Q0 a 3 0.5 t\n1 Q0 c 4 0.4 t\n")
    with opened_runs(run, qrels=[write_qrels(tmp_path / "judged.txt", {"1": {"c": 1}})]) as opening:
        (score,) = scores_of(opening, "RR")
        assert finding_codes(opening) == ["duplicate-document"]
    assert score.per_query["1"] == pytest.approx(1 / 3)


def test_queries_without_a_gold_do_not_hang_pytrec_eval(tmp_path: Path) -> None:
    qrels = {"2": {"A": 0}, "q": {"a": -2}, "1": {"b": 1}}
    run = write_trec(tmp_path / "run.trec", {"2": {"A": 1e39}, "q": {"x": 0.0}, "1": {"b": 1.0}})
    with opened_runs(run, qrels=[write_qrels(tmp_path / "judged.txt", qrels)]) as opening:
        (score,) = scores_of(opening, "nDCG@10", "pytrec_eval")
    assert score.per_query == {"2": 0.0, "q": 0.0, "1": 1.0}


@pytest.mark.parametrize("excluded", [["N/A"], [], None, [""]])
def test_no_exclusions_however_they_are_written(tmp_path: Path, excluded: list[str] | None) -> None:
    data = write_bright(tmp_path / "data", {"biology": [example("0", ["a", "a", "b"], excluded=excluded)]})
    run = write_trec(tmp_path / "biology.trec", {"0": {"N/A": 3.0, "x": 2.0, "a": 1.0}})
    with opened_runs(run, data=data) as opening:
        (score,) = scores_of(opening, "RR")
        assert finding_codes(opening) == []
        (recall,) = scores_of(opening, "R@10")
    assert score.per_query["0"] == pytest.approx(1 / 3)
    assert recall.per_query["0"] == 0.5  # the gold listed twice is one gold


def test_excluded_documents_are_removed_before_ranking(tmp_path: Path) -> None:
    rows = [example("0", ["a"], excluded=["x", "y", "x", "never"]), example("1", ["x"], excluded=["z"])]
    data = write_bright(tmp_path / "data", {"biology": rows})
    run = write_trec(
        tmp_path / "biology.trec",
        {"0": {"x": 5.0, "b": 4.0, "y": 3.0, "a": 2.0, "c": 1.0}, "1": {"a": 2.0, "x": 1.0}},
    )
    with opened_runs(run, data=data) as opening:
        for measure, expected in (
            ("RR", {"0": 0.5, "1": 0.5}),
            ("P@1", {"0": 0.0, "1": 0.0}),
            ("AP@2", {"0": 0.5, "1": 0.5}),
        ):
            for engine in ("sql", "pytrec_eval"):
                (score,) = scores_of(opening, measure, engine)
                assert score.per_query == pytest.approx(expected), (measure, engine)
        (finding,) = opening.session.findings
    assert (finding.code, finding.count) == ("excluded-document", 2)
    assert "2 excluded document(s) in 1 queries" in finding.message
    assert "query 0, x" in finding.message


def test_a_query_all_of_whose_documents_are_excluded_is_answered_with_nothing(tmp_path: Path) -> None:
    rows = [example("0", ["a"], excluded=["x"]), example("1", ["b"])]
    data = write_bright(tmp_path / "data", {"biology": rows})
    run = write_trec(tmp_path / "biology.trec", {"0": {"x": 5.0}, "1": {"b": 1.0}})
    with opened_runs(run, data=data) as opening:
        ours, theirs = (scores_of(opening, "nDCG@10", engine)[0] for engine in ("sql", "pytrec_eval"))
    assert ours.per_query == theirs.per_query == {"0": 0.0, "1": 1.0}
    assert ours.answered == theirs.answered == {"0", "1"}


@pytest.mark.parametrize(
    ("measure", "value"), [("Judged@1", 1.0), ("Judged@2", 0.5), ("Judged@3", 2 / 3), ("Judged@10", 3 / 4)]
)
def test_judged_at_k_is_the_share_of_judged_documents_among_those_returned(
    tmp_path: Path, measure: str, value: float
) -> None:
    run = {"1": {"a": 4.0, "x": 3.0, "b": 2.0, "c": 1.0}, "2": {"x": 1.0}}
    qrels = {"1": {"a": 1, "b": 0, "c": -1, "d": 1}, "2": {"a": 1}, "3": {"a": 1}}
    assert values(tmp_path, run, qrels, measure) == pytest.approx({"1": value, "2": 0.0, "3": 0.0})


def test_rr_at_k_stops_at_k(tmp_path: Path) -> None:
    run, qrels = {"1": {"x": 3.0, "y": 2.0, "a": 1.0}}, {"1": {"a": 1}}
    assert values(tmp_path, run, qrels, "RR@2")["1"] == 0.0
    assert values(tmp_path, run, qrels, "RR@3")["1"] == pytest.approx(1 / 3)


@pytest.mark.parametrize("measure", ["Judged@10", "RR@10"])
def test_pytrec_eval_does_not_know_every_measure(tmp_path: Path, measure: str) -> None:
    run = write_trec(tmp_path / "run.trec", {"1": {"a": 1.0}})
    qrels = write_qrels(tmp_path / "judged.txt", {"1": {"a": 1}})
    with opened_runs(run, qrels=[qrels]) as opening, pytest.raises(UsageError, match=f"pytrec_eval has no {measure}"):
        scores_of(opening, measure, "pytrec_eval")


# Few scores and few ids, so that ties, float32 collisions and byte order decide; by bytes "Z" < "a" < "é".
DOC_IDS = [
    "a",
    "A",
    "Z",
    "z",
    "é",
    "e\u0301",
    "日",
    "\U0001f600",
    "\uffee",
    "d 1",
    "d 10",
    "d 2",
    "D",
    "aa",
    "a-",
    "a/",
]
SCORES = [
    1.0,
    0.5,
    0.0,
    -0.0,
    -1.0,
    0.123456781,
    0.12345678,
    1e39,
    1e40,
    -1e39,
    -1e40,
    3.4028235677973366e38,
    1e-46,
    1e-45,
]
QUERY_IDS = ["1", "01", "q", "é", "2", "Q", "q1", "日", "#1", "10"]
# Many queries an example: each is a case of its own, and scoring costs the same for one or ten.
RUNS = st.dictionaries(
    st.sampled_from([*QUERY_IDS, "unjudged"]),
    st.dictionaries(st.sampled_from(DOC_IDS), st.sampled_from(SCORES), min_size=1),
    min_size=6,
)
QRELS = st.dictionaries(
    st.sampled_from(QUERY_IDS),
    st.dictionaries(st.sampled_from([*DOC_IDS, "unlisted"]), st.integers(-2, 3), min_size=1),
    min_size=6,
)


def reference(qrels: Qrels, run: Run, excluded: Qrels) -> dict[str, dict[str, float]]:
    """pytrec_eval's values of all MEASURES, called as BRIGHT calls it; queries it leaves out are 0, and so are those
    without a gold, on some of which it never returns."""
    import pytrec_eval

    cutoffs = ",".join(map(str, CUTOFFS))
    names = {"ndcg", "map", "recip_rank", *(f"{name}.{cutoffs}" for name in ("ndcg_cut", "map_cut", "recall", "P"))}
    kept = {
        query_id: {doc_id: score for doc_id, score in docs.items() if doc_id not in excluded.get(query_id, {})}
        for query_id, docs in run.items()
    }
    kept = {query_id: docs for query_id, docs in kept.items() if docs}
    golden = {query_id: dict(docs) for query_id, docs in qrels.items() if max(docs.values()) > 0}
    found = pytrec_eval.RelevanceEvaluator(golden, names).evaluate(kept)
    spelled = {"nDCG": "ndcg", "AP": "map", "RR": "recip_rank"} | {
        f"{kind}@{cutoff}": f"{name}_{cutoff}"
        for kind, name in (("nDCG", "ndcg_cut"), ("AP", "map_cut"), ("R", "recall"), ("P", "P"))
        for cutoff in CUTOFFS
    }
    return {
        measure: {query_id: found.get(query_id, {}).get(spelled[measure], 0.0) for query_id in qrels}
        for measure in MEASURES
    }


@settings(deadline=None, max_examples=12, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(run=RUNS, qrels=QRELS, cached=st.booleans())
def test_equal_to_pytrec_eval_on_adversarial_ties(
    tmp_path: Path, run: dict[str, dict[str, float]], qrels: dict[str, dict[str, int]], cached: bool
) -> None:
    run.setdefault(next(iter(qrels)), {"a": 0.5})
    path, judged = write_trec(tmp_path / "run.trec", run), write_qrels(tmp_path / "judged.txt", qrels)
    expected = reference(qrels, run, {})
    with opened_runs(path, qrels=[judged]) as opening:
        if cached:
            opening.convert()
        for measure in MEASURES:
            # The values of ``task_scores``, without their tie ranges, which take longer than all else here.
            rows = opening.session.cursor.execute(per_query_sql(parse_measure(measure))).fetchall()
            found = {row[3]: row[4] for row in rows}
            assert found == pytest.approx(expected[measure], abs=1e-9, rel=0), measure
        for measure in ("nDCG@10", "RR"):
            (score,) = scores_of(opening, measure)
            assert score.per_query == pytest.approx(expected[measure], abs=1e-9, rel=0), measure
        assert score.answered >= run.keys() & qrels.keys()


@settings(deadline=None, max_examples=10, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(run=RUNS, golds=st.sets(st.sampled_from(DOC_IDS), min_size=1), excluded=st.sets(st.sampled_from(DOC_IDS)))
def test_equal_to_pytrec_eval_after_exclusions(
    tmp_path: Path, run: dict[str, dict[str, float]], golds: set[str], excluded: set[str]
) -> None:
    run.setdefault("q", {"a": 0.5})
    rows = [example(query_id, sorted(golds), excluded=sorted(excluded)) for query_id in QUERY_IDS]
    data = write_bright(tmp_path / "data", {"biology": rows})
    path = write_trec(tmp_path / "run.trec", run)
    qrels = {query_id: dict.fromkeys(golds, 1) for query_id in QUERY_IDS}
    expected = reference(qrels, run, {query_id: dict.fromkeys(excluded, 1) for query_id in QUERY_IDS})
    with opened_runs(path, data=data, task="biology") as opening:
        for measure in ("nDCG@10", "AP", "R@3", "P@5", "RR"):
            (ours,) = scores_of(opening, measure)
            (theirs,) = scores_of(opening, measure, "pytrec_eval")
            assert ours.per_query == pytest.approx(expected[measure], abs=1e-9, rel=0), measure
            assert theirs.per_query == pytest.approx(expected[measure], abs=1e-9, rel=0), measure
            assert ours.answered == theirs.answered

"""Ids that a run spells otherwise than the judgments do, and files that hold several runs or a reranker's words."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path

import pytest

from bright_inspect.domain.rankings import QueryKey, RankReason
from bright_inspect.store.opening import open_session
from bright_inspect.store.query_view import read_query
from bright_inspect.store.request import OpenRequest
from tests.support import example, finding_codes, opened_runs, scores_of, write_bright, write_trec


@pytest.fixture
def data(tmp_path: Path) -> Path:
    rows = [example(str(number), [f"gold {number}", "b_c"]) for number in range(12)]
    return write_bright(tmp_path / "data", {"biology": rows, "pony": [example("0", ["p"], golds_long=["P"])]})


@pytest.mark.parametrize("prefix", ["q", "short-", "biology_", "standard/biology-", "topic:"])
@pytest.mark.parametrize("name", ["biology.trec", "x.trec"])
def test_a_prefix_of_all_query_ids_is_taken_off_with_a_finding(
    tmp_path: Path, data: Path, prefix: str, name: str
) -> None:
    run = write_trec(tmp_path / name, {f"{prefix}{number}": {f"gold {number}": 1.5} for number in range(12)})
    for _ in range(2):
        with opened_runs(run, data=data) as opening:
            assert opening.session.tasks == (("bright", "biology"),)
            (score,) = scores_of(opening, "RR")
            assert (score.mean, len(score.answered)) == (1.0, 12)
            (finding,) = [f for f in opening.session.findings if f.code == "prefixed-query-ids"]
            assert f"all 12 query ids begin with {prefix!r}" in finding.message
            opening.convert()
            view = read_query(opening.session, opening.session.cursor, QueryKey("bright", "biology", "11"))
            assert view.rankings[0] is not None
            assert scores_of(opening, "RR")[0].per_query == score.per_query


def test_nothing_is_taken_off_where_the_ids_are_known_as_they_are(tmp_path: Path) -> None:
    rows = [example(f"q{number}", ["a"]) for number in range(3)]
    data = write_bright(tmp_path / "data", {"biology": rows})
    run = write_trec(tmp_path / "biology.trec", {f"q{number}": {"a": 1.5} for number in range(3)})
    with opened_runs(run, data=data) as opening:
        assert finding_codes(opening) == []
        assert scores_of(opening, "RR")[0].mean == 1.0


def test_underscores_for_spaces_find_the_gold(tmp_path: Path, data: Path) -> None:
    run = write_trec(tmp_path / "biology.trec", {"0": {"x": 2.5, "gold_0": 1.5}, "1": {"b c": 1.5}, "2": {"b_c": 1.5}})
    for _ in range(2):
        with opened_runs(run, data=data) as opening:
            values = scores_of(opening, "RR")[0].per_query
            assert (values["0"], values["1"], values["2"]) == (0.5, 1.0, 1.0)
            (finding,) = [f for f in opening.session.findings if f.code == "document-alias"]
            assert "2 listed document(s) differ from a judged or excluded one only in '_' for ' '" in finding.message
            opening.convert()
            view = read_query(opening.session, opening.session.cursor, QueryKey("bright", "biology", "0"))
            assert view.rank_in(0, "gold 0") == 2


def test_texts_are_found_under_the_other_spelling(tmp_path: Path, data: Path) -> None:
    from bright_inspect.store.documents import kept_texts, load_task_texts

    write_bright(data, {"biology": [{"id": "Memory Management_1.txt", "content": "text"}]}, "documents")
    run = write_trec(tmp_path / "biology.trec", {"0": {"Memory_Management_1.txt": 2.5, "gold 0": 1.5}})
    with opened_runs(run, data=data) as opening:
        opening.convert()
        load_task_texts(opening.session, opening.session.cursor, ("bright", "biology"))
        texts = kept_texts(opening.session.cursor, ("bright", "biology"), ["Memory_Management_1.txt"])
    assert texts == {"Memory_Management_1.txt": "text"}


def test_a_file_of_several_splits_is_several_runs(tmp_path: Path, data: Path) -> None:
    """MTEB's older prediction files: subset, then split (FORMATS B.3)."""
    predictions = {
        "mteb_model_meta": {"model_name": "org/model-x", "revision": "1"},
        "biology": {"standard": {"0": {"gold 0": 0.5, "x": 0.75}}},
        "pony": {"standard": {"0": {"p": 0.5}}, "long": {"0": {"P": 0.5, "Q": 0.75}}},
    }
    path = tmp_path / "BrightRetrieval_predictions.json"
    path.write_text(json.dumps(predictions), encoding="utf-8")
    seen = []
    for _ in range(2):
        with opened_runs(path, data=data) as opening:
            seen.append({score.task: score.per_query["0"] for score in scores_of(opening, "RR")})
            opening.convert()
            opened = {(run.name.system, task) for run in opening.session.runs for task in run.tasks}
    assert seen[0] == seen[1]
    assert seen[0] == {("bright", "biology"): 0.5, ("bright", "pony"): 1.0, ("bright-long", "pony"): 0.5}
    assert {task for _, task in opened} == seen[0].keys()


def test_a_rerankers_words_stay_with_their_document(tmp_path: Path, data: Path) -> None:
    lines = [
        {"qid": "0", "docid": "gold 0", "score": 2.5, "response": "<think>hm [red]</think>Yes \x1b[31m"},
        {"qid": "0", "docid": "x", "score": 1.5, "response": "No"},
        {"qid": "1", "docid": "x", "score": 1.5, "response": ""},
    ]
    path = tmp_path / "biology.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    for _ in range(2):
        with opened_runs(path, data=data) as opening:
            opening.convert()
            view = read_query(opening.session, opening.session.cursor, QueryKey("bright", "biology", "0"))
            assert view.reasons == (
                RankReason(0, "gold 0", "hm [red]", "Yes \x1b[31m"),
                RankReason(0, "x", "", "No"),
            )


def test_a_known_query_id_is_not_taken_for_a_prefixed_one(tmp_path: Path) -> None:
    """q1 lists no gold of its own, but one of query 1."""
    data = write_bright(tmp_path / "data", {"biology": [example("1", ["a"]), example("q1", ["b"])]})
    with opened_runs(write_trec(tmp_path / "biology.trec", {"q1": {"a": 1.5}}), data=data) as opening:
        assert scores_of(opening, "RR")[0].per_query == {"1": 0.0, "q1": 0.0}
        assert "prefixed-query-ids" not in finding_codes(opening)


def custom(tmp_path: Path, qrels: str, run: str) -> tuple[Path, Path]:
    (tmp_path / "judged.txt").write_text(qrels, encoding="utf-8")
    path = tmp_path / "run.trec"
    path.write_text(run, encoding="utf-8")
    os.utime(path, (time.time() - 60,) * 2)
    return path, tmp_path / "judged.txt"


def test_a_list_with_both_spellings_counts_the_gold_once(tmp_path: Path) -> None:
    run, qrels = custom(tmp_path, "1\t0\tx y\t1\n", "1 Q0 x_y 1 5.0 t\n1 Q0 x y 2 4.0 t\n1 Q0 z 3 1.0 t\n")
    for _ in range(2):
        with opened_runs(run, qrels=[qrels]) as opening:
            assert scores_of(opening, "RR")[0].mean == 0.5
            assert scores_of(opening, "R@10")[0].mean == 1.0
            assert "document-alias" not in finding_codes(opening)
            opening.convert()


def test_ties_go_by_the_mended_id_before_and_after_conversion(tmp_path: Path) -> None:
    run, qrels = custom(tmp_path, "1\t0\tx y\t1\n", "1 Q0 x_y 1 5.0 t\n1 Q0 xAz 2 5.0 t\n1 Q0 z 3 1.0 t\n")
    for _ in range(2):
        with opened_runs(run, qrels=[qrels]) as opening:
            assert scores_of(opening, "RR")[0].mean == 0.5
            opening.convert()
            assert scores_of(opening, "RR")[0].mean == 0.5
            key = QueryKey(*opening.session.tasks[0], "1")
            assert read_query(opening.session, opening.session.cursor, key).rank_in(0, "x y") == 2


def test_excluded_documents_are_found_under_the_other_spelling(tmp_path: Path) -> None:
    run, qrels = custom(tmp_path, "1\t0\tx y\t-100\n1\t0\tg\t1\n", "1 Q0 x_y 1 5.0 t\n1 Q0 g 2 4.0 t\n")
    with opened_runs(run, qrels=[qrels]) as opening:
        assert scores_of(opening, "RR")[0].mean == 1.0
        assert "excluded-document" in finding_codes(opening)


def test_a_collections_own_judgments_may_have_layers(tmp_path: Path) -> None:
    run, qrels = custom(tmp_path, "1\t0\ta\t1\n", "1 Q0 b 1 5.0 t\n1 Q0 a 2 4.0 t\n")
    (tmp_path / "mine.txt").write_text("1\t0\tb\t1\n")
    (tmp_path / "q.tsv").write_text("1\tquery one\n")
    values = {}
    for arguments in ([str(qrels)], [str(qrels), f"mine={tmp_path / 'mine.txt'}"], [f"mine={tmp_path / 'mine.txt'}"]):
        request = OpenRequest((str(run),), qrels=tuple(arguments), queries=tmp_path / "q.tsv")
        opening = open_session(request)
        values[opening.session.collections.layers] = (opening.session.layer, scores_of(opening, "RR")[0].mean)
        opening.session.close()
    assert values == {("original",): ("original", 0.5), ("original", "mine"): ("mine", 1.0)}

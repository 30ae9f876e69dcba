"""JSON runs other than plain score files: levels, entries, ordered lists, reasons, and what is no run."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from bright_inspect.errors import UnreadableInput
from tests.formats.reading import Reason, Row, run_of, runs_of

META = {"model_name": "org/model-x", "revision": "abc"}


def test_mteb_order_is_no_ranking_and_the_model_is_the_tag(tmp_path: Path) -> None:
    content = {"mteb_model_meta": META, "default": {"standard": {"1": {"low": 0.1, "high": 0.9, "mid": 0.5}}}}
    run = run_of(tmp_path, json.dumps(content), "BrightEarthScienceRetrieval_predictions.json")
    assert run.rows == [("1", "low", 0.1, None), ("1", "high", 0.9, None), ("1", "mid", 0.5, None)]
    assert (run.read.tag, run.read.task, run.read.long, run.codes) == ("org/model-x", "earth_science", False, [])


def test_mteb_subsets_and_splits_are_runs_of_their_own(tmp_path: Path) -> None:
    content = {
        "biology": {"standard": {"1": {"a": 1.0}}, "long": {"1": {"b": 2.0}}},
        "pony": {"standard": {"1": {"c": 3.0}, "2": {"c": 1.0}}, "empty": {}},
        "mteb_model_meta": META,
    }
    path = tmp_path / "p.json"
    path.write_text(json.dumps(content))
    found = [(run.read.table, run.read.task, run.read.long, run.read.tag, len(run.rows)) for run in runs_of(path)]
    assert found == [
        ("run", "biology", False, "org/model-x", 1),
        ("run_part1", "biology", True, "org/model-x", 1),
        ("run_part2", "pony", False, "org/model-x", 2),
    ]


@pytest.mark.parametrize(
    ("name", "task", "long"),
    [
        ("BrightTheoremQAQuestionsRetrieval_predictions.json", "theoremqa_questions", None),
        ("BrightPonyLongRetrieval_predictions.json", "pony", True),
        ("BrightRetrieval_predictions.json", None, None),
        ("NFCorpus_predictions.json", None, None),
    ],
)
def test_mteb_names_the_task_in_the_file_name(tmp_path: Path, name: str, task: str | None, long: bool | None) -> None:
    run = run_of(tmp_path, json.dumps({"mteb_model_meta": META, "default": {"test": {"1": {"a": 1.0}}}}), name)
    expected = long if long is not None else (False if task else None)
    assert (run.read.task, run.read.long) == (task, expected)


@pytest.mark.parametrize(
    ("reranker", "split", "tag", "long"),
    [("NoReranker", "short", "m", False), ("big-one", "long", "m+big-one", True), (None, "test", "m", None)],
)
def test_retro_keeps_its_prefixed_query_ids(
    tmp_path: Path, reranker: str | None, split: str, tag: str, long: bool | None
) -> None:
    content = {"search_results": {f"{split}-0": {"a": 2, "b": 1.5}}, "model_name": "m", "reranker_name": reranker}
    run = run_of(tmp_path, json.dumps({**content, "split": split, "dataset_name": "earth-science"}))
    assert run.rows == [(f"{split}-0", "a", 2.0, None), (f"{split}-0", "b", 1.5, None)]
    assert (run.read.tag, run.read.task, run.read.long) == (tag, "earth_science", long)


def entry(qid: Any, *docs: Any, **more: Any) -> dict[str, Any]:
    candidates = [{"docid": doc, "score": 1.0 + number, "doc": {"contents": "…"}} for number, doc in enumerate(docs)]
    return {"query": {"qid": qid, "text": "why?"}, "candidates": candidates, **more}


RANKED: list[Row] = [("7", "b", 1.0, 1), ("7", "a", 0.5, 2), ("8", "12", 1.0, 1)]
ENTRIES = [entry(7, "b", "a"), entry("8", 12)]


@pytest.mark.parametrize(
    ("content", "codes"),
    [
        (json.dumps(ENTRIES), []),
        (json.dumps(ENTRIES, indent=2), []),
        ("\n".join(map(json.dumps, ENTRIES)), []),
        ("\n".join(map(json.dumps, ENTRIES)).replace("\n", "\r\n\r\n"), []),
        (json.dumps(ENTRIES[:1]) + json.dumps(ENTRIES[1:]), ["several-lists"]),
        (json.dumps(ENTRIES[:1], indent=2) + "\n" + json.dumps(ENTRIES[1:], indent=2), ["several-lists"]),
        ("\n".join(json.dumps(record, indent=2) for record in ENTRIES), []),
    ],
    ids=["list", "indented", "lines", "CRLF lines", "two lists", "two indented lists", "objects"],
)
def test_rank_llm_order_is_the_ranking(tmp_path: Path, content: str, codes: list[str]) -> None:
    run = run_of(tmp_path, content)
    assert run.rows == RANKED
    assert run.read.format == "rank-llm"
    assert run.codes == ["order-is-ranking", *codes]


def test_rank_llm_entries_that_cannot_be_used_are_named(tmp_path: Path) -> None:
    lines = [entry("1", "a"), entry(None, "b"), {"query": {"qid": "2"}, "candidates": None}, entry("3", 1.5, "c")]
    run = run_of(tmp_path, "\n".join(map(json.dumps, lines)) + '\n{"query": \n[1]\n')
    assert run.rows == [("1", "a", 1.0, 1), ("3", "c", 0.5, 2)]
    assert {code: (run.finding(code).line, run.finding(code).count) for code in run.codes} == {
        "order-is-ranking": (None, 1),
        "bad-query-id": (2, 1),
        "query-without-list": (3, 1),
        "bad-document-id": (None, 1),
        "bad-json-line": (5, 2),
    }


HISTORY = [
    {"prompt": "p", "response": "<think>first a</think>[2] > [1]", "input_token_count": 3},
    {"prompt": "p", "response": "[1]", "reasoning": "then b"},
]
REASONS: list[Reason] = [("7", None, "first a", "[2] > [1]"), ("7", None, "then b", "[1]")]


def test_rank_llm_invocations_in_an_entry_are_reasons(tmp_path: Path) -> None:
    run = run_of(tmp_path, json.dumps([entry(7, "b", invocations_history=HISTORY)]))
    assert (run.read.reasons, run.reasons) == (True, REASONS)


@pytest.mark.parametrize(
    ("results", "histories", "used"),
    [
        ("rerank.jsonl", ["invocations.json"], True),
        ("rerank_results.jsonl", ["inference_invocations_history.json"], True),
        ("rerank_results_x.jl", ["inference_invocations_history_x.json", "inference_invocations_history_y.json"], True),
        ("other.json", ["inference_invocations_history.json"], True),
        ("other.json", ["invocations.json", "inference_invocations_history_y.json"], False),
    ],
)  # fmt: skip
def test_rank_llm_history_beside_the_run(tmp_path: Path, results: str, histories: list[str], used: bool) -> None:
    for number, name in enumerate(histories):
        texts = HISTORY if number == 0 else [{"response": "of another run"}]
        (tmp_path / name).write_text(json.dumps([{"query": {"qid": 7, "text": ""}, "invocations_history": texts}]))
    run = run_of(tmp_path, json.dumps(entry(7, "b")), results)
    assert run.reasons == (REASONS if used else [])
    assert ("history-not-read" in run.codes) == (not used)


def test_a_damaged_or_foreign_history_costs_nothing_but_a_finding(tmp_path: Path) -> None:
    history = tmp_path / "invocations.json"
    history.write_text('[{"query": {"qid": 7}, "invocations_history": [')
    run = run_of(tmp_path, json.dumps(entry(7, "b")), "r.jsonl")
    assert "mid-value at byte" in run.finding("history-not-read").message
    history.write_text(json.dumps([{"query": {"qid": 9}, "invocations_history": HISTORY}]))
    run = run_of(tmp_path, json.dumps(entry(7, "b")), "r.jsonl")
    assert (run.read.reasons, run.finding("history-of-other-queries").count) == (False, 1)


@pytest.mark.parametrize(
    ("content", "rows", "ordered"),
    [
        ('{"1": ["a", "b"], "2": []}', [("1", "a", 1.0, 1), ("1", "b", 0.5, 2)], True),
        ('{"1": [18695, 3]}', [("1", "18695", 1.0, 1), ("1", "3", 0.5, 2)], True),
        ('{"1": [["a", 0.5], ["b", 2]]}', [("1", "a", 0.5, None), ("1", "b", 2.0, None)], False),
        ('{"1": [{"docid": "a", "score": 3}]}', [("1", "a", 3.0, None)], False),
        ('{"1": [{"docid": "a"}, {"docid": "b"}]}', [("1", "a", 1.0, 1), ("1", "b", 0.5, 2)], True),
        ('[{"query_id": "1", "retrieved_ids": ["a"]}]', [("1", "a", 1.0, 1)], True),
        ('{"query_id": 1, "retrieved_documents_id": ["a"]}\n{"query_id": 2, "retrieved_documents_id": ["b"]}\n',
         [("1", "a", 1.0, 1), ("2", "b", 1.0, 1)], True),
        ('{"metadata": {"n": 1}, "queries": [{"query_id": "q0", "question": "?", "retrieved_ids": ["a", "b"]}]}',
         [("q0", "a", 1.0, 1), ("q0", "b", 0.5, 2)], True),
    ],
)  # fmt: skip
def test_ordered_lists(tmp_path: Path, content: str, rows: list[Row], ordered: bool) -> None:
    run = run_of(tmp_path, content)
    assert run.rows == rows
    assert (run.read.format, "order-is-ranking" in run.codes) == ("id-lists", ordered)


def test_a_list_with_a_document_twice_keeps_the_first_place(tmp_path: Path) -> None:
    run = run_of(tmp_path, '{"1": ["a", "b", "a", "c"]}')
    assert run.rows == [("1", "a", 1.0, 1), ("1", "b", 0.5, 2), ("1", "c", 0.25, 4)]
    assert "places 1 and 3" in run.finding("duplicate-document").message


TFRANK = {
    "qid": 3, "docid": "a", "predicted_label_max": "error", "predicted_label_avg": 0.5, "predicted_yesno": "yes",
    "predicted_yesno_score": 0.875, "response": "<think>as it is</think>yes (4)",
}  # fmt: skip


def test_a_score_among_several_is_chosen_by_preference_and_named(tmp_path: Path) -> None:
    run = run_of(tmp_path, json.dumps(TFRANK) + "\n")
    assert run.rows == [("3", "a", 0.875, None)]
    assert run.reasons == [("3", "a", "as it is", "yes (4)")]
    message = run.finding("several-scores").message
    assert "predicted_yesno_score" in message.partition(";")[0]
    assert "predicted_label_avg" in message.partition(";")[2]
    chosen = run_of(tmp_path, json.dumps(TFRANK) + "\n", format="json-lines:predicted_label_avg")
    assert chosen.rows == [("3", "a", 0.5, None)]
    with pytest.raises(UnreadableInput, match="predicted_label_max is 'error'"):
        run_of(tmp_path, json.dumps(TFRANK) + "\n", format="json-lines:predicted_label_max")


@pytest.mark.parametrize(
    ("row", "rows", "codes"),
    [
        ({"query_id": "1", "doc_id": "b", "score": 2, "rank": 4}, [("1", "b", 2.0, 4)], []),
        ({"query-id": "1", "corpus-id": "b", "rank": 4}, [("1", "b", 0.25, 4)], ["order-is-ranking"]),
        ({"qid": "1", "docno": "b", "docid": 77, "my_logits": 0.5}, [("1", "b", 0.5, None)], []),
    ],
)
def test_names_of_fields(tmp_path: Path, row: dict[str, Any], rows: list[Row], codes: list[str]) -> None:
    for content in (json.dumps(row), json.dumps([row]), json.dumps([row], indent=1)):
        run = run_of(tmp_path, content)
        assert (run.rows, run.codes) == (rows, codes)


def test_lines_that_are_no_rows_are_left_out_and_named(tmp_path: Path) -> None:
    good = [{"qid": str(number), "docid": "a", "score": 1} for number in range(6)]
    lines = [json.dumps(row) for row in good]
    lines[1:1] = ['{"qid": "x", "docid": "a", "score": "0.5"}', "not json", '{"qid": "x", "docid": "a", "score": NaN}']
    run = run_of(tmp_path, "\n".join(lines) + '\n{"qid": "0", "docid": "a", "score": 2}\n')
    assert [row[:3] for row in run.rows] == [*((str(number), "a", 1.0) for number in range(1, 6)), ("0", "a", 2.0)]
    assert {code: run.finding(code).line for code in run.codes} == {
        "bad-score": 2, "bad-json-line": 3, "nan-score": 4, "duplicate-document": 1,
    }  # fmt: skip
    assert "lines 1 and 10" in run.finding("duplicate-document").message


@pytest.mark.parametrize("name", ["anything", "score.json", "run.trec"])
@pytest.mark.parametrize(
    ("content", "said"),
    [
        ({"NDCG@10": 0.2, "MRR": 0.3}, "metrics (NDCG@10, MRR"),
        ({"ndcg": {"NDCG@10": 0.2}, "map": {"MAP@10": 0.1}}, "metrics (NDCG@10"),
        ({"1": {"ndcg_cut_10": 0.5, "recip_rank": 1.0}, "2": {"ndcg_cut_10": 0.5}}, "metrics (ndcg_cut_10, recip_rank"),
        ({"task_name": "x", "mteb_version": "2", "scores": {"test": []}}, "MTEB's metrics"),
        ([{"query": "why?", "id": "1", "gold_ids": ["a"], "excluded_ids": ["N/A"]}], "BRIGHT examples"),
        ([{"query": {"qid": 1, "text": ""}, "invocations_history": []}], "invocation history alone"),
        ([{"id": "1", "query": "why?"}], "a query file"),
        ([{"_id": "d", "title": "", "text": "…"}], "queries or documents"),
        ({"why is it so?": "a rewritten query"}, "a JSON object of texts"),
        ([1, 2], "a JSON list"),
        ({"a": {"b": {"c": 1}}}, "more levels than a run"),
        ({"1": {"a": {"b": {"c": {"d": 1}}}}}, "more levels than a run"),
        ([{"query_id": "1", "doc_id": "a", "relevance": 1}], "judgments as JSON rows"),
    ],
)
def test_other_json_is_named(tmp_path: Path, content: Any, said: str, name: str) -> None:
    texts = [json.dumps(content), json.dumps(content, indent=2)]
    if isinstance(content, list) and isinstance(content[0], dict):
        texts.append("\n".join(json.dumps(row) for row in content * 2))
    for text in texts:
        with pytest.raises(UnreadableInput) as caught:
            run_of(tmp_path, text, name)
        assert said in str(caught.value)
        assert "\n" not in str(caught.value)


def test_the_first_entry_may_be_longer_than_what_is_looked_at_first(tmp_path: Path) -> None:
    rows = [{"response": "x" * 300_000, "qid": "1", "docid": "a", "score": 1}, {"qid": "1", "docid": "b", "score": 0}]
    assert [row[1] for row in run_of(tmp_path, "\n".join(map(json.dumps, rows))).rows] == ["a", "b"]
    long = {"query": {"text": "y" * 100_000, "qid": 1}, "candidates": [{"doc": "z" * 300_000, "docid": "a"}]}
    assert run_of(tmp_path, json.dumps([long])).rows == [("1", "a", 1.0, 1)]


@pytest.mark.parametrize("cut", range(3, 150, 11))
def test_a_cut_list_says_at_which_byte(tmp_path: Path, cut: int) -> None:
    text = json.dumps(ENTRIES, indent=1)
    with pytest.raises(UnreadableInput, match=r"at byte \d+"):
        run_of(tmp_path, text[:cut])

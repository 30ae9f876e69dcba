"""Files of reported values: every layout, their scales and precision, and what is no value."""

from __future__ import annotations

import gzip
import json
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bright_inspect.domain.measures import parse_measure
from bright_inspect.errors import UnreadableInput
from bright_inspect.formats.reported import ReportedFile, ReportedValue, read_reported
from bright_inspect.formats.reported_entries import dataset_and_task


def read(folder: Path, content: object, name: str = "results.json") -> ReportedFile:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    return read_reported(path)


def short(value: ReportedValue) -> tuple[object, ...]:
    return (value.run, value.dataset, value.task, str(value.measure), value.value, value.decimals)


def codes(found: ReportedFile) -> list[tuple[str, int, int | None]]:
    return [(finding.code, finding.count, finding.line) for finding in found.findings]


MTEB_SUBSET = {
    "ndcg_at_10": 0.28924, "ndcg_at_5": 0.29974, "mrr_at_10": 0.500871, "mrr_at_5": 0.48, "recall_at_1": 0.1,
    "map_at_100": 0.2, "main_score": 0.28924, "accuracy": 0.1, "hit_rate_at_1": 0.3, "hit_rate_at_3": 0.4,
    "nauc_ndcg_at_1_max": 0.1, "nauc_ndcg_at_1_std": -0.1, "hf_subset": "default", "languages": ["eng-Latn"],
}  # fmt: skip


def mteb(task: str, split: str = "standard", **subset: object) -> dict[str, object]:
    return {"task_name": task, "mteb_version": "2.18.6", "scores": {split: [{**MTEB_SUBSET, **subset}]}}


# Path and content, and what its first value is: run, dataset, task, measure, value, decimals; and how many there are.
LAYOUTS: list[tuple[str, object, tuple[object, ...], int]] = [
    # BRIGHT's code rounds to 5 digits, and JSON drops the zeros at the end.
    (
        "earth_science_bm25_long_False/results.json",
        {"NDCG@10": 0.2717, "NDCG@25": 0.31244, "MAP@1": 0.08739, "MAP@5": 0.15705, "MRR": 0.5},
        ("bm25", "bright", "earth_science", "nDCG@10", 0.2717, 5), 5,
    ),
    ("pony_inf_gpt4_reason_long_True/results.json", {"Recall@1": 0.25},
     ("inf@gpt4_reason", "bright-long", "pony", "R@1", 0.25, 2), 1),
    ("biology_reasonir/results.json", {"P@5": 0.5, "P@10": 0.25}, ("reasonir", None, "biology", "P@5", 0.5, 2), 2),
    ("run_bge/academia/metrics.json", {"NDCG@1": 0.5}, ("academia", None, None, "nDCG@1", 0.5, 1), 1),
    # The blend with the retriever is another run than the reranker's scores.
    ("RaDeR/aops/reranker_retriever_results.json", {"NDCG@10": 0.5},
     ("reranker_retriever_results", None, "aops", "nDCG@10", 0.5, 1), 1),
    ("results/BAAI__bge-m3/5617a9f/BrightBiologyRetrieval.json", mteb("BrightBiologyRetrieval"),
     ("BAAI/bge-m3", "bright", "biology", "nDCG@10", 0.28924, 5), 6),
    ("r/x__y/z/t.json", mteb("BrightTheoremQATheoremsRetrieval"),
     ("x/y", "bright", "theoremqa_theorems", "nDCG@10", 0.28924, 5), 6),
    ("x.json", mteb("BrightPonyLongRetrieval", "long"), (None, "bright-long", "pony", "nDCG@10", 0.28924, 5), 6),
    ("x.json", mteb("BrightProSustainableLivingRetrieval"),
     (None, "bright-pro", "sustainable_living", "nDCG@10", 0.28924, 5), 6),
    ("x.json", mteb("BrightRetrieval", "long", hf_subset="aops"), (None, "bright-long", "aops", "nDCG@10", 0.28924, 5),
     6),
    ("x.json", mteb("NFCorpus"), (None, None, "nfcorpus", "nDCG@10", 0.28924, 5), 6),
    # BEIR's save_results.
    ("leetcode_sbert/results.json",
     {"ndcg": {"NDCG@1": 0.3, "NDCG@10": 0.24369}, "map": {"MAP@10": 0.2}, "precision": {"P@10": 0.05},
      "recall": {"Recall@10": 0.4}, "mrr": {"MRR@10": 0.5}},
     ("sbert", None, "leetcode", "nDCG@1", 0.3, 5), 6),
    ("pony.json",
     {"schema_version": 1, "metrics": {"ndcg_cut_10": 0.3798, "recall_100": 0.7008},
      "pipeline": {"dataset_id": "bright-earth-science", "method_id": "query2doc"},
      "config": {"retrieval": {"retriever_id": "bm25"}}},
     ("bm25@query2doc", "bright", "earth_science", "nDCG@10", 0.3798, 4), 2),
    # trec_eval and ir_measures print four digits, zeros included.
    ("aops.txt", "runid                 \tall\tSTANDARD\nndcg_cut_10           \tall\t0.4310\nmap \tall\t0.25\n",
     ("STANDARD", None, "aops", "nDCG@10", 0.431, 4), 2),
    ("x.txt", "nDCG@10\t0.4312\nAP\t0.2500\n", (None, None, None, "nDCG@10", 0.4312, 4), 2),
    ("x.txt", "P_10 all 0.05", (None, None, None, "P@10", 0.05, 2), 1),
    # Tables.
    ("x.csv", "Run,Task,Measure,Value\nqwen,earth_science,nDCG@10,0.2710\n",
     ("qwen", None, "earth_science", "nDCG@10", 0.271, 4), 1),
    ("x.tsv", "measure\tvalue\ttask\tdataset\nNDCG@10\t.5\tBrightPonyLongRetrieval\t\n",
     (None, "bright-long", "pony", "nDCG@10", 0.5, 1), 1),
    ("x.csv", '"metric","score","task","dataset"\n"R@1","0.5","Bright-Earth-Science","bright-long"\n',
     (None, "bright-long", "earth_science", "R@1", 0.5, 1), 1),
    ("x.csv", "run;measure;value\n\"a;b\";RR;1\n", ("a;b", None, None, "RR", 1.0, 0), 1),
]  # fmt: skip


@pytest.mark.parametrize(("name", "content", "first", "count"), LAYOUTS)
def test_layouts(tmp_path: Path, name: str, content: object, first: tuple[object, ...], count: int) -> None:
    found = read(tmp_path / "in", content, name)
    assert short(found.values[0]) == first
    assert len(found.values) == count
    assert not [finding for finding in found.findings if finding.severity == "error"]
    assert all(value.query_id is None and value.file == str(tmp_path / "in" / name) for value in found.values)


def test_places(tmp_path: Path) -> None:
    assert [value.place for value in read(tmp_path, mteb("BrightPonyRetrieval"), "a/b/c.json").values][::2] == [
        "scores.standard[0].ndcg_at_10",
        "scores.standard[0].mrr_at_10",
        "scores.standard[0].recall_at_1",
    ]
    assert read(tmp_path, {"ndcg": {"NDCG@10": 0.5}}).values[0].place == "ndcg.NDCG@10"
    assert read(tmp_path, "\nmap all 0.5", "x.txt").values[0].place == "line 2"
    table = read(tmp_path, 'run,measure,value\n"two\nlines",RR,0.5\nb,RR,0.5\n', "x.csv")
    assert [(value.run, value.place) for value in table.values] == [("two\nlines", "line 3"), ("b", "line 4")]


def test_mteb_values_that_are_not_compared_are_named_in_one_finding(tmp_path: Path) -> None:
    found = read(tmp_path, mteb("BrightPonyRetrieval"), "a/b/c.json")
    assert {str(value.measure): value.decimals for value in found.values} == {
        "nDCG@10": 5, "nDCG@5": 5, "RR@10": 6, "RR@5": 6, "R@1": 5, "AP@100": 5,
    }  # fmt: skip
    (finding,) = found.findings
    assert (finding.code, finding.severity, finding.count) == ("unknown-measure", "warning", 6)
    assert "main_score, accuracy, hit_rate_at_* (2), nauc_* (2)" in finding.message


def test_both_splits_of_a_legacy_file(tmp_path: Path) -> None:
    scores = {
        split: [{"ndcg_at_10": 0.25, "hf_subset": "pony"}, {"ndcg_at_10": 0.5, "hf_subset": "biology"}]
        for split in ("standard", "long")
    }
    found = read(tmp_path, {"task_name": "BrightRetrieval", "scores": {**scores, "odd": 1, "odder": [2]}})
    assert [(value.dataset, value.task) for value in found.values] == [
        ("bright", "pony"), ("bright", "biology"), ("bright-long", "pony"), ("bright-long", "biology"),
    ]  # fmt: skip
    assert [finding.message.split(" ")[0] for finding in found.findings] == ["scores.odd", "scores.odder[0]"]


@pytest.mark.parametrize(
    "content",
    [
        '{"12": {"ndcg_cut_10": 0.43, "recip_rank": 1}, "7": {"ndcg_cut_10": 0.25}}',
        "12\tnDCG@10\t0.43\n12\tRR\t1\n7\tnDCG@10\t0.25\n",
        "ndcg_cut_10 12 0.43\nrecip_rank 12 1\nndcg_cut_10 7 0.25\n",
        "query_id,measure,value\n12,nDCG@10,0.43\n12,RR,1\n7,nDCG@10,0.25\n",
    ],
)
def test_values_by_query(tmp_path: Path, content: str) -> None:
    found = read(tmp_path, content, "x")
    assert [(value.query_id, str(value.measure), value.value) for value in found.values] == [
        ("12", "nDCG@10", 0.43), ("12", "RR", 1.0), ("7", "nDCG@10", 0.25),
    ]  # fmt: skip
    assert found.findings == []


def test_means_among_values_by_query(tmp_path: Path) -> None:
    found = read(tmp_path, "map\t12\t0.5000\nmap\tall\t0.2500\nall\tnDCG@10\t0.75", "x.txt")
    assert [(value.query_id, value.value) for value in found.values] == [("12", 0.5), (None, 0.25), (None, 0.75)]


@pytest.mark.parametrize(
    ("content", "values", "decimals", "expected"),
    [
        # A value above 1 is no fraction; nothing here could be one.
        ("nDCG@10\t43.2\nAP\t25.10\nRR\t0\n", [0.432, 0.251, 0.0], [3, 4, 2], [("percentages", 3, None)]),
        ("nDCG@10\t1.0\nAP\t0.5\n", [1.0, 0.5], [1, 1], []),
        # One scale by run: only b is in percent.
        ("run,measure,value\na,RR,0.5\nb,RR,50.0\n", [0.5, 0.5], [1, 3], [("percentages", 1, None)]),
        # Of c, nobody can say.
        ("run,measure,value\na,RR,0.5\nc,RR,50\nc,P@100,0.9\n", [0.5], [1], [("mixed-scale", 2, 3)]),
        ("nDCG@10\t0.5\nAP\t-0.1\nRR\t1e999\nP@5\t1e3\n", [0.5], [1], [("bad-value", 3, 2)]),
        ("measure,value\nnDCG@10,0.5\nRR,\"0,43\"\nRR,nan\nRR,\n", [0.5], [1], [("bad-value", 3, 3)]),
        ("measure,value\nnDCG@10,0.5\nRR\nRR,1,2\n", [0.5], [1], [("bad-line", 2, 3)]),
        ("measure,value,note,page\nnDCG@10,4.3e-1,x,y\n", [0.43], [2], [("unused-column", 2, 1)]),
        ("nDCG@10\t0.5\nhello world\n1 Q0 a 1 0.5 t\n", [0.5], [1], [("bad-line", 2, 2)]),
        ("num_q all 116\nmap all 0.5\ngm_map all 0.1\n", [0.5], [1], [("unknown-measure", 2, 1)]),
        ('{"NDCG@10": 0.5, "Oracle NDCG@10": 0.9, "model": "x"}', [0.5], [1], [("unknown-measure", 1, None)]),
        ('{"NDCG@10": 0.5, "MAP@10": null, "P@5": "0.5", "P@1": NaN, "P@9": true}', [0.5], [1],
         [("bad-value", 4, None)]),
        ('{"NDCG@10": 0.5, "NDCG@10": 0.25}', [0.25], [2], [("repeated-key", 1, None)]),
        ('{"NDCG@10": 0.5, "nested": {"MAP@10": 0.1}}', [0.5], [1], [("unknown-measure", 1, None)]),
        ('{"q1": {"map": 0.5}, "q2": 3}', [0.5], [1], [("unknown-measure", 1, None)]),
    ],
)  # fmt: skip
def test_odd_values(
    tmp_path: Path, content: str, values: list[float], decimals: list[int], expected: list[tuple[str, int, int | None]]
) -> None:
    found = read(tmp_path, content, "x")
    assert [value.value for value in found.values] == values
    assert [value.decimals for value in found.values] == decimals
    assert codes(found) == expected


def test_the_finding_about_a_mixture_names_both(tmp_path: Path) -> None:
    found = read(tmp_path, "run,measure,value\na,RR,0.5\nc,RR,50\nc,P@100,0.9\n", "x.csv")
    assert "50 can only be a percentage and 0.9" in found.findings[0].message


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("", "the file is empty"),
        ("{", ":1: not valid JSON"),
        ('{"NDCG@10": 0.5', ":1: not valid JSON"),
        ("[1]", "a JSON list"),
        ("[" * 200_000, "nested too deeply"),
        ("{}", "no key of this JSON is a measure"),
        ('{"12": {"doc": 0.5}}', "no key of this JSON is a measure"),
        ('{"a": 1}', "1 value(s) of measures that are not compared left out: a."),
        ('{"NDCG@10": "x"}', "1 value(s) left out that are no number"),
        ('{"NDCG@10": 50, "MAP@10": 0.5}', "Write all of them in one scale"),
        ("1 Q0 a 1 0.5 t\n", "1 line(s) that report no value left out: '1 Q0 a 1 0.5 t'"),
        ("1 0 a 1\n", "1 line(s) that report no value"),
        ("measure,value\n", "nothing in it is a value"),
        ("only text", "1 line(s) that report no value"),
        ("a\0b", "binary"),
    ],
)
def test_files_without_a_value_are_refused(tmp_path: Path, content: str, said: str) -> None:
    with pytest.raises(UnreadableInput) as caught:
        read(tmp_path, content, "x")
    assert said in str(caught.value)
    assert str(caught.value).startswith(str(tmp_path / "x"))
    assert "\n" not in str(caught.value)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(UnreadableInput, match="no such file"):
        read_reported(tmp_path / "results.json")


@pytest.mark.parametrize("how", ["bom", "crlf", "utf-16", "gzip"])
def test_texts_however_they_are_encoded(tmp_path: Path, how: str) -> None:
    text, path = "measure,value\nnDCG@10,0.5\n", tmp_path / "x.csv"
    encoded = {
        "bom": text.encode("utf-8-sig"),
        "crlf": text.replace("\n", "\r\n").encode(),
        "utf-16": text.encode("utf-16"),
        "gzip": gzip.compress(text.encode(), mtime=0),
    }
    path.write_bytes(encoded[how])
    found = read_reported(path)
    assert [value.value for value in found.values] == [0.5]
    assert [finding.code for finding in found.findings] == {"bom": ["byte-order-mark"], "utf-16": ["utf-16"]}.get(
        how, []
    )


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("BrightTheoremQATheoremsRetrieval", ("bright", "theoremqa_theorems")),
        ("BrightTheoremQAQuestionsRetrieval", ("bright", "theoremqa_questions")),
        ("BrightSustainableLivingLongRetrieval", ("bright-long", "sustainable_living")),
        ("BrightProEarthScienceRetrieval", ("bright-pro", "earth_science")),
        ("BrightRetrieval", ("bright", None)),
        ("BrightLongRetrieval", ("bright-long", None)),
        ("bright/earth-science-long", ("bright-long", "earth_science")),
        ("bright-earth-science", ("bright", "earth_science")),
        ("Earth Science", (None, "earth_science")),
        ("my-task", (None, "my_task")),
        ("", (None, None)),
    ],
)
def test_names_of_tasks(name: str, expected: tuple[str | None, str | None]) -> None:
    assert dataset_and_task(name) == expected


@given(content=st.text(max_size=200) | st.recursive(
    st.none() | st.booleans() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(
        st.sampled_from(["NDCG@10", "scores", "task_name", "metrics", "ndcg", "12", "hf_subset", "standard"]), inner,
        max_size=4), max_leaves=12).map(json.dumps))  # fmt: skip
def test_any_content_is_read_or_refused(tmp_path_factory: pytest.TempPathFactory, content: str) -> None:
    path = tmp_path_factory.mktemp("any") / "x"
    path.write_bytes(content.encode("utf-8", "replace"))
    with suppress(UnreadableInput):
        found = read_reported(path)
        assert all(0 <= value.value <= 1 and value.decimals >= 0 for value in found.values)


def test_official_results(bright_data: Path) -> None:
    for folder in (bright_data / "outputs").iterdir():
        found = read_reported(folder / "results.json")
        assert (len(found.values), found.findings) == (25, [])
        assert {value.decimals for value in found.values} == {5}
        assert {value.dataset for value in found.values} == {
            "bright-long" if folder.name.endswith("True") else "bright"
        }
        assert all(value.task and value.run and folder.name.startswith(value.task) for value in found.values)


def test_every_mteb_result_file(bright_data: Path) -> None:
    files = sorted((bright_data / "mteb" / "results").glob("*/*/Bright*.json"))
    assert len(files) > 100
    for path in files:
        raw, found = json.loads(path.read_text()), read_reported(path)
        assert {finding.code for finding in found.findings} == {"unknown-measure"}
        assert {value.run for value in found.values} == {path.parts[-3].replace("__", "/")}
        assert all(value.dataset and value.task for value in found.values)
        by_place = {value.place: value for value in found.values}
        for split, subsets in raw["scores"].items():
            for number, subset in enumerate(subsets):
                value = by_place[f"scores.{split}[{number}].ndcg_at_10"]
                assert (value.value, value.measure) == (subset["ndcg_at_10"], parse_measure("nDCG@10"))
                assert value.decimals == 5


def test_querygym(bright_data: Path) -> None:
    files = sorted((bright_data / "rewrites" / "querygym").rglob("*.json"))
    assert files
    for path in files:
        found = read_reported(path)
        assert {(value.dataset, value.task, value.decimals) for value in found.values} == {
            ("bright", "earth_science", 4)
        }
        assert "nDCG@10" in {str(value.measure) for value in found.values}

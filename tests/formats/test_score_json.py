"""BRIGHT's score JSON: what is read, and what is said about everything else."""

from __future__ import annotations

import codecs
import gzip
import json
import math
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bright_inspect.errors import UnreadableInput
from tests.formats.reading import reading, reading_codes
from tests.support import read_bytes

GOOD = {"1": {"a": 0.9, "b/c d.txt": -5}, "q 2": {"é": 7e-3}}
GOOD_SCORES = {("1", "a"): 0.9, ("1", "b/c d.txt"): -5.0, ("q 2", "é"): 0.007}


@pytest.mark.parametrize(
    ("content", "codes"),
    [
        (json.dumps(GOOD), []),
        (json.dumps(GOOD, indent=2), []),
        (json.dumps(GOOD, ensure_ascii=False), []),
        (json.dumps(GOOD, indent=2).replace("\n", "\r\n"), []),
        ("\n \t" + json.dumps(GOOD) + "\n", []),
        (codecs.BOM_UTF8 + json.dumps(GOOD).encode(), ["byte-order-mark"]),
        (json.dumps(GOOD).encode("utf-16"), ["utf-16"]),
        (gzip.compress(json.dumps(GOOD).encode(), mtime=0), []),
        (json.dumps({**GOOD, "3": {}}), []),
    ],
    ids=[
        "plain",
        "indented",
        "not escaped",
        "CRLF",
        "blanks around",
        "BOM",
        "UTF-16",
        "gz",
        "a query without documents",
    ],
)
@pytest.mark.parametrize("name", ["score.json", "scores.txt", "gpt4_score", "run.trec"])
def test_the_same_scores_however_they_are_written(
    tmp_path: Path, content: bytes | str, codes: list[str], name: str
) -> None:
    table = read_bytes(tmp_path, content, name)
    assert table.scores == GOOD_SCORES
    assert {given_rank for *_, given_rank in table.rows} == {None}
    assert reading_codes(table) == codes
    assert (table.read.format, table.read.tag) == ("score-json", None)


@pytest.mark.parametrize(
    "text",
    [
        '"quoted"',
        "it's",
        "back\\slash",
        "100%",
        "{brace}",
        "[1]",
        "new\nline",
        "tab\t",
        "",
        " ",
        "👩‍💻",
        "\x01",
        "日本",
        "null",
    ],
)
def test_ids_whole(tmp_path: Path, text: str) -> None:
    table = read_bytes(tmp_path, json.dumps({text: {text: 1, "other": 2.5}}))
    assert table.scores == {(text, text): 1.0, (text, "other"): 2.5}
    assert reading(table) == ()


@pytest.mark.parametrize(
    ("value", "code"),
    [
        ('"0.5"', "bad-score"),
        ("true", "bad-score"),
        ("null", "bad-score"),
        ("[1]", "bad-score"),
        ('{"x": 1}', "bad-score"),
        ("NaN", "nan-score"),
    ],
)
def test_a_value_that_is_no_score_is_left_out_and_named(tmp_path: Path, value: str, code: str) -> None:
    table = read_bytes(tmp_path, f'{{"1": {{"a": 0.5, "bad doc": {value}, "c": {value}}}}}')
    assert table.scores == {("1", "a"): 0.5}
    (finding,) = reading(table)
    assert (finding.code, finding.severity, finding.count, finding.line) == (code, "error", 2, None)
    assert "1 / bad doc" in finding.message


@pytest.mark.parametrize(("value", "score"), [("Infinity", math.inf), ("-Infinity", -math.inf), ("1e400", math.inf)])
def test_infinite_scores_are_kept_and_reported(tmp_path: Path, value: str, score: float) -> None:
    table = read_bytes(tmp_path, f'{{"1": {{"a": 0.5, "b": {value}}}}}')
    assert table.scores == {("1", "a"): 0.5, ("1", "b"): score}
    assert reading_codes(table) == ["infinite-score"]


def test_scores_beyond_float32(tmp_path: Path) -> None:
    table = read_bytes(tmp_path, '{"1": {"a": 1e39, "b": -1e40, "c": 123456789012345678901234567890}}')
    assert table.scores == {("1", "a"): 1e39, ("1", "b"): -1e40, ("1", "c"): 123456789012345678901234567890.0}
    assert reading(table) == ()


@pytest.mark.parametrize("value", ["null", "[]", '["a", "b"]', '"text"', "1", "[[1, 2]]"])
def test_a_query_without_scores_is_left_out_and_named(tmp_path: Path, value: str) -> None:
    table = read_bytes(tmp_path, f'{{"1": {{"a": 0.5}}, "query 2": {value}}}')
    assert table.scores == {("1", "a"): 0.5}
    if value == "[]":
        assert reading(table) == ()
    else:
        (finding,) = reading(table)
        assert (finding.code, finding.severity, finding.count) == ("query-without-scores", "error", 1)
        assert "query 2" in finding.message


def test_a_query_that_comes_twice_has_both_lists(tmp_path: Path) -> None:
    table = read_bytes(tmp_path, '{"1": {"a": 0.5}, "2": {"a": 1}, "1": {"b": 0.25}}')
    assert table.scores == {("1", "a"): 0.5, ("1", "b"): 0.25, ("2", "a"): 1.0}
    (finding,) = reading(table)
    assert (finding.code, finding.count) == ("repeated-query", 1)
    assert "First: 1" in finding.message


def test_a_document_that_comes_twice_keeps_its_best_score(tmp_path: Path) -> None:
    table = read_bytes(tmp_path, '{"1": {"a": 0.5, "b": 0.7, "a": 0.9, "b": 0.1}}')
    assert table.scores == {("1", "a"): 0.9, ("1", "b"): 0.7}
    (finding,) = reading(table)
    assert (finding.code, finding.count) == ("duplicate-document", 2)
    assert "query 1, a" in finding.message


def test_half_a_surrogate_pair_stays_spelled_out(tmp_path: Path) -> None:
    table = read_bytes(tmp_path, r'{"1": {"\ud800x": 0.5, "\ud83d\ude00": 1}, "\udfff": {"a": 2}}')
    assert table.scores == {("1", "\\ud800x"): 0.5, ("1", "😀"): 1.0, ("\\udfff", "a"): 2.0}


def test_an_escaped_nul_in_an_id(tmp_path: Path) -> None:
    assert read_bytes(tmp_path, r'{"1": {"a\u0000b": 0.5}}').scores == {("1", "a\0b"): 0.5}


def test_bytes_that_are_not_utf8_stay_apart_and_are_reported(tmp_path: Path) -> None:
    table = read_bytes(tmp_path, b'{"1": {"caf\xe9": 0.5,\n "caf\xe8": 1}}')
    assert table.scores == {("1", "caf\\xe9"): 0.5, ("1", "caf\\xe8"): 1.0}
    (finding,) = reading(table)
    assert (finding.code, finding.line, finding.count) == ("invalid-utf8", 1, 2)


TEXT = json.dumps({"1": {"a": 0.5, "b": 0.25}, "2": {"é": 0.5}}, indent=1, ensure_ascii=False)


@pytest.mark.parametrize("cut", range(2, len(TEXT) - 1, 7))
def test_a_cut_file_says_at_which_byte(tmp_path: Path, cut: int) -> None:
    with pytest.raises(UnreadableInput, match=r"ends in mid-value at byte (\d+)") as caught:
        read_bytes(tmp_path, TEXT[:cut])
    place = int(str(caught.value).split("at byte ")[1].split(".")[0])
    assert 0 < place <= len(TEXT[:cut].encode())
    line = str(caught.value).split(":")[1]
    assert line.isdigit()
    assert 1 <= int(line) <= TEXT[:cut].count("\n") + 1


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("{}", "an empty JSON object"),
        ("{ }\n", "an empty JSON object"),
        ("[]", "an empty JSON list, not a run"),
        ('[{"query": {"qid": "1"}, "candidates": []}]', "no entry lists a document"),
        ('{"NDCG@10": 0.27, "MAP@10": 0.2, "MRR": 0.3}', "metrics (NDCG@10, MAP@10, MRR, ...), not a run"),
        ('{"1": "a"}', "a JSON object of texts"),
        ('{"1": {}}', "no usable score"),
        ('{"1": {"a": "x"}}', "no usable score"),
        ('{"1": {"a": NaN}}', "no usable score"),
        ('{"standard": {"1": {"a": 1}}}', "more levels than a run has"),
        ('{"mteb_model_meta": {"model_name": "m"}, "default": {"standard": {"1": {"a": "x"}}}}', "MTEB predictions"),
        ('{"1": {"a": 1}} {"2": {"a": 1}}', "not valid JSON (Extra data) at byte 16"),
        ('{"1": {"a": 1,,}}', "not valid JSON"),
        ("{'1': {'a': 1}}", "not valid JSON"),
        ('{"1": {"a": 1}, "é": x}', "at byte 22"),
        ("[" * 200_000, "nested too deeply"),
        ('{"1": {"a": ' + "1" * 5000 + "}}", "thousands of digits"),
    ],
)
def test_json_that_is_no_run(tmp_path: Path, content: str, said: str) -> None:
    with pytest.raises(UnreadableInput) as caught:
        read_bytes(tmp_path, content, "score.json")
    message = str(caught.value)
    assert said in message
    assert message.startswith(str(tmp_path / "score.json"))
    assert "\n" not in message


@pytest.mark.parametrize(
    ("name", "decoy"),
    [("we[1]rd.json", "we1rd.json"), ("s*.json", "ss.json"), ("s?.json", "ss.json"), ('it\'s "é".json', "its.json")],
)
@pytest.mark.parametrize("odd", [False, True], ids=["regular", "odd"])
def test_exactly_the_named_file_is_read(tmp_path: Path, name: str, decoy: str, odd: bool) -> None:
    (tmp_path / decoy).write_text('{"1": {"decoy": 1}}')
    table = read_bytes(tmp_path, '{"1": {"right": 1' + (', "bad": null' if odd else "") + "}}", name)
    assert [doc_id for _, doc_id in table.scores] == ["right"]


# Without @: a single document called P@5 makes a file of metrics.
ANY_ID = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="@"), max_size=8)
NUMBERS = st.floats(allow_nan=False, allow_infinity=False) | st.integers(-(10**18), 10**18)
RUNS = st.dictionaries(ANY_ID, st.dictionaries(ANY_ID, NUMBERS, min_size=1, max_size=5), min_size=1, max_size=4)


@settings(deadline=None, max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(run=RUNS, escaped=st.booleans(), indent=st.sampled_from([None, 2]))
def test_what_is_written_is_read(
    tmp_path: Path, run: dict[str, dict[str, float]], escaped: bool, indent: int | None
) -> None:
    table = read_bytes(tmp_path, json.dumps(run, ensure_ascii=escaped, indent=indent), "score.json")
    assert table.scores == {(q, d): float(score) for q, docs in run.items() for d, score in docs.items()}
    assert reading(table) == ()

"""The odd-file table (FORMATS G.7, H and E.1): each file written as it lies on a disk, read and scored by the program,
and by the conventions of other tools, whose values were measured on the same bytes.

Measured with trec_eval 9.0.4, pytrec-eval-terrier 0.5.11, ir_measures 0.4.3, ranx 0.3.21 and beir 2.2.0; for
trec_eval 10.0 the table of FORMATS H stands.
"""

from __future__ import annotations

import gzip
import math
from pathlib import Path

import pytest

from bright_inspect.domain.measures import parse_measure
from bright_inspect.errors import BrightInspectError, UnreadableInput
from bright_inspect.evaluation.conventions import ListedDoc, QueryCase, find_convention
from tests.support import example, opened_runs, scores_of, write_bright, write_trec

SECOND = 1 / math.log2(3)  # the gold at rank 2
RUN = "1 Q0 a 1 0.9 t\n1 Q0 b 2 0.5 t\n"
GOLD = "1 0 a 1\n"
FIVE_GOLDS = "".join(f"1 0 g{number} 1\n" for number in range(1, 6))
TIED = "1 Q0 a 1 1.0 t\n1 Q0 b 2 1.0 t\n1 Q0 c 3 1.0 t\n"


def ten(gold_rank: int) -> str:
    """Ten documents, of which one is a gold."""
    return "".join(
        f"1 Q0 {'g1' if rank == gold_rank else f'x{rank}'} {rank} {1 - rank / 100} t\n" for rank in range(1, 11)
    )


# Run, judgments, our mean nDCG@10, and the codes of the findings.
FILES: dict[str, tuple[str | bytes, str | bytes, float, set[str]]] = {
    "all tied, a is gold": (TIED, GOLD, 0.5, set()),
    "all tied, b is gold": (TIED, "1 0 b 1\n", SECOND, set()),
    "all tied, c is gold": (TIED, "1 0 c 1\n", 1.0, set()),
    "linear gain": ("1 Q0 b 1 2 t\n1 Q0 a 2 1 t\n", "1 0 a 3\n1 0 b 1\n", 0.7967, set()),
    "negative judgment": ("1 Q0 bad 1 2 t\n1 Q0 a 2 1 t\n", "1 0 bad -1\n1 0 a 1\n", SECOND, {"negative-relevance"}),
    "an exclusion": ("1 Q0 bad 1 2 t\n1 Q0 a 2 1 t\n", "1 0 bad -100\n1 0 a 1\n", 1.0, {"excluded-by-relevance"}),
    "one of five golds at 1": (ten(1), FIVE_GOLDS, 0.3392, set()),
    "one of five golds at 2": (ten(2), FIVE_GOLDS, 0.2140, set()),
    "one of five golds at 3": (ten(3), FIVE_GOLDS, 0.1696, set()),
    "float32 pair": ("1 Q0 a 1 0.123456781 t\n1 Q0 b 2 0.123456780 t\n", GOLD, SECOND, set()),
    "another float32 pair": ("1 Q0 a 1 0.876543219 t\n1 Q0 b 2 0.876543210 t\n", GOLD, SECOND, set()),
    "docid with a space": ("1 Q0 a 1 0.9 t\n1 Q0 torch/Memory Management_1.txt 2 0.5 t\n", GOLD, 1.0, set()),
    "gold with a space": (
        "1 Q0 torch/Memory Management_1.txt 1 0.9 t\n1 Q0 b 2 0.5 t\n", "1\t0\ttorch/Memory Management_1.txt\t1\n", 1.0,
        set(),
    ),
    "missing query": ("1 Q0 a 1 0.9 t\n", "1 0 a 1\n2 0 b 1\n", 0.5, {"missing-query"}),
    "only grade 0, and missing": (
        "q1 Q0 a 1 0.9 t\nq2 Q0 a 1 0.9 t\n", "q1 0 a 1\nq2 0 a 0\nq3 0 a 1\n", 1 / 3, {"missing-query"},
    ),
    "duplicate document": ("1 Q0 a 1 0.9 t\n1 Q0 b 2 0.7 t\n1 Q0 a 3 0.5 t\n", GOLD, 1.0, {"duplicate-document"}),
    "duplicate judgment": (RUN, "1 0 a 1\n1 0 a 1\n1 0 c 1\n", 1 / (1 + SECOND), {"repeated-judgment"}),
    "BOM in the run": (b"\xef\xbb\xbf" + RUN.encode(), GOLD, 1.0, {"byte-order-mark"}),
    "BOM in the judgments": (RUN, b"\xef\xbb\xbf" + GOLD.encode(), 1.0, {"byte-order-mark"}),
    "CRLF": (RUN.replace("\n", "\r\n"), GOLD.replace("\n", "\r\n"), 1.0, set()),
    "CR alone": (RUN.replace("\n", "\r"), GOLD.replace("\n", "\r"), 1.0, set()),
    "UTF-16": (RUN.encode("utf-16"), GOLD, 1.0, {"utf-16"}),
    "gzip": (gzip.compress(RUN.encode(), mtime=0), gzip.compress(GOLD.encode(), mtime=0), 1.0, set()),
    "comment": ("# run of today\n" + RUN, GOLD, 1.0, {"comment-line"}),
    "blank line": (RUN.replace("t\n", "t\n\n", 1), GOLD, 1.0, set()),
    "tabs": (RUN.replace(" ", "\t"), GOLD.replace(" ", "\t"), 1.0, set()),
    "no line end": (RUN.rstrip(), GOLD.rstrip(), 1.0, set()),
    "scientific notation": ("1 Q0 a 1 9e-01 t\n1 Q0 b 2 5E-1 t\n", GOLD, 1.0, set()),
    "score abc": ("1 Q0 b 1 -1 t\n1 Q0 a 2 abc t\n", GOLD, 0.0, {"bad-score"}),
    "one decimal comma": ("1 Q0 a 1 0,9 t\n1 Q0 b 2 0.5 t\n", GOLD, 0.0, {"bad-score"}),
    "one line of 5 columns": (RUN + "1 Q0 c 3 0.4\n", GOLD, 1.0, {"too-few-columns"}),
    "NaN": ("1 Q0 x 1 nan t\n1 Q0 a 2 0.9 t\n", GOLD, 1.0, {"nan-score"}),
    "infinite": ("1 Q0 b 1 inf t\n1 Q0 a 2 0.9 t\n", GOLD, SECOND, {"infinite-score"}),
    "BEIR's rank 0": ("1 Q0 a 0 0.5 t\n1 Q0 b 0 0.9 t\n", GOLD, SECOND, set()),
    "01 is not 1": ("01 Q0 a 1 0.9 t\n1 Q0 b 1 0.9 t\n1 Q0 a 2 0.5 t\n", GOLD, SECOND, {"unknown-query"}),
    "ranks against scores": ("1 Q0 b 1 0.5 t\n1 Q0 a 2 0.9 t\n", GOLD, 1.0, set()),
    "JSON in heap order": ('{"1": {"b": 0.5, "c": 0.1, "a": 0.9}}', GOLD, 1.0, set()),
    "JSON with a document twice": ('{"1": {"a": 0.9, "b": 0.7, "a": 0.5}}', GOLD, 1.0, {"duplicate-document"}),
    "a fractional judgment": (RUN, "1 0 a 0.5\n1 0 b 1\n", SECOND, {"fractional-relevance"}),
}  # fmt: skip


def write(folder: Path, run: str | bytes, qrels: str | bytes) -> tuple[Path, Path]:
    paths = folder / ("run.json" if run[:1] in ("{", b"{") else "run.trec"), folder / "judged.txt"
    for path, content in zip(paths, (run, qrels), strict=True):
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    return paths


@pytest.mark.parametrize("name", FILES)
def test_what_the_program_makes_of_it(tmp_path: Path, name: str) -> None:
    run, qrels, value, codes = FILES[name]
    run_path, qrels_path = write(tmp_path, run, qrels)
    with opened_runs(run_path, qrels=[qrels_path]) as opening:
        (score,) = scores_of(opening)
        (check,) = scores_of(opening, engine="pytrec_eval")
        findings = opening.session.findings
    assert score.mean == pytest.approx(value, abs=5e-5)
    assert check.per_query == pytest.approx(score.per_query, abs=1e-9)
    found = {finding.code for finding in findings}
    assert codes <= found
    assert not {finding.code for finding in findings if finding.severity == "error"} - codes
    for finding in findings:
        assert "\n" not in finding.message
        assert finding.file in (str(run_path), str(qrels_path))


@pytest.mark.parametrize(
    ("name", "line", "said"),
    [
        ("duplicate document", 1, "First: query 1, a on lines 1 and 3"),
        ("comment", 1, "1 comment line(s) skipped (trec_eval 9 stops at them)"),
        ("score abc", 2, "the score is not a number (trec_eval reads 0): 1 Q0 a 2 abc t"),
        ("one decimal comma", 1, "1 Q0 a 1 0,9 t"),
        ("one line of 5 columns", 3, "1 line(s) with fewer than 6 columns left out: 1 Q0 c 3 0.4"),
        ("NaN", 1, "score NaN left out"),
        ("a fractional judgment", 1, "1 line(s) left out, their documents count as unjudged"),
        ("duplicate judgment", 2, "trec_eval stops"),
        ("BOM in the run", 1, "trec_eval takes it as part of the first query id"),
    ],
)
def test_findings_say_where_and_what(tmp_path: Path, name: str, line: int, said: str) -> None:
    run_path, qrels_path = write(tmp_path, *FILES[name][:2])
    with opened_runs(run_path, qrels=[qrels_path]) as opening:
        assert [finding.line for finding in opening.session.findings if said in finding.message] == [line]


def test_the_mean_over_answered_queries_stands_beside(tmp_path: Path) -> None:
    for name, answered in (("missing query", 1.0), ("only grade 0, and missing", 0.5)):
        run_path, qrels_path = write(tmp_path, *FILES[name][:2])
        with opened_runs(run_path, qrels=[qrels_path]) as opening:
            assert scores_of(opening)[0].mean_answered == answered


@pytest.mark.parametrize(
    ("run", "said"),
    [
        ("1 Q0 a 1 0.9\n1 Q0 b 2 0.5\n", 'lines have 5 columns, the tag is missing: "1 Q0 a 1 0.9"'),
        ("1 Q0 a 0.9 t\n1 Q0 b 0.5 t\n", 'lines have 5 columns, the score or the rank is missing: "1 Q0 a 0.9 t"'),
        ("1 Q0 b 1 0,9 t\n1 Q0 a 2 0,1 t\n", 'no score is a number: "1 Q0 b 1 0,9 t"'),
        ("1 Q0 a 1 nan t\n", 'every score is NaN: "1 Q0 a 1 nan t"'),
        ("one Q0 a 1 0.9 t\ntwo Q0 a 1 0.9 t\n", "the run has one, two; the judgments have 1."),
        ("", "the file is empty"),
        ("# nothing\n\n", "only blank lines or comments"),
        (b"\x00\x01\x02\xff", "binary data"),
        ('{"1": {"a": 0.9', "ends in mid-value at byte 15"),
        ('{"NDCG@10": 0.5}', "metrics (NDCG@10, ...), not a run"),
        (gzip.compress(RUN.encode(), mtime=0)[:-12], "damaged gzip data"),
    ],
)
def test_what_cannot_be_used_is_refused_in_one_line(tmp_path: Path, run: str | bytes, said: str) -> None:
    run_path, qrels_path = write(tmp_path, run, GOLD)
    with pytest.raises(BrightInspectError) as caught, opened_runs(run_path, qrels=[qrels_path]):
        pass
    assert isinstance(caught.value, UnreadableInput)
    assert said in str(caught.value)
    assert run_path.name in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("nothing", [["N/A"], [], None])
def test_no_exclusions_and_golds_listed_twice(tmp_path: Path, nothing: list[str] | None) -> None:
    rows = [example("0", ["a", "b", "a"], excluded=nothing), example("1", ["a"], excluded=["x"])]
    data = write_bright(tmp_path / "data", {"aops": rows})
    run = write_trec(tmp_path / "aops.trec", {"0": {"N/A": 3.0, "a": 2.0}, "1": {"x": 3.0, "a": 2.0}})
    with opened_runs(run, data=data) as opening:
        (score,) = scores_of(opening)
        assert {finding.code for finding in opening.session.findings} == {"excluded-document"}
    assert score.per_query == pytest.approx({"0": SECOND / (1 + SECOND), "1": 1.0})


# What other tools gave for the same bytes: mean nDCG@10, or "stops".
MEASURED: dict[str, dict[str, float | str]] = {
    "all tied, a is gold": {"trec_eval-9": 0.5, "beir": 0.5, "ir_measures": 0.5, "ranx": 1.0, "file-order": 1.0},
    "all tied, c is gold": {"trec_eval-9": 1.0, "beir": 1.0, "ir_measures": 1.0, "ranx": 0.5, "file-order": 0.5},
    "linear gain": {
        "trec_eval-9": 0.7967, "beir": 0.79671, "ranx": 0.796708, "exponential-gain": 0.7098, "bright": 1.0,
    },
    "negative judgment": {"trec_eval-9": 0.6309, "beir": 0.63093, "ranx": 0.63093, "sklearn": "stops"},
    "one of five golds at 1": {"ideal-from-retrieved": 1.0, "sklearn": 1.0, "trec_eval-9": 0.3392},
    "one of five golds at 2": {"ideal-from-retrieved": SECOND, "sklearn": SECOND, "trec_eval-9": 0.2140},
    "one of five golds at 3": {"ideal-from-retrieved": 0.5, "sklearn": 0.5, "trec_eval-9": 0.1696},
    "float32 pair": {"trec_eval-9": 0.6309, "trec_eval-10": 1.0, "beir": 0.63093, "ir_measures": SECOND, "ranx": 1.0},
    "another float32 pair": {
        "trec_eval-9": 0.6309, "trec_eval-10": 1.0, "bright": 0.63093, "ir_measures": SECOND, "ranx": 1.0,
    },
    "missing query": {
        "trec_eval-9": 1.0, "trec_eval-10": 0.5, "beir": 1.0, "mteb": 1.0, "bright": 1.0, "ir_measures": 0.5,
        "ranx": 0.5, "missing-dropped": 1.0,
    },
    "only grade 0, and missing": {
        "trec_eval-9": 0.5, "trec_eval-10": 0.3333, "beir": 0.5, "mteb": 0.5, "ir_measures": 1 / 3, "ranx": 1 / 3,
    },
    "duplicate document": {"trec_eval-9": "stops", "beir": 0.63093, "ir_measures": SECOND, "ranx": SECOND},
    "infinite": {"trec_eval-9": 0.6309, "beir": 0.63093, "ir_measures": SECOND, "ranx": SECOND, "sklearn": "stops"},
    "NaN": {"trec_eval-9": "undefined", "ranx": 1.0, "sklearn": "stops"},
    "BEIR's rank 0": {"trec_eval-9": 0.6309, "beir": 0.63093, "ranx": SECOND, "file-order": 1.0},
    "01 is not 1": {"trec_eval-9": 0.6309, "beir": 0.63093},
    "ranks against scores": {"trec_eval-9": 1.0, "beir": 1.0, "ranx": 1.0, "file-order": SECOND},
}  # fmt: skip


def cases_of(run: str, qrels: str) -> list[QueryCase]:
    """The lines of plain files as they stand, for every judged query."""
    listed: dict[str, list[ListedDoc]] = {}
    for query_id, _, doc_id, rank, score, _ in (line.split() for line in run.splitlines()):
        listed.setdefault(query_id, []).append(ListedDoc(doc_id, float(score), int(rank)))
    judged: dict[str, dict[str, int]] = {}
    for query_id, _, doc_id, relevance in (line.split() for line in qrels.splitlines()):
        judged.setdefault(query_id, {})[doc_id] = int(relevance)
    return [
        QueryCase(query_id, tuple(listed[query_id]) if query_id in listed else None, relevance)
        for query_id, relevance in judged.items()
    ]


@pytest.mark.parametrize(
    ("file", "name", "expected"),
    [(file, name, value) for file, tools in MEASURED.items() for name, value in tools.items()],
)
def test_what_other_tools_make_of_it(file: str, name: str, expected: float | str) -> None:
    run, qrels, ours, _ = FILES[file]
    assert isinstance(run, str)
    assert isinstance(qrels, str)
    cases, measure = cases_of(run, qrels), parse_measure("nDCG@10")
    convention = find_convention(name)
    mean = convention.mean(measure, cases)
    if isinstance(expected, str):
        assert (mean.value, mean.counted) == (None, 0)
        assert expected in {convention.query_value(measure, case).outcome for case in cases}
        return
    assert mean.value == pytest.approx(expected, abs=5.1e-5)
    assert find_convention("bright-inspect").mean(measure, cases).value == pytest.approx(ours, abs=5e-5)

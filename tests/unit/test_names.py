"""What paths say about the runs in them: every path of the shared data, and the layouts of FORMATS A.6 and E."""

from __future__ import annotations

from pathlib import Path

import pytest

from bright_inspect.domain.names import RunName, describe_path, normalised_task, parse_run_argument
from bright_inspect.errors import UsageError

# (path, system, variant, task, long)
PATHS: list[tuple[str, str | None, str | None, str | None, bool | None]] = [
    ("outputs/earth_science_bm25_gpt4_reason_long_False/score.json", "bm25", "gpt4_reason", "earth_science", False),
    ("outputs/earth_science_bm25_gpt4_reason_long_False/results.json", "bm25", "gpt4_reason", "earth_science", False),
    ("outputs/earth_science_bm25_long_False/score.json", "bm25", "original", "earth_science", False),
    ("outputs/earth_science_bm25_long_False/results.json", "bm25", "original", "earth_science", False),
    ("outputs/leetcode_bm25_gpt4_reason_long_False/score.json", "bm25", "gpt4_reason", "leetcode", False),
    ("outputs/leetcode_bm25_gpt4_reason_long_False/results.json", "bm25", "gpt4_reason", "leetcode", False),
    ("outputs/leetcode_bm25_long_False/score.json", "bm25", "original", "leetcode", False),
    ("outputs/leetcode_bm25_long_False/results.json", "bm25", "original", "leetcode", False),
    ("outputs/pony_inf_long_True/score.json", "inf", "original", "pony", True),
    ("outputs/pony_inf_long_True/results.json", "inf", "original", "pony", True),
    ("outputs/theoremqa_theorems_inf_long_False/score.json", "inf", "original", "theoremqa_theorems", False),
    ("outputs/theoremqa_theorems_inf_long_False/results.json", "inf", "original", "theoremqa_theorems", False),
    ("runs/reasonir/aops.txt", "reasonir", None, "aops", None),
    ("runs/reasonir/biology.txt", "reasonir", None, "biology", None),
    ("runs/reasonir/earth_science.txt", "reasonir", None, "earth_science", None),
    ("runs/reasonir/economics.txt", "reasonir", None, "economics", None),
    ("runs/reasonir/leetcode.txt", "reasonir", None, "leetcode", None),
    ("runs/reasonir/pony.txt", "reasonir", None, "pony", None),
    ("runs/reasonir/psychology.txt", "reasonir", None, "psychology", None),
    ("runs/reasonir/robotics.txt", "reasonir", None, "robotics", None),
    ("runs/reasonir/stackoverflow.txt", "reasonir", None, "stackoverflow", None),
    ("runs/reasonir/sustainable_living.txt", "reasonir", None, "sustainable_living", None),
    ("runs/reasonir/theoremqa_questions.txt", "reasonir", None, "theoremqa_questions", None),
    ("runs/reasonir/theoremqa_theorems.txt", "reasonir", None, "theoremqa_theorems", None),
    ("rader/aops/gpt4_score.json", "rader", "gpt4_reason", "aops", None),
    ("rader/biology/gpt4_score.json", "rader", "gpt4_reason", "biology", None),
    ("rader/earth_science/gpt4_score.json", "rader", "gpt4_reason", "earth_science", None),
    ("rader/economics/gpt4_score.json", "rader", "gpt4_reason", "economics", None),
    ("rader/leetcode/gpt4_score.json", "rader", "gpt4_reason", "leetcode", None),
    ("rader/pony/gpt4_score.json", "rader", "gpt4_reason", "pony", None),
    ("rader/psychology/gpt4_score.json", "rader", "gpt4_reason", "psychology", None),
    ("rader/robotics/gpt4_score.json", "rader", "gpt4_reason", "robotics", None),
    ("rader/stackoverflow/gpt4_score.json", "rader", "gpt4_reason", "stackoverflow", None),
    ("rader/sustainable_living/gpt4_score.json", "rader", "gpt4_reason", "sustainable_living", None),
    ("rader/theoremqa_questions/gpt4_score.json", "rader", "gpt4_reason", "theoremqa_questions", None),
    ("rader/theoremqa_theorems/gpt4_score.json", "rader", "gpt4_reason", "theoremqa_theorems", None),
    # BRIGHT's own layout (A.6), for every shape of task and model name
    ("outputs/biology_sf_long_True/score.json", "sf", "original", "biology", True),
    ("outputs/aops_inst-l_long_False/score.json", "inst-l", "original", "aops", False),
    ("/abs/outputs/theoremqa_questions_qwen2_long_False/score.json", "qwen2", "original", "theoremqa_questions", False),
    ("outputs/sustainable_living_bge_long_true/score.json", "bge", "original", "sustainable_living", True),
    ("outputs/biology_bm25_llama3-70b_reason_long_False/score.json", "bm25", "llama3-70b_reason", "biology", False),
    ("outputs/pony_bm25_claude-3-opus_reason_long_False/score.json", "bm25", "claude-3-opus_reason", "pony", False),
    # ReasonIR, DIVER and RaDeR (E.8, E.9)
    ("outputs/aops_reasonir_long_False/gpt4_score.json", "reasonir", "gpt4_reason", "aops", False),
    ("outputs/aops_reasonir_long_False/None_score.json", "reasonir", "original", "aops", False),
    ("outputs/aops_reasonir_long_False/Gemini-1.0_score.json", "reasonir", "Gemini-1.0_reason", "aops", False),
    ("BRIGHT_score_files/RaDeR-gte-Qwen2/aops/gpt4_score.json", "RaDeR-gte-Qwen2", "gpt4_reason", "aops", None),
    ("RaDeR-gte-Qwen2/pony/hybrid_BM25_Rader.json", "hybrid_BM25_Rader", None, "pony", None),
    # INF-X, PrincipleReasonRank, IELAB (E.10)
    ("output/inf-retriever/biology_inf_long_True/score.json", "inf", "original", "biology", True),
    ("runs/biology/bm25_gpt4cot_top100.txt", "bm25_gpt4cot_top100", None, "biology", None),
    ("outputs/biology_long_False/scores.json", None, "original", "biology", False),
    ("bm25_gpt4_run/pony_bm25_long_False/trec.txt", "bm25", "original", "pony", False),
    # Pyserini, Anserini and castorini (E.3): hyphens, a bright- in front
    ("bright-earth-science.txt", None, None, "earth_science", None),
    ("runs/bright-earth-science/bm25.trec", "bm25", None, "earth_science", None),
    ("run.bright-biology.bm25qs.txt", "bm25qs", None, "biology", None),
    ("qrels.bright-sustainable-living.txt", None, None, "sustainable_living", None),
    ("runs/qwen/theoremqa-questions.trec.gz", "qwen", None, "theoremqa_questions", None),
    ("runs/Earth-Science/qwen.trec", "qwen", None, "earth_science", None),
    # @ in a name is a variant
    ("bm25@demo_reason.trec", "bm25", "demo_reason", None, None),
    ("/home/me@lab/runs/bm25.trec", "bm25", None, None, None),
    ("me@lab/x/runs/score.json", "x", None, None, None),
    # a task is named near the file
    ("/home/pony/work/new/bm25.trec", "bm25", None, None, None),
    ("pony/new/bm25.trec", "bm25", None, "pony", None),
    ("runs/bm25@gpt4_reason/earth_science.txt", "bm25", "gpt4_reason", "earth_science", None),
    # nothing to tell
    ("score.json", None, None, None, None),
    ("runs/bm25.trec", "bm25", None, None, None),
    ("my results/we[1]rd run?.trec", "we[1]rd run?", None, None, None),
    ("/data/microbiology/biologyx.txt", "biologyx", None, None, None),
]  # fmt: skip


@pytest.mark.parametrize(("path", "system", "variant", "task", "long"), PATHS, ids=[row[0] for row in PATHS])
def test_path(path: str, system: str | None, variant: str | None, task: str | None, long: bool | None) -> None:
    described = describe_path(path)
    assert (described.system(), described.variant, described.task, described.long) == (system, variant, task, long)


@pytest.mark.parametrize(("typed_parts", "system", "variant"), [(1, "qwen", None), (2, "qwen", "v"), (9, "qwen", "v")])
def test_only_what_was_typed_names_a_variant(typed_parts: int, system: str, variant: str | None) -> None:
    described = describe_path("/a/lab@v/qwen.trec", typed_parts=typed_parts)
    assert (described.system(), described.variant) == (system, variant)
    assert describe_path("/a/lab@v/qwen@w.trec", typed_parts=typed_parts).variant == "w"


def test_the_table_has_every_shared_path(bright_data: Path) -> None:
    files = (file for folder in ("outputs", "runs", "rader") for file in (bright_data / folder).rglob("*"))
    here = {file.relative_to(bright_data).as_posix() for file in files if file.is_file()}
    assert here
    assert here <= {row[0] for row in PATHS}


@pytest.mark.parametrize(
    ("argument", "name", "path"),
    [
        ("a/b.trec", None, "a/b.trec"),
        ("mine=a/b.trec", RunName("mine", None), "a/b.trec"),
        ("mine@gpt4_reason=b.trec", RunName("mine", "gpt4_reason"), "b.trec"),
        ("mine@=b.trec", RunName("mine", None), "b.trec"),
        ("a/x=y.trec", None, "a/x=y.trec"),
        ("n=a=b.trec", RunName("n", None), "a=b.trec"),
        ("n=", None, "n="),
        ("=b.trec", None, "=b.trec"),
    ],
)
def test_run_argument(argument: str, name: RunName | None, path: str) -> None:
    assert parse_run_argument(argument) == (name, path)


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        (RunName("bm25", None), "bm25"),
        (RunName("bm25", "original"), "bm25"),
        (RunName("bm25", "gpt4_reason"), "bm25@gpt4_reason"),
    ],
)
def test_run_name_shown(name: RunName, shown: str) -> None:
    assert str(name) == shown


def test_run_name_in_full() -> None:
    names = [RunName("bm25", variant) for variant in (None, "original", "gpt4_reason")]
    assert [name.in_full for name in names] == ["bm25@?", "bm25@original", "bm25@gpt4_reason"]


def test_a_variant_needs_a_name() -> None:
    with pytest.raises(UsageError, match="no name before the @"):
        parse_run_argument("@gpt4_reason=b.trec")


@pytest.mark.parametrize("text", ["Earth-Science", "earth_science", " earth science ", "EARTH--SCIENCE"])
def test_task_spellings(text: str) -> None:
    assert normalised_task(text) == "earth_science"


def test_system_takes_more_parts_from_the_nearest_outwards() -> None:
    described = describe_path("lab/new/qwen/biology.txt")
    assert [described.system(parts) for parts in (1, 2, 3, 9)] == ["qwen", "new/qwen", "lab/new/qwen", "lab/new/qwen"]

"""Damaged files of every format: one line of error or a run, never a traceback, and no line lost without a word."""

from __future__ import annotations

import json
import os
import random
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from bright_inspect.errors import UnreadableInput
from bright_inspect.formats.registry import FORMATS, RunFormat
from tests.formats.reading import Run, runs_of

CASES = 180
SEED = int(os.environ.get("FUZZ_SEED", "0"))
#: One case may take this long, the 3 MB lines included.
SECONDS = 5.0
#: Formats with a document a line.
LINE_FORMATS = {"trec", "msmarco", "tevatron", "json-lines", "table"}
#: Findings whose lines are used all the same.
USED = {
    "infinite-score", "odd-rank", "byte-order-mark", "utf-16", "invalid-utf8", "nul-character", "order-is-ranking",
    "all-scores-equal", "ranks-contradict-scores", "float32-ties", "looks-like-judgments", "several-scores",
    "several-lists", "repeated-query",
}  # fmt: skip

Mutation = Callable[[random.Random, bytes], bytes]


def larger(name: str, content: bytes) -> bytes:
    """The format's example with more queries and documents, where the format is text."""
    queries = [(f"q{query}", [f"doc/{number}.txt" for number in range(4)]) for query in range(5)]
    rows = [(query, doc, 1 + rank, 9.5 - rank * 1.25) for query, docs in queries for rank, doc in enumerate(docs)]
    objects = {
        "score-json": {query: dict.fromkeys(docs, 1.5) for query, docs in queries},
        "id-lists": dict(queries),
        "mteb": {"mteb_model_meta": {}, "default": {"long": {query: {docs[0]: 1} for query, docs in queries}}},
    }  # fmt: skip
    lines = {
        "trec": "".join(f"{q} Q0 {d} {rank} {score} tag\n" for q, d, rank, score in rows),
        "msmarco": "".join(f"{q}\t{d}\t{rank}\n" for q, d, rank, _ in rows),
        "tevatron": "".join(f"{q}\t{d}\t{score}\n" for q, d, _, score in rows),
        "table": "qid,docid,score\n" + "".join(f"{q},{d},{score}\n" for q, d, _, score in rows),
        "json-lines": "".join(json.dumps({"qid": q, "docid": d, "score": score}) + "\n" for q, d, _, score in rows),
        "rank-llm": "".join(
            json.dumps({"query": {"qid": q, "text": "t"}, "candidates": [{"docid": d} for d in docs]}) + "\n"
            for q, docs in queries
        ),
    }
    if name in objects:
        return json.dumps(objects[name], indent=1).encode()
    return lines[name].encode() if name in lines else content


def flip_bytes(generator: random.Random, content: bytes) -> bytes:
    changed = bytearray(content)
    for _ in range(generator.randint(1, 4)):
        changed[generator.randrange(len(changed))] = generator.randrange(256)
    return bytes(changed)


def replace_with_punctuation(generator: random.Random, content: bytes) -> bytes:
    changed = bytearray(content)
    for _ in range(generator.randint(1, 3)):
        changed[generator.randrange(len(changed))] = generator.choice(b'"\\{}[],:\t\n\r #\0-.e')
    return bytes(changed)


def cut(generator: random.Random, content: bytes) -> bytes:
    return content[: generator.randrange(1, len(content))]


def cut_inside(generator: random.Random, content: bytes) -> bytes:
    start = generator.randrange(len(content))
    return content[:start] + content[start + generator.randint(1, 30) :]


def shuffle_lines(generator: random.Random, content: bytes) -> bytes:
    lines = content.splitlines(keepends=True)
    generator.shuffle(lines)
    return b"".join(lines)


def repeat_lines(generator: random.Random, content: bytes) -> bytes:
    lines = content.splitlines(keepends=True)
    return content + (b"" if content.endswith(b"\n") else b"\n") + b"".join(generator.choices(lines, k=3))


def swap_columns(generator: random.Random, content: bytes) -> bytes:
    lines = content.split(b"\n")
    for _ in range(3):
        at = generator.randrange(len(lines))
        separator = generator.choice([b" ", b"\t", b","])
        fields = lines[at].split(separator)
        generator.shuffle(fields)
        lines[at] = separator.join(fields)
    return b"\n".join(lines)


def other_encoding(generator: random.Random, content: bytes) -> bytes:
    text = content.decode("utf-8", "replace").replace("doc", "dôc")
    return text.encode(generator.choice(["utf-16", "utf-16-le", "utf-8-sig", "latin-1", "utf-32"]), "replace")


def odd_values(generator: random.Random, content: bytes) -> bytes:
    old = generator.choice([b"9.5", b"8.25", b"1", b"doc", b"q1", b"score", b"null"])
    new = generator.choice([b"nan", b"1e999", b"", b'""', b"-inf", b"1_0", b"null", b"[]", b"{}", b"true", b"9" * 400])
    return content.replace(old, new, generator.randint(1, 3))


def long_line(generator: random.Random, content: bytes) -> bytes:
    at = generator.randrange(len(content))
    return content[:at] + b"x" * 3_000_000 + content[at:]


MUTATIONS: tuple[Mutation, ...] = (
    flip_bytes, replace_with_punctuation, cut, cut_inside, shuffle_lines, repeat_lines, swap_columns, other_encoding,
    odd_values,
)  # fmt: skip


def account(content: bytes, runs: list[Run]) -> None:
    """Every line that is not blank is a row, a header, or counted in a finding."""
    (run,) = runs
    text = content.decode("utf-16" if content[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig", "replace")
    lines = [line for line in text.replace("\r\n", "\n").replace("\r", "\n").split("\n") if line.strip(" \t\f\v")]
    left_out = sum(finding.count for finding in run.read.findings if finding.code not in USED)
    header = run.read.format == "table"
    assert len(run.rows) + left_out + header == len(lines), run.read.findings


@pytest.mark.slow
@pytest.mark.parametrize("known", FORMATS, ids=lambda known: known.name)
def test_damaged_files(tmp_path: Path, known: RunFormat) -> None:
    name = known.name
    content = larger(name, known.content())
    generator = random.Random(f"{SEED} {name}")
    path = tmp_path / "file"
    for case in range(CASES):
        mutation = long_line if case % 60 == 0 else generator.choice(MUTATIONS)
        damaged = mutation(generator, content)
        if generator.random() < 0.2:
            damaged = generator.choice(MUTATIONS)(generator, damaged or b" ")
        path.write_bytes(damaged)
        started = time.process_time()
        runs, message = read_or_refused(path, f"{mutation.__name__}, case {case}")
        assert time.process_time() - started < SECONDS, (mutation.__name__, case)
        assert len(message.splitlines()) <= 1, (mutation.__name__, case)
        if runs and runs[0].read.format in LINE_FORMATS and not damaged.lstrip().startswith(b"["):
            account(damaged, runs)


def read_or_refused(path: Path, case: str) -> tuple[list[Run], str]:
    """The runs of a file, or why it is refused; any other error fails, and says by which case."""
    try:
        return runs_of(path), ""
    except UnreadableInput as error:
        return [], str(error)
    except Exception as error:
        raise AssertionError(f"{case}, {path.read_bytes()[:2000]!r}: {error!r}") from error

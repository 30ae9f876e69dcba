"""``judge``: what scripts rely on, and judgments that go out and come back."""

from __future__ import annotations

import csv
import io
import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from bright_inspect.judging.decisions import Decision, encode_line, text_sha256
from bright_inspect.judging.history import Log, current
from bright_inspect.judging.journal import Journal
from tests.judging.making import TASK, judged
from tests.support import command, example, process, write_bright, write_qrels, write_trec

JOURNAL = "bright-inspect.judgments.jsonl"


@pytest.fixture
def data(tmp_path: Path) -> Path:
    rows = [example("0", ["g"]), example("1", ["g"])]
    folder = write_bright(tmp_path / "data", {"biology": rows})
    (folder / "documents").mkdir()
    (folder / "documents" / "biology.jsonl").write_text('{"id": "x y", "content": "text of x"}\n')
    return folder


def lines_of(path: Path) -> list[Decision]:
    read = Journal(path).read()
    assert read.damaged == []
    return read.decisions


def said(path: Path) -> dict[str, int | None]:
    """query/document/annotator -> relevance"""
    return {
        f"{pair[2]}/{pair[3]}/{name}": line.relevance
        for pair, by in current(Log([path]).decisions).items()
        for name, line in by.items()
    }


def answers(done: subprocess.CompletedProcess[str]) -> list[dict[str, Any]]:
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_one_decision_by_options(tmp_path: Path) -> None:
    pair = ["--dataset", "bright", "--task", "Earth-Science", "--query", "6", "--doc", "a b/c.txt"]
    done = process("judge", "set", *pair, "--relevance", "2", "--annotator", "anna", "--why", "it helps", cwd=tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (0, '{"ok": 1}\n', "")
    (line,) = lines_of(tmp_path / JOURNAL)
    assert line.pair == ("bright", "earth_science", "6", "a b/c.txt")
    assert (line.relevance, line.annotator, line.why, line.query_sha256) == (2, "anna", "it helps", None)
    done = process("judge", "set", *pair, "--relevance", "x", "--annotator", "anna", cwd=tmp_path)
    assert done.returncode == 0
    assert said(tmp_path / JOURNAL) == {"6/a b/c.txt/anna": None}


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["--query", "6"], "no --doc, --relevance, --dataset, --task, --annotator."),
        (["--query", "6", "--relevance", "much"], '--relevance: relevance "much" is not a number, or x for unsure.'),
    ],
)
def test_options_that_are_missing(tmp_path: Path, arguments: list[str], text: str) -> None:
    done = process("judge", "set", *arguments, cwd=tmp_path)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert text in done.stderr
    assert not (tmp_path / JOURNAL).exists()


def test_many_on_stdin_and_bad_lines_among_them(tmp_path: Path) -> None:
    base = {"dataset": "d", "task": "t", "query_id": "0", "relevance": 1, "annotator": "anna"}
    given: list[Any] = [{**base, "doc_id": "a"}, "no JSON", {**base}, {**base, "doc_id": "b", "relevance": None}]
    given += ["", {**base, "doc_id": "c", "relevance": "high"}, {**base, "query_id": 7, "doc_id": "c"}]
    text = "".join((line if isinstance(line, str) else json.dumps(line)) + "\n" for line in given)
    done = process("judge", "set", cwd=tmp_path, input=text)
    assert done.returncode == 2
    assert done.stderr == ""
    assert answers(done) == [
        {"ok": 1},
        {"error": "a line that is no JSON", "line": 2},
        {"error": "no doc_id", "line": 3},
        {"ok": 4},
        {"error": 'relevance "high" is not a whole number from 0 to 1000, or null for unsure', "line": 6},
        {"ok": 7},
    ]
    assert said(tmp_path / JOURNAL) == {"0/a/anna": 1, "0/b/anna": None, "7/c/anna": 1}


def test_an_answer_comes_before_the_next_line_is_given(tmp_path: Path) -> None:
    where = ["--dataset", "d", "--task", "t", "--annotator", "anna"]
    with subprocess.Popen(
        [sys.executable, "-m", "bright_inspect", "judge", "set", *where],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1, cwd=tmp_path,
    ) as process:  # fmt: skip
        assert process.stdin is not None
        assert process.stdout is not None
        for number in range(1, 4):
            process.stdin.write(json.dumps({"query_id": "0", "doc_id": str(number), "relevance": 1}) + "\n")
            assert json.loads(process.stdout.readline()) == {"ok": number}
            assert len(lines_of(tmp_path / JOURNAL)) == number
        process.stdin.close()
        assert process.wait() == 0


def test_notes_and_undos_are_lines_too(tmp_path: Path) -> None:
    line = judged("a", 1)
    given = [encode_line(line).decode(), encode_line(line.undo()).decode()]
    given += [json.dumps({"kind": "note", "dataset": "d", "task": "t", "query_id": "0", "note": "odd"}) + "\n"]
    done = process("judge", "set", "--annotator", "bob", cwd=tmp_path, input="".join(given))
    assert answers(done) == [{"ok": 1}, {"ok": 2}, {"ok": 3}]
    assert said(tmp_path / JOURNAL) == {}
    assert lines_of(tmp_path / JOURNAL)[2].annotator == "bob"


def test_hashes_of_the_texts_at_hand(tmp_path: Path, data: Path) -> None:
    where: list[str | Path] = ["--dataset", "bright", "--task", "biology", "--annotator", "anna", "--data", data]
    given = [{"query_id": "0", "doc_id": "x y", "relevance": 1}, {"query_id": "1", "doc_id": "g", "relevance": 1}]
    given += [{"query_id": "9", "doc_id": "g", "relevance": 1}]
    done = process("judge", "set", *where, cwd=tmp_path, input="".join(json.dumps(line) + "\n" for line in given))
    assert answers(done)[2] == {"error": "bright/biology has no query 9", "line": 3}
    first, second = lines_of(tmp_path / JOURNAL)
    assert (first.query_sha256, first.doc_sha256) == (text_sha256("question 0"), text_sha256("text of x"))
    assert (second.query_sha256, second.doc_sha256) == (text_sha256("question 1"), None)


def test_the_fixed_judgments_are_reproduced(tmp_path: Path, bright_data: Path) -> None:
    """The four documents that castorini's fixed qrels add for earth_science, judged one after the other."""
    qrels = [bright_data / "qrels" / f"qrels.bright-earth-science{fixed}.txt" for fixed in ("", ".fixed")]
    before, after = ({tuple(line.split("\t")[::2]) for line in path.read_text().splitlines()} for path in qrels)
    added = sorted(after - before)
    assert [query_id for query_id, _ in added] == ["6", "6", "7", "7"]
    given = "".join(json.dumps({"query_id": query, "doc_id": doc, "relevance": 1}) + "\n" for query, doc in added)
    where = ["--dataset", "bright", "--task", "earth_science", "--annotator", "anna"]
    assert process("judge", "set", *where, cwd=tmp_path, input=given).returncode == 0
    run: list[str | Path] = [
        bright_data / "runs" / "reasonir" / "earth_science.txt",
        "--data",
        bright_data / "bright",
        "--json",
    ]

    def scored(*options: str | Path) -> dict[str, Any]:
        done = process("eval", *run, "--per-query", *options, cwd=tmp_path)
        assert done.returncode == 0
        result: dict[str, Any] = json.loads(done.stdout)["results"][0]
        return result

    mine, fixed = scored("--layer", "mine:anna"), scored("--qrels", qrels[1])
    assert mine["layer"] == "mine:anna"
    assert mine["per_query"] == pytest.approx(fixed["per_query"], abs=1e-12)
    assert mine["mean"] == pytest.approx(fixed["mean"], abs=1e-12)
    assert f"{mine['mean']:.4f}" == "0.4341"
    assert f"{scored()['mean']:.4f}" == "0.4300"


@pytest.fixture
def journal(tmp_path: Path) -> Path:
    """A journal with everything in it that a line can hold."""
    path = tmp_path / "full.jsonl"
    first = judged("x y", 2, note='two\r\nlines, "quoted"', why="ü\r", tags=("a,b", "c"), evidence=("bm25 1",))
    second = judged("g", 0, query_id="1", query_sha256="0" * 64, doc_sha256="1" * 64, others={"mood": [1, None]})
    unsure, bobs = judged("z", None), judged("x y", 1, "bob", repeat=True)
    note = Decision(*TASK, "0", None, "anna", kind="note", note="=1+1\n")
    tag = Decision(*TASK, "0", "g", "anna", kind="tag", tags=("odd\x00",))
    skip = Decision(*TASK, "1", "z", "bob", kind="skip", tool="")
    Journal(path).append(first, second, unsure, bobs, note, tag, skip, second.undo(), unsure.undo().undo())
    return path


@pytest.mark.parametrize("wanted", ["jsonl", "csv"])
def test_a_round_trip_loses_nothing(tmp_path: Path, journal: Path, wanted: str) -> None:
    out, back = tmp_path / f"out.{wanted}", tmp_path / "back.jsonl"
    done = command("judge", "export", "--journal", journal, "--format", wanted, "--out", out)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    done = command("judge", "import", out, "--journal", back)
    assert (done.returncode, done.stderr) == (0, f"{back}: 9 line(s) added, 0 there already.\n")
    assert back.read_bytes() == journal.read_bytes()
    done = command("judge", "import", out, "--journal", back)
    assert done.stderr == f"{back}: 0 line(s) added, 9 there already.\n"
    assert back.read_bytes() == journal.read_bytes()
    printed = command("judge", "export", "--journal", journal, "--format", wanted, "--annotator", "bob", "--current")
    assert printed.stdout.count("\n") == (2 if wanted == "jsonl" else 3)


def test_a_round_trip_by_qrels(tmp_path: Path, journal: Path) -> None:
    out, back = tmp_path / "biology.txt", tmp_path / "back.jsonl"
    Journal(journal).append(judged("g", 0, query_id="1"))
    export: list[str | Path] = ["judge", "export", "--journal", journal, "--format", "trec"]
    done = command(*export, "--annotator", "anna", "--out", out)
    assert done.stderr.startswith("left out: 1 pair(s) of which nobody is sure")
    assert out.read_text() == "0 0 x y 2\n1 0 g 0\n"
    assert command("judge", "import", out, "--annotator", "anna", "--journal", back).returncode == 0
    assert said(back) == {"0/x y/anna": 2, "1/g/anna": 0}
    assert command(*export, "--out", out).returncode == 2, "it is there"
    done = command(*export)
    assert "qrels are of one judge, the decisions are of: anna, bob." in done.stderr
    done = command(*export, "--layer", "only:majority")
    assert done.stdout == "0 0 x y 1\n1 0 g 0\n"


def test_qrels_merged_with_the_data(tmp_path: Path, journal: Path, data: Path) -> None:
    export: list[str | Path] = [
        "judge",
        "export",
        "--journal",
        journal,
        "--format",
        "trec",
        "--layer",
        "graded:mine:anna",
    ]
    done = command(*export, "--data", data)
    assert done.stdout == "0 0 g 1\n0 0 x y 2\n1 0 g 1\n"
    done = command(*export)
    assert done.returncode == 2
    assert "no judgments of bright/biology at hand to merge with." in done.stderr
    merged = tmp_path / "biology.merged.txt"
    merged.write_text("0 0 g 1\n0 0 x y 2\n1 0 g 1\n")
    run = write_trec(tmp_path / "biology.trec", {"0": {"x y": 2.0, "g": 1.0}, "1": {"z": 1.0}})
    layers: list[str | Path] = [
        "layers",
        run,
        "--data",
        data,
        "--journal",
        journal,
        "--qrels",
        f"merged={merged}",
        "--json",
    ]
    assert json.loads(command(*layers, "--difference", "merged", "graded:anna").stdout) == []


def test_labels_of_a_model(tmp_path: Path, data: Path) -> None:
    labels = tmp_path / "labels.csv"
    labels.write_text("query_id,doc_id,relevance,model\n0,g,1,big\n0,x y,1,big\n1,g,0.0,big\n1,z,0,\n1,z,high,\n1,z\n")
    where = ["--task", "biology", "--annotator", "llm"]
    done = process("judge", "import", labels, *where, cwd=tmp_path)
    assert done.returncode == 0
    assert done.stderr.splitlines() == [
        f"{JOURNAL}: 4 line(s) added, 0 there already.",
        f'error: {labels}:6: left out: relevance "high" is not a number, or x for unsure.',
        f"error: {labels}:7: left out: 2 cells, the header has 4.",
    ]
    assert process("judge", "import", labels, *where, "--strict", cwd=tmp_path).returncode == 1
    assert len(lines_of(tmp_path / JOURNAL)) == 4, "what it says is there already"
    assert lines_of(tmp_path / JOURNAL)[0].others == {"model": "big"}
    done = process("judge", "agreement", "--gold", "--data", data, "--json", cwd=tmp_path)
    (both,) = json.loads(done.stdout)["between"]
    assert (both["first"], both["second"], both["common"], both["raw"], both["kappa"]) == ("llm", "original", 4, 0.5, 0)
    assert {(each["first"], each["second"]): each["count"] for each in both["table"]} == {
        (0, 0): 1, (0, 1): 1, (1, 0): 1, (1, 1): 1,
    }  # fmt: skip


def test_qrels_files_are_imported_as_they_are_read_elsewhere(tmp_path: Path) -> None:
    qrels = write_qrels(tmp_path / "qrels.bright-biology.txt", {"0": {"a": 1, "b": -1, "c": 0}})
    done = process("judge", "import", qrels, "--annotator", "bob", cwd=tmp_path)
    assert "1 relevance(s) below 0 are left out" in done.stderr
    assert said(tmp_path / JOURNAL) == {"0/a/bob": 1, "0/c/bob": 0}
    done = process("judge", "import", qrels, cwd=tmp_path)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "no line is a judgment. Line 1: no annotator." in done.stderr


@pytest.mark.parametrize("content", [b"", b"hello\n", b"\xff\xfe\n", b'query_id,doc_id,relevance\n"', b'{"query_id":1'])
def test_files_that_are_no_judgments(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "x.csv"
    path.write_bytes(content)
    done = process("judge", "import", path, "--annotator", "bob", "--task", "biology", cwd=tmp_path)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert str(path) in done.stderr
    assert not (tmp_path / JOURNAL).exists()


def test_status(tmp_path: Path, journal: Path, data: Path) -> None:
    with journal.open("ab") as file:
        file.write(b"damage\n")
    done = command("judge", "status", "--journal", journal)
    assert done.returncode == 0
    assert "a line that is no JSON (6 bytes); it is kept" in done.stderr
    assert f"{journal}:10" in done.stderr
    assert command("judge", "status", "--journal", journal, "--strict").returncode == 1
    rows = list(csv.DictReader(io.StringIO(command("judge", "status", "--journal", journal, "--csv").stdout)))
    assert [(row["annotator"], row["relevant"], row["not_relevant"], row["unsure"]) for row in rows] == [
        ("anna", "1", "0", "1"),
        ("bob", "1", "0", "0"),
    ]
    told = json.loads(command("judge", "status", "--journal", journal, "--data", data, "--json").stdout)
    assert [finding["code"] for finding in told["findings"]] == ["damaged-decision"]
    Journal(journal).append(judged("x y", 1, query_sha256="0" * 64, doc_sha256="1" * 64))
    told = json.loads(command("judge", "status", "--journal", journal, "--data", data, "--json").stdout)
    codes = ["damaged-decision", "query-text-differs", "document-text-differs"]
    assert [finding["code"] for finding in told["findings"]] == codes
    done = command("judge", "status", "--journal", tmp_path / "none.jsonl")
    assert (done.returncode, "none.jsonl: no such file" in done.stderr) == (2, True)
    done = command("judge", "status", "--journal", journal, "--annotator", "carl")
    assert "no decision of 'carl'. There are those of: anna, bob." in done.stderr


def test_agreement(tmp_path: Path) -> None:
    path = tmp_path / JOURNAL
    Journal(path).append(judged("a", 1), judged("a", 1, "bob"), judged("b", 2), judged("b", 0, "bob"))
    Journal(path).append(judged("c", 0), judged("c", 0, "bob"), judged("a", 0, "bob", repeat=True))
    done = process("judge", "agreement", "--conflicts", cwd=tmp_path)
    assert done.stdout.splitlines() == [
        "3 pair(s) judged by several · alpha (nominal) -0.250",
        "",
        "first  second  both judged  equal  kappa  table (first second: pairs)",
        "anna   bob               3  0.333  0.000  0 0: 1, 1 0: 2",
        "",
        "with themselves  judged twice  equal  kappa  table (before after: pairs)",
        "bob                         1  0.000  0.000  1 0: 1",
        "",
        "2 pair(s) judged differently:",
        "bright/biology 0  a  anna 1 · bob 0",
        "bright/biology 0  b  anna 1 · bob 0",
    ]
    told = json.loads(process("judge", "agreement", "--graded", "--level", "ordinal", "--json", cwd=tmp_path).stdout)
    assert (told["level"], told["pairs"], len(told["conflicts"])) == ("ordinal", 3, 2)


def test_a_journal_in_git_merges_by_lines(tmp_path: Path) -> None:
    """Two people go on from one journal; the union of the lines is theirs together."""
    path, theirs = tmp_path / "ours.jsonl", tmp_path / "theirs.jsonl"
    Journal(path).append(judged("a", 1))
    shutil.copy(path, theirs)
    Journal(path).append(judged("b", 1))
    Journal(theirs).append(judged("a", 0, "bob"))
    with path.open("ab") as file:
        file.write(b"".join(theirs.read_bytes().splitlines(keepends=True)))
    assert said(path) == {"0/a/anna": 1, "0/b/anna": 1, "0/a/bob": 0}

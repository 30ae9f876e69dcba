"""A saved session: it gives back what was saved, changes nothing, and says what is wrong with a file that is none."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import pytest

from bright_inspect.domain.rankings import QueryKey
from bright_inspect.errors import UnreadableInput, UsageError
from bright_inspect.judging.decisions import encode_line
from bright_inspect.store.documents import kept_texts, load_task_texts
from bright_inspect.store.query_view import read_query
from bright_inspect.store.saved_schema import SCHEMA_VERSION, TABLES
from tests.judging.making import judged
from tests.support import command, example, opened_runs, process, write_bright, write_qrels, write_trec
from tests.tui.small import BM25, QWEN, odd_run, small_data, small_runs

TASK = ("bright", "biology")


def answer(*arguments: str | Path) -> Any:
    done = command(*arguments, "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def alike(found: Any, wanted: Any) -> bool:
    """Equal, numbers up to the order in which they are added up."""
    if isinstance(wanted, dict):
        return found.keys() == wanted.keys() and all(alike(found[name], wanted[name]) for name in wanted)
    if isinstance(wanted, list):
        return len(found) == len(wanted) and all(alike(f, w) for f, w in zip(found, wanted, strict=True))
    return bool(found == (pytest.approx(wanted, abs=1e-12) if isinstance(wanted, float) else wanted))


def save(folder: Path, *arguments: str | Path) -> Path:
    out = folder / "saved.duckdb"
    done = command("save", *arguments, "--out", out)
    assert done.returncode == 0, done.stderr
    assert [path.name for path in folder.glob("saved*")] == ["saved.duckdb"]
    return out


@pytest.fixture
def inputs(tmp_path: Path) -> Path:
    """The folder of all inputs, which a test can take away."""
    return tmp_path / "inputs"


def small(inputs: Path) -> list[str | Path]:
    inputs.mkdir(exist_ok=True)
    return [*small_runs(inputs), "--data", small_data(inputs)]


@pytest.fixture(scope="module")
def small_saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The small runs and data, saved once for all tests that look at the file alone."""
    folder = tmp_path_factory.mktemp("saved")
    return save(folder, *small(folder / "inputs"))


@pytest.fixture
def saved(small_saved: Path, tmp_path: Path) -> Path:
    """A saved session of one's own."""
    return Path(shutil.copy(small_saved, tmp_path / small_saved.name))


COMMANDS = (("eval", "--per-query", "-m", "nDCG@10,AP@10,R@2,RR"), ("compare",), ("layers",), ("check",))


def check_round_trip(inputs: Path, arguments: list[str | Path]) -> Path:
    """Every command says the same of the saved session as of the inputs, which then are gone."""
    before = [answer(name, *arguments, *options) for name, *options in COMMANDS]
    saved = save(inputs.parent, *arguments)
    shutil.rmtree(inputs)
    shutil.rmtree(inputs.parent / "isolated" / "cache")
    for (name, *options), wanted in zip(COMMANDS, before, strict=True):
        assert alike(answer(name, saved, *options), wanted), name
    return saved


def test_round_trip(inputs: Path) -> None:
    saved = check_round_trip(inputs, small(inputs))
    explained = command("explain", saved, "--query", "biology/1")
    assert explained.returncode == 0, explained.stderr
    with opened_runs(saved) as opening:
        session = opening.session
        assert [run.label for run in session.runs] == ["qwen", "bm25"]
        assert session.baseline.label == "bm25"
        load_task_texts(session, session.cursor, TASK)
        assert kept_texts(session.cursor, TASK, ["h1", "x2"]) == {"h1": "text of h1", "x2": "text of x2"}
        view = read_query(session, session.cursor, QueryKey(*TASK, "1"))
        assert view.text == "question 1"
        assert [doc.doc_id for doc in view.rankings[0].docs if view.rankings[0]] == ["x0", "x1", "g1", "x2"]  # type: ignore[union-attr]


def test_layers_ties_and_baseline_are_the_defaults(inputs: Path) -> None:
    arguments = small(inputs)
    fixed = write_qrels(inputs / "fixed.txt", {"0": {"x0": 1}, "1": {"g1": 2}, "2": {"g2": 0}, "3": {"g3": 1}})
    options = ["--qrels", f"fixed={fixed}", "--task", "biology", "--baseline", "qwen", "--ties", "file"]
    saved = check_round_trip(inputs, [*arguments, *options])
    compared = answer("compare", saved)["results"]
    assert [(row["run"], row["baseline"]) for row in compared] == [("bm25", "qwen")]
    found = answer("eval", saved)
    assert (found["layer"], found["ties"]) == ("fixed", "file")
    other = answer("eval", saved, "--layer", "original", "--ties", "trec", "--baseline", "bm25")
    assert (other["layer"], other["ties"]) == ("original", "trec")


def test_judgments_without_a_data_set(inputs: Path) -> None:
    inputs.mkdir()
    qrels = write_qrels(inputs / "mine.txt", {"0": {"g0": 1, "x9": -100}, "1": {"x0": 1}})
    check_round_trip(inputs, [*small_runs(inputs), "--qrels", qrels, "--task", "two", "--dataset", "custom:own"])


def test_a_collection_of_files(inputs: Path) -> None:
    inputs.mkdir()
    queries, corpus = inputs / "q.tsv", inputs / "c.tsv"
    queries.write_text("0\twhy\n1\thow\n")
    corpus.write_text("g0\ttext\nx0\tother\n")
    qrels = write_qrels(inputs / "own.qrels", {"0": {"g0": 1}, "1": {"x0": 1}})
    check_round_trip(
        inputs, [*small_runs(inputs), "--queries", queries, "--qrels", qrels, "--corpus", corpus, "--task", "own"]
    )


def test_findings_and_exclusions(inputs: Path) -> None:
    inputs.mkdir()
    data = write_bright(
        inputs / "data",
        {"biology": [example("0", ["g0"], excluded=["x0"]), example("1", ["g1"]), example("9", ["g9"])]},
    )
    better = write_trec(inputs / "bm25" / "biology.trec", {"0": {"x0": 9.0, "g0": 4.0}, "1": {"x": 2.0, "g1": 2.0}})
    saved = check_round_trip(inputs, [odd_run(inputs), better, "--data", data])
    codes = {finding["code"] for finding in answer("eval", saved)["findings"]}
    assert {"bad-score", "duplicate-document", "excluded-document", "missing-query", "unknown-query"} <= codes
    rows = query(
        saved, "SELECT doc_id, rank, raw_rank FROM rankings WHERE run_id = 1 AND query_id = '0' ORDER BY raw_rank"
    )
    assert rows == [("x0", None, 1), ("g0", 1, 2)]


def test_reasons_and_several_tasks(inputs: Path) -> None:
    inputs.mkdir()
    data = small_data(inputs, tasks=("biology", "economics"))
    path = inputs / "thinker" / "biology.jsonl"
    path.parent.mkdir()
    path.write_text(
        '{"qid": "0", "docid": "g0", "score": 0.9, "response": "<think>a gold</think>yes"}\n'
        '{"qid": "1", "docid": "x0", "score": 0.2, "response": "no"}\n'
    )
    other = write_trec(inputs / "thinker" / "economics.trec", BM25)
    saved = check_round_trip(inputs, [path, other, small_runs(inputs)[1], "--data", data])
    with opened_runs(saved) as opening:
        run, _ = opening.session.runs
        assert [file.format for file in run.files] == ["json-lines", "trec"]
        view = read_query(opening.session, opening.session.cursor, QueryKey(*TASK, "0"))
        assert [(reason.thought, reason.response) for reason in view.reasons] == [("a gold", "yes")]


@pytest.mark.parametrize("layer", ["mine:anna", "majority", "only:mine:ben", "graded:mine:anna"])
def test_decisions(inputs: Path, layer: str) -> None:
    arguments = small(inputs)
    journal = inputs / "journal.jsonl"
    lines = [
        judged("x0", 2, "anna", query_id="0"),
        judged("x0", 1, "ben", query_id="0"),
        judged("g1", 0, "anna", query_id="1"),
    ]
    journal.write_bytes(b"".join(map(encode_line, lines)) + b"{broken\n")
    saved = check_round_trip(inputs, [*arguments, "--journal", journal, "--layer", layer])
    assert answer("eval", saved)["layer"] == layer
    rows = query(saved, "SELECT annotator, query_id, doc_id, relevance, line FROM decisions ORDER BY position")
    assert [row[:4] for row in rows] == [("anna", "0", "x0", 2), ("ben", "0", "x0", 1), ("anna", "1", "g1", 0)]
    assert json.loads(rows[0][4])["id"] == lines[0].id
    # A layer that was not asked for when it was saved.
    assert answer("eval", saved, "--layer", "only:mine:anna")["layer"] == "only:mine:anna"
    # Who goes on judging goes on from there.
    more = inputs.parent / "more.jsonl"
    more.write_bytes(encode_line(judged("x1", 1, "anna", query_id="1")))
    golds = {row["layer"]: row["golds"] for row in answer("layers", saved, "--journal", more)}
    assert golds["mine:anna"] == {row["layer"]: row["golds"] for row in answer("layers", saved)}["mine:anna"] + 1


def test_with_another_run_and_saved_again(inputs: Path, tmp_path: Path) -> None:
    saved = check_round_trip(inputs, small(inputs))
    own = write_trec(tmp_path / "own" / "biology.trec", QWEN)
    compared = answer("compare", own, saved)["results"]
    assert [(row["run"], row["baseline"], row["win"]) for row in compared] == [("own", "bm25", 1), ("qwen", "bm25", 1)]
    again = tmp_path / "again.duckdb"
    assert command("save", own, saved, "--out", again).returncode == 0
    saved.unlink()
    own.unlink()
    assert answer("compare", again)["results"] == compared


def query(path: Path, sql: str) -> list[Any]:
    with duckdb.connect(str(path), read_only=True) as connection:
        return connection.execute(sql).fetchall()


def test_any_client_reads_it(inputs: Path) -> None:
    saved = save(inputs.parent, *small(inputs), "--measure", "ndcg@5")
    with duckdb.connect(str(saved), read_only=True) as connection:
        told = {name: connection.execute(f"FROM {name}").fetchall() for name in TABLES}
        comments = dict(connection.execute("SELECT table_name, comment FROM duckdb_tables()").fetchall())
        silent = connection.execute("SELECT count(*) FROM duckdb_columns() WHERE comment IS NULL AND NOT internal")
        assert silent.fetchall() == [(0,)]
    assert comments == {name: table.comment for name, table in TABLES.items()}
    ((version, _, measure, layer, ties, baseline, baseline_id),) = told["settings"]
    assert (version, measure, layer, ties, baseline, baseline_id) == (
        SCHEMA_VERSION, "nDCG@5", "original", "trec", "bm25", 1,
    )  # fmt: skip
    assert told["runs"] == [(0, "qwen", "qwen", None), (1, "bm25", "bm25", None)]
    assert len(told["rankings"]) == sum(len(docs) for run in (QWEN, BM25) for docs in run.values())
    runs = {row[1]: row for row in told["inputs"] if row[0] == "run"}
    for path, (_, _, digest, size, kind) in runs.items():
        content = Path(path).read_bytes()
        assert (digest, size, kind) == (hashlib.sha256(content).hexdigest(), len(content), "trec")


def test_it_is_not_changed_and_several_programs_may_open_it(saved: Path) -> None:
    before = saved.read_bytes(), saved.stat().st_mtime_ns
    saved.chmod(0o444)
    with opened_runs(saved), duckdb.connect(str(saved), read_only=True):
        other = process("eval", saved)
        assert other.returncode == 0, other.stderr
    assert (saved.read_bytes(), saved.stat().st_mtime_ns) == before
    assert [path.name for path in saved.parent.glob("*.duckdb*")] == ["saved.duckdb"]


def test_odd_names(saved: Path, tmp_path: Path) -> None:
    other = tmp_path / "we[1]r'd %; odd.duckdb"
    saved.rename(other)
    assert answer("eval", other)["results"]
    plain = tmp_path / "no-suffix"
    other.rename(plain)
    assert answer("eval", plain)["results"]
    with pytest.raises(UsageError, match="of 2 runs cannot be named x"):
        open_session_of(f"x={plain}")
    with pytest.raises(UsageError, match="two saved sessions"):
        open_session_of(plain, Path(shutil.copy(plain, plain.with_name("b.duckdb"))))
    folder = tmp_path / "folder"
    folder.mkdir()
    plain.rename(folder / "s.duckdb")
    with pytest.raises(UnreadableInput, match=r"no run among the 1 files in it, such as s\.duckdb \(a DuckDB file\)"):
        open_session_of(folder)


def open_session_of(*runs: Path | str) -> None:
    with opened_runs(*runs):
        pass


def changed(path: Path, *statements: str) -> None:
    with duckdb.connect(str(path)) as connection:
        for statement in statements:
            connection.execute(statement)


DAMAGE: dict[str, tuple[Callable[[Path], object], str]] = {
    "cut": (lambda path: path.write_bytes(path.read_bytes()[:300_000]), "the saved session cannot be read"),
    "text": (lambda path: path.write_text("0 Q0 g0 1 2.5 t\n" * 999), "the saved session cannot be read"),
    "newer": (
        lambda path: changed(path, "UPDATE settings SET schema_version = 9, tool_version = '7.1'", "DROP TABLE tasks"),
        "saved by bright-inspect 7.1 in version 9",
    ),
    "no table": (lambda path: changed(path, "DROP TABLE qrels"), "lacks the table qrels"),
    "no column": (lambda path: changed(path, "ALTER TABLE runs DROP variant"), r"lacks the column runs\.variant"),
    "other column": (
        lambda path: changed(path, "ALTER TABLE rankings ALTER score TYPE VARCHAR"),
        r"has VARCHAR, not DOUBLE, in the column rankings\.score",
    ),
    "a view": (
        lambda path: changed(path, "DROP TABLE findings", "CREATE VIEW findings AS FROM read_text('/etc/hostname')"),
        "lacks the table findings",
    ),
    "no settings": (lambda path: changed(path, "DELETE FROM settings"), "has 0 rows of settings"),
    "odd ties": (lambda path: changed(path, "UPDATE settings SET ties = 'x'"), "ties by 'x'"),
    "odd run": (lambda path: changed(path, "DELETE FROM runs"), "its tables do not fit together"),
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_or_newer_file_is_one_line(saved: Path, damage: str) -> None:
    saved.chmod(0o644)
    change, told = DAMAGE[damage]
    change(saved)
    with pytest.raises(UnreadableInput, match=told):
        open_session_of(saved)
    done = command("eval", saved)
    assert done.returncode == 2
    assert done.stderr.startswith(f"bright-inspect: {saved}: ")
    assert (done.stdout, done.stderr.count("\n")) == ("", 1)


def test_foreign_files(tmp_path: Path) -> None:
    foreign = tmp_path / "other.duckdb"
    changed(foreign, "CREATE TABLE cats (name VARCHAR)")
    with pytest.raises(UnreadableInput, match=r"a DuckDB file, but no saved session \(tables: cats\)"):
        open_session_of(foreign)
    with duckdb.connect() as connection:
        assert connection.execute("SELECT 1").fetchall() == [(1,)]
    (tmp_path / "empty.duckdb").touch()
    with pytest.raises(UnreadableInput):
        open_session_of(tmp_path / "empty.duckdb")
    assert (tmp_path / "empty.duckdb").read_bytes() == b""


def test_a_flipped_byte_is_told_or_changes_nothing(saved: Path) -> None:
    content, wanted = saved.read_bytes(), answer("eval", saved, "--per-query")
    told = 0
    for place in range(5, len(content), len(content) // 40):
        saved.write_bytes(content[:place] + bytes([content[place] ^ 8]) + content[place + 1 :])
        done = command("eval", saved, "--per-query", "--json")
        if done.returncode:
            told += 1
            assert (done.returncode, done.stderr.count("\n")) == (2, 1), done.stderr
        else:
            assert alike(json.loads(done.stdout), wanted)
    assert told


def test_a_layer_saved_draws_no_other_run(inputs: Path, tmp_path: Path) -> None:
    inputs.mkdir()
    data = small_data(inputs, tasks=("cooking", "gardens"))
    fixed = write_qrels(inputs / "fixed.txt", {"0": {"x0": 1}})
    runs = [write_trec(inputs / name / "cooking.trec", run) for name, run in (("qwen", QWEN), ("bm25", BM25))]
    options = ["--qrels", f"fixed={fixed}", "--task", "cooking", "--layer", "original"]
    saved = save(tmp_path, *runs, "--data", data, *options)
    other = write_trec(tmp_path / "own" / "gardens.trec", QWEN)
    found = answer("eval", other, saved, "--data", data)["results"]
    assert [(row["run"], row["task"]) for row in found] == [
        ("own", "gardens"),
        ("qwen", "cooking"),
        ("bm25", "cooking"),
    ]

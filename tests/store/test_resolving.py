"""Which dataset and task a file's queries are taken for, and by what."""

from __future__ import annotations

from pathlib import Path

import pytest

from bright_inspect.domain.names import BRIGHT_TASKS
from bright_inspect.errors import BrightInspectError, UnreadableInput, UsageError
from bright_inspect.store.summary import file_summaries
from tests.support import (
    example,
    finding_codes,
    opened_runs,
    scores_of,
    table_rows,
    trec,
    write_bright,
    write_trec,
)

BIOLOGY = [example(str(number), [f"bio {number}"], golds_long=[f"page {number}"]) for number in range(4)]
ECONOMICS = [example(str(number), [f"eco {number}"]) for number in range(3)]


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return write_bright(tmp_path / "data", {"biology": BIOLOGY, "economics": ECONOMICS})


def run_of(golds: str, queries: int = 3) -> dict[str, dict[str, float]]:
    return {str(number): {"other": 2.0, f"{golds} {number}": 1.0} for number in range(queries)}


@pytest.mark.parametrize(
    "name", ["biology.trec", "x/biology_qwen_long_False/score.trec", "Biology/qwen.trec", "bright-biology.txt", "x.txt"]
)
def test_by_path_or_by_documents(tmp_path: Path, data: Path, name: str) -> None:
    with opened_runs(write_trec(tmp_path / name, run_of("bio")), data=data) as opening:
        assert opening.session.tasks == (("bright", "biology"),)
        assert finding_codes(opening) == ["missing-query"]
        (score,) = scores_of(opening, "RR")
        assert score.mean == pytest.approx(3 / 8)


def test_documents_overrule_the_path_with_a_finding(tmp_path: Path, data: Path) -> None:
    with opened_runs(write_trec(tmp_path / "biology.trec", run_of("eco")), data=data) as opening:
        assert opening.session.tasks == (("bright", "economics"),)
        (finding,) = opening.session.findings
        assert finding.code == "path-task-mismatch"
        assert "the path says bright/biology" in finding.message
        assert "scored as bright/economics" in finding.message


def test_the_option_overrules_path_and_documents(tmp_path: Path, data: Path) -> None:
    path = write_trec(tmp_path / "economics.trec", run_of("eco"))
    with opened_runs(path, data=data, task="Biology") as opening:
        assert opening.session.tasks == (("bright", "biology"),)
        assert scores_of(opening)[0].mean == 0


@pytest.mark.parametrize("name", ["biology.trec", "biology_qwen_long_True.trec", "x.trec"])
def test_long_documents_are_another_dataset(tmp_path: Path, data: Path, name: str) -> None:
    with opened_runs(write_trec(tmp_path / name, run_of("page", 4)), data=data) as opening:
        assert opening.session.tasks == (("bright-long", "biology"),)
        assert scores_of(opening, "RR")[0].mean == 0.5
        assert finding_codes(opening) == (["path-task-mismatch"] if name == "biology.trec" else [])


def test_a_run_without_any_gold_goes_by_its_path(tmp_path: Path, data: Path) -> None:
    with opened_runs(write_trec(tmp_path / "biology.trec", run_of("none", 4)), data=data) as opening:
        assert opening.session.tasks == (("bright", "biology"),)
        assert scores_of(opening)[0].mean == 0
        assert finding_codes(opening) == []


def test_the_dataset_option_chooses_among_datasets(tmp_path: Path, data: Path) -> None:
    path = write_trec(tmp_path / "biology.trec", run_of("none", 4))
    with opened_runs(path, data=data, dataset="bright-long") as opening:
        assert opening.session.tasks == (("bright-long", "biology"),)
    with opened_runs(path, data=data, dataset="bright-long", task="biology") as opening:
        assert opening.session.tasks == (("bright-long", "biology"),)


@pytest.mark.parametrize("where", ["option", "variable"])
def test_where_data_is(tmp_path: Path, data: Path, monkeypatch: pytest.MonkeyPatch, where: str) -> None:
    path = write_trec(tmp_path / "biology.trec", run_of("bio", 4))
    if where == "variable":
        monkeypatch.setenv("BRIGHT_INSPECT_DATA", str(data))
    with opened_runs(path, data=data if where == "option" else None) as opening:
        assert opening.session.tasks == (("bright", "biology"),)
        assert opening.session.unscored == ()
        assert scores_of(opening, "RR")[0].mean == 0.5


def test_a_snapshot_in_the_hugging_face_cache_is_found(
    tmp_path: Path, data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import huggingface_hub

    monkeypatch.setattr(huggingface_hub, "snapshot_download", lambda *args, **kwargs: str(data))
    with opened_runs(write_trec(tmp_path / "biology.trec", run_of("bio", 4))) as opening:
        assert scores_of(opening, "RR")[0].mean == 0.5


@pytest.mark.parametrize("name", ["biology.trec", "qwen.trec"])
def test_without_data_the_run_opens_unscored(tmp_path: Path, name: str) -> None:
    with opened_runs(write_trec(tmp_path / name, run_of("bio"))) as opening:
        key = ("bright", "biology") if name == "biology.trec" else ("custom:qwen", "qwen")
        assert opening.session.tasks == opening.session.unscored == (key,)
        assert scores_of(opening) == []
        assert finding_codes(opening) == []
        (summary,) = file_summaries(opening.session)
        assert (summary.queries, summary.rows, summary.depth) == (3, 6, (2,))


@pytest.mark.parametrize("ids", ["0", "x"])
def test_no_query_in_common(tmp_path: Path, data: Path, ids: str) -> None:
    run = {f"{ids}{number}": {"a": 1.0} for number in range(9)}
    with pytest.raises(UnreadableInput) as caught, opened_runs(write_trec(tmp_path / "biology.trec", run), data=data):
        pass
    assert f"the run has {ids}0, {ids}1, {ids}2; the judgments have 0, 1, 2." in str(caught.value)


def test_unknown_queries_are_ignored_with_a_finding(tmp_path: Path, data: Path) -> None:
    run = {**run_of("bio", 4), "99": {"bio 1": 1.0}, "98": {"x": 1.0}}
    with opened_runs(write_trec(tmp_path / "biology.trec", run), data=data) as opening:
        (finding,) = opening.session.findings
        assert (finding.code, finding.count) == ("unknown-query", 2)
        assert "98, 99" in finding.message
        assert len(scores_of(opening)[0].per_query) == 4


def test_several_tasks_in_one_file(tmp_path: Path) -> None:
    data = write_bright(
        tmp_path / "data",
        {
            "alpha": [example(f"a{number}", [f"first {number}"]) for number in range(5)],
            "beta": [example(f"b{number}", [f"second {number}"], excluded=["other"]) for number in range(5)],
        },
    )
    run = {f"a{number}": {f"first {number}": 2.0, "other": 1.0} for number in range(4)}
    run |= {f"b{number}": {"other": 2.0, f"second {number}": 1.0} for number in range(3)}
    run |= {"a4": {"nothing": 1.0}, "stray": {"nothing": 1.0}}
    with opened_runs(write_trec(tmp_path / "both.trec", run), data=data) as opening:
        assert opening.session.tasks == (("bright", "alpha"), ("bright", "beta"))
        scores = {score.task[1]: score for score in scores_of(opening, "RR")}
        assert scores["alpha"].per_query == {"a0": 1, "a1": 1, "a2": 1, "a3": 1, "a4": 0}
        assert scores["beta"].per_query == {"b0": 1, "b1": 1, "b2": 1, "b3": 0, "b4": 0}
        assert (len(scores["alpha"].answered), len(scores["beta"].answered)) == (5, 3)
        found = {finding.code: finding.count for finding in opening.session.findings}
        assert found == {"unknown-query": 1, "missing-query": 2, "excluded-document": 3}
        assert {(s.task[1], s.queries) for s in file_summaries(opening.session)} == {("alpha", 5), ("beta", 3)}
        before = {score.task: score.per_query for score in scores_of(opening)}
        theirs = {score.task: score.per_query for score in scores_of(opening, engine="pytrec_eval")}
        assert before == theirs
        opening.convert()
    with opened_runs(tmp_path / "both.trec", data=data) as opening:
        assert {score.task: score.per_query for score in scores_of(opening)} == before


def test_query_ids_of_two_tasks_in_one_file_are_an_error(tmp_path: Path, data: Path) -> None:
    both = "".join(trec(run_of(golds, queries)) for golds, queries in (("bio", 4), ("eco", 3)))
    (tmp_path / "x.trec").write_text(both.replace("other", "filler", 4))
    with opened_runs(tmp_path / "x.trec", data=data) as opening:
        (finding,) = [finding for finding in opening.session.findings if finding.code == "ambiguous-query"]
    assert (finding.severity, finding.count) == ("error", 3)
    assert "3 query id(s)" in finding.message
    assert "bright/biology, bright/economics" in finding.message
    assert "0, 1, 2" in finding.message
    assert "Split the file" in finding.message


def test_two_demo_tasks_in_one_file(tmp_path: Path) -> None:
    from bright_inspect.datasets.places import demo_source
    from bright_inspect.db import Database

    run: dict[str, dict[str, float]] = {}
    source = demo_source()
    tasks = source.tasks()["demo"][:2]
    with Database() as database:
        for task in tasks:
            for query_id, doc_id, _ in table_rows(database.cursor(), source.qrels_sql("demo", task)):
                run.setdefault(query_id, {})[doc_id] = 1.0
    with opened_runs(write_trec(tmp_path / "x.trec", run)) as opening:
        assert {task for _, task in opening.session.tasks} == set(tasks)
        assert [score.mean for score in scores_of(opening)] == pytest.approx([1.0, 1.0])


def test_a_folder_a_pattern_and_a_name(tmp_path: Path, data: Path) -> None:
    folder = tmp_path / "run[s]"
    write_trec(folder / "qwen" / "biology.trec", run_of("bio"))
    write_trec(folder / "qwen" / "economics.trec", run_of("eco"))
    (folder / "qwen" / "results.json").write_text('{"NDCG@10": 0.5}')
    (folder / "qwen" / ".hidden.trec").write_text("1 Q0 a 1 1 t\n")
    (folder / "notes.txt").write_text("no run\n")
    with opened_runs(folder, data=data) as opening:
        assert [(run.label, len(run.files)) for run in opening.session.runs] == [("qwen", 2)]
    with opened_runs(f"mine@gpt4_reason={folder / 'qwen'}", data=data) as opening:
        assert [run.label for run in opening.session.runs] == ["mine@gpt4_reason"]
    (tmp_path / "plain").mkdir()
    for name in ("biology", "economics"):
        write_trec(tmp_path / "plain" / f"{name}.trec", run_of(name[:3]))
    with opened_runs(f"{tmp_path / 'plain'}/*.trec", data=data) as opening:
        assert len(opening.session.runs[0].files) == 2
    with opened_runs(folder, folder / "qwen" / "biology.trec", data=data) as opening:
        assert [len(run.files) for run in opening.session.runs] == [2]


@pytest.mark.parametrize(
    ("argument", "said"),
    [
        ("nowhere.trec", "no such file or folder"),
        ("*.nothing", "the pattern matches no file"),
        ("empty", "no run among the 0 files"),
        ("x" * 300, "cannot be looked at"),
    ],
)
def test_arguments_that_lead_nowhere(tmp_path: Path, argument: str, said: str) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(UnreadableInput, match=said), opened_runs(tmp_path / argument):
        pass


@pytest.mark.parametrize("argument", ["~nosuchuser/x.trec", "mine=~nosuchuser/x.trec"])
def test_a_user_there_is_not(argument: str) -> None:
    with pytest.raises(UnreadableInput, match=r"~nosuchuser/x\.trec: no such user"), opened_runs(argument):
        pass


def test_what_the_users_home_is_called_says_nothing(
    tmp_path: Path, data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "biology"
    monkeypatch.setenv("HOME", str(home))
    with opened_runs(write_trec(home / "qwen.trec", run_of("none")), data=data) as opening:
        assert opening.session.tasks == (("custom:qwen", "qwen"),)
    monkeypatch.setenv("HOME", str(tmp_path))
    with opened_runs(home / "qwen.trec", data=data) as opening:
        assert opening.session.tasks == (("bright", "biology"),)


def test_a_variant_that_is_not_known_is_not_the_original(
    tmp_path: Path, data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write_trec(Path("o/biology_bm25_long_False/score.trec"), run_of("bio", 4))
    write_trec(Path("bm25/economics.trec"), run_of("eco"))
    runs = ("o/biology_bm25_long_False/score.trec", "bm25/economics.trec")
    with opened_runs(*runs, data=data, baseline="bm25@?") as opening:
        assert [run.label for run in opening.session.runs] == ["bm25@original", "bm25@?"]
        assert [run.name.variant for run in opening.session.runs] == ["original", None]
        assert opening.session.baseline is opening.session.runs[1]
    with opened_runs(runs[0], data=data) as opening:
        assert [run.label for run in opening.session.runs] == ["bm25"]


@pytest.mark.parametrize(
    ("task", "dataset", "said"),
    [("chemistry", None, "no data for task 'chemistry'"), ("biology", "mine", "of dataset mine")],
)
def test_a_task_that_is_not_at_hand(tmp_path: Path, data: Path, task: str, dataset: str | None, said: str) -> None:
    run = write_trec(tmp_path / "x.trec", run_of("bio"))
    with pytest.raises(UsageError, match=said), opened_runs(run, data=data, task=task, dataset=dataset):
        pass


@pytest.mark.parametrize("corpus", ["none", "part", "empty"])
def test_a_corpus_may_be_partial_or_absent(tmp_path: Path, data: Path, corpus: str) -> None:
    if corpus != "none":
        rows = [{"id": "bio 1", "content": "text"}] if corpus == "part" else []
        write_bright(data, {"biology": rows}, "documents")
    with opened_runs(write_trec(tmp_path / "biology.trec", run_of("bio", 4)), data=data) as opening:
        assert scores_of(opening, "RR")[0].mean == 0.5
        source = opening.session.collections.source(("bright", "biology"))
        assert source is not None
        sql = source.documents_sql("bright", "biology")
        found = None if sql is None else table_rows(opening.session.cursor, sql)
    assert found == {"none": None, "part": [("bio 1", "text")], "empty": []}[corpus]


def test_fields_that_say_there_is_nothing_are_null(tmp_path: Path) -> None:
    rows = [example("0", ["a"]), {**example("1", ["a"]), "reasoning": "empty", "gold_answer": ""}]
    rows.append({**example("2", ["a"]), "reasoning": "because", "gold_answer": "42"})
    data = write_bright(tmp_path / "data", {"biology": rows})
    run = {str(number): {"a": 1.0} for number in range(3)}
    with opened_runs(write_trec(tmp_path / "biology.trec", run), data=data) as opening:
        found = table_rows(
            opening.session.cursor, "SELECT query_id, text, reasoning, gold_answer FROM queries ORDER BY position"
        )
    assert found == [
        ("0", "question 0", None, None), ("1", "question 1", None, None), ("2", "question 2", "because", "42")
    ]  # fmt: skip


@pytest.mark.parametrize("columns", ["id VARCHAR, gold_ids VARCHAR[]", "nothing VARCHAR"])
def test_parquet_that_is_not_brights_is_one_message(tmp_path: Path, columns: str) -> None:
    import polars

    names = [column.split()[0] for column in columns.split(", ")]
    frame = polars.DataFrame({name: [["a"]] if name == "gold_ids" else ["0"] for name in names})
    (tmp_path / "data" / "examples").mkdir(parents=True)
    frame.write_parquet(tmp_path / "data" / "examples" / "biology-00000-of-00001.parquet")
    run = write_trec(tmp_path / "biology.trec", {"0": {"a": 1.0}})
    with pytest.raises(BrightInspectError, match="biology"), opened_runs(run, data=tmp_path / "data"):
        pass


@pytest.mark.parametrize("kind", ["no folder", "no examples"])
def test_a_folder_that_is_no_data(tmp_path: Path, kind: str) -> None:
    run = write_trec(tmp_path / "biology.trec", {"0": {"a": 1.0}})
    folder = tmp_path / "other"
    if kind == "no examples":
        folder.mkdir()
    with (
        pytest.raises(UnreadableInput, match="no such folder" if kind == "no folder" else "no examples"),
        opened_runs(run, data=folder),
    ):
        pass


def test_the_baseline_is_the_last_or_the_one_named(tmp_path: Path, data: Path) -> None:
    runs = [write_trec(tmp_path / name / "biology.trec", run_of("bio")) for name in ("new", "old", "mid")]
    with opened_runs(*runs, data=data) as opening:
        assert opening.session.baseline.label == "mid"
    for name in ("old", str(runs[1])):
        with opened_runs(*runs, data=data, baseline=name) as opening:
            assert opening.session.baseline.label == "old"
    with (
        pytest.raises(UsageError, match=r"no run is called 'x'\. Runs: new, old, mid"),
        opened_runs(*runs, data=data, baseline="x"),
    ):
        pass


def test_real_runs_are_known_by_their_documents(bright_data: Path, tmp_path: Path) -> None:
    for task in BRIGHT_TASKS:
        path = tmp_path / f"x{BRIGHT_TASKS.index(task)}.txt"
        path.write_bytes((bright_data / "runs" / "reasonir" / f"{task}.txt").read_bytes())
        with opened_runs(path, data=bright_data / "bright") as opening:
            assert opening.session.tasks == (("bright", task),)
            assert finding_codes(opening) == []

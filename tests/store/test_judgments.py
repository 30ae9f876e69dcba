"""Judgments given with --qrels: which runs they are for, what they replace, and which layer that is."""

from __future__ import annotations

from pathlib import Path

import pytest

from bright_inspect.datasets.places import demo_source
from bright_inspect.db import Database
from bright_inspect.errors import UnreadableInput, UsageError
from bright_inspect.store.layers import layer_changes
from tests.store.test_resolving import BIOLOGY, ECONOMICS, run_of
from tests.support import (
    ROOT,
    finding_codes,
    opened_runs,
    scores_of,
    table_rows,
    write_bright,
    write_qrels,
    write_trec,
)


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return write_bright(tmp_path / "data", {"biology": BIOLOGY, "economics": ECONOMICS})


@pytest.fixture
def fixed(tmp_path: Path) -> Path:
    """Judgments for biology that only its second query keeps."""
    return write_qrels(tmp_path / "qrels.bright-biology.fixed.txt", {"0": {"mended": 1}, "1": {"bio 1": 1}})


def test_they_replace_those_of_their_task(tmp_path: Path, data: Path, fixed: Path) -> None:
    run = write_trec(tmp_path / "biology.trec", run_of("bio", 4))
    with opened_runs(run, data=data, qrels=[fixed]) as opening:
        assert opening.session.layer == "fixed"
        assert scores_of(opening, "RR")[0].per_query == {"0": 0.0, "1": 0.5}


def test_they_are_for_their_own_task_only(tmp_path: Path, data: Path) -> None:
    runs = [write_trec(tmp_path / f"{name}.trec", run_of(name[:3])) for name in ("biology", "economics")]
    qrels = write_qrels(tmp_path / "qrels.bright-biology.txt", {"0": {"other": 1}})
    with opened_runs(*runs, data=data, qrels=[qrels]) as opening:
        scores = {score.task[1]: score.per_query for score in scores_of(opening, "RR")}
    assert scores == {"biology": {"0": 1.0}, "economics": {"0": 0.5, "1": 0.5, "2": 0.5}}


def test_they_do_not_draw_a_run_whose_path_tells_no_task(tmp_path: Path, data: Path, fixed: Path) -> None:
    runs = [write_trec(tmp_path / f"{name}.trec", run_of(name)) for name in ("eco", "bio")]
    with opened_runs(*runs, data=data, qrels=[fixed]) as opening:
        scores = {score.run.files[0].path.stem: (score.task[1], score.mean) for score in scores_of(opening, "RR")}
    assert scores == {"eco": ("economics", 0.5), "bio": ("biology", 0.25)}


@pytest.mark.parametrize("at_hand", [True, False])
def test_a_run_without_any_gold_is_said_to_be_scored_by_them(
    tmp_path: Path, data: Path, fixed: Path, at_hand: bool
) -> None:
    run = write_trec(tmp_path / "x.trec", run_of("nothing", 4))
    with opened_runs(run, data=data if at_hand else None, qrels=[fixed]) as opening:
        assert opening.session.tasks == (("bright", "biology"),)
        assert "no-gold-listed" in finding_codes(opening)
        assert scores_of(opening)[0].per_query.keys() == {"0", "1"}


def test_demo_runs_of_four_tasks_keep_them_all(tmp_path: Path) -> None:
    with Database() as database:
        rows = table_rows(database.cursor(), demo_source().qrels_sql("demo", "kitchen_science"))
    queries = sorted({query_id for query_id, _, _ in rows})
    judged = {query_id: {doc_id: 1 for q, doc_id, _ in rows if q == query_id} for query_id in queries[:3]}
    qrels = write_qrels(tmp_path / "kitchen_science.txt", judged)
    with opened_runs(ROOT / "runs", qrels=[qrels]) as opening:
        assert len(opening.session.tasks) == 4
        queries_of = {score.task[1]: len(score.per_query) for score in scores_of(opening)}
    assert sorted(queries_of.values()) == [3, 5, 5, 5]
    assert queries_of["kitchen_science"] == 3


def test_those_of_no_known_task_are_for_every_run(tmp_path: Path, data: Path) -> None:
    runs = [write_trec(tmp_path / name, {"q": {"a": 1.0}}) for name in ("one.trec", "biology.trec")]
    qrels = write_qrels(tmp_path / "mine.txt", {"q": {"a": 1}})
    for dataset, key in ((None, ("custom:mine", "mine")), ("own", ("own", "mine"))):
        with opened_runs(*runs, data=data, qrels=[qrels], dataset=dataset) as opening:
            assert opening.session.tasks == (key,)
            assert [score.mean for score in scores_of(opening)] == [1.0, 1.0]


def test_a_task_in_any_spelling(tmp_path: Path) -> None:
    run = write_trec(tmp_path / "r.trec", {"q": {"a": 1.0}})
    qrels = write_qrels(tmp_path / "mine.txt", {"q": {"a": 1}})
    with opened_runs(run, qrels=[qrels], task="My-Task") as opening:
        assert opening.session.tasks == (("custom:mine", "my_task"),)
        assert scores_of(opening)[0].mean == 1.0


def test_two_files_of_one_layer_and_task_are_an_error(tmp_path: Path, data: Path) -> None:
    run = write_trec(tmp_path / "biology.trec", run_of("bio"))
    a, b = (write_qrels(tmp_path / f"biology.{name}.txt", {"0": {"bio 0": 1}}) for name in ("a", "b"))
    with (
        pytest.raises(UsageError, match=r"two judgment files for bright/biology, layer mine: .*biology\.a"),
        opened_runs(run, data=data, qrels=[f"mine={a}", f"mine={b}"]),
    ):
        pass


def test_layers_can_be_chosen_and_changed(tmp_path: Path, data: Path, fixed: Path) -> None:
    run = write_trec(tmp_path / "biology.trec", run_of("bio", 4))
    folder = tmp_path / "layers"
    folder.mkdir()
    fixed.rename(folder / fixed.name)
    mine = write_qrels(tmp_path / "biology.txt", {"1": {"bio 1": 1, "bio 9": 1}})
    qrels: list[Path | str] = [folder, f"by me={mine}"]
    with opened_runs(run, data=data, qrels=[folder]) as opening:
        assert opening.session.layer == "fixed"  # the only one given
    values = {"original": {"0": 0.5, "1": 0.5}, "fixed": {"0": 0.0, "1": 0.5}, "by me": {"1": 0.5}}
    with opened_runs(run, data=data, qrels=qrels) as opening:
        session = opening.session
        assert session.collections.layers == ("original", "fixed", "by me")
        assert session.layer == "original"  # of several nobody knows which
        for layer in ("by me", "fixed", "original", "by me"):
            session.collections.use_layer(session.cursor, layer)
            found = scores_of(opening, "RR")[0].per_query
            assert {query_id: found[query_id] for query_id in found if query_id in "01"} == values[layer]
            assert found == scores_of(opening, "RR", "pytrec_eval")[0].per_query
    for layer in values:
        with opened_runs(run, data=data, qrels=qrels, layer=layer) as opening:
            assert opening.session.layer == layer
    with (
        pytest.raises(UsageError, match=r"no layer is called 'fxied'\. At hand: original, fixed, by me\."),
        opened_runs(run, data=data, qrels=qrels, layer="fxied"),
    ):
        pass


def test_the_layer_is_each_tasks_own(tmp_path: Path, data: Path, fixed: Path) -> None:
    runs = [write_trec(tmp_path / f"{name}.trec", run_of(name[:3])) for name in ("biology", "economics")]
    other = write_qrels(tmp_path / "economics.mine.txt", {"0": {"eco 0": 1}})
    unscored = write_trec(tmp_path / "other_place" / "pony.trec", {"0": {"x": 1.0}})
    for arguments, qrels, layer, layers in (
        (runs, [], "original", ["original", "original"]),
        (runs, [fixed], "mixed", ["fixed", "original"]),
        (runs, [fixed, other], "mixed", ["fixed", "mine"]),
        (runs[1:], [fixed], "original", ["original"]),
        ([runs[0], unscored], [fixed], "fixed", ["fixed", "original"]),
        ([unscored], [], "original", ["original"]),
    ):
        with opened_runs(*arguments, data=data, qrels=qrels) as opening:
            session = opening.session
            assert session.layer == layer
            assert [session.collections.layer_of(key) for key in session.tasks] == layers


def test_judgments_without_data_that_cannot_be_loaded_name_their_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from bright_inspect.db import DatabaseError
    from bright_inspect.store.collections import Collections

    def fail(*arguments: object) -> None:
        raise DatabaseError("no room")

    monkeypatch.setattr(Collections, "_insert_given", fail)
    run = write_trec(tmp_path / "r.trec", {"q": {"a": 1.0}})
    qrels = write_qrels(tmp_path / "mine.txt", {"q": {"a": 1}})
    with (
        pytest.raises(UnreadableInput, match=r"mine\.txt: .* cannot be read \(no room\)"),
        opened_runs(run, qrels=[qrels]),
    ):
        pass


def test_what_is_stopped_changes_no_layer(tmp_path: Path, data: Path, fixed: Path) -> None:
    run = write_trec(tmp_path / "biology.trec", run_of("bio", 4))
    with opened_runs(run, data=data, qrels=[fixed], layer="original") as opening:
        session = opening.session
        golds = table_rows(session.cursor, "SELECT * FROM qrels ORDER BY ALL")
        other = session.database.cursor()

        def stopped() -> None:
            with session.collections.using_layer(session.cursor, "fixed"):
                assert table_rows(session.cursor, "SELECT * FROM qrels ORDER BY ALL") != golds
                assert table_rows(other, "SELECT * FROM qrels ORDER BY ALL") == golds, "nobody else sees it yet"
                raise KeyError

        with pytest.raises(KeyError):
            stopped()
        assert session.layer == "original"
        assert table_rows(session.cursor, "SELECT * FROM qrels ORDER BY ALL") == golds
        with session.collections.using_layer(session.cursor, "fixed"):
            pass
        assert session.layer == "fixed"
        assert table_rows(other, "SELECT * FROM qrels ORDER BY ALL") != golds


def test_changes_against_what_counts_now(tmp_path: Path, data: Path, fixed: Path) -> None:
    run = write_trec(tmp_path / "biology.trec", run_of("bio", 4))
    with opened_runs(run, data=data, qrels=[fixed], layer="original") as opening:
        session, cursor = opening.session, opening.session.cursor
        assert layer_changes(cursor, None, "original") == []
        changes = layer_changes(cursor, None, "fixed")
        assert changes == layer_changes(cursor, "original", "fixed")
        assert ("0", "mended", None, 1) in [(c.query.query_id, c.doc_id, c.before, c.after) for c in changes]
        session.collections.use_layer(cursor, "fixed")
        back = layer_changes(cursor, None, "original")
        assert {(c.query, c.doc_id, c.before, c.after) for c in back} == {
            (c.query, c.doc_id, c.after, c.before) for c in changes
        }


def test_a_list_of_exclusions_is_no_layer(tmp_path: Path, data: Path) -> None:
    run = write_trec(tmp_path / "biology.trec", {"0": {"x": 3.0, "bio 0": 2.0}, "1": {"bio 1": 1.0}})
    exclude = tmp_path / "exclude.biology.txt"
    exclude.write_text("0 x\n", encoding="utf-8")
    with opened_runs(run, data=data, qrels=[exclude]) as opening:
        assert opening.session.collections.layers == ("original",)
        assert scores_of(opening, "RR")[0].per_query["0"] == 1.0
        assert "excluded-document" in finding_codes(opening)
    judged = write_qrels(tmp_path / "j.txt", {"0": {"bio 0": 1}})
    for qrels in ([exclude, judged], [judged, exclude]):
        with opened_runs(run, qrels=qrels, task="mine", dataset="own") as opening:
            assert scores_of(opening, "RR")[0].per_query == {"0": 1.0}

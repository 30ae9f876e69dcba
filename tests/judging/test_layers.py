"""Layers made of decisions: over the data's judgments or alone, and wherever a layer can be named."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from bright_inspect.cli.output import strict_code
from bright_inspect.errors import UnreadableInput, UsageError
from bright_inspect.judging.decisions import Decision, text_sha256
from bright_inspect.judging.hashes import TextHashes, document_mismatches
from bright_inspect.judging.history import Log
from bright_inspect.judging.journal import Journal
from bright_inspect.judging.layers import DecisionLayers, layers_of_request
from bright_inspect.store.layers import layer_counts, remake_layers
from bright_inspect.store.opening import Opening, open_session
from bright_inspect.store.request import OpenRequest
from bright_inspect.store.triage_request import TriageRequest
from tests.judging.making import TASK, judged
from tests.support import example, finding_codes, scores_of, table_rows, write_bright, write_qrels, write_trec

VOTES = {
    # document: (anna, bob, carl) -> majority, unanimous, union by grade
    "all": ((1, 2, 3), (2, 1, 3)),
    "most": ((1, 3, 0), (1, 0, 3)),
    "few": ((2, 0, 0), (0, 0, 2)),
    "none": ((0, 0, 0), (0, 0, 0)),
    "tie": ((2, 0, None), (None, 0, 2)),
    "unsure": ((None, None, None), (None, None, None)),
}
LINES = [
    judged(doc_id, relevance, annotator)
    for doc_id, (said, _) in VOTES.items()
    for annotator, relevance in zip(("anna", "bob", "carl"), said, strict=True)
]


def overlay(layer: str, lines: list[Decision] = LINES) -> dict[str, int]:
    found = DecisionLayers(lines).overlay(TASK, layer)
    assert found is not None
    return {doc_id: relevance for (_, doc_id), relevance in found.judgments.items()}


@pytest.mark.parametrize(("place", "rule"), enumerate(["majority", "unanimous", "union"]))
def test_rules(place: int, rule: str) -> None:
    graded = {doc_id: wanted[place] for doc_id, (_, wanted) in VOTES.items()}
    wanted = {doc_id: grade for doc_id, grade in graded.items() if grade is not None}
    assert overlay(f"graded:{rule}") == wanted
    assert overlay(rule) == {doc_id: min(grade, 1) for doc_id, grade in wanted.items()}


def test_names() -> None:
    layers = DecisionLayers([*LINES, judged("x", 1, "union")])
    assert layers.names(TASK) == ("mine:anna", "mine:bob", "mine:carl", "mine:union", "majority", "unanimous", "union")
    assert layers.names(("bright", "pony")) == ()
    assert DecisionLayers([judged("x", 1)]).names(TASK) == ("mine:anna",)
    assert overlay("anna") == overlay("mine:anna") == {"all": 1, "most": 1, "few": 1, "none": 0, "tie": 1}
    assert overlay("graded:only:anna") == overlay("only:graded:mine:anna")
    assert overlay("mine:union", [*LINES, judged("x", 1, "union")]) == {"x": 1}
    assert overlay("mine", [judged("x", 2)]) == {"x": 1}
    for name in ("mine", "dora", "mine:dora", "only:", "graded:original", ""):
        assert layers.overlay(TASK, name) is None
    found = layers.overlay(TASK, "only:majority")
    assert found is not None
    assert found.alone


@pytest.fixture
def data(tmp_path: Path) -> Path:
    rows = [example("0", ["g", "h"]), example("1", ["g"])]
    folder = write_bright(tmp_path / "data", {"biology": rows, "pony": [example("0", ["p"])]})
    (folder / "documents").mkdir()
    (folder / "documents" / "biology.jsonl").write_text('{"id": "g", "content": "text of g"}\n')
    return folder


@pytest.fixture
def run(tmp_path: Path) -> Path:
    return write_trec(tmp_path / "biology.trec", {"0": {"x": 3.0, "g": 2.0, "y": 1.0}, "1": {"x": 2.0, "g": 1.0}})


@pytest.fixture
def journal(tmp_path: Path) -> Path:
    path = tmp_path / "j.jsonl"
    lines = [judged("x", 2), judged("g", 0), judged("y", None), judged("x", 0, "bob"), judged("y", 1, "bob")]
    Journal(path).append(*lines)
    return path


@contextmanager
def opened(
    run: Path, data: Path | None, *journals: Path, layer: str | None = None, qrels: tuple[str, ...] = (), **task: str
) -> Iterator[Opening]:
    request = OpenRequest((str(run),), data, qrels=qrels, layer=layer, journals=journals, **task)  # type: ignore[arg-type]
    opening = open_session(request, made=layers_of_request(request))
    try:
        yield opening
    finally:
        opening.session.close()


def judgments(opening: Opening) -> dict[str, int]:
    """query/document -> relevance that counts"""
    rows = table_rows(opening.session.cursor, "SELECT query_id, doc_id, relevance FROM qrels ORDER BY ALL")
    return {f"{query_id}/{doc_id}": relevance for query_id, doc_id, relevance in rows}


LAYERS = {
    "original": {"0/g": 1, "0/h": 1, "1/g": 1},
    "mine:anna": {"0/g": 0, "0/h": 1, "0/x": 1, "1/g": 1},
    "graded:anna": {"0/g": 0, "0/h": 1, "0/x": 2, "1/g": 1},
    "only:mine:anna": {"0/g": 0, "0/x": 1},
    "mine:bob": {"0/g": 1, "0/h": 1, "0/x": 0, "0/y": 1, "1/g": 1},
    "majority": {"0/g": 0, "0/h": 1, "0/y": 1, "1/g": 1},
    "unanimous": {"0/g": 0, "0/h": 1, "0/x": 0, "0/y": 1, "1/g": 1},
    "only:graded:union": {"0/g": 0, "0/x": 2, "0/y": 1},
}


@pytest.mark.parametrize("layer", LAYERS)
def test_a_layer_by_name(run: Path, data: Path, journal: Path, layer: str) -> None:
    with opened(run, data, journal, layer=layer) as opening:
        assert opening.session.layer == layer
        assert judgments(opening) == LAYERS[layer]
        found = scores_of(opening)[0].per_query
        assert found == pytest.approx(scores_of(opening, engine="pytrec_eval")[0].per_query, abs=1e-9)
    with opened(run, data, journal) as opening:
        session = opening.session
        assert session.layer == "original", "decisions count where they are asked for"
        session.collections.use_layer(session.cursor, layer)
        assert judgments(opening) == LAYERS[layer]
        assert scores_of(opening)[0].per_query == found
        session.collections.use_layer(session.cursor, "original")
        assert judgments(opening) == LAYERS["original"]


def test_layers_that_are_listed(run: Path, data: Path, journal: Path) -> None:
    with opened(run, data, journal) as opening:
        session = opening.session
        listed = ("original", "mine:anna", "mine:bob", "majority", "unanimous", "union")
        assert session.collections.layers == listed
        assert {count.layer for count in layer_counts(session.cursor)} == set(listed)
        with pytest.raises(UsageError, match=r"no layer is called 'dora'\. At hand: original, mine:anna"):
            session.collections.use_layer(session.cursor, "dora")
        assert finding_codes(opening) == []


def test_a_task_without_decisions_keeps_its_own(tmp_path: Path, data: Path, journal: Path) -> None:
    folder = tmp_path / "runs"
    write_trec(folder / "biology.trec", {"0": {"x": 1.0}, "1": {"g": 1.0}})
    write_trec(folder / "pony.trec", {"0": {"p": 1.0}})
    with opened(folder, data, journal, layer="mine:anna") as opening:
        assert opening.session.layer == "mine:anna"
        assert [score.mean for score in scores_of(opening, "RR")] == [1.0, 1.0]
    with opened(folder, data, journal, layer="only:mine:anna") as opening:
        assert opening.session.layer == "mixed"


def test_a_layer_of_a_file_goes_before(tmp_path: Path, run: Path, data: Path, journal: Path) -> None:
    qrels = write_qrels(tmp_path / "biology.txt", {"0": {"y": 1}})
    with opened(run, data, journal, layer="majority", qrels=(f"majority={qrels}",)) as opening:
        assert judgments(opening) == {"0/y": 1}
    with opened(run, data, journal, qrels=(str(qrels),)) as opening:
        assert opening.session.layer == "qrels", "the only file that was given"


def test_over_given_judgments_where_the_data_has_none(tmp_path: Path, run: Path, journal: Path) -> None:
    qrels = write_qrels(tmp_path / "biology.txt", {"0": {"y": 1}})
    with opened(run, None, journal, layer="mine:anna", qrels=(str(qrels),)) as opening:
        assert judgments(opening) == {"0/g": 0, "0/x": 1, "0/y": 1}


def test_judged_from_nothing(run: Path, journal: Path) -> None:
    with opened(run, None, journal, task="biology", dataset="bright") as opening:
        assert opening.session.tasks == (TASK,)
        assert opening.session.layer == "mine:anna"
        assert judgments(opening) == LAYERS["only:mine:anna"]


def test_the_working_folders_journal_is_read_and_told(
    run: Path, data: Path, journal: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    with opened(run, data) as opening:
        assert opening.session.collections.layers == ("original",)
    journal.rename(tmp_path / "bright-inspect.judgments.jsonl")
    with opened(run, data, layer="mine:anna") as opening:
        assert judgments(opening) == LAYERS["mine:anna"]
        (finding,) = opening.session.findings
        assert (finding.code, finding.file, finding.count) == ("journal-read", "bright-inspect.judgments.jsonl", 3)
        assert "only where --layer (on the screen: L) names a layer of them: mine:anna" in finding.message
        assert strict_code([finding], strict=True) == 0


def test_journals_that_cannot_be_used(tmp_path: Path, run: Path, data: Path, journal: Path) -> None:
    new = OpenRequest((str(run),), data, journals=(tmp_path / "none.jsonl",), triage=TriageRequest(at_once=True))
    assert layers_of_request(new) is not None
    with pytest.raises(UnreadableInput, match=r"none\.jsonl: no such file"), opened(run, data, tmp_path / "none.jsonl"):
        pass
    with journal.open("ab") as file:
        file.write(b"damage\n")
    with opened(run, data, journal, layer="mine:anna") as opening:
        assert judgments(opening) == LAYERS["mine:anna"]
        assert [finding.place for finding in opening.session.findings] == [f"{journal}:6"]


def test_several_journals_are_one(tmp_path: Path, run: Path, data: Path, journal: Path) -> None:
    other = tmp_path / "other.jsonl"
    Journal(other).append(judged("x", 1, "carl"), judged("x", 0))
    with opened(run, data, journal, other, layer="majority") as opening:
        assert judgments(opening)["0/x"] == 0, "anna's last word, bob, carl"


def test_texts_that_are_others_now(run: Path, data: Path, tmp_path: Path) -> None:
    same = {"query_sha256": text_sha256("question 0"), "doc_sha256": text_sha256("text of g")}
    other = {"query_sha256": text_sha256("question?"), "doc_sha256": text_sha256("text")}
    path = tmp_path / "j.jsonl"
    Journal(path).append(judged("g", 1, **same))
    with opened(run, data, path) as opening:
        assert finding_codes(opening) == []
    Journal(path).append(judged("g", 1, **other), judged("unknown", 1, **other), judged("g", 1, query_id="9", **other))
    with opened(run, data, path) as opening:
        (finding,) = opening.session.findings
        assert (finding.code, finding.count) == ("query-text-differs", 1)
        hashes = TextHashes(opening.session.cursor, opening.session.collections)
        (finding,) = document_mismatches(Log([path]).decisions, TASK, hashes.documents(TASK))
        assert (finding.code, finding.count, "g" in finding.message) == ("document-text-differs", 1, True)
    Journal(path).append(judged("g", 1, **same))
    with opened(run, data, path) as opening:
        assert finding_codes(opening) == ["query-text-differs"], "of query 9: the other was judged again"
        assert document_mismatches(Log([path]).decisions, TASK, {"g": same["doc_sha256"]}) != []


def test_decisions_made_while_a_session_is_open(run: Path, data: Path, journal: Path) -> None:
    """The same values as a session that is opened after them, documents nobody judged before included."""
    path = journal
    with opened(run, data, path, layer="mine:anna") as opening:
        session = opening.session
        opening.convert()
        log = Log([path])
        lines = [judged("x", 1, query_id="1"), judged("y", 1), judged("g", 1), judged("x", 3, "carl", query_id="1")]
        Journal(path).append(*lines)
        assert len(log.follow()) == 4
        remake_layers(session, session.cursor, DecisionLayers(log.decisions))
        found = {layer: scores_in(opening, layer) for layer in session.collections.layers}
        assert session.layer == "union"
    for layer, scores in found.items():
        with opened(run, data, path, layer=layer) as opening:
            assert scores_in(opening, layer) == scores
            assert set(opening.session.collections.layers) == set(found)
    assert "mine:carl" in found
    assert len({tuple(scores.items()) for scores in found.values()}) > 2


def scores_in(opening: Opening, layer: str) -> dict[str, float]:
    opening.session.collections.use_layer(opening.session.cursor, layer)
    return scores_of(opening)[0].per_query


def test_excluded_documents_that_are_judged_later_have_no_rank(tmp_path: Path) -> None:
    data = write_bright(tmp_path / "data", {"biology": [example("0", ["g"], excluded=["e"])]})
    run = write_trec(tmp_path / "biology.trec", {"0": {"e": 4.0, "x": 3.0, "g": 2.0}})
    path = tmp_path / "j.jsonl"
    Journal(path).append(judged("q", 1))
    with opened(run, data, path) as opening:
        log, session = Log([path]), opening.session
        Journal(path).append(judged("x", 1), judged("e", 1))
        log.follow()
        remake_layers(session, session.cursor, DecisionLayers(log.decisions))
        scores = scores_in(opening, "mine:anna")
    with opened(run, data, path) as opening:
        assert scores_in(opening, "mine:anna") == scores


def test_a_layer_whose_last_decision_is_undone_gives_way(run: Path, data: Path, tmp_path: Path) -> None:
    line, path = judged("x", 1), tmp_path / "j.jsonl"
    Journal(path).append(line)
    with opened(run, data, path, layer="only:anna") as opening:
        session = opening.session
        stopped = DecisionLayers([line, line.undo()])
        with pytest.raises(KeyError), session.collections.remaking_layers(session.cursor, stopped):
            raise KeyError
        assert (session.layer, judgments(opening)) == ("only:anna", {"0/x": 1})
        remake_layers(session, session.cursor, stopped)
        assert (session.layer, judgments(opening)) == ("original", LAYERS["original"])

"""What counts of a journal's lines: last words, undos of any depth, notes and tags."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from bright_inspect.judging.counts import count_decisions
from bright_inspect.judging.decisions import Decision
from bright_inspect.judging.history import (
    CONFLICT,
    alive,
    conflicts,
    current,
    notes,
    settled_by,
    skipped,
    tags,
    undoable,
    votes_of,
)
from tests.judging.making import TASK, judged


def said(lines: list[Decision]) -> dict[tuple[str, str], int | None]:
    """(document, annotator) -> relevance"""
    return {(pair[3], name): line.relevance for pair, by in current(lines).items() for name, line in by.items()}


def test_the_last_word_counts() -> None:
    lines = [judged("a", 1), judged("a", 0, "bob"), judged("b", 2), judged("a", None)]
    assert said(lines) == {("a", "anna"): None, ("a", "bob"): 0, ("b", "anna"): 2}
    assert {pair[3]: votes for pair, votes in votes_of(lines).items()} == {"a": {"bob": 0}, "b": {"anna": 2}}


def test_undo_of_any_depth() -> None:
    first, second = judged("a", 1), judged("a", 0)
    lines = [first, second]
    assert said([*lines, second.undo()]) == {("a", "anna"): 1}
    assert said([*lines, second.undo(), first.undo()]) == {}
    undo = second.undo()
    redo = undo.undo()
    assert said([*lines, undo, redo]) == {("a", "anna"): 0}
    assert said([*lines, undo, redo, redo.undo()]) == {("a", "anna"): 1}
    assert said([undo, *lines]) == {("a", "anna"): 1}, "in a file that was put together otherwise"


def test_a_long_chain_of_undos() -> None:
    lines = [judged("a", 1)]
    for _ in range(5000):
        lines.append(lines[-1].undo())
    assert said(lines) == {("a", "anna"): 1}
    assert said(lines[:-1]) == {}
    assert said(lines[::-1]) == {("a", "anna"): 1}


def test_nobody_takes_back_what_others_said() -> None:
    line = judged("a", 1)
    assert said([line, line.undo("bob")]) == {("a", "anna"): 1}


def test_undos_in_a_ring_end() -> None:
    one, two = (judged("a", 1).undo() for _ in "ab")
    one, two = replace(one, undoes=two.id), replace(two, undoes=one.id)
    itself = replace(one, id="x", undoes="x")
    assert said([judged("b", 1), one, two, itself]) == {("b", "anna"): 1}


@given(st.lists(st.tuples(st.integers(0, 3), st.booleans(), st.integers(0, 20)), max_size=20))
def test_undo_of_undo_against_a_simple_account(steps: list[tuple[int, bool, int]]) -> None:
    lines: list[Decision] = []
    for document, is_undo, which in steps:
        lines.append(lines[which % len(lines)].undo() if is_undo and lines else judged(str(document), 1))
    dead: set[str] = set()
    for line in reversed(lines):  # an undo comes behind what it takes back
        if line.undoes is not None and line.id not in dead:
            dead.add(line.undoes)
    assert [line.id for line in alive(lines)] == [
        line.id for line in lines if line.kind == "judgment" and line.id not in dead
    ]


def test_what_is_undone_next() -> None:
    first, other, second = judged("a", 1), judged("c", 1, "bob"), judged("b", 1)
    lines = [first, other, second]
    assert undoable(lines, "anna") == second
    lines.append(second.undo())
    assert undoable(lines, "anna") == first
    assert undoable(lines, "bob") == other
    assert undoable(lines, "carl") is None


def test_notes_and_tags() -> None:
    on_query = Decision(*TASK, "0", None, "anna", kind="note", note="odd")
    on_doc = Decision(*TASK, "0", "a", "anna", kind="note", note="first")
    lines = [on_query, on_doc, replace(on_doc, id="2", note="second"), replace(on_doc, id="3", annotator="bob")]
    subject = (*TASK, "0", "a")
    assert notes(lines) == {(*TASK, "0", None): {"anna": "odd"}, subject: {"anna": "second", "bob": "first"}}
    lines += [replace(on_doc, id="4", note=""), lines[-1].undo()]
    assert notes(lines) == {(*TASK, "0", None): {"anna": "odd"}}
    tag = Decision(*TASK, "0", "a", "anna", kind="tag", tags=("gap", "fun"))
    lines = [
        tag,
        replace(tag, id="2", annotator="bob", tags=("gap",)),
        replace(tag, id="3", kind="untag", tags=("fun",)),
    ]
    assert tags(lines) == {subject: {"gap": frozenset({"anna", "bob"})}}
    assert tags([*lines, lines[2].undo()]) == {subject: {"gap": frozenset({"anna", "bob"}), "fun": frozenset({"anna"})}}
    assert tags([judged("a", 1, tags=("t",))]) == {subject: {"t": frozenset({"anna"})}}
    assert said(lines) == {}


def test_skips() -> None:
    skip = Decision(*TASK, "0", "a", "anna", kind="skip")
    assert skipped([skip], "anna") == {(*TASK, "0", "a")}
    assert skipped([skip], "bob") == set()
    assert skipped([skip, judged("a", 1)], "anna") == set()
    assert said([judged("a", 1), skip]) == {("a", "anna"): 1}


def test_a_conflict_is_settled_until_somebody_judges_again() -> None:
    lines = [judged("a", 1), judged("a", 0, "bob"), judged("b", 1), judged("b", 2, "bob")]
    assert {pair[3] for pair in conflicts(lines)} == {"a"}
    assert settled_by(lines, "bob") == set()  # judged last, but not knowing of the other
    lines.append(judged("a", 0, "bob", evidence=("bm25 3", f"{CONFLICT}: anna 1, bob 0")))
    assert {pair[3] for pair in settled_by(lines, "bob")} == {"a"}
    assert settled_by(lines, "anna") == set()
    assert settled_by([*lines, judged("a", 2)], "bob") == set()
    assert settled_by([*lines, lines[-1].undo()], "bob") == set()


def test_counts() -> None:
    line = judged("a", 1)
    lines = [line, judged("b", 0), judged("b", 2), judged("c", None), judged("d", 1), judged("a", 0, "bob"), line]
    lines.append(lines[4].undo())
    anna, bob = count_decisions(lines)
    assert (anna.annotator, anna.relevant, anna.not_relevant, anna.unsure, anna.undos) == ("anna", 2, 0, 1, 1)
    assert (bob.relevant, bob.not_relevant, bob.last) == (0, 1, lines[5].time)

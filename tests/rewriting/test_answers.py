"""What of an answer is the rewrite: thinking told apart, whole answers only."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bright_inspect.domain.writing import End, Piece
from bright_inspect.rewriting.answers import Draft, NoRewrite, Rewrite, answered, split_thinking


@pytest.mark.parametrize(
    ("content", "text", "thinking"),
    [
        ("plain", "plain", ""),
        ("<think>\nhm\n</think>\n\nanswer ", "answer", "hm"),
        ("<think>a</think>one <think>b</think>two", "one two", "a\n\nb"),
        ("hm\n</think>\nanswer", "answer", "hm"),  # the template had the tag that opens
        ("<think>never closed", "", "never closed"),
        ("answer <think>never closed", "answer", "never closed"),
        ("<think></think>answer", "answer", ""),
        ("a < b and <thinking> of it", "a < b and <thinking> of it", ""),
        ("", "", ""),
    ],
)
def test_thinking_is_told_apart(content: str, text: str, thinking: str) -> None:
    assert split_thinking(content) == (text, thinking)


@given(st.text(alphabet="<think>/ab "), st.integers(1, 5))
def test_pieces_cut_anywhere_are_the_same_answer(content: str, step: int) -> None:
    parts = [Piece(content[start : start + step]) for start in range(0, len(content), step)]
    draft = answered(iter([*parts, End("stop")]))
    assert (draft.text, draft.reasoning) == split_thinking(content)


def test_a_tag_that_is_not_whole_yet_is_not_shown() -> None:
    shown = []
    draft = Draft()
    for piece in ("<th", "ink>hm</thi", "nk>answer <", " b"):
        draft.add(Piece(piece))
        shown.append((draft.text, draft.reasoning))
    assert shown == [("", ""), ("", "hm</thi"), ("answer", "hm"), ("answer < b", "hm")]


def test_both_kinds_of_thinking_are_kept() -> None:
    draft = answered(iter([Piece("apart", True), Piece("<think>inside</think>text"), End("stop", {"tokens": 3})]))
    assert draft.rewrite() == Rewrite("text", "apart\n\ninside", "stop", {"tokens": 3})


@pytest.mark.parametrize(
    ("parts", "problem", "again"),
    [
        ([Piece("a b c"), End("length")], "cut at the limit of tokens, after 3 words of text and 0 of thinking", False),
        ([Piece("<think>a b"), End("length")], "after 0 words of text and 2 of thinking", False),
        ([Piece("a"), End("content_filter")], "ended for another reason than being done: content_filter", True),
        ([Piece(" \n"), End("stop")], "the answer is empty.", True),
        ([Piece("hm", True), End("stop")], "the answer is empty after thinking.", True),
        ([Piece("a")], "broken off", True),
    ],
)
def test_what_is_no_rewrite(parts: list[Piece | End], problem: str, again: bool) -> None:
    with pytest.raises(NoRewrite) as raised:
        answered(iter(parts)).rewrite()
    assert problem in raised.value.message
    assert raised.value.hint
    assert raised.value.again is again


def test_a_hundred_thousand_characters_are_read_at_every_piece() -> None:
    draft = Draft()
    draft.add(Piece("<think>" + "thought " * 6000 + "</think>" + "<think></think>word " * 3000))
    began = time.perf_counter()
    for _ in range(20):
        assert draft.text
        assert draft.reasoning
    assert time.perf_counter() - began < 1.0

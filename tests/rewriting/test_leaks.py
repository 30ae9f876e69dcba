"""Words in a row that a rewrite shares with a gold and the query has not: all of them, as long as they are."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from bright_inspect.rewriting.leaks import Leak, find_leaks
from bright_inspect.rewriting.words import normalised_words
from tests.rewriting.real import EarthScience

PASSAGE = "basalt flows cool slowly under ice and so form pillars that geologists call columns"


def quoted(original: str, rewrite: str, gold: str) -> list[tuple[str, str, int]]:
    return [
        (rewrite[leak.start : leak.end], gold[leak.gold_start : leak.gold_end], leak.words)
        for leak in find_leaks(original, rewrite, {"g": gold}).leaks
    ]


def test_case_and_marks_do_not_count() -> None:
    gold = f"Before it. {PASSAGE}. After it"
    rewrite = "We know: Basalt flows\ncool — slowly, under *ice* and so FORM pillars! The end"
    theirs = "basalt flows cool slowly under ice and so form pillars"
    ours = "Basalt flows\ncool — slowly, under *ice* and so FORM pillars"
    assert quoted("why?", rewrite, gold) == [(ours, theirs, 10)]


def test_seven_words_are_none_and_the_query_is_no_leak() -> None:
    words = PASSAGE.split()
    assert quoted("", " ".join(words[:7]), PASSAGE) == []
    assert quoted("", " ".join(words[:8]), PASSAGE) == [(" ".join(words[:8]), " ".join(words[:8]), 8)]
    assert quoted(PASSAGE, PASSAGE, PASSAGE) == []
    # The query quotes the first nine words: what is left are the runs of eight that it has not.
    (leak,) = quoted(" ".join(words[:9]), PASSAGE, PASSAGE)
    assert leak[0] == " ".join(words[2:])


def test_the_longest_place_in_a_gold_and_both_sides_of_a_stretch() -> None:
    words = PASSAGE.split()
    gold = " ".join([*words[:8], "other", *words[2:12], "other", *words])
    assert quoted("", f"x {PASSAGE} y", gold) == [(PASSAGE, PASSAGE, len(words))]
    first, second = " ".join(words[:10]), " ".join(words[1:])
    found = quoted("", PASSAGE, f"{first} | {second}")
    assert [text for text, _, _ in found] == [first, second], "neither goes on further"
    overlapping = quoted("", PASSAGE, f"{' '.join(words[:9])} | {' '.join(words[3:])}")
    assert [text for text, _, _ in overlapping] == [" ".join(words[:9]), " ".join(words[3:])]


def test_golds_without_a_text_are_counted() -> None:
    found = find_leaks("", PASSAGE, {"a": PASSAGE, "b": None, "c": "other"})
    assert (found.coverage, found.words) == ("2 of 3", 8)
    assert [(leak.gold_id, leak.start, leak.end) for leak in found.leaks] == [("a", 0, len(PASSAGE))]
    assert find_leaks("", "", {}).leaks == ()


@settings(max_examples=100, deadline=None)
@given(*[st.lists(st.sampled_from("abc"), max_size=14) for _ in range(3)])
def test_leaks_are_those_that_comparing_all_places_finds(
    original: list[str], rewrite: list[str], gold: list[str]
) -> None:
    length = 2
    texts = [" ".join(words) for words in (original, rewrite, gold)]
    leaks = find_leaks(texts[0], texts[1], {"g": texts[2]}, words=length).leaks
    known = {tuple(original[place : place + length]) for place in range(len(original) - length + 1)}
    runs = {tuple(gold[place : place + length]) for place in range(len(gold) - length + 1)} - known
    covered = set()
    for leak in leaks:
        words = normalised_words(texts[1][leak.start : leak.end])
        assert words == normalised_words(texts[2][leak.gold_start : leak.gold_end])
        assert len(words) == leak.words >= length
        first = leak.start // 2
        covered |= set(range(first, first + leak.words - length + 1))
    wanted = {place for place in range(len(rewrite) - length + 1) if tuple(rewrite[place : place + length]) in runs}
    assert covered == wanted
    assert len({(leak.start, leak.end) for leak in leaks}) == len(leaks)


def test_a_long_rewrite_of_loops_ends() -> None:
    gold = "a b c d e f g h i a b c d e f x " * 2_000
    found = find_leaks("", "a b c d e f g h i " * 1_000, {"g": gold})
    assert max(leak.words for leak in found.leaks) == 15


def test_real_golds(earth: EarthScience) -> None:
    """GPT-4 reasoned without the documents, and knows some of their sentences all the same."""
    flagged: list[Leak] = []
    for pair in earth.pairs:
        golds = {gold: earth.documents.get(gold) for gold in pair.golds}
        found = find_leaks(pair.original, pair.rewrite, golds)
        flagged += found.leaks
        for leak in found.leaks:
            gold = golds[leak.gold_id]
            assert gold is not None
            assert normalised_words(pair.rewrite[leak.start : leak.end]) == normalised_words(
                gold[leak.gold_start : leak.gold_end]
            )
    assert len(flagged) == 18

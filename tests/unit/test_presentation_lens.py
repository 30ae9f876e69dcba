"""The Lens screen's words and tables, and a trace's outline, without a terminal."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from bright_inspect.domain.rankings import QueryKey, RankReason
from bright_inspect.presentation.cells import Cell
from bright_inspect.presentation.lens import document_change_lines, term_columns, term_rows
from bright_inspect.presentation.lens_words import as_one, leak_rows, side_by_side, words_line
from bright_inspect.presentation.traces import (
    find_all,
    folded_text,
    group_ends,
    hidden_parts,
    outline_rows,
    traces_of,
)
from bright_inspect.rewriting.added_terms import AddedTerm
from bright_inspect.rewriting.leaks import find_leaks
from bright_inspect.rewriting.term_changes import DocumentChange, TermChange
from bright_inspect.rewriting.traces import outline
from bright_inspect.rewriting.word_change import compare_words
from bright_inspect.store.query_view import QueryView


def text(cell: Cell) -> str:
    return "".join(span.text for span in cell)


ORIGINAL = "Why do old bees leave? It seems odd."
REWRITE = "Question: why do old bees leave their hive?\n\nForagers are the old bees of a hive, and they die outside it."
GOLD = {"bees/1.txt": "In short, foragers are the old bees of a hive and they die outside. More.", "bees/2.txt": None}


def test_words_that_went_and_came() -> None:
    words, shared = compare_words(ORIGINAL, REWRITE), find_leaks(ORIGINAL, REWRITE, GOLD)
    assert text(words_line(words, shared, narrow=False)) == (
        "8 → 21 words (2.6 ×) · 75 % of the original’s words survive · shares a passage with golds, up to 12 words"
    )
    assert "75 % survive" in text(words_line(words, shared, narrow=True))
    removed, rewritten = side_by_side(words)
    assert all(style == "removed" for _, _, style in removed)
    kept = [REWRITE[start:end].strip() for start, end, style in rewritten if style == "strong"]
    assert "old bees leave" in " ".join(kept)
    [leak] = leak_rows(shared.leaks, REWRITE)
    assert text(leak.cells[1]).startswith("Foragers are the old bees of a hive, and they die outside")
    assert text(leak.cells[2]) == "bees/1.txt"


@given(st.text("ab c.\n", max_size=40), st.text("ab c.\n", max_size=40))
def test_both_texts_in_one(original: str, rewrite: str) -> None:
    words = compare_words(original, rewrite)
    whole, styles = as_one(words)

    def without(kind: str) -> str:
        hidden = {place for start, end, style in styles if style == kind for place in range(start, end)}
        return "".join("".join(char for place, char in enumerate(whole) if place not in hidden).split())

    assert without("removed") == "".join(rewrite.split())
    assert all(0 <= start < end <= len(whole) for start, end, _ in styles)


def test_terms_and_a_documents_sum() -> None:
    term = AddedTerm("pahoeho", ("pahoehoe",), 3, 5.25, 2, 0.002, "lava/1.txt", 4, 12.5, 1, 0)
    columns = term_columns(120, bridges=True)
    [row] = term_rows([term], columns)
    shown = {column.key: text(cell).strip() for column, cell in zip(columns, row.cells, strict=True)}
    assert shown == {
        "part": "12.500", "bar": "████████", "words": "pahoehoe ×3", "golds": "1", "others": "0", "idf": "5.25",
        "tf": "4", "share": "0.2 %", "document": "lava/1.txt",
    }  # fmt: skip
    change = DocumentChange(
        "lava/1.txt",
        3.0,
        12.5,
        (
            TermChange("pahoeho", "added", ("pahoehoe",), 4, 5.25, 2, 0.002, 0.0, 12.5),
            TermChange("lava", "removed", ("lava",), 2, 1.5, 9, 0.01, 3.0, 0.0),
        ),
    )
    heading, whole, added, removed = (text(line).split() for line in document_change_lines(change, "gpt4_reason"))
    assert heading[:2] == ["original", "gpt4_reas"]
    assert whole[:3] == ["3.000", "12.500", "+9.500"]
    assert added == ["–", "12.500", "+12.500", "+", "pahoehoe", "4", "5.2"]
    assert removed == ["3.000", "–", "−3.000", "−", "lava", "2", "1.5"]


TRACE = """<think>
First, what is asked.

Step 1: look at bees.
</think>

# Analysis

Bees leave.

## Details

They forage.

# Query

Final query: old bees
"""


def test_an_outline_is_folded_and_searched() -> None:
    parts = outline(TRACE)
    rows = outline_rows(parts, set())
    assert len(rows) == len(parts)
    assert "final: Final query: old bees" in [text(row.cells[-1]).strip() for row in rows]
    ends = group_ends(parts)
    analysis = next(number for number, part in enumerate(parts) if part.label == "# Analysis")
    assert [parts[number].label for number in range(analysis, ends[analysis])] == [
        "# Analysis", "Bees leave.", "## Details", "They forage.",
    ]  # fmt: skip
    folded = folded_text(TRACE, parts, {0, analysis}, "OLD  bees")
    assert "forage" not in folded.text
    assert "look at bees" not in folded.text
    assert [folded.text[start:end] for start, end in folded.matches] == ["old bees"]
    assert len(outline_rows(parts, {0, analysis})) == len(parts) - len(hidden_parts(parts, {0, analysis}))


@given(st.text("ab #\n.1*<>/think", max_size=60), st.sets(st.integers(0, 9)))
def test_folding_loses_no_part_that_is_open(trace: str, wanted: set[int]) -> None:
    parts = outline(trace)
    folded = {number for number in wanted if number < len(parts)}
    read = folded_text(trace, parts, folded)
    assert len(read.places) == len(parts)
    assert list(read.places) == sorted(read.places)
    hidden = hidden_parts(parts, folded)
    for number, part in enumerate(parts):
        if number not in folded | hidden:
            assert read.text.startswith(trace[part.start : part.end], read.places[number])
    assert folded_text(trace, parts, set()).text == trace


def test_words_are_found_across_blanks() -> None:
    assert find_all("a  B\nab. A b", "a b") == [(0, 4), (9, 12)]
    assert find_all("a.b axb", "a.b") == [(0, 3)]
    assert find_all("text", "  ") == []


def test_what_there_is_to_read() -> None:
    view = QueryView(
        QueryKey("bright", "pony", "1"), "asked", "because", None, (("gpt4_reason", "reasoned"),), (), (None,),
        frozenset(), False, (), (RankReason(0, "d1", "hm", "relevant"), RankReason(0, None, "", "all fine")),
    )  # fmt: skip
    assert traces_of(view) == [
        ("gpt4_reason", "reasoned"),
        ("reasoning", "because"),
        ("rank reason of d1", "<think>\nhm\n</think>\n\nrelevant"),
        ("rank reason of the list", "all fine"),
        ("query", "asked"),
    ]

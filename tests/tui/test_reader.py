"""Wrapping, and the widget that shows a long untrusted text."""

from __future__ import annotations

import itertools
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len
from textual.app import App, ComposeResult

from bright_inspect.domain.visible import visible
from bright_inspect.presentation.cells import Span
from bright_inspect.tui.strips import wrap
from bright_inspect.tui.themes import BRIGHT_DARK, THEMES, style_for
from bright_inspect.tui.widgets.reader import TextReader, flatten_ranges

TRICKY = st.sampled_from([
    "日本", "👩‍💻", "👍🏽", "☁️", "1️⃣", "e\u0301",
    "\u0301", "\u200d", "\ufe0f", "\x1b[31m", "\u202e", "\t", "\n", "\r\n", " ", "word ",
])  # fmt: skip
ANYTHING = st.text(st.characters(exclude_categories=()), max_size=12)
TEXT = st.lists(st.one_of(TRICKY, ANYTHING), max_size=20).map("".join)
ASCII_TEXT = st.text(st.sampled_from("ab c\n"), max_size=200)


def without_breaks(text: str) -> str:
    """What must survive wrapping: everything but spaces and line ends (a carriage return belongs to its line feed)."""
    return text.replace("\r\n", "").replace("\n", "").replace(" ", "")


# --- wrapping --------------------------------------------------------------------------------------------------------


@given(st.one_of(TEXT, ASCII_TEXT), st.integers(2, 30))
@settings(max_examples=400)
def test_wrapping_loses_nothing_and_fits(text: str, width: int) -> None:
    lines = wrap(text, width)
    assert without_breaks("".join(text[start:end] for start, end in lines)) == without_breaks(text)
    assert all(start <= end for start, end in lines)
    assert all(end <= start for (_, end), (start, _) in itertools.pairwise(lines))
    for start, end in lines:
        line = text[start:end]
        assert "\n" not in line
        assert cell_len(visible(line)) + 3 * line.count("\t") <= max(width, 4 if line == "\t" else 0)


@given(TEXT)
def test_wrapping_to_almost_nothing_ends(text: str) -> None:
    assert without_breaks("".join(text[start:end] for start, end in wrap(text, 0))) == without_breaks(text)


@pytest.mark.parametrize(
    ("text", "width", "expected"),
    [
        ("", 10, [""]),
        ("one two three", 7, ["one two", "three"]),
        ("one  two", 4, ["one ", "two"]),
        ("a\n\nb\n", 5, ["a", "", "b", ""]),
        ("a\r\nb\rc", 5, ["a", "b\rc"]),
        ("abcdefgh", 3, ["abc", "def", "gh"]),
        ("    indented word", 10, ["    indent", "ed word"]),
        ("日本語の文章", 5, ["日本", "語の", "文章"]),
        ("see 日本語 for", 8, ["see 日本", "語 for"]),
        ("naïve “quoted” text", 9, ["naïve", "“quoted”", "text"]),
        ("\tif x:", 6, ["\tif", "x:"]),
    ],
)
def test_wrap(text: str, width: int, expected: list[str]) -> None:
    assert [text[start:end] for start, end in wrap(text, width)] == expected


def test_overlapping_ranges_are_flattened() -> None:
    assert flatten_ranges([(0, 10, "dim"), (3, 5, "match"), (8, 99, "gold"), (4, 4, "loss")], 12) == [
        (0, 3, ("dim",)),
        (3, 5, ("dim", "match")),
        (5, 8, ("dim",)),
        (8, 10, ("dim", "gold")),
        (10, 12, ("gold",)),
    ]
    assert flatten_ranges([(-5, 2, "a"), (2, 4, "b")], 4) == [(0, 2, ("a",)), (2, 4, ("b",))]


# --- the widget ------------------------------------------------------------------------------------------------------


class ReaderApp(App[None]):
    """One reader with the screen to itself."""

    def __init__(self) -> None:
        super().__init__()
        self.reader = TextReader(empty_message="no document")

    def compose(self) -> ComposeResult:
        yield self.reader

    def on_mount(self) -> None:
        for theme in THEMES:
            self.register_theme(theme)
        self.theme = BRIGHT_DARK
        self.reader.focus()


def shown(reader: TextReader) -> list[str]:
    return [reader.render_line(y).text for y in range(reader.size.height)]


LONG_TEXT = " ".join(f"word{number}" for number in range(5_000))


async def test_keys_scroll() -> None:
    app = ReaderApp()
    async with app.run_test(size=(60, 11)) as pilot:
        reader = app.reader
        reader.set_text(LONG_TEXT)
        await pilot.pause()
        last = reader.line_count - 11
        for key, top in [
            ("down", 1), ("j", 2), ("k", 1), ("up", 0), ("up", 0), ("pagedown", 10), ("space", 20), ("pageup", 10),
            ("end", last), ("j", last), ("home", 0), ("G", last), ("g", 0),
        ]:  # fmt: skip
            await pilot.press(key)
            assert reader.scroll_y == top, key


async def test_lines_are_as_wide_as_the_reader_for_any_text() -> None:
    app = ReaderApp()
    async with app.run_test(size=(20, 10)) as pilot:
        reader = app.reader
        text = "日本 👩‍💻 e\u0301 \x1b[31mred\x1b[0m \u202e ☁️☁️☁️☁️☁️☁️☁️☁️☁️☁️ a\tb [/foo] list[int] [bold]x"
        spans = [(at, at + 1, "match") for at in range(0, len(text), 2)]
        reader.set_text(text, spans=spans)
        await pilot.pause()
        for y in range(10):
            strip = reader.render_line(y)
            assert strip.cell_length == reader.size.width
            assert cell_len(strip.text) == reader.size.width
        seen = "".join(line.strip() for line in shown(reader)).replace(" ", "")
        assert "\x1b" not in seen
        assert "␛[31mred␛[0m" in seen
        assert "[/foo]list[int][bold]x" in seen


async def test_spans_are_styled_and_tabs_expanded() -> None:
    app = ReaderApp()
    async with app.run_test(size=(40, 5)) as pilot:
        app.reader.set_text("a\tmatch here", spans=[(2, 7, "match")])
        await pilot.pause()
        strip = app.reader.render_line(0)
        assert strip.text.startswith(" a    match here")
        matched = next(segment.style for segment in strip if segment.text == "match")
        assert matched is not None
        assert matched.bgcolor == style_for("match", BRIGHT_DARK).bgcolor
        assert matched.underline


async def test_prepared_lines() -> None:
    app = ReaderApp()
    async with app.run_test(size=(40, 6)) as pilot:
        app.reader.set_lines([(Span("★ ", "gold"), Span("doc [1]")), (), (Span("its text", "dim"),)])
        await pilot.pause()
        assert [line.strip() for line in shown(app.reader)[:3]] == ["★ doc [1]", "", "its text"]
        star = next(segment.style for segment in app.reader.render_line(0) if segment.text == "★ ")
        assert star is not None
        assert star.bold


async def test_opening_at_a_place_and_coming_back() -> None:
    app = ReaderApp()
    async with app.run_test(size=(60, 11)) as pilot:
        reader = app.reader
        place = LONG_TEXT.index("word2500")
        reader.set_text(LONG_TEXT, scroll_to=place)
        await pilot.pause()
        assert any("word2500 " in line for line in shown(reader)[1:5])
        reader.scroll_to_offset(place)
        assert reader.first_visible_offset == place
        assert "word2500 " in shown(reader)[0]
        reader.set_text("short")
        reader.set_text(LONG_TEXT)
        assert reader.scroll_y == 0
        reader.scroll_to_offset(len(LONG_TEXT))
        assert reader.scroll_y == reader.line_count - 11


async def test_a_text_set_before_the_first_layout_opens_at_its_place() -> None:
    app = ReaderApp()
    app.reader.set_text(LONG_TEXT, scroll_to=LONG_TEXT.index("word3000"))
    async with app.run_test(size=(60, 11)) as pilot:
        await pilot.pause()
        assert any("word3000 " in line for line in shown(app.reader)[1:5])


async def test_resize_keeps_the_first_visible_character_in_view() -> None:
    app = ReaderApp()
    async with app.run_test(size=(60, 11)) as pilot:
        reader = app.reader
        place = LONG_TEXT.index("word2500")
        reader.set_text(LONG_TEXT)
        await pilot.pause()
        reader.scroll_to_offset(place)
        for size in [(100, 30), (33, 8), (200, 60), (60, 11)]:
            await pilot.resize_terminal(*size)
            await pilot.pause()
            assert "word2500" in shown(reader)[0], size
            assert reader.first_visible_offset == place
        await pilot.press("down")
        assert reader.first_visible_offset > place


async def test_empty_message() -> None:
    app = ReaderApp()
    async with app.run_test(size=(60, 11)) as pilot:
        await pilot.pause()
        assert [line.strip() for line in shown(app.reader) if line.strip()] == ["no document"]
        app.reader.empty_message = "[/foo]"
        await pilot.press("down", "pagedown", "end", "home")
        assert "[/foo]" in shown(app.reader)[5]
        app.reader.set_text("text")
        assert "text" in shown(app.reader)[0]
        app.reader.set_text("")
        assert app.reader.line_count == 0
        assert "[/foo]" in shown(app.reader)[5]


async def test_the_longest_texts_open_and_page() -> None:
    app = ReaderApp()
    async with app.run_test(size=(120, 34)) as pilot:
        reader = app.reader
        started = time.perf_counter()
        for text in ["x" * 231_843, "word " * 46_000, "日本語" * 70_000, "a\n" * 100_000, "\x1b" * 200_000]:
            reader.set_text(text, spans=[(0, 5, "match"), (len(text) // 2, len(text), "dim")])
            await pilot.press("pagedown", "end")
            assert reader.scroll_y == reader.line_count - 34
            assert shown(reader)[-1].strip() or text.endswith("\n")
        assert time.perf_counter() - started < 20, "not a benchmark; only far from hanging"


async def test_selecting_by_mouse_copies_what_is_shown() -> None:
    app = ReaderApp()
    async with app.run_test(size=(40, 6)) as pilot:
        app.reader.set_text("one two\x1b three\nfour\tfive six", spans=[(4, 7, "match")])
        await pilot.pause()
        await pilot.mouse_down(app.reader, offset=(5, 0))
        await pilot.hover(app.reader, offset=(12, 1))
        await pilot.mouse_up(app.reader, offset=(12, 1))
        await pilot.pause()
        selected = app.screen.get_selected_text()
        assert selected is not None
        assert selected.startswith("two␛ three\nfour    fiv")
        selection_background = app.screen.get_component_rich_style("screen--selection").bgcolor
        two = next(segment.style for segment in app.reader.render_line(0) if segment.text.startswith("two"))
        assert two is not None
        assert two.bgcolor == selection_background

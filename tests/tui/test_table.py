"""Lines of exactly the right width, and the table widget that draws them."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.style import Style
from textual.app import App, ComposeResult
from textual.events import MouseScrollDown
from textual.geometry import Region
from textual.message import Message
from textual.strip import Strip

from bright_inspect.presentation.cells import Cell, Column, Span, TableRow
from bright_inspect.tui.strips import cell_width, centred, column_at, fit, layout_columns, row_cells, strip_of
from bright_inspect.tui.themes import BRIGHT_DARK, THEMES
from bright_inspect.tui.widgets.table import LineTable

TRICKY = st.sampled_from([
    "日本", "👩‍💻", "👍🏽", "☁️", "1️⃣", "e\u0301",
    "\u0301", "\u200d", "\ufe0f", "\x1b[31m", "\u202e", "\t", "\n", "🇩🇪", " ",
])  # fmt: skip
TEXT = st.lists(st.one_of(TRICKY, st.text(st.characters(exclude_categories=()), max_size=8)), max_size=8).map("".join)
CELL = st.lists(st.builds(Span, TEXT, st.sampled_from(["", "gold", "run1"])), max_size=4).map(tuple)
COLUMN = st.builds(
    Column,
    key=st.just("column"),
    title=st.just(()),
    width=st.integers(0, 12),
    flex=st.integers(0, 3),
    align=st.sampled_from(["left", "right"]),
    elide=st.sampled_from(["end", "middle"]),
)


def plain(text: str) -> Cell:
    return (Span(text),)


def text_of(cell: Cell) -> str:
    return "".join(span.text for span in cell)


# --- strips ----------------------------------------------------------------------------------------------------------


@given(CELL, st.integers(0, 30), st.sampled_from(["left", "right"]), st.sampled_from(["end", "middle"]))
@settings(max_examples=400)
def test_a_fitted_cell_has_exactly_the_width(cell: Cell, width: int, align: str, elide: str) -> None:
    fitted = fit(cell, width, align=align, elide=elide)  # type: ignore[arg-type]
    assert sum(cell_len(span.text) for span in fitted) == width
    assert cell_len(text_of(fitted)) == width, "joined by the terminal it must measure the same"
    assert strip_of(fitted, lambda _: Style()).cell_length == width


@given(CELL, st.integers(0, 40))
def test_a_centred_cell_has_exactly_the_width(cell: Cell, width: int) -> None:
    assert sum(cell_len(span.text) for span in centred(cell, width)) == width


@given(st.lists(COLUMN, max_size=6), st.integers(0, 80))
def test_columns_fill_the_width_and_never_exceed_it(columns: list[Column], available: int) -> None:
    widths = layout_columns(columns, available)
    gaps = max(0, len(columns) - 1)
    least = sum(column.width for column in columns) + gaps
    assert len(widths) == len(columns)
    if least <= available:
        expected = available if any(column.flex for column in columns) else least
        assert sum(widths) + gaps == expected
        assert all(width >= column.width for width, column in zip(widths, columns, strict=True))
    else:
        assert all(width <= column.width for width, column in zip(widths, columns, strict=True))


@given(st.lists(COLUMN, max_size=6), st.integers(0, 80), st.lists(CELL, max_size=6))
def test_a_row_has_exactly_the_width(columns: list[Column], available: int, cells: list[Cell]) -> None:
    line = row_cells(cells, columns, layout_columns(columns, available), available)
    assert sum(cell_len(span.text) for span in line) == available


def test_flexible_columns_share_in_proportion() -> None:
    columns = [Column("a", (), 4), Column("b", (), 2, flex=1), Column("c", (), 2, flex=3)]
    assert layout_columns(columns, 4 + 2 + 2 + 2 + 40) == [4, 12, 32]
    assert layout_columns(columns, 8) == [4, 2, 0]
    assert layout_columns(columns, 3) == [3, 0, 0]


def test_column_at() -> None:
    assert [column_at([3, 0, 2], x) for x in range(8)] == [0, 0, 0, None, None, 2, 2, None]


@pytest.mark.parametrize(
    ("text", "width", "elide", "expected"),
    [
        ("ozone_layer", 11, "end", "ozone_layer"),
        ("ozone_layer", 6, "end", "ozone…"),
        ("ozone_layer", 7, "middle", "ozo…yer"),
        ("ozone_layer", 1, "middle", "…"),
        ("日本語の文章", 6, "end", "日本… "),
        ("x" * 200_000 + "end", 9, "middle", "xxxx…xend"),
        ("a\tb\x1b[0m", 9, "end", "a b␛[0m  "),
    ],
)
def test_eliding(text: str, width: int, elide: str, expected: str) -> None:
    assert text_of(fit(plain(text), width, elide=elide)) == expected  # type: ignore[arg-type]


def test_eliding_keeps_styles() -> None:
    cell = (Span("★ ", "gold"), Span("ozone_layer"))
    assert fit(cell, 6) == (Span("★ ", "gold"), Span("ozo"), Span("…"))
    assert cell_width(cell) == 13


# --- the widget ------------------------------------------------------------------------------------------------------

COLUMNS = (
    Column("rank", plain("#"), 4, align="right"),
    Column("id", plain("document"), 8, flex=1, elide="middle"),
    Column("score", plain("score"), 6, align="right"),
)


def make_rows(count: int) -> list[TableRow]:
    return [
        TableRow(f"doc{number}", (plain(str(number)), plain(f"document {number}"), plain(f"{number / 2:.1f}")))
        for number in range(count)
    ]


class CountingRows:
    """Rows made when asked for; counts which were."""

    def __init__(self, count: int) -> None:
        self.count = count
        self.asked: set[int] = set()

    def __len__(self) -> int:
        return self.count

    def __getitem__(self, index: int) -> TableRow:
        self.asked.add(index)
        return TableRow(f"doc{index}", (plain(str(index)), plain(f"document {index}"), plain("0.0")))


class TableApp(App[None]):
    """One table with the whole screen to itself, or half of it with another."""

    def __init__(self, tables: int = 1, ansi_color: bool | None = None) -> None:
        super().__init__(ansi_color=ansi_color)
        self.tables = [LineTable(id=f"table{number}", empty_message="nothing here") for number in range(tables)]
        self.seen: list[Message] = []

    def compose(self) -> ComposeResult:
        yield from self.tables

    def on_mount(self) -> None:
        for theme in THEMES:
            self.register_theme(theme)
        self.theme = BRIGHT_DARK
        for table in self.tables:
            table.styles.height = "1fr"

    def on_line_table_row_highlighted(self, message: LineTable.RowHighlighted) -> None:
        self.seen.append(message)

    def on_line_table_row_chosen(self, message: LineTable.RowChosen) -> None:
        self.seen.append(message)

    def on_line_table_header_clicked(self, message: LineTable.HeaderClicked) -> None:
        self.seen.append(message)

    @property
    def highlighted(self) -> list[int]:
        return [message.index for message in self.seen if isinstance(message, LineTable.RowHighlighted)]


def shown(table: LineTable) -> list[str]:
    return [table.render_line(y).text for y in range(table.size.height)]


async def test_header_stays_and_lines_are_as_wide_as_the_table() -> None:
    app = TableApp()
    async with app.run_test(size=(60, 12)) as pilot:
        table = app.tables[0]
        table.set_rows(COLUMNS, make_rows(100), cursor=50)
        await pilot.pause()
        lines = shown(table)
        assert lines[0].split() == ["#", "document", "score"]
        assert lines[-1].split() == ["▌", "50", "document", "50", "25.0"]
        assert {table.render_line(y).cell_length for y in range(12)} == {table.size.width}
        assert all(line.endswith("  ") for line in lines), "padding, and the reserved column of the scrollbar"


async def test_keys_move_the_cursor_and_scroll_no_further_than_needed() -> None:
    app = TableApp()
    async with app.run_test(size=(60, 11)) as pilot:
        table = app.tables[0]
        table.set_rows(COLUMNS, make_rows(100))
        table.focus()
        expectations: list[tuple[str, int, int]] = [
            ("down", 1, 0), ("j", 2, 0), ("k", 1, 0), ("up", 0, 0), ("up", 0, 0),
            ("pagedown", 10, 1), ("pagedown", 20, 11), ("pageup", 10, 10), ("down", 11, 10),
            ("end", 99, 90), ("up", 98, 90), ("home", 0, 0), ("G", 99, 90), ("g", 0, 0),
        ]  # fmt: skip
        for key, cursor, top in expectations:
            await pilot.press(key)
            assert (table.cursor, table.scroll_y) == (cursor, top), key
        await pilot.press("enter")
        chosen = app.seen[-1]
        assert isinstance(chosen, LineTable.RowChosen)
        assert (chosen.table, chosen.index, chosen.key) == (table, 0, "doc0")
        assert app.highlighted == [0, 1, 2, 1, 0, 10, 20, 10, 11, 99, 98, 0, 99, 0]


async def test_mouse() -> None:
    app = TableApp()
    async with app.run_test(size=(60, 11)) as pilot:
        table = app.tables[0]
        table.styles.border = ("round", "gray")
        table.set_rows(COLUMNS, make_rows(100))
        await pilot.pause()
        await pilot.click(table, offset=(10, 4))
        assert table.cursor == 2
        await pilot.click(table, offset=(10, 5), times=2)
        assert table.cursor == 3
        assert isinstance(app.seen[-1], LineTable.RowChosen)
        await pilot.click(table, offset=(12, 1))
        header = app.seen[-1]
        assert isinstance(header, LineTable.HeaderClicked)
        assert header.column_key == "id"
        table.post_message(MouseScrollDown(table, 10, 4, 0, 0, 0, shift=False, meta=False, ctrl=False))
        await pilot.pause()
        assert table.scroll_y > 0
        assert table.cursor == 3


async def test_only_rows_in_view_are_made() -> None:
    app = TableApp()
    async with app.run_test(size=(60, 11)) as pilot:
        rows = CountingRows(1_000_000)
        app.tables[0].set_rows(COLUMNS, rows, cursor=500_000)
        await pilot.pause()
        assert rows.asked == set(range(499_991, 500_001))


async def test_moving_the_cursor_repaints_two_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    app = TableApp()
    async with app.run_test(size=(60, 21)) as pilot:
        table = app.tables[0]
        table.set_rows(COLUMNS, make_rows(100), cursor=3)
        table.focus()
        await pilot.pause()
        painted: list[int] = []
        original = table.render_line

        def render_line(y: int) -> Strip:
            painted.append(y)
            return original(y)

        monkeypatch.setattr(table, "render_line", render_line)
        await pilot.press("down")
        assert sorted(set(painted)) == [4, 5]


async def test_marked_keys_light_up_and_cursor_shows_without_focus() -> None:
    app = TableApp(tables=2)
    async with app.run_test(size=(60, 24)) as pilot:
        focused, other = app.tables
        for table in app.tables:
            table.set_rows(COLUMNS, make_rows(5))
        focused.focus()
        other.marked_keys = frozenset({"doc2", "doc4"})
        await pilot.pause()
        marks = [line[0] for line in shown(other)[1:6]]
        assert marks == ["▌", " ", "▎", " ", "▎"]
        backgrounds = [next(iter(table.render_line(1))).style for table in app.tables]
        assert backgrounds[0] is not None
        assert backgrounds[1] is not None
        assert backgrounds[0].bgcolor != backgrounds[1].bgcolor
        plain_line = next(iter(other.render_line(2))).style
        assert plain_line is not None
        assert backgrounds[1].bgcolor != plain_line.bgcolor
        other.marked_keys = frozenset()
        assert [line[0] for line in shown(other)[1:6]] == ["▌", " ", " ", " ", " "]


async def test_set_rows_reports_a_new_row_and_only_that() -> None:
    app = TableApp()
    async with app.run_test(size=(60, 11)) as pilot:
        table = app.tables[0]
        rows = make_rows(50)
        table.set_rows(COLUMNS, rows, cursor=40)
        await pilot.pause()
        assert app.highlighted == [40]
        table.set_rows(COLUMNS, rows, cursor=40)
        table.cursor = 45
        await pilot.pause()
        assert app.highlighted == [40], "the same row, and a cursor moved by the program"
        table.set_rows(COLUMNS, rows, cursor=1_000, keep_scroll=True)
        await pilot.pause()
        assert app.highlighted == [40, 49]
        assert table.row == rows[49]


async def test_rows_set_before_the_first_layout() -> None:
    app = TableApp()
    app.tables[0].set_rows(COLUMNS, make_rows(100), cursor=50)
    async with app.run_test(size=(60, 11)) as pilot:
        await pilot.pause()
        assert shown(app.tables[0])[-1].startswith("▌  50 ")
        assert app.highlighted == [50]


async def test_keep_scroll() -> None:
    app = TableApp()
    async with app.run_test(size=(60, 11)) as pilot:
        table = app.tables[0]
        table.set_rows(COLUMNS, make_rows(50))
        await pilot.pause()
        table.scroll_to(y=20, animate=False)
        table.set_rows(COLUMNS, make_rows(60), cursor=25, keep_scroll=True)
        await pilot.pause()
        assert table.scroll_y == 20
        table.set_rows(COLUMNS, make_rows(60), cursor=25)
        await pilot.pause()
        assert table.scroll_y == 16
        table.set_rows(COLUMNS, make_rows(3), keep_scroll=True)
        await pilot.pause()
        assert table.scroll_y == 0


async def test_resize_keeps_the_cursor_in_view_and_the_lines_full() -> None:
    app = TableApp()
    async with app.run_test(size=(100, 30)) as pilot:
        table = app.tables[0]
        table.set_rows(COLUMNS, make_rows(100), cursor=28)
        await pilot.pause()
        for size in [(40, 10), (120, 40), (8, 5), (100, 30)]:
            await pilot.resize_terminal(*size)
            await pilot.pause()
            assert any(line.startswith("▌") for line in shown(table)), size
            assert {table.render_line(y).cell_length for y in range(size[1])} == {table.size.width}


async def test_empty_message() -> None:
    app = TableApp()
    async with app.run_test(size=(60, 11)) as pilot:
        table = app.tables[0]
        await pilot.pause()
        lines = shown(table)
        assert [line.strip() for line in lines if line.strip()] == ["nothing here"]
        assert 20 < lines[5].index("nothing") < 26
        table.empty_message = (Span("no gold; ", "dim"), Span("[ ]", "accent"), Span(" jumps", "dim"))
        table.set_rows(COLUMNS, ())
        await pilot.pause()
        assert any("no gold; [ ] jumps" in line for line in shown(table))
        assert table.row is None
        await pilot.press("down", "enter", "pagedown")
        assert app.seen == []


@pytest.mark.parametrize("text", ["[/foo]", "list[int]", "[bold]x", "arr[i=1]", r"\[ x^2 \]"])
async def test_texts_are_shown_literally(text: str) -> None:
    app = TableApp()
    async with app.run_test(size=(60, 11)) as pilot:
        table = app.tables[0]
        table.set_rows((Column("a", plain(text), 20),), [TableRow(text, (plain(text + "\x1b[31m"),))])
        table.empty_message = text
        await pilot.pause()
        lines = shown(table)
        assert text in lines[0]
        assert text + "␛[31m" in lines[1]
        table.set_rows((), ())
        assert text in "".join(shown(table))


@pytest.mark.parametrize("theme", [theme.name for theme in THEMES])
async def test_the_cursor_and_gold_show_without_colour(theme: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    # Textual picks its colour filter when the app is made, by the theme of that moment: without ``ansi_color`` the
    # terminal theme chosen later would be painted black on black.
    app = TableApp(ansi_color=True)
    async with app.run_test(size=(60, 11)) as pilot:
        app.theme = theme
        table = app.tables[0]
        table.focus()
        table.set_rows(COLUMNS[:1], [TableRow(str(n), ((Span("★", "gold"),),)) for n in range(2)])
        await pilot.pause()
        strips = table.render_lines(Region(0, 1, table.size.width, 2))
        styles = [next(segment.style for segment in strip if "★" in segment.text) for strip in strips]
        on_cursor, below = (style or Style() for style in styles)
        assert on_cursor.reverse
        assert on_cursor.bold
        assert below.bold
        assert not below.reverse
        for color in (on_cursor.color, on_cursor.bgcolor, below.color, below.bgcolor):
            assert color is None or color.is_default

"""Every style name can be read in every theme, also by those who see fewer colours, or none."""

from __future__ import annotations

import itertools

import pytest
from rich.color import Color as RichColor
from rich.style import Style
from textual.app import App
from textual.color import Color

from bright_inspect.presentation.cells import STYLE_NAMES
from bright_inspect.tui.themes import (
    BRIGHT_DARK,
    BRIGHT_LIGHT,
    PALETTES,
    TERMINAL,
    THEMES,
    RowState,
    row_style,
    style_for,
    without_colour,
)

ROW_STATES: tuple[RowState, ...] = ("plain", "header", "cursor", "cursor-blurred", "marked")


def luminance(color: str | RichColor) -> float:
    """WCAG 2 relative luminance."""
    rgb = Color.parse(color).rgb if isinstance(color, str) else color.get_truecolor()
    linear = [c / 255 / 12.92 if c / 255 <= 0.04045 else ((c / 255 + 0.055) / 1.055) ** 2.4 for c in rgb]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str | RichColor, other: str | RichColor) -> float:
    """WCAG 2 contrast ratio."""
    lighter, darker = sorted((luminance(one), luminance(other)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


@pytest.mark.parametrize("theme_name", [BRIGHT_DARK, BRIGHT_LIGHT])
@pytest.mark.parametrize("name", STYLE_NAMES)
@pytest.mark.parametrize("state", ROW_STATES)
def test_contrast_of_every_style_on_every_line(theme_name: str, name: str, state: RowState) -> None:
    palette = PALETTES[theme_name]
    base = Style(color=palette.foreground, bgcolor=palette.background)
    style = base + row_style(state, theme_name) + style_for(name, theme_name)
    assert style.color is not None
    assert style.bgcolor is not None
    assert not style.dim
    assert contrast(style.color, style.bgcolor) >= 4.5, f"{contrast(style.color, style.bgcolor):.2f}"


@pytest.mark.parametrize("theme_name", [BRIGHT_DARK, BRIGHT_LIGHT, TERMINAL])
def test_what_must_be_seen_without_colour(theme_name: str) -> None:
    assert without_colour(style_for("match", theme_name)).underline
    assert without_colour(style_for("gold", theme_name)).bold
    assert without_colour(style_for("struck", theme_name)).strike
    assert row_style("cursor", theme_name, colourless=True).reverse
    assert row_style("cursor-blurred", theme_name, colourless=True).bold


@pytest.mark.parametrize("theme_name", [BRIGHT_DARK, BRIGHT_LIGHT, TERMINAL])
def test_runs_and_gain_and_loss_differ(theme_name: str) -> None:
    runs = [style_for(f"run{number}", theme_name).color for number in range(1, 5)]
    assert all(one != other for one, other in itertools.combinations(runs, 2))
    assert style_for("gain", theme_name).color != style_for("loss", theme_name).color


#: Without green or without red cones, in linear light (Machado, Oliveira and Fernandes 2009).
COLOUR_BLINDNESS = {
    "deuteranopia": ((0.367, 0.861, -0.228), (0.280, 0.673, 0.047), (-0.012, 0.043, 0.969)),
    "protanopia": ((0.152, 1.053, -0.205), (0.115, 0.786, 0.099), (-0.004, -0.048, 1.052)),
}


def seen_with(kind: str, style: Style) -> list[float]:
    """Red, green and blue (0 to 1) as somebody with that colour blindness sees them."""
    assert style.color is not None
    linear = [(channel / 255) ** 2.2 for channel in style.color.get_truecolor()]
    mixed = (sum(weight * value for weight, value in zip(row, linear, strict=True)) for row in COLOUR_BLINDNESS[kind])
    return [max(0.0, value) ** (1 / 2.2) for value in mixed]


@pytest.mark.parametrize("theme_name", [BRIGHT_DARK, BRIGHT_LIGHT])
@pytest.mark.parametrize("kind", COLOUR_BLINDNESS)
@pytest.mark.parametrize("names", [("run1", "run2", "run3", "run4"), ("gain", "loss")])
def test_colours_differ_for_the_colour_blind(theme_name: str, kind: str, names: tuple[str, ...]) -> None:
    for one, other in itertools.combinations(names, 2):
        pair = (seen_with(kind, style_for(one, theme_name)), seen_with(kind, style_for(other, theme_name)))
        assert sum(abs(a - b) for a, b in zip(*pair, strict=True)) > 0.25, (one, other)


def test_unknown_names() -> None:
    assert style_for("gold", "nord") == style_for("gold", BRIGHT_DARK)
    with pytest.raises(KeyError):
        style_for("golden", BRIGHT_DARK)


async def test_the_themes_register_and_apply() -> None:
    app: App[None] = App()
    async with app.run_test() as pilot:
        for theme in THEMES:
            app.register_theme(theme)
            app.theme = theme.name
            await pilot.pause()
            assert app.native_ansi_color == (theme.name == TERMINAL)

"""How a style name looks: two themes of our own, and one made of the terminal's own sixteen colours.

Textual's stylesheet colours the frame (borders, footer, inputs) from a ``Theme``; the words inside our line widgets are
coloured by ``style_for``. Both are made from one palette here, so that they cannot drift apart.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Final, Literal

from rich.style import Style
from textual.theme import Theme

BRIGHT_DARK: Final = "bright-dark"
BRIGHT_LIGHT: Final = "bright-light"
TERMINAL: Final = "terminal"

RowState = Literal["plain", "header", "cursor", "cursor-blurred", "marked"]
"""What a whole table line is: the cursor line is "cursor-blurred" while its table is without focus."""


@dataclass(frozen=True, slots=True)
class Palette:
    """The colours of one theme. ``dim`` is a colour and not the terminal's dim attribute, which has no known contrast.

    The runs are Okabe and Ito's blue, purple, green and orange, moved until they can be read on ``background``; gain
    and loss are blue against red, which the common forms of colour blindness keep apart.
    """

    foreground: str
    background: str
    surface: str
    panel: str
    dim: str
    strong: str
    accent: str
    gold: str
    gain: str
    loss: str
    match_background: str
    error: str
    warning: str
    runs: tuple[str, str, str, str]
    cursor: str
    cursor_blurred: str
    marked: str


DARK: Final = Palette(
    foreground="#d3d7de",
    background="#14171c",
    surface="#14171c",
    panel="#1f242c",
    dim="#9ba2ae",
    strong="#ffffff",
    accent="#b3a6f7",
    gold="#f0c24f",
    gain="#6fcdea",
    loss="#ff9482",
    match_background="#3d3a26",
    error="#ff8a8a",
    warning="#efb366",
    runs=("#6aa8ff", "#f7b6e0", "#27b386", "#f29a4a"),
    cursor="#302f4a",
    cursor_blurred="#242734",
    marked="#1d3035",
)
LIGHT: Final = Palette(
    foreground="#262a30",
    background="#fbfaf7",
    surface="#fbfaf7",
    panel="#efede6",
    dim="#5c616a",
    strong="#000000",
    accent="#5640c4",
    gold="#7a5600",
    gain="#00607f",
    loss="#a8321a",
    match_background="#fdebb0",
    error="#a8071a",
    warning="#804f00",
    runs=("#1858c9", "#6d1150", "#076e53", "#9a4a00"),
    cursor="#e3dff8",
    cursor_blurred="#eeecf2",
    marked="#dff0f1",
)
PALETTES: Final = {BRIGHT_DARK: DARK, BRIGHT_LIGHT: LIGHT}


def _textual_theme(name: str, palette: Palette, *, dark: bool) -> Theme:
    """Make the stylesheet's theme out of a palette: one accent, everything else quiet."""
    return Theme(
        name=name,
        primary=palette.accent,
        secondary=palette.dim,
        accent=palette.accent,
        warning=palette.warning,
        error=palette.error,
        success=palette.gain,
        foreground=palette.foreground,
        background=palette.background,
        surface=palette.surface,
        panel=palette.panel,
        dark=dark,
        variables={
            "border": palette.accent,
            "border-blurred": palette.dim,
            "text-muted": palette.dim,
            "foreground-muted": palette.dim,
            "block-cursor-background": palette.cursor,
            "block-cursor-foreground": palette.foreground,
            "block-cursor-text-style": "none",
            "footer-background": palette.background,
            "footer-item-background": palette.background,
            "footer-description-foreground": palette.dim,
            "footer-key-foreground": palette.accent,
            "input-selection-background": palette.cursor,
            "scrollbar": palette.dim,
            "scrollbar-hover": palette.accent,
            "scrollbar-active": palette.accent,
            "scrollbar-background": palette.background,
            "scrollbar-background-hover": palette.background,
            "scrollbar-background-active": palette.background,
            "scrollbar-corner-color": palette.background,
        },
    )


def _terminal_theme() -> Theme:
    """Leave every colour to the terminal: its default text on its default background, named colours for the rest.

    Whether that background is dark is unknown, so black, white and their bright forms are never used for text.
    """
    return Theme(
        name=TERMINAL,
        ansi=True,
        primary="ansi_blue",
        secondary="ansi_cyan",
        accent="ansi_magenta",
        warning="ansi_yellow",
        error="ansi_red",
        success="ansi_green",
        foreground="ansi_default",
        background="ansi_default",
        surface="ansi_default",
        panel="ansi_default",
        boost="ansi_default",
        dark=True,
        variables={
            "ansi-background": "ansi_default",  # Textual's own stylesheet asks every native theme for these two
            "ansi-foreground": "ansi_default",
            "border": "ansi_magenta",
            "border-blurred": "ansi_bright_black",
            "block-cursor-foreground": "ansi_default",
            "block-cursor-background": "ansi_default",
            "block-cursor-text-style": "reverse",
            "block-cursor-blurred-text-style": "bold",
            "input-cursor-text-style": "reverse",
            "scrollbar": "ansi_bright_black",
            "scrollbar-hover": "ansi_magenta",
            "scrollbar-active": "ansi_magenta",
            "scrollbar-background": "ansi_default",
            "scrollbar-background-hover": "ansi_default",
            "scrollbar-background-active": "ansi_default",
        },
    )


THEMES: Final = (
    _textual_theme(BRIGHT_DARK, DARK, dark=True),
    _textual_theme(BRIGHT_LIGHT, LIGHT, dark=False),
    _terminal_theme(),
)
"""Every theme to register with the app, the default first."""


def _palette_styles(palette: Palette) -> dict[str, Style]:
    """The look of every style name in one of our own themes."""
    return {
        "": Style(),
        "dim": Style(color=palette.dim),
        "strong": Style(color=palette.strong, bold=True),
        "accent": Style(color=palette.accent),
        "gold": Style(color=palette.gold, bold=True),
        "gain": Style(color=palette.gain),
        "loss": Style(color=palette.loss),
        "match": Style(color=palette.strong, bgcolor=palette.match_background, bold=True, underline=True),
        "error": Style(color=palette.error, bold=True),
        "warning": Style(color=palette.warning),
        "struck": Style(color=palette.dim, strike=True),
        "added": Style(color=palette.gain, underline=True),
        "removed": Style(color=palette.loss, strike=True),
        **{f"run{number}": Style(color=color) for number, color in enumerate(palette.runs, start=1)},
    }


_TERMINAL_STYLES: Final = {
    "": Style(),
    "dim": Style(dim=True),
    "strong": Style(bold=True),
    "accent": Style(color="magenta"),
    "gold": Style(color="yellow", bold=True),
    "gain": Style(color="cyan"),
    "loss": Style(color="red"),
    "match": Style(bold=True, underline=True),
    "error": Style(color="red", bold=True),
    "warning": Style(color="yellow"),
    "struck": Style(dim=True, strike=True),
    "added": Style(color="cyan", underline=True),
    "removed": Style(color="red", strike=True),
    "run1": Style(color="blue"),
    "run2": Style(color="magenta"),
    "run3": Style(color="green"),
    "run4": Style(color="yellow"),
}

_STYLES: Final = {
    BRIGHT_DARK: _palette_styles(DARK),
    BRIGHT_LIGHT: _palette_styles(LIGHT),
    TERMINAL: _TERMINAL_STYLES,
}


@lru_cache(maxsize=256)
def style_for(name: str, theme_name: str) -> Style:
    """Return the look of a style name. A theme that is not ours looks like ``bright-dark``; an unknown name is an
    error, because it would otherwise be drawn plainly and never be noticed."""
    return _STYLES.get(theme_name, _STYLES[BRIGHT_DARK])[name]


@lru_cache(maxsize=64)
def row_style(state: RowState, theme_name: str, *, colourless: bool = False) -> Style:
    """Return what a whole table line adds beneath its spans.

    Without colour (``NO_COLOR``), and in the terminal's own colours, whose background is unknown, the cursor is
    reversed text.
    """
    if colourless or theme_name == TERMINAL:
        attributes: dict[RowState, Style] = {
            "header": style_for("dim", theme_name),
            "cursor": Style(reverse=True),
            "cursor-blurred": Style(bold=True),
            "marked": Style(bold=True),
        }
        return attributes.get(state, Style())
    palette = PALETTES.get(theme_name, DARK)
    backgrounds: dict[RowState, Style] = {
        "header": Style(color=palette.dim),
        "cursor": Style(bgcolor=palette.cursor),
        "cursor-blurred": Style(bgcolor=palette.cursor_blurred),
        "marked": Style(bgcolor=palette.marked),
    }
    return backgrounds.get(state, Style())


@lru_cache(maxsize=64)
def without_colour(style: Style) -> Style:
    """Keep only what a style says without colour; on a reversed line a coloured span would be a coloured hole."""
    return Style(bold=style.bold, underline=style.underline, strike=style.strike, reverse=style.reverse)

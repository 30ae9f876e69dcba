"""Makes the pictures: drives the program on the demo without a terminal, and saves what its screen shows.

``python screenshots/make.py`` makes all of them, as SVG and PNG. One screen at any size, over any runs:

    python screenshots/make.py --one look --size 80x24 --theme bright-light --keys A,enter,m --out /tmp/look -- RUN ...

Needs the extra ``pictures``, and a font with every mark on the screen: DejaVu Sans Mono (fonts-dejavu-core).
"""

from __future__ import annotations

import argparse
import asyncio
import io
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from bright_inspect.demo import BASELINE, demo_runs
from bright_inspect.store.request import OpenRequest
from bright_inspect.store.triage_request import TriageRequest
from bright_inspect.tui.app import make_app
from bright_inspect.tui.screens.base import DeskScreen
from bright_inspect.tui.widgets.reader import TextReader
from bright_inspect.tui.widgets.table import LineTable

if TYPE_CHECKING:
    from textual.pilot import Pilot

    from bright_inspect.errors import BrightInspectError
    from bright_inspect.tui.app import BrightInspect

HERE = Path(__file__).resolve().parent
#: Picture -> the keys that lead to it from the first screen.
PICTURES = {
    "overview": (),
    "queries": ("A",),
    "inspect": ("A", "enter", "n"),
    "variants": ("v",),
    "lens": ("A", "enter", "v", "right"),
    "merged": ("A", "enter", "n", "m"),
    "audit": ("A", "enter", "a"),
    "triage": ("A", "J"),
    "gold": ("A", "enter", "n", "left"),
    "live": ("A", "enter", "r", "f5"),
    "explain": ("A", "enter", "r", "f2", "f5", "e"),
    "sentences": ("A", *["j"] * 13, "enter", "r", "f9"),
}
SIZE = (120, 34)
SECONDS = 120.0
FONT = "DejaVu Sans Mono"
#: Rich's lines are 24.4 high; zoomed to whole pixels, every line is drawn alike.
_LINE, _PIXELS = 24.4, 25
_ZOOM = _PIXELS / _LINE
#: From its highest to its lowest point the font is 1.164 of its size: so large, block characters fill whole lines.
_FONT_SIZE = _LINE / 1.164
#: Moved down so far (from the first base line, which Rich has at 20), they fill the lines that they stand in.
_MOVE = 2 / _ZOOM + 0.928 * _FONT_SIZE - 20
_FONT_FACE = re.compile(r"@font-face \{.*?\}\s*", re.DOTALL)
_FAMILY = re.compile(r"font-family: ?Fira Code, ?monospace;(\s*)font-size: ?20px;")
_CLIP = re.compile(r' clip-path="[^"]*"')
_TEXT_GROUP = re.compile(r'<g class="([^"]*-matrix)">')
_TITLE_FAMILY = re.compile(r"font-family: ?arial;")


@dataclass(frozen=True)
class Look:
    """How to show the program."""

    request: OpenRequest
    size: tuple[int, int]
    theme: str | None


async def settled(app: BrightInspect, pilot: Pilot[BrightInspectError]) -> None:
    """Wait until no work is under way and the screen has been filled.

    Raises:
        RuntimeError: the program ended, or was not done in time.
    """
    deadline = time.monotonic() + SECONDS
    while time.monotonic() < deadline:
        await pilot.pause()
        if not app.is_running or app.return_code is not None:
            raise RuntimeError(f"the program ended: {app.return_value}")
        if app.has_desk and app.runner.idle and _filled(app):
            await pilot.pause()
            return
    raise RuntimeError(f"{type(app.screen).__name__} was not filled in {SECONDS:.0f} s.")


def _filled(app: BrightInspect) -> bool:
    """Whether the screen over the data, dialogs apart, has a table with rows, one that says why it has none, or a
    text."""
    screens = [screen for screen in app.screen_stack if isinstance(screen, DeskScreen)]
    if not screens:
        return False
    tables = [table for table in screens[-1].query(LineTable) if table.display]
    filled = any(table.row_count or table.empty_message for table in tables)
    return filled or any(reader.text for reader in screens[-1].query(TextReader))


async def picture(look: Look, keys: tuple[str, ...]) -> str:
    """The screen that the keys lead to, as SVG."""
    app = make_app(look.request)
    app.animation_level = "none"
    async with app.run_test(size=look.size) as pilot:
        if look.theme:
            app.theme = look.theme
        await settled(app, pilot)
        for key in keys:
            await pilot.press(key)
            await settled(app, pilot)
        return app.export_screenshot(title="bright-inspect")


def without_downloads(svg: str) -> str:
    """The picture with fonts the reader has, instead of fonts fetched from the network."""
    svg = _FONT_FACE.sub("", svg)
    svg = _FAMILY.sub(rf"font-family: 'Fira Code', '{FONT}', Menlo, Consolas, monospace;\1font-size: 20px;", svg)
    return _TITLE_FAMILY.sub("font-family: Arial, Helvetica, sans-serif;", svg)


def png_of(svg: str) -> bytes:
    """The picture as PNG of 256 colours, in one font that has every mark, placed so that bars and rules join."""
    import resvg_py
    from PIL import Image

    svg = _CLIP.sub("", _FONT_FACE.sub("", svg))
    svg, fonts = _FAMILY.subn(f"font-family: {FONT}; font-size: {_FONT_SIZE:.4f}px;", svg)
    svg, groups = _TEXT_GROUP.subn(rf'<g class="\1" transform="translate(0, {_MOVE:.4f})">', svg)
    if not fonts or not groups:
        raise RuntimeError("Rich writes its SVG differently now: no font or no text to replace.")
    svg = _TITLE_FAMILY.sub(f"font-family: {FONT.removesuffix(' Mono')}, {FONT};", svg)
    image = Image.open(io.BytesIO(resvg_py.svg_to_bytes(svg_string=svg, monospace_family=FONT, zoom=_ZOOM)))
    small = io.BytesIO()
    colours = image.quantize(256, method=Image.Quantize.FASTOCTREE, dither=Image.Dither.NONE)
    colours.save(small, "PNG", optimize=True)
    return small.getvalue()


def check_font() -> None:
    """Another font would be taken silently, and the columns would not be straight.

    Raises:
        RuntimeError: fontconfig knows no font of this name.
    """
    if shutil.which("fc-list") and not subprocess.check_output(["fc-list", FONT]):
        raise RuntimeError(f"the font {FONT} is not installed (Debian: fonts-dejavu-core).")


def parsed(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Make the pictures of bright-inspect.")
    parser.add_argument("--one", metavar="NAME", help="make only this picture; with --keys, one of any name")
    parser.add_argument("--keys", metavar="K1,K2", help="keys to press, in Textual's names: A,enter,right,comma")
    parser.add_argument("--size", default="x".join(map(str, SIZE)), metavar="WxH")
    parser.add_argument("--theme", help="bright-dark, bright-light or terminal")
    parser.add_argument("--out", type=Path, default=HERE, metavar="DIR")
    parser.add_argument("--data", type=Path, metavar="DIR", help="folder of a BRIGHT snapshot")
    parser.add_argument("--qrels", action="append", default=[], metavar="[LAYER=]PATH", help="judgments")
    parser.add_argument("runs", nargs="*", metavar="RUN", help="in place of the demo's")
    # Options may follow the runs, also behind a "--".
    return parser.parse_intermixed_args([argument for argument in arguments if argument != "--"])


def main(arguments: list[str]) -> int:
    options = parsed(arguments)
    check_font()
    width, _, height = options.size.partition("x")
    if options.runs:
        request = OpenRequest(tuple(options.runs), options.data, qrels=tuple(options.qrels))
    else:
        request = OpenRequest(
            tuple(map(str, demo_runs())), options.data, dataset="demo", baseline=BASELINE, triage=TriageRequest("anna")
        )
    look = Look(request, (int(width), int(height)), options.theme)
    wanted: dict[str, tuple[str, ...]] = dict(PICTURES)
    if options.one:
        keys = tuple(options.keys.split(",")) if options.keys else PICTURES.get(options.one, ())
        wanted = {options.one: keys}
    options.out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as cache:
        # As on a machine that has nothing but the program.
        os.environ["BRIGHT_INSPECT_CACHE"] = cache
        for name in ("BRIGHT_INSPECT_DATA", "NO_COLOR"):
            os.environ.pop(name, None)
        for name, keys in wanted.items():
            svg = asyncio.run(picture(look, keys))
            (options.out / f"{name}.svg").write_text(without_downloads(svg), encoding="utf-8", newline="\n")
            png = png_of(svg)
            (options.out / f"{name}.png").write_bytes(png)
            print(f"{options.out / name}.svg, .png ({len(png) // 1024} KB)")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

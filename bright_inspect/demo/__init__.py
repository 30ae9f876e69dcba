"""The embedded demo data set, written for this project, and the runs over it."""

from __future__ import annotations

from pathlib import Path

from bright_inspect.errors import UnreadableInput

#: The runs of ``bright-inspect demo``: what is looked at first, the baseline last.
RUN_FILES = ("bm25@demo_reason.trec", "bm25@original.trec")
BASELINE = "bm25"


def demo_runs() -> list[Path]:
    """The demo's run files: those in the package, or else those in the repository of an editable install.

    Raises:
        UnreadableInput: neither place has them all.
    """
    package = Path(__file__).resolve().parent
    places = (package / "runs", package.parent.parent / "runs")
    for place in places:
        paths = [place / name for name in RUN_FILES]
        if all(path.is_file() for path in paths):
            return paths
    looked_in = " and ".join(str(place) for place in places)
    raise UnreadableInput(
        f"the demo's runs ({', '.join(RUN_FILES)}) are in neither of {looked_in}.",
        "Install bright-inspect anew, or make them in a clone: python runs/make.py",
    )

"""How long something still takes, as it is told."""

from __future__ import annotations


def about(seconds: float) -> str:
    """A duration as one reads it: "about 40 s", "about 5 min", "about 2.5 h"."""
    if seconds < 90:
        return f"about {seconds:.0f} s"
    return f"about {seconds / 60:.0f} min" if seconds < 5400 else f"about {seconds / 3600:.1f} h"

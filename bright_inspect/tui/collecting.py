"""Python's full collections look at every object there is, which takes longer than a key may: most are kept out."""

from __future__ import annotations

import gc


def keep_out_of_collections(*, anew: bool = False) -> None:
    """Let full collections pass over all objects that are there by now, without what is garbage already.

    What is kept out goes when nothing refers to it, but not if it refers to itself, as screens do that were left. So
    this is for what stays; ``anew`` collects also what is garbage by now of what was kept out before, in about 0.1 s.
    """
    if anew:
        gc.unfreeze()
    gc.collect()
    gc.freeze()

"""BM25 in the three forms that BRIGHT's users mean by it."""

from __future__ import annotations

from collections.abc import Sequence

from bright_inspect.retrieval.protocol import RetrieverSpec


def specs() -> Sequence[RetrieverSpec]:
    """The BM25 retrievers."""
    return ()

"""What a dense retriever needs of a model, wherever it runs: in this process or behind an endpoint."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

from bright_inspect.retrieval.protocol import Check, never_stop

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Vectors = npt.NDArray[np.float32]


class Encoder(Protocol):
    """Turns texts into vectors whose dot product is the score; where the model's similarity is the cosine, they come
    normalised. Prefixes are added here, callers give bare texts.

    ``key`` is a short name for all that changes a document's vector: model, revision, document prefix, max length and
    precision. It is hashed, not used as a file name. ``batch_size``: documents to give at once. ``devices``: how many
    batches are worth giving at once, because that many devices share them. ``max_length`` and ``query_max_length``:
    tokens, prefix included; None where that is not known.
    """

    name: str
    device: str | None
    key: str
    batch_size: int
    devices: int
    query_prefix: str
    document_prefix: str
    prefix_source: str
    max_length: int | None
    query_max_length: int | None

    def encode_documents(self, texts: Sequence[str], check: Check = never_stop) -> Vectors:
        """float32 of shape (texts, dimensions). ``check`` is called as often as the work allows."""
        ...

    def encode_queries(self, texts: Sequence[str], check: Check = never_stop) -> Vectors:
        """float32 of shape (texts, dimensions)."""
        ...

    def query_tokens(self, text: str) -> int | None:
        """Tokens of a query with its prefix and special tokens, before any cut; None where that is not known."""
        ...

    def characters_read(self, text: str) -> int | None:
        """How many characters of a document the model reads before its max length cuts it; None where that is not
        known."""
        ...

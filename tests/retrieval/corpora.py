"""Small corpora and retrievers over them."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path

from bright_inspect.retrieval.protocol import Corpus, Retriever, ignore_progress, never_stop
from bright_inspect.retrieval.registry import find_retriever

DOCUMENTS = {
    "tides": "Tides are raised by the Moon's gravity; spring tides come at new and full moon.",
    "ozone": "The ozone layer absorbs ultraviolet light, and so the stratosphere is warm.",
    "empty": "",
    "reef": "Coral reefs bleach when the water is warm for weeks.",
    "été/Page 1.txt": "L'été est chaud: warm, warm water.",
}


def corpus_of(documents: Mapping[str, str] | Sequence[tuple[str, str]], name: str = "small") -> Corpus:
    rows = list(documents.items() if isinstance(documents, Mapping) else documents)
    digest = hashlib.sha256(repr(rows).encode()).hexdigest()
    return Corpus("custom", name, len(rows), digest, lambda: iter(rows))


def retriever(name: str, documents: Mapping[str, str] | Sequence[tuple[str, str]], folder: Path) -> Retriever:
    return find_retriever(name).make(corpus_of(documents), folder, ignore_progress, never_stop)


def scores(found: Retriever, text: str, k: int = 10_000) -> dict[str, float]:
    """Document id -> score of every hit."""
    return {hit.doc_id: hit.score for hit in found.search([text], k)[0].hits}

"""The top of a list in a reranker's order.

What the reranker does not score, the documents below the top and those without a text, keeps its order below what it
does. A run file needs scores there too: they go down in even steps from the lowest that the reranker gave.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence

from bright_inspect.errors import BrightInspectError
from bright_inspect.retrieval.protocol import (
    Check,
    Exclusions,
    Found,
    Hit,
    Progress,
    Reranked,
    Reranker,
    Reranking,
    Retriever,
    ignore_progress,
    never_stop,
    provenance_of,
)
from bright_inspect.retrieval.strings import encode

Texts = Callable[[Collection[str]], Mapping[str, str]]
"""Document ids -> the texts of those that are at hand."""


def rerank(
    reranker: Reranker,
    text: str,
    hits: Sequence[Hit],
    top: int,
    texts: Mapping[str, str],
    progress: Progress = ignore_progress,
    check: Check = never_stop,
) -> tuple[list[Hit], Reranking]:
    """The hits with their first ``top`` in the reranker's order, ties by document id descending.

    Raises:
        BrightInspectError: the reranker gave what is no score, or failed.
    """
    candidates = [hit for hit in hits[:top] if hit.doc_id in texts]
    found = reranker.score(text, [texts[hit.doc_id] for hit in candidates], progress, check) if candidates else None
    scores = _scores(reranker, found, len(candidates)) if found else []
    scored = [Hit(hit.doc_id, score) for hit, score in zip(candidates, scores, strict=True)]
    scored.sort(key=lambda hit: encode(hit.doc_id), reverse=True)
    scored.sort(key=lambda hit: -hit.score)
    chosen = {hit.doc_id for hit in candidates}
    rest = [hit for hit in hits if hit.doc_id not in chosen]
    lowest = scored[-1].score if scored else 0.0
    # In float32, as scores are compared, every step must still count.
    step = max(1.0, abs(lowest) * 1e-5)
    below = [Hit(hit.doc_id, lowest - step * place) for place, hit in enumerate(rest, 1)]
    cut = found.cut if found else ()
    known = [was_cut for was_cut in cut if was_cut is not None]
    count = sum(known) if len(known) == len(cut) else None
    return [*scored, *below], Reranking(len(scored), count, min(top, len(hits)) - len(candidates))


def _scores(reranker: Reranker, found: Reranked, documents: int) -> list[float]:
    scores = [float(score) for score in found.scores]
    if len(scores) != documents or len(found.cut) != documents:
        raise BrightInspectError(f"{reranker.name}: it gave {len(scores)} scores for {documents} documents.")
    if wrong := [score for score in scores if not math.isfinite(score)]:
        raise BrightInspectError(
            f"{reranker.name}: {len(wrong)} of {documents} scores are no numbers ({wrong[0]}).",
            "Try --precision float32.",
        )
    return scores


class RerankingRetriever:
    """A retriever whose lists are reranked; see ``Retriever``."""

    def __init__(
        self, retriever: Retriever, reranker: Reranker, top: int, texts: Texts, progress: Progress = ignore_progress
    ) -> None:
        self.name = f"{retriever.name}+{reranker.name}"
        self.device = retriever.device if retriever.device == reranker.device else reranker.device
        self._retriever, self._reranker, self._top, self._texts = retriever, reranker, top, texts
        self._progress = progress

    @property
    def first_stage(self) -> Retriever:
        """The retriever whose lists are reranked."""
        return self._retriever

    @property
    def provenance(self) -> dict[str, str | int | float | None]:
        return {
            **provenance_of(self._retriever),
            "retriever": self._retriever.name,
            "reranker": self._reranker.name,
            "reranked_top": self._top,
            "reranker_max_length": self._reranker.max_length,
            **provenance_of(self._reranker),
        }

    def search(self, texts: Sequence[str], k: int, excluded: Exclusions = (), check: Check = never_stop) -> list[Found]:
        """The best ``k`` documents for each text, of at least ``top`` that were found; see ``Retriever.search``."""
        lists = self._retriever.search(texts, max(k, self._top), excluded, check)
        wanted = {hit.doc_id for found in lists for hit in found.hits[: self._top]}
        at_hand = self._texts(wanted)
        answers = []
        for text, found in zip(texts, lists, strict=True):
            check()
            hits, what = rerank(self._reranker, text, found.hits, self._top, at_hand, self._progress, check)
            answers.append(Found(hits[:k], found.shortfall if len(hits) < k else "", what))
        return answers

"""Retrievers and rerankers of a user's own, named ``tests.tui.own_retrievers:make_…``."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path

from bright_inspect.retrieval.protocol import (
    Check,
    Corpus,
    Exclusions,
    Found,
    Hit,
    Progress,
    Reranked,
    Sent,
    SentenceScore,
    ignore_progress,
    never_stop,
)

SLOW_STEPS = 400
DEAF_SECONDS = 4.0


class BySentence:
    """Finds every document; of its sentences, cut at full stops, the shortest is the closest."""

    name, device = "by-sentence", "cpu"

    def __init__(self, corpus: Corpus) -> None:
        self._ids = sorted((doc_id for doc_id, _ in corpus.read()), reverse=True)

    def search(self, texts: Sequence[str], k: int, excluded: Exclusions = (), check: Check = never_stop) -> list[Found]:
        barred = [set(each) for each in excluded] or [set()] * len(texts)
        return [Found([Hit(each, 1.0) for each in self._ids if each not in out][:k]) for out in barred]

    def sentence_scores(self, text: str, document: str, check: Check = never_stop) -> list[SentenceScore]:
        scores, start = [], 0
        for sentence in document.split("."):
            if sentence.strip():
                scores.append(SentenceScore(start, start + len(sentence), 1 / len(sentence), start < 40))
            start += len(sentence) + 1
        return scores

    def sent(self, text: str) -> Sent:
        return Sent("ask:\n", "", "BRIGHT's table", 8, len(text.split()))


def make_by_sentence(corpus: Corpus, cache_folder: Path, progress: Progress, check: Check) -> BySentence:
    return BySentence(corpus)


def make_slow(corpus: Corpus, cache_folder: Path, progress: Progress, check: Check) -> BySentence:
    """Takes 20 seconds unless it is stopped."""
    for step in range(SLOW_STEPS):
        check()
        progress(step, SLOW_STEPS, "encoding documents on cpu")
        time.sleep(0.05)
    return BySentence(corpus)


class ByLength:
    """Prefers short documents, and reads 30 characters of them."""

    name, device, max_length = "by-length", "cpu", 30

    def score(
        self, text: str, documents: Sequence[str], progress: Progress = ignore_progress, check: Check = never_stop
    ) -> Reranked:
        return Reranked([-float(len(document)) for document in documents], [len(each) > 30 for each in documents])


def make_by_length(cache_folder: Path, progress: Progress, check: Check) -> ByLength:
    return ByLength()


def make_deaf(corpus: Corpus, cache_folder: Path, progress: Progress, check: Check) -> BySentence:
    """Takes a long step in which it cannot be stopped, as a batch on a slow machine is."""
    progress(0, 2, "encoding documents on cpu")
    time.sleep(DEAF_SECONDS)
    check()
    return BySentence(corpus)

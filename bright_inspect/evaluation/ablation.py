"""What each sentence of a query's text is worth: the text searched without it, sentence by sentence."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from bright_inspect.domain.measures import Measure
from bright_inspect.domain.rankings import Ranking
from bright_inspect.errors import BrightInspectError
from bright_inspect.evaluation.live import found_ranking, ranking_value
from bright_inspect.retrieval.protocol import Check, Progress, Retriever, ignore_progress, never_stop
from bright_inspect.retrieval.sentences import sentences
from bright_inspect.store.query_view import QueryView

#: Texts searched between two looks at whether to stop.
BATCH = 16


@dataclass(frozen=True, slots=True)
class SentenceLoss:
    """The search without one sentence, ``text`` at ``start:end`` of the whole.

    ``value`` is what is left, and ``delta`` = ``value`` − the value with it: below 0 where the sentence helps.
    ``rank`` is the best gold's without it and ``rank_with`` with it; None where no gold is within the depth.
    """

    start: int
    end: int
    text: str
    value: float
    delta: float
    rank: int | None
    rank_with: int | None


@dataclass(frozen=True, slots=True)
class Ablation:
    """A text searched whole, and without each of its sentences, which are in the text's order. ``value`` and ``rank``
    are the whole text's; ranks go down to ``depth``."""

    retriever: str
    measure: Measure
    depth: int
    value: float
    rank: int | None
    sentences: tuple[SentenceLoss, ...]


def ablate(
    retriever: Retriever,
    view: QueryView,
    text: str,
    depth: int,
    measure: Measure,
    check: Check = never_stop,
    progress: Progress = ignore_progress,
) -> Ablation:
    """Search a text of the query in view whole and without each sentence, excluded documents removed before the cut to
    ``depth``.

    Raises:
        BrightInspectError: the query has no judgments, or the text has no two sentences.
    """
    if not view.judgments:
        raise BrightInspectError(
            f"query {view.key.query_id} has no judgments: nothing says what a sentence is worth.",
            "Give some with --qrels.",
        )
    spans = sentences(text)
    if len(spans) < 2:
        found = "one sentence" if spans else "no sentence"
        raise BrightInspectError(f"the text has {found}: there is nothing to leave out.", "It takes two or more.")
    losses: list[SentenceLoss] = []
    progress(0, len(spans) + 1, "searching without each sentence")
    (whole,) = _search(retriever, view, [text], depth, check)
    value, rank = _value(whole, view, measure), _best_gold(whole, view)
    for first in range(0, len(spans), BATCH):
        check()
        progress(first + 1, len(spans) + 1, "searching without each sentence")
        batch = range(first, min(first + BATCH, len(spans)))
        rankings = _search(retriever, view, [without_sentence(text, spans[number]) for number in batch], depth, check)
        for number, ranking in zip(batch, rankings, strict=True):
            start, end = spans[number]
            left = _value(ranking, view, measure)
            losses.append(
                SentenceLoss(start, end, text[start:end], left, left - value, _best_gold(ranking, view), rank)
            )
    progress(len(spans) + 1, len(spans) + 1, "searching without each sentence")
    return Ablation(retriever.name, measure, depth, value, rank, tuple(losses))


def without_sentence(text: str, span: tuple[int, int]) -> str:
    """The text without a sentence: of the blanks before and after it those stay that part more, a blank line rather
    than a space; none at the beginning or end."""
    before, after = text[: span[0]], text[span[1] :]
    head, tail = before.rstrip(), after.lstrip()
    if not head or not tail:
        return head + tail
    gaps = before[len(head) :], after[: len(after) - len(tail)]
    return head + max(gaps, key=lambda gap: (gap.count("\n"), len(gap) > 0)) + tail


def costliest_first(losses: Iterable[SentenceLoss]) -> list[SentenceLoss]:
    """The sentences whose loss costs most first: by value, then by how far the best gold falls, then in the text's
    order. Those whose loss helps come last."""
    return sorted(losses, key=lambda loss: (loss.delta, -_fall(loss), loss.start))


def _fall(loss: SentenceLoss) -> float:
    """By how many ranks the best gold falls; beyond the depth is further than any rank."""
    if loss.rank == loss.rank_with:
        return 0
    return (math.inf if loss.rank is None else loss.rank) - (math.inf if loss.rank_with is None else loss.rank_with)


def _search(retriever: Retriever, view: QueryView, texts: Sequence[str], depth: int, check: Check) -> list[Ranking]:
    excluded = frozenset(view.excluded)
    found = retriever.search(texts, depth, [excluded] * len(texts), check)
    return [found_ranking(answer, view.key) for answer in found]


def _value(ranking: Ranking, view: QueryView, measure: Measure) -> float:
    value = ranking_value(ranking, view, measure)
    assert value is not None  # it has judgments
    return value


def _best_gold(ranking: Ranking, view: QueryView) -> int | None:
    ranks = (ranking.ranks.get(gold.doc_id) for gold in view.golds)
    return min((rank for rank in ranks if rank is not None), default=None)

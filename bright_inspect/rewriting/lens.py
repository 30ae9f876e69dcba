"""One query looked at by two texts: both searched, and which words moved which document.

Everything is over the corpus at hand: of a part of it, idf and ranks are those of that part, which ``searched`` and
``of`` say.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from bright_inspect.domain.corpora import corpus_size
from bright_inspect.domain.measures import Measure
from bright_inspect.domain.names import ORIGINAL
from bright_inspect.domain.rankings import Ranking
from bright_inspect.evaluation.live import found_ranking, ranking_value
from bright_inspect.retrieval.protocol import Check, Corpus, Explains, Retriever
from bright_inspect.rewriting.added_terms import Pull, bridge_terms, drift_terms, risen
from bright_inspect.rewriting.recomputed import Recomputed, recompute
from bright_inspect.rewriting.term_changes import TextChange, term_scorer, text_change
from bright_inspect.store.query_view import QueryView
from bright_inspect.store.session import Session

#: Documents of each list that are shown.
SHOWN = 20
#: Documents that each text is searched for.
DEPTH = 100


@dataclass(frozen=True, slots=True)
class Lens:
    """Two texts of a query by one BM25: their lists, excluded documents removed, and values (fractions; None where the
    query has no judgments); the terms that pull golds and others; and for stored runs of these texts, by run id, how
    far their scores are recomputed.

    ``doc_ids`` are the documents to show: the first of the rewrite's list, those of the original's, and the golds that
    neither has, each once. ``places`` says where the words of each term stand in the rewrite. ``searched`` documents
    were searched ``of`` how many (None = not known).
    """

    retriever: str
    before: Ranking
    after: Ranking
    value_before: float | None
    value_after: float | None
    change: TextChange
    bridges: Pull
    drift: Pull
    doc_ids: tuple[str, ...]
    stored: Mapping[int, Recomputed]
    places: Mapping[str, Sequence[tuple[int, int]]]
    searched: int
    of: int | None

    @property
    def partial(self) -> bool:
        """Whether a part of the corpus was searched."""
        return self.of is not None and self.searched < self.of


def runs_by_text(session: Session, variant: str, original: str, rewrite: str) -> dict[int, str]:
    """The runs of BM25, by their names, that were made by the original or by this variant; each with its text."""
    texts = {ORIGINAL: original, variant: rewrite}
    return {
        run.run_id: texts[run.name.variant]
        for run in session.runs
        if run.name.variant in texts and "bm25" in run.name.system.lower()
    }


def look(
    retriever: Retriever,
    corpus: Corpus,
    view: QueryView,
    original: str,
    rewrite: str,
    measure: Measure,
    stored: Mapping[int, str],
    check: Check,
) -> Lens:
    """Search both texts and take the scores apart. ``stored`` are the runs to recompute, by id, with the text that each
    was made by; a run without a list for the query is passed over.

    Raises:
        BrightInspectError: the retriever's scores are no sums over terms.
    """
    first = term_scorer(retriever)
    excluded = frozenset(view.excluded)
    found = first.search([original, rewrite], DEPTH, [excluded, excluded], check)
    before, after = (found_ranking(one, view.key) for one in found)
    golds = [gold.doc_id for gold in view.golds]
    shown = dict.fromkeys(doc.doc_id for ranking in (after, before) for doc in ranking.docs[:SHOWN])
    doc_ids = tuple(dict.fromkeys((*shown, *golds)))
    check()
    change = text_change(first, corpus, original, rewrite, doc_ids)
    others = risen(before, after, golds)
    recomputed = {}
    for run_id, text in stored.items():
        check()
        if (ranking := view.rankings[run_id]) is not None:
            recomputed[run_id] = recompute(first, corpus, text, ranking.docs)
    return Lens(
        first.name,
        before,
        after,
        ranking_value(before, view, measure),
        ranking_value(after, view, measure),
        change,
        bridge_terms(change, golds, others),
        drift_terms(change, others, golds),
        doc_ids,
        recomputed,
        first.term_places(rewrite) if isinstance(first, Explains) else {},
        corpus.size,
        corpus_size(view.key.dataset, view.key.task) or corpus.whole,
    )

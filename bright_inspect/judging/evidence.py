"""What speaks for a candidate: each piece computed, named, and of a stated weight in the order by evidence.

Likeness to a gold is counted, not estimated as sketches such as MinHash do, because the share is shown: the hash of the
folded text, and the shared 5-grams of words, as products of SciPy's sparse matrices.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Literal, get_args

from bright_inspect.db import Cursor
from bright_inspect.domain.pages import page_of, page_stem
from bright_inspect.domain.rankings import QueryKey
from bright_inspect.judging.candidates import Candidate, CandidatePool
from bright_inspect.retrieval.protocol import Check, Progress, Retriever, ignore_progress, never_stop
from bright_inspect.store.collections import TaskKey, task_condition
from bright_inspect.store.session import Session

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

EvidenceKind = Literal["identical", "jaccard", "contained", "sibling", "similarity", "reranker", "agreement"]
EVIDENCE_KINDS: tuple[EvidenceKind, ...] = get_args(EvidenceKind)

#: The kinds that tell how like a gold a document is.
GOLD_LIKENESS: frozenset[EvidenceKind] = frozenset({"identical", "jaccard", "contained", "sibling", "similarity"})


@dataclass(frozen=True, slots=True)
class Weight:
    """What a kind of evidence with value 1 adds to the score, and why so much."""

    weight: float
    reason: str


#: An identical text has the first three in full, 17: more than all the others together can make of another one.
WEIGHTS: Mapping[EvidenceKind, Weight] = {
    "identical": Weight(10, "the same text is as relevant as the gold: it only has another id"),
    "jaccard": Weight(4, "texts that share most of their wording are versions of one another"),
    "contained": Weight(3, "a part of a gold, or a text with a gold in it, may hold what makes it relevant, or not"),
    "sibling": Weight(2, "BRIGHT's annotators chose pages, then passages: the page was found relevant"),
    "similarity": Weight(1.5, "it is on the gold's topic; many documents are, and most of them do not help"),
    "reranker": Weight(1.5, "a model read query and document together, and models err"),
    "agreement": Weight(1, "runs that rank a document near the top are often of one kind and err together"),
}

#: Words in a shingle (Broder, On the resemblance and containment of documents, 1997, takes few words as well).
SHINGLE_WORDS = 5
#: Overlaps below this are phrases that any two texts of a field share.
LEAST_OVERLAP = 0.05
#: How far down the list for a gold's text its like are looked for.
SIMILAR_DEPTH = 1000

# Words, and what is neither blank nor one of ASCII's punctuation marks.
_TOKEN = re.compile(r"""[^\W_]+|[^\w\s!"#%&'()*,\-./:;?@\[\\\]{}]""")
#: What the words of a shingle are multiplied by, so that their order counts: odd numbers without a pattern.
_PLACES = (0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9, 0xD6E8FEB86659FD93, 0xFF51AFD7ED558CCD)
#: Texts whose prints are kept: passages come back as candidates and golds of several queries.
_KEPT_PRINTS = 512


@dataclass(frozen=True, slots=True)
class Evidence:
    """One piece: ``value`` from 0 to 1, said in words in ``text``; ``gold_id`` is the gold it speaks of, if it is of
    one; ``weight`` as in ``WEIGHTS``."""

    kind: EvidenceKind
    value: float
    text: str
    gold_id: str | None
    weight: float

    @property
    def points(self) -> float:
        """What it adds to the score."""
        return self.weight * self.value


def evidence_score(pieces: Iterable[Evidence]) -> float:
    """The weighted sum."""
    return sum(piece.points for piece in pieces)


def folded_words(text: str) -> list[str]:
    """The words of a text and its symbols, such as + and =, whatever their case, width, spacing and punctuation."""
    folded = text.casefold() if text.isascii() else unicodedata.normalize("NFKC", text).casefold()
    return [token for token in _TOKEN.findall(folded) if len(token) > 1 or token.isascii() or not _is_mark(token)]


@lru_cache(maxsize=4096)
def _is_mark(token: str) -> bool:
    return unicodedata.category(token).startswith("P")


@dataclass(frozen=True, slots=True, eq=False)
class TextPrint:
    """What is compared of a text: a digest that texts with the same folded words share, and its different shingles,
    each 5 words in a row, as sorted 64-bit numbers. A text of fewer words is one shingle; one of none has none."""

    digest: bytes
    shingles: npt.NDArray[np.uint64]

    def __len__(self) -> int:
        return len(self.shingles)


@lru_cache(maxsize=_KEPT_PRINTS)
def text_print(text: str) -> TextPrint:
    """Fold a text and take its print."""
    import numpy as np

    words = folded_words(text)
    digest = hashlib.blake2b(" ".join(words).encode("utf-8", "surrogatepass"), digest_size=16).digest()
    numbers = np.fromiter(map(hash, words), np.int64, len(words)).astype(np.uint64)
    size = min(SHINGLE_WORDS, len(words))
    whole = np.zeros(len(words) - size + 1 if words else 0, np.uint64)
    for place in range(size):
        whole += numbers[place : place + len(whole)] * np.uint64(_PLACES[place])
    return TextPrint(digest, np.unique(whole))


@dataclass(frozen=True, slots=True)
class GoldSide:
    """What is known of one query's golds. ``texts`` are those at hand; ``pages`` the ids of the pages that they were
    cut from; ``similar`` has, by gold, how similar other documents are to it, from 0 to 1, as
    ``similar_by`` has it."""

    gold_ids: tuple[str, ...] = ()
    texts: Mapping[str, str] = field(default_factory=dict)
    pages: tuple[str, ...] = ()
    similar: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    similar_by: str = ""


def query_evidence(
    candidates: Sequence[Candidate],
    texts: Mapping[str, str],
    golds: GoldSide,
    *,
    depth: int,
    runs: int,
    reranked: Mapping[str, float] | None = None,
) -> list[tuple[Evidence, ...]]:
    """The evidence for each candidate of one query, what counts most first.

    ``texts`` are those of the candidates that are at hand; ``depth`` is how far down a list counts as near its top, in
    how many of the ``runs`` that have the task; ``reranked`` the scores that a reranker gave the query's documents.
    """
    likeness = _text_evidence([texts.get(candidate.doc_id, "") for candidate in candidates], golds)
    stems = {page_stem(page) for page in golds.pages}
    gold_of_page = {page_of(gold_id, stems): gold_id for gold_id in reversed(golds.gold_ids)}
    found = []
    for candidate, pieces in zip(candidates, likeness, strict=True):
        page = page_of(candidate.doc_id, stems)
        if page is not None:
            gold_id = gold_of_page.get(page)
            pieces.append(_piece("sibling", 1.0, f"a passage of a gold's page, {page}", gold_id))
        if similar := _most_similar(candidate.doc_id, golds.similar):
            value, gold_id = similar
            said = f"for gold {gold_id}'s text, {golds.similar_by} gives it {100 * value:.0f} % of the gold's own score"
            pieces.append(_piece("similarity", value, said, gold_id))
        if reranked and candidate.doc_id in reranked:
            pieces.append(_reranker_piece(reranked[candidate.doc_id], reranked.values()))
        pieces.append(_agreement(candidate, depth, runs))
        found.append(tuple(sorted(pieces, key=lambda piece: -piece.points)))
    return found


def _piece(kind: EvidenceKind, value: float, text: str, gold_id: str | None = None) -> Evidence:
    return Evidence(kind, value, text, gold_id, WEIGHTS[kind].weight)


def _text_evidence(texts: Sequence[str], golds: GoldSide) -> list[list[Evidence]]:
    """How like the golds' texts each text is."""
    gold_ids = [gold_id for gold_id in golds.gold_ids if golds.texts.get(gold_id)]
    found: list[list[Evidence]] = [[] for _ in texts]
    if not gold_ids or not texts:
        return found
    own = [text_print(text) for text in texts]
    theirs = [text_print(golds.texts[gold_id]) for gold_id in gold_ids]
    same_text = {gold.digest: gold_ids[place] for place, gold in reversed(list(enumerate(theirs)))}
    shared = _shared(own, theirs).tolist()
    for place, pieces in enumerate(found):
        if not len(own[place]):
            continue
        same = same_text.get(own[place].digest)
        if same is not None:
            said = f"the text of gold {same}, but for spaces, case and punctuation"
            pieces.append(_piece("identical", 1.0, said, same))
        pieces += _overlap(len(own[place]), [len(gold) for gold in theirs], shared[place], gold_ids)
    return found


def _overlap(own: int, theirs: Sequence[int], shared: Sequence[int], gold_ids: Sequence[str]) -> list[Evidence]:
    """Jaccard's index, and the share of the smaller text that stands in the other, each with the gold that has most, by
    how many shingles each text has and shares."""
    jaccard = [count / ((own + gold - count) or 1) for count, gold in zip(shared, theirs, strict=True)]
    contained = [count / (min(own, gold) or 1) for count, gold in zip(shared, theirs, strict=True)]
    pieces = []
    best = max(range(len(gold_ids)), key=lambda gold: jaccard[gold])
    if jaccard[best] >= LEAST_OVERLAP:
        both = own + theirs[best] - shared[best]
        said = (
            f"{shared[best]:,} of {both:,} {SHINGLE_WORDS}-word shingles are both its own and gold {gold_ids[best]}'s"
        )
        pieces.append(_piece("jaccard", jaccard[best], said, gold_ids[best]))
    best = max(range(len(gold_ids)), key=lambda gold: (contained[gold], jaccard[gold]))
    if contained[best] >= LEAST_OVERLAP:
        of_gold = theirs[best] < own
        whose = f"gold {gold_ids[best]}'s" if of_gold else "its"
        where = "in it" if of_gold else f"in gold {gold_ids[best]}"
        said = f"{shared[best]:,} of {whose} {min(own, theirs[best]):,} shingles stand {where}"
        pieces.append(_piece("contained", contained[best], said, gold_ids[best]))
    return pieces


def _shared(own: Sequence[TextPrint], theirs: Sequence[TextPrint]) -> npt.NDArray[np.int64]:
    """How many shingles each of our texts has in common with each of theirs."""
    import numpy as np
    from scipy.sparse import csr_array

    # Only the golds' shingles can be shared; the others need no column.
    known = np.unique(np.concatenate([text.shingles for text in theirs]))
    if not len(known):
        return np.zeros((len(own), len(theirs)), np.int64)

    def matrix(texts: Sequence[TextPrint]) -> csr_array:
        columns = []
        for text in texts:
            places = np.minimum(np.searchsorted(known, text.shingles), len(known) - 1)
            columns.append(places[known[places] == text.shingles])
        starts = np.concatenate(([0], np.cumsum([len(row) for row in columns], dtype=np.int64)))
        places = np.concatenate(columns)
        return csr_array((np.ones(len(places), np.int64), places, starts), shape=(len(texts), len(known)))

    counts: npt.NDArray[np.int64] = (matrix(own) @ matrix(theirs).T).toarray()
    return counts


def _most_similar(doc_id: str, similar: Mapping[str, Mapping[str, float]]) -> tuple[float, str] | None:
    found = [(documents[doc_id], gold_id) for gold_id, documents in similar.items() if doc_id in documents]
    return max(found, key=lambda pair: pair[0], default=None)


def _reranker_piece(score: float, scores: Collection[float]) -> Evidence:
    """Rerankers score on any scale: what counts is the place between the lowest and the highest of the query."""
    lowest, highest = min(scores), max(scores)
    value = (score - lowest) / (highest - lowest) if highest > lowest else 0.0
    return _piece(
        "reranker", value, f"reranker's score {score:.4g}, between {lowest:.4g} and {highest:.4g} for this query"
    )


def _agreement(candidate: Candidate, depth: int, runs: int) -> Evidence:
    near = sum(rank is not None and rank <= depth for rank in candidate.ranks)
    said = f"in the top {depth} of {near} of {runs} run{'' if runs == 1 else 's'}, best rank {candidate.best_rank}"
    return _piece("agreement", near / max(runs, 1), said)


def gold_similarities(
    retriever: Retriever, golds: Mapping[str, str], check: Check = never_stop
) -> dict[str, dict[str, float]]:
    """For each gold's text, searched for, how near to it other documents come: their score as a share of its own, from
    0 to 1; where the gold is not found by its own text, as a share of the best score."""
    similar: dict[str, dict[str, float]] = {}
    for gold_id, text in golds.items():
        check()
        (found,) = retriever.search([text], SIMILAR_DEPTH, (), check)
        scores = {hit.doc_id: hit.score for hit in found.hits}
        own = scores.get(gold_id, max(scores.values(), default=0.0))
        if own > 0:
            similar[gold_id] = {
                doc_id: min(score / own, 1.0) for doc_id, score in scores.items() if doc_id != gold_id and score > 0
            }
    return similar


def pool_evidence(
    session: Session,
    cursor: Cursor,
    pool: CandidatePool,
    *,
    retrievers: Mapping[TaskKey, Retriever] | None = None,
    reranked: Mapping[QueryKey, Mapping[str, float]] | None = None,
    progress: Progress = ignore_progress,
    check: Check = never_stop,
) -> list[tuple[Evidence, ...]]:
    """The evidence for every candidate of a pool, in its order. The corpus is read once a task.

    ``retrievers`` have an index of the task's corpus, where there is one; ``reranked`` has scores that a reranker gave.
    """
    by_task: dict[TaskKey, list[tuple[QueryKey, range]]] = {}
    for key, places in pool.by_query():
        by_task.setdefault((key.dataset, key.task), []).append((key, places))
    found: list[tuple[Evidence, ...]] = [()] * len(pool)
    done, queries = 0, sum(map(len, by_task.values()))
    for task, listed in by_task.items():
        check()
        progress(done, queries, f"reading the texts of {task[1]}")
        golds, pages = _golds_and_pages(cursor, task)
        wanted = {pool.doc_ids[place] for _, places in listed for place in places}
        texts = _texts(session, cursor, task, wanted.union(*(golds.get(key.query_id, ()) for key, _ in listed)))
        retriever = (retrievers or {}).get(task)
        runs = sum(task in run.tasks for run in session.runs)
        for key, places in listed:
            check()
            progress(done, queries, f"comparing with the golds of {task[1]}")
            own = tuple(golds.get(key.query_id, ()))
            own_texts = {gold_id: texts[gold_id] for gold_id in own if gold_id in texts}
            similar = gold_similarities(retriever, own_texts, check) if retriever is not None else {}
            name = retriever.name if retriever is not None else ""
            side = GoldSide(own, own_texts, tuple(pages.get(key.query_id, ())), similar, name)
            scores = (reranked or {}).get(key)
            candidates = pool[places.start : places.stop]
            found[places.start : places.stop] = query_evidence(
                candidates, texts, side, depth=pool.depth, runs=runs, reranked=scores
            )
            done += 1
    return found


def _golds_and_pages(cursor: Cursor, task: TaskKey) -> tuple[dict[str, list[str]], dict[str, list[str]]]:
    """By query, the golds and the pages that they were cut from."""
    golds = cursor.execute(
        f"""SELECT query_id, list(doc_id ORDER BY doc_id) FROM qrels
            WHERE {task_condition(task)} AND relevance > 0 GROUP BY ALL"""
    ).fetchall()
    pages = cursor.execute(
        f"SELECT query_id, list(page_id ORDER BY page_id) FROM gold_pages WHERE {task_condition(task)} GROUP BY ALL"
    ).fetchall()
    return dict(golds), dict(pages)


def _texts(session: Session, cursor: Cursor, task: TaskKey, doc_ids: Collection[str]) -> dict[str, str]:
    """The texts at hand, in one pass over the corpus."""
    source = session.collections.source(task)
    corpus = source.documents_sql(*task) if source else None
    if corpus is None:
        return {}
    # Runs made with a prebuilt Lucene index have underscores for the spaces in BRIGHT's ids (FORMATS A.5).
    rows = cursor.execute(
        f"""SELECT id, content FROM (
                SELECT unnest(if(contains(doc_id, ' '), [doc_id, replace(doc_id, ' ', '_')], [doc_id])) AS id, content
                FROM ({corpus}))
            WHERE id IN (SELECT unnest(?))""",
        [list(doc_ids)],
    ).fetchall()
    return {doc_id: content for doc_id, content in rows if content is not None}

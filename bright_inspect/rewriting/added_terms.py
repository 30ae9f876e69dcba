"""The terms that a rewrite added: bridges to gold documents, and drift towards others.

Definitions. A term is *added* if the rewrite's analysis gives it and the original's does not. A *bridge* term is an
added term with a part above 0 in a gold document's score under the rewrite; a *drift* term is one with such a part in a
non-gold document that rose (``risen``, or any that the caller gives). A term may be both: each says in how many golds
and in how many of the others it is. A term in more than ``COMMON`` of the corpus' documents tells little of any, and is
folded: given apart.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from bright_inspect.domain.rankings import Ranking
from bright_inspect.retrieval.term_parts import Part
from bright_inspect.rewriting.term_changes import TextChange

#: Terms that are shown.
MOST = 10
#: The share of documents above which a term is folded.
COMMON = 0.1
#: How far down the rewrite's list documents are looked at for drift.
DEPTH = 10


@dataclass(frozen=True, slots=True)
class AddedTerm:
    """A term that the rewrite added, where its part is largest: ``part`` (in units of the score) in ``doc_id``, which
    has it ``tf`` times.

    ``surfaces`` are the words of the rewrite that became it, ``times`` counts them; ``documents`` of the corpus have
    it, which is ``share`` of them (0–1). ``golds`` and ``others`` say how many of the gold documents and of the other
    documents at hand have it.
    """

    term: str
    surfaces: tuple[str, ...]
    times: int
    idf: float
    documents: int
    share: float
    doc_id: str
    tf: int
    part: float
    golds: int
    others: int

    @property
    def word(self) -> str:
        """The first word of the text that became it; the term where there is none."""
        return self.surfaces[0] if self.surfaces else self.term


@dataclass(frozen=True, slots=True)
class AddedTerms:
    """Added terms, largest part first: the first of those that are not common, how many more of them there are, and the
    common ones, all of which are ``folded``."""

    terms: tuple[AddedTerm, ...]
    more: int
    folded: tuple[AddedTerm, ...]


@dataclass(frozen=True, slots=True)
class Pull:
    """What added terms pull: ``over_all`` documents asked for, each term where its part is largest, and (by
    ``in_document``) in each. ``documents`` are those at hand, in the order asked for, ``of`` how many were asked for.
    ``source`` names what idf is counted over."""

    over_all: AddedTerms
    documents: tuple[str, ...]
    of: int
    source: str
    _maker: _Maker

    @property
    def coverage(self) -> str:
        """``2 of 3``: documents at hand of those asked for."""
        return f"{len(self.documents):,} of {self.of:,}"

    def in_document(self, doc_id: str) -> AddedTerms:
        """The added terms in one of ``documents``.

        Raises:
            KeyError: it is none of those that were looked at.
        """
        return self._maker.made((doc_id, part) for part in self._maker.parts[doc_id])


def bridge_terms(change: TextChange, golds: Sequence[str], others: Sequence[str] = (), most: int = MOST) -> Pull:
    """The added terms that occur in the gold documents. Those of the documents that ``change`` was not asked about, or
    that the corpus lacks, are counted but have no terms."""
    return _pull(change, golds, golds, others, most)


def drift_terms(change: TextChange, others: Sequence[str], golds: Sequence[str] = (), most: int = MOST) -> Pull:
    """The added terms that pull ``others`` up, the non-gold documents that rose; golds among them are left out. As
    ``bridge_terms`` otherwise."""
    others = [doc_id for doc_id in others if doc_id not in golds]
    return _pull(change, others, golds, others, most)


def risen(original: Ranking, rewrite: Ranking, golds: Collection[str], depth: int = DEPTH) -> list[str]:
    """The non-gold documents among the first ``depth`` of the rewrite's list that rank better there than in the
    original's, or that the original's does not list; in the rewrite's order. Excluded documents are none of them."""
    found = []
    for doc in rewrite.docs:
        if doc.rank is not None and doc.rank <= depth and doc.doc_id not in golds:
            before = original.ranks.get(doc.doc_id)
            if before is None or before > doc.rank:
                found.append(doc.doc_id)
    return found


def _pull(change: TextChange, wanted: Sequence[str], golds: Sequence[str], others: Sequence[str], most: int) -> Pull:
    wanted = list(dict.fromkeys(wanted))
    looked_at = dict.fromkeys((*wanted, *golds, *others))
    parts = {doc_id: _added_parts(change, doc_id) for doc_id in looked_at if doc_id in change.rewrite.scores}
    in_golds = Counter(part.number for doc_id in parts.keys() & golds for part in parts[doc_id])
    in_others = Counter(part.number for doc_id in parts.keys() & others for part in parts[doc_id])
    maker = _Maker(change, parts, in_golds, in_others, most)
    best: dict[int, _Place] = {}
    for doc_id in wanted:
        for part in parts.get(doc_id, ()):
            if part.number not in best or part.contribution > best[part.number][1].contribution:
                best[part.number] = (doc_id, part)
    at_hand = tuple(doc_id for doc_id in wanted if doc_id in parts)
    return Pull(maker.made(best.values()), at_hand, len(wanted), change.source, maker)


def _added_parts(change: TextChange, doc_id: str) -> list[Part]:
    added = change.added
    return [part for part in change.rewrite.parts(doc_id) if part.number in added]


_Place = tuple[str, Part]


@dataclass(frozen=True, slots=True)
class _Maker:
    """Makes added terms from their parts: the added ones of each document."""

    change: TextChange
    parts: Mapping[str, Sequence[Part]]
    in_golds: Counter[int]
    in_others: Counter[int]
    most: int

    def made(self, places: Iterable[_Place]) -> AddedTerms:
        change = self.change
        pulling = [place for place in places if place[1].contribution > 0]
        pulling.sort(key=lambda place: (-place[1].contribution, change.rewrite.terms[place[1].number].term))
        sorted_out: tuple[list[_Place], list[_Place]] = ([], [])
        for place in pulling:
            sorted_out[change.share(change.rewrite.terms[place[1].number].documents) > COMMON].append(place)
        telling, common = sorted_out
        shown = tuple(self._term(*place) for place in telling[: self.most])
        return AddedTerms(shown, len(telling) - len(shown), tuple(self._term(*place) for place in common))

    def _term(self, doc_id: str, part: Part) -> AddedTerm:
        term = self.change.rewrite.terms[part.number]
        return AddedTerm(
            term.term,
            term.surfaces,
            term.times,
            term.idf,
            term.documents,
            self.change.share(term.documents),
            doc_id,
            part.tf,
            part.contribution,
            self.in_golds[part.number],
            self.in_others[part.number],
        )

"""Where one value comes from: rank by rank, and what other tools make of the same list."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

from bright_inspect.db import Cursor
from bright_inspect.domain.measures import Measure
from bright_inspect.domain.ordering import TieRule
from bright_inspect.domain.rankings import QueryKey
from bright_inspect.domain.ties import JudgedPlace, TieRange, tie_range
from bright_inspect.evaluation.conventions import CONVENTIONS, OURS, Convention, ListedDoc, QueryCase, QueryValue
from bright_inspect.evaluation.conventions.orders import FLOAT32, FLOAT64, STABLE, Order
from bright_inspect.evaluation.conventions.rules import repeated_docs
from bright_inspect.store.cases import FileList, FileRow, file_list
from bright_inspect.store.session import Run, Session

_LAST = 2**31
BY_RANK = Order(
    lambda docs: sorted(docs, key=lambda doc: (-doc.score, _LAST if doc.given_rank is None else doc.given_rank)),
    float,
    "the ranks that the file gives",
)
_ORDERS: dict[TieRule, Order] = {"trec": FLOAT32, "float64": FLOAT64, "file": STABLE, "rank": BY_RANK}


@dataclass(frozen=True, slots=True)
class AuditRow:
    """One document of the list. ``rank`` is None for an excluded one; ``given_rank`` and ``position`` (from 1) are the
    file's. ``relevance`` is None where the document is unjudged. ``discount`` is 1 / log2(rank + 1); ``contribution``
    is the part of the value that comes from here, so that the contributions add up to it. ``tied`` is (first, last)
    rank of the group of equal scores, None for a document that has no equal."""

    rank: int | None
    doc_id: str
    score: float
    given_rank: int | None
    position: int
    relevance: int | None
    gain: float
    discount: float
    contribution: float
    tied: tuple[int, int] | None


@dataclass(frozen=True, slots=True)
class IdealRow:
    """One document of the ideal list; ``found`` is its rank in the run, None if it is not listed or excluded."""

    rank: int
    doc_id: str
    relevance: int
    discount: float
    gain: float
    found: int | None


@dataclass(frozen=True, slots=True)
class ConventionRow:
    """What another tool makes of this query, and why that is not what we make of it."""

    convention: Convention
    value: QueryValue
    why: str


@dataclass(frozen=True, slots=True)
class Audit:
    """One run's value of one measure for one query (a fraction), taken apart.

    ``rows`` are the ranks that the measure looks at, with the excluded documents among them, and every gold below;
    ``ideal`` and ``ideal_gain`` are for nDCG only. ``depth`` is how many documents the run lists, excluded ones aside;
    ``excluded`` how many the query has, ``excluded_listed`` those that the run lists; ``unjudged`` how many documents
    within the cutoff nobody judged; ``repeated`` how often each document is listed that is so more than once.
    ``layers`` has the value by each layer's judgments, and ``ties`` what tie order does, None for measures without a
    range.
    """

    run: Run
    query: QueryKey
    measure: Measure
    tie_rule: TieRule
    layer: str
    value: float
    answered: bool
    rows: tuple[AuditRow, ...]
    ideal: tuple[IdealRow, ...]
    ideal_gain: float
    golds: int
    depth: int
    unjudged: int
    repeated: Mapping[str, int]
    excluded: int
    excluded_listed: tuple[str, ...]
    layers: Mapping[str, float]
    ties: TieRange | None
    conventions: tuple[ConventionRow, ...]


def query_case(listed: FileList, layer: str) -> QueryCase:
    """The query as a scorer gets it with the judgments of a layer."""
    docs = tuple(ListedDoc(row.doc_id, row.score, row.given_rank) for row in listed.rows or ())
    return QueryCase(
        listed.query_id, None if listed.rows is None else docs, listed.relevance.get(layer, {}), listed.excluded
    )


def our_convention(ties: TieRule) -> Convention:
    """Our own rule, with ties broken as the session breaks them."""
    return OURS if ties == "trec" else replace(OURS, order=_ORDERS[ties])


def audit(session: Session, cursor: Cursor, run: Run, key: QueryKey, measure: Measure) -> Audit:
    """Take a value apart. To be called once the runs are scored; cheap enough for a key press."""
    listed = file_list(session, cursor, run, key)
    layer = session.collections.layer_of((key.dataset, key.task))
    case = query_case(listed, layer)
    ours = our_convention(session.ties)
    ranked = ours.ranked(case, measure)
    ranks = {doc.doc_id: rank for rank, doc in enumerate(ranked, 1)}
    groups = _tied_groups(ranked, ours)
    most = _ideal_gain(measure, case)
    rows = _rows(measure, case, listed, ours, ranked, groups, most)
    cutoff = measure.cutoff or len(ranked)
    return Audit(
        run=run,
        query=key,
        measure=measure,
        tie_rule=session.ties,
        layer=layer,
        value=ours.query_value(measure, case).value or 0.0,
        answered=listed.rows is not None,
        rows=rows,
        ideal=_ideal(measure, case, ranks) if measure.kind == "nDCG" else (),
        ideal_gain=most,
        golds=sum(grade > 0 for grade in case.relevance.values()),
        depth=len(ranked),
        unjudged=sum(doc.doc_id not in case.relevance for doc in ranked[:cutoff]),
        repeated=repeated_docs(case.listed or ()),
        excluded=len(case.excluded),
        excluded_listed=tuple(dict.fromkeys(doc.doc_id for doc in case.listed or () if doc.doc_id in case.excluded)),
        layers={name: ours.query_value(measure, query_case(listed, name)).value or 0.0 for name in listed.relevance},
        ties=_range(measure, case, groups, len(ranked)),
        conventions=tuple(
            ConventionRow(convention, convention.query_value(measure, case), convention.why(measure, case))
            for convention in CONVENTIONS
            if convention.name != OURS.name
        ),
    )


def _tied_groups(ranked: list[ListedDoc], ours: Convention) -> dict[str, tuple[int, int]]:
    """First and last rank of the documents with the score of each document."""
    groups: dict[float, tuple[int, int]] = {}
    for rank, doc in enumerate(ranked, 1):
        key = ours.order.key(doc.score)
        groups[key] = (groups.get(key, (rank, rank))[0], rank)
    return {doc.doc_id: groups[ours.order.key(doc.score)] for doc in ranked}


def _range(measure: Measure, case: QueryCase, groups: Mapping[str, tuple[int, int]], depth: int) -> TieRange | None:
    if measure.kind == "Judged":
        return None
    places = [
        JudgedPlace(grade, groups[doc_id][0] - 1, groups[doc_id][1] - groups[doc_id][0] + 1)
        for doc_id, grade in case.relevance.items()
        if doc_id in groups
    ]
    return tie_range(measure, places, list(case.relevance.values()), depth)


def _ideal_order(case: QueryCase) -> list[tuple[str, int]]:
    golds = [(doc_id, grade) for doc_id, grade in case.relevance.items() if grade > 0]
    return sorted(golds, key=lambda gold: (-gold[1], gold[0]))


def _ideal_gain(measure: Measure, case: QueryCase) -> float:
    if measure.kind != "nDCG":
        return 0.0
    ideal = _ideal_order(case)[: measure.cutoff]
    return math.fsum(grade * discount(rank) for rank, (_, grade) in enumerate(ideal, 1))


def _ideal(measure: Measure, case: QueryCase, ranks: Mapping[str, int]) -> tuple[IdealRow, ...]:
    return tuple(
        IdealRow(rank, doc_id, grade, discount(rank), grade * discount(rank), ranks.get(doc_id))
        for rank, (doc_id, grade) in enumerate(_ideal_order(case)[: measure.cutoff], 1)
    )


def discount(rank: int) -> float:
    """What nDCG counts a rank (from 1): 1 / log2(rank + 1) (trec_eval m_ndcg_cut.c)."""
    return 1 / math.log2(rank + 1)


def _rows(
    measure: Measure,
    case: QueryCase,
    listed: FileList,
    ours: Convention,
    ranked: list[ListedDoc],
    groups: Mapping[str, tuple[int, int]],
    most: float,
) -> tuple[AuditRow, ...]:
    file_rows: dict[str, tuple[int, FileRow]] = {}
    for number, row in enumerate(listed.rows or (), 1):
        # Of a document that is listed again the row that counts, as ours.kept settles it.
        if row.doc_id not in file_rows or row.score > file_rows[row.doc_id][1].score:
            file_rows[row.doc_id] = (number, row)
    ranks = {doc.doc_id: rank for rank, doc in enumerate(ranked, 1)}
    cutoff = measure.cutoff or len(ranked)
    shares = _contributions(measure, case, ranked, most)
    # Excluded documents stand where their score would have put them.
    removed = {doc.doc_id: doc for doc in case.listed or () if doc.doc_id not in ranks}
    everyone = ours.order.rank([*ranked, *removed.values()]) if removed else ranked
    rows = []
    last = 0
    for doc in everyone:
        rank = ranks.get(doc.doc_id)
        last = rank or last
        relevance = case.relevance.get(doc.doc_id)
        if last > cutoff and (rank is None or not (relevance or 0) > 0):
            continue
        gain = float(max(relevance or 0, 0))
        first, final = groups.get(doc.doc_id, (0, 0))
        number, row = file_rows[doc.doc_id]
        rows.append(
            AuditRow(
                rank,
                doc.doc_id,
                doc.score,
                row.given_rank,
                number,
                relevance,
                gain if rank else 0.0,
                discount(rank) if rank else 0.0,
                shares.get(doc.doc_id, 0.0),
                (first, final) if final > first else None,
            )
        )
    return tuple(rows)


def _contributions(measure: Measure, case: QueryCase, ranked: list[ListedDoc], most: float) -> dict[str, float]:
    """The part of the value that each document gives; they add up to the value."""
    golds = sum(grade > 0 for grade in case.relevance.values())
    shares: dict[str, float] = {}
    hits = 0
    top = ranked[: measure.cutoff]
    for rank, doc in enumerate(top, 1):
        grade = case.relevance.get(doc.doc_id)
        if measure.kind == "Judged":
            if grade is not None:
                shares[doc.doc_id] = 1 / len(top)
            continue
        if grade is None or grade <= 0:
            continue
        hits += 1
        if measure.kind == "nDCG":
            shares[doc.doc_id] = grade * discount(rank) / most
        elif measure.kind == "AP":
            shares[doc.doc_id] = hits / rank / golds
        elif measure.kind == "R":
            shares[doc.doc_id] = 1 / golds
        elif measure.kind == "P":
            shares[doc.doc_id] = 1 / (measure.cutoff or 1)
        elif hits == 1:
            shares[doc.doc_id] = 1 / rank
    return shares

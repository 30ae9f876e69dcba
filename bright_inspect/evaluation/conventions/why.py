"""Says in one line which documents, ranks and scores set a convention's value apart from ours."""

from __future__ import annotations

import math
from collections.abc import Sequence

from bright_inspect.domain.measures import Measure
from bright_inspect.domain.tally import TIE_TOLERANCE
from bright_inspect.evaluation.conventions.cases import ListedDoc, QueryCase
from bright_inspect.evaluation.conventions.orders import float32
from bright_inspect.evaluation.conventions.rules import Convention, repeated_docs


def explain_difference(theirs: Convention, measure: Measure, case: QueryCase) -> str:
    """What sets ``theirs`` apart from ours for this query, causes first, ending in both values."""
    from bright_inspect.evaluation.conventions.known import OURS

    if theirs.name == OURS.name:
        return "this is our own rule"
    ours_value, value = OURS.query_value(measure, case), theirs.query_value(measure, case)
    if value.value is None or case.listed is None:
        return value.reason
    if ours_value.value is None:
        return f"{ours_value.reason}: ours leaves it out of the mean, here it is {value.value:.4f}"
    causes = [
        *_duplicates(theirs, case),
        *_removal(theirs, OURS, measure, case),
        *_not_numbers(theirs, case),
        *_order(theirs, OURS, measure, case),
        *_ideal(theirs, measure, case),
        *_gains(theirs, measure, case),
    ]
    if abs(value.value - ours_value.value) <= TIE_TOLERANCE:
        return f"the same as ours here, {value.value:.4f}" + (f", although {'; '.join(causes)}" if causes else "")
    return f"{'; '.join(causes)}: {value.value:.4f}, ours {ours_value.value:.4f}"


def _duplicates(theirs: Convention, case: QueryCase) -> list[str]:
    repeated = repeated_docs(doc for doc in case.listed or () if doc.doc_id not in theirs.removed(case))
    if not repeated or theirs.duplicates == "best":
        return []
    doc_id, count = next(iter(repeated.items()))
    scores = ", ".join(repr(doc.score) for doc in case.listed or () if doc.doc_id == doc_id)
    what = {"last": "the last counts", "first": "the first counts", "all": "each counts"}[theirs.duplicates]
    return [f"{doc_id} is listed {count} times ({scores}): {what}, by ours the best" + _more(len(repeated))]


def _removal(theirs: Convention, ours: Convention, measure: Measure, case: QueryCase) -> list[str]:
    here, there = theirs.removed(case), ours.removed(case)
    causes = []
    if kept := [
        (rank, doc.doc_id) for rank, doc in enumerate(theirs.ranked(case, measure), 1) if doc.doc_id in there - here
    ]:
        causes.append(f"excluded {kept[0][1]} stays in at rank {kept[0][0]}" + _more(len(kept)))
    if own := [doc.doc_id for doc in case.listed or () if doc.doc_id in here - there]:
        causes.append(f"{own[0]} is removed, its id is the query's")
    return causes


def _not_numbers(theirs: Convention, case: QueryCase) -> list[str]:
    odd = [doc.doc_id for doc in theirs.kept(case) if math.isnan(doc.score)]
    return [f"{odd[0]} has score NaN and stays in, by ours it is left out" + _more(len(odd))] if odd else []


def _order(theirs: Convention, ours: Convention, measure: Measure, case: QueryCase) -> list[str]:
    """The first gold that stands elsewhere among the documents that both rank, and one that it swaps places with."""
    here, there = theirs.ranked(case, measure), ours.ranked(case, measure)
    common = {doc.doc_id for doc in here} & {doc.doc_id for doc in there}
    here, there = ([doc for doc in docs if doc.doc_id in common] for docs in (here, there))
    place_here, place_there = (_places(docs) for docs in (here, there))
    cutoff = measure.cutoff or len(common)
    moved = [
        doc
        for doc in there
        if case.relevance.get(doc.doc_id, 0) > 0 or measure.kind == "Judged"
        if place_here[doc.doc_id] != place_there[doc.doc_id]
        and min(place_here[doc.doc_id], place_there[doc.doc_id]) <= cutoff
    ]
    held = {doc.doc_id: doc for doc in here}
    for gold in moved:
        for other in there:
            first_here = place_here[gold.doc_id] < place_here[other.doc_id]
            first_there = place_there[gold.doc_id] < place_there[other.doc_id]
            if other.doc_id != gold.doc_id and first_here != first_there:
                first, second = (gold, other) if first_here else (other, gold)
                tied = float32(first.score) == float32(second.score)
                swap = _swap(theirs, measure, held[first.doc_id], held[second.doc_id], tied)
                ranks = f"{gold.doc_id} at rank {place_here[gold.doc_id]}, by ours {place_there[gold.doc_id]}"
                return [f"{swap}; {ranks}" + _more(len(moved))]
    return []


def _swap(theirs: Convention, measure: Measure, first: ListedDoc, second: ListedDoc, tied_by_ours: bool) -> str:
    """Why ``first`` is before ``second`` here and not by ours."""
    rule = theirs.order_for(measure).tie
    if first.score == second.score:
        tie = f"{first.doc_id} and {second.doc_id} tie at {first.score!r}"
        ours = f"by ours {second.doc_id}" + (" (document id descending)" if tied_by_ours else "")
        return f"{tie}: {first.doc_id} first ({rule}), {ours}"
    scores = f"{first.doc_id} ({first.score!r}) before {second.doc_id} ({second.score!r})"
    if first.score < second.score:
        return f"{scores} by {rule}"
    return f"{scores}, which only float64 tells apart, by ours a tie" if tied_by_ours else scores


def _ideal(theirs: Convention, measure: Measure, case: QueryCase) -> list[str]:
    if measure.kind != "nDCG" or theirs.ideal == "judged":
        return []
    ranked = theirs.ranked(case, measure)
    top = ranked if theirs.sklearn else ranked[: measure.cutoff]
    found = sum(case.relevance.get(doc.doc_id, 0) > 0 for doc in top)
    golds = sum(grade > 0 for grade in case.relevance.values())
    return [f"the ideal is over the {found} of {golds} golds that were retrieved"] if found != golds else []


def _gains(theirs: Convention, measure: Measure, case: QueryCase) -> list[str]:
    causes = []
    if theirs.sklearn and len({doc.score for doc in theirs.kept(case)}) < len(theirs.kept(case)):
        causes.append("all orders of tied documents are averaged")
    if measure.kind != "nDCG":
        return causes
    for doc_id, relevance in case.relevance.items():
        gain = theirs.document_gain(theirs.grade(relevance))
        if relevance > 0 and gain != relevance:
            return [*causes, f"{doc_id} with grade {relevance} gains {gain:g}, by ours {relevance}"]
    return causes


def _places(docs: Sequence[ListedDoc]) -> dict[str, int]:
    """The rank of each document, the first of one listed twice."""
    places: dict[str, int] = {}
    for rank, doc in enumerate(docs, 1):
        places.setdefault(doc.doc_id, rank)
    return places


def _more(count: int) -> str:
    return f" (and {count - 1} more)" if count > 1 else ""

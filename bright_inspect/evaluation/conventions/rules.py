"""One tool's rule as data, and the value it gives."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from bright_inspect.domain.measures import Measure, MeasureKind
from bright_inspect.evaluation.conventions.cases import ListedDoc, QueryCase, QueryValue, TaskMean
from bright_inspect.evaluation.conventions.orders import FLOAT32, Order


@dataclass(frozen=True, slots=True, eq=False)
class Convention:
    """How one tool scores. ``rule`` is one sentence; ``source`` names the files it was read in.

    The other fields are the rule's parts; their defaults are bright-inspect's own.
    """

    name: str
    title: str
    source: str
    rule: str
    order: Order = FLOAT32
    #: Measures that the tool ranks for in another way, such as ``RR@k``.
    orders: Mapping[str, Order] = field(default_factory=dict)
    removes: Literal["excluded", "query id", "nothing"] = "excluded"
    duplicates: Literal["best", "first", "last", "all", "stops"] = "best"
    nan: Literal["left out", "undefined", "last", "stops"] = "left out"
    missing: Literal["zero", "dropped", "stops"] = "zero"
    #: The tool's option that makes missing queries count 0.
    zero_option: str = ""
    #: The order that this option leads to, where it is another one.
    zero_option_order: Order | None = None
    #: Kinds of measures for which missing queries are 0 although others drop them.
    missing_zero: frozenset[MeasureKind] = frozenset()
    unjudged_counts: bool = False
    empty_is_missing: bool = False
    stops_without_judgment: bool = False
    binary: bool = False
    gain: Literal["linear", "exponential"] = "linear"
    ideal: Literal["judged", "retrieved"] = "judged"
    #: sklearn's ways: the mean over tied orders, no grade below 0, at least two documents, finite scores.
    sklearn: bool = False
    decimals: int | None = None
    unrounded: frozenset[MeasureKind] = frozenset()
    lacks: Callable[[Measure], str | None] = lambda measure: None

    def query_value(self, measure: Measure, case: QueryCase) -> QueryValue:
        """The query's value by this rule."""
        if lack := self.lacks(measure):
            return QueryValue(None, "lacking", lack)
        if not case.relevance and not self.unjudged_counts:
            return QueryValue(None, "dropped", "nothing is judged for this query")
        if case.listed is None or (self.empty_is_missing and not case.listed):
            return self._missing_value(measure)
        if problem := self._problem(case):
            return problem
        relevance = {doc: self.grade(grade) for doc, grade in case.relevance.items()}
        return QueryValue(self._value(measure, self.ranked(case, measure), relevance))

    def _missing_value(self, measure: Measure) -> QueryValue:
        if self.missing == "stops":
            return QueryValue(0.0, "counted", f"0 with {self.zero_option}; without it the tool stops")
        if self.missing == "zero" or measure.kind in self.missing_zero:
            return QueryValue(0.0, "counted", "the run has no list for this query: 0")
        return QueryValue(None, "dropped", "the run has no list for this query: left out of the mean")

    def _problem(self, case: QueryCase) -> QueryValue | None:
        listed = case.listed or ()
        if self.duplicates == "stops" and (repeated := repeated_docs(listed)):
            return QueryValue(None, "stops", f"the tool stops: {next(iter(repeated))} is listed more than once")
        if self.stops_without_judgment and all(grade < 0 for grade in case.relevance.values()):
            return QueryValue(None, "stops", "the tool stops: every judgment of the query is below 0")
        not_numbers = [doc.doc_id for doc in listed if math.isnan(doc.score)]
        if not_numbers and self.nan == "undefined":
            reason = f"NaN compares equal to everything ({not_numbers[0]}): the order is whatever the sort leaves"
            return QueryValue(None, "undefined", reason)
        if self.sklearn:
            return self._sklearn_problem(case)
        return None

    def _sklearn_problem(self, case: QueryCase) -> QueryValue | None:
        listed = case.listed or ()
        if any(not math.isfinite(doc.score) for doc in listed):
            return QueryValue(None, "stops", "the tool stops: a score is not finite")
        if len(listed) < 2:
            return QueryValue(None, "stops", "the tool stops: a list of fewer than 2 documents")
        below = [doc.doc_id for doc in listed if case.relevance.get(doc.doc_id, 0) < 0]
        return QueryValue(None, "stops", f"the tool stops: {below[0]} has a grade below 0") if below else None

    def grade(self, relevance: int) -> int:
        """The relevance as the tool holds it."""
        return int(relevance > 0) if self.binary else relevance

    def removed(self, case: QueryCase) -> frozenset[str]:
        """The documents that the tool takes out of the list before ranking."""
        if self.removes == "excluded":
            return case.excluded
        return frozenset({case.query_id}) if self.removes == "query id" else frozenset()

    def kept(self, case: QueryCase) -> list[ListedDoc]:
        """The documents that are ranked, in the file's order."""
        removed = self.removed(case)
        docs = [doc for doc in case.listed or () if doc.doc_id not in removed]
        if self.nan == "left out":
            docs = [doc for doc in docs if not math.isnan(doc.score)]
        if self.duplicates == "all":
            return docs
        settled: dict[str, ListedDoc] = {}
        for doc in docs:
            earlier = settled.get(doc.doc_id)
            if self.duplicates == "best" and earlier is not None and doc.score > earlier.score:
                del settled[doc.doc_id]  # the better line counts, where it stands
                settled[doc.doc_id] = doc
            # A dict keeps the place of the first and the value of the last, as those of the tools do.
            elif earlier is None or self.duplicates == "last":
                settled[doc.doc_id] = doc
        return list(settled.values())

    def order_for(self, measure: Measure) -> Order:
        return self.orders.get(measure.kind if measure.cutoff is None else f"{measure.kind}@k", self.order)

    def ranked(self, case: QueryCase, measure: Measure) -> list[ListedDoc]:
        """The list as the tool ranks it for this measure, best first."""
        return self.order_for(measure).rank(self.kept(case))

    def _value(self, measure: Measure, ranked: Sequence[ListedDoc], relevance: Mapping[str, int]) -> float:
        if self.sklearn:
            return _tie_averaged(measure, ranked, relevance)
        top = [relevance.get(doc.doc_id) for doc in ranked[: measure.cutoff]]
        if measure.kind == "nDCG":
            ideal = self.ideal_grades(top, relevance)[: measure.cutoff]
            most = self._gain(ideal)
            return self._gain([grade or 0 for grade in top]) / most if most else 0.0
        if measure.kind == "Judged":
            return sum(grade is not None for grade in top) / len(top) if top else 0.0
        return _binary_value(measure, top, sum(grade > 0 for grade in relevance.values()))

    def ideal_grades(self, top: Iterable[int | None], relevance: Mapping[str, int]) -> list[int]:
        """The grades of the ideal ranking, not cut: of all judged documents, or of those retrieved only."""
        grades = relevance.values() if self.ideal == "judged" else (grade or 0 for grade in top)
        return sorted((grade for grade in grades if grade > 0), reverse=True)

    def _gain(self, grades: Sequence[int]) -> float:
        """Discounted cumulated gain; a grade below 0 gains nothing (trec_eval holds it as unjudged)."""
        return math.fsum(
            self.document_gain(grade) / math.log2(rank + 1) for rank, grade in enumerate(grades, 1) if grade > 0
        )

    def document_gain(self, grade: int) -> float:
        return float(grade) if self.gain == "linear" else 2.0**grade - 1

    def query_values(self, measure: Measure, cases: Sequence[QueryCase]) -> list[QueryValue]:
        """The values of a task's queries when the tool is given all of them."""
        missing = any(case.listed is None for case in cases)
        scorer = replace(self, order=self.zero_option_order) if missing and self.zero_option_order else self
        return [scorer.query_value(measure, case) for case in cases]

    def mean(self, measure: Measure, cases: Iterable[QueryCase], found: Sequence[QueryValue] | None = None) -> TaskMean:
        """The mean over a task's queries as the tool reports it; ``found`` are their ``query_values``, if known."""
        cases = list(cases)
        found = self.query_values(measure, cases) if found is None else found
        for outcome in ("lacking", "stops", "undefined"):
            if reasons := [
                value.reason if outcome == "lacking" else f"query {case.query_id}: {value.reason}"
                for case, value in zip(cases, found, strict=True)
                if value.outcome == outcome
            ]:
                return TaskMean(None, 0, len(cases), reasons[0])
        values = [value.value for value in found if value.value is not None]
        if not values:
            return TaskMean(None, 0, len(cases), "no query is judged and answered")
        mean = math.fsum(values) / len(values)
        if self.decimals is not None and measure.kind not in self.unrounded:
            mean = round(mean, self.decimals)
        note = self._mean_note(cases, len(values))
        judged = sum(bool(case.relevance) for case in cases)
        if self.missing == "dropped" and self.zero_option and len(values) < judged:
            note += f"; with {self.zero_option} {math.fsum(values) / judged:.4f} over {judged}"
        return TaskMean(mean, len(values), len(cases), note)

    def _mean_note(self, cases: Sequence[QueryCase], counted: int) -> str:
        missing = sum(case.listed is None for case in cases if case.relevance)
        if missing and self.missing == "stops":
            return f"with {self.zero_option}; without it the tool stops, because the run lacks {missing} judged queries"
        return f"over {counted} of {len(cases)} queries" if counted < len(cases) else ""

    def why(self, measure: Measure, case: QueryCase) -> str:
        """One line: what sets this value apart from ours here, or that nothing does."""
        from bright_inspect.evaluation.conventions.why import explain_difference

        return explain_difference(self, measure, case)


def repeated_docs(listed: Iterable[ListedDoc]) -> dict[str, int]:
    """Documents listed more than once, with how often."""
    return {doc_id: count for doc_id, count in Counter(doc.doc_id for doc in listed).items() if count > 1}


def _binary_value(measure: Measure, top: Sequence[int | None], relevant: int) -> float:
    hits = [rank for rank, grade in enumerate(top, 1) if grade is not None and grade > 0]
    if not hits or not relevant:
        return 0.0
    if measure.kind == "RR":
        return 1 / hits[0]
    if measure.kind == "AP":
        return math.fsum(number / rank for number, rank in enumerate(hits, 1)) / relevant
    return len(hits) / (relevant if measure.kind == "R" else measure.cutoff or len(top))


def _tie_averaged(measure: Measure, ranked: Sequence[ListedDoc], relevance: Mapping[str, int]) -> float:
    """sklearn's nDCG: every document of a tie gains the tie's mean grade; the ideal is over the vectors it is given."""
    from bright_inspect.domain.ties import JudgedPlace, tie_range

    grades = [max(relevance.get(doc.doc_id, 0), 0) for doc in ranked]
    sizes = Counter(doc.score for doc in ranked)
    above, places = 0, list[JudgedPlace]()
    for number, (doc, grade) in enumerate(zip(ranked, grades, strict=True)):
        if number and doc.score != ranked[number - 1].score:
            above = number
        places.append(JudgedPlace(grade, above, sizes[doc.score]))
    return tie_range(measure, places, grades).expected

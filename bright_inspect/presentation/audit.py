"""The audit of one value in words and tables: for the Audit screen and for ``bright-inspect explain``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from bright_inspect.domain.tally import TIE_TOLERANCE
from bright_inspect.evaluation.audit import Audit, AuditRow
from bright_inspect.evaluation.conventions import Convention
from bright_inspect.presentation.cells import Cell, Column, Span, TableRow
from bright_inspect.presentation.numbers import percent

_TIE_RULES = {
    "trec": "ties by document id descending, scores as float32",
    "float64": "ties by document id descending, scores in double precision",
    "file": "ties in the file's order",
    "rank": "ties by the file's ranks",
}
_CONTRIBUTIONS = {
    "nDCG": "gain · discount / ideal",
    "AP": "golds so far / rank / golds",
    "R": "1 / golds",
    "P": "1 / k",
    "RR": "1 / rank of the first gold",
    "Judged": "1 / documents ranked",
}


@dataclass(frozen=True, slots=True)
class AuditSection:
    """A table of the audit: what it is, its columns and rows, what is said when there is no row, and more lines about
    a row by its key."""

    title: Cell
    columns: tuple[Column, ...]
    rows: tuple[TableRow, ...]
    empty: str = ""
    details: Mapping[str, tuple[Cell, ...]] = field(default_factory=dict)


def fraction(value: float | None, decimals: int = 4) -> str:
    """A value as a fraction with fixed decimals; a dash for none."""
    return "–" if value is None else f"{value:.{decimals}f}"


def headline(audit: Audit) -> Cell:
    """The value and what it is of."""
    return (
        Span(f"{audit.measure} ", "dim"),
        Span(fraction(audit.value), "strong"),
        Span(f" ({percent(audit.value)})", "dim"),
        Span(f"  {audit.run.label} · layer {audit.layer}"),
    )


def facts(audit: Audit) -> list[Cell]:
    """What the value rests on, one line a thing: query, golds, ties, exclusions, unjudged documents, depth, layers."""
    lines: list[Cell] = [
        (Span("query       ", "dim"), Span(f"{audit.query.task} "), Span(audit.query.query_id, "accent"))
    ]
    if not audit.answered:
        return [*lines, (Span("The run has no list for this query: it counts as 0.", "warning"),)]
    cutoff = audit.measure.cutoff
    found = sum(row.rank is not None and (row.relevance or 0) > 0 for row in audit.rows)
    within = "" if cutoff is None else f", {_count_within(audit, cutoff)} within rank {cutoff}"
    lines.append((Span("golds       ", "dim"), Span(f"{audit.golds} judged relevant, {found} listed{within}")))
    lines.append((Span("ties        ", "dim"), *_ties(audit)))
    lines.append((Span("exclusions  ", "dim"), *_exclusions(audit)))
    if audit.repeated:
        doc_id, times = next(iter(audit.repeated.items()))
        more = f" (and {len(audit.repeated) - 1} more)" if len(audit.repeated) > 1 else ""
        text = f"{doc_id} is listed {times} times{more}; the best score counts"
        lines.append((Span("duplicates  ", "dim"), Span(text, "warning")))
    top = audit.depth if cutoff is None else min(cutoff, audit.depth)
    unjudged = f"{audit.unjudged} of the top {top} without a judgment; they count as not relevant"
    lines.append((Span("unjudged    ", "dim"), Span(unjudged)))
    depth = f"{audit.depth:,} {'document' if audit.depth == 1 else 'documents'} listed"
    short = cutoff is not None and audit.depth < cutoff
    lines.append(
        (
            Span("depth       ", "dim"),
            Span(f"{depth}, fewer than the cutoff {cutoff}: the missing ranks gain nothing" if short else depth,
                 "warning" if short else ""),
        )
    )  # fmt: skip
    spans = [Span("layers      ", "dim")]
    for number, (layer, value) in enumerate(audit.layers.items()):
        counts = layer == audit.layer
        spans.append(Span((" · " if number else "") + f"{layer} {fraction(value)}", "strong" if counts else ""))
    if len(audit.layers) == 1:
        spans.append(Span(" (no other at hand; add one with --qrels)", "dim"))
    lines.append(tuple(spans))
    return lines


def _count_within(audit: Audit, cutoff: int) -> int:
    return sum(row.rank is not None and row.rank <= cutoff and (row.relevance or 0) > 0 for row in audit.rows)


def _ties(audit: Audit) -> list[Span]:
    rule = Span(f" · {_TIE_RULES[audit.tie_rule]}", "dim")
    if audit.ties is None:
        return [Span(f"no range for {audit.measure.kind}"), rule]
    if not audit.ties.tie_sensitive:
        tied = any(row.tied for row in audit.rows)
        return [Span("documents are tied, which changes nothing here" if tied else "none within reach"), rule]
    text = (
        f"≈ {fraction(audit.ties.worst)} to {fraction(audit.ties.best)} by tie order alone, "
        f"expected {fraction(audit.ties.expected)}"
    )
    return [Span(text, "warning"), rule]


def _exclusions(audit: Audit) -> list[Span]:
    if not audit.excluded:
        return [Span("none for this query")]
    text = f"{audit.excluded:,} {'document' if audit.excluded == 1 else 'documents'} never to be ranked"
    if not audit.excluded_listed:
        return [Span(f"{text}, none of them listed")]
    without = next(row.value.value for row in audit.conventions if row.convention.name == "no-exclusion")
    return [
        Span(f"{text}; {len(audit.excluded_listed):,} listed and removed, ", "warning"),
        Span(f"the value if they had stayed is {fraction(without)}", "warning"),
    ]


def rank_section(audit: Audit) -> AuditSection:
    """Rank by rank: gain, discount and contribution."""
    kind = audit.measure.kind
    # As wide as its widest number: the ids need the room.
    score_width = max([5, *(len(repr(row.score)) for row in audit.rows)])
    columns = [
        Column("rank", (Span("rank", "dim"),), 5, align="right"),
        Column("tied", (Span("tied", "dim"),), 7, align="right"),
        Column("id", (Span("document", "dim"),), 12, flex=1, elide="middle"),
        Column("score", (Span("score", "dim"),), score_width, align="right"),
        Column("given", (Span("file", "dim"),), 6, align="right"),
        Column("grade", (Span("grade", "dim"),), 5, align="right"),
    ]
    if kind == "nDCG":
        columns.append(Column("discount", (Span("discount", "dim"),), 8, align="right"))
    columns.append(Column("part", (Span("part", "dim"),), 7, align="right"))
    rows = [TableRow(row.doc_id, tuple(_rank_cell(row, column.key) for column in columns)) for row in audit.rows]
    total: list[Cell] = [() for _ in columns]
    total[2] = (Span(f"sum = {audit.measure}", "strong"),)
    total[-1] = (Span(fraction(audit.value), "strong"),)
    if rows:
        rows.append(TableRow("", tuple(total)))
    title = (Span("rank by rank ", "strong"), Span(f"part = {_CONTRIBUTIONS[kind]}", "dim"))
    return AuditSection(title, tuple(columns), tuple(rows), "the run has no list for this query")


def _rank_cell(row: AuditRow, column: str) -> Cell:
    excluded = row.rank is None
    gold = (row.relevance or 0) > 0
    style = "struck" if excluded else "gold" if gold else ""
    texts = {
        "rank": "excl." if excluded else str(row.rank),
        "tied": f"{row.tied[0]}–{row.tied[1]}" if row.tied else "",
        "id": row.doc_id,
        "score": repr(row.score),
        "given": str(row.position if row.given_rank is None else row.given_rank),
        "grade": "–" if row.relevance is None else str(row.relevance),
        "discount": "" if excluded else fraction(row.discount),
        "part": "" if excluded or not row.contribution else fraction(row.contribution),
    }
    styles = {"rank": style, "id": style, "grade": "gold" if gold else "dim", "tied": "warning", "part": "strong"}
    return (Span(texts[column], styles.get(column, "dim")),)


def ideal_section(audit: Audit) -> AuditSection:
    """The best possible list, which the gain is divided by."""
    columns = (
        Column("rank", (Span("rank", "dim"),), 5, align="right"),
        Column("id", (Span("document", "dim"),), 12, flex=1, elide="middle"),
        Column("grade", (Span("grade", "dim"),), 5, align="right"),
        Column("discount", (Span("discount", "dim"),), 8, align="right"),
        Column("gain", (Span("gain", "dim"),), 7, align="right"),
        Column("found", (Span("in the run", "dim"),), 10, align="right"),
    )
    rows = [
        TableRow(
            row.doc_id,
            (
                (Span(str(row.rank)),),
                (Span(row.doc_id, "gold"),),
                (Span(str(row.relevance)),),
                (Span(fraction(row.discount), "dim"),),
                (Span(fraction(row.gain)),),
                (Span(f">{audit.depth}" if row.found is None else str(row.found), "dim" if row.found is None else ""),),
            ),
        )
        for row in audit.ideal
    ]
    if rows:
        total: list[Cell] = [(), (Span("sum = ideal gain", "strong"),), (), (), (), ()]
        total[4] = (Span(fraction(audit.ideal_gain), "strong"),)
        rows.append(TableRow("", tuple(total)))
    title = (Span("the ideal list ", "strong"), Span("all judged documents, best grades first", "dim"))
    return AuditSection(title, columns, tuple(rows), "nothing is judged relevant for this query")


def convention_section(audit: Audit) -> AuditSection:
    """The same list by the rules of other tools, each with one line why it differs."""
    columns = (
        Column("tool", (Span("scored by", "dim"),), 22),
        Column("value", (Span("value", "dim"),), 7, align="right"),
        Column("delta", (Span("− ours", "dim"),), 8, align="right"),
        Column("why", (Span("why", "dim"),), 20, flex=1),
    )
    rows = []
    for row in audit.conventions:
        value = row.value.value
        delta = None if value is None else value - audit.value
        same = delta is not None and abs(delta) <= TIE_TOLERANCE
        rows.append(
            TableRow(
                row.convention.name,
                (
                    (Span(row.convention.name, "dim" if same else "strong"),),
                    (Span(fraction(value)),),
                    (Span("" if delta is None or same else f"{delta:+.4f}".replace("-", "−"), "warning"),),
                    (Span(row.why, "dim" if same else ""),),
                ),
            )
        )
    title = (Span("other rules ", "strong"), Span("what other tools make of this list", "dim"))
    details = convention_details(row.convention for row in audit.conventions)
    return AuditSection(title, columns, tuple(rows), details=details)


def convention_details(conventions: Iterable[Convention]) -> dict[str, tuple[Cell, ...]]:
    """Each tool's rule and where it was read, by the tool's name."""
    return {
        convention.name: (
            (Span("rule    ", "dim"), Span(convention.rule)),
            (Span("source  ", "dim"), Span(convention.source, "dim")),
        )
        for convention in conventions
    }


def sections(audit: Audit) -> list[AuditSection]:
    """The audit's tables, in the order they are read."""
    ideal = [ideal_section(audit)] if audit.measure.kind == "nDCG" else []
    return [rank_section(audit), *ideal, convention_section(audit)]

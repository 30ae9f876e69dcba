"""Values that somebody reported: result files of evaluation tools, to be held against what the runs themselves give.

Layouts by FORMATS: BRIGHT's results.json (A.6), which ReasonIR, RaDeR and MM-BRIGHT write too (E.8, E.9, D.2), MTEB's
result files (B.4), BEIR's save_results (E.6), QueryGym's (E.10), pytrec_eval's values by query, tables, and the output
of trec_eval and ir_measures.
"""

from __future__ import annotations

import re
from collections import Counter
from contextlib import ExitStack
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path

from bright_inspect.domain.findings import Finding
from bright_inspect.domain.measures import Measure
from bright_inspect.domain.names import RunName, describe_path
from bright_inspect.errors import UnreadableInput
from bright_inspect.formats.files import clean_copy, read_head, scan_file
from bright_inspect.formats.reported_entries import Entries, Entry, measure_or_none
from bright_inspect.formats.reported_json import json_entries
from bright_inspect.formats.reported_text import text_entries

_EXPECTED = (
    "Expected results.json of BRIGHT, a result file of MTEB or BEIR, a table with the columns measure and value, or "
    "what trec_eval or ir_measures print."
)
#: Files called so are about the run that their folder is named after; any other name says which scores were used.
_PLAIN_NAMES = {"results", "metrics"}
#: How many names of unknown measures a finding lists.
_MOST_NAMES = 12


@dataclass(frozen=True, slots=True)
class ReportedValue:
    """One reported value. ``value`` is a fraction from 0 to 1; ``decimals`` how many digits it was rounded to (as a
    fraction), so that the true value lies within 0.5 x 10^-decimals; ``place`` is the key path in the file or the line.

    ``run``, ``dataset`` and ``task`` are None where neither the file nor its path says; ``query_id`` is None for means.
    """

    file: str
    run: str | None
    dataset: str | None
    task: str | None
    measure: Measure
    value: float
    place: str
    decimals: int
    query_id: str | None = None


@dataclass(frozen=True, slots=True)
class ReportedFile:
    """The values of one file in its order, and what was odd about it."""

    values: list[ReportedValue]
    findings: list[Finding]


def read_reported(path: Path) -> ReportedFile:
    """Read a file of reported values, whatever its layout.

    Values that are no number, negative, above 100, or of a measure that is not known are left out with a finding.

    Raises:
        UnreadableInput: the file is absent, empty, binary or damaged, or holds no usable value.
    """
    read_head(path)
    with ExitStack() as stack:
        source, findings = path, list[Finding]()
        if not scan_file(path).clean:
            source, findings = stack.enter_context(clean_copy(path))
        text = source.read_text(encoding="utf-8")
    is_json = text.lstrip()[:1] in ("{", "[")
    read = json_entries(path, text) if is_json else text_entries(path, text)
    findings = [*findings, *read.findings]
    measured = _known_measures(path, read.entries, findings)
    usable = _usable(path, measured, findings)
    scaled = _as_fractions(path, usable, findings)
    if not scaled:
        reason = findings[-1].message if findings else "nothing in it is a value of a measure."
        raise UnreadableInput(f"{path}: no usable reported value; {reason}", _EXPECTED)
    return ReportedFile(_values(path, scaled, read), findings)


_Measured = list[tuple[Entry, Measure]]


def _known_measures(path: Path, entries: list[Entry], findings: list[Finding]) -> _Measured:
    measured, unknown = list[tuple[Entry, Measure]](), Counter[str]()
    first: Entry | None = None
    for entry in entries:
        if (measure := measure_or_none(entry.name)) is not None:
            measured.append((entry, measure))
        else:
            first = first or entry
            unknown[_family(entry.name)] += 1
    if first is not None:
        shown = [name if count == 1 else f"{name} ({count})" for name, count in list(unknown.items())[:_MOST_NAMES]]
        names = ", ".join([*shown, "…"] if len(unknown) > _MOST_NAMES else shown)
        message = f"{unknown.total()} value(s) of measures that are not compared left out: {names}."
        findings.append(Finding("unknown-measure", "warning", str(path), message, first.line, unknown.total()))
    return measured


def _family(name: str) -> str:
    """One name for a measure at all its cutoffs; MTEB has 126 kinds of nauc alone."""
    return "nauc_*" if name.lower().startswith("nauc_") else re.sub(r"(?<=[@_.])\d+$", "*", name)


def _usable(path: Path, measured: _Measured, findings: list[Finding]) -> list[tuple[Entry, Measure, Decimal]]:
    usable, odd = list[tuple[Entry, Measure, Decimal]](), list[Entry]()
    for entry, measure in measured:
        if entry.number is None or not entry.number.is_finite() or not 0 <= entry.number <= 100:
            odd.append(entry)
        else:
            usable.append((entry, measure, entry.number))
    if odd:
        message = (
            f"{len(odd)} value(s) left out that are no number from 0 to 1 or, as percentages, to 100. "
            f"First: {odd[0].name} at {odd[0].place}."
        )
        findings.append(Finding("bad-value", "error", str(path), message, odd[0].line, len(odd)))
    return usable


def _as_fractions(
    path: Path, usable: list[tuple[Entry, Measure, Decimal]], findings: list[Finding]
) -> list[tuple[Entry, Measure, Decimal]]:
    """The values of each run as fractions. One writer writes one scale: with a value above 1 they are percentages if
    no other (but 0) could be a fraction; a mixture cannot be read, and is left out."""
    by_run: dict[str | None, list[Decimal]] = {}
    for entry, _, number in usable:
        by_run.setdefault(entry.run, []).append(number)
    above = {run: [number for number in numbers if number > 1] for run, numbers in by_run.items()}
    small = {run: [number for number in numbers if 0 < number <= 1] for run, numbers in by_run.items()}
    percent = {run for run in by_run if above[run] and not small[run]}
    mixed = {run for run in by_run if above[run] and small[run]}
    for entry, _, _ in usable:
        if entry.run in mixed:
            count = sum(other.run in mixed for other, _, _ in usable)
            message = (
                f"{count} value(s) left out: {above[entry.run][0]} can only be a percentage and {small[entry.run][0]} "
                "only a fraction or a very low percentage. Write all of them in one scale."
            )
            findings.append(Finding("mixed-scale", "error", str(path), message, entry.line, count))
            break
    if percent:
        count = sum(entry.run in percent for entry, _, _ in usable)
        message = f"{count} value(s) above 1 and none between 0 and 1: read as percentages, divided by 100."
        findings.append(Finding("percentages", "warning", str(path), message, None, count))
    return [
        (entry, measure, number.scaleb(-2) if entry.run in percent else number)
        for entry, measure, number in usable
        if entry.run not in mixed
    ]


def _values(path: Path, scaled: list[tuple[Entry, Measure, Decimal]], read: Entries) -> list[ReportedValue]:
    """The values with their precision. Where the format drops zeros at the end, it is that of the values of the same
    kind of measure together, and a kind with a single value is as precise as the least precise of the others."""
    own = [max(0, -int(number.as_tuple().exponent)) for _, _, number in scaled]
    decimals = own
    if read.drops_zeros:
        kinds: dict[str, list[int]] = {}
        for (_, measure, _), digits in zip(scaled, own, strict=True):
            kinds.setdefault(measure.kind, []).append(digits)
        least = min((max(digits) for digits in kinds.values() if len(digits) > 1), default=0)
        most = {kind: max(*digits, least if len(digits) == 1 else 0) for kind, digits in kinds.items()}
        decimals = [most[measure.kind] for _, measure, _ in scaled]
    described = describe_path(str(path.parent if _stem(path) in _PLAIN_NAMES else path))
    named = RunName(described.system() or "", described.variant)
    run = str(named) if read.run_by_path and named.system else None
    corpus = {True: "bright-long", False: "bright", None: None}[described.long]
    return [
        ReportedValue(
            str(path),
            entry.run or run,
            entry.dataset or (None if entry.task else corpus),
            entry.task or described.task,
            measure,
            float(number),
            entry.place,
            digits,
            entry.query_id,
        )
        for (entry, measure, number), digits in zip(scaled, decimals, strict=True)
    ]


def _stem(path: Path) -> str:
    return path.name.split(".")[0].lower()

"""TREC judgment files: ``query_id 0 doc_id relevance``, by tabs or from both ends since ids may hold spaces."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from bright_inspect.domain.findings import Finding
from bright_inspect.errors import UnreadableInput
from bright_inspect.formats.files import clean_copy, read_head, scan_file

_LEAST, _MOST = -(2**31), 2**31 - 1
# Only these separate columns, as in run files; other blanks, such as a no-break space, belong to ids.
_BLANKS = " \t\n\r\f"
_FROM_BOTH_ENDS = re.compile(
    r"[ \t\r\f]*([^ \t\r\f]+)[ \t\r\f]+([^ \t\r\f]+)[ \t\r\f]+([^ \t\r\f].*?)[ \t\r\f]+([+-]?[0-9]+)[ \t\r\f]*",
    re.DOTALL,
)


@dataclass(frozen=True, slots=True)
class QrelsFile:
    """Judgments as (query_id, doc_id, relevance) in file order, each pair once."""

    rows: list[tuple[str, str, int]]
    findings: list[Finding]


def read_trec_qrels(path: Path) -> QrelsFile:
    """Read a judgment file; of a pair judged twice the first judgment counts.

    Raises:
        UnreadableInput: absent, empty, binary, or no line is a judgment.
    """
    read_head(path)
    with ExitStack() as stack:
        source, findings = path, list[Finding]()
        if not scan_file(path).clean:
            source, findings = stack.enter_context(clean_copy(path))
        judged: dict[tuple[str, str], int] = {}
        bad: list[tuple[int, str]] = []
        repeated: list[int] = []
        for number, line in _lines(source):
            row = _judgment(line)
            if row is None:
                if not line.startswith("#"):
                    bad.append((number, line))
            elif (row[0], row[1]) in judged:
                repeated.append(number)
            else:
                judged[row[0], row[1]] = row[2]
    if not judged:
        raise UnreadableInput(
            f"{path}: no line is a judgment.", "Expected 4 columns: query_id 0 doc_id relevance (a whole number)."
        )
    if bad:
        message = f"{len(bad)} line(s) that are no judgment left out: {bad[0][1][:80]!a}"
        findings.append(Finding("bad-judgment", "error", str(path), message, bad[0][0], len(bad)))
    if repeated:
        message = f"{len(repeated)} pair(s) judged more than once, the first counts (trec_eval stops)."
        findings.append(Finding("repeated-judgment", "warning", str(path), message, repeated[0], len(repeated)))
    return QrelsFile([(query_id, doc_id, relevance) for (query_id, doc_id), relevance in judged.items()], findings)


def _lines(source: Path) -> Iterator[tuple[int, str]]:
    with source.open("r", encoding="utf-8", newline="\n") as file:
        for number, line in enumerate(file, 1):
            if line.strip(_BLANKS):
                yield number, line.rstrip("\n")


def _judgment(line: str) -> tuple[str, str, int] | None:
    fields = line.split(" ")
    if len(fields) == 4 and all(fields) and re.fullmatch("[0-9]+", fields[3]) and "\t" not in line:
        return _row(fields[0], fields[2], fields[3])
    fields = [field.strip(_BLANKS) for field in line.split("\t")]
    if len(fields) == 4 and re.fullmatch("[+-]?[0-9]+", fields[3]):
        return _row(fields[0], fields[2], fields[3])
    match = _FROM_BOTH_ENDS.fullmatch(line)
    return _row(match[1], match[3], match[4]) if match else None


def _row(query_id: str, doc_id: str, relevance: str) -> tuple[str, str, int] | None:
    """The judgment, unless its relevance is too large for the 32 bits that a session holds it in."""
    if len(relevance.lstrip("+-0")) > 10:  # Python refuses to read thousands of digits.
        return None
    value = int(relevance)
    return (query_id, doc_id, value) if _LEAST <= value <= _MOST else None

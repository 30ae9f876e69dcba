"""The findings about how a file reads, apart from those about its scores."""

from __future__ import annotations

from bright_inspect.domain.findings import Finding
from bright_inspect.formats.score_findings import CODES
from tests.support import Table


def reading(table: Table) -> tuple[Finding, ...]:
    return tuple(finding for finding in table.findings if finding.code not in CODES)


def reading_codes(table: Table) -> list[str]:
    return sorted(finding.code for finding in reading(table))

"""What a place that holds benchmark data can be asked for.

Sources answer with SQL SELECT statements, so that whole data sets stay relations and only what is shown becomes Python
objects.
"""

from __future__ import annotations

from typing import Protocol

from bright_inspect.db import Cursor
from bright_inspect.domain.findings import Finding


class Source(Protocol):
    """A place that holds queries, judgments, exclusions and perhaps documents of some tasks."""

    @property
    def name(self) -> str:
        """What to call the place in messages."""

    def tasks(self) -> dict[str, tuple[str, ...]]:
        """The tasks at hand of each dataset."""

    def queries_sql(self, dataset: str, task: str) -> str:
        """``(position BIGINT, query_id, text, reasoning, gold_answer)``; the last two NULL where there is none."""

    def qrels_sql(self, dataset: str, task: str) -> str:
        """``(query_id, doc_id, relevance INTEGER)``, each pair once."""

    def exclusions_sql(self, dataset: str, task: str) -> str:
        """``(query_id, doc_id)``: documents never to be ranked for the query. A pair may come twice: making a million
        of them distinct costs more than it saves."""

    def gold_pages_sql(self, dataset: str, task: str) -> str:
        """``(query_id, page_id)``: the pages (long documents) that golds come from; no rows where none is known."""

    def variants(self, dataset: str, task: str) -> tuple[str, ...]:
        """Names of the query variants at hand besides the original."""

    def variant_sql(self, dataset: str, task: str, variant: str) -> str:
        """``(query_id, text)`` of one variant."""

    def documents_sql(self, dataset: str, task: str) -> str | None:
        """``(doc_id, content)`` of the corpus, which may be a part of it, or None if there is none at hand."""

    def whole_size(self, dataset: str, task: str) -> int | None:
        """How many documents the corpus had that those at hand were taken from; None where that is not known."""
        return None

    def findings(self, cursor: Cursor, dataset: str, task: str) -> list[Finding]:
        """What is odd in the task's queries and judgments. Reads them, but not the corpus.

        Raises:
            UnreadableInput: a file is damaged or holds something else.
        """
        return []

    def document_findings(self, cursor: Cursor, dataset: str, task: str) -> list[Finding]:
        """What is odd in the task's corpus. Reads the whole of it, which may take as long as an index of it."""
        return []

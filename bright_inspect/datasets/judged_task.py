"""What sources of one task share whose judgments are files of their own: no pages, no variants of the queries."""

from __future__ import annotations

from bright_inspect.datasets.judgment_files import JudgmentFiles
from bright_inspect.datasets.source import Source
from bright_inspect.errors import UnreadableInput


class JudgedTask(Source):
    """One task of one dataset, judged by files."""

    def __init__(self, name: str, dataset: str, task: str, judgments: JudgmentFiles) -> None:
        self._name = name
        self._dataset = dataset
        self._task = task
        self._judgments = judgments

    @property
    def name(self) -> str:
        return self._name

    def tasks(self) -> dict[str, tuple[str, ...]]:
        return {self._dataset: (self._task,)}

    def qrels_sql(self, dataset: str, task: str) -> str:
        return self._judgments.qrels_sql

    def exclusions_sql(self, dataset: str, task: str) -> str:
        return self._judgments.exclusions_sql

    def gold_pages_sql(self, dataset: str, task: str) -> str:
        return "SELECT NULL::VARCHAR AS query_id, NULL::VARCHAR AS page_id WHERE false"

    def variants(self, dataset: str, task: str) -> tuple[str, ...]:
        return ()

    def variant_sql(self, dataset: str, task: str, variant: str) -> str:
        raise UnreadableInput(
            f"{self.name}: has no variant {variant}.", "Its queries have no rewritten texts; use the original."
        )

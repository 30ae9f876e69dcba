"""An open session: the runs that were asked for, their judgments, and one in-memory database behind them."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path

from bright_inspect.db import Cursor, Database
from bright_inspect.domain.columns import need_full_labels
from bright_inspect.domain.findings import Finding
from bright_inspect.domain.names import BRIGHT_TASKS, RunName
from bright_inspect.domain.ordering import TieRule
from bright_inspect.errors import UsageError
from bright_inspect.store.collections import ORIGINAL_LAYER, Collections, TaskKey


@dataclass(frozen=True, slots=True)
class RunFile:
    """One run of an input file. ``rows`` is the view of the session's database that has its rows, with ``position``,
    their place in the file; once converted also ``rank``. ``reasons`` is that of the texts in which the run explains
    itself ``(query_id, doc_id, thought, response)``, if it has any. ``digest`` is the SHA-256 of a file of a saved
    session: the path then is what it was called where that was saved, and names nothing here;
    ``metrics`` are the numbers that a file beside it held."""

    file_id: int
    path: Path
    rows: str
    tasks: tuple[TaskKey, ...]
    format: str = "trec"
    reasons: str | None = None
    digest: str | None = None
    metrics: tuple[Path, tuple[tuple[str, float], ...]] | None = None


@dataclass(frozen=True, slots=True)
class Run:
    """A column on screen: ``system@variant`` over the tasks of its files. ``run_id`` is its position, from 0.

    ``full_label`` says that another run's label would read the same without the variant.
    """

    run_id: int
    name: RunName
    files: tuple[RunFile, ...]
    full_label: bool = False

    @property
    def label(self) -> str:
        return self.name.in_full if self.full_label else str(self.name)

    @property
    def tasks(self) -> tuple[TaskKey, ...]:
        return tuple(dict.fromkeys(task for file in self.files for task in file.tasks))


@dataclass(slots=True)
class Session:
    """What ``open_session`` returns. ``baseline`` is the run others are compared with; ``unscored`` the tasks that
    runs hold but no judgments are at hand for; ``ties`` the rule that tied documents are ranked by; ``measure`` the one
    that a saved session opens with."""

    database: Database
    cursor: Cursor
    collections: Collections
    runs: tuple[Run, ...]
    baseline: Run
    findings: list[Finding] = field(default_factory=list)
    unscored: tuple[TaskKey, ...] = ()
    ties: TieRule = "trec"
    measure: str | None = None

    @property
    def tasks(self) -> tuple[TaskKey, ...]:
        """All tasks of all runs: BRIGHT's in the order of its paper, others as they come."""
        tasks = dict.fromkeys(task for run in self.runs for task in run.tasks)
        return tuple(sorted(tasks, key=lambda key: BRIGHT_TASKS.index(key[1]) if key[1] in BRIGHT_TASKS else -1))

    @property
    def layer(self) -> str:
        """Which set of judgments counts: ``mixed`` where it is not the same for all tasks."""
        layers = {self.collections.layer_of(key) for key in self.tasks if self.collections.has_judgments(key)}
        return layers.pop() if len(layers) == 1 else "mixed" if layers else ORIGINAL_LAYER

    @property
    def has_reasons(self) -> bool:
        """Whether a run came with the words of the reranker that made it."""
        return any(file.reasons is not None for run in self.runs for file in run.files)

    def name_variant(self, run_id: int, variant: str | None) -> None:
        """Say which variant a run was made with, or that it is not known. Its id stays, and with it its colour.

        Raises:
            UsageError: another run of the system was made with it.
        """
        names = [run.name for run in self.runs]
        named = RunName(names[run_id].system, variant)
        if any(name == named for other, name in enumerate(names) if other != run_id):
            raise UsageError(
                f"another run is {named.in_full} already.", f"Open one of them by another name: NAME@{variant}=PATH."
            )
        names[run_id] = named
        in_full = need_full_labels(names)
        baseline = self.baseline.run_id
        self.runs = tuple(
            replace(run, name=name, full_label=name in in_full) for run, name in zip(self.runs, names, strict=True)
        )
        self.baseline = self.runs[baseline]

    def close(self) -> None:
        """Close the database, and with it every cursor, whatever is running."""
        self.database.close()


def differs(run: RunName, baseline: RunName) -> tuple[str, ...]:
    """In what two runs differ: ``system``, ``variant`` or both. A variant that is not known for one of them counts as
    another, because it is not known to be the same."""
    parts = []
    if run.system != baseline.system:
        parts.append("system")
    if run.variant != baseline.variant:
        parts.append("variant")
    return tuple(parts)

"""What the commands of ``judge`` share: which journals and which part of them, and the data that was judged."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bright_inspect.domain.names import normalised_task
from bright_inspect.errors import UnreadableInput, UsageError
from bright_inspect.judging.decisions import BadDecision, Decision
from bright_inspect.judging.history import Log
from bright_inspect.judging.journal import DEFAULT_JOURNAL

if TYPE_CHECKING:
    from bright_inspect.db import Cursor
    from bright_inspect.judging.hashes import TextHashes
    from bright_inspect.store.collections import Collections
    from bright_inspect.store.layer_source import LayerSource

_Command = Callable[..., Any]


def journals_option(command: _Command) -> _Command:
    """The journals that are read; the command gets them as ``journals``."""
    return click.option(
        "--journal", "journals", multiple=True, type=click.Path(path_type=Path), metavar="FILE",
        default=(DEFAULT_JOURNAL,), help=f"A journal; may be repeated.  [default: {DEFAULT_JOURNAL}]",
    )(command)  # fmt: skip


def journal_option(command: _Command) -> _Command:
    """The journal that is written; the command gets it as ``journal``."""
    return click.option(
        "--journal", type=click.Path(path_type=Path), metavar="FILE", default=DEFAULT_JOURNAL, show_default=True,
        help="Where decisions are kept; made if it is not there.",
    )(command)  # fmt: skip


def data_option(command: _Command) -> _Command:
    return click.option(
        "--data", type=click.Path(path_type=Path), metavar="DIR", help="Folder of a BRIGHT snapshot or of BEIR data."
    )(command)


def part_options(command: _Command) -> _Command:
    """Which decisions; the command gets them as ``part``."""
    from functools import wraps

    @wraps(command)
    def with_part(*, dataset: str | None, task: str | None, annotators: tuple[str, ...], **others: Any) -> Any:
        return command(part=Part(dataset, normalised_task(task) if task else None, annotators), **others)

    decorated: _Command = with_part
    for option in (
        click.option(
            "--annotator", "annotators", multiple=True, metavar="NAME", help="Of these only; may be repeated."
        ),
        click.option("--task", metavar="TASK", help="Of this task only."),
        click.option("--dataset", metavar="NAME", help="Of this dataset only."),
    ):
        decorated = option(decorated)
    return decorated


@dataclass(frozen=True, slots=True)
class Part:
    """A part of the decisions; what is not named is not restricted."""

    dataset: str | None
    task: str | None
    annotators: tuple[str, ...]

    def of(self, decisions: Iterable[Decision]) -> list[Decision]:
        """The lines of this part.

        Raises:
            UsageError: an annotator that has none at all.
        """
        lines = list(decisions)
        known = dict.fromkeys(line.annotator for line in lines)
        for name in self.annotators:
            if name not in known:
                raise UsageError(f"no decision of {name!r}.", f"There are those of: {', '.join(known) or 'nobody'}.")
        return [
            line
            for line in lines
            if self.dataset in (None, line.dataset)
            and self.task in (None, line.task)
            and (not self.annotators or line.annotator in self.annotators)
        ]


def read_journals(paths: Sequence[Path]) -> Log:
    """
    Raises:
        UnreadableInput: one is not there or cannot be read.
    """
    for path in paths:
        if not path.exists():
            raise UnreadableInput(f"{path}: no such file.", "Give --journal a file of decisions.")
    return Log(paths)


@contextmanager
def opened_data(data: Path | None, made: LayerSource | None = None) -> Iterator[tuple[Cursor, Collections]]:
    """The tasks at hand, none loaded yet."""
    from bright_inspect.datasets.places import find_sources
    from bright_inspect.db import Database, database_errors_told
    from bright_inspect.store.collections import Collections
    from bright_inspect.store.run_cache import cache_folder
    from bright_inspect.store.schema import create_tables

    with Database(cache_folder() / "spilled") as database, database_errors_told():
        cursor = database.cursor()
        create_tables(cursor)
        yield cursor, Collections(cursor, find_sources(data), made=made)


@contextmanager
def opened_hashes(data: Path | None) -> Iterator[TextHashes | None]:
    """The hashes of the texts in ``data``, or None without that."""
    if data is None:
        yield None
        return
    from bright_inspect.judging.hashes import TextHashes

    with opened_data(data) as (cursor, collections):
        yield TextHashes(cursor, collections)


def with_hashes(decision: Decision, hashes: TextHashes | None) -> Decision:
    """The decision with the hashes of its texts, as far as it lacks them and they are at hand.

    Raises:
        BadDecision: the task has queries, but not this one.
    """
    if hashes is None:
        return decision
    queries = hashes.queries((decision.dataset, decision.task))
    if queries and decision.query_id not in queries:
        raise BadDecision(f"{decision.dataset}/{decision.task} has no query {decision.query_id}")
    doc_sha256 = decision.doc_sha256
    if doc_sha256 is None and decision.doc_id is not None:
        doc_sha256 = hashes.documents((decision.dataset, decision.task)).get(decision.doc_id)
    query_sha256 = decision.query_sha256 or queries.get(decision.query_id)
    return replace(decision, query_sha256=query_sha256, doc_sha256=doc_sha256)

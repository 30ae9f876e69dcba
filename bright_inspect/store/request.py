"""What to open. Kept apart from the opening itself, so that the screen can start before DuckDB is loaded."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from bright_inspect.domain.ordering import TieRule
from bright_inspect.errors import UnreadableInput, UsageError
from bright_inspect.retrieval.protocol import DEFAULT_OPTIONS, ModelOptions
from bright_inspect.store.inputs import RunInput, expand_arguments
from bright_inspect.store.triage_request import DEFAULT_TRIAGE, TriageRequest


@dataclass(frozen=True, slots=True)
class OpenRequest:
    """What the user asked to open; paths as typed.

    ``qrels`` are ``PATH`` or ``LAYER=PATH``; ``layer`` is the one that counts where a task has it, and ``ties`` what
    breaks ties of scores. Without a ``baseline``, ``layer`` or ``ties``, a saved session's are taken. ``format`` is
    what run files are read as, whatever they look like. ``queries`` and ``corpus`` are the files of a collection that
    has no layout of its own; ``qrels`` then are its judgments.
    ``journals`` are the files of decisions whose layers are at hand; without any, the working folder's.
    ``variants`` are files of rewritten queries, ``[NAME=]PATH``. ``retrievers`` are offered first for searching live,
    and models are used as ``model_options`` say.
    """

    runs: tuple[str, ...]
    data: Path | None = None
    dataset: str | None = None
    task: str | None = None
    qrels: tuple[str, ...] = ()
    baseline: str | None = None
    layer: str | None = None
    ties: TieRule | None = None
    format: str | None = None
    queries: Path | None = None
    corpus: tuple[Path, ...] = ()
    retrievers: tuple[str, ...] = ()
    model_options: ModelOptions = DEFAULT_OPTIONS
    journals: tuple[Path, ...] = ()
    triage: TriageRequest = DEFAULT_TRIAGE
    variants: tuple[str, ...] = ()


def check_paths(request: OpenRequest) -> list[RunInput]:
    """Look at the paths before anything is opened.

    Raises:
        UsageError: no run was given.
        UnreadableInput: a path that does not exist or holds no run.
    """
    if not request.runs:
        raise UsageError("no run given.", "Name run files or folders, or try: bright-inspect demo")
    if request.data is not None and not request.data.is_dir():
        raise UnreadableInput(f"{request.data}: no such folder.", "Give --data the folder of a BRIGHT snapshot.")
    return expand_arguments(request.runs)

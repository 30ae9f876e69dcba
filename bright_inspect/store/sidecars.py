"""What this program's own sidecars say of the runs beside them: ``RUN.json`` says how ``RUN`` was made."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bright_inspect.domain.findings import Finding

#: The code of the finding that a run was made over a part of its corpus.
PARTIAL_CORPUS = "partial-corpus"
#: A sidecar of ours is a few kilobytes; one that lists every query as short, some hundred.
_MOST_BYTES = 16_000_000


@dataclass(frozen=True, slots=True)
class Sidecar:
    """The query variant that a run was made by, the task it is of, and how many documents were searched ``of`` how many
    (None = not said)."""

    variant: str | None
    dataset: str | None
    task: str | None
    searched: int | None
    of: int | None


def sidecar_of(run: Path) -> Path:
    """The file that says how a run was made."""
    return run.with_name(run.name + ".json")


def failures_of(rewrites: Path) -> Path:
    """The file of the queries that have no rewrite in a file of rewrites."""
    return rewrites.with_name(rewrites.name + ".failures.jsonl")


def read_sidecar(run: Path) -> Sidecar | None:
    """The sidecar of a run that this program made; None where there is none, or it is another tool's or damaged."""
    path = sidecar_of(run)
    try:
        if path.stat().st_size > _MOST_BYTES:
            return None
        made = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError):
        return None
    if not isinstance(made, dict) or not str(made.get("made_by", "")).startswith("bright-inspect "):
        return None
    return Sidecar(
        _text(made, "variant"),
        _text(made, "dataset"),
        _text(made, "task"),
        _number(made, "corpus_documents"),
        _number(made, "corpus_documents_of"),
    )


def sidecar_findings(run: Path) -> list[Finding]:
    """Whether a run was made over a part of its corpus, so that its values compare with no run over all of it."""
    made = read_sidecar(run)
    if made is None or made.searched is None or made.of is None or made.searched >= made.of:
        return []
    message = (
        f"{sidecar_of(run).name} says that {made.searched:,} of the corpus' {made.of:,} documents were searched: its "
        "values do not compare with those of runs over the whole corpus."
    )
    return [Finding(PARTIAL_CORPUS, "warning", str(run), message)]


def _text(made: dict[str, Any], name: str) -> str | None:
    value = made.get(name)
    return value if isinstance(value, str) and value else None


def _number(made: dict[str, Any], name: str) -> int | None:
    value = made.get(name)
    return value if isinstance(value, int) and not isinstance(value, bool) else None

"""Names of datasets, tasks, systems and variants, and how they are read off a path.

BRIGHT's tools write the task, the model and the reasoning variant only into folder and file names; the layouts known
here are those of BRIGHT, ReasonIR, DIVER, RaDeR, INF-X, BRIGHT-Pro, XRR2 and castorini's qrels.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import PurePath

from bright_inspect.errors import UsageError

#: BRIGHT's twelve tasks, in the order of the paper's tables.
BRIGHT_TASKS = (
    "biology", "earth_science", "economics", "psychology", "robotics", "stackoverflow", "sustainable_living",
    "leetcode", "pony", "aops", "theoremqa_questions", "theoremqa_theorems",
)  # fmt: skip

#: The variant a query has when nobody rewrote it.
ORIGINAL = "original"
#: What a text is called that was typed for a live search.
EDITED = "edited"

_SUFFIXES = re.compile(r"(\.(gz|bz2|xz|zst|json|jsonl|txt|trec|run|res|tsv|csv|parquet|qrels?))+$", re.IGNORECASE)
# File and folder names that say what kind of file it is, not what made it.
_GENERIC = {
    "", "score", "scores", "run", "runs", "trec", "output", "outputs", "result", "results", "data", "score_files",
    "bright", "bright_score_files", "predictions", "retrieval", "test", "qrels", "reranked_score", "reranked",
}  # fmt: skip
# castorini's names begin with what the file is: run.bright-{task}, qrels.bright-{task}.
_FILE_WORDS = re.compile(r"^((run|qrels|topics|bright)([_.-]|$))+", re.IGNORECASE)
_LONG = re.compile(r"_long_(true|false)$", re.IGNORECASE)
# BRIGHT's reasoning configs are `{name}_reason`; ReasonIR and RaDeR write `{name}_score.json` for the same queries.
_REASONERS = "gpt4|claude-3-opus|Gemini-1.0|grit|llama3-70b"
_REASON_SUFFIX = re.compile(r"(?:^|[_.])([A-Za-z0-9][A-Za-z0-9.-]*_reason)$")
_REASON_SCORE = re.compile(rf"^({_REASONERS}|None)_(?:reranked_)?scores?$", re.IGNORECASE)


# Further away from the file, a task's name is a folder's own: nobody's home called "pony" holds pony's runs only.
_PARTS_THAT_NAME_TASKS = 3


@dataclass(frozen=True, slots=True)
class RunName:
    """What a run is called: ``system`` is what made it, ``variant`` the query text it was searched by.

    ``variant`` is None where the path does not say.
    """

    system: str
    variant: str | None

    def __str__(self) -> str:
        return self.system if self.variant in (None, ORIGINAL) else self.in_full

    @property
    def in_full(self) -> str:
        """The name with its variant, also where that goes without saying; ``?`` for one that is not known."""
        return f"{self.system}@{self.variant or '?'}"


@dataclass(frozen=True, slots=True)
class PathDescription:
    """What a path says about the run in it. ``long`` is None where the path does not tell the corpus."""

    task: str | None
    variant: str | None
    long: bool | None
    system_parts: tuple[str, ...]

    def system(self, parts: int = 1) -> str | None:
        """The system's name from the ``parts`` nearest telling path parts, or None if the path tells nothing."""
        return "/".join(reversed(self.system_parts[:parts])) or None


def normalised_task(text: str) -> str:
    """A task's slug however it is spelled: lower case, underscores for hyphens and blanks."""
    return re.sub(r"[\s-]+", "_", text.strip().lower())


def parse_run_argument(argument: str) -> tuple[RunName | None, str]:
    """Split ``NAME=PATH`` or ``NAME@variant=PATH``; a plain path has no name.

    A path that contains ``=`` itself is recognised by a slash before the ``=``.

    Raises:
        UsageError: there is a variant but no name before it.
    """
    name, equals, path = argument.partition("=")
    if not equals or not name or not path or "/" in name:
        return None, argument
    system, _, variant = name.partition("@")
    if not system:
        raise UsageError(f"{argument}: no name before the @.", "Write NAME@variant=PATH, or only PATH.")
    return RunName(system, variant or None), path


def describe_path(path: str, tasks: Iterable[str] = BRIGHT_TASKS, *, typed_parts: int = 2) -> PathDescription:
    """Read task, variant, corpus and system names off a path, nearest part first.

    ``@`` sets off a variant in the last two parts, if the user typed both: anywhere else it is part of a folder's name.
    """
    slugs = sorted(tasks, key=len, reverse=True)
    described = PathDescription(None, None, None, ())
    parts = [part for part in PurePath(path).parts if part not in ("/", ".", "..")]
    for depth, part in enumerate(reversed(parts)):
        described = _with_part(
            described,
            _SUFFIXES.sub("", part) if depth == 0 else part,
            slugs if depth < _PARTS_THAT_NAME_TASKS else [],
            may_name_variant=depth < min(2, typed_parts),
        )
    return described


def _with_part(described: PathDescription, part: str, slugs: list[str], *, may_name_variant: bool) -> PathDescription:
    task, variant, long = described.task, described.variant, described.long
    rest, at, named_variant = part.partition("@")
    if at and rest and may_name_variant:
        part, variant = rest, variant or named_variant
    if corpus := _LONG.search(part):
        part = part[: corpus.start()]
        long = corpus[1].lower() == "true" if long is None else long
    if found := _task_in(part, slugs):
        slug, before, after = found
        task = task or slug
        if corpus and described.variant is None:
            # BRIGHT's own layout, {task}_{model}_long_{bool}: without a reasoning name the queries are the original.
            variant = variant or ORIGINAL
        part = "_".join(piece for piece in (before, after) if piece)
    if score := _REASON_SCORE.match(part):
        variant = described.variant or (ORIGINAL if score[1].lower() == "none" else f"{score[1]}_reason")
        part = ""
    elif reason := _REASON_SUFFIX.search(part):
        variant = described.variant or reason[1].removeprefix("_")
        part = part[: reason.start()]
    part = _FILE_WORDS.sub("", part).strip("_.-")
    if part.lower() in _GENERIC:
        return replace(described, task=task, variant=variant, long=long)
    return PathDescription(task, variant, long, (*described.system_parts, part))


def _task_in(part: str, slugs: list[str]) -> tuple[str, str, str] | None:
    """The longest task name in a path part, with what stands before and after it."""
    spelled = part.lower().replace("-", "_")
    for slug in slugs:
        if match := re.search(rf"(?:^|(?<=[_.])){re.escape(slug)}(?=$|[_.])", spelled):
            return slug, part[: match.start()].strip("_.-"), part[match.end() :].strip("_.-")
    return None

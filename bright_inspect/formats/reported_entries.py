"""A reported value as a file has it, before it is known what measure it is and in which scale."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from decimal import Decimal

from bright_inspect.domain.findings import Finding
from bright_inspect.domain.measures import Measure, parse_measure
from bright_inspect.domain.names import BRIGHT_TASKS, normalised_task
from bright_inspect.errors import UsageError

_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d{1,3})?")
_SLUGS = {slug.replace("_", ""): slug for slug in BRIGHT_TASKS}
_MTEB_NAME = re.compile(r"Bright(Pro)?([A-Za-z]*?)(Long)?Retrieval")


@dataclass(frozen=True, slots=True)
class Entry:
    """A value as the file has it. ``number`` is None where that is no number; ``line`` is None in JSON."""

    name: str
    number: Decimal | None
    place: str
    run: str | None = None
    dataset: str | None = None
    task: str | None = None
    query_id: str | None = None
    line: int | None = None


@dataclass(slots=True)
class Entries:
    """What a layout's reader found. ``drops_zeros`` says that the format writes 0.50000 as 0.5, ``run_by_path`` that
    the path names the run where the file does not."""

    entries: list[Entry] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    drops_zeros: bool = False
    run_by_path: bool = False


def measure_or_none(name: str) -> Measure | None:
    """The measure of this name, if it is one."""
    try:
        return parse_measure(name)
    except UsageError:
        return None


def as_number(text: str) -> Decimal | None:
    """The number that a text is, with the digits it is written with; None for any other text."""
    return Decimal(text) if _NUMBER.fullmatch(text) else None


def dataset_and_task(name: str) -> tuple[str | None, str | None]:
    """Dataset and task by a name: MTEB's (``BrightBiologyLongRetrieval``), castorini's (``bright-earth-science``),
    ir_datasets' (``bright/earth-science-long``) or a plain slug.

    The task is None for MTEB's names of whole benchmarks, the dataset where the name does not tell.
    """
    if match := _MTEB_NAME.fullmatch(name.strip()):
        dataset = "bright-pro" if match[1] else "bright-long" if match[3] else "bright"
        return dataset, _SLUGS.get(match[2].lower(), normalised_task(match[2]) or None)
    slug = normalised_task(name.replace("/", "_"))
    bare = slug.removeprefix("bright_")
    if (short := bare.removesuffix("_long")) in BRIGHT_TASKS and short != bare:
        return "bright-long", short
    return ("bright" if bare in BRIGHT_TASKS and bare != slug else None), bare if bare in BRIGHT_TASKS else slug or None


def with_task(entry: Entry, name: str) -> Entry:
    """The entry with dataset and task by this name, where it has none yet."""
    dataset, task = dataset_and_task(name)
    return replace(entry, dataset=entry.dataset or dataset, task=entry.task or task)

"""Which files are one run, and what each run is called on screen."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from bright_inspect.domain.names import PathDescription, RunName
from bright_inspect.errors import UsageError


@dataclass(frozen=True, slots=True)
class NamedFile:
    """What is known of a run file when runs are named.

    ``typed`` describes the path as the user wrote it, ``absolute`` the whole path; ``tag`` is the TREC tag, and
    ``tasks`` the (dataset, task) pairs the file holds queries of.
    """

    explicit: RunName | None
    typed: PathDescription
    absolute: PathDescription
    tag: str | None
    tasks: frozenset[tuple[str, str]]

    @property
    def variant(self) -> str | None:
        return self.typed.variant or self.absolute.variant

    def name(self, parts: int) -> RunName:
        """The file's run name from so many path parts; an explicit name stands."""
        if self.explicit is not None:
            return RunName(self.explicit.system, self.explicit.variant or self.variant)
        system = self.typed.system(parts) or self.tag or self.absolute.system(parts) or "run"
        if parts > 1 and system == self.tag:
            system = "/".join(filter(None, [self.absolute.system(parts - 1), self.tag]))
        return RunName(system, self.variant)


def name_runs(files: Sequence[NamedFile]) -> list[RunName]:
    """The run name of each file: files of one run over several tasks get the same, all others differ. A run is of one
    system and one variant; that no variant is known is not the same as the original.

    Where two files would be the same run and the same task, both take one more part of their paths.

    Raises:
        UsageError: two files were given the same name for the same task.
    """
    parts = [1] * len(files)
    while True:
        names = [file.name(count) for file, count in zip(files, parts, strict=True)]
        clashing = _clashing(files, names)
        longer = [
            index
            for index in clashing
            if files[index].explicit is None and files[index].name(parts[index] + 1) != names[index]
        ]
        if not longer:
            return _numbered(files, names, clashing)
        for index in longer:
            parts[index] += 1


def _clashing(files: Sequence[NamedFile], names: Sequence[RunName]) -> list[int]:
    """Indexes of files whose name another file has for a common task."""
    named: dict[RunName, list[int]] = {}
    for index, name in enumerate(names):
        named.setdefault(name, []).append(index)
    return [
        index
        for same in named.values()
        if any(files[a].tasks & files[b].tasks for a in same for b in same if a < b)
        for index in same
    ]


def _numbered(files: Sequence[NamedFile], names: list[RunName], clashing: list[int]) -> list[RunName]:
    seen: dict[RunName, int] = {}
    for index in clashing:
        name = names[index]
        if files[index].explicit is not None:
            raise UsageError(f"two files are named {name} for the same task.", "Give each its own NAME=PATH.")
        seen[name] = seen.get(name, 0) + 1
        if seen[name] > 1:
            names[index] = RunName(f"{name.system}#{seen[name]}", name.variant)
    return names


def need_full_labels(names: Iterable[RunName]) -> set[RunName]:
    """The names among these that would read as another one does if they were not written in full."""
    by_label: dict[str, set[RunName]] = {}
    for name in names:
        by_label.setdefault(str(name), set()).add(name)
    return {name for alike in by_label.values() if len(alike) > 1 for name in alike}

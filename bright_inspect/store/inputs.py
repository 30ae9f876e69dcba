"""From what the user typed to the run files meant: files, folders, patterns, ``NAME=PATH``."""

from __future__ import annotations

import glob
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from bright_inspect.domain.names import RunName, parse_run_argument
from bright_inspect.errors import UnreadableInput
from bright_inspect.formats.sniff import sniff
from bright_inspect.store.saved_schema import is_session_file


@dataclass(frozen=True, slots=True)
class RunInput:
    """A run file to open: the path as typed (or found below a typed folder), and the name given to it, if any."""

    path: Path
    name: RunName | None


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a file in a folder is taken for, by its first bytes: ``what`` is the name of a run format, or what it is
    instead ("metrics (NDCG@10, ...)"); ``used`` says whether it is opened as a run, and ``why`` not, if so."""

    path: Path
    what: str
    used: bool
    why: str = ""


def expand_arguments(arguments: Sequence[str]) -> list[RunInput]:
    """The run files that the arguments mean, in their order, each once.

    Raises:
        UnreadableInput: a path does not exist, a pattern matches nothing, or a folder holds no run.
    """
    inputs: dict[tuple[Path, RunName | None], RunInput] = {}
    for argument in arguments:
        if not argument:
            raise UnreadableInput("an empty path was given.", "Is a shell variable not set?")
        name, text = (None, argument) if _exists(Path(argument)) else parse_run_argument(argument)
        for path in _files_of(_without_tilde(text)):
            inputs.setdefault((path.resolve(), name), RunInput(path, name))
    return list(inputs.values())


def folder_verdicts(folder: Path) -> list[Verdict]:
    """What each file below a folder is taken for, in the order of their paths; hidden files are passed over.

    Only the beginning of each file is read. A file that cannot be read gets a verdict too.
    """
    return [_verdict(file) for file in _visible_files(folder)]


def _visible_files(folder: Path) -> list[Path]:
    return sorted(
        file
        for file in folder.rglob("*")
        if file.is_file() and not any(part.startswith(".") for part in file.relative_to(folder).parts)
    )


def _verdict(file: Path) -> Verdict:
    if is_session_file(file):
        return Verdict(file, "a DuckDB file", False, "If it is a saved session, name it to open it.")
    try:
        sniffed = sniff(file)
    except UnreadableInput as error:
        return Verdict(file, error.message.removeprefix(f"{file}: ").rstrip("."), False, error.hint)
    if sniffed.format is not None and sniffed.sure:
        return Verdict(file, sniffed.format, True)
    return Verdict(file, sniffed.instead or "nothing that is known", False, sniffed.hint or "Name the file to read it.")


def _without_tilde(text: str) -> Path:
    try:
        return Path(text).expanduser()
    except RuntimeError:
        raise UnreadableInput(f"{text}: no such user.", "Check the path.") from None


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except OSError as error:
        raise UnreadableInput(f"{path}: cannot be looked at ({error.strerror}).", "Check the path.") from None


def _files_of(path: Path) -> list[Path]:
    if not _exists(path) and glob.has_magic(str(path)):
        return _files_matching(path)
    if path.is_dir():
        return _runs_in(path)
    if path.exists():
        return [path]
    raise UnreadableInput(f"{path}: no such file or folder.", "Check the path.")


def _files_matching(pattern: Path) -> list[Path]:
    matches = sorted(Path(match) for match in glob.glob(str(pattern), recursive=True))
    files = [file for match in matches for file in ([match] if match.is_file() else _runs_in(match))]
    if not files:
        raise UnreadableInput(f"{pattern}: the pattern matches no file.", "Check the path, or quote it for the shell.")
    return files


def _runs_in(folder: Path) -> list[Path]:
    """The files below a folder that are runs; others, such as metrics beside them, are passed over."""
    verdicts = folder_verdicts(folder)
    runs = [verdict.path for verdict in verdicts if verdict.used]
    if not runs:
        first = next((f", such as {verdict.path.name} ({verdict.what})" for verdict in verdicts), "")
        raise UnreadableInput(
            f"{folder}: no run among the {len(verdicts)} files in it{first}.",
            "bright-inspect formats lists what is read.",
        )
    return runs

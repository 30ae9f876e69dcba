"""From what the user typed to the run files meant: files, folders, patterns, ``NAME=PATH``."""

from __future__ import annotations

import glob
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from bright_inspect.domain.names import RunName, parse_run_argument
from bright_inspect.errors import UnreadableInput
from bright_inspect.formats.files import read_head
from bright_inspect.formats.sniff import sniff

# In a run the first key's value is an object; in a metrics file it is a number.
_RUN_JSON = re.compile(rb'^(\xef\xbb\xbf)?\s*\{\s*"(?:[^"\\]|\\.)*"\s*:\s*\{\s*("(?:[^"\\]|\\.)*"\s*:\s*[-\d\"N]|\})')


@dataclass(frozen=True, slots=True)
class RunInput:
    """A run file to open: the path as typed (or found below a typed folder), and the name given to it, if any."""

    path: Path
    name: RunName | None


def expand_arguments(arguments: Sequence[str]) -> list[RunInput]:
    """The run files that the arguments mean, in their order, each once.

    Raises:
        UnreadableInput: a path does not exist, a pattern matches nothing, or a folder holds no run.
    """
    inputs: dict[tuple[Path, RunName | None], RunInput] = {}
    for argument in arguments:
        name, text = (None, argument) if _exists(Path(argument)) else parse_run_argument(argument)
        for path in _files_of(_without_tilde(text)):
            inputs.setdefault((path.resolve(), name), RunInput(path, name))
    return list(inputs.values())


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
    """The files below a folder that look like runs; others, such as metrics beside them, are passed over."""
    files = sorted(
        file
        for file in folder.rglob("*")
        if file.is_file() and not any(part.startswith(".") for part in file.relative_to(folder).parts)
    )
    runs = [file for file in files if _looks_like_run(file)]
    if not runs:
        raise UnreadableInput(
            f"{folder}: no run among the {len(files)} files in it.", "Expected TREC runs or BRIGHT score JSON."
        )
    return runs


def _looks_like_run(path: Path) -> bool:
    try:
        kind = sniff(path).kind
        return kind == "trec_run" or (kind == "json" and _RUN_JSON.match(read_head(path)) is not None)
    except UnreadableInput:
        return False

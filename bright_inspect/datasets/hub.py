"""Downloads from the Hugging Face Hub, by ``huggingface_hub``, and only when somebody asks for one.

Files are fetched one after another in the calling thread, so that Ctrl+C stops at once; finished files stay, and the
next call fetches only what is missing. A connection that breaks is taken up by the library after the last chunk (10 MB)
that came whole; of a file that Ctrl+C stopped, newer versions of it keep nothing.
"""

from __future__ import annotations

import errno
import fnmatch
import os
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from bright_inspect.datasets.bright_folder import task_of
from bright_inspect.datasets.places import HUB_ID
from bright_inspect.errors import BrightInspectError, UsageError

#: What is fetched unless told: all that the screens show; long_documents only when asked for.
DEFAULT_CONFIGS = ("examples", "documents", "*_reason")
DEFAULT_REVISION = "main"


@dataclass(frozen=True, slots=True)
class FetchedFile:
    """A file about to be fetched: ``number`` of ``total`` from 1, and the bytes of the files before it and of all."""

    path: str
    number: int
    total: int
    bytes_before: int
    bytes_total: int


@dataclass(frozen=True, slots=True)
class Fetched:
    """Where the files are, the commit they are of, how many they are, and their size in bytes."""

    folder: Path
    commit: str
    files: int
    size: int


def fetch_bright(
    tasks: Sequence[str] = (),
    configs: Sequence[str] = DEFAULT_CONFIGS,
    revision: str = DEFAULT_REVISION,
    to: Path | None = None,
    tell: Callable[[FetchedFile], None] = lambda file: None,
) -> Fetched:
    """Fetch BRIGHT's files of these tasks (none: all) and configs (patterns such as ``*_reason`` are understood) into
    the folder ``to``, or else into the Hugging Face cache.

    Raises:
        UsageError: the dataset has no such config or task.
        BrightInspectError: no network, no such revision, no access, no room, or a damaged transfer.
    """
    from huggingface_hub import HfApi, hf_hub_download

    with _errors_told(revision):
        info = HfApi().dataset_info(HUB_ID, revision=revision, files_metadata=True)
        sizes = {sibling.rfilename: sibling.size or 0 for sibling in info.siblings or ()}
        commit = info.sha or revision
        paths = choose_files(list(sizes), tasks, configs)
        total = sum(sizes[path] for path in paths)
        _require_room(to, {path: sizes[path] for path in paths}, commit)
        folder, done = to or Path(), 0
        for number, path in enumerate(paths, 1):
            tell(FetchedFile(path, number, len(paths), done, total))
            # In the cache a name such as main must come to point at the commit, which it does if it is asked for.
            wanted = commit if to is not None else revision
            got = Path(hf_hub_download(HUB_ID, path, repo_type="dataset", revision=wanted, local_dir=to))
            if to is None:
                folder = got.parents[len(PurePosixPath(path).parts) - 1]
                if folder.name != commit:
                    raise BrightInspectError(
                        f"{HUB_ID} changed from {commit[:7]} to {folder.name[:7]} meanwhile.", "Run the command again."
                    )
            done += sizes[path]
    return Fetched(folder, commit, len(paths), total)


def choose_files(paths: Sequence[str], tasks: Sequence[str], configs: Sequence[str]) -> list[str]:
    """The data files ``{config}/{task}-*.parquet`` of these tasks and configs, ``examples`` first.

    Raises:
        UsageError: a config or a task names no file.
    """
    files = [path for path in paths if len(PurePosixPath(path).parts) == 2 and path.endswith(".parquet")]
    by_config = {path: PurePosixPath(path).parent.name for path in files}
    known = sorted(set(by_config.values()))
    for config in configs:
        if not fnmatch.filter(known, config) and config not in DEFAULT_CONFIGS:
            raise UsageError(f"{HUB_ID} has no config {config!r}.", f"There are {', '.join(known) or 'none'}.")
    known_tasks = {path: task_of(Path(path)) for path in files}
    for task in tasks:
        if task not in known_tasks.values():
            raise UsageError(
                f"{HUB_ID} has no task {task!r}.", f"There are {', '.join(sorted(set(known_tasks.values())))}."
            )
    chosen = [
        path
        for path in files
        if any(fnmatch.fnmatchcase(by_config[path], config) for config in configs)
        and (not tasks or known_tasks[path] in tasks)
    ]
    if not chosen:
        raise UsageError(f"{HUB_ID} has no file of these tasks and configs.", f"Its configs: {', '.join(known)}.")
    return sorted(chosen, key=lambda path: (by_config[path] != "examples", path))


def _require_room(to: Path | None, sizes: dict[str, int], commit: str) -> None:
    """Raises BrightInspectError if what is missing does not fit."""
    from huggingface_hub import constants, try_to_load_from_cache

    place = to or Path(constants.HF_HUB_CACHE)
    missing = 0
    for path, size in sizes.items():
        if to is None:
            there = isinstance(try_to_load_from_cache(HUB_ID, path, revision=commit, repo_type="dataset"), str)
        else:
            there = (to / path).is_file() and (to / path).stat().st_size == size
        missing += 0 if there else size
    existing = place.absolute()
    while not existing.exists():
        existing = existing.parent
    free = shutil.disk_usage(existing).free
    if missing > free:
        raise BrightInspectError(
            f"{place}: {megabytes(missing)} to fetch, but only {megabytes(free)} free.",
            "Make room, choose fewer with --task or --config, or another place with --to.",
        )


def megabytes(size: int) -> str:
    """A size in bytes as people read it: ``0.4 MB``, ``120 MB``, ``1.3 GB``."""
    if size >= 1_000_000_000:
        return f"{size / 1e9:.1f} GB"
    return f"{size / 1e6:.0f} MB" if size >= 10_000_000 else f"{size / 1e6:.1f} MB"


@contextmanager
def _errors_told(revision: str) -> Iterator[None]:
    """What the library raises as one line for the user."""
    from huggingface_hub.errors import (  # type: ignore[attr-defined]
        EntryNotFoundError,
        GatedRepoError,
        HfHubHTTPError,
        HTTPError,  # of whichever HTTP client the library's version uses
        LocalEntryNotFoundError,
        OfflineModeIsEnabled,
        RepositoryNotFoundError,
        RevisionNotFoundError,
    )

    again = "Nothing that is there is lost; run the command again."
    try:
        yield
    except OfflineModeIsEnabled:
        raise BrightInspectError("HF_HUB_OFFLINE is set, so nothing may be fetched.", "Unset it.") from None
    except GatedRepoError:
        raise BrightInspectError(
            f"{HUB_ID}: access must be asked for on its page.", "Then log in: hf auth login, or set HF_TOKEN."
        ) from None
    except RevisionNotFoundError:
        raise BrightInspectError(
            f"{HUB_ID} has no revision {revision!r}.", "Give a branch, a tag or a commit."
        ) from None
    except RepositoryNotFoundError:
        where = os.environ.get("HF_ENDPOINT", "the Hub")
        raise BrightInspectError(
            f"{HUB_ID} is not to be found at {where}, or not without logging in.", "Check HF_ENDPOINT and HF_TOKEN."
        ) from None
    except LocalEntryNotFoundError as error:
        raise _unreachable(error, again) from None
    except EntryNotFoundError as error:
        raise BrightInspectError(f"{HUB_ID}: a file is gone from the Hub ({_line(error)}).", again) from None
    except HfHubHTTPError as error:
        status = getattr(error.response, "status_code", "?")
        raise BrightInspectError(f"the Hub answered with HTTP {status} ({_line(error)}).", again) from None
    except OSError as error:
        if error.errno == errno.ENOSPC:
            raise BrightInspectError("no room left on the disk.", f"Make room. {again}") from None
        if error.errno is not None and error.filename:
            raise
        if "Consistency check failed" in str(error):
            raise BrightInspectError(f"a file came with another size than it should ({_line(error)})", again) from None
        raise _unreachable(error, again) from None
    except HTTPError as error:
        raise _unreachable(error, again) from None


def _unreachable(error: Exception, again: str) -> BrightInspectError:
    cause = error.__cause__ or error
    reason = type(cause).__name__ if isinstance(error.__cause__, Exception) else _line(error)
    where = os.environ.get("HF_ENDPOINT", "huggingface.co")
    return BrightInspectError(f"{where} cannot be reached ({reason}).", f"Check the network. {again}")


def _line(error: Exception) -> str:
    return next((line.strip() for line in str(error).splitlines() if line.strip()), type(error).__name__)

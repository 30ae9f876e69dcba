"""BM25 indexes on disk: built once for a corpus, then memory-mapped by any number of processes.

An index is a folder of NumPy arrays. It is written under another name and renamed when it is whole; a manifest has the
size of every file. A folder that lacks one, or whose sizes differ, is built anew. Bytes changed inside a file are not
seen: reading all of it on every start would cost more than the search.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import tempfile
import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from bright_inspect.errors import BrightInspectError
from bright_inspect.retrieval.analysis import Analysis
from bright_inspect.retrieval.bm25_build import Postings
from bright_inspect.retrieval.bm25_weights import Floats, Weighting
from bright_inspect.retrieval.protocol import Check, Corpus, Progress
from bright_inspect.retrieval.strings import HashedStrings, Strings

#: Raised when the files change, so that older indexes are not used.
LAYOUT = 1
_MANIFEST = "manifest.json"
_BUILDING = ".building-"
#: A folder that is being built and older than this was left by a process that was killed.
_ABANDONED_SECONDS = 24 * 3600.0


@dataclass(frozen=True, slots=True)
class Index:
    """An opened index.

    The postings of term t are ``rows[starts[t]:starts[t + 1]]`` (document numbers, ascending) with their ``counts``
    and ``weights``; documents are numbered by id, descending.
    """

    documents: int
    mean_length: float
    starts: npt.NDArray[np.int64]
    rows: npt.NDArray[np.int32]
    counts: npt.NDArray[Any]
    weights: Floats
    idf: Floats
    ids: Strings
    terms: HashedStrings


def open_index(
    corpus: Corpus, folder: Path, analysis: Analysis, weighting: Weighting, progress: Progress, check: Check
) -> Index:
    """The index of this corpus under ``folder``, built if it is not there or not whole.

    Raises:
        UnreadableInput: documents share an id.
        BrightInspectError: the index cannot be written (full disk, permissions); nothing of it is left.
        Whatever ``check`` raises; nothing of the index is left.
    """
    if not re.fullmatch(r"\w+", corpus.digest, re.ASCII):
        raise ValueError(f"not a digest: {corpus.digest!r}")
    target = folder / "bm25" / f"{corpus.digest}-{analysis.key}-{weighting.key}-{LAYOUT}"
    index = _opened(target)
    if index is None:
        postings = Postings(corpus, analysis, weighting, progress, check)
        try:
            _write(postings, target, check)
        except OSError as error:
            raise BrightInspectError(
                f"{target.parent}: the index of {corpus.name} cannot be written: {error.strerror or error}.",
                "Make room, or choose another cache folder with BRIGHT_INSPECT_CACHE.",
            ) from error
        index = _opened(target)
    if index is None:
        raise BrightInspectError(f"{target}: the index was damaged as soon as it was written.", "Check the disk.")
    return index


def _opened(folder: Path) -> Index | None:
    """The index in this folder, or None if it is not there or not whole."""
    try:
        manifest = json.loads((folder / _MANIFEST).read_bytes())
        if any((folder / f"{name}.npy").stat().st_size != size for name, size in manifest["sizes"].items()):
            return None
        arrays = {name: _mapped(folder / f"{name}.npy") for name in manifest["sizes"]}
        return Index(
            documents=int(manifest["documents"]),
            mean_length=float(manifest["mean_length"]),
            ids=Strings(arrays["ids"], arrays["id_offsets"]),
            terms=HashedStrings(arrays["terms"], arrays["term_offsets"], arrays["term_hashes"]),
            **{name: arrays[name] for name in ("starts", "rows", "counts", "weights", "idf")},
        )
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None  # absent or damaged, which is the same: it is built


def _mapped(path: Path) -> npt.NDArray[Any]:
    try:
        # As a plain array: each look into a memmap makes a new object, which costs more than the look.
        array: npt.NDArray[Any] = np.load(path, mmap_mode="r").view(np.ndarray)
    except ValueError:
        array = np.load(path)  # no system maps an empty array; a damaged file fails here too
    return array


def _write(postings: Postings, target: Path, check: Check) -> None:
    """Write the index; another process that writes it at the same time does no harm, and the first one's stays."""
    target.parent.mkdir(parents=True, exist_ok=True)
    _remove_abandoned(target.parent)
    building = Path(tempfile.mkdtemp(prefix=_BUILDING, dir=target.parent))
    try:
        sizes = {}
        for name in ("starts", "rows", "counts", "idf"):
            sizes[name] = _write_array(building / f"{name}.npy", [getattr(postings, name)])
            check()
        for name, array in postings.strings.items():
            sizes[name] = _write_array(building / f"{name}.npy", [array])
        sizes["weights"] = _write_array(building / "weights.npy", postings.weights(), len(postings.rows))
        manifest = {"documents": postings.documents, "mean_length": postings.mean_length, "sizes": sizes}
        (building / _MANIFEST).write_text(json.dumps(manifest), encoding="ascii")
        _move(building, target)
    finally:
        shutil.rmtree(building, ignore_errors=True)


def _write_array(path: Path, blocks: Iterable[npt.NDArray[Any]], length: int | None = None) -> int:
    """Write an array that comes in blocks (one, or float64 ones of this length together); the file's size."""
    with path.open("wb") as file:
        if length is not None:
            header = {"descr": np.dtype(np.float64).str, "fortran_order": False, "shape": (length,)}
            np.lib.format.write_array_header_1_0(file, header)
            for block in blocks:
                file.write(block.data)
        else:
            for block in blocks:
                np.lib.format.write_array(file, block, allow_pickle=False)
        file.flush()
        os.fsync(file.fileno())
        return file.tell()


def _move(building: Path, target: Path) -> None:
    with contextlib.suppress(OSError):
        building.rename(target)
        return
    if _opened(target) is None:
        # What stands there is damaged. It leaves under a name of its own, since a folder is not removed at once.
        damaged = Path(tempfile.mkdtemp(prefix=_BUILDING, dir=target.parent))
        with contextlib.suppress(FileNotFoundError):
            target.rename(damaged / "damaged")
        shutil.rmtree(damaged, ignore_errors=True)
        building.rename(target)


def _remove_abandoned(folder: Path) -> None:
    for path in folder.glob(f"{_BUILDING}*"):
        with contextlib.suppress(OSError):
            if time.time() - path.stat().st_mtime > _ABANDONED_SECONDS:
                shutil.rmtree(path, ignore_errors=True)

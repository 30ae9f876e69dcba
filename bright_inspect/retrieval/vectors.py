"""The vectors of a corpus on disk: encoded batch by batch into a file that a broken encoding goes on with.

A folder holds ``vectors`` (float32 rows) and ``batches`` (the shape and CRC-32 of each batch, written after it), which
grow, and at the end the documents' ids and which row is whose. Documents of the same text share a row, so that their
scores tie, and rows stand by length, longest first, which is how models encode fastest. Every batch is checked against
its CRC-32 when the folder is opened: what does not match is encoded anew, with all that follows.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import hashlib
import json
import os
import shutil
import time
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO
from zlib import crc32

import numpy as np
import numpy.typing as npt

from bright_inspect.domain.durations import about
from bright_inspect.errors import BrightInspectError, UnreadableInput
from bright_inspect.retrieval.encoder import Encoder
from bright_inspect.retrieval.protocol import Check, Corpus, Progress
from bright_inspect.retrieval.strings import Strings, encode, packed

#: Raised when the files change, so that older folders are not used.
LAYOUT = 1
_BATCH = np.dtype([("rows", "<u4"), ("dimensions", "<u4"), ("crc", "<u4")])
_DOCUMENTS = "documents.npz"
#: What reading a damaged archive raises.
_DAMAGED = (
    OSError, ValueError, KeyError, EOFError, NotImplementedError, RuntimeError, zipfile.BadZipFile, zlib.error,
)  # fmt: skip
_SYNC_SECONDS = 5.0
_LOCK_SECONDS = 0.2
#: A text's cost is its length, up to what a model reads of it at about so many characters a token.
_CHARACTERS_PER_TOKEN = 5
_LONGEST_UNKNOWN = 40_000


@dataclass(frozen=True, slots=True)
class CorpusVectors:
    """``vectors[rows[i]]`` is the vector of document ``ids[i]``; documents are numbered by id, descending, so that the
    lower number of a tie comes first, as trec_eval has it. ``vectors``: float32 of (distinct texts, dimensions)."""

    ids: Strings
    rows: npt.NDArray[np.int64]
    vectors: npt.NDArray[np.float32]


def vectors_folder(corpus: Corpus, cache_folder: Path, encoder: Encoder) -> Path:
    """The folder of a corpus' vectors by this encoder."""
    key = hashlib.sha256(encoder.key.encode()).hexdigest()[:24]
    return cache_folder / "dense" / f"{corpus.digest}-{key}-{LAYOUT}"


def open_vectors(
    corpus: Corpus, cache_folder: Path, encoder: Encoder, progress: Progress, check: Check
) -> CorpusVectors:
    """The vectors of a corpus, encoded as far as they are not there. Stopping keeps what was encoded.

    Raises:
        UnreadableInput: documents share an id.
        BrightInspectError: the folder cannot be written (full disk, permissions); the model gives what is no number.
        Whatever ``check`` raises.
    """
    folder = vectors_folder(corpus, cache_folder, encoder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with _only_one(folder, progress, check):
            return _opened(folder, corpus, encoder, progress, check)
    except OSError as error:
        raise BrightInspectError(
            f"{folder}: the vectors of {corpus.name} cannot be written: {error.strerror or error}.",
            "Make room, or choose another cache folder with BRIGHT_INSPECT_CACHE; encoding then goes on from there.",
        ) from error


def _opened(folder: Path, corpus: Corpus, encoder: Encoder, progress: Progress, check: Check) -> CorpusVectors:
    documents = _stored_documents(folder)
    with (folder / "vectors").open("a+b") as vectors, (folder / "batches").open("a+b") as batches:
        done, dimensions = _cut_to_whole_batches(vectors, batches, corpus.size, progress, check)
        if documents is None or done != documents.texts:
            texts, documents = _read(corpus, progress, check)
            if done > len(texts):
                done = dimensions = 0
                vectors.truncate(0)
                batches.truncate(0)
            _encode_rest(texts, done, dimensions, vectors, batches, encoder, progress, check)
            _store_documents(folder, documents)
            made = {"corpus": corpus.name, "documents": corpus.size, "encoder": encoder.key}
            (folder / "made.json").write_text(json.dumps(made) + "\n", encoding="utf-8")
    if not documents.texts:
        stored = np.empty((0, 1), dtype=np.float32)
    else:
        # As a plain array: each look into a memmap makes a new object, which costs more than the look. Not mode "r":
        # torch warns of arrays that cannot be written.
        stored = np.memmap(folder / "vectors", dtype=np.float32, mode="c").view(np.ndarray)
        stored = stored.reshape(documents.texts, -1)
    return CorpusVectors(documents.ids, documents.rows, stored)


@dataclass(frozen=True, slots=True)
class _Documents:
    """Ids, descending; which text is whose; and how many distinct texts there are."""

    ids: Strings
    rows: npt.NDArray[np.int64]
    texts: int


def _stored_documents(folder: Path) -> _Documents | None:
    """What a finished folder has, or None. The archive's own checksums tell damage."""
    try:
        # Opened here: numpy leaves a damaged file open.
        with (folder / _DOCUMENTS).open("rb") as file, np.load(file, allow_pickle=False) as stored:
            return _Documents(Strings(stored["ids"], stored["offsets"]), stored["rows"], int(stored["texts"]))
    except _DAMAGED:
        return None


def _store_documents(folder: Path, documents: _Documents) -> None:
    part = folder / f"{_DOCUMENTS}.part"
    with part.open("wb") as file:
        np.savez(
            file, ids=documents.ids.blob, offsets=documents.ids.offsets, rows=documents.rows, texts=documents.texts
        )
        file.flush()
        os.fsync(file.fileno())
    os.replace(part, folder / _DOCUMENTS)


@contextlib.contextmanager
def _only_one(folder: Path, progress: Progress, check: Check) -> Iterator[None]:
    """Hold the folder, which another window or command may be encoding into."""
    with (folder / "lock").open("wb") as lock:
        while True:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                check()
                progress(0, 1, "another process encodes this corpus, waiting for it")
                time.sleep(_LOCK_SECONDS)
        yield


def _read(corpus: Corpus, progress: Progress, check: Check) -> tuple[list[str], _Documents]:
    """The distinct texts, longest first, and whose they are."""
    of_id: dict[bytes, str] = {}
    for number, (doc_id, text) in enumerate(corpus.read()):
        if number % 1000 == 0:
            check()
            progress(number, corpus.size, "reading documents")
        key = encode(doc_id)
        if key in of_id:
            raise UnreadableInput(f"{corpus.name}: several documents have the id {doc_id!r}.")
        of_id[key] = text
    # By length first, in a dictionary: one sort of half a million texts would hold all other threads for a second.
    of_length: dict[int, list[str]] = {}
    for text in set(of_id.values()):
        of_length.setdefault(len(text), []).append(text)
    texts = [text for length in sorted(of_length, reverse=True) for text in sorted(of_length[length])]
    check()
    row_of = {text: row for row, text in enumerate(texts)}
    ids = sorted(of_id, reverse=True)
    rows = np.array([row_of[of_id[key]] for key in ids], dtype=np.int64)
    return texts, _Documents(Strings(*packed(ids)), rows, len(texts))


def _encode_rest(
    texts: Sequence[str],
    start: int,
    dimensions: int,
    vectors: IO[bytes],
    batches: IO[bytes],
    encoder: Encoder,
    progress: Progress,
    check: Check,
) -> None:
    """Encode the texts from number ``start``; ``dimensions`` are those of the vectors before, 0 if there are none."""
    limit = _CHARACTERS_PER_TOKEN * encoder.max_length if encoder.max_length else _LONGEST_UNKNOWN
    costs = np.cumsum([0, *(min(len(text), limit) + 1 for text in texts)])
    done = start
    began = synced = time.monotonic()
    while done < len(texts):
        check()
        progress(done, len(texts), _message(encoder, costs, start, done, time.monotonic() - began))
        batch = texts[done : done + encoder.batch_size * encoder.devices]
        found = np.ascontiguousarray(encoder.encode_documents(batch, check), dtype=np.float32)
        _refuse_nonsense(found, len(batch), dimensions, encoder, done)
        dimensions = found.shape[1]
        block = found.tobytes()
        if done == 0:
            _refuse_small_disk(Path(vectors.name).parent, len(block) // len(batch) * len(texts))
        vectors.write(block)
        vectors.flush()
        batches.write(np.array([(*found.shape, crc32(block))], dtype=_BATCH).tobytes())
        batches.flush()
        done += len(batch)
        if time.monotonic() - synced > _SYNC_SECONDS or done == len(texts):
            os.fsync(vectors.fileno())
            os.fsync(batches.fileno())
            synced = time.monotonic()
    progress(done, len(texts), "documents are encoded")


def _message(encoder: Encoder, costs: npt.NDArray[np.int64], start: int, done: int, seconds: float) -> str:
    where = f" on {encoder.device}" if encoder.device else ""
    if done == start or seconds < 1:
        return f"encoding documents{where}"
    left = seconds * float(costs[-1] - costs[done]) / float(costs[done] - costs[start])
    return f"encoding documents{where}, {about(left)} left"


def _cut_to_whole_batches(
    vectors: IO[bytes], batches: IO[bytes], most: int, progress: Progress, check: Check
) -> tuple[int, int]:
    """How many texts are encoded and whole, at most ``most``, and the dimensions; both files are cut behind them."""
    batches.seek(0)
    recorded = batches.read()
    records = np.frombuffer(recorded, dtype=_BATCH, count=len(recorded) // _BATCH.itemsize).tolist()
    rows = whole = size = 0
    there = vectors.seek(0, os.SEEK_END)
    vectors.seek(0)
    for count, dimensions, crc in records:
        if whole % 100 == 0:
            check()
            progress(rows, most, "checking vectors")
        wanted = 4 * count * dimensions
        # A file that lost its end to a power cut may hold zeros there.
        if not 0 < wanted <= there - size or rows + count > most or dimensions != records[0][1]:
            break
        if crc32(vectors.read(wanted)) != crc:
            break
        rows, whole, size = rows + count, whole + 1, size + wanted
    os.truncate(vectors.fileno(), size)
    os.truncate(batches.fileno(), whole * _BATCH.itemsize)
    return rows, records[0][1] if whole else 0


def _refuse_nonsense(found: npt.NDArray[np.float32], texts: int, dimensions: int, encoder: Encoder, first: int) -> None:
    if found.ndim != 2 or len(found) != texts or not found.shape[1]:
        raise BrightInspectError(f"{encoder.name}: it gave an array of shape {found.shape} for {texts} texts.")
    if found.shape[1] != (dimensions or found.shape[1]):
        raise BrightInspectError(
            f"{encoder.name}: it gave vectors of {found.shape[1]} dimensions, where those before have {dimensions}.",
            "The model changed: encode the corpus anew with another cache folder.",
        )
    wrong = np.flatnonzero(~np.isfinite(found).all(axis=1))
    if len(wrong):
        raise BrightInspectError(
            f"{encoder.name}: the vectors of {len(wrong)} of {len(found)} texts hold what is no number "
            f"(as of text {first + int(wrong[0]) + 1} by length).",
            "Try --precision float32.",
        )


def _refuse_small_disk(folder: Path, wanted: int) -> None:
    free = shutil.disk_usage(folder).free
    if free < wanted:
        raise OSError(errno.ENOSPC, f"they need {wanted / 1e6:,.0f} MB, and {free / 1e6:,.0f} MB are free")

"""Vectors on disk: encoded once, gone on with bit for bit, mended when damaged, shared by processes."""

from __future__ import annotations

import itertools
import json
import resource
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

from bright_inspect.errors import BrightInspectError, UnreadableInput
from bright_inspect.retrieval.protocol import Check, Corpus, Progress, ignore_progress, never_stop
from bright_inspect.retrieval.vectors import CorpusVectors, open_vectors, vectors_folder
from tests.retrieval.corpora import DOCUMENTS, corpus_of
from tests.retrieval.encoders import HashEncoder, Vectors
from tests.support import ROOT

MANY = {f"d{number:02}": "word " * (number % 5) + f"end {number % 20}" for number in range(30)}
TEXTS = len(set(MANY.values()))


class Stopped(Exception):
    """What a check raises here."""


class Files(NamedTuple):
    vectors: bytes
    batches: bytes
    ids: list[str]
    rows: list[int]


def opened(
    corpus: Corpus,
    folder: Path,
    encoder: HashEncoder | None = None,
    progress: Progress = ignore_progress,
    check: Check = never_stop,
) -> CorpusVectors:
    return open_vectors(corpus, folder, encoder or HashEncoder(), progress, check)


def files(corpus: Corpus, folder: Path) -> Files:
    own, found = vectors_folder(corpus, folder, HashEncoder()), opened(corpus, folder, Unused())
    return Files(
        (own / "vectors").read_bytes(), (own / "batches").read_bytes(), found.ids.all(), found.rows.tolist()
    )  # fmt: skip


class Unused(HashEncoder):
    """May not be asked any more."""

    def encode_documents(self, texts: object, check: object = never_stop) -> Any:
        raise AssertionError("encoded again")


def test_each_document_has_its_vector(tmp_path: Path) -> None:
    encoder, corpus = HashEncoder(), corpus_of(MANY)
    for _ in range(2):
        found = opened(corpus, tmp_path, encoder)
        assert found.vectors.dtype == np.float32
        assert found.ids.all() == sorted(MANY, reverse=True)
        for place, doc_id in enumerate(found.ids.all()):
            assert (found.vectors[found.rows[place]] == encoder.vector(MANY[doc_id])).all()
    assert sorted(encoder.encoded) == sorted(set(MANY.values())), "each text once"
    lengths = [len(text) for text in encoder.encoded]
    assert lengths == sorted(lengths, reverse=True)
    made = json.loads((vectors_folder(corpus, tmp_path, encoder) / "made.json").read_text())
    assert made == {"corpus": "custom/small", "documents": 30, "encoder": "hash"}


def test_same_texts_share_a_row(tmp_path: Path) -> None:
    found = opened(corpus_of({"a": "same", "b": "other", "c": "same"}), tmp_path)
    assert found.ids.all() == ["c", "b", "a"]
    assert found.rows[0] == found.rows[2] != found.rows[1]
    assert found.vectors.shape == (2, 8)


@pytest.mark.parametrize("documents", [{}, {"a": "text"}, {"a": ""}, DOCUMENTS])
def test_small_corpora(documents: dict[str, str], tmp_path: Path) -> None:
    encoder = HashEncoder()
    for _ in range(2):
        found = opened(corpus_of(documents), tmp_path, encoder)
        assert sorted(found.ids.all()) == sorted(documents)
        assert len(found.vectors) == len(set(documents.values()))
    assert len(encoder.encoded) == len(documents)


def test_documents_that_share_an_id(tmp_path: Path) -> None:
    corpus = corpus_of([("a", "x"), ("b", "y"), ("a", "z")])
    with pytest.raises(UnreadableInput, match="custom/small: several documents have the id 'a'"):
        opened(corpus, tmp_path)


def test_a_folder_for_each_corpus_and_model(tmp_path: Path) -> None:
    encoder, other = HashEncoder(), HashEncoder()
    other.key = "other"
    rows = list(MANY.items())
    corpora = [corpus_of(rows), corpus_of(rows[::-1]), corpus_of({**MANY, "d00": "other"})]
    folders = {vectors_folder(corpus, tmp_path, found) for corpus in corpora for found in (encoder, other)}
    assert len(folders) == 6
    assert all(folder.parent == tmp_path / "dense" for folder in folders)


@pytest.mark.parametrize(
    ("devices", "stop_at"), [(1, place) for place in range(1, 8)] + [(2, place) for place in range(1, 6)]
)
def test_stopped_anywhere_it_goes_on_to_the_same_bytes(devices: int, stop_at: int, tmp_path: Path) -> None:
    corpus = corpus_of(MANY)
    opened(corpus, tmp_path / "whole", HashEncoder(devices=devices))
    checks = itertools.count(1)

    def check() -> None:
        if next(checks) == stop_at:
            raise Stopped

    first, second = HashEncoder(devices=devices), HashEncoder(devices=devices)
    with pytest.raises(Stopped):
        opened(corpus, tmp_path / "broken", first, check=check)
    opened(corpus, tmp_path / "broken", second)
    assert files(corpus, tmp_path / "broken") == files(corpus, tmp_path / "whole")
    assert len(first.encoded) + len(second.encoded) == TEXTS, "nothing is encoded twice"


@pytest.mark.parametrize("broken_at", range(5))
def test_an_encoder_that_fails_costs_its_batch(broken_at: int, tmp_path: Path) -> None:
    class Failing(HashEncoder):
        def encode_documents(self, texts: Any, check: object = never_stop) -> Vectors:
            if len(self.batches) == broken_at:
                raise Stopped
            return super().encode_documents(texts)

    corpus = corpus_of(MANY)
    opened(corpus, tmp_path / "whole")
    with pytest.raises(Stopped):
        opened(corpus, tmp_path / "broken", Failing())
    second = HashEncoder()
    opened(corpus, tmp_path / "broken", second)
    assert files(corpus, tmp_path / "broken") == files(corpus, tmp_path / "whole")
    assert len(second.encoded) == TEXTS - 4 * broken_at


def test_a_write_that_was_cut_anywhere(tmp_path: Path) -> None:
    """As after a kill: any length of either file, ids not there yet."""
    corpus = corpus_of(MANY)
    opened(corpus, tmp_path / "whole")
    whole = files(corpus, tmp_path / "whole")
    own = vectors_folder(corpus, tmp_path / "broken", HashEncoder())
    own.mkdir(parents=True)
    for size in range(0, len(whole.vectors), 37):
        for records in (size // 128, size // 128 + 1):
            # A batch's record follows its rows.
            (own / "vectors").write_bytes(whole.vectors[:size])
            (own / "batches").write_bytes(whole.batches[: 12 * records - 5])
            (own / "documents.npz").unlink(missing_ok=True)
            encoder = HashEncoder()
            opened(corpus, tmp_path / "broken", encoder)
            assert files(corpus, tmp_path / "broken") == whole
            assert len(encoder.encoded) <= TEXTS - 4 * max(0, records - 1)


@pytest.mark.parametrize("name", ["vectors", "batches", "documents.npz"])
def test_damage_is_found_and_mended(name: str, tmp_path: Path) -> None:
    corpus = corpus_of(DOCUMENTS)
    opened(corpus, tmp_path)
    whole = files(corpus, tmp_path)
    path = vectors_folder(corpus, tmp_path, HashEncoder()) / name
    content = path.read_bytes()
    step = 1 if name == "batches" else 5
    damaged = [content[:size] for size in range(0, len(content), step)]
    damaged += [
        content[:place] + bytes([content[place] ^ 1 << place % 8]) + content[place + 1 :]
        for place in range(0, len(content), step)
    ]
    damaged += [content + b"\0", content + content, b"\0" * len(content), b"\x93NUMPY"]
    for bad in damaged:
        path.write_bytes(bad)
        opened(corpus, tmp_path)
        assert files(corpus, tmp_path) == whole


def test_a_file_that_lost_its_end_to_zeros(tmp_path: Path) -> None:
    corpus = corpus_of(MANY)
    opened(corpus, tmp_path)
    whole = files(corpus, tmp_path)
    own = vectors_folder(corpus, tmp_path, HashEncoder())
    for kept in (0, 2):
        (own / "batches").write_bytes(whole.batches[: 12 * kept].ljust(len(whole.batches), b"\0"))
        encoder = HashEncoder()
        opened(corpus, tmp_path, encoder)
        assert len(encoder.encoded) == TEXTS - 4 * kept
        assert files(corpus, tmp_path) == whole


def test_rows_of_another_corpus_are_not_taken(tmp_path: Path) -> None:
    """More rows than texts: only a folder that was put there by hand has them."""
    large = corpus_of(MANY)
    small = Corpus("custom", "small", large.size, "0" * 64, lambda: iter([("a", "x"), ("b", "y")]))
    opened(large, tmp_path)
    own = vectors_folder(small, tmp_path, HashEncoder())
    shutil.copytree(vectors_folder(large, tmp_path, HashEncoder()), own)
    (own / "documents.npz").unlink()
    found = opened(small, tmp_path)
    assert found.vectors.shape == (2, 8)
    assert (found.vectors[found.rows[0]] == HashEncoder().vector("y")).all()


def test_another_batch_size_goes_on(tmp_path: Path) -> None:
    corpus = corpus_of(MANY)
    checks = itertools.count(1)

    def check() -> None:
        if next(checks) == 7:
            raise Stopped

    first, second = HashEncoder(batch_size=3), HashEncoder(batch_size=5)
    with pytest.raises(Stopped):
        opened(corpus, tmp_path, first, check=check)
    found = opened(corpus, tmp_path, second)
    assert first.encoded
    assert sorted(first.encoded + second.encoded) == sorted(set(MANY.values()))
    for place, doc_id in enumerate(found.ids.all()):
        assert (found.vectors[found.rows[place]] == second.vector(MANY[doc_id])).all()
    opened(corpus, tmp_path, Unused())


class Wrong(HashEncoder):
    """Gives something else from its third batch on."""

    def __init__(self, given: Any) -> None:
        super().__init__()
        self._given = given

    def encode_documents(self, texts: Any, check: object = never_stop) -> Vectors:
        found = super().encode_documents(texts)
        if len(self.batches) < 3:
            return found
        wrong: Vectors = self._given(found)
        return wrong


def _with_nan(found: Vectors) -> Vectors:
    found[1, 2] = np.nan
    return found


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (_with_nan, "the vectors of 1 of 4 texts hold what is no number (as of text 10 by length)"),
        (lambda found: found * np.inf, "the vectors of 4 of 4 texts hold what is no number"),
        (lambda found: found[:3], "it gave an array of shape (3, 8) for 4 texts"),
        (lambda found: found[0], "it gave an array of shape (8,) for 4 texts"),
        (lambda found: found[:, :0], "it gave an array of shape (4, 0) for 4 texts"),
        (lambda found: found[:, :7], "it gave vectors of 7 dimensions, where those before have 8"),
    ],
)
@pytest.mark.filterwarnings("ignore:invalid value:RuntimeWarning")
def test_nonsense_is_refused_and_not_kept(given: Any, message: str, tmp_path: Path) -> None:
    corpus = corpus_of(MANY)
    for attempt in range(2):
        with pytest.raises(BrightInspectError) as raised:
            opened(corpus, tmp_path, Wrong(given) if not attempt else WrongAtOnce(given))
        assert "\n" not in str(raised.value)
        if not attempt:
            assert message in raised.value.message
    encoder = HashEncoder()
    opened(corpus, tmp_path, encoder)
    assert len(encoder.encoded) == TEXTS - 8, "what was good is kept"
    opened(corpus, tmp_path / "whole")
    assert files(corpus, tmp_path) == files(corpus, tmp_path / "whole")


class WrongAtOnce(Wrong):
    def encode_documents(self, texts: Any, check: object = never_stop) -> Vectors:
        self.batches += [[], []]
        return super().encode_documents(texts)


def test_doubles_become_floats(tmp_path: Path) -> None:
    class Doubles(HashEncoder):
        def encode_documents(self, texts: Any, check: object = never_stop) -> Any:
            return super().encode_documents(texts).astype(np.float64)

    opened(corpus_of(MANY), tmp_path, Doubles())
    opened(corpus_of(MANY), tmp_path / "whole")
    assert files(corpus_of(MANY), tmp_path) == files(corpus_of(MANY), tmp_path / "whole")


@pytest.mark.parametrize("room", [0, 1, 100, 128, 200, 500])
def test_a_full_disk_is_one_line_and_encoding_goes_on_later(room: int, tmp_path: Path) -> None:
    corpus = corpus_of(MANY)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    encoder, second = HashEncoder(), HashEncoder()
    try:
        # Writes behind this size fail, the last one half-done, as on a full disk.
        resource.setrlimit(resource.RLIMIT_FSIZE, (room, hard))
        with pytest.raises(BrightInspectError, match="the vectors of custom/small cannot be written") as raised:
            opened(corpus, tmp_path, encoder)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert "\n" not in str(raised.value)
    assert "BRIGHT_INSPECT_CACHE" in raised.value.hint
    opened(corpus, tmp_path, second)
    assert len(encoder.encoded) + len(second.encoded) <= TEXTS + 4
    opened(corpus, tmp_path / "whole")
    assert files(corpus, tmp_path) == files(corpus, tmp_path / "whole")


def test_a_disk_that_is_too_small_is_found_after_one_batch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda folder: shutil._ntuple_diskusage(10**9, 10**9, 100))
    encoder = HashEncoder()
    with pytest.raises(BrightInspectError, match=r"they need 0 MB, and 0 MB are free"):
        opened(corpus_of(MANY), tmp_path, encoder)
    assert len(encoder.batches) == 1


def test_a_folder_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "dense").write_text("a file")
    with pytest.raises(BrightInspectError, match="cannot be written"):
        opened(corpus_of(MANY), tmp_path)


def test_progress(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    now = itertools.count(0, 40)
    monkeypatch.setattr("bright_inspect.retrieval.vectors.time.monotonic", lambda: float(next(now)))
    seen: list[tuple[int, int, str]] = []
    encoder = HashEncoder(batch_size=5)
    encoder.device = "cpu"
    opened(corpus_of(MANY), tmp_path, encoder, lambda *step: seen.append(step))
    assert seen[0] == (0, 30, "reading documents")
    steps = seen[1:]
    assert [done for done, _, _ in steps] == [0, 5, 10, 15, 20]
    assert {total for _, total, _ in steps} == {TEXTS}
    messages = [message for _, _, message in steps]
    assert messages[0] == "encoding documents on cpu"
    assert all(message.startswith("encoding documents on cpu, about ") for message in messages[1:-1])
    assert messages[-1] == "documents are encoded"


TOGETHER = """
import sys
from pathlib import Path
from bright_inspect.retrieval.protocol import never_stop
from bright_inspect.retrieval.vectors import open_vectors
from tests.retrieval.corpora import corpus_of
from tests.retrieval.encoders import HashEncoder
from tests.retrieval.test_vectors import MANY
encoder, messages = HashEncoder(pause=0.15), set()
found = open_vectors(corpus_of(MANY), Path(sys.argv[1]), encoder, lambda *step: messages.add(step[2]), never_stop)
print(len(encoder.encoded), "another process encodes this corpus, waiting for it" in messages, found.vectors.sum())
"""


def test_processes_at_once_share_the_work(tmp_path: Path) -> None:
    arguments = [sys.executable, "-c", TOGETHER, str(tmp_path)]
    running = [subprocess.Popen(arguments, cwd=ROOT, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    answers = [process.communicate(timeout=60)[0].split() for process in running]
    assert sorted(int(encoded) for encoded, _, _ in answers) == [0, TEXTS]
    assert {waited for encoded, waited, _ in answers if encoded == "0"} == {"True"}
    assert len({total for _, _, total in answers}) == 1

"""Input files as the readers need them: clean UTF-8 lines, a digest, and what had to be mended to get there.

A file is scanned once in blocks. Byte order marks, carriage returns, compression and undecodable bytes lead to a clean
temporary copy with the same line numbers; every other file is read where it lies.
"""

from __future__ import annotations

import codecs
import gzip
import io
import re
import tempfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, cast

from bright_inspect.domain.findings import Finding
from bright_inspect.errors import UnreadableInput

_BLOCK = 1 << 20
_GZIP_MAGIC = b"\x1f\x8b"
# How Python's "surrogateescape" keeps a byte that is not UTF-8.
_ESCAPED_BYTE = re.compile("[\udc80-\udcff]")
_UTF16_MARKS = {codecs.BOM_UTF16_LE: "utf-16-le", codecs.BOM_UTF16_BE: "utf-16-be"}


@dataclass(frozen=True, slots=True)
class FileScan:
    """What one pass over the bytes told. ``digest`` is the SHA-256 of the file as it lies on disk; ``clean`` says that
    DuckDB can read it as it is, ``tabs`` that there is a tab anywhere."""

    digest: str
    clean: bool
    tabs: bool


@contextmanager
def open_decompressed(path: Path) -> Iterator[BinaryIO]:
    """The file's bytes, unpacked if they are gzip (by their first two bytes, not by name).

    Raises:
        UnreadableInput: the file is absent, a folder, a pipe or not allowed to be read.
    """
    try:
        str(path).encode()
    except UnicodeEncodeError:
        shown = str(path).encode(errors="backslashreplace").decode()
        raise UnreadableInput(f"{shown}: the file's name is not valid UTF-8.", "Rename it.") from None
    try:
        # Files are read several times over, which a pipe cannot be.
        if not (path.is_file() or path.is_dir()) and path.exists():
            raise UnreadableInput(f"{path}: a pipe or device, not a file.", "Write it to a file first.")
        file = path.open("rb")
    except FileNotFoundError:
        raise UnreadableInput(f"{path}: no such file.", "Check the path.") from None
    except IsADirectoryError:
        raise UnreadableInput(f"{path}: is a folder, not a file.", "Name a file in it.") from None
    except OSError as error:
        raise UnreadableInput(f"{path}: cannot be read ({error.strerror}).", "Check its permissions.") from None
    with file:
        magic = file.read(2)
        file.seek(0)
        if magic == _GZIP_MAGIC:
            with gzip.GzipFile(fileobj=file) as unpacked:
                yield cast(BinaryIO, unpacked)
        else:
            yield file


def read_head(path: Path, size: int = 1 << 16) -> bytes:
    """The first bytes of the unpacked file.

    Raises:
        UnreadableInput: the file is absent, not readable, empty, damaged gzip or binary.
    """
    with open_decompressed(path) as file:
        try:
            head = file.read(size)
        except (EOFError, OSError, zlib.error) as error:
            raise UnreadableInput(f"{path}: damaged gzip data ({error}).", "Make or fetch the file again.") from None
    if not head.strip():
        raise UnreadableInput(f"{path}: the file is empty.", "A run file was expected.")
    if b"\0" in head and head[:2] not in _UTF16_MARKS:
        raise UnreadableInput(
            f"{path}: binary data, not text.", "Expected a TREC run (query_id Q0 doc_id rank score tag) or score JSON."
        )
    return head


def scan_file(path: Path) -> FileScan:
    """Digest the file and see whether DuckDB can read it as it is."""
    import hashlib  # brings OpenSSL, which looking at paths before the first frame does not need

    digest = hashlib.sha256()
    decoder = codecs.getincrementaldecoder("utf-8")()
    clean = True
    tabs = False
    first = True
    with path.open("rb") as file:
        while block := file.read(_BLOCK):
            digest.update(block)
            # Single bytes only: to look for two in a row takes longer than everything else here.
            tabs = tabs or b"\t" in block
            if first:
                clean = not block.startswith((codecs.BOM_UTF8, _GZIP_MAGIC, *_UTF16_MARKS))
                first = False
            if clean:
                try:
                    if not block.isascii() or decoder.getstate()[0]:
                        decoder.decode(block)
                    clean = b"\r" not in block and b"\0" not in block
                except UnicodeDecodeError:
                    clean = False
    if clean:
        try:
            decoder.decode(b"", final=True)
        except UnicodeDecodeError:
            clean = False
    return FileScan(digest.hexdigest(), clean, tabs)


@contextmanager
def clean_copy(path: Path, escape: str = "\\") -> Iterator[tuple[Path, list[Finding]]]:
    """A temporary UTF-8 copy with ``\\n`` line ends and the same line numbers, and what had to be mended.

    Bytes that are not UTF-8 are written as ``\\xNN``, so that ids stay apart; ``escape`` is how the format of the file
    spells that backslash. Any of the three line ends counts.

    Raises:
        UnreadableInput: the compressed data is damaged.
    """
    findings: list[Finding] = []
    with tempfile.NamedTemporaryFile("w", encoding="utf-8", newline="\n", suffix=".txt") as copy:
        try:
            with open_decompressed(path) as file:
                _copy_clean(path, file, copy, findings, escape)
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            raise UnreadableInput(f"{path}: damaged gzip data ({error}).", "Make or fetch the file again.") from None
        copy.flush()
        yield Path(copy.name), findings


def _copy_clean(
    path: Path, file: BinaryIO, copy: tempfile._TemporaryFileWrapper[str], findings: list[Finding], escape: str
) -> None:
    start = file.read(3)
    encoding = "utf-8"
    if start[:2] in _UTF16_MARKS:
        encoding = _UTF16_MARKS[start[:2]]
        start = start[2:]
        findings.append(Finding("utf-16", "warning", str(path), "UTF-16 text; read as such.", 1))
    elif start == codecs.BOM_UTF8:
        start = b""
        message = "UTF-8 byte order mark at the start; left out (trec_eval takes it as part of the first query id)."
        findings.append(Finding("byte-order-mark", "warning", str(path), message, 1))
    undecodable = 0
    line = 1
    first_undecodable = None
    decoder = codecs.getincrementaldecoder(encoding)("surrogateescape" if encoding == "utf-8" else "replace")
    newlines = io.IncrementalNewlineDecoder(None, translate=True)
    block = start
    final = False
    while not final:
        more = file.read(_BLOCK)
        final = not more
        text = newlines.decode(decoder.decode(block + more, final=final), final=final)
        block = b""
        if not text.isascii() and (bad := _ESCAPED_BYTE.findall(text)):
            undecodable += len(bad)
            if first_undecodable is None:
                first_undecodable = line + text.count("\n", 0, text.index(bad[0]))
            text = _ESCAPED_BYTE.sub(lambda byte: f"{escape}x{ord(byte[0]) - 0xDC00:02x}", text)
        line += text.count("\n")
        copy.write(text)
    if undecodable:
        message = f"{undecodable} bytes are not UTF-8; kept as \\xNN, so ids that hold them may match nothing."
        findings.append(Finding("invalid-utf8", "warning", str(path), message, first_undecodable, undecodable))


def first_lines(path: Path, wanted: set[str]) -> dict[str, int]:
    """The line number (1-based) of the first occurrence of each wanted line, trailing line end aside."""
    numbers: dict[str, int] = {}
    with path.open("r", encoding="utf-8", newline="\n") as file:
        for number, line in enumerate(file, 1):
            text = line.removesuffix("\n")
            if text in wanted and text not in numbers:
                numbers[text] = number
                if len(numbers) == len(wanted):
                    break
    return numbers

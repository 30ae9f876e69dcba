"""Input files as the readers need them: clean UTF-8 lines, a digest, and what had to be mended to get there.

A file is scanned once in blocks. Byte order marks, carriage returns, compression and undecodable bytes lead to a clean
temporary copy with the same line numbers; every other file is read where it lies.
"""

from __future__ import annotations

import codecs
import io
import re
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from bright_inspect.domain.findings import Finding
from bright_inspect.errors import UnreadableInput
from bright_inspect.formats.packing import MAGIC_BYTES, damage, damaged, name_binary, packing_of, unpacked

_BLOCK = 1 << 20
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
    """The file's bytes, unpacked if they are gzip, bzip2, xz, zstd or LZ4 (by their first bytes, not by name).

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
        packing = packing_of(_first_bytes(path, file))
        try:
            yield unpacked(path, file, packing)
        except damage(packing) as error:
            raise damaged(path, packing, error) from None


def _first_bytes(path: Path, file: BinaryIO) -> bytes:
    try:
        magic = file.read(MAGIC_BYTES)
        file.seek(0)
    except OSError as error:
        raise damaged(path, None, error) from None
    return magic


def read_head(path: Path, size: int = 1 << 16) -> bytes:
    """The first bytes of the unpacked file, from its first that is not blank.

    Raises:
        UnreadableInput: the file is absent, not readable, empty, damaged or binary.
    """
    head = peek(path, size)
    if not head.strip():
        raise UnreadableInput(f"{path}: the file is empty.", "A run file was expected.")
    if b"\0" in head and head[:2] not in _UTF16_MARKS:
        hint = "Expected a TREC run (query_id Q0 doc_id rank score tag) or score JSON."
        if head[:4].count(0) == 2:
            hint = "UTF-16 without a byte order mark? Save it as UTF-8."
        raise UnreadableInput(f"{path}: binary data, not text.", hint)
    return head


def peek(path: Path, size: int) -> bytes:
    """At least one and at most ``size`` bytes of the unpacked file, text or not, without blanks at the start; b"" if
    there is nothing but blanks.

    Raises:
        UnreadableInput: the file is absent, not readable, damaged, or of a kind that is known and not read.
    """
    with open_decompressed(path) as file:
        head = b""
        while not head and (block := file.read(size)):
            head = block if block[:2] in _UTF16_MARKS else block.lstrip()
        if len(head) < size:
            head += file.read(size - len(head))
    if known := name_binary(head):
        raise UnreadableInput(f"{path}: {known[0]}, not a run.", known[1])
    return head


def sha256_of(path: Path) -> str:
    """The SHA-256 of the file as it lies on disk."""
    import hashlib  # see scan_file

    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


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
                clean = not (packing_of(block) or block.startswith((codecs.BOM_UTF8, *_UTF16_MARKS)))
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
def clean_source(path: Path, escape: str = "\\") -> Iterator[tuple[Path, str, list[Finding]]]:
    """What a reader reads: the file itself where it is clean, else a ``clean_copy``; the file's digest; the findings.

    Raises:
        UnreadableInput: as ``clean_copy``.
    """
    scan = scan_file(path)
    if scan.clean:
        yield path, scan.digest, []
    else:
        with clean_copy(path, escape) as (source, findings):
            yield source, scan.digest, findings


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
        with open_decompressed(path) as file:
            _copy_clean(path, file, copy, findings, escape)
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
    undecodable = nuls = 0
    line = 1
    first_undecodable = first_nul = None
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
        if "\0" in text:
            nuls += text.count("\0")
            first_nul = first_nul or line + text.count("\n", 0, text.index("\0"))
        line += text.count("\n")
        copy.write(text)
    if undecodable:
        message = f"{undecodable} bytes are not UTF-8; kept as \\xNN, so ids that hold them may match nothing."
        findings.append(Finding("invalid-utf8", "warning", str(path), message, first_undecodable, undecodable))
    if nuls:
        message = f"{nuls} NUL characters; kept, so ids that hold them match nothing. Was the file damaged?"
        findings.append(Finding("nul-character", "warning", str(path), message, first_nul, nuls))


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

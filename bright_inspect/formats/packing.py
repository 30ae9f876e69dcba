"""Compression, told by a file's first bytes, and the packed files of other kinds that no reader here opens.

Readers see plain bytes only. A pickle can run code when it is opened, so it is named and refused, whatever it holds.
"""

from __future__ import annotations

import bz2
import gzip
import importlib
import lzma
import sys
import zlib
from pathlib import Path
from types import ModuleType
from typing import IO, Any, BinaryIO, cast

from bright_inspect.errors import UnreadableInput

PARQUET_MAGIC = b"PAR1"
_GZIP = b"\x1f\x8b"
_ZSTD = b"\x28\xb5\x2f\xfd"
_LZ4 = b"\x04\x22\x4d\x18"
_MAGICS = {_GZIP: "gzip", b"BZh": "bzip2", b"\xfd7zXZ\0": "xz", _ZSTD: "zstd", _LZ4: "lz4"}
#: As many bytes as the longest of the magic numbers here needs.
MAGIC_BYTES = 8

# What else is lying about beside runs; the words continue "FILE: ".
_OTHER = {
    b"PK\x03\x04": "a zip archive (NumPy and PyTorch write these too)",
    b"\x93NUMPY": "a NumPy array",
    b"\x89HDF\r\n": "an HDF5 file",
    b"SQLite f": "a SQLite database",
    b"ARROW1": "an Arrow file",
    b"7z\xbc\xaf": "a 7-Zip archive",
    b"%PDF": "a PDF",
    b"\x89PNG": "a picture",
    b"\x7fELF": "a program",
}
_PICKLE_HINT = (
    "Pickles can run code and are never opened. Write its scores as a TREC run or score JSON with the program that "
    "made it (Tevatron: search with --save_text)."
)


def _zstd() -> ModuleType:
    """Python 3.14's own module, or its backport."""
    return importlib.import_module("compression.zstd" if sys.version_info >= (3, 14) else "backports.zstd")


def packing_of(magic: bytes) -> str | None:
    """The compression that these first bytes of a file tell, or None."""
    return next((name for start, name in _MAGICS.items() if magic.startswith(start)), None)


def unpacked(path: Path, file: BinaryIO, packing: str | None) -> BinaryIO:
    """The file's bytes without their compression, read as they are needed; ``damage`` says what reading may raise.

    Raises:
        UnreadableInput: LZ4, and the optional packages that read it are not installed.
    """
    stream: IO[bytes]
    if packing == "gzip":
        stream = cast(IO[bytes], gzip.GzipFile(fileobj=file))
    elif packing == "bzip2":
        stream = bz2.BZ2File(file)
    elif packing == "xz":
        stream = lzma.LZMAFile(file)  # noqa: SIM115 - closed with the file under it
    elif packing == "zstd":
        stream = cast(IO[bytes], _zstd().ZstdFile(file))
    elif packing == "lz4":
        try:
            import lz4.frame
        except ImportError:
            raise UnreadableInput(f"{path}: LZ4 data.", "To read it: pip install 'bright-inspect[lz4]'") from None
        stream = lz4.frame.open(file, "rb")
    else:
        stream = file
    return cast(BinaryIO, stream)


def damage(packing: str | None) -> tuple[type[BaseException], ...]:
    """The errors by which a decompressor says that its data is cut or damaged."""
    if packing == "zstd":
        return (_zstd().ZstdError, EOFError, OSError)
    if packing == "lz4":
        return (RuntimeError, EOFError, OSError, ValueError)
    return (EOFError, OSError, zlib.error, lzma.LZMAError, ValueError)


def damaged(path: Path, packing: str | None, error: BaseException) -> UnreadableInput:
    """What a user is told about data that its decompressor refuses."""
    if packing is None:
        return UnreadableInput(f"{path}: cannot be read ({error}).", "Check its permissions.")
    return UnreadableInput(f"{path}: damaged {packing} data ({error}).", "Make or fetch the file again.")


def name_binary(head: bytes) -> tuple[str, str] | None:
    """What a binary file is and what to do about it, from its first bytes; None if it looks like text."""
    if head[:1] == b"\x80" and head[1:2] in (b"\x02", b"\x03", b"\x04", b"\x05"):
        return "a Python pickle", _PICKLE_HINT
    if head.startswith((b"(dp0\n", b"(lp0\n", b"ccopy_reg\n", b"cnumpy")):
        return "a Python pickle", _PICKLE_HINT
    for start, what in _OTHER.items():
        if head.startswith(start):
            return f"binary data: {what}", ""
    if head[257:262] == b"ustar":
        return "a tar archive", "Unpack it and name a file in it."
    return None


def load_cbor(path: Path, file: BinaryIO) -> Any:
    """One CBOR value, as ranx writes it (ranx/io.py: ``save_lz4``).

    Raises:
        UnreadableInput: the value is cut or damaged, or the optional package is not installed.
    """
    try:
        import cbor2
    except ImportError:
        raise UnreadableInput(f"{path}: CBOR data.", "To read it: pip install 'bright-inspect[lz4]'") from None
    try:
        return cbor2.load(file)
    except (
        cbor2.CBORDecodeError,
        EOFError,
        OSError,
        RuntimeError,
        ValueError,
        TypeError,
        RecursionError,
        OverflowError,
        MemoryError,
        KeyError,
    ) as error:
        reason = next(iter(str(error).splitlines()), type(error).__name__)
        raise UnreadableInput(f"{path}: damaged CBOR data ({reason}).", "Make or fetch the file again.") from None


def looks_like_cbor_map(head: bytes) -> bool:
    """Whether this begins as a CBOR map whose first key is a text, which no UTF-8 text does (RFC 8949, section 3)."""
    if not 0xA1 <= head[:1][0] <= 0xBF:
        return False
    # The map's size follows in 0, 1, 2, 4 or 8 bytes, or it is indefinite.
    size = {0xB8: 1, 0xB9: 2, 0xBA: 4, 0xBB: 8}.get(head[0], 0)
    key = head[1 + size : 2 + size]
    return bool(key) and 0x60 <= key[0] <= 0x7B

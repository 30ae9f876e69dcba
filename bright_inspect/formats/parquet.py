"""What Parquet files are told by, and the names of their columns."""

from __future__ import annotations

from pathlib import Path

from bright_inspect.db import Database, DatabaseError, path_literal, reason_of
from bright_inspect.errors import UnreadableInput
from bright_inspect.formats.files import open_decompressed

_MAGIC = b"PAR1"


def is_parquet(path: Path) -> bool:
    """Whether the file begins as Parquet does. Raises UnreadableInput as ``open_decompressed``."""
    with open_decompressed(path) as file:
        try:
            return file.read(len(_MAGIC)) == _MAGIC
        except (EOFError, OSError):
            return False  # damaged compression, which the readers of text tell


def parquet_columns(path: Path) -> tuple[str, ...]:
    """The names of the columns.

    Raises:
        UnreadableInput: the file is damaged or packed.
    """
    try:
        with Database() as database:
            rows = database.cursor().execute(f"DESCRIBE FROM read_parquet({path_literal(path)})").fetchall()
    except DatabaseError as error:
        raise UnreadableInput(
            f"{path}: damaged Parquet, or packed once more ({reason_of(error)}).", "Fetch or write it again."
        ) from None
    return tuple(str(row[0]) for row in rows)

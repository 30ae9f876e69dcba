"""Runs in CBOR, as ranx saves them inside LZ4 (AmenRa/ranx:ranx/io.py)."""

from __future__ import annotations

from pathlib import Path

from bright_inspect.db import Cursor
from bright_inspect.errors import UnreadableInput
from bright_inspect.formats.files import open_decompressed
from bright_inspect.formats.packing import load_cbor
from bright_inspect.formats.parts import Part
from bright_inspect.formats.rows import RowSink, id_text, shown


def read_cbor(cursor: Cursor, path: Path, table: str) -> list[Part]:
    """Read a CBOR map ``{query_id: {doc_id: score}}``.

    Raises:
        UnreadableInput: damaged, another shape, no usable score, or the optional packages are not installed.
    """
    with open_decompressed(path) as file:
        value = load_cbor(path, file)
    if not isinstance(value, dict):
        raise UnreadableInput(f"{path}: CBOR, but no map of queries.", "ranx saves {query_id: {doc_id: score}}.")
    sink = RowSink(cursor, table)
    for query, docs in value.items():
        query_id = id_text(query)
        if query_id is None:
            sink.problems.add("bad-query-id", shown(query))
        elif not isinstance(docs, dict):
            sink.problems.add("query-without-scores", f"{query_id}: {shown(docs)}")
        else:
            sink.add_scored(query_id, list(docs.items()))
    if not sink.finish():
        raise UnreadableInput(f"{path}: holds no usable score.", "ranx saves {query_id: {doc_id: score}}.")
    return [Part(table, "ranx-lz4", findings=sink.problems.findings(path))]

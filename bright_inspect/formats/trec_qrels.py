"""The name under which the store knows the reader of judgment files."""

from __future__ import annotations

from bright_inspect.formats.qrels import QrelsFile, read_qrels

__all__ = ["QrelsFile", "read_trec_qrels"]

read_trec_qrels = read_qrels

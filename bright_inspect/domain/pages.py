"""Which page a passage was cut from, by BRIGHT's way of naming passages (FORMATS A.5)."""

from __future__ import annotations

import re
from collections.abc import Iterable

_EXTENSION = re.compile(r"\.(txt|json|html?|md)$")
_PASSAGE_NUMBER = re.compile(r"_\d+$")


def page_stem(page_id: str) -> str:
    """``topic/Page`` from the page id ``topic/Page.txt``."""
    return _EXTENSION.sub("", page_id)


def passage_page(doc_id: str) -> str | None:
    """``topic/Page`` from the passage id ``topic/Page_3.txt``; None if the id does not end in a passage number."""
    stem = _EXTENSION.sub("", doc_id)
    page = _PASSAGE_NUMBER.sub("", stem)
    return page if page != stem else None


def siblings(doc_ids: Iterable[str], gold_pages: Iterable[str]) -> frozenset[str]:
    """Those of the passages that were cut from one of the golds' pages."""
    stems = {page_stem(page) for page in gold_pages}
    return frozenset(doc_id for doc_id in doc_ids if passage_page(doc_id) in stems)

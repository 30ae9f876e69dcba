"""Which page a passage was cut from, by BRIGHT's way of naming passages (FORMATS A.5)."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable

_EXTENSION = re.compile(r"\.(txt|json|html?|md)$")
#: What follows a page's name in those of its passages: ``_3`` in most tasks, ``3`` in earth_science, ``_2_1`` in
#: stackoverflow.
_PASSAGE_NUMBER = re.compile(r"_*\d+(_\d+)*")


def page_stem(page_id: str) -> str:
    """``topic/Page`` from the page id ``topic/Page.txt``."""
    return _EXTENSION.sub("", page_id)


def page_of(doc_id: str, stems: Collection[str]) -> str | None:
    """Which of the pages, given by their stems, the passage was cut from: ``topic/Page`` for ``topic/Page_3.txt``. None
    for another page's passage. Of several that fit the longest, because a page's name may end in a number itself."""
    stem = _EXTENSION.sub("", doc_id)
    end = len(stem)
    while end and (stem[end - 1] == "_" or stem[end - 1].isdigit()):
        end -= 1
        if stem[:end] in stems and _PASSAGE_NUMBER.fullmatch(stem, end):
            return stem[:end]
    return None


def siblings(doc_ids: Iterable[str], gold_pages: Iterable[str]) -> frozenset[str]:
    """Those of the passages that were cut from one of the golds' pages."""
    stems = {page_stem(page) for page in gold_pages}
    return frozenset(doc_id for doc_id in doc_ids if page_of(doc_id, stems) is not None)

"""What every retriever offers, so that screens and commands need not know which one they drive.

A retriever is made once for a corpus (``RetrieverSpec.make``, which may build an index or load a model) and then
answers texts. It is used by one thread at a time, unless it says otherwise.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, Protocol, runtime_checkable

Check = Callable[[], None]
"""Raises to stop the work between two steps (as the store's ``CancelToken.check`` does). A step should take well under
a second. What it raises passes through every retriever unchanged, and nothing half-made is left behind."""

Progress = Callable[[int, int, str], None]
"""``(done, total, message)``: steps done and to do, and what is being done now."""

Exclusions = Sequence[Collection[str]]
"""For each text the ids of documents that may not be ranked, up to 11,224 (FORMATS A.3); empty: none for any text."""


def never_stop() -> None:
    """A check for callers that cannot be stopped."""


def ignore_progress(done: int, total: int, message: str) -> None:
    """A listener for callers that show no progress."""


class Hit(NamedTuple):
    """A document found; the score is the retriever's own, a Python float. A tuple, because a thousand are made for each
    query."""

    doc_id: str
    score: float


@dataclass(frozen=True, slots=True)
class Found:
    """The hits of one text, best first, ties by document id descending as UTF-8 bytes (trec_eval's rule, FORMATS F.1).

    There are k of them, or ``shortfall`` says in one sentence why there are fewer. Filler is never among them.
    """

    hits: Sequence[Hit]
    shortfall: str = ""


@dataclass(frozen=True, slots=True)
class Corpus:
    """The documents to search, in a fixed order.

    ``read`` gives ``(doc_id, text)`` anew on each call; ``size`` is how many; ``digest`` changes with any id, text or
    the order, and names what is cached for this corpus: it consists of letters and digits only. ``name`` is shown.
    """

    name: str
    size: int
    digest: str
    read: Callable[[], Iterator[tuple[str, str]]]


@dataclass(frozen=True, slots=True)
class TermWeight:
    """What one term contributes to a score: ``query_weight * document_weight``.

    ``surfaces`` are the query's words that became this term, in order of their first place; ``tf`` counts it in the
    document. A term that the document or the corpus lacks contributes 0.
    """

    term: str
    surfaces: tuple[str, ...]
    query_weight: float
    document_weight: float
    idf: float
    tf: int
    contribution: float


@runtime_checkable
class Retriever(Protocol):
    """Ranks the documents of one corpus.

    ``name`` is the registry's; ``device`` says where it computes ("cpu", "cuda:0"), None where that means nothing.
    """

    @property
    def name(self) -> str: ...

    @property
    def device(self) -> str | None: ...

    def search(self, texts: Sequence[str], k: int, excluded: Exclusions = (), check: Check = never_stop) -> list[Found]:
        """The best ``k`` documents for each text, one ``Found`` a text.

        Excluded documents leave before the cut to ``k``, as in BRIGHT (FORMATS A.6): there are k without them.
        """
        ...


@runtime_checkable
class Explains(Protocol):
    """A retriever whose scores are sums over terms."""

    def explain(self, text: str, doc_id: str) -> list[TermWeight]:
        """The terms of the text, largest contribution first; the contributions add up to the document's score.

        Raises:
            UsageError: the corpus has no such document.
        """
        ...


Make = Callable[[Corpus, Path, Progress, Check], Retriever]
"""``(corpus, cache_folder, progress, check)`` -> a retriever of this corpus. What it stores lies in a folder of its own
under ``cache_folder``, which may be deleted at any time.

Raises:
    BrightInspectError: the corpus cannot be used (documents that share an id), the disk is full, a package is missing.
"""


@dataclass(frozen=True, slots=True)
class RetrieverSpec:
    """A retriever that can be chosen. ``needs`` is None where it can be made here, else what is missing: "to install:
    pip install …"."""

    name: str
    title: str
    make: Make
    needs: str | None = None

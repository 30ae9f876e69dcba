"""Which retrievers there are, by name; a user's own is named as ``package.module:factory``."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from pathlib import Path

from bright_inspect.errors import UsageError
from bright_inspect.retrieval import bm25
from bright_inspect.retrieval.protocol import Check, Corpus, Make, Progress, Retriever, RetrieverSpec

#: Each family lists its retrievers without loading what they need.
_FAMILIES: tuple[Callable[[], Sequence[RetrieverSpec]], ...] = (bm25.specs,)


def known_retrievers() -> dict[str, RetrieverSpec]:
    """Name -> retriever, in the order to offer them."""
    return {spec.name: spec for family in _FAMILIES for spec in family()}


def find_retriever(name: str) -> RetrieverSpec:
    """The retriever of this name, or a user's own: ``package.module:factory``, where ``factory`` has the signature of
    ``protocol.Make``. Naming a module runs its code.

    Raises:
        UsageError: no retriever has this name; the module or factory is not there or not callable.
    """
    known = known_retrievers()
    if name in known:
        return known[name]
    module_name, colon, factory_name = name.partition(":")
    if colon:
        return RetrieverSpec(name, f"{factory_name} of {module_name}", _checked(name, _load(module_name, factory_name)))
    raise UsageError(
        f"{name!r} is not a retriever; there are: {', '.join(known)}.",
        "One of your own is named package.module:factory.",
    )


def _load(module_name: str, factory_name: str) -> Make:
    try:
        module = importlib.import_module(module_name)
    except Exception as error:  # whatever a user's module does, they can mend it
        raise UsageError(
            f"{module_name} cannot be imported: {type(error).__name__}: {_first_line(error)}.",
            "The retriever's module must be on PYTHONPATH or installed here.",
        ) from error
    factory = getattr(module, factory_name, None)
    if factory is None:
        raise UsageError(
            f"{module_name} has no {factory_name!r}.", "Name a retriever of your own package.module:factory."
        )
    if not callable(factory):
        raise UsageError(
            f"{module_name}:{factory_name} is {_kind(factory)}, not a function that makes a retriever.",
            "It is called as factory(corpus, cache_folder, progress, check).",
        )
    make: Make = factory
    return make


def _checked(name: str, factory: Make) -> Make:
    def make(corpus: Corpus, cache_folder: Path, progress: Progress, check: Check) -> Retriever:
        retriever: object = factory(corpus, cache_folder, progress, check)
        if not isinstance(retriever, Retriever):
            raise UsageError(
                f"{name} made {_kind(retriever)}, not a retriever.",
                "A retriever has name, device and search(texts, k, …).",
            )
        return retriever

    return make


def _kind(value: object) -> str:
    return f"a {type(value).__name__}"


def _first_line(error: Exception) -> str:
    return next(iter(str(error).splitlines()), "no message").rstrip(".")

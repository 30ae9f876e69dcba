"""The models that can rewrite a query, by name: ``endpoint:MODEL``, ``endpoint:MODEL@URL``, ``transformers:MODEL``."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Protocol

from bright_inspect.domain.visible import visible
from bright_inspect.domain.writing import End, Piece, WritingSettings
from bright_inspect.endpoints.addresses import URL_VARIABLE, parse_address, url_from_environment
from bright_inspect.endpoints.chat import CHAT_LIMITS, Chat
from bright_inspect.endpoints.client import open_endpoint
from bright_inspect.endpoints.transport import Limits
from bright_inspect.errors import UsageError
from bright_inspect.retrieval.neural import locating
from bright_inspect.retrieval.neural.generator_model import LocalGenerator, load_generator
from bright_inspect.retrieval.protocol import DEFAULT_OPTIONS, Check, ModelOptions, Progress
from bright_inspect.retrieval.served import KIND as ENDPOINT
from bright_inspect.retrieval.served import parse_endpoint_name

TRANSFORMERS = "transformers"


class Writer(Protocol):
    """A model that answers prompts. ``at_once`` is how many it may be asked at a time, None: any number."""

    @property
    def name(self) -> str: ...

    @property
    def model(self) -> str: ...

    @property
    def at_once(self) -> int | None: ...

    @property
    def provenance(self) -> dict[str, Any]:
        """Where and how it computes, beside its name."""
        ...

    def write(self, prompt: str, settings: WritingSettings, check: Check) -> Iterator[Piece | End]:
        """The answer to a prompt, part by part; the last is the ``End``. What ``check`` raises ends it.

        Raises:
            BrightInspectError: the answer cannot be had, or is not whole.
        """
        ...


@dataclass(frozen=True, slots=True)
class WriterSpec:
    """A writer that can be chosen; ``needs`` is None where it can be used here, else what is missing."""

    name: str
    title: str
    make: Callable[[Progress, Check], Writer]
    needs: str | None = None


class ServedWriter:
    """A model behind an endpoint."""

    at_once: int | None = None

    def __init__(self, chat: Chat) -> None:
        self._chat = chat
        self.model = chat.model
        self.name = f"{ENDPOINT}:{chat.model}"

    @property
    def provenance(self) -> dict[str, Any]:
        return {"endpoint": self._chat.endpoint.address.url}

    def write(self, prompt: str, settings: WritingSettings, check: Check) -> Iterator[Piece | End]:
        """See ``Writer``."""
        return self._chat.answer(prompt, settings, check)


class LocalWriter:
    """A model of transformers on this machine."""

    at_once: int | None = 1

    def __init__(self, name: str, generator: LocalGenerator) -> None:
        self.name = name
        self.model = generator.model
        self._generator = generator
        self._one = threading.Lock()

    @property
    def provenance(self) -> dict[str, Any]:
        return self._generator.provenance

    def write(self, prompt: str, settings: WritingSettings, check: Check) -> Iterator[Piece | End]:
        """See ``Writer``."""
        with self._one:
            yield from self._generator.answer(prompt, settings, check)


def find_writer(name: str, options: ModelOptions = DEFAULT_OPTIONS, limits: Limits = CHAT_LIMITS) -> WriterSpec:
    """The writer of this name. Nothing is sent or loaded yet.

    Raises:
        UsageError: no writer has this name.
    """
    kind, colon, model = name.partition(":")
    if colon and kind == ENDPOINT:
        return _served(name, limits)
    if colon and model.strip() and kind == TRANSFORMERS:
        return _local(name, options)
    raise UsageError(
        f"{visible(name)!r} is no model that writes.",
        f"Say {ENDPOINT}:MODEL, {ENDPOINT}:MODEL@URL or {TRANSFORMERS}:MODEL.",
    )


def known_writers(options: ModelOptions = DEFAULT_OPTIONS) -> list[WriterSpec]:
    """What can write, those that can be used here first: the server that the environment names, and the models in the
    local Hugging Face cache. Nothing is sent or loaded."""
    specs = [find_writer(f"{ENDPOINT}:MODEL")]
    specs += [_local(f"{TRANSFORMERS}:{model}", options) for model in locating.cached_generators()]
    if len(specs) == 1:
        specs.append(_local(f"{TRANSFORMERS}:MODEL", options))
    return sorted(specs, key=lambda spec: spec.needs is not None)


def _served(name: str, limits: Limits) -> WriterSpec:
    model, url = parse_endpoint_name(name)
    named = url or url_from_environment()
    needs = None if named else f"to set: {URL_VARIABLE}, or name {ENDPOINT}:{model}@URL"

    def make(progress: Progress, check: Check) -> Writer:
        return ServedWriter(Chat(open_endpoint(url, limits), model, limits))

    where = parse_address(named).url if named else "an endpoint"
    return WriterSpec(f"{ENDPOINT}:{model}", f"{model} at {where}", make, needs)


def _local(name: str, options: ModelOptions) -> WriterSpec:
    model = name.partition(":")[2].strip()

    def make(progress: Progress, check: Check) -> Writer:
        return LocalWriter(name, load_generator(model, options, progress, check))

    return WriterSpec(name, f"transformers model {model}", make, locating.missing_package(locating.GENERATING))

"""A sentence-transformers model as an encoder: where it computes, how precisely, and what its texts begin with."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from bright_inspect.errors import BrightInspectError, UsageError
from bright_inspect.retrieval.neural.locating import LocalModel, locate, missing_package
from bright_inspect.retrieval.neural.prefixes import Prefixes, prefixes_for
from bright_inspect.retrieval.protocol import Check, ModelOptions, Progress, never_stop

if TYPE_CHECKING:
    from bright_inspect.retrieval.encoder import Vectors

#: Texts encoded at once unless asked otherwise: larger batches are slower on processors (STACK 5).
_BATCH = {"cpu": 32, "mps": 32, "cuda": 64}
_PRECISIONS = ("float32", "bfloat16", "float16")
_GIVEN = "given by option"


def load_sentence_model(
    name: str,
    dataset: str,
    task: str,
    options: ModelOptions,
    progress: Progress,
    check: Check,
    shown_name: str | None = None,
) -> SentenceModel:
    """Load a model by folder or Hub name and choose its prefixes for a task; ``shown_name`` is what it is called.

    Raises:
        UsageError: an option does not fit the machine or the model.
        BrightInspectError: a package or the model is not here, or the model cannot be loaded.
    """
    if (needs := missing_package()) is not None:
        raise BrightInspectError(f"{name}: sentence-transformers is not installed;", f"{needs}.")
    progress(0, 1, f"loading {name}")
    model = locate(name, options.revision, check)
    if not (model.folder / "modules.json").is_file():
        raise BrightInspectError(
            f"{name}: no modules.json in it, so how its vectors are pooled is not known.",
            "Give the model a sentence-transformers configuration (modules.json, 1_Pooling/config.json).",
        )
    check()
    devices = chosen_devices(options.device)
    loaded = loaded_model(model, "SentenceTransformer", devices[0], options)
    check()
    prefixes = _prefixes(model, loaded, dataset, task, options)
    return SentenceModel(shown_name or name, model, loaded, devices, prefixes, options)


class SentenceModel:
    """Encodes with a loaded SentenceTransformer; see ``Encoder``."""

    def __init__(
        self,
        name: str,
        model: LocalModel,
        loaded: Any,
        devices: Sequence[str],
        prefixes: Prefixes,
        options: ModelOptions,
    ) -> None:
        self.name = name
        self.model = model.name
        self.revision = model.revision
        self.device: str | None = ",".join(devices)
        self.devices = len(devices)
        self.batch_size = options.batch_size or _BATCH.get(devices[0].partition(":")[0], 32)
        self.query_prefix, self.document_prefix = prefixes.query, prefixes.document
        self.prefix_source = prefixes.source
        self._model = loaded
        self._device_names = tuple(devices)
        self._pool: Any = None
        if not prefixes.pooled:
            loaded.set_pooling_include_prompt(False)
        self.max_length: int | None = options.max_length or loaded.max_seq_length
        self.query_max_length = options.query_max_length or self.max_length
        self.precision = str(loaded.dtype).removeprefix("torch.")
        self._normalise = loaded.similarity_fn_name != "dot"
        if loaded.similarity_fn_name not in ("cosine", "dot"):
            raise BrightInspectError(f"{name}: vectors are compared by {loaded.similarity_fn_name}, not dot or cosine.")
        self.key = (
            f"{self.revision} {self.precision} {self.max_length} {'cosine' if self._normalise else 'dot'} "
            f"{self.document_prefix!r}"
        )

    @property
    def provenance(self) -> dict[str, str | int | float | None]:
        return {
            "model": self.model, "model_revision": self.revision, "precision": self.precision,
            "max_length": self.max_length, "query_max_length": self.query_max_length, "query_prefix": self.query_prefix,
            "document_prefix": self.document_prefix, "prefix_source": self.prefix_source,
            "similarity": "cosine" if self._normalise else "dot",
        }  # fmt: skip

    def encode_documents(self, texts: Sequence[str], check: Check = never_stop) -> Vectors:
        """float32 of shape (texts, dimensions); ``devices`` share them if there are several."""
        check()
        return self._encode(texts, self.document_prefix, self.max_length, shared=self.devices > 1)

    def encode_queries(self, texts: Sequence[str], check: Check = never_stop) -> Vectors:
        """float32 of shape (texts, dimensions)."""
        check()
        return self._encode(texts, self.query_prefix, self.query_max_length, shared=False)

    def _encode(self, texts: Sequence[str], prefix: str, length: int | None, *, shared: bool) -> Vectors:
        import numpy as np

        self._model.max_seq_length = length
        if shared and self._pool is None:
            self._pool = self._model.start_multi_process_pool(list(self._device_names))
        with model_errors_told(self.name):
            vectors = self._model.encode(
                list(texts), prompt=prefix, batch_size=self.batch_size, show_progress_bar=False,
                normalize_embeddings=self._normalise, convert_to_numpy=True,
                **({"pool": self._pool, "chunk_size": self.batch_size} if shared else {}),
            )  # fmt: skip
        return np.ascontiguousarray(vectors, dtype=np.float32)

    def query_tokens(self, text: str) -> int | None:
        """Tokens of a query with its prefix and special tokens, before any cut."""
        return len(self._model.tokenizer(self.query_prefix + text, truncation=False, verbose=False)["input_ids"])

    def characters_read(self, text: str) -> int | None:
        """How many characters of a document are read before the cut; None for a tokenizer that does not tell places."""
        tokenizer, whole = self._model.tokenizer, self.document_prefix + text
        if not tokenizer.is_fast or self.max_length is None:
            return None
        places = tokenizer(
            whole, truncation=True, max_length=self.max_length, return_offsets_mapping=True, verbose=False
        )["offset_mapping"]
        read = max((end for _, end in places), default=0)
        # What follows the last token and is none (blanks) was read too if nothing was cut.
        cut = len(tokenizer(whole, truncation=False, verbose=False)["input_ids"]) > self.max_length
        return max(0, read - len(self.document_prefix)) if cut else len(text)

    def close(self) -> None:
        """Stop the processes of several devices, if they were started."""
        if self._pool is not None:
            self._model.stop_multi_process_pool(self._pool)
            self._pool = None


def _prefixes(model: LocalModel, loaded: Any, dataset: str, task: str, options: ModelOptions) -> Prefixes:
    found = prefixes_for(model.name, dataset, task, {name: text or "" for name, text in loaded.prompts.items()})
    if options.query_prefix is None and options.document_prefix is None:
        return found
    return Prefixes(
        found.query if options.query_prefix is None else options.query_prefix,
        found.document if options.document_prefix is None else options.document_prefix,
        _GIVEN if None not in (options.query_prefix, options.document_prefix) else f"{found.source}, one {_GIVEN}",
        found.pooled,
    )


# --- loading, which rerankers share -----------------------------------------------------------------------------------


def chosen_devices(wanted: str) -> tuple[str, ...]:
    """The devices that ``ModelOptions.device`` stands for.

    Raises:
        UsageError: torch does not know such a device, or this machine has none.
    """
    import torch

    if wanted == "auto":
        return ("cuda",) if torch.cuda.is_available() else ("mps",) if torch.backends.mps.is_available() else ("cpu",)
    names = tuple(name.strip() for name in wanted.split(","))
    for name in names:
        if re.fullmatch(r"(cpu|mps|cuda)(:\d+)?", name) is None:
            raise UsageError(f"{name!r} is not a device.", "Say auto, cpu, mps, cuda or cuda:1, several with commas.")
        here = {"cpu": True, "mps": torch.backends.mps.is_available(), "cuda": torch.cuda.is_available()}
        kind, _, number = name.partition(":")
        if not here[kind] or (kind == "cuda" and int(number or 0) >= torch.cuda.device_count()):
            raise UsageError(
                f"there is no device {name} here.", f"Leave --device out: {chosen_devices('auto')[0]} is used."
            )
    return names


def loaded_model(model: LocalModel, class_name: str, device: str, options: ModelOptions) -> Any:
    """A model of sentence-transformers' class of this name, quiet and offline.

    Raises:
        UsageError: the precision is none, or the model needs code of its own and that was not allowed.
        BrightInspectError: the model cannot be loaded.
    """
    if options.precision not in _PRECISIONS:
        raise UsageError(f"{options.precision!r} is not a precision.", f"There are: {', '.join(_PRECISIONS)}.")
    import sentence_transformers
    import torch
    from transformers.utils import logging

    # What they print would break the screen.
    logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    logging.set_verbosity_error()  # type: ignore[no-untyped-call]
    try:
        return getattr(sentence_transformers, class_name)(
            str(model.folder), device=device, local_files_only=True, trust_remote_code=options.trust_remote_code,
            model_kwargs={"dtype": getattr(torch, options.precision)},
        )  # fmt: skip
    except (OSError, ValueError, KeyError, ImportError, RuntimeError, TypeError, AttributeError) as error:
        message = " ".join(str(error).split())
        if "trust_remote_code" in message:
            raise UsageError(
                f"{model.name} comes with Python code of its own.",
                "If you trust it, allow it to run with --trust-remote-code.",
            ) from None
        raise BrightInspectError(
            f"{model.folder}: the model cannot be loaded: {message[:300] or type(error).__name__}.",
            "Check the folder, or get the model anew.",
        ) from error


@contextlib.contextmanager
def model_errors_told(name: str) -> Iterator[None]:
    """Torch's errors as ours."""
    import torch

    try:
        yield
    except torch.OutOfMemoryError:
        raise BrightInspectError(
            f"{name}: the device's memory is full.",
            "Use a smaller --batch-size or --max-length, or --precision bfloat16.",
        ) from None
    except RuntimeError as error:
        raise BrightInspectError(f"{name}: the model failed: {' '.join(str(error).split())[:300]}.") from error

"""A sentence-transformers model as an encoder: where it computes, how precisely, and what its texts begin with."""

from __future__ import annotations

import atexit
import contextlib
import logging
import math
import os
import re
import signal
import sys
import weakref
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from bright_inspect.errors import BrightInspectError, UsageError
from bright_inspect.retrieval.neural.locating import LocalModel, locate, missing_package, model_kind, own_code
from bright_inspect.retrieval.neural.prefixes import Prefixes, prefixes_for
from bright_inspect.retrieval.protocol import Check, ModelOptions, Progress, never_stop

if TYPE_CHECKING:
    from bright_inspect.retrieval.encoder import Vectors

#: Texts encoded at once unless asked otherwise: larger batches are slower on processors (STACK 5).
_BATCH = {"cpu": 32, "mps": 32, "cuda": 64}
_AUTO_CLASSES = {
    "SentenceTransformer": "AutoModel",
    "CrossEncoder": "AutoModelForSequenceClassification",
    "CausalLM": "AutoModelForCausalLM",
}
_PRECISIONS = ("float32", "bfloat16", "float16")
_GIVEN = "given by option"
_NO_LIMIT = 1_000_000
_LEAVE_SECONDS = 3.0


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
    if (kind := model_kind(model.folder)) != "dense":
        raise BrightInspectError(
            f"{name}: it is no model that gives each text a vector of its own.",
            f"Say --rerank cross-encoder:{name}." if kind else "Name a sentence-transformers model.",
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
        self._stop_pool: Callable[[], object] = _nothing
        if not prefixes.pooled:
            loaded.set_pooling_include_prompt(False)
        self.max_length = token_limit(options.max_length or loaded.max_seq_length)
        self.query_max_length = options.query_max_length or self.max_length
        refuse_lengths(loaded, options.max_length, options.query_max_length)
        self._refuse_long_prefix(self.document_prefix, self.max_length, "documents")
        self._refuse_long_prefix(self.query_prefix, self.query_max_length, "queries")
        self.precision = str(next(loaded.parameters()).dtype).removeprefix("torch.")
        self._normalise = loaded.similarity_fn_name != "dot"
        if loaded.similarity_fn_name not in ("cosine", "dot"):
            raise BrightInspectError(f"{name}: vectors are compared by {loaded.similarity_fn_name}, not dot or cosine.")
        self.key = (
            f"{self.revision} {self.precision} {self.max_length} {'cosine' if self._normalise else 'dot'} "
            f"{self.document_prefix!r}{'' if prefixes.pooled else ' text pooled'}"
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
        if self.devices > 1 and self._pool is None and len(texts) > self.batch_size:
            self._start_pool()
        shared = {"pool": self._pool, "chunk_size": self.batch_size} if self._pool is not None else {}
        return self._encode(self._model.encode_document, texts, self.document_prefix, self.max_length, shared)

    def encode_queries(self, texts: Sequence[str], check: Check = never_stop) -> Vectors:
        """float32 of shape (texts, dimensions)."""
        check()
        return self._encode(self._model.encode_query, texts, self.query_prefix, self.query_max_length, {})

    def _encode(
        self, encode: Callable[..., Any], texts: Sequence[str], prefix: str, length: int | None, shared: dict[str, Any]
    ) -> Vectors:
        import numpy as np

        if length is not None:
            self._model.max_seq_length = length
        try:
            with model_errors_told(self.name):
                found = encode(
                    list(texts), prompt=prefix, batch_size=self.batch_size, show_progress_bar=False,
                    normalize_embeddings=self._normalise, convert_to_numpy=True,
                    # Without a pool a device must be named: starting one leaves the model on the processor.
                    **(shared or {"device": self._device_names[0]}),
                )  # fmt: skip
        except BaseException:
            self.close()
            raise
        vectors: Vectors = np.ascontiguousarray(found, dtype=np.float32)
        if self._normalise and self.precision != "float32":
            # In 8 or 11 bits a vector of length 1 is off by a third of a percent.
            vectors /= np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), np.float32(1e-12))
        return vectors

    def query_tokens(self, text: str) -> int | None:
        """Tokens of a query with its prefix and special tokens, before any cut."""
        return self._tokens(self.query_prefix + text)

    def _tokens(self, text: str) -> int | None:
        tokenizer = self._model.tokenizer
        if not callable(tokenizer):
            return None
        return len(tokenizer(text, truncation=False, verbose=False)["input_ids"])

    def _refuse_long_prefix(self, prefix: str, length: int | None, of: str) -> None:
        taken = self._tokens(prefix)
        if length is not None and taken is not None and taken >= length:
            raise UsageError(
                f"{self.name}: the prefix of {of} and special tokens take {taken} of {length} tokens; none are left "
                "for the text.",
                "Choose a larger max length or a shorter prefix.",
            )

    def _start_pool(self) -> None:
        from multiprocessing import resource_tracker

        # Starting it would unblock the signal again.
        resource_tracker.ensure_running()
        # Children inherit the mask: Ctrl+C is for this process alone, which stops them.
        mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            self._model.max_seq_length = self.max_length
            self._pool = self._model.start_multi_process_pool(list(self._device_names))
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        # Also when this is no longer used, and at exit.
        self._stop_pool = weakref.finalize(self, _stop_pool, self._model.stop_multi_process_pool, self._pool)
        atexit.register(self._stop_pool)

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
        """Stop the processes of several devices, if they were started; they start again when needed."""
        self._stop_pool()
        self._pool = None


def _nothing() -> None:
    """Stops no pool."""


class _Leave:
    """What a process leaves by when it reads it: one that is killed instead makes Python complain at exit."""

    def __reduce__(self) -> tuple[object, ...]:
        return sys.exit, ()


def _stop_pool(stop: Callable[[Any], object], pool: Any) -> None:
    for _ in pool["processes"]:
        pool["input"].put(_Leave())
    for process in pool["processes"]:
        process.join(timeout=_LEAVE_SECONDS)
    stop(pool)


def token_limit(length: float | None) -> int | None:
    """A model's max length; models without one say infinity, tokenizers 10^30."""
    return int(length) if length is not None and length < _NO_LIMIT else None


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
        BrightInspectError: torch is broken.
    """
    try:
        import torch
    except Exception as error:  # of missing libraries, each in its own way
        raise BrightInspectError(
            f"torch cannot be imported: {' '.join(str(error).split())[:300]}.", "Install it anew."
        ) from error

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
    """A model of sentence-transformers' class of this name, quiet and offline; for "CausalLM" one of transformers that
    writes, and its tokenizer.

    Raises:
        UsageError: the precision is none, or the model needs code of its own and that was not allowed.
        BrightInspectError: the model cannot be loaded.
    """
    if options.precision not in _PRECISIONS:
        raise UsageError(f"{options.precision!r} is not a precision.", f"There are: {', '.join(_PRECISIONS)}.")
    auto_class = _AUTO_CLASSES[class_name]
    if not options.trust_remote_code and own_code(model.folder, auto_class):
        raise _untrusted(model)
    # What they print would break the screen; tokenizers print when a process that used them forks.
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "true")
    try:
        import torch
        from transformers.utils import logging as transformers_logging

        transformers_logging.disable_progress_bar()  # type: ignore[no-untyped-call]
        transformers_logging.set_verbosity_error()  # type: ignore[no-untyped-call]
        if class_name == "CausalLM":
            return _loaded_generator(model, device, options)
        import sentence_transformers

        logging.getLogger("sentence_transformers").setLevel(logging.ERROR)
        return getattr(sentence_transformers, class_name)(
            str(model.folder), device=device, local_files_only=True, trust_remote_code=options.trust_remote_code,
            model_kwargs={"dtype": getattr(torch, options.precision)},
        )  # fmt: skip
    except Exception as error:  # whatever is wrong with the model, it is one line
        message = " ".join(str(error).split())
        if "trust_remote_code" in message:
            raise _untrusted(model) from None
        raise BrightInspectError(
            f"{model.folder}: the model cannot be loaded: {message[:300] or type(error).__name__}.",
            "Check the folder, or get the model anew.",
        ) from error


def _loaded_generator(model: LocalModel, device: str, options: ModelOptions) -> tuple[Any, Any]:
    """A causal language model and its tokenizer."""
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    shared = {"local_files_only": True, "trust_remote_code": options.trust_remote_code}
    model_class: Any = AutoModelForCausalLM
    tokenizer = AutoTokenizer.from_pretrained(str(model.folder), **shared)
    loaded = model_class.from_pretrained(str(model.folder), dtype=getattr(torch, options.precision), **shared)
    return loaded.to(device).eval(), tokenizer


def _untrusted(model: LocalModel) -> UsageError:
    return UsageError(
        f"{model.name} comes with Python code of its own.",
        "If you trust it, allow it to run with --trust-remote-code.",
    )


def refuse_lengths(loaded: Any, *lengths: int | None) -> None:
    """
    Raises:
        UsageError: the model has no positions for so many tokens.
    """
    import torch

    limit = math.inf
    for module in loaded.modules():
        table, padding = getattr(module, "position_embeddings", None), getattr(module, "padding_idx", None)
        if isinstance(table, torch.nn.Embedding):
            # RoBERTa and its kin count positions from behind the padding.
            limit = min(limit, table.num_embeddings - (padding + 1 if isinstance(padding, int) else 0))
    for length in lengths:
        if length is not None and length > limit:
            raise UsageError(f"the model has no place for {length} tokens.", f"It takes {limit} at most.")


@contextlib.contextmanager
def model_errors_told(name: str, lengths: str = "--batch-size or --max-length") -> Iterator[None]:
    """Torch's errors as ours; ``lengths`` are the options that save memory."""
    import torch

    try:
        yield
    except torch.cuda.OutOfMemoryError:
        raise BrightInspectError(
            f"{name}: the device's memory is full.",
            f"Use a smaller {lengths}, or --precision bfloat16.",
        ) from None
    except (RuntimeError, ValueError, IndexError, TypeError) as error:
        raise BrightInspectError(f"{name}: the model failed: {' '.join(str(error).split())[:300]}.") from error

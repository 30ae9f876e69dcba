"""A sentence-transformers CrossEncoder as a reranker."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from bright_inspect.errors import BrightInspectError, UsageError
from bright_inspect.retrieval.neural.locating import classified_labels, locate, missing_package, model_kind
from bright_inspect.retrieval.neural.sentence_model import (
    chosen_devices,
    loaded_model,
    model_errors_told,
    refuse_lengths,
    token_limit,
)
from bright_inspect.retrieval.protocol import (
    Check,
    ModelOptions,
    Progress,
    Reranked,
    ignore_progress,
    never_stop,
)

_BATCH = {"cpu": 8, "mps": 16, "cuda": 64}


def load_cross_encoder(name: str, options: ModelOptions, progress: Progress, check: Check) -> CrossEncoderReranker:
    """Load a cross-encoder by folder or Hub name.

    Raises:
        UsageError, BrightInspectError: as ``load_sentence_model``; the model gives several labels for a pair.
    """
    if (needs := missing_package()) is not None:
        raise BrightInspectError(f"{name}: sentence-transformers is not installed;", f"{needs}.")
    progress(0, 1, f"loading {name}")
    model = locate(name, options.revision, check)
    if model_kind(model.folder) != "cross-encoder" and not classified_labels(model.folder):
        raise BrightInspectError(
            f"{name}: it is no cross-encoder: nothing in it was trained to score pairs.",
            "Name a model that was trained to rerank.",
        )
    check()
    devices = chosen_devices(options.device)
    loaded = loaded_model(model, "CrossEncoder", devices[0], options)
    check()
    if loaded.num_labels != 1:
        raise BrightInspectError(
            f"{name}: it gives {loaded.num_labels} values for a pair, where a reranker gives one.",
            "Name a model that was trained to rerank.",
        )
    if options.max_length is not None:
        refuse_lengths(loaded, options.max_length)
        if (least := len(loaded.tokenizer("a", "a")["input_ids"])) > options.max_length:
            raise UsageError(f"{name}: {options.max_length} tokens hold no pair.", f"Give it {least} or more.")
        loaded.tokenizer.model_max_length = options.max_length
    # Any other kind of head reads the pair inside a prompt of its own, whose tokens are not counted here.
    counted = classified_labels(model.folder) == 1
    return CrossEncoderReranker(name, model.name, model.revision, loaded, devices[0], options, counted)


class CrossEncoderReranker:
    """Scores pairs with a loaded CrossEncoder, longest pairs first; see ``Reranker``."""

    def __init__(
        self,
        name: str,
        model_name: str,
        revision: str,
        loaded: Any,
        device: str,
        options: ModelOptions,
        counted: bool = True,
    ) -> None:
        self.name = name
        self.device: str | None = device
        self._model = loaded
        self._prompt = options.query_prefix or ""
        self._batch_size = options.batch_size or _BATCH.get(device.partition(":")[0], 8)
        self.max_length = token_limit(loaded.tokenizer.model_max_length)
        self._revision, self._model_name, self._counted = revision, model_name, counted

    @property
    def provenance(self) -> dict[str, str | int | float | None]:
        return {
            "reranker_model": self._model_name, "reranker_revision": self._revision,
            "reranker_max_length": self.max_length, "reranker_prefix": self._prompt,
            "reranker_precision": str(next(self._model.parameters()).dtype).removeprefix("torch."),
        }  # fmt: skip

    def score(
        self, text: str, documents: Sequence[str], progress: Progress = ignore_progress, check: Check = never_stop
    ) -> Reranked:
        """Score each document for the query; see ``Reranker.score``.

        Raises:
            BrightInspectError: a score is no finite number.
        """
        query = self._prompt + text
        lengths = []
        for document in documents:
            check()
            lengths.append(self._tokens(query, document))
        scores = [math.nan] * len(documents)
        order = sorted(range(len(documents)), key=lambda place: -lengths[place])
        for start in range(0, len(order), self._batch_size):
            check()
            progress(start, len(order), f"{self.name} scores pairs on {self.device}")
            places = order[start : start + self._batch_size]
            with model_errors_told(self.name, "--rerank-max-length"):
                found = self._model.predict(
                    [(query, documents[place]) for place in places],
                    batch_size=self._batch_size, show_progress_bar=False, convert_to_numpy=True,
                )  # fmt: skip
            for place, score in zip(places, found, strict=True):
                scores[place] = float(score)
        wrong = [place for place, score in enumerate(scores) if not math.isfinite(score)]
        if wrong:
            raise BrightInspectError(
                f"{self.name}: {len(wrong)} of {len(scores)} scores are no numbers ({scores[wrong[0]]}).",
                "Try --precision float32.",
            )
        if not self._counted:
            return Reranked(scores, [None] * len(scores))
        limit = self.max_length
        return Reranked(scores, [limit is not None and length > limit for length in lengths])

    def _tokens(self, query: str, document: str) -> int:
        """Tokens of the pair with its special ones, before any cut."""
        return len(self._model.tokenizer(query, document, truncation=False, verbose=False)["input_ids"])

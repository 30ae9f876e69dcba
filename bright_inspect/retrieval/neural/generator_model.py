"""A model of transformers that writes texts, token by token, and can be stopped between two of them."""

from __future__ import annotations

import queue
import threading
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from bright_inspect.domain.writing import LENGTH, STOP, End, Piece, WritingSettings
from bright_inspect.errors import BrightInspectError, UsageError
from bright_inspect.retrieval.neural.locating import GENERATING, LocalModel, generates, locate, missing_package
from bright_inspect.retrieval.neural.sentence_model import chosen_devices, loaded_model, model_errors_told
from bright_inspect.retrieval.protocol import Check, ModelOptions, Progress

#: New tokens where no limit is given: a long rewrite, or a short one after some thinking.
_MOST_TOKENS = 2048
_POLL = 0.05


def load_generator(name: str, options: ModelOptions, progress: Progress, check: Check) -> LocalGenerator:
    """Load a model by folder or Hub name.

    Raises:
        UsageError: an option does not fit the machine or the model; the model needs code of its own.
        BrightInspectError: a package or the model is not here, it writes no texts, or it cannot be loaded.
    """
    if (needs := missing_package(GENERATING)) is not None:
        raise BrightInspectError(f"{name}: transformers is not installed;", f"{needs}.")
    progress(0, 1, f"loading {name}")
    model = locate(name, options.revision, check)
    if not generates(model.folder):
        raise BrightInspectError(
            f"{name}: it is no model that writes texts.", "Name one of transformers' causal language models."
        )
    device = chosen_devices(options.device)[0]
    loaded, tokenizer = loaded_model(model, "CausalLM", device, options)
    check()
    return LocalGenerator(model, loaded, tokenizer, replace(options, device=device))


class LocalGenerator:
    """Answers prompts with a loaded model; used by one thread at a time."""

    def __init__(self, model: LocalModel, loaded: Any, tokenizer: Any, options: ModelOptions) -> None:
        self.model = model.name
        self.provenance: dict[str, Any] = {
            "device": options.device, "model_revision": model.revision, "precision": options.precision,
        }  # fmt: skip
        self._model, self._tokenizer, self._device = loaded, tokenizer, options.device

    def answer(self, prompt: str, settings: WritingSettings, check: Check) -> Iterator[Piece | End]:
        """The parts of the answer as they are written; the last is the ``End``. ``check`` is called every 0.05 s.

        A prompt goes through the model's chat template, where it has one.

        Raises:
            UsageError: the prompt leaves no place for an answer.
            BrightInspectError: the device's memory is full, or the model fails.
        """
        import torch
        from transformers import StoppingCriteria, StoppingCriteriaList, TextIteratorStreamer

        inputs = {name: tensor.to(self._device) for name, tensor in self._tokens(prompt).items()}
        given = int(inputs["input_ids"].shape[1])
        most = self._most_tokens(given, settings)
        stopped = threading.Event()

        class Stopped(StoppingCriteria):
            """Ends the generation after the present token."""

            def __call__(self, input_ids: Any, scores: Any, **_: Any) -> Any:
                return torch.full((input_ids.shape[0],), stopped.is_set(), device=input_ids.device)

        streamer = TextIteratorStreamer(self._tokenizer, skip_prompt=True, skip_special_tokens=True)
        ended: list[Any] = []

        def generate() -> None:
            try:
                if settings.seed is not None:
                    torch.manual_seed(settings.seed)
                with model_errors_told(self.model, "--max-tokens"):
                    written = self._model.generate(
                        **inputs, max_new_tokens=most, streamer=streamer,
                        stopping_criteria=StoppingCriteriaList([Stopped()]), **self._sampling(settings),
                    )  # fmt: skip
                ended.append(written[0, given:].tolist())
            except Exception as error:  # noqa: BLE001  (raised again in the caller's thread)
                ended.append(error)
            finally:
                streamer.text_queue.put(None)

        thread = threading.Thread(target=generate, name="generation", daemon=True)
        thread.start()
        try:
            while True:
                check()
                try:
                    text = streamer.text_queue.get(timeout=_POLL)
                except queue.Empty:
                    continue
                if text is None or text is streamer.stop_signal:
                    break
                if text:
                    yield Piece(text)
        finally:
            stopped.set()
            thread.join()
        if isinstance(ended[0], Exception):
            raise ended[0]
        tokens: list[int] = ended[0]
        by_itself = bool(tokens) and tokens[-1] in self._ends()
        usage = {"prompt_tokens": given, "completion_tokens": len(tokens)}
        yield End(STOP if by_itself or len(tokens) < most else LENGTH, usage)

    def _tokens(self, prompt: str) -> Any:
        if self._tokenizer.chat_template:
            message = [{"role": "user", "content": prompt}]
            return self._tokenizer.apply_chat_template(
                message, add_generation_prompt=True, return_tensors="pt", return_dict=True
            )
        return self._tokenizer(prompt, return_tensors="pt", return_token_type_ids=False)

    def _most_tokens(self, given: int, settings: WritingSettings) -> int:
        """How many tokens may be written, as far as the model has positions for them."""
        positions = getattr(self._model.config, "max_position_embeddings", None)
        wanted = settings.max_tokens or _MOST_TOKENS
        if not isinstance(positions, int):
            return wanted
        if given >= positions:
            raise UsageError(
                f"{self.model}: the prompt has {given:,} tokens, and the model reads {positions:,}.",
                "Use a shorter prompt, or a model that reads more.",
            )
        return min(wanted, positions - given)

    def _sampling(self, settings: WritingSettings) -> dict[str, Any]:
        sampling: dict[str, Any] = {}
        if settings.temperature is not None:
            sampling = {"do_sample": settings.temperature > 0}
            if settings.temperature > 0:
                sampling["temperature"] = settings.temperature
        # Without one, transformers says on stderr which one it takes.
        padding = self._tokenizer.pad_token_id
        ends = self._ends()
        sampling["pad_token_id"] = padding if padding is not None else min(ends, default=0)
        return sampling

    def _ends(self) -> frozenset[int]:
        """The tokens that end an answer."""
        ends = self._model.generation_config.eos_token_id
        return frozenset(ends if isinstance(ends, list) else [] if ends is None else [ends])

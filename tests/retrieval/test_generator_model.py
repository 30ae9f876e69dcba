"""A tiny random model that writes: streamed, stopped between two tokens, cut by a limit. Imports torch."""

from __future__ import annotations

import importlib.util
import json
import threading
import time
from pathlib import Path

import pytest

from bright_inspect.domain.writing import End, Piece, WritingSettings
from bright_inspect.errors import BrightInspectError, UsageError
from bright_inspect.retrieval.neural import locating
from bright_inspect.retrieval.neural.generator_model import LocalGenerator, load_generator
from bright_inspect.retrieval.protocol import ModelOptions, ignore_progress, never_stop
from bright_inspect.rewriting.writers import find_writer
from tests.rewriting.models import tiny_generator

SETTINGS = WritingSettings(temperature=0, max_tokens=12)


class Stop(Exception):
    """What a check of a test raises."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_generator(tmp_path_factory.mktemp("models") / "tiny")


@pytest.fixture(scope="module")
def generator(folder: Path) -> LocalGenerator:
    return load_generator(str(folder), ModelOptions(device="cpu"), ignore_progress, never_stop)


def written(generator: LocalGenerator, prompt: str, settings: WritingSettings) -> tuple[list[str], End]:
    *pieces, end = generator.answer(prompt, settings, never_stop)
    assert isinstance(end, End)
    return [piece.text for piece in pieces if isinstance(piece, Piece)], end


def test_it_writes_token_by_token_what_generate_writes(generator: LocalGenerator) -> None:
    import torch

    pieces, end = written(generator, "why is moss green", SETTINGS)
    assert len(pieces) > 3
    assert end == End("length", {"prompt_tokens": 6, "completion_tokens": 12})  # with the template's two words
    tokenizer, model = generator._tokenizer, generator._model
    inputs = tokenizer("ask why is moss green say", return_tensors="pt", return_token_type_ids=False)
    with torch.no_grad():
        whole = model.generate(**inputs, do_sample=False, max_new_tokens=12, pad_token_id=0)
    assert "".join(pieces) == tokenizer.decode(whole[0, 6:], skip_special_tokens=True)
    seeded = [written(generator, "why", WritingSettings(1.5, 12, seed))[0] for seed in (1, 1, 2)]
    assert seeded[0] == seeded[1] != seeded[2]


def test_it_ends_by_itself(generator: LocalGenerator, monkeypatch: pytest.MonkeyPatch) -> None:
    tokens = generator._tokenizer("".join(written(generator, "moss", SETTINGS)[0]))["input_ids"]
    monkeypatch.setattr(generator._model.generation_config, "eos_token_id", [tokens[3]])
    _, end = written(generator, "moss", SETTINGS)
    assert end.finish == "stop"
    assert end.usage["completion_tokens"] < 12


def test_it_is_stopped_between_two_tokens(generator: LocalGenerator) -> None:
    answer = generator.answer("why is moss green", WritingSettings(0, 400), never_stop)
    next(answer)
    began = time.monotonic()
    answer.close()  # type: ignore[attr-defined]
    assert time.monotonic() - began < 1.0
    assert not any(thread.name == "generation" for thread in threading.enumerate())

    def check() -> None:
        raise Stop

    with pytest.raises(Stop):
        list(generator.answer("why", SETTINGS, check))


def test_a_prompt_that_fills_the_model(generator: LocalGenerator) -> None:
    with pytest.raises(UsageError, match=r"the prompt has 502 tokens, and the model reads 500\."):
        written(generator, "moss " * 500, SETTINGS)
    _, end = written(generator, "moss " * 490, SETTINGS)
    assert end.usage["completion_tokens"] == 8, "no more than there are positions"


def test_by_name(folder: Path) -> None:
    spec = find_writer(f"transformers:{folder}", ModelOptions(device="cpu"))
    assert spec.needs is None
    writer = spec.make(ignore_progress, never_stop)
    assert (writer.name, writer.model, writer.at_once) == (f"transformers:{folder}", "tiny", 1)
    assert writer.provenance["precision"] == "float32"
    assert isinstance(list(writer.write("moss", SETTINGS, never_stop))[-1], End)


def test_what_is_no_such_model(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def error(name: str) -> BrightInspectError:
        with pytest.raises(BrightInspectError) as raised:
            load_generator(name, ModelOptions(device="cpu"), ignore_progress, never_stop)
        assert str(raised.value).isprintable()
        return raised.value

    assert "hf download some/model" in error("some/model").hint
    assert "no model that writes" in error(locating.SHIPPED_MODEL).message
    own = tmp_path / "own"
    own.mkdir()
    config = json.loads((folder / "config.json").read_text()) | {"auto_map": {"AutoModelForCausalLM": "own.Model"}}
    (own / "config.json").write_text(json.dumps(config))
    assert "--trust-remote-code" in error(str(own)).hint
    (own / "config.json").write_text((folder / "config.json").read_text())
    assert "the model cannot be loaded" in error(str(own)).message
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    assert "pip install" in error(str(folder)).hint
    assert "pip install" in str(find_writer("transformers:x").needs)

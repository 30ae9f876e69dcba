"""What is asked of a model that writes a text, and what comes back piece by piece, whoever runs the model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

#: Why an answer ended, as OpenAI's API calls it: by itself, or at the limit of tokens.
STOP, LENGTH = "stop", "length"


@dataclass(frozen=True, slots=True)
class WritingSettings:
    """How a text is written; None leaves it to the model or its server. ``max_tokens`` counts thinking too."""

    temperature: float | None = None
    max_tokens: int | None = None
    seed: int | None = None

    def as_json(self) -> dict[str, Any]:
        """What was set."""
        settings = {"temperature": self.temperature, "max_tokens": self.max_tokens, "seed": self.seed}
        return {name: value for name, value in settings.items() if value is not None}


class Piece(NamedTuple):
    """A part of an answer. ``is_reasoning``: the server keeps it apart as the model's thinking."""

    text: str
    is_reasoning: bool = False


@dataclass(frozen=True, slots=True)
class End:
    """The last of an answer: why it ended (``STOP``, ``LENGTH`` or the server's own word; None where it did not say),
    and the tokens that were counted, by the server's names."""

    finish: str | None = None
    usage: Mapping[str, int] = field(default_factory=dict)

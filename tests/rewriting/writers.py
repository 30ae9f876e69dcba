"""Writers without a model, to test what is around one."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from bright_inspect.domain.writing import End, Piece, WritingSettings
from bright_inspect.errors import BrightInspectError
from bright_inspect.retrieval.protocol import Check


class WordWriter:
    """Answers a prompt with its words in capitals, one a piece; ``fails`` has the errors of a prompt's next tries."""

    name = "test:words"
    model = "words"

    def __init__(self, pause: float = 0.0, at_once: int | None = None) -> None:
        self.at_once = at_once
        self.provenance: dict[str, Any] = {"model_revision": "1"}
        self.fails: dict[str, list[BrightInspectError | Callable[[], None]]] = {}
        self.ends: Mapping[str, End] = {}
        self.asked: list[str] = []
        self.most = 0
        self._pause = pause
        self._now = 0
        self._lock = threading.Lock()

    def write(self, prompt: str, settings: WritingSettings, check: Check) -> Iterator[Piece | End]:
        with self._lock:
            self.asked.append(prompt)
            self._now += 1
            self.most = max(self.most, self._now)
        try:
            if self.fails.get(prompt):
                failure = self.fails[prompt].pop(0)
                if isinstance(failure, BrightInspectError):
                    raise failure
                failure()
            for word in prompt.upper().split():
                check()
                time.sleep(self._pause)
                yield Piece(word + " ")
            yield self.ends.get(prompt, End("stop", {"completion_tokens": len(prompt.split())}))
        finally:
            with self._lock:
                self._now -= 1

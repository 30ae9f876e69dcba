"""What rewrites a query on the screen: the writers there are, those in use, and the prompts as edited in this session.

Methods run in workers. A model that was loaded stays for the session.
"""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from bright_inspect.domain.writing import WritingSettings
from bright_inspect.endpoints.addresses import url_from_environment
from bright_inspect.endpoints.client import open_endpoint
from bright_inspect.endpoints.transport import Limits
from bright_inspect.errors import BrightInspectError
from bright_inspect.retrieval.protocol import ModelOptions, Progress
from bright_inspect.rewriting.answers import Draft, NoRewrite, answered
from bright_inspect.rewriting.prompts import Prompt, prompt_for
from bright_inspect.rewriting.writers import Writer, WriterSpec, find_writer, known_writers
from bright_inspect.store.progress import CancelToken
from bright_inspect.tui.locks import held

#: A list of models is small, and somebody waits for it.
_LIST_LIMITS = Limits(connect=3.0, read=10.0)


@dataclass(frozen=True, slots=True)
class Writers:
    """The writers to choose from, and what is to be said of a server that does not tell its models."""

    choices: tuple[WriterSpec, ...]
    note: str


@dataclass(frozen=True, slots=True)
class Order:
    """What is to be written: by which writer, by which prompt, from which text."""

    writer: str
    prompt: Prompt
    text: str


@dataclass(frozen=True, slots=True)
class Written:
    """What came of it: the text, how it was made, and why it is no whole rewrite ("" if it is)."""

    text: str
    thinking: str
    seconds: float
    made: dict[str, Any]
    problem: str


class RewritingDesk:
    """Writes for a session."""

    def __init__(self, options: ModelOptions) -> None:
        self._options = options
        self._lock = threading.Lock()
        self._writers: dict[str, Writer] = {}
        self._known: Writers | None = None
        #: The name that was asked last, which is offered first.
        self.writer = ""
        self._prompts: dict[str, Prompt] = {}

    def prompt(self, task: str) -> Prompt:
        """The prompt of a task, as it was edited last.

        Raises:
            UsageError: a file of the user's own cannot be used.
        """
        return self._prompts.get(task) or prompt_for(task)

    def keep_prompt(self, task: str, prompt: Prompt) -> None:
        """Use a prompt for the task for as long as the session lasts."""
        self._prompts[task] = prompt

    def writers(self, token: CancelToken) -> Writers:
        """The models of the server that the environment names, as it lists them, and those at hand."""
        if self._known is not None:
            return self._known
        note = "no server is named: set BRIGHT_INSPECT_ENDPOINT, or type endpoint:MODEL@URL"
        served: list[str] = []
        if url_from_environment():
            try:
                endpoint = open_endpoint(None, _LIST_LIMITS)
                served = endpoint.models(token.check)
                note = "" if served else f"{endpoint.address.url} lists no models: type endpoint:MODEL"
            except BrightInspectError as error:
                token.check()
                note = error.message
        # Others could not be typed either, nor shown.
        named = [model for model in served if model.strip() and model.isprintable() and "://" not in model]
        specs = [find_writer(f"endpoint:{model}") for model in named]
        specs += [spec for spec in known_writers(self._options) if not spec.name.endswith(":MODEL")]
        known = Writers(tuple(specs), note)
        if served:
            self._known = known
        return known

    def write(self, order: Order, draft: Draft, tell: Progress, token: CancelToken) -> Written:
        """Write a text; ``draft`` fills meanwhile.

        Raises:
            BrightInspectError: there is no such writer, or it fails.
        """
        with held(self._lock, token):
            writer = self._writer(order.writer, tell, token)
        tell(0, 1, f"{writer.name} is asked")
        settings = WritingSettings()
        began = time.monotonic()
        answered(writer.write(order.prompt.filled(order.text), settings, token.check), draft=draft)
        seconds = time.monotonic() - began
        problem = ""
        try:
            finish = draft.rewrite().finish
        except NoRewrite as error:
            problem, finish = error.message, None
        made = made_by(writer, order, seconds) | {"finish": finish, "reasoning": draft.reasoning}
        return Written(draft.text, draft.reasoning, seconds, made, problem)

    def _writer(self, name: str, tell: Progress, token: CancelToken) -> Writer:
        if name not in self._writers:
            self._writers[name] = find_writer(name, self._options).make(tell, token.check)
        return self._writers[name]


def made_by(writer: Writer, order: Order, seconds: float) -> dict[str, Any]:
    """How a text was made, for the sidecar of what is searched by it."""
    return {
        "writer": writer.name, "model": writer.model, **writer.provenance, "prompt": order.prompt.template,
        "prompt_source": order.prompt.source, "rewritten_from": order.text, "seconds": round(seconds, 3),
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
    }  # fmt: skip

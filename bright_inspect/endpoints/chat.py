"""A model behind an endpoint that writes: a chat of one question, its answer read as it arrives.

Before the first bytes of an answer have arrived a question is repeated as any other is; afterwards a failure is one,
and what came before it is no answer.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from bright_inspect.domain.writing import End, Piece, WritingSettings
from bright_inspect.endpoints.answers import Unexpected, server_message
from bright_inspect.endpoints.chat_answers import read_chat
from bright_inspect.endpoints.client import Endpoint, never_stop
from bright_inspect.endpoints.transport import Answer, Check, Limits, NoAnswer

#: A model may think, and a server that does not stream writes to the end, before the first bytes come.
CHAT_LIMITS = Limits(read=300.0)

#: Names of limits: of all servers, and of OpenAI's reasoning models, which refuse the other.
_LIMIT, _NEW_LIMIT = "max_tokens", "max_completion_tokens"
_REFUSED = (400, 422)


class Chat:
    """Asks one model of a server. It may be used by several threads."""

    def __init__(self, endpoint: Endpoint, model: str, limits: Limits = CHAT_LIMITS) -> None:
        self.endpoint = endpoint
        self.model = model
        self._longest = limits.longest_answer
        #: What this server does not take, found out by asking.
        self._refused: frozenset[str] = frozenset()

    def answer(self, prompt: str, settings: WritingSettings, check: Check = never_stop) -> Iterator[Piece | End]:
        """The parts of the answer to a prompt as they arrive (POST /v1/chat/completions); the last is the ``End``.

        ``check`` is called every 0.05 s while the server is silent; what it raises breaks off the request.

        Raises:
            EndpointError: the server is not there, refuses, answers nonsense, or breaks off before the end.
        """
        body: dict[str, Any] = {
            "model": self.model,
            "messages": [{"role": "user", "content": prompt}],
            "stream": True,
            "stream_options": {"include_usage": True},
            **settings.as_json(),
        }
        for name in self._refused:
            body = _without(body, name)
        problem = hint = ""
        with self.endpoint.stream("chat/completions", self.model, body, check, self._adapted) as (url, pieces):
            try:
                yield from read_chat(pieces, self._longest)
            except NoAnswer as failure:
                problem = f"{failure.reason}; expected the rest of the answer"
                hint = "What came before is no answer. Try again, or look at the server's log."
            except Unexpected as unexpected:
                problem = f"answers {unexpected.found}; expected {unexpected.expected}"
                hint = "Is this a model that chats? Look at the server's log."
        if problem:
            raise self.endpoint.error(url, self.model, problem, hint)

    def _adapted(self, body: Mapping[str, Any], refusal: Answer) -> Mapping[str, Any] | None:
        """The body without what the server says that it does not take."""
        if refusal.status not in _REFUSED:
            return None
        said = server_message(refusal.body)
        for name in ("stream_options", _LIMIT):
            told = name in said if name != _LIMIT else _NEW_LIMIT in said
            if told and name in body:
                self._refused |= {name}
                return _without(dict(body), name)
        return None


def _without(body: dict[str, Any], name: str) -> dict[str, Any]:
    """A body without a field; a limit keeps its value under its new name."""
    left = {key: value for key, value in body.items() if key != name}
    return left | ({_NEW_LIMIT: body[name]} if name == _LIMIT and name in body else {})

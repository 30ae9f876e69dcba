"""The questions a server is asked: vectors of texts, scores of documents, its models. Chats are ``chat``'s."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any, Literal, NamedTuple, TypeVar

from bright_inspect.domain.visible import visible
from bright_inspect.endpoints.addresses import (
    KEY_VARIABLE,
    OPENAI_KEY_VARIABLE,
    OPENAI_URL_VARIABLE,
    URL_VARIABLE,
    Address,
    Key,
    key_for,
    key_variables,
    parse_address,
    url_from_environment,
    without_secrets,
)
from bright_inspect.endpoints.answers import Unexpected, read_scores, read_vectors, server_message
from bright_inspect.endpoints.chat_answers import read_models
from bright_inspect.endpoints.errors import EndpointError, excerpt
from bright_inspect.endpoints.transport import Answer, Check, Limits, NoAnswer, Transport
from bright_inspect.errors import UsageError

RerankApi = Literal["auto", "rerank", "tei", "score"]
"""How documents are scored: ``rerank`` (Jina, Cohere, vLLM, Infinity, llama.cpp), ``tei`` (TEI's own body for the same
path), ``score`` (vLLM); ``auto`` asks in this order until the server answers, and keeps to what it found."""

T = TypeVar("T")

Adapted = Callable[[Mapping[str, Any], Answer], Mapping[str, Any] | None]
"""``(body, refusal)`` -> a body that the server may take instead; None: there is none."""


class _Try(NamedTuple):
    url: str
    answer: Answer


#: Statuses of a path that a server does not have.
_ABSENT = (404, 405)

_RUNS = "Does the server run, and is the URL right?"


def never_stop() -> None:
    """A check for callers that cannot be stopped."""


class Endpoint:
    """A server that speaks OpenAI's API, or one near it.

    It may be used by several threads. Every question takes ``check``, which is called every 0.05 s while the server is
    silent and between tries; what it raises ends the question and passes unchanged.
    """

    def __init__(
        self, address: Address, key: Key | None = None, limits: Limits | None = None, rerank_api: RerankApi = "auto"
    ) -> None:
        self.address = address
        self._key = key
        self._limits = limits or Limits()
        self._rerank_api = rerank_api
        headers = {"Accept": "application/json", "Accept-Encoding": "identity", "Content-Type": "application/json"}
        if key is not None:
            headers["Authorization"] = f"Bearer {key.secret}"
        self._transport = Transport(address, headers, self._limits)
        #: Question -> the URL at which this server answers it.
        self._places: dict[str, str] = {}

    def __repr__(self) -> str:
        return f"Endpoint({self.address.url!r}, key={self._key!r}, rerank_api={self._rerank_api!r})"

    @property
    def rerank_api(self) -> RerankApi:
        """How documents are scored: as given, or as found out by ``rerank``."""
        return self._rerank_api

    def close(self) -> None:
        """Close idle connections; the garbage collector does too."""
        self._transport.close()

    def embeddings(
        self,
        model: str,
        texts: Sequence[str],
        check: Check = never_stop,
        *,
        max_length: int | None = None,
        as_base64: bool = False,
    ) -> list[list[float]]:
        """A vector for each text, in their order, in one request (OpenAI: POST /v1/embeddings).

        ``max_length`` is sent as ``truncate_prompt_tokens``, which vLLM obeys and others ignore or refuse; without it
        the server does as it was told to at its start. ``as_base64`` asks for shorter answers; a server that sends
        numbers all the same is understood.

        Raises:
            EndpointError: the server is not there, refuses, or answers nonsense.
        """
        if not texts:
            return []
        body: dict[str, Any] = {"model": model, "input": list(texts)}
        if as_base64:
            body["encoding_format"] = "base64"
        if max_length is not None:
            body["truncate_prompt_tokens"] = max_length
        tries = self._ask("embeddings", model, body, check)
        url, answer = tries[-1]
        if answer.status != 200:
            raise self._refused(tries, model)
        return self._read(url, model, answer, lambda content: read_vectors(content, len(texts)))

    def rerank(
        self,
        model: str,
        query: str,
        documents: Sequence[str],
        check: Check = never_stop,
        *,
        max_length: int | None = None,
    ) -> list[float]:
        """A score for each document, in their order, in one request; higher is better, the scale is the server's.

        With the API "auto": ``rerank`` first; TEI's body where the server answers that it lacks ``texts`` (it knows no
        ``documents``); ``score`` where the server has no ``rerank`` (HTTP 404 or 405). TEI is asked for raw scores:
        a sigmoid in float32 makes the best documents equal. ``max_length`` as for ``embeddings``; TEI, which takes no
        number here, is told to cut at its model's.

        Raises:
            EndpointError: the server is not there, refuses, or answers nonsense.
        """
        if not documents:
            return []
        apis = _APIS if self._rerank_api == "auto" else (self._rerank_api,)
        tries: list[_Try] = []
        for api in apis:
            if api == "tei" and len(apis) > 1 and not _wants_texts(tries[-1].answer):
                continue
            question, body = _rerank_body(api, model, query, list(documents), max_length)
            tries += self._ask(question, model, body, check)
            url, answer = tries[-1]
            if answer.status == 200:
                scores = self._read(url, model, answer, lambda content: read_scores(content, len(documents)))
                self._rerank_api = api
                return scores
            if api == "tei" or not (_is_absent(answer, model) or _wants_texts(answer)):
                break
        raise self._refused(tries, model)

    def models(self, check: Check = never_stop) -> list[str]:
        """The models that the server lists (OpenAI: GET /v1/models), in its order, asked once and for ten seconds.

        Raises:
            EndpointError: the server is not there, refuses, or answers nonsense.
        """
        tries: list[_Try] = []
        failure: NoAnswer | None = None
        for url in self.address.places("models"):
            try:
                tries.append(_Try(url, self._transport.get(url, check)))
            except NoAnswer as no_answer:
                failure = no_answer
            if failure is not None:
                raise self.error(url, "", failure.reason, _hint(failure))
            if tries[-1].answer.status == 200:
                return self._read(url, "", tries[-1].answer, read_models)
            if tries[-1].answer.status not in _ABSENT:
                break
        raise self._refused(tries, "")

    @contextmanager
    def stream(
        self, question: str, model: str, body: Mapping[str, Any], check: Check, adapted: Adapted
    ) -> Iterator[tuple[str, Iterator[bytes]]]:
        """The URL that answers a question and the answer's body as it arrives. ``adapted`` gives another body to ask
        with after a refusal, or None.

        What reading the body raises is the caller's to tell: ``NoAnswer`` where the answer breaks off.

        Raises:
            EndpointError: the server is not there or refuses.
        """
        asked: Mapping[str, Any] | None = body
        while asked is not None:
            content = json.dumps(asked, ensure_ascii=False).encode("utf-8", errors="replace")
            known = self._places.get(question)
            tries: list[_Try] = []
            for url in self.address.places(question) if known is None else (known,):
                failure: NoAnswer | None = None
                with ExitStack() as opened:
                    try:
                        answer = opened.enter_context(self._transport.stream(url, content, check))
                    except NoAnswer as no_answer:
                        failure = no_answer
                    else:
                        if not isinstance(answer, Answer):
                            self._places[question] = url
                            yield url, answer
                            return
                        tries.append(_Try(url, answer))
                if failure is not None:
                    raise self.error(url, model, failure.reason, _hint(failure), lasting=failure.unreachable)
                if not _is_absent(tries[-1].answer, model):
                    break
            asked = adapted(asked, tries[-1].answer)
        raise self._refused(tries, model)

    def _ask(self, question: str, model: str, body: Mapping[str, Any], check: Check) -> list[_Try]:
        """What the places answer that are asked; the last one is no HTTP 404 or 405 unless all are."""
        content = json.dumps(body, ensure_ascii=False).encode("utf-8", errors="replace")
        known = self._places.get(question)
        tries: list[_Try] = []
        for url in self.address.places(question) if known is None else (known,):
            try:
                answer = self._transport.post(url, content, check)
            except NoAnswer as failure:
                problem, hint = failure.reason, _hint(failure)
            else:
                tries.append(_Try(url, answer))
                if not _is_absent(answer, model):
                    self._places[question] = url
                    return tries
                continue
            # Outside the handler: an error that users see has no exception of the HTTP library behind it.
            raise self.error(url, model, problem, hint)
        return tries

    def _read(self, url: str, model: str, answer: Answer, read: Callable[[bytes], T]) -> T:
        try:
            return read(answer.body)
        except Unexpected as unexpected:
            problem = f"answers {unexpected.found}; expected {unexpected.expected}"
        hint = "Is this the server's base URL, and a model of the kind that is asked for?"
        raise self.error(url, model, problem, hint)

    def _refused(self, tries: Sequence[_Try], model: str) -> EndpointError:
        """The error for answers that are no success."""
        url, answer = tries[-1]
        said = server_message(answer.body)
        code = f"HTTP {answer.status}"
        status = f"{code}: {said}" if said else code
        if 300 <= answer.status < 400:
            hint = "Redirections are not followed, a key could go astray: name the URL where the server answers."
            return self.error(url, model, f"redirects to {_target(answer)} ({code})", hint, lasting=True)
        if answer.status in (401, 403):
            return self.error(url, model, *self._key_refused(status), lasting=True)
        if _is_absent(answer, model):
            asked = " and ".join(dict.fromkeys(each.url for each in tries))
            hint = f"Is the base URL right? Asked were {asked}."
            return self.error(tries[0].url, model, f"does not exist ({status})", hint, lasting=True)
        if answer.status in _ABSENT:
            hint = "Name one that the server has."
            return self.error(url, model, f"does not know the model ({status})", hint, lasting=True)
        if answer.status == 429:
            asked = answer.headers.get("retry-after", "")
            when = f"; Retry-After: {excerpt(asked)}" if asked else ""
            return self.error(url, model, f"is asked too often ({status}{when})", "Try again later.")
        if answer.status in (400, 413, 422):
            hint = "If a text is too long: give a max length, or start the server so that it cuts texts."
            return self.error(url, model, f"refuses the request ({status})", hint)
        hint = "Look at the server's log." if answer.status >= 500 else _RUNS
        return self.error(url, model, f"fails ({status})", hint)

    def _key_refused(self, status: str) -> tuple[str, str]:
        if self._key is not None:
            return f"refuses the key in {self._key.variable} ({status})", f"Set {self._key.variable} to a key for it."
        if key_variables(self.address)[:1] == (OPENAI_KEY_VARIABLE,):
            return f"wants a key ({status})", f"Set {OPENAI_KEY_VARIABLE}."
        return f"wants a key ({status})", f"Set {URL_VARIABLE}={self.address.url} and {KEY_VARIABLE} to its key."

    def error(self, url: str, model: str, problem: str, hint: str, *, lasting: bool = False) -> EndpointError:
        """An error as users see it, without the key."""
        if self._key is not None:
            problem = _without(self._key, problem)
        of = f" (model {model})" if model else ""
        return EndpointError(visible(f"{url}{of} {problem}."), visible(hint), lasting=lasting)


def open_endpoint(url: str | None = None, limits: Limits | None = None, rerank_api: RerankApi = "auto") -> Endpoint:
    """The server at ``url``, or the one the environment names, with the key the environment has for it.

    Raises:
        UsageError: no URL is named, or one that is none.
    """
    named = url or url_from_environment()
    if not named:
        raise UsageError(
            "No server is named.",
            f"Set {URL_VARIABLE} (with {KEY_VARIABLE}, if it wants a key) or {OPENAI_URL_VARIABLE} (with "
            f"{OPENAI_KEY_VARIABLE}), or write endpoint:MODEL@URL.",
        )
    address = parse_address(named)
    return Endpoint(address, key_for(address), limits, rerank_api)


_APIS: tuple[Literal["rerank", "tei", "score"], ...] = ("rerank", "tei", "score")


def _rerank_body(
    api: RerankApi, model: str, query: str, documents: list[str], max_length: int | None
) -> tuple[str, dict[str, Any]]:
    """The path and the body of a request for scores.

    ``rerank``: vLLM's documentation of its rerank API (docs/models/pooling_models/scoring.md), Infinity's
    ``RerankInput``, llama.cpp's server README. ``tei``: TEI's ``RerankRequest``; it takes no model. ``score``: vLLM's
    score API, whose newer versions call the two parts ``queries`` and ``documents`` and still take these names.
    """
    cut: dict[str, Any] = {} if max_length is None else {"truncate_prompt_tokens": max_length}
    if api == "tei":
        # Without "truncate" TEI does as it was told at its start (--auto-truncate).
        cut = {} if max_length is None else {"truncate": True}
        return "rerank", {"query": query, "texts": documents, "raw_scores": True, **cut}
    if api == "score":
        return "score", {"model": model, "text_1": query, "text_2": documents, **cut}
    return "rerank", {"model": model, "query": query, "documents": documents, "top_n": len(documents), **cut}


def _hint(failure: NoAnswer) -> str:
    if "CERTIFICATE_VERIFY_FAILED" in failure.reason:
        return "SSL_CERT_FILE may name a file of certificates to trust."
    return "Try again, or look at the server's log." if failure.again else _RUNS


def _wants_texts(answer: Answer) -> bool:
    """TEI, asked for ``documents``: what its JSON reader (serde) says of a field that is not there."""
    return answer.status in (400, 422) and b"missing field `texts`" in answer.body


def _is_absent(answer: Answer, model: str) -> bool:
    """No such path. An absent model is answered 404 too, by vLLM and OpenAI, with its name in the message."""
    if answer.status not in _ABSENT:
        return False
    name = rf"(?<!\w){re.escape(excerpt(model))}(?!\w)"
    return re.search(name, server_message(answer.body), re.IGNORECASE) is None


def _target(answer: Answer) -> str:
    """Where a redirection points, without what may be a secret in it."""
    return excerpt(without_secrets(answer.headers.get("location", "nowhere")))


def _without(key: Key, text: str) -> str:
    """A text without the key in it, whole or cut off by an excerpt: some servers repeat the key that they refuse.

    A key of under four letters is no secret, and would be found in every word.
    """
    shown = f"[{key.variable}]"
    if len(key.secret) < 4:
        return text
    text = text.replace(key.secret, shown)
    for length in range(len(key.secret) - 1, 3, -1):
        text = text.replace(key.secret[:length] + "…", shown)
    return text

"""Requests that can be stopped while a server is silent, and are repeated where that helps.

The request runs in a thread of its own and hands over what arrives piece by piece; the caller's thread asks ``check``
all the while. To stop, the socket is shut down under the thread, which ends at once instead of at its timeout; one that
is still connecting ends at that timeout, and sends nothing.
"""

from __future__ import annotations

import functools
import queue
import socket
import ssl
import threading
import time
import weakref
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from itertools import chain
from typing import Any

from bright_inspect.endpoints.addresses import Address

Check = Callable[[], None]
"""Raises to stop the work, as that of retrieval's protocol."""

#: Seconds between two calls of a check.
_POLL = 0.05

#: Too many requests, and what passes when a server is loaded or restarted (RFC 9110, RFC 6585).
_PASSING = frozenset({429, 500, 502, 503, 504})
_STREAMING = {"Accept": "text/event-stream, application/json"}


@dataclass(frozen=True, slots=True)
class Limits:
    """Seconds to wait to connect and for the next bytes; how often a request is sent, and how long to wait in between:
    ``first_wait``, then twice as long each time, or as long as the server says (``Retry-After``) up to
    ``longest_wait``; bytes of an answer that are read."""

    connect: float = 5.0
    read: float = 60.0
    attempts: int = 4
    first_wait: float = 0.5
    longest_wait: float = 30.0
    longest_answer: int = 128 * 2**20


@dataclass(frozen=True, slots=True)
class Answer:
    """A whole answer; the names of headers are in small letters."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class NoAnswer(Exception):
    """No whole answer came. ``reason`` follows on the URL: "answered nothing for 60 s"; ``again``: a new try may help;
    ``unreachable``: nobody was asked at all.

    It refers to no exception of the HTTP library: those hold the request, and with it the key.
    """

    def __init__(self, reason: str, again: bool = False, unreachable: bool = False) -> None:
        super().__init__(reason)
        self.reason = reason
        self.again = again
        self.unreachable = unreachable


@dataclass(frozen=True, slots=True)
class _Head:
    status: int
    headers: Mapping[str, str]


_Event = _Head | bytes | NoAnswer | None
"""What the thread hands over: the head, pieces of the body, and None at the end."""


class Transport:
    """Sends to one server, from any number of threads: each request has a connection to itself, kept for later ones."""

    def __init__(self, address: Address, headers: Mapping[str, str], limits: Limits) -> None:
        self._address = address
        self._headers = dict(headers)
        self._limits = limits
        self._idle: list[_Connection] = []
        self._finalizer = weakref.finalize(self, _close_all, self._idle)

    def close(self) -> None:
        """Close the idle connections. The transport can still be used."""
        _close_all(self._idle)

    def post(self, url: str, content: bytes, check: Check) -> Answer:
        """The answer, of whatever status, after as many tries as help.

        Raises:
            NoAnswer: there is none, or it is too long.
        """
        wait = self._limits.first_wait
        for tries_left in reversed(range(self._limits.attempts)):
            check()
            try:
                answer = self._once(url, content, check)
            except NoAnswer as failure:
                if not failure.again or not tries_left:
                    raise
                pause(wait, check)
            else:
                asked = _retry_after(answer)
                if answer.status not in _PASSING or not tries_left or asked > self._limits.longest_wait:
                    return answer
                pause(max(asked, wait), check)
            wait = min(2 * wait, self._limits.longest_wait)
        raise AssertionError("the last try returns or raises")

    @contextmanager
    def stream(self, url: str, content: bytes, check: Check) -> Iterator[Answer | Iterator[bytes]]:
        """The body as it arrives of an answer with HTTP status 200, or any other answer whole; tried as ``post`` until
        the first bytes of a body are there, and not again after them. Left early, it is broken off.

        Raises:
            NoAnswer: as for ``post``; also while the body is read.
        """
        wait = self._limits.first_wait
        for tries_left in reversed(range(self._limits.attempts)):
            check()
            with ExitStack() as opened:
                try:
                    head, pieces = opened.enter_context(self.open(url, content, check, _STREAMING))
                    first = next(pieces, b"") if head.status == 200 else b""
                    answer = None if head.status == 200 else self._whole(head, pieces)
                except NoAnswer as failure:
                    if not failure.again or not tries_left:
                        raise
                    asked = 0.0
                else:
                    asked = 0.0 if answer is None else _retry_after(answer)
                    if answer is None:
                        yield chain([first], pieces)
                        return
                    if answer.status not in _PASSING or not tries_left or asked > self._limits.longest_wait:
                        yield answer
                        return
            pause(max(asked, wait), check)
            wait = min(2 * wait, self._limits.longest_wait)

    def get(self, url: str, check: Check) -> Answer:
        """The answer to a question without a body, of whatever status, in one try.

        Raises:
            NoAnswer: there is none, or it is too long.
        """
        with self.open(url, None, check) as (head, pieces):
            return self._whole(head, pieces)

    def _once(self, url: str, content: bytes, check: Check) -> Answer:
        with self.open(url, content, check) as (head, pieces):
            return self._whole(head, pieces)

    def _whole(self, head: _Head, pieces: Iterator[bytes]) -> Answer:
        body = bytearray()
        for piece in pieces:
            body += piece
            if len(body) > self._limits.longest_answer:
                raise NoAnswer(f"answers more than {self._limits.longest_answer:,} bytes")
        return Answer(head.status, head.headers, bytes(body))

    @contextmanager
    def open(
        self, url: str, content: bytes | None, check: Check, headers: Mapping[str, str] | None = None
    ) -> Iterator[tuple[_Head, Iterator[bytes]]]:
        """One request (a GET without ``content``): its head, and its body as it arrives. Left early, it is broken off.
        ``headers`` go before the transport's own.

        Raises:
            NoAnswer: as for ``post``; also while the body is read.
        """
        connection = self._take()
        events = connection.events(url, {**self._headers, **(headers or {})}, content, check)
        try:
            head = next(events)
            assert isinstance(head, _Head)
            yield head, (piece for piece in events if isinstance(piece, bytes))
        finally:
            events.close()
            if connection.is_usable:
                self._idle.append(connection)
            else:
                connection.close()

    def _take(self) -> _Connection:
        with suppress(IndexError):
            return self._idle.pop()
        try:
            return _Connection(self._address, self._limits)
        except Exception as error:  # a proxy or a certificate file in the environment that the library cannot use
            raise NoAnswer(f"cannot be asked: {type(error).__name__}: {error}") from error


class _Connection:
    """A client of the HTTP library for one request at a time."""

    def __init__(self, address: Address, limits: Limits) -> None:
        import httpx2

        self.is_usable = True
        self._limits = limits
        self._sockets: list[socket.socket] = []
        self._stopped = False
        self._client = httpx2.Client(
            timeout=httpx2.Timeout(limits.read, connect=limits.connect),
            verify=_tls_settings(),
            # Proxies and certificates of the environment; a proxy does not reach this machine's own servers.
            trust_env=not address.is_loopback,
            # Elsewhere the key has no business; and a POST that moves is a mistake in the URL.
            follow_redirects=False,
        )

    def close(self) -> None:
        self._stopped = True
        for connected in self._sockets:
            with suppress(OSError):
                connected.shutdown(socket.SHUT_RDWR)
        self._client.close()

    def events(
        self, url: str, headers: Mapping[str, str], content: bytes | None, check: Check
    ) -> Generator[_Head | bytes, None, None]:
        """The head, then pieces of the body, as they arrive. What ends it early leaves the connection unusable."""
        self.is_usable = False
        arrived: queue.SimpleQueue[_Event] = queue.SimpleQueue()
        threading.Thread(
            target=self._work, args=(url, headers, content, arrived), name="endpoint request", daemon=True
        ).start()
        while True:
            check()
            try:
                event = arrived.get(timeout=_POLL)
            except queue.Empty:
                continue
            if event is None:
                break
            if isinstance(event, NoAnswer):
                raise event
            yield event
        self.is_usable = True

    def _work(
        self, url: str, headers: Mapping[str, str], content: bytes | None, arrived: queue.SimpleQueue[_Event]
    ) -> None:
        end: NoAnswer | None = None
        try:
            method = "GET" if content is None else "POST"
            with self._client.stream(
                method, url, headers=headers, content=content, extensions={"trace": self._trace}
            ) as response:
                arrived.put(_Head(response.status_code, dict(response.headers)))
                for piece in response.iter_bytes():
                    arrived.put(piece)
        except Exception as error:  # noqa: BLE001  (told to the thread that waits; there is nobody here to tell)
            end = self._no_answer(error)
        arrived.put(end)

    def _trace(self, event: str, information: Mapping[str, Any]) -> None:
        """Called by the HTTP library at each of its steps; a new connection's socket is kept for ``close``."""
        if event in ("connection.connect_tcp.complete", "connection.start_tls.complete"):
            stream = information["return_value"]
            self._sockets = [known for known in self._sockets if known.fileno() >= 0]
            self._sockets.append(stream.get_extra_info("socket"))
            if self._stopped:
                stream.close()
                raise ConnectionAbortedError("stopped")

    def _no_answer(self, error: Exception) -> NoAnswer:
        import httpx2

        if isinstance(error, httpx2.ConnectTimeout):
            return NoAnswer(f"did not take a connection within {self._limits.connect:g} s", unreachable=True)
        if isinstance(error, httpx2.TimeoutException):
            return NoAnswer(f"answered nothing for {self._limits.read:g} s")
        if isinstance(error, httpx2.ConnectError | httpx2.ProxyError):
            return NoAnswer(f"cannot be reached: {error}", unreachable=True)
        if isinstance(error, httpx2.NetworkError | httpx2.RemoteProtocolError):
            return NoAnswer(f"broke off: {error}" if str(error) else "broke off the connection", again=True)
        return NoAnswer(f"cannot be asked: {type(error).__name__}: {error}")


def pause(seconds: float, check: Check) -> None:
    """Sleep, unless ``check`` says to stop."""
    until = time.monotonic() + seconds
    while (left := until - time.monotonic()) > 0:
        check()
        time.sleep(min(_POLL, left))
    check()


def _retry_after(answer: Answer) -> float:
    """Seconds the server asks to wait, 0 where it does not: a number or a date (RFC 9110, 10.2.3)."""
    value = answer.headers.get("retry-after", "").strip()
    if value.isascii() and value.isdigit():
        return float(value[:9])
    try:
        return max(0.0, parsedate_to_datetime(value).timestamp() - time.time())
    except (ValueError, TypeError, OverflowError):
        return 0.0


@functools.cache
def _tls_settings() -> ssl.SSLContext:
    """Shared by all connections: reading the certificates takes 60 to 100 ms."""
    import httpx2

    return httpx2.create_ssl_context()


def _close_all(idle: list[_Connection]) -> None:
    while idle:
        idle.pop().close()

"""Where a server is, and which key it may be shown.

A base URL may end in a slash and in ``/v1`` or not. What is asked, ``embeddings`` say, is looked for in two places:

==============================  ===============================  ============================
base URL                        first                            after HTTP 404 or 405
==============================  ===============================  ============================
``http://host:8000``            ``http://host:8000/v1/…``        ``http://host:8000/…``
``http://host:8000/v1``         ``http://host:8000/v1/…``        ``http://host:8000/…``
``https://host/api/openai``     ``https://host/api/openai/…``    ``https://host/api/openai/v1/…``
==============================  ===============================  ============================

The second place is for servers that answer some questions without the version: TEI has ``/v1/embeddings`` but only
``/rerank``, and Infinity has no ``/v1`` unless told so.
"""

from __future__ import annotations

import ipaddress
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from bright_inspect.domain.visible import visible
from bright_inspect.errors import UsageError

URL_VARIABLE = "BRIGHT_INSPECT_ENDPOINT"
KEY_VARIABLE = "BRIGHT_INSPECT_API_KEY"
OPENAI_URL_VARIABLE = "OPENAI_BASE_URL"
OPENAI_KEY_VARIABLE = "OPENAI_API_KEY"
OPENAI_URL = "https://api.openai.com/v1"

_PORTS = {"http": 80, "https": 443}
_VERSION = "/v1"


@dataclass(frozen=True, slots=True)
class Key:
    """A secret and the variable it comes from. Only the variable is ever shown."""

    variable: str
    secret: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class Address:
    """A base URL taken apart: ``path`` has no slash at its end and is "" where there is none."""

    scheme: str
    host: str
    port: int
    path: str

    @property
    def origin(self) -> str:
        """Scheme, host and port: who is talked to. A port is named only where it is not the scheme's own."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.scheme}://{host}" + ("" if self.port == _PORTS[self.scheme] else f":{self.port}")

    @property
    def url(self) -> str:
        return self.origin + self.path

    @property
    def is_loopback(self) -> bool:
        """A server on this machine, which no proxy can reach."""
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return self.host == "localhost"

    def places(self, question: str) -> tuple[str, str]:
        """The URLs where a server may answer ``question``, likeliest first (see the head of this module)."""
        if not self.path or self.path.endswith(_VERSION):
            root = self.origin + self.path.removesuffix(_VERSION)
            return f"{root}{_VERSION}/{question}", f"{root}/{question}"
        return f"{self.url}/{question}", f"{self.url}{_VERSION}/{question}"


def parse_address(url: str) -> Address:
    """A base URL as a user types it.

    Raises:
        UsageError: it is no http or https URL, or it has credentials, a query or a fragment, which would end up in
            files and messages. The message shows none of these.
    """
    shown = visible(without_secrets(url))
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError as error:
        raise UsageError(f"{shown!r} is not a URL: {visible(str(error))}.", _EXAMPLE) from None
    if parts.scheme not in _PORTS or not host or not url.isprintable() or any(map(str.isspace, url)):
        raise UsageError(f"{shown!r} is not the http or https URL of a server.", _EXAMPLE)
    if parts.username is not None or parts.password is not None:
        raise UsageError(
            f"The URL of {shown} has a name or password in it.",
            f"Leave them out: a key belongs in {KEY_VARIABLE}, beside the URL in {URL_VARIABLE}.",
        )
    if "?" in url or "#" in url:
        raise UsageError(f"The base URL {shown} has a query or a fragment.", "Give it without: no server needs them.")
    return Address(parts.scheme, host, port or _PORTS[parts.scheme], parts.path.rstrip("/"))


def url_from_environment(environment: Mapping[str, str] = os.environ) -> str | None:
    """The base URL to use where none is named: ``BRIGHT_INSPECT_ENDPOINT``, else ``OPENAI_BASE_URL``.

    A key without a URL is none: texts are sent only where someone said so. An empty variable counts as not set.
    """
    return environment.get(URL_VARIABLE) or environment.get(OPENAI_URL_VARIABLE) or None


def key_variables(address: Address, environment: Mapping[str, str] = os.environ) -> tuple[str, ...]:
    """The variables whose keys this server may be shown, in the order they are tried; see ``key_for``."""
    openai = environment.get(OPENAI_URL_VARIABLE) or OPENAI_URL
    owners = ((KEY_VARIABLE, environment.get(URL_VARIABLE, "")), (OPENAI_KEY_VARIABLE, openai))
    return tuple(variable for variable, url in owners if address.origin == _origin(url))


def key_for(address: Address, environment: Mapping[str, str] = os.environ) -> Key | None:
    """The key this server may be shown; None: the environment has none for it.

    A key goes to one origin (scheme, host and port) only: ``BRIGHT_INSPECT_API_KEY`` to that of
    ``BRIGHT_INSPECT_ENDPOINT``; ``OPENAI_API_KEY`` to that of ``OPENAI_BASE_URL``, or to ``https://api.openai.com``
    where that is not set (the default of OpenAI's own clients). A URL named in any other way, on the command line say,
    is shown a key only if it has one of these origins: a name copied from somewhere must not carry a key there.

    Raises:
        UsageError: the variable holds something that no HTTP header can; it is not shown.
    """
    for variable in key_variables(address, environment):
        secret = environment.get(variable, "").strip()
        if not secret:
            continue
        if not secret.isascii() or not secret.isprintable() or " " in secret:
            raise UsageError(
                f"{variable} holds characters that no key has.", "Copy the key again, without anything else."
            )
        return Key(variable, secret)
    return None


_EXAMPLE = "Name it like http://localhost:8000/v1."


def _origin(url: str) -> str | None:
    """None for what is no URL: a variable that is not used here is no reason to stop."""
    try:
        return parse_address(url).origin
    except UsageError:
        return None


def without_secrets(url: str) -> str:
    """As much of a URL as may be shown: no user information, query or fragment, even of a URL that cannot be parsed."""
    plain = url.split("?", 1)[0].split("#", 1)[0]
    scheme, separator, rest = plain.partition("://")
    if not separator:
        return plain.rpartition("@")[2]
    authority, slash, path = rest.partition("/")
    return f"{scheme}://{authority.rpartition('@')[2]}{slash}{path}"

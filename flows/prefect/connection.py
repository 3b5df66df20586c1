"""How a Prefect API is reached: its address, its secret, and a small REST client.

PrefectError
├── PrefectUnavailable     nothing answers, or it answers that it is overloaded: try again later
└── PrefectRefused         it answered and said no
"""

from __future__ import annotations

import asyncio
import base64
import ssl
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, Self
from urllib.parse import urlsplit

import httpx2
import orjson

from interlace.engine.errors import InterlaceError
from interlace.flows.prefect.settings import client_environment

_RETRIED = frozenset({408, 429, 502, 503, 504})
_ATTEMPTS = 4
_LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})


class PrefectError(InterlaceError):
    """Prefect could not do what was asked."""


class PrefectUnavailable(PrefectError):  # noqa: N818 - the name says what it is
    """Prefect's API does not answer."""


class PrefectRefused(PrefectError):  # noqa: N818 - the name says what it is
    """Prefect's API refused a request.

    Args:
        message: what was asked and what the API said.
        status: the HTTP status code.
    """

    def __init__(self, message: str, *, status: int) -> None:
        super().__init__(message)
        self.status = status


@dataclass(frozen=True, slots=True, kw_only=True)
class PrefectConnection:
    """An address of a Prefect API.

    Args:
        api_url: the API's root, `http://host:port/api`.
        home: our home; what Prefect's client keeps stands in `home/prefect`.
        api_auth: `user:password` of basic authentication, if the API asks for it.
        ca_file: certificates an https API is checked against; by default the system's.
    """

    api_url: str
    home: Path
    api_auth: str | None = field(default=None, repr=False)
    ca_file: Path | None = None

    def __post_init__(self) -> None:
        parts = urlsplit(self.api_url)
        if parts.scheme not in {"http", "https"} or not parts.hostname:
            raise PrefectError(
                f"{self.api_url!r} is not the address of a Prefect API; give http(s)://host:port/api."
            )

    @property
    def ui_url(self) -> str:
        """Where Prefect's own pages are."""
        return self.api_url.rstrip("/").removesuffix("/api")

    def environment(self) -> dict[str, str]:
        """Give the settings of Prefect's client for this address, as environment variables."""
        return client_environment(self.home, api_url=self.api_url, auth=self.api_auth, ca_file=self.ca_file)


class PrefectApi:
    """A REST client of one Prefect API, for one event loop; use it as an async context manager or call `close`."""

    def __init__(self, connection: PrefectConnection, *, seconds: float = 30.0) -> None:
        self.connection = connection
        headers = {"content-type": "application/json", "accept": "application/json"}
        if connection.api_auth:
            headers["authorization"] = "Basic " + base64.b64encode(connection.api_auth.encode()).decode()
        self._client = httpx2.AsyncClient(
            base_url=connection.api_url.rstrip("/"),
            headers=headers,
            timeout=httpx2.Timeout(seconds, connect=5.0),
            verify=_certificates(connection),
            trust_env=urlsplit(connection.api_url).hostname not in _LOOPBACK,
        )

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Close the connections."""
        await self._client.aclose()

    async def get(self, path: str) -> Any:
        """Read `path`; the answer's JSON."""
        return await self.request("GET", path)

    async def find(self, path: str) -> Any | None:
        """Read `path`; None where there is nothing."""
        try:
            return await self.request("GET", path)
        except PrefectRefused as refusal:
            if refusal.status == httpx2.codes.NOT_FOUND:
                return None
            raise

    async def post(self, path: str, body: Any) -> Any:
        """Send `body` as JSON to `path`; the answer's JSON, or None where it has no body."""
        return await self.request("POST", path, body)

    async def request(self, method: str, path: str, body: Any = None) -> Any:
        """Send one request, again where the API is overloaded or gone for a moment.

        Every request that is sent through here is safe to repeat: it reads, names what it makes, or sets a state.

        Raises:
            PrefectUnavailable: nothing answered, or only overload, in four attempts.
            PrefectRefused: the API answered with an error.
        """
        content = None if body is None else _encoded(body, method, path)
        reason = ""
        for attempt in range(_ATTEMPTS):
            if attempt:
                await asyncio.sleep(0.1 * 2**attempt)
            try:
                answer = await self._client.request(method, path, content=content)
            except httpx2.TransportError as error:
                reason = f"{type(error).__name__}: {error}"
                continue
            if answer.status_code not in _RETRIED:
                return _body(answer, method, path)
            reason = f"HTTP {answer.status_code}"
        raise PrefectUnavailable(f"Prefect's API at {self.connection.api_url!r} does not answer ({reason}).")


def _encoded(body: Any, method: str, path: str) -> bytes:
    try:
        return orjson.dumps(body, default=str, option=orjson.OPT_NON_STR_KEYS)
    except TypeError as error:
        message = f"What was to be sent to Prefect with {method} {path!r} is not JSON: {error}"
        raise PrefectRefused(message, status=httpx2.codes.UNPROCESSABLE_CONTENT) from error


def _body(answer: httpx2.Response, method: str, path: str) -> Any:
    if answer.is_error:
        text = answer.text[:500]
        message = f"Prefect refused {method} {path!r} with HTTP {answer.status_code}: {text}"
        raise PrefectRefused(message, status=answer.status_code)
    return orjson.loads(answer.content) if answer.content else None


def _certificates(connection: PrefectConnection) -> ssl.SSLContext:
    if connection.api_url.startswith("https:"):
        return ssl.create_default_context(cafile=str(connection.ca_file) if connection.ca_file else None)
    # Plain HTTP needs none: an empty context costs nothing to make, and trusts nobody.
    return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)

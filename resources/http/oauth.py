"""OAuth 2 client credentials: a token is fetched once, shared until shortly before it expires, renewed after a 401."""

from __future__ import annotations

import asyncio
import base64
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal
from urllib.parse import quote_plus, urlencode

from interlace.engine.errors import NodeError
from interlace.resources.http.auth import Outgoing
from interlace.resources.http.message import HttpRequest, HttpResponse

if TYPE_CHECKING:
    from interlace.resources.http.client import HttpClient

DEFAULT_LIFETIME = 300.0
MARGIN = 30.0

_MOST_TOKENS = 1000
_TOKEN_TIMEOUT = 30.0
_MAX_TOKEN_BODY = 1 << 20
_SERVER_ERROR = 500
_TOO_MANY = 429
_REDIRECTS = range(300, 400)

Key = tuple[str, str, str, str, str]


@dataclass(frozen=True, slots=True)
class Token:
    """An access token and when it is no longer used (on the monotonic clock)."""

    value: str = field(repr=False)
    scheme: str
    until: float


class TokenCache:
    """Tokens of this process. The lock of a key protects its fetch, so that many callers make one request."""

    def __init__(self) -> None:
        self._tokens: dict[Key, Token] = {}
        self._locks: dict[Key, asyncio.Lock] = {}

    async def get(self, auth: ClientCredentials, client: HttpClient) -> Token:
        """A token that is still good, fetched where there is none."""
        key = auth.key
        token = self._good(key)
        if token is not None:
            return token
        lock = self._locks.setdefault(key, asyncio.Lock())
        try:
            async with lock:
                token = self._good(key)
                if token is None:
                    token = await auth.fetch(client)
                    while len(self._tokens) >= _MOST_TOKENS:
                        self._tokens.pop(next(iter(self._tokens)))
                    self._tokens[key] = token
                return token
        finally:
            if not lock.locked():
                self._locks.pop(key, None)

    def drop(self, key: Key, token: str) -> None:
        """Forget a token that was refused; a newer one of the same key stays."""
        known = self._tokens.get(key)
        if known is not None and known.value == token:
            del self._tokens[key]

    def _good(self, key: Key) -> Token | None:
        token = self._tokens.get(key)
        return token if token is not None and time.monotonic() < token.until else None


@dataclass(slots=True, kw_only=True)
class ClientCredentials:
    """The client credentials grant (RFC 6749 section 4.4).

    Args:
        token_url: where tokens are fetched.
        client_id, client_secret: who we are.
        scope: space-separated scopes, empty for none.
        audience: for servers that want one, empty for none.
        client_auth: whether id and secret go into an Authorization header or into the form.
        verify: as `HttpRequest.verify`, for the token server.
        hide: told each token that is used, so that a run keeps it out of what it records.
    """

    token_url: str
    client_id: str
    client_secret: str = field(repr=False)
    scope: str = ""
    audience: str = ""
    client_auth: Literal["header", "body"] = "header"
    verify: bool | str = True
    hide: Callable[[str, str], None] | None = field(default=None, repr=False, compare=False)
    _used: str = field(default="", init=False, repr=False)

    @property
    def key(self) -> Key:
        """What a cached token belongs to; the secret is part of it, so a wrong one never gets another's token."""
        return self.token_url, self.client_id, self.client_secret, self.scope, self.audience

    async def apply(self, outgoing: Outgoing, client: HttpClient) -> None:
        """Set Authorization to a good token."""
        token = await client.tokens.get(self, client)
        self._used = token.value
        if self.hide is not None:
            self.hide("access_token", token.value)
        outgoing.set_header("Authorization", f"{token.scheme} {token.value}")

    def renew(self, client: HttpClient) -> bool:
        """Forget the token that was refused."""
        client.tokens.drop(self.key, self._used)
        return True

    async def fetch(self, client: HttpClient) -> Token:
        """Ask the token server for a token.

        Raises:
            NodeError: `oauth` when the server refuses or answers nonsense, else as `HttpClient.send`.
        """
        asked = time.monotonic()
        response = await client.send(self._token_request())
        if not response.ok or response.status in _REDIRECTS:
            raise self._refused(response)
        data = response.json()
        value = data.get("access_token") if isinstance(data, dict) else None
        if not isinstance(value, str) or not value:
            raise NodeError(
                f"{self.token_url!r} answered without an access_token.", kind="oauth", retryable=False
            )
        return Token(value, _scheme(data.get("token_type")), asked + _lifetime(data.get("expires_in")))

    def _token_request(self) -> HttpRequest:
        form = {"grant_type": "client_credentials", "scope": self.scope, "audience": self.audience}
        headers = {"Content-Type": "application/x-www-form-urlencoded", "Accept": "application/json"}
        if self.client_auth == "header":
            pair = f"{quote_plus(self.client_id)}:{quote_plus(self.client_secret)}".encode()
            headers["Authorization"] = "Basic " + base64.b64encode(pair).decode()
        else:
            form |= {"client_id": self.client_id, "client_secret": self.client_secret}
        return HttpRequest(
            method="POST",
            url=self.token_url,
            headers=headers,
            body=urlencode({name: value for name, value in form.items() if value}).encode(),
            timeout=_TOKEN_TIMEOUT,
            follow_redirects=False,
            verify=self.verify,
            max_body=_MAX_TOKEN_BODY,
            repeatable=True,
        )

    def _refused(self, response: HttpResponse) -> NodeError:
        passing = response.status >= _SERVER_ERROR or response.status == _TOO_MANY
        return NodeError(
            f"{self.token_url!r} gave no token for client {self.client_id!r}: status {response.status}, "
            f"{response.excerpt(200)!r}.",
            kind="oauth",
            retryable=passing,
        )


def _scheme(token_type: object) -> str:
    """`bearer` is written `Bearer`: some servers compare it so."""
    text = token_type if isinstance(token_type, str) and token_type else "Bearer"
    return "Bearer" if text.lower() == "bearer" else text


def _lifetime(expires_in: object) -> float:
    """Seconds to use a token: until a little before it expires, at most half of a short life is kept back."""
    try:
        seconds = float(str(expires_in)) if expires_in is not None else DEFAULT_LIFETIME
    except ValueError:
        seconds = DEFAULT_LIFETIME
    return seconds - min(MARGIN, seconds / 2)

"""OAuth 2 authorization code with PKCE: the page to agree on, the exchange, and tokens refreshed by one at a time."""

from __future__ import annotations

import base64
import hashlib
import time
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from typing import Any, Protocol
from urllib.parse import quote_plus, urlencode

from interlace.engine.errors import NodeError
from interlace.resources.connectors.auth import CodeGrant
from interlace.resources.http import HttpClient, HttpRequest, HttpResponse
from interlace.resources.http.auth import Outgoing

_MARGIN = 30.0
_TIMEOUT = 30.0
_MAX_BODY = 1 << 20
_OK = 200
_SERVER_ERROR = 500
_TOO_MANY = 429


@dataclass(frozen=True, slots=True)
class Tokens:
    """What an authorization server gave; `expires_at` in Unix seconds, None where it does not say."""

    access: str = field(repr=False)
    refresh: str = field(default="", repr=False)
    expires_at: float | None = None
    scheme: str = "Bearer"

    def is_good(self, now: float) -> bool:
        """Whether it can still be used."""
        return self.expires_at is None or now < self.expires_at - _MARGIN


class TokenKeeper(Protocol):
    """Where the tokens of one connector and caller are kept."""

    async def load(self) -> Tokens | None:
        """The newest tokens; None before anybody agreed."""
        ...

    async def save(self, tokens: Tokens) -> None:
        """Keep tokens in place of the earlier ones."""
        ...

    def exclusive(self) -> AbstractAsyncContextManager[None]:
        """A block that no other worker is in: a refresh token may be good only once."""
        ...


@dataclass(frozen=True, slots=True)
class Client:
    """Who we are for an authorization server."""

    id: str
    secret: str = field(default="", repr=False)


class RefreshedToken:
    """A person's access token, refreshed before it expires and once after a 401. Implements `Auth`."""

    def __init__(self, name: str, grant: CodeGrant, client: Client, keeper: TokenKeeper) -> None:
        self._name = name
        self._grant = grant
        self._client = client
        self._keeper = keeper
        self._used = ""
        self._refused = ""

    async def apply(self, outgoing: Outgoing, client: HttpClient) -> None:
        """Set Authorization.

        Raises:
            NodeError: `oauth`: nobody agreed yet, or the agreement is over.
        """
        tokens = await self._keeper.load()
        if tokens is None:
            raise self._not_connected("nobody has connected it yet")
        if tokens.access == self._refused or not tokens.is_good(time.time()):
            tokens = await self._refreshed(tokens, client)
        self._used = tokens.access
        outgoing.set_header("Authorization", f"{tokens.scheme} {tokens.access}")

    def renew(self, client: HttpClient) -> bool:
        """After a 401: the token is not used again."""
        del client
        self._refused = self._used
        return True

    async def _refreshed(self, stale: Tokens, client: HttpClient) -> Tokens:
        async with self._keeper.exclusive():
            tokens = await self._keeper.load()
            if tokens is not None and tokens.access != stale.access:
                return tokens  # somebody else did it meanwhile
            if not stale.refresh:
                raise self._not_connected("its access has ended, and it cannot be renewed")
            form = {"grant_type": "refresh_token", "refresh_token": stale.refresh}
            url = self._grant.refresh_url or self._grant.token_url
            made = await _fetch(url, form, self._grant, self._client, client)
            if not made.refresh:
                made = Tokens(made.access, stale.refresh, made.expires_at, made.scheme)
            await self._keeper.save(made)
            return made

    def _not_connected(self, why: str) -> NodeError:
        return NodeError(
            f"connector {self._name!r} cannot act for you: {why}; `interlace connectors connect {self._name}` begins it.",
            kind="oauth", retryable=False,
        )  # fmt: skip


def challenge(verifier: str) -> str:
    """PKCE's S256 challenge of a verifier."""
    return base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).rstrip(b"=").decode()


def authorize_url(grant: CodeGrant, client_id: str, *, state: str, verifier: str, redirect_uri: str) -> str:
    """The page on which a person agrees."""
    query = {
        "response_type": "code", "client_id": client_id, "redirect_uri": redirect_uri, "scope": " ".join(grant.scopes),
        "state": state, "code_challenge": challenge(verifier), "code_challenge_method": "S256",
    }  # fmt: skip
    mark = "&" if "?" in grant.authorize_url else "?"
    return grant.authorize_url + mark + urlencode({name: value for name, value in query.items() if value})


async def exchange(  # noqa: PLR0917 - the parts of one request
    grant: CodeGrant, who: Client, code: str, verifier: str, redirect_uri: str, client: HttpClient
) -> Tokens:
    """Tokens for the code that came back from the page.

    Raises:
        NodeError: `oauth` where the server refuses or answers nonsense, else as `HttpClient.send`.
    """
    form = {
        "grant_type": "authorization_code", "code": code, "redirect_uri": redirect_uri, "code_verifier": verifier,
    }  # fmt: skip
    return await _fetch(grant.token_url, form, grant, who, client)


async def _fetch(url: str, form: dict[str, str], grant: CodeGrant, who: Client, client: HttpClient) -> Tokens:
    headers = {"Content-Type": "application/x-www-form-urlencoded", "Accept": "application/json"}
    if grant.client_auth == "header" and who.secret:
        pair = f"{quote_plus(who.id)}:{quote_plus(who.secret)}".encode()
        headers["Authorization"] = "Basic " + base64.b64encode(pair).decode()
    else:
        form = form | {"client_id": who.id} | ({"client_secret": who.secret} if who.secret else {})
    response = await client.send(
        HttpRequest(
            method="POST",
            url=url,
            headers=headers,
            body=urlencode(form).encode(),
            timeout=_TIMEOUT,
            follow_redirects=False,
            max_body=_MAX_BODY,
            repeatable=False,
        )
    )
    if response.status != _OK:
        raise _refused(url, response)
    data = response.json()
    if (
        not isinstance(data, dict)
        or not isinstance(data.get("access_token"), str)
        or not data["access_token"]
    ):
        raise NodeError(f"{url!r} answered without an access_token.", kind="oauth", retryable=False)
    return _tokens(data)


def _tokens(data: dict[str, Any]) -> Tokens:
    try:
        lifetime = float(data["expires_in"])
    except (KeyError, TypeError, ValueError):
        lifetime = None
    refresh, scheme = data.get("refresh_token"), data.get("token_type")
    return Tokens(
        access=data["access_token"],
        refresh=refresh if isinstance(refresh, str) else "",
        expires_at=None if lifetime is None else time.time() + lifetime,
        scheme=scheme if isinstance(scheme, str) and scheme.lower() not in ("", "bearer") else "Bearer",
    )


def _refused(url: str, response: HttpResponse) -> NodeError:
    """What the server says, which never is what we sent."""
    said = ""
    if "json" in response.media_type:
        data = response.json()
        if isinstance(data, dict):
            said = " ".join(str(data[key])[:200] for key in ("error", "error_description") if key in data)
    passing = response.status >= _SERVER_ERROR or response.status == _TOO_MANY
    return NodeError(
        f"{url!r} gave no token: status {response.status}{f', {said}' if said else ''}.",
        kind="oauth",
        retryable=passing,
    )

"""Authorization of MCP servers by OAuth 2.1: tokens in the secret store, refreshed by themselves; consent in the browser."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import parse_qs, urlsplit

import orjson

from interlace.engine.errors import NodeError
from interlace.engine.principal import Principal
from interlace.resources.mcp.connection import Greeting
from interlace.resources.mcp.definition import HttpServer
from interlace.resources.secrets import Secrets, reveal_in
from interlace.store.errors import NotFoundError
from interlace.store.resources import Resource

if TYPE_CHECKING:
    import httpx2
    from mcp.client.auth import OAuthClientProvider
    from mcp.shared.auth import AuthorizationCodeResult, OAuthClientInformationFull, OAuthToken

CONSENT_S: Final = 600.0
"""Seconds that a person has to agree."""
_REDIRECT_S: Final = 30.0


Hide = Callable[[str, str], None]


class Listeners:
    """Who is using a server now. A session is shared, and its tokens may be renewed in anybody's call: all are told."""

    def __init__(self) -> None:
        self._told: dict[str, list[Hide]] = {}

    @contextmanager
    def hearing(self, server_id: str, hide: Hide | None) -> Iterator[None]:
        """Tell `hide` what is renewed meanwhile."""
        if hide is None:
            yield
            return
        told = self._told.setdefault(server_id, [])
        told.append(hide)
        try:
            yield
        finally:
            told.remove(hide)
            if not told:
                self._told.pop(server_id, None)

    def of(self, server_id: str) -> Hide:
        """What passes a server's tokens on to all who use it then."""

        def tell(name: str, value: str) -> None:
            for hide in self._told.get(server_id, ()):
                hide(name, value)

        return tell


class StoredTokens:
    """Tokens and client registration of one server, as the SDK keeps them, in secrets of the resource.

    Args:
        secrets: the secret store.
        resource: the server.
        redirect_uri: where the browser is to come back to; then a person agrees anew, as a client registered for it.
        hide: told the tokens, so that the runs that use them keep them out of what they record.
    """

    def __init__(
        self,
        secrets: Secrets,
        resource: Resource,
        *,
        redirect_uri: str | None = None,
        hide: Hide | None = None,
    ) -> None:
        self._hide = hide
        self._secrets = secrets
        self._resource = resource
        self._owner = Principal(resource.owner)
        self._redirect_uri = redirect_uri
        self._registered = False

    async def are_there(self) -> bool:
        """Whether somebody agreed."""
        return await self._get("tokens") is not None

    async def tell(self) -> None:
        """Tell `hide` what is kept now; a session that is there already may be using it."""
        if self._hide is not None and (found := await self._get("tokens")) is not None:
            self._tell(found)

    async def forget(self, *, by: Principal) -> None:
        """Let go of tokens and registration: they were given for another place."""
        for part in ("tokens", "client"):
            await self._secrets.forget(self._name(part), resource=self._resource, by=by)

    def _tell(self, tokens: str) -> None:
        for name in ("access_token", "refresh_token", "id_token"):
            value = orjson.loads(tokens).get(name)
            if self._hide is not None and isinstance(value, str):
                self._hide(name, value)

    async def get_tokens(self) -> OAuthToken | None:
        """The tokens; None before anybody agreed, or when that is to be done anew."""
        if self._redirect_uri is not None:
            return None
        from mcp.shared.auth import OAuthToken  # noqa: PLC0415 - slow to import

        found = await self._get("tokens")
        return None if found is None else OAuthToken.model_validate_json(found)

    async def set_tokens(self, tokens: OAuthToken) -> None:
        """Keep new tokens."""
        text = tokens.model_dump_json(exclude_none=True)
        self._tell(text)
        await self._put("tokens", text)

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        """The client by the definition, or as it was registered; None before."""
        from mcp.shared.auth import OAuthClientInformationFull  # noqa: PLC0415

        given = await self._given()
        if given is not None:
            return given
        if self._redirect_uri is not None and not self._registered:
            return None
        found = await self._get("client")
        return None if found is None else OAuthClientInformationFull.model_validate_json(found)

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        """Keep the registration."""
        self._registered = True
        await self._put("client", client_info.model_dump_json(exclude_none=True))

    async def _given(self) -> OAuthClientInformationFull | None:
        """A client that was registered by hand."""
        from mcp.shared.auth import OAuthClientInformationFull  # noqa: PLC0415

        oauth = self._resource.definition.get("oauth") or {}
        if not oauth.get("client_id"):
            return None
        revealed = await reveal_in(oauth, secrets=self._secrets, by=self._owner, resource=self._resource)
        return OAuthClientInformationFull.model_validate(
            {
                "client_id": revealed["client_id"],
                "client_secret": revealed.get("client_secret"),
                "redirect_uris": None if self._redirect_uri is None else [self._redirect_uri],
                "token_endpoint_auth_method": "client_secret_post"
                if revealed.get("client_secret")
                else "none",
            }
        )

    def _name(self, part: str) -> str:
        return f"mcp_server/{self._resource.id}/oauth.{part}"

    async def _get(self, part: str) -> str | None:
        try:
            return await self._secrets.reveal(self._name(part), by=self._owner, resource=self._resource)
        except NotFoundError:
            return None

    async def _put(self, part: str, value: str) -> None:
        await self._secrets.put(
            self._name(part), value, by=self._owner, resource_id=self._resource.id, scope=self._resource.scope
        )


def authorization(
    server: HttpServer,
    storage: StoredTokens,
    *,
    redirect_uri: str = "http://127.0.0.1/",
    redirect: Callable[[str], Awaitable[None]] | None = None,
    consent: Callable[[], Awaitable[AuthorizationCodeResult]] | None = None,
) -> httpx2.Auth:
    """What authorizes the requests to a server. Without the two handlers nobody is asked: the tokens there are serve.

    Raises:
        NodeError: `mcp_definition` for client credentials that are not complete.
    """
    from mcp.client.auth import OAuthClientProvider  # noqa: PLC0415 - slow to import
    from mcp.client.auth.extensions.client_credentials import ClientCredentialsOAuthProvider  # noqa: PLC0415
    from mcp.shared.auth import OAuthClientMetadata  # noqa: PLC0415

    oauth = server.oauth
    assert oauth is not None
    if oauth.grant == "client_credentials":
        if not (oauth.client_id and oauth.client_secret and oauth.issuer):
            raise NodeError(
                "oauth: client_credentials needs client_id, client_secret and issuer", kind="mcp_definition"
            )
        return ClientCredentialsOAuthProvider(
            server_url=server.url, storage=storage, client_id=oauth.client_id,
            client_secret=str(oauth.client_secret), scope=oauth.scope, issuer=oauth.issuer,
        )  # fmt: skip
    metadata = OAuthClientMetadata.model_validate(
        {
            "client_name": "Interlace",
            "redirect_uris": [redirect_uri],
            "grant_types": ["authorization_code", "refresh_token"],
            "response_types": ["code"],
            "scope": oauth.scope,
            "token_endpoint_auth_method": "client_secret_post" if oauth.client_secret else "none",
        }
    )
    provider: OAuthClientProvider = OAuthClientProvider(
        server_url=server.url,
        client_metadata=metadata,
        storage=storage,
        redirect_handler=redirect,
        callback_handler=consent,
    )
    return provider


@dataclass(frozen=True, slots=True)
class _Waiting:
    """Who began, and what goes on when they come back."""

    user_id: str
    answer: asyncio.Future[AuthorizationCodeResult]
    task: asyncio.Task[Greeting]


class Consents:
    """Authorizations that wait for a person: begun by one request, ended by the browser's return."""

    def __init__(self) -> None:
        self._waiting: dict[str, _Waiting] = {}

    async def begin(
        self,
        server: HttpServer,
        storage: StoredTokens,
        connect: Callable[[httpx2.Auth], Awaitable[Greeting]],
        *,
        redirect_uri: str,
        user_id: str,
    ) -> str:
        """The address at which a person agrees, who is `user_id`.

        Raises:
            NodeError: the server cannot be reached, or does not ask for authorization (`mcp_error`).
        """
        from mcp.client.auth import OAuthFlowError  # noqa: PLC0415 - slow to import

        loop = asyncio.get_running_loop()
        address: asyncio.Future[str] = loop.create_future()
        answer: asyncio.Future[AuthorizationCodeResult] = loop.create_future()

        async def redirect(url: str) -> None:
            if not address.done():
                address.set_result(url)

        async def consent() -> AuthorizationCodeResult:
            try:
                async with asyncio.timeout(CONSENT_S):
                    return await answer
            except TimeoutError:
                raise OAuthFlowError(f"nobody agreed within {CONSENT_S / 60:g} minutes") from None

        auth = authorization(server, storage, redirect_uri=redirect_uri, redirect=redirect, consent=consent)
        task = asyncio.ensure_future(connect(auth))
        either: list[asyncio.Future[Any]] = [address, task]
        await asyncio.wait(either, timeout=_REDIRECT_S, return_when=asyncio.FIRST_COMPLETED)
        if not address.done():
            if task.done():
                await task
                raise NodeError("the server does not ask for authorization", kind="mcp_error")
            task.cancel()
            raise NodeError("the server named no place to authorize at", kind="timeout")
        url = await address
        state = parse_qs(urlsplit(url).query).get("state", [""])[0]
        self._waiting[state] = _Waiting(user_id, answer, task)
        task.add_done_callback(lambda _: self._waiting.pop(state, None))
        return url

    async def finish(self, *, state: str, code: str, user_id: str, issuer: str | None = None) -> Greeting:
        """Take the return of a user's browser, and connect.

        Raises:
            NodeError: `mcp_error` for a state that nobody or another user waits for, or when the server refuses.
        """
        from mcp.shared.auth import AuthorizationCodeResult  # noqa: PLC0415 - slow to import

        waiting = self._waiting.get(state)
        if waiting is None:
            raise NodeError("nobody waits for this authorization any more; begin it again", kind="mcp_error")
        if (
            waiting.user_id != user_id
        ):  # whoever agreed was sent the address by somebody: the tokens are not theirs
            raise NodeError("another user began this authorization; begin your own", kind="mcp_error")
        del self._waiting[state]
        waiting.answer.set_result(AuthorizationCodeResult(code=code, state=state, iss=issuer))
        return await waiting.task

    async def close(self) -> None:
        """Give up what still waits."""
        for waiting in self._waiting.values():
            waiting.task.cancel()
        self._waiting.clear()

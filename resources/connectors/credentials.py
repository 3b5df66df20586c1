"""Credentials of stored connectors: the owner's in the definition, a user's own among the user's secrets."""

from __future__ import annotations

import asyncio
import hashlib
import secrets as randomness
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import orjson

from interlace.engine.errors import NodeError
from interlace.engine.principal import Principal
from interlace.engine.run.secrets import Secrets as Shown
from interlace.resources.connectors.adapter import Access
from interlace.resources.connectors.auth import (
    NEEDED,
    SLOTS,
    AnyAuth,
    BasicCredentials,
    BearerCredentials,
    ClientGrant,
    CodeGrant,
    KeyCredentials,
)
from interlace.resources.connectors.definition import Connector
from interlace.resources.connectors.oauth import Client, RefreshedToken, TokenKeeper, Tokens
from interlace.resources.http.auth import Auth, Basic, InHeader, InQuery, Outgoing
from interlace.resources.http.oauth import ClientCredentials
from interlace.resources.secrets import Secrets, reveal_in
from interlace.store import Store
from interlace.store.errors import NotFoundError
from interlace.store.resources import Resource

Hide = Callable[[str, str], None]

_LOCK_SECONDS = 45.0
_LOCK_PATIENCE = 60.0
_LOCK_LOOK = 0.1


@dataclass(frozen=True, slots=True)
class InCookie:
    """A key in a cookie. Implements `Auth`."""

    name: str
    value: str

    async def apply(self, outgoing: Outgoing, client: Any) -> None:
        """Add the cookie to those that are there."""
        del client
        known = next((value for name, value in outgoing.headers if name.lower() == "cookie"), "")
        outgoing.set_header(
            "Cookie", f"{known}; {self.name}={self.value}" if known else f"{self.name}={self.value}"
        )

    def renew(self, client: Any) -> bool:
        """A second try would send the same."""
        del client
        return False


def user_secret(connector_id: str, slot: str, connector: Connector) -> str:
    """Name of the secret that holds a user's own credential for a connector, as it is reached now."""
    return f"connector_{connector_id.replace('-', '_')}_{slot}_{_mark(connector)}"


def reach_of(connector: Connector) -> tuple[Any, ...]:
    """All that says where credentials are sent."""
    auth = connector.auth.model_dump(exclude=set(SLOTS[connector.auth.type]))
    hosts = sorted({action.base_url for action in connector.actions if action.base_url})
    return connector.base_url, tuple(sorted(connector.variables.items())), tuple(hosts), str(auth)


def _mark(connector: Connector) -> str:
    """What is kept for one place is not found for another: whoever moves a connector gets none of it."""
    return hashlib.sha256(repr(reach_of(connector)).encode()).hexdigest()[:12]


class Credentials:
    """Finds credentials, and keeps the tokens that belong to them."""

    def __init__(self, store: Store, secrets: Secrets) -> None:
        self._store = store
        self._secrets = secrets
        self._locks: dict[str, asyncio.Lock] = {}

    async def access(
        self, resource: Resource, connector: Connector, *, by: Principal, hide: Hide | None = None
    ) -> Access:
        """What a call of `by` is authenticated with.

        Raises:
            NodeError: `missing_credentials`: nobody has given them.
        """
        seen = Shown()

        def note(name: str, value: str) -> None:
            seen.hide(name, value)
            if hide is not None:
                hide(name, value)

        headers = await self._revealed(
            resource, {"h": resource.definition.get("secret_headers", {})}, by, note
        )
        slots = await self.slots(resource, connector, by=by, hide=note)
        missing = [slot for slot in NEEDED[connector.auth.type] if not slots.get(slot)]
        if missing:
            whose = " of your own" if connector.credentials == "user" else ""
            raise NodeError(
                f"connector {connector.name!r} needs credentials{whose}: {', '.join(missing)}; set them with"
                f" `interlace connectors credentials {connector.name}`.",
                kind="missing_credentials", retryable=False,
            )  # fmt: skip
        auth = self._auth(resource, connector, slots, by, note)
        return Access(auth=auth, headers=[(str(k), str(v)) for k, v in headers["h"].items()], secrets=seen)

    async def slots(
        self, resource: Resource, connector: Connector, *, by: Principal, hide: Hide | None = None
    ) -> dict[str, str]:
        """The secret fields of the connector's authentication, by name; empty where nothing was given."""
        names = SLOTS[connector.auth.type]
        if connector.credentials == "shared":
            stored = resource.definition.get("auth", {})
            given = {slot: stored[slot] for slot in names if stored.get(slot)}
            return {
                slot: str(value) for slot, value in (await self._revealed(resource, given, by, hide)).items()
            }
        found: dict[str, str] = {}
        for slot in names:
            name = user_secret(resource.id, slot, connector)
            try:
                found[slot] = await self._secrets.reveal(name, by=Principal(by.user_id))
            except NotFoundError:
                continue
            if hide is not None:
                hide(name, found[slot])
        return found

    async def put(
        self, resource: Resource, connector: Connector, values: dict[str, str], *, by: Principal
    ) -> None:
        """Set the user's own credentials for a connector that has them by user.

        Raises:
            NodeError: `bad_parameter`: the connector has no such credential.
        """
        known = SLOTS[connector.auth.type]
        unknown = [slot for slot in values if slot not in known]
        if unknown:
            raise NodeError(
                f"connector {connector.name!r} has no credential {unknown[0]!r}; it has {', '.join(known) or 'none'}.",
                kind="bad_parameter", retryable=False,
            )  # fmt: skip
        for slot, value in values.items():
            await self._secrets.put(
                user_secret(resource.id, slot, connector), value, by=Principal(by.user_id)
            )

    def keeper(
        self, resource: Resource, connector: Connector, *, by: Principal, hide: Hide | None = None
    ) -> TokenKeeper:
        """Where the tokens of the connector are kept: the owner's, or the user's own."""
        user = by.user_id if connector.credentials == "user" else None
        return _Keeper(self._store, self._secrets, self._locks, resource, connector, by, user, hide)

    async def _revealed(
        self, resource: Resource, part: dict[str, Any], by: Principal, hide: Hide | None
    ) -> dict[str, Any]:
        return await reveal_in(part, secrets=self._secrets, by=by, resource=resource, hide=hide)

    def _auth(
        self, resource: Resource, connector: Connector, slots: dict[str, str], by: Principal, hide: Hide
    ) -> Auth | None:
        auth = connector.auth
        if isinstance(auth, CodeGrant):
            client = Client(slots["client_id"], slots.get("client_secret", ""))
            return RefreshedToken(
                connector.name, auth, client, self.keeper(resource, connector, by=by, hide=hide)
            )
        return fixed_auth(auth, slots, hide=hide)


def fixed_auth(auth: AnyAuth, slots: dict[str, str], *, hide: Hide | None = None) -> Auth | None:
    """Credentials that need nobody's consent."""
    if isinstance(auth, BearerCredentials):
        return InHeader("Authorization", f"{auth.prefix} {slots['token'].strip()}".strip())
    if isinstance(auth, BasicCredentials):
        return Basic(slots["username"], slots.get("password", ""))
    if isinstance(auth, ClientGrant):
        return ClientCredentials(
            token_url=auth.token_url, client_id=slots["client_id"], client_secret=slots["client_secret"],
            scope=" ".join(auth.scopes), audience=auth.audience, client_auth=auth.client_auth,
            hide=hide,
        )  # fmt: skip
    if isinstance(auth, KeyCredentials):
        key = slots["key"]
        if auth.place == "query":
            return InQuery(auth.name, key)
        return InCookie(auth.name, key) if auth.place == "cookie" else InHeader(auth.name, key)
    return None


class _Keeper:
    """Tokens as an encrypted secret. Implements `TokenKeeper`."""

    def __init__(  # noqa: PLR0917 - private
        self,
        store: Store,
        secrets: Secrets,
        locks: dict[str, asyncio.Lock],
        resource: Resource,
        connector: Connector,
        by: Principal,
        user: str | None,
        hide: Hide | None,
    ) -> None:
        self._store, self._secrets, self._locks = store, secrets, locks
        self._resource, self._by, self._user, self._hide = resource, by, user, hide
        own = user_secret(resource.id, "tokens", connector)
        self._name = own if user is not None else f"connector/{resource.id}/tokens.{_mark(connector)}"

    async def load(self) -> Tokens | None:
        """The newest tokens."""
        try:
            if self._user is not None:
                text = await self._secrets.reveal(self._name, by=Principal(self._user))
            else:
                text = await self._secrets.reveal(self._name, by=self._by, resource=self._resource)
        except NotFoundError:
            return None
        access, refresh, expires_at, scheme = orjson.loads(text)
        return self._noted(Tokens(access, refresh, expires_at, scheme))

    async def save(self, tokens: Tokens) -> None:
        """Keep tokens where the credentials are kept."""
        text = orjson.dumps([tokens.access, tokens.refresh, tokens.expires_at, tokens.scheme]).decode()
        self._noted(tokens)
        if self._user is not None:
            await self._secrets.put(self._name, text, by=Principal(self._user))
            return
        org_id, owner = self._resource.org_id, self._resource.owner
        keeper = Principal(owner, frozenset() if org_id is None else frozenset({org_id}))
        await self._secrets.put(self._name, text, by=keeper, org_id=org_id, resource_id=self._resource.id)

    @asynccontextmanager
    async def exclusive(self) -> AsyncIterator[None]:
        """Alone in this process, and among its workers.

        Raises:
            NodeError: `oauth`: somebody else has been at it for a minute.
        """
        key, holder = f"tokens:{self._name}:{self._user or ''}", randomness.token_hex(8)
        lock = self._locks.setdefault(key, asyncio.Lock())
        async with lock:
            try:
                async with asyncio.timeout(_LOCK_PATIENCE):
                    while not await self._store.connectors.lock(key, holder, _LOCK_SECONDS):  # noqa: ASYNC110 - other processes
                        await asyncio.sleep(_LOCK_LOOK)
            except TimeoutError:
                raise NodeError(
                    "the access token is being renewed elsewhere, for too long.", kind="oauth"
                ) from None
            try:
                yield
            finally:
                await self._store.connectors.unlock(key, holder)

    def _noted(self, tokens: Tokens) -> Tokens:
        if self._hide is not None:
            for name, value in (("access_token", tokens.access), ("refresh_token", tokens.refresh)):
                if value:
                    self._hide(name, value)
        return tokens

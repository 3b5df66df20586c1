"""Stored connectors: found with their caller's rights, called through the adapter, authorized by people."""

from __future__ import annotations

import base64
import hmac
from collections import OrderedDict
from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from interlace.engine.errors import NodeError
from interlace.engine.principal import Principal
from interlace.resources.connectors import oauth
from interlace.resources.connectors.adapter import Adapter, Options
from interlace.resources.connectors.arguments import find_action
from interlace.resources.connectors.auth import SLOTS, CodeGrant
from interlace.resources.connectors.breaker import Breaker, BreakerState
from interlace.resources.connectors.credentials import Credentials, Hide, reach_of
from interlace.resources.connectors.definition import Action, Connector
from interlace.resources.connectors.limiter import Limiter
from interlace.resources.connectors.loaded import Loaded
from interlace.resources.connectors.result import CallRecord, ConnectorResult
from interlace.resources.http import HttpClient
from interlace.resources.lookup import usable
from interlace.resources.secrets import Secrets, add_resource, update_resource
from interlace.store import Store
from interlace.store.errors import ConflictError
from interlace.store.resources import Resource, Visibility

KIND = "connector"
CALLBACK_PATH = "/api/v1/connectors/oauth/callback"
_KEPT = 64


class Connectors:
    """The connectors of all users. Nothing here opens a connection but `call`, and the exchange of `finish`."""

    def __init__(self, store: Store, secrets: Secrets, http: HttpClient) -> None:
        self._store = store
        self._secrets = secrets
        self._http = http
        self._credentials = Credentials(store, secrets)
        self._breaker = Breaker(_Breakers(store))
        self._limiter = Limiter()
        self._loaded: OrderedDict[str, Loaded] = OrderedDict()

    # -- what is stored ------------------------------------------------------------------------------------------------

    async def add(
        self,
        connector: Connector,
        *,
        by: Principal,
        org_id: str | None = None,
        visibility: Visibility = "private",
    ) -> Resource:
        """Store a connector; secrets in it go into the secret store.

        Raises:
            ConflictError: the name is taken.
            NotFoundError: `by` does not belong to the organisation.
        """
        return await add_resource(
            self._store,
            self._secrets,
            KIND,
            connector.name,
            connector,
            by=by,
            org_id=org_id,
            visibility=visibility,
        )

    async def update(
        self, name_or_id: str, connector: Connector, *, by: Principal, expected_version: int | None = None
    ) -> Resource:
        """Put another definition in its place.

        Where it moves the API elsewhere, credentials that were kept do not follow: they have to be given again.

        Raises:
            NotFoundError, ForbiddenError, ConflictError: as the store.
        """
        resource, before = await self.find(name_or_id, by=by)
        if connector.name != before.connector.name:
            raise ConflictError("a connector keeps its name; add another one under the new name")
        if reach_of(connector) != reach_of(before.connector):
            connector = _without_references(connector)
        return await update_resource(
            self._store, self._secrets, resource.id, connector, by=by, reach=_reach_of,
            expected_version=expected_version,
        )  # fmt: skip

    async def remove(self, name_or_id: str, *, by: Principal) -> None:
        """Remove a connector with its secrets."""
        resource = await self._store.resources.find(KIND, name_or_id, by=by)
        await self._store.resources.remove(resource.id, by=by)
        await self._store.connectors.reset(resource.id)

    async def find(self, name_or_id: str, *, by: Principal) -> tuple[Resource, Loaded]:
        """A connector that `by` sees.

        Raises:
            NotFoundError: there is none.
        """
        resource = await self._store.resources.find(KIND, name_or_id, by=by)
        return resource, self._load(resource)

    async def usable(self, name_or_id: str, *, by: Principal) -> Loaded:
        """A connector that `by` may call.

        Raises:
            NodeError: `resource_not_found`.
        """
        return (await self._usable(name_or_id, by))[1]

    def loaded(self, resource: Resource) -> Loaded:
        """A connector that the caller looked up, ready to be called.

        Raises:
            NodeError: `resource_not_found`: what is stored cannot be read.
        """
        return self._load(resource)

    async def action(self, name_or_id: str, action: str, *, by: Principal) -> tuple[Loaded, Action]:
        """A connector that `by` may call, and an action of it.

        Raises:
            NodeError: `resource_not_found`, `unknown_action`.
        """
        _, loaded = await self._usable(name_or_id, by)
        return loaded, find_action(loaded.connector, action)

    # -- calls ---------------------------------------------------------------------------------------------------------

    async def call(
        self,
        name_or_id: str,
        action: str,
        parameters: Mapping[str, Any],
        *,
        by: Principal,
        options: Options | None = None,
        hide: Hide | None = None,
        http: HttpClient | None = None,
    ) -> ConnectorResult:
        """Call an action with the rights and the credentials of `by`; whether a person has to agree is the caller's to ask.

        `hide` is told each secret that is used, so that a run keeps it out of what it records; `http` is the run's own
        client, which may record what comes, or give what was recorded.

        Raises:
            NodeError: `resource_not_found`, `missing_credentials`, `oauth`, and those of `Adapter.call`.
        """
        resource, loaded = await self._usable(name_or_id, by)
        found = find_action(loaded.connector, action)
        access = None
        if found.authenticate:
            access = await self._credentials.access(resource, loaded.connector, by=by, hide=hide)
        adapter = Adapter(http or self._http, self._breaker, self._audit, limiter=self._limiter)
        return await adapter.call(loaded, action, parameters, by=by, access=access, options=options)

    # -- authorization by a person -------------------------------------------------------------------------------------

    async def set_credentials(self, name_or_id: str, values: Mapping[str, str], *, by: Principal) -> None:
        """Set credentials: of a shared connector those of the definition, else the user's own.

        Raises:
            NodeError: `bad_parameter`: there is no such credential.
            NotFoundError, ForbiddenError: as the store.
        """
        resource, loaded = await self.find(name_or_id, by=by)
        connector = loaded.connector
        if connector.credentials == "user":
            await self._credentials.put(resource, connector, dict(values), by=by)
            return
        known = SLOTS[connector.auth.type]
        unknown = [slot for slot in values if slot not in known]
        if unknown:
            raise NodeError(
                f"connector {connector.name!r} has no credential {unknown[0]!r}; it has {', '.join(known) or 'none'}.",
                kind="bad_parameter", retryable=False,
            )  # fmt: skip
        changed = connector.model_copy(update={"auth": connector.auth.model_copy(update=dict(values))})
        await update_resource(self._store, self._secrets, resource.id, changed, by=by, reach=_reach_of)

    async def begin(self, name_or_id: str, *, by: Principal, redirect_uri: str) -> str:
        """The page on which a person agrees that the connector acts for them; good for ten minutes.

        Raises:
            NodeError: `bad_auth`: the connector authenticates in another way, `missing_credentials`: it has no client id.
            NotFoundError, ForbiddenError: as the store.
        """
        resource, loaded = await self.find(name_or_id, by=by)
        grant = _code_grant(loaded.connector)
        if loaded.connector.credentials == "shared":
            await self._store.resources.writable(resource.id, by=by)
        slots = await self._credentials.slots(resource, loaded.connector, by=by)
        if not slots.get("client_id"):
            raise NodeError(
                f"connector {loaded.connector.name!r} has no client_id.",
                kind="missing_credentials",
                retryable=False,
            )
        state, made = await self._store.connectors.begin_authorization(resource.id, by.user_id, redirect_uri)
        return oauth.authorize_url(
            grant,
            slots["client_id"],
            state=state,
            verifier=_verifier(made.salt, state),
            redirect_uri=redirect_uri,
        )

    async def finish(self, state: str, code: str, *, user_id: str) -> str:
        """Take the code that came back to a user; gives the connector's name. A state is good once.

        Raises:
            NodeError: `oauth`: the state is unknown, used, too old or another user's, or the server refuses the code.
        """
        begun = await self._store.connectors.end_authorization(state)
        if begun is None:
            raise NodeError(
                "this authorization is unknown, over or too old; begin it again.",
                kind="oauth",
                retryable=False,
            )
        if (
            begun.user_id != user_id
        ):  # whoever agreed was sent the address by somebody: the tokens are not theirs
            raise NodeError(
                "another user began this authorization; begin your own.", kind="oauth", retryable=False
            )
        by = await self._store.users.principal(begun.user_id)
        resource, loaded = await self.find(begun.connector_id, by=by)
        grant = _code_grant(loaded.connector)
        slots = await self._credentials.slots(resource, loaded.connector, by=by)
        client = oauth.Client(slots.get("client_id", ""), slots.get("client_secret", ""))
        verifier = _verifier(begun.salt, state)
        tokens = await oauth.exchange(grant, client, code, verifier, begun.redirect_uri, self._http)
        keeper = self._credentials.keeper(resource, loaded.connector, by=by)
        async with keeper.exclusive():
            await keeper.save(tokens)
        await self._store.audit.record(
            by, "connector.authorize", KIND, resource.id, name=resource.name, org_id=resource.org_id
        )
        return resource.name

    # -- inside --------------------------------------------------------------------------------------------------------

    async def _usable(self, name_or_id: str, by: Principal) -> tuple[Resource, Loaded]:
        resource = await usable(self._store.resources, KIND, name_or_id, by=by)
        return resource, self._load(resource)

    def _load(self, resource: Resource) -> Loaded:
        known = self._loaded.get(resource.id)
        if known is not None and known.version == resource.version:
            self._loaded.move_to_end(resource.id)
            return known
        try:
            connector = Connector.model_validate(resource.definition)
        except ValidationError as error:
            raise NodeError(
                f"the stored connector {resource.name!r} cannot be read: {error.errors()[0]['msg']}; import it again.",
                kind="connector_definition", retryable=False,
            ) from None  # fmt: skip
        made = self._loaded[resource.id] = Loaded(connector, resource.id, resource.version, resource.org_id)
        if len(self._loaded) > _KEPT:
            self._loaded.popitem(last=False)
        return made

    async def _audit(self, by: Principal, made: CallRecord) -> None:
        detail = {
            "action": made.action, "method": made.method, "url": made.url, "status": made.status, "error": made.error,
            "attempts": made.attempts, "elapsed_ms": made.elapsed_ms,
        }  # fmt: skip
        await self._store.audit.record(
            by,
            "connector.call",
            KIND,
            made.connector_id,
            name=made.connector,
            org_id=made.org_id,
            detail=detail,
        )


class _Breakers:
    """Breakers in the store. Implements `BreakerStore`."""

    def __init__(self, store: Store) -> None:
        self._store = store.connectors

    async def read(self, key: str) -> BreakerState:
        """The state of a connector."""
        row = await self._store.breaker(key)
        return BreakerState(row.failures, row.open_until)

    async def fail(self, key: str, *, limit: int, pause: float, now: float) -> BreakerState:
        """Count a failure."""
        row = await self._store.fail(key, limit=limit, pause=pause, now=now)
        return BreakerState(row.failures, row.open_until)

    async def reset(self, key: str) -> None:
        """Let calls through again."""
        await self._store.reset(key)

    async def probe(self, key: str, *, now: float, seconds: float) -> bool:
        """Whether this call is the one try."""
        return await self._store.probe(key, now=now, seconds=seconds)


def _verifier(salt: bytes, state: str) -> str:
    """PKCE's verifier: needs the state, which the browser has, and the salt, which only we have."""
    return base64.urlsafe_b64encode(hmac.digest(salt, state.encode(), "sha256")).rstrip(b"=").decode()


def _code_grant(connector: Connector) -> CodeGrant:
    if isinstance(connector.auth, CodeGrant):
        return connector.auth
    raise NodeError(
        f"connector {connector.name!r} authenticates by {connector.auth.type}, which needs no authorization.",
        kind="bad_auth", retryable=False,
    )  # fmt: skip


def _reach_of(definition: Mapping[str, Any]) -> tuple[Any, ...]:
    return reach_of(Connector.model_validate(definition))


def _without_references(connector: Connector) -> Connector:
    """The definition without references to secrets: who may change a shared address may not send its secrets there."""
    empty = {
        slot: "" for slot in SLOTS[connector.auth.type] if not isinstance(getattr(connector.auth, slot), str)
    }
    headers = {name: value for name, value in connector.secret_headers.items() if isinstance(value, str)}
    return connector.model_copy(
        update={"auth": connector.auth.model_copy(update=empty), "secret_headers": headers}
    )

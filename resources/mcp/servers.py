"""Stored MCP servers as people and runs use them: looked up by rights, their tools held against what was accepted."""

from __future__ import annotations

import hashlib
from collections.abc import AsyncIterator, Collection, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from interlace.engine.document import Effects
from interlace.engine.errors import NodeError
from interlace.engine.principal import Principal
from interlace.resources.lookup import usable
from interlace.resources.mcp.catalog import Catalog
from interlace.resources.mcp.connection import CONNECT_S, Greeting, Progress
from interlace.resources.mcp.definition import HttpServer, McpServer, StdioServer, read_definition
from interlace.resources.mcp.oauth import CONSENT_S, Consents, Hide, Listeners, StoredTokens, authorization
from interlace.resources.mcp.pool import McpPool, Target
from interlace.resources.mcp.result import McpResult
from interlace.resources.mcp.tools import McpTool, Trust, compare, pick
from interlace.resources.secrets import Secrets, add_resource, reveal_in, update_resource
from interlace.store import Store
from interlace.store.errors import ForbiddenError
from interlace.store.ids import uuid7
from interlace.store.mcp_tools import AcceptedTool
from interlace.store.resources import Resource, Visibility

if TYPE_CHECKING:
    import httpx2

KIND = "mcp_server"


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerInfo:
    """A server as it stands now: what it says of itself, its tools, and how each stands to what was accepted."""

    greeting: Greeting
    tools: dict[str, McpTool]
    trust: dict[str, Trust]
    accepted: dict[str, AcceptedTool]


class McpServers:
    """The MCP servers of all users, for nodes and agents alike.

    Args:
        store: where they are kept.
        secrets: where their secret fields are.
        pool: the sessions of this process.
    """

    def __init__(self, store: Store, secrets: Secrets, pool: McpPool) -> None:
        self._store = store
        self._secrets = secrets
        self._pool = pool
        self._consents = Consents()
        self._listeners = Listeners()

    @property
    def catalog(self) -> Catalog:
        """The programs that the operator offers."""
        return self._pool.catalog

    async def add(
        self,
        name: str,
        definition: Mapping[str, Any] | McpServer,
        *,
        by: Principal,
        org_id: str | None = None,
        visibility: Visibility = "private",
    ) -> Resource:
        """Store a server; nothing is started or connected.

        Raises:
            NodeError: `mcp_definition`.
            ForbiddenError: `trusted` by somebody who is no operator.
            ConflictError, NotFoundError: as for every resource.
        """
        server = self._checked(definition, by)
        return await add_resource(
            self._store, self._secrets, KIND, name, server, by=by, org_id=org_id, visibility=visibility
        )

    async def update(
        self, name: str, definition: Mapping[str, Any] | McpServer, *, by: Principal
    ) -> Resource:
        """Change a server; its tools are accepted anew when its address or program is another.

        Raises as `add`.
        """
        before = await self._store.resources.find(KIND, name, by=by)
        server = self._checked(definition, by)
        after = await update_resource(self._store, self._secrets, before.id, server, by=by, reach=_reach)
        if _where(before.definition) != _where(after.definition):
            await self._store.mcp_tools.clear(before.id)
            await StoredTokens(self._secrets, before).forget(by=by)
        await self._pool.forget(before.id)
        return after

    async def remove(self, name: str, *, by: Principal) -> None:
        """Remove a server, its secrets, and what was accepted of it."""
        found = await self._store.resources.find(KIND, name, by=by)
        await self._store.resources.remove(found.id, by=by)
        await self._store.mcp_tools.clear(found.id)
        await self._pool.forget(found.id)

    def _checked(self, definition: Mapping[str, Any] | McpServer, by: Principal) -> McpServer:
        server = (
            definition if isinstance(definition, HttpServer | StdioServer) else read_definition(definition)
        )
        if isinstance(server, StdioServer):
            entry = self._pool.catalog.entry(server.catalog)
            entry.argv(server.arguments)
        if server.trusted and not by.operator:
            raise ForbiddenError("only an operator can mark an MCP server as trusted")
        return server

    def fault(self, server_id: str) -> str | None:
        """Why a server could not be reached within the last minute; None where it could, or was not tried."""
        return self._pool.fault(f"{server_id}:")

    async def accepted(self, server_ids: Collection[str]) -> dict[str, dict[str, AcceptedTool]]:
        """What is accepted of servers that the caller looked up, by server; nothing is connected."""
        return await self._store.mcp_tools.of_many(server_ids)

    async def hashes(self, server_ids: Collection[str]) -> dict[str, dict[str, str]]:
        """The hashes of the same."""
        return await self._store.mcp_tools.hashes(server_ids)

    async def connect(self, name: str, *, by: Principal, hide: Hide | None = None) -> ServerInfo:
        """Connect now and look. The tools of a server that nobody looked at before are accepted by this.

        Raises:
            NotFoundError: no such server for `by`.
            NodeError: as `McpPool.call`.
        """
        async with self._using(name, by, hide=hide) as (resource, target):
            greeting = await self._pool.greeting(target)
            tools = await self._pool.tools(target)
        accepted = await self._store.mcp_tools.of(resource.id)
        if not accepted:
            await self._accept(resource, tools.values(), by=by)
            accepted = await self._store.mcp_tools.of(resource.id)
        trust = compare(tools.values(), {entry.name: entry.hash for entry in accepted.values()})
        return ServerInfo(greeting=greeting, tools=tools, trust=trust, accepted=accepted)

    async def accept(
        self, name: str, *, by: Principal, tools: Collection[str] | None = None, hide: Hide | None = None
    ) -> ServerInfo:
        """Accept the tools as the server describes them now, all or those named.

        Raises:
            ForbiddenError: `by` may use the server and not change it.
            NodeError: `tool_not_found`; as `McpPool.call`.
        """
        async with self._using(name, by, hide=hide) as (resource, target):
            await self._store.resources.writable(resource.id, by=by)
            offered = await self._pool.tools(target)
        chosen = offered.values() if tools is None else [pick(offered, tool, resource.name) for tool in tools]
        await self._accept(resource, chosen, by=by, offered=offered if tools is None else None)
        return await self.connect(name, by=by, hide=hide)

    async def authorize(self, name: str, *, by: Principal, redirect_uri: str) -> str:
        """Begin the authorization of a server by OAuth; gives the address at which a person agrees.

        Raises:
            ForbiddenError: `by` may use the server and not change it.
            NodeError: the server uses no OAuth, or cannot be reached.
        """
        async with self._using(name, by, authorizing=True) as (resource, target):
            await self._store.resources.writable(resource.id, by=by)
        server = target.server
        if not isinstance(server, HttpServer) or server.oauth is None:
            raise NodeError(
                f"the MCP server {name!r} has no `oauth` in its definition", kind="mcp_definition"
            )
        storage = StoredTokens(self._secrets, resource, redirect_uri=redirect_uri)

        async def connect(auth: httpx2.Auth) -> Greeting:
            # In a session of its own: calls, and another consent, do not wait for the person.
            own = replace(target, auth=auth, key=f"{target.key}:{uuid7()}")
            greeting = await self._pool.greeting(own, within=CONSENT_S + CONNECT_S)
            await self._pool.forget(resource.id)  # the next calls begin with the new tokens
            return greeting

        return await self._consents.begin(
            server, storage, connect, redirect_uri=redirect_uri, user_id=by.user_id
        )

    async def authorized(self, *, state: str, code: str, user_id: str, issuer: str | None = None) -> Greeting:
        """A user's browser came back with a code: end the authorization. Raises as `Consents.finish`."""
        return await self._consents.finish(state=state, code=code, user_id=user_id, issuer=issuer)

    async def close(self) -> None:
        """End all sessions and whatever waits for consent."""
        await self._consents.close()
        await self._pool.close()

    async def _accept(
        self,
        resource: Resource,
        tools: Collection[McpTool],
        *,
        by: Principal,
        offered: Mapping[str, McpTool] | None = None,
    ) -> None:
        known = await self._store.mcp_tools.of(resource.id)
        gone = [name for name in known if offered is not None and name not in offered]
        await self._store.mcp_tools.accept(
            resource.id, {tool.name: (tool.hash, tool.as_dict()) for tool in tools}, gone=gone, by=by
        )
        await self._store.audit.record(
            by, "mcp.accept", KIND, resource.id, name=resource.name, org_id=resource.org_id,
            detail={"tools": sorted(tool.name for tool in tools), "gone": gone},
        )  # fmt: skip

    async def call(
        self,
        name: str,
        tool: str,
        arguments: Mapping[str, Any],
        *,
        by: Principal,
        hide: Hide | None = None,
        progress: Progress | None = None,
        depth: int = 0,
    ) -> McpResult:
        """Call a tool with the rights of `by`; every call is audited. `depth` counts the runs that called each other.

        Raises:
            NodeError: `resource_not_found`; `tool_changed` when the server describes the tool otherwise than it was
                accepted; as `McpPool.call`.
        """
        await usable(self._store.resources, KIND, name, by=by)
        async with self._using(name, by, hide=hide) as (resource, target):
            known = await self._held(resource, target, tool, by)
            outcome = "failed"
            try:
                result = await self._pool.call(
                    target, tool, arguments, known=known, progress=progress, depth=depth
                )
                outcome = "error" if result.is_error else "ok"
            finally:
                await self._store.audit.record(
                    by, "mcp.call", KIND, resource.id, name=resource.name, org_id=resource.org_id,
                    detail={"tool": tool, "outcome": outcome},
                )  # fmt: skip
        return result

    async def effects(self, name: str, tool: str, *, by: Principal) -> Effects:
        """What an interrupted call of a tool means: by its hints as they were accepted, where the server is trusted.

        Nothing is connected.

        Raises:
            NodeError: `resource_not_found`.
        """
        resource = await usable(self._store.resources, KIND, name, by=by)
        accepted = (await self._store.mcp_tools.of(resource.id)).get(tool)
        if accepted is None or resource.definition.get("trusted") is not True:
            return "once"
        hints = accepted.definition.get("annotations", {})
        if hints.get("readOnlyHint") is True:
            return "none"
        return "idempotent" if hints.get("idempotentHint") is True else "once"

    async def _held(self, resource: Resource, target: Target, tool: str, by: Principal) -> McpTool:
        """The tool as the server offers it now; it has to be as it was accepted."""
        offered = await self._pool.tools(target)
        accepted = await self._store.mcp_tools.of(resource.id)
        if not accepted:
            await self._accept(resource, offered.values(), by=by)
            return pick(offered, tool, resource.name)
        known = accepted.get(tool)
        now = pick(offered, tool, resource.name)
        if known is None or known.hash != now.hash:
            what = "is new" if known is None else "is described otherwise than it was accepted"
            raise NodeError(
                f"the tool {tool!r} of {resource.name!r} {what}; look at it with "
                f"`interlace mcp tools {resource.name}` and accept it with `interlace mcp accept {resource.name} {tool}`",
                kind="tool_changed",
            )
        return now

    @asynccontextmanager
    async def _using(
        self, name: str, by: Principal, *, hide: Hide | None = None, authorizing: bool = False
    ) -> AsyncIterator[tuple[Resource, Target]]:
        """A server to be used; `hide` is told its secrets, and the tokens that are renewed meanwhile."""
        resource = await self._store.resources.find(KIND, name, by=by)
        if not resource.active:
            raise NodeError(f"the MCP server {resource.name!r} is switched off", kind="mcp_unavailable")
        with self._listeners.hearing(resource.id, hide):
            yield resource, await self._target(resource, by, hide=hide, authorizing=authorizing)

    async def _target(
        self, resource: Resource, by: Principal, *, hide: Hide | None, authorizing: bool
    ) -> Target:
        revealed = await reveal_in(
            resource.definition, secrets=self._secrets, by=by, resource=resource, hide=hide
        )
        server = read_definition(revealed)
        mark = hashlib.sha256(repr(sorted(revealed.items(), key=str)).encode()).hexdigest()[:16]
        auth = None
        if isinstance(server, HttpServer) and server.oauth is not None:
            tokens = StoredTokens(self._secrets, resource, hide=self._listeners.of(resource.id))
            await tokens.tell()
            by_person = server.oauth.grant == "authorization_code"
            if by_person and not authorizing and not await tokens.are_there():
                raise NodeError(
                    f"nobody has authorized the use of the MCP server {resource.name!r} yet; begin it with "
                    f"POST /api/v1/mcp-servers/{resource.name}/authorize",
                    kind="mcp_unauthorized",
                )
            auth = authorization(server, tokens)
        return Target(key=f"{resource.id}:{mark}", name=resource.name, server=server, auth=auth)


def _reach(definition: Mapping[str, Any]) -> tuple[Any, ...]:
    """What says where secrets go: for a program also its variables, one of which may name a server."""
    return *_where(definition), definition.get("environment")


def _where(definition: Mapping[str, Any]) -> tuple[Any, ...]:
    """What of a definition says which program or address it is, and so where its secrets go."""
    issuer = (definition.get("oauth") or {}).get("issuer")
    return *(definition.get(key) for key in ("transport", "url", "catalog", "arguments")), issuer

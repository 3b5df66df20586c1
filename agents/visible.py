"""What a turn may reach: the active resources that its user sees, as short forms, read in a few queries.

Every read goes through the one visibility filter of the store. What is known of a resource stays in memory for as long
as its version stays the same, so that a turn costs one small query a kind and one for all MCP servers' tools, however
many there are.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final

from interlace.engine.document import Effects
from interlace.engine.principal import Principal
from interlace.resources.connectors.definition import READING, REPEATABLE
from interlace.resources.databases.stored import StoredDatabases
from interlace.resources.mcp import McpServers
from interlace.resources.stubs import Stubs
from interlace.store.mcp_tools import AcceptedTool
from interlace.store.resources import Resource, ResourceRepository

PATIENCE_S: Final = 2.0
"""How long a turn waits, for all together, to learn of databases and servers that nobody looked at yet."""
_AT_ONCE: Final = 8
_KEPT: Final = 2000


@dataclass(frozen=True, slots=True)
class ActionStub:
    """An action of a connector, without its schema."""

    name: str
    description: str = ""
    method: str = "GET"
    path: str = ""
    deprecated: bool = False

    @property
    def effects(self) -> Effects:
        """What an interrupted call means."""
        return "none" if self.method in READING else "idempotent" if self.method in REPEATABLE else "once"


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectorStub:
    """An API."""

    id: str
    name: str
    description: str = ""
    version: int = 1
    actions: Mapping[str, ActionStub] = field(default_factory=dict, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class DatabaseStub:
    """A database; `tables` is None while nobody has looked, `fault` says that it cannot be reached."""

    id: str
    name: str
    description: str = ""
    version: int = 1
    dialect: str = "sqlite"
    writes: bool = False
    tables: Sequence[Mapping[str, Any]] | None = None
    fault: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerStub:
    """An MCP server with the tools that were accepted of it; `fault` says that it cannot be reached."""

    id: str
    name: str
    description: str = ""
    version: int = 1
    trusted: bool = False
    hidden: frozenset[str] = frozenset()
    tools: Mapping[str, AcceptedTool] = field(default_factory=dict, repr=False)
    fault: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class BaseStub:
    """A knowledge base."""

    id: str
    name: str
    description: str = ""


class Visible:
    """Reads what is visible. One for a process.

    Args:
        resources: where everything is kept.
        databases: knows tables that somebody looked at.
        servers: knows accepted tools, and which servers could not be reached.
        patience: seconds that a turn waits for what nobody looked at yet.
    """

    def __init__(
        self,
        resources: ResourceRepository,
        databases: StoredDatabases,
        servers: McpServers,
        *,
        patience: float = PATIENCE_S,
    ) -> None:
        self._databases = databases
        self._servers = servers
        self._patience = patience
        self._connector_stubs = Stubs(resources, "connector", _connector)
        self._database_stubs = Stubs(resources, "database", _database)
        self._server_stubs = Stubs(resources, "mcp_server", _server)
        self._base_stubs = Stubs(resources, "knowledge_base", _base)
        self._tools: OrderedDict[str, tuple[dict[str, str], dict[str, AcceptedTool]]] = OrderedDict()
        self._looking: dict[str, asyncio.Task[None]] = {}
        self._faults: dict[str, str] = {}

    async def connectors(self, *, by: Principal) -> list[ConnectorStub]:
        """The APIs that `by` may call, the nearest first."""
        return await self._connector_stubs.visible(by=by)

    async def bases(self, *, by: Principal) -> list[BaseStub]:
        """The knowledge bases that `by` may search."""
        return await self._base_stubs.visible(by=by)

    async def databases(self, *, by: Principal, only: Collection[str] | None = None) -> list[DatabaseStub]:
        """The databases that `by` may ask, all or those of some ids and names, with their tables where they are known.

        Those that nobody looked at are looked at, side by side and for a short time; what takes longer is there in a
        later turn.
        """
        found = await self._database_stubs.visible(by=by)
        if only is not None:
            found = within(found, only)
        unknown = [
            stub
            for stub in found
            if self._databases.known_tables(stub.id, stub.version) is None
            and f"{stub.id}:{stub.version}" not in self._faults
        ]
        await self._look([(f"{stub.id}:{stub.version}", partial(self._tables, stub, by)) for stub in unknown])
        return [self._with_tables(stub) for stub in found]

    async def servers(self, *, by: Principal) -> list[ServerStub]:
        """The MCP servers that `by` may use, with their accepted tools.

        Nothing is connected but servers that nobody looked at, side by side and for a short time.
        """
        found = await self._server_stubs.visible(by=by)
        tools = await self._accepted([stub.id for stub in found])
        unknown = [stub for stub in found if not tools[stub.id] and not self._fault(stub.id)]
        if unknown:
            await self._look([(stub.id, partial(self._connect, stub, by)) for stub in unknown])
            tools |= await self._accepted([stub.id for stub in unknown])
        return [self._with_tools(stub, tools[stub.id]) for stub in found]

    async def close(self) -> None:
        """Stop looking."""
        tasks = list(self._looking.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _with_tables(self, stub: DatabaseStub) -> DatabaseStub:
        tables = self._databases.known_tables(stub.id, stub.version)
        fault = "" if tables is not None else self._faults.get(f"{stub.id}:{stub.version}", "")
        return DatabaseStub(
            id=stub.id, name=stub.name, description=stub.description, version=stub.version, dialect=stub.dialect,
            writes=stub.writes, tables=tables, fault=fault,
        )  # fmt: skip

    def _with_tools(self, stub: ServerStub, tools: Mapping[str, AcceptedTool]) -> ServerStub:
        shown = {name: tool for name, tool in tools.items() if name not in stub.hidden}
        return ServerStub(
            id=stub.id, name=stub.name, description=stub.description, version=stub.version, trusted=stub.trusted,
            hidden=stub.hidden, tools=shown, fault=self._fault(stub.id),
        )  # fmt: skip

    def _fault(self, server_id: str) -> str:
        return self._servers.fault(server_id) or self._faults.get(server_id, "")

    async def _accepted(self, ids: Sequence[str]) -> dict[str, dict[str, AcceptedTool]]:
        """Accepted tools by server: one query for the hashes, one more where something is new."""
        if not ids:
            return {}
        hashes = await self._servers.hashes(ids)
        stale = [key for key in ids if self._tools.get(key, ({},))[0] != hashes[key]]
        for key, tools in (await self._servers.accepted(stale) if stale else {}).items():
            self._tools[key] = ({name: tool.hash for name, tool in tools.items()}, tools)
        found: dict[str, dict[str, AcceptedTool]] = {}
        for key in ids:
            found[key] = self._tools.get(key, ({}, {}))[1]
            if key in self._tools:
                self._tools.move_to_end(key)
        while len(self._tools) > _KEPT:
            self._tools.popitem(last=False)
        return found

    async def _look(self, wanted: Sequence[tuple[str, Callable[[], Awaitable[None]]]]) -> None:
        """Look at some things side by side; those that take too long go on by themselves."""
        room = asyncio.Semaphore(_AT_ONCE)

        async def one(work: Callable[[], Awaitable[None]]) -> None:
            async with room:
                await work()

        for key, work in wanted:
            if key in self._looking:
                continue
            task = self._looking[key] = asyncio.create_task(one(work), name="looking at a resource")
            task.add_done_callback(lambda _, key=key: self._looking.pop(key, None))  # type: ignore[misc]
        tasks = [self._looking[key] for key, _ in wanted if key in self._looking]
        if tasks:
            await asyncio.wait(tasks, timeout=self._patience)

    async def _tables(self, stub: DatabaseStub, by: Principal) -> None:
        key = f"{stub.id}:{stub.version}"
        try:
            await self._databases.tables(stub.id, by=by)
            self._faults.pop(key, None)
        except Exception as error:  # noqa: BLE001 - whatever it is, the turn goes on without this database's tables
            self._note(key, str(getattr(error, "message", error)))

    async def _connect(self, stub: ServerStub, by: Principal) -> None:
        try:
            await self._servers.connect(stub.id, by=by)
        except Exception as error:  # noqa: BLE001 - the stub says that it cannot be reached
            self._note(stub.id, str(getattr(error, "message", error)))

    def _note(self, key: str, message: str) -> None:
        """Remember a fault for a minute."""
        self._faults[key] = message
        asyncio.get_running_loop().call_later(60.0, self._faults.pop, key, None)


def within(stubs: Sequence[Any], wanted: Collection[str]) -> list[Any]:
    """Those of some ids or names; of several of one name the nearest, which comes first."""
    found, named = [], set()
    for stub in stubs:
        if stub.id in wanted or (stub.name in wanted and stub.name not in named):
            found.append(stub)
        named.add(stub.name)
    return found


def _connector(resource: Resource) -> ConnectorStub:
    known = resource.definition
    actions = [
        ActionStub(
            name=str(raw.get("name", "")), description=str(raw.get("description") or ""),
            method=str(raw.get("method") or "GET").upper(), path=str(raw.get("path") or ""),
            deprecated=bool(raw.get("deprecated", False)),
        )
        for raw in known.get("actions") or ()
        if isinstance(raw, Mapping)
    ]  # fmt: skip
    return ConnectorStub(
        id=resource.id, name=resource.name, description=str(known.get("description") or known.get("title") or ""),
        version=resource.version, actions={action.name: action for action in actions},
    )  # fmt: skip


def _database(resource: Resource) -> DatabaseStub:
    known = resource.definition
    return DatabaseStub(
        id=resource.id, name=resource.name, description=str(known.get("description") or ""), version=resource.version,
        dialect=str(known.get("dialect") or "sqlite"), writes=bool(known.get("allow_writes", False)),
    )  # fmt: skip


def _server(resource: Resource) -> ServerStub:
    known = resource.definition
    return ServerStub(
        id=resource.id, name=resource.name, description=str(known.get("description") or ""), version=resource.version,
        trusted=bool(known.get("trusted", False)), hidden=frozenset(known.get("hidden_tools") or ()),
    )  # fmt: skip


def _base(resource: Resource) -> BaseStub:
    known = resource.definition
    return BaseStub(id=resource.id, name=resource.name, description=str(known.get("description") or ""))

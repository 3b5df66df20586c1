"""Sessions with MCP servers, kept between calls: one a server and user's secrets, begun again when it breaks."""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from interlace.engine.errors import NodeError
from interlace.resources.http import HttpClient
from interlace.resources.mcp.catalog import Catalog
from interlace.resources.mcp.connection import CONNECT_S, Connection, Greeting, Progress, SessionLost
from interlace.resources.mcp.definition import HttpServer, McpServer, StdioServer
from interlace.resources.mcp.result import McpResult
from interlace.resources.mcp.stdio import Stderr, command_line, stdio_streams
from interlace.resources.mcp.tools import McpTool, check_arguments, pick

if TYPE_CHECKING:
    import httpx2
    from mcp.client._transport import TransportStreams

    from interlace.resources.mcp.wire import WireTransport

T = TypeVar("T")
IDLE_S = 300.0
_FAULT_S = 60.0
_MOST_FAULTS = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """A server as it is to be reached, its secrets revealed. Targets of one key share a session."""

    key: str
    name: str
    server: McpServer = field(repr=False)
    auth: httpx2.Auth | None = field(default=None, repr=False)


class _Quiet:
    """The remains of a server that is not a program of ours."""

    def __init__(self, transport: WireTransport) -> None:
        self._transport = transport

    @property
    def unauthorized(self) -> bool:
        return self._transport.unauthorized

    def tail(self) -> str:
        return ""


@dataclass(slots=True)
class _Slot:
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    connection: Connection | None = None
    greeting: Greeting | None = None


class McpPool:
    """The sessions of one process.

    Args:
        http: the guarded client.
        catalog: the programs that may be started.
        refused: folders that no program sees: the platform's home.
        idle: seconds without a call after which a session, and its program, is ended.
    """

    def __init__(
        self, http: HttpClient, catalog: Catalog, *, refused: tuple[Path, ...] = (), idle: float = IDLE_S
    ) -> None:
        self.catalog = catalog
        self._http = http
        self._refused = refused
        self._idle = idle
        self._slots: dict[str, _Slot] = {}
        self._faults: OrderedDict[str, tuple[float, str]] = OrderedDict()
        self._sweeper: asyncio.Task[None] | None = None

    async def greeting(self, target: Target, *, within: float | None = None) -> Greeting:
        """Connect, and give what the server says of itself. `within`: as for `Connection.open`.

        Raises:
            NodeError: as `call`.
        """
        slot = await self._connected(target, within=within)
        assert slot.greeting is not None
        return slot.greeting

    async def tools(self, target: Target) -> dict[str, McpTool]:
        """The tools that a server offers now and that are not hidden, by name.

        Raises:
            NodeError: as `call`.
        """
        found = await self._through(target, lambda connection: connection.tools(), repeatable=True)
        hidden = set(target.server.hidden_tools)
        return {name: tool for name, tool in found.items() if name not in hidden}

    async def call(
        self,
        target: Target,
        tool: str,
        arguments: Mapping[str, Any],
        *,
        known: McpTool | None = None,
        progress: Progress | None = None,
        depth: int = 0,
    ) -> McpResult:
        """Call a tool. A session that broke before the server saw the call is begun again, without a word.

        Args:
            target: the server.
            tool: the tool's name.
            arguments: what it is called with.
            known: the tool as the caller has looked at it, so that it is not called by another description; looked up
                here, if None.
            progress: told how far the call is.
            depth: how many runs called each other.

        Raises:
            NodeError: `tool_not_found`, `bad_arguments`; `connection` when the server cannot be reached or ended in
                mid-call (only then the outcome is unknown), with the last lines of its standard error; `timeout`,
                `mcp_error`, `mcp_definition`, `mcp_unavailable`; `blocked_address` from the guard.
        """
        known = known or pick(await self.tools(target), tool, target.name)
        check_arguments(known, arguments)
        repeatable = target.server.trusted and (known.hint("readOnlyHint") or known.hint("idempotentHint"))
        return await self._through(
            target,
            lambda connection: connection.call(
                tool, arguments, repeatable=repeatable, progress=progress, depth=depth
            ),
            repeatable=repeatable,
        )

    async def _through(
        self, target: Target, use: Callable[[Connection], Awaitable[T]], *, repeatable: bool
    ) -> T:
        """Use a session; once more with a new one where the old one broke and nothing is done twice."""
        slot, connection = await self._session(target)
        if not await connection.answers():
            await self._drop(slot, connection)
            slot, connection = await self._session(target)
        try:
            return await use(connection)
        except SessionLost as lost:
            await self._drop(slot, connection)
            if lost.sent and not repeatable:
                raise
        slot, connection = await self._session(target)
        try:
            return await use(connection)
        except SessionLost:
            await self._drop(slot, connection)
            raise

    async def _session(self, target: Target) -> tuple[_Slot, Connection]:
        """The session in use now; another caller may put a new one in its place at any time."""
        slot = await self._connected(target)
        if slot.connection is None:
            raise SessionLost(f"the session with the MCP server {target.name!r} was just ended", sent=False)
        return slot, slot.connection

    async def _connected(self, target: Target, *, within: float | None = None) -> _Slot:
        slot = self._slots.setdefault(target.key, _Slot())
        async with slot.lock:
            if slot.connection is None or slot.connection.ended:
                if slot.connection is not None:
                    await slot.connection.close()
                slot.connection = self._connection(target)
                try:
                    slot.greeting = await slot.connection.open(within=within)
                except BaseException as error:
                    slot.connection = None
                    if isinstance(error, NodeError):
                        self._note_fault(target.key, error.message)
                    raise
                self._faults.pop(target.key, None)
            self._watch()
        return slot

    def _connection(self, target: Target) -> Connection:
        server = target.server
        if isinstance(server, StdioServer):
            return self._program(target, server)
        return self._remote(target, server)

    def _program(self, target: Target, server: StdioServer) -> Connection:
        entry = self.catalog.entry(server.catalog)
        unknown = sorted(set(server.environment) - set(entry.environment))
        if unknown:
            raise NodeError(
                f"the catalogue's entry {server.catalog!r} takes no variable {unknown[0]!r}",
                kind="mcp_definition",
            )
        command = command_line(entry, server.arguments, self._refused)
        errors = Stderr()
        environment = {name: str(value) for name, value in server.environment.items()}

        @asynccontextmanager
        async def streams() -> AsyncIterator[TransportStreams]:
            try:
                async with stdio_streams(command, environment, errors) as opened:
                    connection.ends_with(errors.started())
                    yield opened
            finally:
                errors.close()

        connection = Connection(target.name, streams, errors, timeout=server.timeout)
        return connection

    def _remote(self, target: Target, server: HttpServer) -> Connection:
        import httpx2  # noqa: PLC0415 - slow to import

        from interlace.resources.mcp.wire import WireTransport  # noqa: PLC0415

        transport = WireTransport(self._http)
        own = {name: str(value) for name, value in server.headers.items()}

        def client(
            headers: dict[str, str] | None = None,
            timeout: httpx2.Timeout | None = None,
            auth: httpx2.Auth | None = None,
        ) -> httpx2.AsyncClient:
            return httpx2.AsyncClient(
                transport=transport,
                trust_env=False,
                headers={**(headers or {}), **own},
                auth=auth or target.auth,
                timeout=timeout or httpx2.Timeout(CONNECT_S, read=server.timeout),
            )

        @asynccontextmanager
        async def streams() -> AsyncIterator[TransportStreams]:
            if server.transport == "sse":
                from mcp.client.sse import sse_client  # noqa: PLC0415 - slow to import

                async with sse_client(
                    server.url, httpx_client_factory=client, sse_read_timeout=server.timeout
                ) as opened:
                    yield opened
                return
            from mcp.client.streamable_http import streamable_http_client  # noqa: PLC0415

            async with client() as made, streamable_http_client(server.url, http_client=made) as opened:
                yield opened

        return Connection(target.name, streams, _Quiet(transport), timeout=server.timeout)

    def connected(self, key: str) -> bool:
        """Whether a session is open."""
        slot = self._slots.get(key)
        return slot is not None and slot.connection is not None and not slot.connection.ended

    def fault(self, prefix: str) -> str | None:
        """Why the server whose key begins so could not be reached, where that was within the last minute."""
        now = time.monotonic()
        for key, (at, message) in self._faults.items():
            if key.startswith(prefix) and now - at < _FAULT_S:
                return message
        return None

    def _note_fault(self, key: str, message: str) -> None:
        self._faults[key] = (time.monotonic(), message)
        self._faults.move_to_end(key)
        while len(self._faults) > _MOST_FAULTS:
            self._faults.popitem(last=False)

    async def _drop(self, slot: _Slot, connection: Connection | None) -> None:
        async with slot.lock:
            if connection is not None and slot.connection is connection:
                slot.connection = None
        if connection is not None:
            await connection.close()

    async def forget(self, prefix: str) -> None:
        """End the sessions whose keys begin so: of a server that was changed or removed."""
        for key in [key for key in self._slots if key.startswith(prefix)]:
            slot = self._slots.pop(key)
            if slot.connection is not None:
                await slot.connection.close()

    def _watch(self) -> None:
        if self._sweeper is None or self._sweeper.done():
            self._sweeper = asyncio.create_task(self._sweep(), name="mcp idle")

    async def _sweep(self) -> None:
        """End what nobody uses; ends itself when nothing is left."""
        while self._slots:
            await asyncio.sleep(min(self._idle, 30.0))
            for key, slot in list(self._slots.items()):
                connection = slot.connection
                if slot.lock.locked() or (connection is not None and connection.busy):
                    continue
                if connection is None or time.monotonic() - connection.used_at > self._idle:
                    del self._slots[key]
                    if connection is not None:
                        await connection.close()

    async def close(self) -> None:
        """End all sessions and programs."""
        if self._sweeper is not None:
            self._sweeper.cancel()
        connections = [slot.connection for slot in self._slots.values() if slot.connection is not None]
        self._slots.clear()
        await asyncio.gather(*(connection.close() for connection in connections))

"""One session with an MCP server, held by a task of its own; any task may call through it."""

from __future__ import annotations

import asyncio
import contextlib
import importlib
import time
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from interlace import __version__
from interlace.engine.errors import NodeError
from interlace.resources.mcp.result import McpResult, plain
from interlace.resources.mcp.tools import McpTool, tool_of

if TYPE_CHECKING:
    from mcp import Client, MCPError
    from mcp.client._transport import TransportStreams

CONNECT_S = 30.0
WIRE_FAULT = -32_050
"""Code of the errors that `wire` puts in place of an answer; their data is {kind, sent}."""
DEPTH = "interlace/depth"
"""In the `_meta` of a call: how many runs called each other until it; over HTTP a header says the same."""
_FRESH_S = 60.0
_TIMED_OUT = -32_001
_CLOSED = -32_000
_CLOSED_WORDS = "Connection closed"
"""With it the SDK itself says that the streams ended; a server may use the same code for errors of its own."""
_GONE = "Session terminated"
_MOST_TOOLS = 5000
_LIST_S = 120.0
_ALIVE_S = 3.0


class Progress(Protocol):
    """Hears how far a call is."""

    async def __call__(self, progress: float, total: float | None, message: str | None) -> None:
        """What is done, the total if known, and a message."""
        ...


class Remains(Protocol):
    """What can be told of a server when a session with it breaks."""

    def tail(self) -> str:
        """Its last words on standard error; empty where there are none."""
        ...

    @property
    def unauthorized(self) -> bool:
        """Whether it asked for authorization."""
        ...


class SessionLost(NodeError):  # noqa: N818 - reads as what happened
    """The session is over.

    Args:
        message: for people.
        sent: whether the server can have seen the request.
    """

    def __init__(self, message: str, *, sent: bool) -> None:
        super().__init__(message, kind="connection", outcome_known=not sent)
        self.sent = sent


@dataclass(frozen=True, slots=True, kw_only=True)
class Greeting:
    """What a server says of itself when a session begins."""

    protocol: str
    name: str = ""
    version: str = ""
    instructions: str = ""


@dataclass(slots=True)
class _Listed:
    tools: dict[str, McpTool] = field(default_factory=dict)
    until: float = 0.0


class Connection:
    """A session.

    Args:
        name: the server's name, for messages.
        streams: opens the transport.
        remains: what is left to tell when it breaks.
        timeout: seconds without a word after which a call ends.
    """

    def __init__(
        self,
        name: str,
        streams: Callable[[], AbstractAsyncContextManager[TransportStreams]],
        remains: Remains,
        *,
        timeout: float,
    ) -> None:
        self._name = name
        self._streams = streams
        self._remains = remains
        self._timeout = timeout
        self._stop = asyncio.Event()
        self._ready: asyncio.Future[Client] = asyncio.get_running_loop().create_future()
        self._listed = _Listed()
        self._listing = asyncio.Lock()
        self._task: asyncio.Task[None] | None = None
        self._program: asyncio.Task[None] | None = None
        self.ended = False
        """Whether no call can go through it any more."""
        self.used_at = time.monotonic()
        self.busy = 0
        """Calls under way."""
        self._doubted = False
        """Whether it let a call wait in vain and has said nothing since."""

    def ends_with(self, program: asyncio.Event) -> None:
        """The session is over as soon as the program is."""
        self._program = asyncio.create_task(self._await_end(program), name=f"mcp {self._name} ends")

    async def _await_end(self, program: asyncio.Event) -> None:
        await program.wait()
        self.ended = True

    async def open(self, *, within: float | None = None) -> Greeting:
        """Begin the session. `within` is how many seconds that may take, where a person has to agree first.

        Raises:
            SessionLost: the server cannot be reached, ended at once, or speaks something else.
        """
        self._task = asyncio.create_task(self._hold(), name=f"mcp {self._name}")
        limit = CONNECT_S if within is None else within
        try:
            async with asyncio.timeout(limit):
                client = await asyncio.shield(self._ready)
        except TimeoutError as error:
            lost = SessionLost(self._told(f"did not answer within {limit:g} s"), sent=False)
            await self.close()
            raise lost from error
        except BaseException:
            await self.close()
            raise
        info = client.server_info
        return Greeting(
            protocol=client.protocol_version,
            name=info.name if info else "",
            version=info.version if info else "",
            instructions=client.instructions or "",
        )

    async def _hold(self) -> None:
        """Enter and leave the session in one task, as its cancel scopes want it."""

        async def note(message: Any) -> None:
            root = getattr(message, "root", message)
            if getattr(root, "method", "") == "notifications/tools/list_changed":
                self._listed.until = 0.0

        try:
            await asyncio.to_thread(importlib.import_module, "mcp")  # takes a second, the first time
            from mcp import Client  # noqa: PLC0415
            from mcp.types import Implementation  # noqa: PLC0415

            async with (
                Client(
                    self._streams(),
                    read_timeout_seconds=self._timeout,
                    message_handler=note,
                    client_info=Implementation(name="interlace", version=__version__),
                ) as client,
                _changes(client, self._listed),
            ):
                if not self._ready.done():
                    self._ready.set_result(client)
                await self._stop.wait()
        except Exception as error:  # noqa: BLE001 - whatever a server does ends this session, not the process
            if not self._ready.done():
                self._ready.set_exception(self._refused(error))
                self._ready.exception()  # read, in case nobody waits any more
        finally:
            self.ended = True
            if self._program is not None:
                self._program.cancel()
            if not self._ready.done():
                # An error and no cancellation: whoever waits was not cancelled.
                self._ready.set_exception(
                    SessionLost(self._told("was let go while it was begun"), sent=False)
                )
                self._ready.exception()

    def _refused(self, error: BaseException) -> SessionLost:
        inner = _innermost(error)
        if type(inner).__name__ == "OAuthFlowError":
            return SessionLost(self._told(f"has to be authorized again: {inner}"), sent=False)
        if self._remains.unauthorized:
            return SessionLost(
                self._told("wants authorization (401); set a header with a token, or authorize by OAuth"),
                sent=False,
            )
        return SessionLost(
            self._told(f"could not be connected: {str(inner) or type(inner).__name__}"), sent=False
        )

    def _told(self, what: str) -> str:
        words = self._remains.tail()
        return f"the MCP server {self._name!r} {what}" + (
            f"; its standard error ends with:\n{words}" if words else ""
        )

    async def tools(self) -> dict[str, McpTool]:
        """The tools it offers now, by name; asked again when it says that they changed, and every minute.

        Raises:
            NodeError: as `call`.
        """
        async with self._listing:
            if time.monotonic() < self._listed.until:
                return self._listed.tools
            client = await self._client()
            self._listed.until = time.monotonic() + _FRESH_S  # a change that is told meanwhile sets it back
            try:
                with self._faults("list its tools", repeatable=True):
                    self._listed.tools = await self._all_tools(client)
            except BaseException:
                self._listed.until = 0.0
                raise
            return self._listed.tools

    async def _all_tools(self, client: Client) -> dict[str, McpTool]:
        found: dict[str, McpTool] = {}
        cursor: str | None = None
        seen: set[str] = set()
        try:
            async with asyncio.timeout(_LIST_S):
                while len(found) <= _MOST_TOOLS:
                    listed = await client.list_tools(cursor=cursor)
                    found |= {tool.name: tool_of(tool) for tool in listed.tools}
                    cursor = listed.next_cursor
                    if not cursor:
                        break
                    if cursor in seen or not listed.tools:
                        text = "gives a page of its tools that leads to itself, or to nothing"
                        raise NodeError(
                            f"the MCP server {self._name!r} {text}", kind="mcp_error", retryable=False
                        )
                    seen.add(cursor)
        except TimeoutError:
            text = f"the MCP server {self._name!r} did not come to the end of its tools in {_LIST_S:g} s"
            raise NodeError(text, kind="timeout") from None
        return found

    async def answers(self) -> bool:
        """Whether it can be asked: one that let a call wait in vain has to say something first."""
        if not self._doubted or self.busy or self.ended:
            return True
        try:
            async with asyncio.timeout(_ALIVE_S):
                await (await self._client()).list_tools()
        except Exception:  # noqa: BLE001 - whatever it is, the session is of no use
            return False
        self._doubted = False
        return True

    async def call(
        self, tool: str, arguments: Mapping[str, Any], *, repeatable: bool, progress: Progress | None = None,
        depth: int = 0,
    ) -> McpResult:  # fmt: skip
        """Call a tool; cancelling the call tells the server. `depth` counts the runs that called each other so far.

        Raises:
            SessionLost: the session ended before or during the call.
            NodeError: `timeout`, `mcp_error` for an error of the protocol.
        """
        client = await self._client()
        self.busy += 1
        try:
            with self._faults(f"call {tool!r}", repeatable=repeatable):
                meta: Any = {DEPTH: depth} if depth else None
                return plain(
                    await client.call_tool(tool, dict(arguments), progress_callback=progress, meta=meta)
                )
        except asyncio.CancelledError:
            self._doubted = True  # it is told, and may not listen
            raise
        finally:
            self.busy -= 1
            self.used_at = time.monotonic()

    async def _client(self) -> Client:
        self.used_at = time.monotonic()
        if self.ended or not self._ready.done():
            raise SessionLost(self._told("ended its session"), sent=False)
        return self._ready.result()

    @contextlib.contextmanager
    def _faults(self, what: str, *, repeatable: bool) -> Iterator[None]:
        from mcp import MCPError  # noqa: PLC0415
        from pydantic import ValidationError  # noqa: PLC0415

        try:
            yield
        except MCPError as error:
            raise self._translated(error, what, repeatable=repeatable) from error
        except ValidationError as error:
            raise NodeError(
                f"the MCP server {self._name!r} gave an answer that is not one of the protocol: {error.errors()[0]['msg']}",
                kind="mcp_error",
            ) from error

    def _translated(self, error: MCPError, what: str, *, repeatable: bool) -> NodeError:
        name = f"the MCP server {self._name!r}"
        if error.code == WIRE_FAULT:
            return self._wire_fault(error, repeatable=repeatable)
        if (error.code == _CLOSED and error.message == _CLOSED_WORDS) or error.message == _GONE:
            self.ended = True
            if error.message == _GONE:
                return SessionLost(self._told("does not know the session any more"), sent=False)
            return SessionLost(self._told(f"ended while it had to {what}"), sent=True)
        if error.code == _TIMED_OUT:
            self._doubted = True
            text = f"{name} said nothing for {self._timeout:g} s when asked to {what}"
            return NodeError(text, kind="timeout", outcome_known=repeatable)
        if self._remains.unauthorized:
            return NodeError(self._told("wants authorization (401)"), kind="mcp_unauthorized")
        return NodeError(f"{name} refused to {what}: {error.message}", kind="mcp_error")

    def _wire_fault(self, error: MCPError, *, repeatable: bool) -> NodeError:
        data = error.data if isinstance(error.data, dict) else {}
        kind, sent = str(data.get("kind")), bool(data.get("sent"))
        if kind == "connection":
            return SessionLost(self._told(f"cannot be reached: {error.message}"), sent=sent)
        return NodeError(
            f"the MCP server {self._name!r}: {error.message}", kind=kind, outcome_known=repeatable or not sent
        )

    async def close(self) -> None:
        """End the session, and the program if it is one."""
        self.ended = True
        self._stop.set()
        if self._task is None:
            return
        if not self._ready.done():
            self._task.cancel()
        try:
            await asyncio.wait([self._task], timeout=10.0)
        finally:
            if not self._task.done():
                self._task.cancel()


@contextlib.asynccontextmanager
async def _changes(client: Client, listed: _Listed) -> AsyncIterator[None]:
    """Hear of changed tools where the protocol has a subscription for it; others send a notification."""
    from mcp_types.version import MODERN_PROTOCOL_VERSIONS  # noqa: PLC0415

    capabilities = client.server_capabilities.tools
    if client.protocol_version not in MODERN_PROTOCOL_VERSIONS or not (
        capabilities and capabilities.list_changed
    ):
        yield
        return

    async def listen() -> None:
        with contextlib.suppress(Exception):  # a server without the subscription is asked every minute
            async with client.listen(tools_list_changed=True) as subscription:
                async for _ in subscription:
                    listed.until = 0.0

    task = asyncio.create_task(listen(), name="mcp changes")
    try:
        yield
    finally:
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task


def _innermost(error: BaseException) -> BaseException:
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error

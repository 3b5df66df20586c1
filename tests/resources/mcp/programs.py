"""Programs, ports and pools for the tests of MCP."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

from interlace.resources.http import AllowList, HttpClient
from interlace.resources.mcp import Catalog, McpPool
from interlace.resources.mcp.catalog import Argument, Entry
from interlace.resources.mcp.definition import StdioServer
from interlace.resources.mcp.pool import Target

SERVER = Path(__file__).with_name("server.py")
DEADLINE = 60.0


def entry(**changes: object) -> Entry:
    """The test server as an entry of a catalogue."""
    values: dict[str, object] = {
        "command": [sys.executable, str(SERVER), "{mode}"],
        "arguments": {"mode": Argument(choices=["stdio"], default="stdio")},
        "environment": ["SHOP_TOKEN", "SHOP_DESCRIPTION", "SHOP_DONE", "SHOP_SECRET_FILE"],
        "read": [SERVER.parent],
    }
    return Entry.model_validate(values | changes)


def target(key: str = "one", **environment: str) -> Target:
    """The test server as a program."""
    server = StdioServer(transport="stdio", catalog="shop", environment=dict(environment))
    return Target(key=key, name="shop", server=server)


@asynccontextmanager
async def pool(
    catalog: Catalog | None = None, *, refused: tuple[Path, ...] = (), idle: float = 300.0
) -> AsyncIterator[McpPool]:
    """A pool with the test server in its catalogue."""
    http = HttpClient(allow=AllowList.parse(["127.0.0.0/8"]))
    made = McpPool(http, catalog or Catalog(servers={"shop": entry()}), refused=refused, idle=idle)
    try:
        yield made
    finally:
        await made.close()
        await http.close()


class HttpProgram:
    """The test server over HTTP, on a port of its own, which can be killed and started again."""

    def __init__(self, *options: str, script: str = SERVER.name) -> None:
        self._script = SERVER.with_name(script)
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port = free.getsockname()[1]
        self._options = options
        self._process: asyncio.subprocess.Process | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/mcp"

    async def start(self) -> None:
        self._process = await asyncio.create_subprocess_exec(
            sys.executable, str(self._script), str(self.port), *self._options,
            stdout=asyncio.subprocess.DEVNULL, stderr=asyncio.subprocess.DEVNULL,
        )  # fmt: skip
        async with asyncio.timeout(DEADLINE):
            while True:
                try:
                    _, writer = await asyncio.open_connection("127.0.0.1", self.port)
                except OSError:
                    await asyncio.sleep(0.05)
                    continue
                writer.close()
                return

    async def kill(self) -> None:
        if self._process is not None and self._process.returncode is None:
            self._process.send_signal(signal.SIGKILL)
            await self._process.wait()


def children() -> set[int]:
    """The processes that this one started and that still live."""
    found = set()
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                stat = (folder / "stat").read_text().rsplit(")", 1)[1].split()
            except OSError:
                continue
            if int(stat[1]) == os.getpid() and stat[0] != "Z":
                found.add(int(folder.name))
    return found


async def until(condition: Callable[[], bool]) -> None:
    """Wait for something that nothing tells."""
    async with asyncio.timeout(DEADLINE):
        while not condition():  # noqa: ASYNC110 - other processes set no events
            await asyncio.sleep(0.02)

"""A real MCP server for tests: `python server.py stdio`, or `python server.py PORT [json]`."""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path

from mcp.server import MCPServer
from mcp.server.mcpserver import Context
from mcp.types import ToolAnnotations

server = MCPServer("shop", version="1.2", instructions="Sells tea.")
DESCRIPTION = os.environ.get("SHOP_DESCRIPTION", "Add two numbers.")


@server.tool(description=DESCRIPTION, annotations=ToolAnnotations(read_only_hint=True))
def add(a: int, b: int) -> int:
    return a + b


@server.tool()
def die(code: int) -> str:
    """End the server in the middle of the call."""
    os.write(2, b"disk on fire, bailing out\n")
    os._exit(code)


@server.tool()
async def slow(seconds: float, context: Context) -> str:
    """Take a while, and say so."""
    for step in range(4):
        await context.report_progress(step, 4, f"step {step}")
        await asyncio.sleep(seconds / 4)
    Path(os.environ.get("SHOP_DONE", os.devnull)).write_text("done")  # noqa: ASYNC240
    return "done"


@server.tool()
def create_issue(title: str) -> dict[str, str]:
    """Open an issue."""
    return {"title": title, "number": "1"}


@server.tool()
def fail(reason: str) -> str:
    """Fail."""
    raise ValueError(reason)


@server.tool()
def look() -> dict[str, str]:
    """What the server sees of this machine."""
    token = os.environ.get("SHOP_TOKEN", "")
    asked = os.environ.get("SHOP_SECRET_FILE", "").split(":")
    seen = ",".join(name for name in asked if Path(name).exists())
    return {"token": token, "pid": str(os.getpid()), "home": os.environ.get("HOME", ""), "seen": seen}


if sys.argv[1] == "stdio":
    server.run("stdio")
else:
    server.run("streamable-http", port=int(sys.argv[1]), json_response=len(sys.argv) > 2)

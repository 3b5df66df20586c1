"""The tools of an MCP server, as a file that `bench.agents.tokens` reads: `python -m bench.agents.dump FILE.json COMMAND …`.

The command is started as it stands, with the environment of this process; it is ended after its list of tools was read.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from pathlib import Path


async def dump(file: Path, command: list[str]) -> int:
    """Start a server, write its tools, end it; gives how many there are."""
    from mcp import Client, StdioServerParameters  # noqa: PLC0415 - slow to import

    from interlace.resources.mcp.tools import tool_of  # noqa: PLC0415

    program = StdioServerParameters(command=command[0], args=command[1:], env=dict(os.environ))
    tools = []
    async with Client(program) as client:
        cursor = None
        while True:
            page = await client.list_tools(cursor=cursor)
            tools += [tool_of(tool).as_dict() for tool in page.tools]
            cursor = page.next_cursor
            if not cursor:
                break
    await asyncio.to_thread(file.write_text, json.dumps(tools, ensure_ascii=False), "utf-8")
    return len(tools)


def main() -> None:
    """Write the file."""
    if len(sys.argv) < 3:
        raise SystemExit(__doc__)
    count = asyncio.run(dump(Path(sys.argv[1]), sys.argv[2:]))
    print(f"{count} tools")


if __name__ == "__main__":
    main()

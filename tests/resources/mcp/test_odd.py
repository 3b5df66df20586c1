"""Servers that answer strangely, late or without end hold up nobody for long."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import pytest
from tests.resources.mcp.programs import children, entry, pool

from interlace.engine.errors import NodeError
from interlace.resources.mcp import Catalog
from interlace.resources.mcp.definition import StdioServer
from interlace.resources.mcp.pool import Target

pytestmark = [pytest.mark.asyncio, pytest.mark.timeout(120)]
CATALOG = Catalog(
    servers={"odd": entry(command=[sys.executable, str(Path(__file__).with_name("odd.py"))], arguments={})}
)


def odd(**changes: object) -> Target:
    definition = {"transport": "stdio", "catalog": "odd", **changes}
    return Target(key="odd", name="odd", server=StdioServer.model_validate(definition))


async def test_an_error_of_the_servers_own_is_not_its_end() -> None:
    async with pool(CATALOG) as mcp:
        with pytest.raises(NodeError, match="out of tea") as caught:
            await mcp.call(odd(), "own", {})
        assert caught.value.kind == "mcp_error"
        assert mcp.connected("odd")
        assert (await mcp.call(odd(), "echo", {})).text == "echo"


async def test_the_call_after_one_that_timed_out_works_though_the_program_still_sleeps() -> None:
    async with pool(CATALOG) as mcp:
        await mcp.call(odd(timeout=1.5), "echo", {})
        before = children()
        with pytest.raises(NodeError) as caught:
            await mcp.call(odd(timeout=1.5), "block", {})
        assert caught.value.kind == "timeout"
        began = time.monotonic()
        assert (await mcp.call(odd(timeout=1.5), "echo", {})).text == "echo"
        assert time.monotonic() - began < 40, "nobody waits until it wakes"
        assert children() != before, "it is another program"


@pytest.mark.parametrize("how", ["same", "empty"])
async def test_pages_without_end_are_an_error(how: str) -> None:
    async with pool(CATALOG) as mcp:
        endless = odd(environment={"SHOP_DESCRIPTION": how})
        for _ in range(2):
            with pytest.raises(NodeError, match="leads to itself, or to nothing"):
                await mcp.tools(endless)

"""The test server over HTTP, in both forms of its answers."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
from tests.resources.mcp.programs import HttpProgram


@pytest.fixture(params=["event stream", "json"])
async def program(request: pytest.FixtureRequest) -> AsyncIterator[HttpProgram]:
    made = HttpProgram(*(["json"] if request.param == "json" else []))
    await made.start()
    yield made
    await made.kill()

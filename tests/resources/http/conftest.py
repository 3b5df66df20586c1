from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from interlace.resources.http import AllowList, HttpClient

LOOPBACK = AllowList.parse("127.0.0.0/8, ::1, localhost")


@pytest.fixture
async def client() -> AsyncIterator[HttpClient]:
    client = HttpClient(allow=LOOPBACK, max_body=1_000_000)
    yield client
    await client.close()

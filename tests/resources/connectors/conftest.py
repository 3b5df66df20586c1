from __future__ import annotations

import hashlib
from collections.abc import AsyncIterator
from typing import Any

import pytest

from interlace.engine.principal import LOCAL, Principal
from interlace.engine.protocols import FileValue
from interlace.resources.connectors.adapter import Access, Adapter, Options
from interlace.resources.connectors.breaker import Breaker, MemoryBreakers
from interlace.resources.connectors.definition import Connector
from interlace.resources.connectors.loaded import Loaded
from interlace.resources.connectors.result import CallRecord, ConnectorResult
from interlace.resources.http import AllowList, HttpClient


class Shelf:
    """Files in memory. Implements `Files`."""

    def __init__(self) -> None:
        self.content: dict[str, bytes] = {}

    async def save(self, content: bytes, *, name: str, media_type: str) -> FileValue:
        digest = hashlib.sha256(content).hexdigest()
        self.content[digest] = content
        return FileValue(name=name, media_type=media_type, size=len(content), sha256=digest, ref=digest)

    async def load(self, ref: str) -> bytes:
        return self.content[ref]


class Bench:
    """The adapter over a real client, with what it wrote down; time is the bench's own."""

    def __init__(self, http: HttpClient) -> None:
        self.http = http
        self.shelf = Shelf()
        self.records: list[CallRecord] = []
        self.slept: list[float] = []
        self.now = 1000.0
        self.adapter = Adapter(
            http, Breaker(MemoryBreakers(), lambda: self.now), self._record, sleep=self._sleep
        )

    async def _record(self, by: Principal, record: CallRecord) -> None:
        assert by == LOCAL
        self.records.append(record)

    async def _sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds

    async def call(
        self,
        connector: Connector | Loaded,
        action: str,
        access: Access | None = None,
        options: Options | None = None,
        **parameters: Any,
    ) -> ConnectorResult:
        loaded = connector if isinstance(connector, Loaded) else Loaded(connector, "c1")
        options = options or Options(files=self.shelf)
        return await self.adapter.call(loaded, action, parameters, by=LOCAL, access=access, options=options)


@pytest.fixture
async def bench() -> AsyncIterator[Bench]:
    client = HttpClient(allow=AllowList.parse("127.0.0.0/8"), max_body=5_000_000)
    yield Bench(client)
    await client.close()

from __future__ import annotations

import hashlib
from collections.abc import AsyncIterator, Mapping
from typing import Any

import pytest

import interlace.nodes.end
import interlace.nodes.http
import interlace.nodes.start
from interlace.engine.protocols import Files, FileValue, Services
from interlace.engine.registry import Registry
from interlace.engine.run import RunResult
from interlace.engine.testing import edges, run_document
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
    """Runs START → HTTP → END with a real client."""

    def __init__(self, client: HttpClient) -> None:
        self.client = client
        self.shelf = Shelf()
        self.registry = Registry()
        for module in (interlace.nodes.start, interlace.nodes.http, interlace.nodes.end):
            self.registry.add_module(module)

    async def run(
        self, config: Mapping[str, Any], inputs: Mapping[str, Any] | None = None, **node: Any
    ) -> RunResult:
        document = {
            "name": "t",
            "nodes": [
                {"id": "start", "type": "START"},
                {"id": "call", "type": "HTTP", "config": dict(config), **node},
                {"id": "end", "type": "END", "config": {"outputs": {"call": "{{ call }}"}}},
            ],
            "edges": edges("start -> call", "call -> end"),
        }
        services = Services({HttpClient: self.client, Files: self.shelf})
        return await run_document(document, inputs, registry=self.registry, services=services)

    async def outputs(
        self, config: Mapping[str, Any], inputs: Mapping[str, Any] | None = None
    ) -> dict[str, Any]:
        result = await self.run(config, inputs)
        assert result.status == "succeeded", result.error
        found: dict[str, Any] = result.outputs["call"]
        return found

    async def error(
        self, config: Mapping[str, Any], inputs: Mapping[str, Any] | None = None
    ) -> dict[str, Any]:
        result = await self.run(config, inputs)
        assert result.status == "failed"
        assert result.error is not None
        return dict(result.error)


@pytest.fixture
async def bench() -> AsyncIterator[Bench]:
    client = HttpClient(allow=AllowList.parse("127.0.0.0/8"), max_body=1_000_000)
    yield Bench(client)
    await client.close()

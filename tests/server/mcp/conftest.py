"""One server for all tests of a module, with published workflows, and clients of the official package."""

from __future__ import annotations

import contextlib
import os
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any

import httpx2
import pytest
import pytest_asyncio
from fastapi import FastAPI
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from interlace.flows.platform import Platform
from interlace.flows.settings import Settings
from tests.server.served import served

MODERN, LEGACY = "2026-07-28", "2025-11-25"


def flow(name: str, nodes: str, edges: str, inputs: str = "", more: str = "") -> str:
    properties = f", properties: {{{inputs}}}, required: [{inputs.partition(':')[0]}]" if inputs else ""
    return f"name: {name}\ninputs: {{type: object{properties}}}\n{more}\nnodes:\n  - {{id: start, type: START}}\n{nodes}\nedges: [{edges}]\n"


FLOWS = [
    flow(
        "greet", '  - {id: done, type: END, config: {outputs: {text: "Hello, {{ inputs.name }}!"}}}', "start -> done",
        "name: {type: string}", "description: Greets somebody.",
    ),
    flow(
        "Two numbers", '  - {id: done, type: END, config: {outputs: {sum: "{{ inputs.a + 1 }}", a: "{{ inputs.a }}"}}}',
        "start -> done", "a: {type: integer, minimum: 0}",
    ),
    flow("挨拶", "  - {id: done, type: END, config: {outputs: {text: x}}}", "start -> done"),
    flow(
        "failing", '  - {id: bad, type: VARIABLE_ASSIGN, config: {assignments: [{variable: n, op: set, value: "{{ inputs.text | int }}"}]}}\n'
        '  - {id: done, type: END, config: {outputs: {n: "{{ vars.n }}"}}}', "start -> bad, bad -> done",
        "text: {type: string}", "variables: {n: {type: integer, default: 0}}",
    ),
    flow(
        "approve", '  - {id: ask, type: HUMAN, config: {title: "Pay {{ inputs.amount }}?", actions: [approve, reject], form:'
        " {type: object, properties: {note: {type: string}, days: {type: integer, maximum: 9}, tags: {type: array}}, required: [note]}}}\n"
        '  - {id: done, type: END, config: {outputs: {action: "{{ ask.action }}", form: "{{ ask.form }}"}}}',
        "start -> ask, ask.approve -> done, ask.reject -> done, ask.timeout -> done", "amount: {type: number}",
    ),
    flow(
        "for somebody else", '  - {id: ask, type: HUMAN, config: {title: "OK?", actions: [ok], assignees: [carol]}}\n'
        '  - {id: done, type: END, config: {outputs: {action: "{{ ask.action }}"}}}', "start -> ask, ask.ok -> done, ask.timeout -> done",
    ),
    *(
        flow(
            name, f"  - {{id: first, type: TEMPLATE, config: {{template: x}}}}\n  - {{id: rest, type: TEMPLATE, wait: {{for: {time}}}, config: {{template: done}}}}\n"
            '  - {id: done, type: END, config: {outputs: {text: "{{ rest.text }}"}}}', "start -> first, first -> rest, rest -> done",
        )
        for name, time in (("slow", "700ms"), ("endless", "1h"))
    ),
]  # fmt: skip


@dataclass(frozen=True)
class World:
    """A server and what its clients need."""

    app: FastAPI
    url: str
    key: str

    @property
    def platform(self) -> Platform:
        found: Platform = self.app.state.platform
        return found

    @contextlib.asynccontextmanager
    async def client(
        self, era: str, *, key: str | None = None, headers: Any = None, **more: Any
    ) -> AsyncIterator[Client]:
        """A client of an era, by the SDK's own transport."""
        given = {"authorization": f"Bearer {key or self.key}", **(headers or {})}
        async with httpx2.AsyncClient(headers=given, timeout=30, trust_env=False) as http:
            transport = streamable_http_client(f"{self.url}/mcp", http_client=http)
            mode: Any = "auto" if era == MODERN else "legacy"
            async with Client(transport, mode=mode, read_timeout_seconds=30, **more) as client:
                assert client.protocol_version == era
                yield client


@pytest.fixture(autouse=True)
def _no_settings() -> None:
    """Replaces the one that empties the environment for each test: the server of these lives longer."""


async def publish(platform: Platform, text: str, owner: Any = "local") -> str:
    pinned = await platform.documents.from_text(text, owner=owner)
    user = owner if isinstance(owner, str) else owner.user_id
    pushed = await platform.store.workflows.push(pinned.document.name, pinned.text, owner=user)
    await platform.store.workflows.publish(pushed.workflow_id, owner=owner)
    return pushed.workflow_id


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def world(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[World]:
    for name in [name for name in os.environ if name.startswith("INTERLACE_") and "TEST" not in name]:
        del os.environ[name]
    settings = Settings(
        home=tmp_path_factory.mktemp("mcp") / "home", prefect="off", http_allow=["127.0.0.1/32"]
    )
    async with served(settings) as (app, url):
        for text in FLOWS:
            await publish(app.state.platform, text)
        _, key = await app.state.platform.store.keys.create("client")
        yield World(app=app, url=url, key=key)

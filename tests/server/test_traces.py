"""Traces as an OTLP receiver gets them: runs, nodes, models, tools, requests, and the headers that tie them together."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest

from interlace.flows.platform import Platform
from interlace.flows.settings import Settings
from interlace.flows.telemetry import Telemetry
from interlace.resources.models.testing import Rule, ScriptedModels
from interlace.server.app import create_app
from tests.loopback import Loopback
from tests.server.collector import Collector, Span

OUTSIDE = "00-" + "ab" * 16 + "-" + "cd" * 8 + "-01"
CANARY = "canary-content"
FLOW: dict[str, Any] = {
    "name": "traced",
    "inputs": {"type": "object", "properties": {"url": {"type": "string"}}},
    "nodes": [
        {"id": "start", "type": "START"},
        {"id": "fetch", "type": "HTTP", "config": {"url": "{{ inputs.url }}/echo"}},
        {"id": "each", "type": "ITERATION", "config": {"items": "{{ [1, 2] }}", "output": "{{ inner.text }}"},
         "body": {"nodes": [{"id": "inner", "type": "TEMPLATE", "config": {"template": "{{ item }}"}}], "edges": []}},
        {"id": "ask", "type": "AGENT", "config": {"prompt": "What is 6*7?", "tools": ["calculator"]}},
        {"id": "done", "type": "END", "config": {"outputs": {"headers": "{{ fetch.body.headers }}", "text": "{{ ask.text }}"}}},
    ],
    "edges": ["start -> fetch", "fetch -> each", "each -> ask", "ask -> done"],
}  # fmt: skip


@pytest.fixture(scope="module")
def collector() -> Iterator[Collector]:
    with Collector() as started:
        yield started


@pytest.fixture(scope="module")
def models() -> Iterator[ScriptedModels]:
    with ScriptedModels([]) as started:
        yield started


@pytest.fixture
def more() -> dict[str, Any]:
    return {}


@pytest.fixture
async def traced(
    tmp_path: Path, collector: Collector, models: ScriptedModels, more: dict[str, Any]
) -> AsyncIterator[httpx2.AsyncClient]:
    collector.spans.clear()
    calls = {
        "tool_calls": [{"name": "calculator", "arguments": {"expression": "6 * 7"}}],
        "usage": {"input": 11, "output": 3},
    }
    models.script.rules[:] = [
        Rule.model_validate({"reply": [calls, {"text": f"{CANARY} 42", "usage": {"input": 20, "output": 5}}]})
    ]
    models._given.clear()
    provider = {
        "name": "p",
        "base_url": models.url,
        "retries": 0,
        "models": [{"name": "scripted"}],
        "roles": {"general": "scripted"},
    }
    settings = Settings(
        home=tmp_path / "home", http_allow=["127.0.0.1/32"], prefect="off", models={"providers": [provider]},
        otlp_endpoint=collector.url, otlp_headers="x-team=flows, Authorization=Bearer hush", **more,
    )  # fmt: skip
    platform = await Platform.open(settings)
    telemetry = Telemetry.of(platform)
    _, key = await platform.store.keys.create("test")
    transport = httpx2.ASGITransport(create_app(platform, telemetry=telemetry), raise_app_exceptions=False)
    headers = {"authorization": f"Bearer {key}"}
    async with httpx2.AsyncClient(
        transport=transport, base_url="http://localhost", headers=headers, timeout=60
    ) as client:
        yield client
    await platform.close()
    await telemetry.close()


async def run(client: httpx2.AsyncClient, url: str, document: Any = FLOW, **headers: str) -> dict[str, Any]:
    body = {"document": document, "inputs": {"url": url}}
    answer = await client.post("/api/v1/runs?wait=30", json=body, headers=headers)
    found: dict[str, Any] = answer.json()
    return found


def within(inner: Span, outer: Span) -> bool:
    return outer.began <= inner.began <= inner.ended <= outer.ended


async def test_a_run_within_a_trace_from_outside(
    traced: httpx2.AsyncClient, collector: Collector, loopback: Loopback
) -> None:
    found = await run(traced, loopback.url, traceparent=OUTSIDE)
    assert found["status"] == "succeeded", found
    names = ("POST /api/v1/runs", "run traced", "HTTP fetch", "ITERATION each", "TEMPLATE each[0].inner", "invoke_agent ask",
             "execute_tool calculator", "chat scripted", "END done")  # fmt: skip
    await asyncio.to_thread(collector.wait_for, *names)
    spans = collector.spans
    assert {span.trace_id for span in spans} == {"ab" * 16}
    assert len({span.span_id for span in spans}) == len(spans)
    request, root, fetch = (
        collector.named("POST /api/v1/runs"),
        collector.named("run traced"),
        collector.named("HTTP fetch"),
    )
    assert (request.parent, request.kind) == ("cd" * 8, 2)
    assert request.attributes["http.response.status_code"] == 200
    assert root.parent == request.span_id
    assert root.attributes["interlace.run.id"] == found["run_id"]
    assert fetch.parent == root.span_id
    assert within(fetch, root)
    sent = {name.lower(): value for name, value in found["outputs"]["headers"].items()}["traceparent"]
    assert sent == f"00-{'ab' * 16}-{fetch.span_id}-01", "what is called can go on with the trace"
    each = collector.named("ITERATION each")
    assert (
        collector.named("TEMPLATE each[0].inner").parent
        == collector.named("TEMPLATE each[1].inner").parent
        == each.span_id
    )
    agent, tool = collector.named("invoke_agent ask"), collector.named("execute_tool calculator")
    assert agent.attributes["gen_ai.operation.name"] == "invoke_agent"
    assert tool.parent == agent.span_id
    assert (tool.attributes["gen_ai.operation.name"], tool.attributes["gen_ai.tool.name"]) == (
        "execute_tool",
        "calculator",
    )
    calls = [span for span in spans if span.name == "chat scripted"]
    assert [call.parent for call in calls] == [agent.span_id] * 2
    first = calls[0].attributes
    assert (first["gen_ai.operation.name"], first["gen_ai.provider.name"], first["gen_ai.request.model"]) == (
        "chat",
        "p",
        "scripted",
    )
    assert (first["gen_ai.usage.input_tokens"], first["gen_ai.usage.output_tokens"]) == (11, 3)
    assert {call.kind for call in calls} == {3}
    assert root.resource["service.name"] == "interlace"
    assert CANARY not in str(spans), "content is off by default"
    assert collector.headers[-1]["x-team"] == "flows"
    assert collector.headers[-1]["authorization"] == "Bearer hush"


async def test_a_trace_of_its_own_and_an_error(traced: httpx2.AsyncClient, collector: Collector) -> None:
    document = {
        "name": "broken", "inputs": FLOW["inputs"],
        "nodes": [{"id": "start", "type": "START"}, {"id": "fetch", "type": "HTTP", "config": {"url": "{{ inputs.url }}"}},
                  {"id": "done", "type": "END"}],
        "edges": ["start -> fetch", "fetch -> done"],
    }  # fmt: skip
    found = await run(traced, "http://10.0.0.1/", document)
    await asyncio.to_thread(collector.wait_for, "run broken", "HTTP fetch")
    root, fetch = collector.named("run broken"), collector.named("HTTP fetch")
    assert (root.status, fetch.status) == (2, 2)
    assert fetch.attributes["error.type"] == root.attributes["error.type"] == "blocked_address"
    assert fetch.events == ("exception",)
    assert root.attributes["interlace.run.id"] == found["run_id"]
    assert root.parent == collector.named("POST /api/v1/runs").span_id


async def test_what_is_not_sampled_outside_is_not_sent(
    traced: httpx2.AsyncClient, collector: Collector, loopback: Loopback
) -> None:
    quiet = await run(traced, loopback.url, traceparent=OUTSIDE.removesuffix("01") + "00")
    sent = {name.lower(): value for name, value in quiet["outputs"]["headers"].items()}["traceparent"]
    assert sent.endswith("-00"), "and so says what is called from here"
    await run(traced, "http://10.0.0.1/", {**FLOW, "name": "second"})
    await asyncio.to_thread(collector.wait_for, "run second")
    assert "run traced" not in [span.name for span in collector.spans]


@pytest.mark.parametrize(
    "header", ["", "00-xyz", "00-" + "0" * 32 + "-" + "c" * 16 + "-01", OUTSIDE.upper(), OUTSIDE + "-x"]
)
async def test_what_is_no_traceparent(traced: httpx2.AsyncClient, collector: Collector, header: str) -> None:
    await run(traced, "http://10.0.0.1/", {**FLOW, "name": "own"}, traceparent=header)
    await asyncio.to_thread(collector.wait_for, "run own")
    assert collector.named("run own").trace_id != "ab" * 16


async def test_a_child_goes_on_with_the_trace(traced: httpx2.AsyncClient, collector: Collector) -> None:
    child = {
        "name": "child",
        "nodes": [{"id": "start", "type": "START"}, {"id": "done", "type": "END"}],
        "edges": ["start -> done"],
    }
    await traced.post("/api/v1/workflows", json={"document": child, "publish": True})
    parent = {
        "name": "parent",
        "nodes": [{"id": "start", "type": "START"}, {"id": "call", "type": "SUB_WORKFLOW", "config": {"workflow": "child"}},
                  {"id": "done", "type": "END"}],
        "edges": ["start -> call", "call -> done"],
    }  # fmt: skip
    found = await traced.post(
        "/api/v1/runs?wait=30", json={"document": parent}, headers={"traceparent": OUTSIDE}
    )
    assert found.json()["status"] == "succeeded", found.text
    await asyncio.to_thread(collector.wait_for, "run child", "SUB_WORKFLOW call")
    assert collector.named("run child").parent == collector.named("SUB_WORKFLOW call").span_id
    assert collector.named("run child").trace_id == "ab" * 16


class TestContent:
    @pytest.fixture
    def more(self) -> dict[str, Any]:
        return {"otlp_content": True}

    async def test_with_content(
        self, traced: httpx2.AsyncClient, collector: Collector, loopback: Loopback
    ) -> None:
        await run(traced, loopback.url)
        await asyncio.to_thread(collector.wait_for, "run traced", "execute_tool calculator")
        tool = collector.named("execute_tool calculator")
        assert "6 * 7" in tool.attributes["gen_ai.tool.call.arguments"]
        assert "42" in tool.attributes["gen_ai.tool.call.result"]
        assert CANARY in str(collector.named("run traced").attributes)


class TestNothing:
    @pytest.fixture
    def more(self) -> dict[str, Any]:
        return {"otlp_ratio": 0.0}

    async def test_a_share_of_none(
        self, traced: httpx2.AsyncClient, collector: Collector, loopback: Loopback
    ) -> None:
        await run(traced, loopback.url)
        await run(traced, loopback.url, {**FLOW, "name": "outside"}, traceparent=OUTSIDE)
        assert [span.name for span in collector.spans if span.name.startswith("run")] == []


async def test_nothing_is_sent_where_nothing_is_set(api: httpx2.AsyncClient, loopback: Loopback) -> None:
    document = {**FLOW, "nodes": [*FLOW["nodes"][:2], {"id": "done", "type": "END", "config": {"outputs": {"headers": "{{ fetch.body.headers }}"}}}],
                "edges": ["start -> fetch", "fetch -> done"]}  # fmt: skip
    found = await run(api, loopback.url, document, traceparent=OUTSIDE)
    assert "traceparent" not in str(found["outputs"]).lower()


async def test_an_endpoint_that_is_away_costs_nothing(tmp_path: Path) -> None:
    platform = await Platform.open(
        Settings(home=tmp_path / "h", prefect="off", otlp_endpoint="http://127.0.0.1:9")
    )
    telemetry = Telemetry.of(platform)
    _, key = await platform.store.keys.create("test")
    transport = httpx2.ASGITransport(create_app(platform, telemetry=telemetry))
    async with httpx2.AsyncClient(
        transport=transport, base_url="http://localhost", headers={"authorization": f"Bearer {key}"}
    ) as client:
        document = {
            "name": "one",
            "nodes": [{"id": "start", "type": "START"}, {"id": "end", "type": "END"}],
            "edges": ["start -> end"],
        }
        assert (await client.post("/api/v1/runs?wait=20", json={"document": document})).status_code == 200
    await platform.close()
    await telemetry.close()

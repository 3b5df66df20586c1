"""Long runs as tasks: the extension of the current protocol, and the core of the one before, on the wire."""

from __future__ import annotations

import asyncio
from typing import Any, Self

import httpx2
import pytest

from tests.server.mcp.conftest import LEGACY, MODERN, World

pytestmark = pytest.mark.asyncio(loop_scope="module")
TASKS = "io.modelcontextprotocol/tasks"


class Wire:
    """Messages as they stand on the wire."""

    def __init__(self, world: World, era: str, **capabilities: Any) -> None:
        self._era = era
        self._capabilities = capabilities
        self._http = httpx2.AsyncClient(
            base_url=world.url, trust_env=False, timeout=30,
            headers={"authorization": f"Bearer {world.key}", "accept": "application/json, text/event-stream"},
        )  # fmt: skip
        self._number = 0

    async def __aenter__(self) -> Self:
        if self._era == LEGACY:
            info = {"name": "wire", "version": "1"}
            answer = await self._post(
                "initialize",
                {"protocolVersion": LEGACY, "capabilities": self._capabilities, "clientInfo": info},
            )
            self._http.headers["mcp-session-id"] = answer.headers["mcp-session-id"]
            self._http.headers["mcp-protocol-version"] = LEGACY
            self.greeting = _read(answer)["result"]
            body = {"jsonrpc": "2.0", "method": "notifications/initialized"}
            await self._http.post("/mcp", json=body)
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._http.aclose()

    async def ask(self, method: str, **params: Any) -> dict[str, Any]:
        """The result, or the error."""
        found = _read(await self._post(method, params))
        return found.get("result") or found["error"]  # type: ignore[no-any-return]

    async def _post(self, method: str, params: dict[str, Any]) -> httpx2.Response:
        self._number += 1
        headers: dict[str, str] = {}
        if self._era == MODERN:
            name = params.get("name") or params.get("taskId")
            headers = {
                "mcp-protocol-version": MODERN,
                "mcp-method": method,
                **({"mcp-name": name} if name else {}),
            }
            meta = {
                "io.modelcontextprotocol/protocolVersion": MODERN,
                "io.modelcontextprotocol/clientCapabilities": self._capabilities,
                "io.modelcontextprotocol/clientInfo": {"name": "wire", "version": "1"},
            }
            params = {**params, "_meta": meta}
        body = {"jsonrpc": "2.0", "id": self._number, "method": method, "params": params}
        return await self._http.post("/mcp", json=body, headers=headers)


def _read(answer: httpx2.Response) -> dict[str, Any]:
    if answer.headers["content-type"].startswith("text/event-stream"):
        lines = [
            line[6:] for line in answer.text.splitlines() if line.startswith("data: ") and line[6:].strip()
        ]
        return httpx2.Response(200, content=lines[-1]).json()  # type: ignore[no-any-return]
    return answer.json()  # type: ignore[no-any-return]


async def settled(wire: Wire, task_id: str) -> dict[str, Any]:
    for _ in range(200):
        found = await wire.ask("tasks/get", taskId=task_id)
        if found["status"] != "working":
            return found
        await asyncio.sleep(0.05)
    raise AssertionError(found)


async def test_a_long_run_is_a_task(world: World) -> None:
    async with Wire(world, MODERN, extensions={TASKS: {}}) as wire:
        quick = await wire.ask("tools/call", name="greet", arguments={"name": "x"})
        assert (quick["resultType"], quick["structuredContent"]) == ("complete", {"text": "Hello, x!"})
        made = await wire.ask("tools/call", name="slow", arguments={})
        assert (made["resultType"], made["status"]) == ("task", "working")
        done = await settled(wire, made["taskId"])
        assert (done["status"], done["result"]["structuredContent"]) == ("completed", {"text": "done"})
        endless = await wire.ask("tools/call", name="endless", arguments={})
        assert (await wire.ask("tasks/cancel", taskId=endless["taskId"]))["resultType"] == "complete"
        assert (await settled(wire, endless["taskId"]))["status"] == "cancelled"
        assert (await wire.ask("tasks/get", taskId="none"))["code"] == -32602
        assert (await wire.ask("tasks/result", taskId=made["taskId"]))["code"] == -32601
    run = await world.platform.store.runs.get(made["taskId"])
    assert run.status == "succeeded"
    async with Wire(world, MODERN) as plain:
        refused = await plain.ask("tasks/get", taskId=made["taskId"])
        assert refused["code"] == -32021
        assert (await plain.ask("tools/call", name="slow", arguments={}))["resultType"] == "complete"


async def test_a_task_asks_and_is_answered(world: World) -> None:
    async with Wire(world, MODERN, extensions={TASKS: {}}, elicitation={}) as wire:
        made = await wire.ask("tools/call", name="approve", arguments={"amount": 9})
        assert made["status"] == "input_required"
        asked = await settled(wire, made["taskId"])
        ((wait_id, request),) = asked["inputRequests"].items()
        assert request["method"] == "elicitation/create"
        assert "Pay 9?" in request["params"]["message"]
        wrong = {wait_id: {"action": "accept", "content": {"action": "maybe", "note": "n"}}}
        assert (await wire.ask("tasks/update", taskId=made["taskId"], inputResponses=wrong))["code"] == -32602
        right = {wait_id: {"action": "accept", "content": {"action": "approve", "note": "n"}}}
        assert "code" not in await wire.ask("tasks/update", taskId=made["taskId"], inputResponses=right)
        done = await settled(wire, made["taskId"])
        assert done["result"]["structuredContent"]["action"] == "approve"


async def test_tasks_of_the_era_before(world: World) -> None:
    async with Wire(world, LEGACY) as wire:
        assert wire.greeting["capabilities"]["tasks"]["requests"] == {"tools": {"call": {}}}
        tools = (await wire.ask("tools/list"))["tools"]
        assert {tool["execution"]["taskSupport"] for tool in tools if tool["name"] != "interlace_run"} == {
            "optional"
        }
        made = (await wire.ask("tools/call", name="slow", arguments={}, task={"ttl": 60000}))["task"]
        assert made["status"] == "working"
        result = await wire.ask("tasks/result", taskId=made["taskId"])
        assert result["structuredContent"] == {"text": "done"}
        assert result["_meta"]["io.modelcontextprotocol/related-task"] == {"taskId": made["taskId"]}
        assert (await wire.ask("tasks/get", taskId=made["taskId"]))["status"] == "completed"
        assert made["taskId"] in [task["taskId"] for task in (await wire.ask("tasks/list"))["tasks"]]
        assert (await wire.ask("tasks/cancel", taskId=made["taskId"]))["code"] == -32602
        endless = (await wire.ask("tools/call", name="endless", arguments={}, task={}))["task"]
        assert (await wire.ask("tasks/cancel", taskId=endless["taskId"]))["status"] == "cancelled"
        bad = await wire.ask("tools/call", name="Two_numbers", arguments={"a": "x"}, task={})
        assert bad["isError"] is True

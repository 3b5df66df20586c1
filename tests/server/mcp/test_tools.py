"""Published workflows as MCP tools, with the official client in both eras of the protocol."""

from __future__ import annotations

import asyncio
from typing import Any

import anyio
import pytest
from mcp import MCPError, types

from interlace.engine.principal import LOCAL
from tests.server.mcp.conftest import LEGACY, MODERN, World, publish

pytestmark = pytest.mark.asyncio(loop_scope="module")
ERAS = pytest.mark.parametrize("era", [MODERN, LEGACY])


def text_of(result: Any) -> str:
    return str(result.content[0].text)


@ERAS
async def test_tools_have_the_workflows_types(world: World, era: str) -> None:
    async with world.client(era) as client:
        listed = {tool.name: tool for tool in (await client.list_tools()).tools}
        assert "published workflow" in (client.instructions or "")
    assert {"greet", "Two_numbers", "failing", "approve", "slow", "interlace_run"} <= listed.keys()
    assert any(name.startswith("workflow_") and tool.title == "挨拶" for name, tool in listed.items())
    numbers = listed["Two_numbers"]
    assert numbers.title == "Two numbers"
    assert numbers.input_schema["properties"]["a"] == {"type": "integer", "minimum": 0}
    assert numbers.output_schema is not None
    assert set(numbers.output_schema["required"]) == {"a", "sum"}
    assert listed["greet"].description == "Greets somebody."
    assert listed["greet"].annotations is not None
    assert listed["greet"].annotations.read_only_hint is True


@ERAS
async def test_results_are_structured(world: World, era: str) -> None:
    async with world.client(era) as client:
        greeted = await client.call_tool("greet", {"name": "Ann"})
        assert (text_of(greeted), greeted.structured_content, greeted.is_error) == (
            "Hello, Ann!", {"text": "Hello, Ann!"}, False,
        )  # fmt: skip
        both = await client.call_tool("Two_numbers", {"a": 1})
        assert both.structured_content == {"a": 1, "sum": 2}
        assert both.meta is not None
    run = await world.platform.store.runs.get(both.meta["interlace/run_id"])
    assert (run.trigger["kind"], run.trigger["tool"], run.trigger["by"]) == ("mcp", "Two_numbers", "client")


@ERAS
async def test_what_goes_wrong_is_said(world: World, era: str) -> None:
    async with world.client(era) as client:
        wrong = await client.call_tool("Two_numbers", {"a": -1})
        assert wrong.is_error
        assert "inputs.a" in text_of(wrong)
        failed = await client.call_tool("failing", {"text": "x"})
        assert failed.is_error
        assert "failed at bad" in text_of(failed)
        assert failed.meta is not None
        assert failed.meta["interlace/error"]["node"] == "bad"
        with pytest.raises(MCPError, match="Unknown tool"):
            await client.call_tool("nothing", {})
        unknown = await client.call_tool("interlace_run", {"run_id": "none"})
        assert unknown.is_error
        unnamed = await client.call_tool("interlace_run", {})
        assert "run_id: is required" in text_of(unnamed)


@ERAS
async def test_progress(world: World, era: str) -> None:
    heard: list[tuple[float, float | None, str | None]] = []

    async def hear(progress: float, total: float | None, message: str | None) -> None:
        heard.append((progress, total, message))

    async with world.client(era) as client:
        result = await client.call_tool("slow", {}, progress_callback=hear)
    assert text_of(result) == "done"
    assert heard[0] == (1, 4, "start succeeded")
    assert [entry[0] for entry in heard] == sorted(entry[0] for entry in heard)
    assert len(heard) >= 3


@ERAS
async def test_people_are_asked_through_the_client(world: World, era: str) -> None:
    shown: list[types.ElicitRequestFormParams] = []
    answers: list[dict[str, Any]] = [
        {"action": "approve", "note": "fine", "days": 99},
        {"action": "approve", "note": "fine", "days": 3, "tags": '["a", "b"]'},
    ]

    async def ask(context: Any, params: Any) -> types.ElicitResult:
        shown.append(params)
        return types.ElicitResult(action="accept", content=answers[len(shown) - 1])

    async with world.client(era, elicitation_callback=ask) as client:
        result = await client.call_tool("approve", {"amount": 5})
    assert result.structured_content == {
        "action": "approve", "form": {"note": "fine", "days": 3, "tags": ["a", "b"]},
    }  # fmt: skip
    assert "Pay 5?" in shown[0].message
    assert shown[0].requested_schema["properties"]["action"]["enum"] == ["approve", "reject"]
    assert shown[0].requested_schema["required"] == ["action", "note"]
    assert "days" in shown[1].message, "an answer that does not fit is asked for again, with the reason"


@ERAS
async def test_without_forms_there_is_a_link_and_a_way_on(world: World, era: str) -> None:
    async with world.client(era) as client:
        waiting = await client.call_tool("approve", {"amount": 6})
        assert waiting.is_error
        run_id = text_of(waiting).split('"run_id": "')[1].split('"')[0]
        (wait,) = await world.platform.store.waits.of_run(run_id)
        assert f"{world.url}/forms/requests/{wait.id}" in text_of(waiting)
        from interlace.flows.answering import Given
        from interlace.flows.people import Person

        await world.platform.waits.answer(
            wait.id, Given(action="reject", form={"note": "n"}), Person(name="x")
        )
        done = await client.call_tool("interlace_run", {"run_id": run_id})
        assert done.structured_content == {"action": "reject", "form": {"note": "n"}}


@ERAS
@pytest.mark.parametrize("decline", ["decline", "cancel"])
async def test_nobody_is_taken_to_have_agreed(world: World, era: str, decline: Any) -> None:
    async def refuse(context: Any, params: Any) -> types.ElicitResult:
        return types.ElicitResult(action=decline)

    async with world.client(era, elicitation_callback=refuse) as client:
        result = await client.call_tool("approve", {"amount": 7})
        assert result.is_error
        assert "waits for a person" in text_of(result)
        others = await client.call_tool("for_somebody_else", {})
        assert others.is_error, "a request to others is not put to this client"
    waits = (await world.platform.store.waits.list()).items
    assert {wait.status for wait in waits if wait.title in ("Pay 7?", "OK?")} == {"pending"}


@ERAS
async def test_cancelling_a_call_cancels_its_run(world: World, era: str) -> None:
    started = asyncio.Event()

    async def hear(progress: float, total: float | None, message: str | None) -> None:
        started.set()

    async with world.client(era) as client, anyio.create_task_group() as group:

        async def call() -> None:
            await client.call_tool("endless", {}, progress_callback=hear)

        group.start_soon(call)
        await started.wait()
        group.cancel_scope.cancel()
    runs = (await world.platform.store.runs.list(owner="local", limit=1)).items
    result = await world.platform.runner.wait(runs[0].id, 20)
    while result is not None and result.status == "suspended":
        result = await world.platform.runner.wait(runs[0].id, 20)
    assert result is not None
    assert result.status == "cancelled"


async def test_another_user_sees_other_tools(world: World) -> None:
    store = world.platform.store
    ann = await store.users.create("ann", by=LOCAL)
    principal = await store.users.principal(ann.id)
    await publish(
        world.platform,
        "name: anns\nnodes:\n  - {id: s, type: START}\n  - {id: e, type: END, config: {outputs: {x: 1}}}\nedges: [s -> e]\n",
        principal,
    )
    _, key = await store.keys.create("anns", owner=ann.id)
    async with world.client(MODERN, key=key) as client:
        assert [tool.name for tool in (await client.list_tools()).tools] == ["anns", "interlace_run"]
        with pytest.raises(MCPError, match="Unknown tool"):
            await client.call_tool("greet", {"name": "x"})
    async with world.client(LEGACY) as client:
        mine = await client.call_tool("greet", {"name": "me"})
        assert "anns" not in [tool.name for tool in (await client.list_tools()).tools]
    assert mine.meta is not None
    async with world.client(LEGACY, key=key) as client:
        stolen = await client.call_tool("interlace_run", {"run_id": mine.meta["interlace/run_id"]})
        assert stolen.is_error
        assert "Hello" not in text_of(stolen)


async def test_a_session_belongs_to_its_key(world: World) -> None:
    import httpx2

    body = {
        "jsonrpc": "2.0", "id": 1, "method": "initialize",
        "params": {"protocolVersion": LEGACY, "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}},
    }  # fmt: skip
    accept = {"accept": "application/json, text/event-stream"}
    _, other = await world.platform.store.keys.create("other", owner="another")
    _, reader = await world.platform.store.keys.create("reader", scopes=["runs:read"])
    async with httpx2.AsyncClient(base_url=world.url, trust_env=False) as http:

        def headers(key: str) -> dict[str, str]:
            return {**accept, "authorization": f"Bearer {key}"}

        assert (await http.post("/mcp", json=body, headers=accept)).status_code == 401
        assert (await http.post("/mcp", json=body, headers=headers(reader))).status_code == 403
        begun = await http.post("/mcp", json=body, headers=headers(world.key))
        session = {"mcp-session-id": begun.headers["mcp-session-id"], "mcp-protocol-version": LEGACY}
        asked = {"jsonrpc": "2.0", "id": 2, "method": "tools/list"}
        theirs = await http.post("/mcp", json=asked, headers={**headers(other), **session})
        assert theirs.status_code == 404
        evil = {**headers(world.key), **session, "origin": "https://evil.example"}
        assert (await http.post("/mcp", json=asked, headers=evil)).status_code == 403


@ERAS
async def test_workflows_that_call_each_other_come_to_an_end(world: World, era: str) -> None:
    async with world.client(era, headers={"x-interlace-depth": "10"}) as client:
        assert not (await client.call_tool("greet", {"name": "x"})).is_error
    async with world.client(era, headers={"x-interlace-depth": "11"}) as client:
        deep = await client.call_tool("greet", {"name": "x"})
        assert deep.is_error
        assert "deeper than 10" in text_of(deep)


async def test_a_workflow_that_calls_itself_through_mcp_stops_at_the_limit(world: World) -> None:
    platform = world.platform
    _, key = await platform.store.keys.create("loop")
    server = {"url": f"{world.url}/mcp", "headers": {"authorization": f"Bearer {key}"}}
    await publish(
        platform,
        "name: loop\nnodes:\n  - {id: s, type: START}\n"
        "  - {id: call, type: MCP, config: {server: ourselves, tool: loop}}\n"
        '  - {id: e, type: END, config: {outputs: {x: "{{ call.content }}"}}}\nedges: [s -> call, call -> e]\n',
    )
    await platform.mcp.add("ourselves", server, by=LOCAL)
    await platform.mcp.accept("ourselves", by=LOCAL)
    async with world.client(MODERN) as client:
        result = await client.call_tool("loop", {})
    assert result.is_error
    assert "deeper than 10" in text_of(result)
    runs = [
        run for run in (await platform.store.runs.list(owner="local", limit=50)).items if run.name == "loop"
    ]
    assert sorted(run.depth for run in runs) == list(range(11))

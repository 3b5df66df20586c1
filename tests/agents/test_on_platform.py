"""The loop in stored runs: the inbox of requests, restarts, bodies, children, records, deletion."""

from __future__ import annotations

from typing import Any

from interlace.engine.run import RunResult
from interlace.flows.replay import Wish, plan_replay, start_replay, version_for
from interlace.flows.report import run_report, why
from interlace.flows.retention import delete_run
from interlace.resources.models.testing import Asked, Rule, ScriptedModels
from interlace.resources.tools.tool import Tool
from tests.agents.conftest import AgentHome
from tests.agents.hosting import NUMBERS, SmallTool, World, add, call, calls, send
from tests.flows.waiting import answer, begin, end_of, pending

ONE = """
name: One
nodes:
  - {id: start, type: START}
  - {id: n, type: HOSTED}
  - {id: done, type: END, config: {outputs: {text: "{{ n.text }}", calls: "{{ n.tool_calls }}"}}}
edges: [start -> n, n -> done]
"""


def mixed(asked: Asked) -> Any:
    seen = sum(message["role"] == "tool" for message in asked.messages)
    return (
        calls(call("send", to="ada"), call("send", to="bob"), call("add", a=1, b=2))
        if seen == 0
        else "all said"
    )


def tools(world: World) -> list[Tool]:
    return [add(world), send(world)]


def script(server: ScriptedModels, reply: Any) -> None:
    server.script.rules[:] = [Rule(reply=reply)]


async def test_requests_stand_in_the_inbox_and_are_answered_over_restarts(
    home: AgentHome, server: ScriptedModels
) -> None:
    script(server, mixed)
    home.world.tools = tools
    run_id = await begin(home.platform, ONE)
    first, second = await pending(home.platform, run_id)
    assert [wait.title for wait in (first, second)] == ["Send to ada", "Send to bob"]
    assert first.request["config"] == {"tool": "send", "arguments": {"to": "ada"}}
    assert first.until is not None
    report = await run_report(home.platform.store, home.platform.documents, run_id)
    assert report["nodes"]["n"]["status"] == "suspended"
    assert len(report["waiting"]) == 2
    assert "2 answers" in (await why(home.platform.store, home.platform.documents, run_id, "n"))["why"]
    await home.restart()
    await answer(home.platform, second)
    await home.platform.runner.idle()
    assert home.world.names() == ["add", "send"]
    assert [wait.id for wait in await pending(home.platform, run_id)] == [first.id]
    await home.restart()
    await answer(home.platform, first, "reject", comment="no")
    result = await end_of(home.platform, run_id)
    assert result.outputs is not None
    assert [entry["is_error"] for entry in result.outputs["calls"]] == [True, False, False]
    assert home.world.names() == ["add", "send"]
    assert len(server.requests) == 2
    report = await run_report(home.platform.store, home.platform.documents, run_id)
    assert report["nodes"]["n"]["calls"] == {"models": 2, "tools": 3}


async def test_a_request_that_nobody_answers_is_a_refusal(home: AgentHome, server: ScriptedModels) -> None:
    script(server, mixed)
    home.world.tools = tools
    run_id = await begin(home.platform, ONE)
    await home.later(8 * 86400)
    result = await end_of(home.platform, run_id)
    assert result.status == "succeeded"
    assert home.world.names() == ["add"]
    assert "nobody agreed" in server.requests[-1].messages[-2]["content"]
    assert await pending(home.platform) == []


EACH = """
name: Each
nodes:
  - {id: start, type: START}
  - id: each
    type: ITERATION
    config: {items: [ada, bob, eve], parallel: 3, output: "{{ n.text }}"}
    body: {nodes: [{id: n, type: HOSTED, config: {prompt: "write to {{ item }}"}}]}
  - {id: done, type: END, config: {outputs: {texts: "{{ each.results }}"}}}
edges: [start -> each, each -> done]
"""


def writer(asked: Asked) -> Any:
    who = asked.messages[1]["content"].rpartition(" ")[2]
    seen = sum(message["role"] == "tool" for message in asked.messages)
    return f"wrote to {who}" if seen else calls(call("send", to=who))


async def test_agents_in_bodies_wait_and_go_on(home: AgentHome, server: ScriptedModels) -> None:
    script(server, writer)
    home.world.tools = tools
    run_id = await begin(home.platform, EACH)
    waits = await pending(home.platform, run_id)
    assert sorted(wait.path for wait in waits) == ["each[0].n", "each[1].n", "each[2].n"]
    await home.restart()
    for wait in reversed(waits):
        await answer(home.platform, wait)
        await home.platform.runner.idle()
    result = await end_of(home.platform, run_id)
    assert result.outputs == {"texts": ["wrote to ada", "wrote to bob", "wrote to eve"]}
    assert sorted(entry[1]["to"] for entry in home.world.done) == ["ada", "bob", "eve"]
    assert len(server.requests) == 6


PARENT = """
name: Parent
nodes:
  - {id: start, type: START}
  - {id: child, type: SUB_WORKFLOW, config: {workflow: One}}
  - {id: done, type: END, config: {outputs: {text: "{{ child.text }}"}}}
edges: [start -> child, child -> done]
"""


async def test_an_agent_in_a_child_run(home: AgentHome, server: ScriptedModels) -> None:
    script(server, mixed)
    home.world.tools = tools
    platform = home.platform
    checked = await platform.documents.from_text(ONE)
    pushed = await platform.store.workflows.push("One", checked.text)
    await platform.store.workflows.publish(pushed.workflow_id)
    run_id = await begin(platform, PARENT)
    for wait in await pending(platform):
        await answer(platform, wait)
    result = await end_of(platform, run_id)
    assert result.outputs == {"text": "all said"}
    assert home.world.names() == ["add", "send", "send"]


def big(asked: Asked) -> Any:
    seen = [message for message in asked.messages if message["role"] == "tool"]
    if not seen:
        return calls(call("read", a=1, b=2), call("send", to="ada"))
    return f"{len(seen[0]['content'])} characters"


async def test_large_results_are_kept_apart_and_loaded_again(home: AgentHome, server: ScriptedModels) -> None:
    script(server, big)
    text = "line\n" * 10_000
    home.world.tools = lambda world: [SmallTool(world, "read", lambda a, b: text, NUMBERS), send(world)]
    run_id = await begin(home.platform, ONE)
    events = await home.platform.store.events.read(run_id)
    [read] = [event for event in events if event.type == "tool.finished" and event.data["name"] == "read"]
    assert set(read.data["value"]) == {"$payload", "size", "type"}
    await home.restart()
    [wait] = await pending(home.platform)
    await answer(home.platform, wait)
    result = await end_of(home.platform, run_id)
    assert result.outputs is not None
    assert result.outputs["text"] == "50000 characters"
    assert home.world.names() == ["read", "send"]


async def test_costs_are_put_down_for_the_run(home: AgentHome, server: ScriptedModels) -> None:
    script(server, mixed)
    home.world.tools = lambda world: [add(world), send(world, asks=lambda arguments: None)]
    run_id = await begin(home.platform, ONE)
    state = await home.platform.store.events.fold(run_id)
    usage = (state.nodes["n"].outputs or {})["usage"]
    assert usage["calls"] == 2
    assert state.nodes["n"].substeps == {}
    [total] = await home.platform.store.usage.totals(["installation"], since=0.0)
    assert (total.group, total.calls) == ("scripted", 2)


async def test_a_recorded_run_is_done_again_with_nothing_reached(
    home: AgentHome, server: ScriptedModels
) -> None:
    script(server, mixed)
    home.world.tools = tools
    run_id = await begin(home.platform, ONE, options={"record": True})
    first, second = await pending(home.platform, run_id)
    await answer(home.platform, second)
    await home.platform.runner.idle()
    await home.restart()
    await answer(home.platform, first, "reject")
    result = await end_of(home.platform, run_id)
    asked = len(server.requests)
    again = await _offline(home, run_id)
    assert again.status == "succeeded", again.error
    assert again.outputs == result.outputs
    assert len(server.requests) == asked
    assert await pending(home.platform) == []


async def _offline(home: AgentHome, run_id: str) -> RunResult:
    platform = home.platform
    pinned = await version_for(platform.documents, await platform.store.runs.get(run_id), "pinned")
    replay = await plan_replay(platform.runner, run_id, pinned, Wish(offline=True))
    return await end_of(platform, await start_replay(platform.runner, replay))


async def test_a_run_that_is_deleted_takes_all_that_is_its_own(
    home: AgentHome, server: ScriptedModels
) -> None:
    script(server, big)
    home.world.tools = lambda world: [
        SmallTool(world, "read", lambda a, b: "x" * 50_000, NUMBERS),
        send(world),
    ]
    run_id = await begin(home.platform, ONE)
    await home.platform.runner.cancel(run_id)
    await home.platform.runner.idle()
    assert await pending(home.platform) == []
    await delete_run(home.platform.store, run_id)
    assert await home.platform.store.events.read(run_id) == []

"""The trace of an agent, as API and command line give it: out of the journal alone."""

from __future__ import annotations

import json
from typing import Any

import pytest
from typer.testing import CliRunner

from interlace.agents.loop import Profile
from interlace.flows.trace import agent_trace
from interlace.resources.agents.definition import read_hooks
from interlace.resources.agents.hooking import Hooks
from interlace.resources.models.testing import Asked, ScriptedModels
from interlace.resources.tools.tool import Tool
from interlace.server.cli.main import app
from interlace.store.errors import NotFoundError
from tests.agents.conftest import AgentHome
from tests.agents.hosting import World, add, call, calls, send
from tests.agents.test_delegates import CallAgent, crew, mate, seen, tools
from tests.agents.test_on_platform import ONE, script
from tests.flows.waiting import answer, begin, end_of, pending

HOOKS = [
    {"do": "deny", "event": "pre_tool_use", "match": "add", "where": {"a": "^13$"}, "message": "unlucky"},
    {"do": "rewrite", "event": "pre_tool_use", "match": "add", "where": {"a": "^1$"}, "set": {"b": 40}},
]


def chief(asked: Asked) -> Any:
    if seen(asked) == 0:
        made = calls(
            call("call_agent", task="ada"), call("send", to="bob"), call("add", a=1, b=2), call("add", a=13, b=0),
            call("nothing"),
        )  # fmt: skip
        return made | {"usage": {"input": 1000, "output": 7}}
    return {"text": "all done", "usage": {"input": 2000, "output": 3}}


def chiefs(world: World) -> list[Tool]:
    return [CallAgent(world, tools), send(world), add(world)]


async def test_every_step_of_an_agent_is_told(home: AgentHome, server: ScriptedModels) -> None:
    server.script.rules[:] = crew(mate, chief)
    home.world.tools = chiefs
    home.world.profile = Profile(instructions="SECRET CHIEF.", hooks=Hooks(read_hooks(HOOKS)))
    run_id = await begin(home.platform, ONE)
    waiting = await agent_trace(home.platform.store, run_id)
    assert waiting["agents"][0]["status"] == "suspended"
    assert waiting["agents"][0]["steps"][2]["outcome"] == "waiting"
    (request,) = await pending(home.platform, run_id)
    await answer(home.platform, request)
    await end_of(home.platform, run_id)
    trace = await agent_trace(home.platform.store, run_id)
    (agent,) = trace["agents"]
    assert (agent["path"], agent["status"], agent["stop_reason"]) == ("n", "succeeded", "answer")
    first, delegate, sent, added, denied, unknown, last = agent["steps"]
    assert [step["step"] for step in agent["steps"]] == ["1", "1.0", "1.1", "1.2", "1.3", "1.4", "2"]
    assert (first["model"], first["usage"]["input_tokens"]) == ("p/scripted", 1000)
    assert sum(first["prompt_tokens"].values()) == 1000
    assert set(first["prompt_tokens"]) == {"system", "question", "tools"}
    assert sum(last["prompt_tokens"].values()) == 2000
    assert set(last["prompt_tokens"]) == {"system", "question", "tools", "turns", "results"}
    assert (last["text"], last["finish_reason"]) == ("all done", "stop")
    assert [step["kind"] for step in delegate["steps"]] == ["model", "tool", "tool", "model"]
    assert delegate["steps"][2]["name"] == "send"
    assert delegate["result"] == {"answer": "told ada", "stop_reason": "answer"}
    (approval,) = sent["approvals"]
    assert (approval["title"], approval["action"], approval["by"]) == ("Send to bob", "approve", "ada")
    assert approval["answered_at"] >= approval["asked_at"]
    assert (sent["outcome"], sent["result"], sent["effects"]) == ("made", "sent to bob", "once")
    assert (json.loads(added["asked"]), added["arguments"], added["hooks"]) == (
        {"a": 1, "b": 2},
        {"a": 1, "b": 40},
        ["rewrite"],
    )
    assert added["result"] == 41
    assert added["elapsed_ms"] >= 0
    assert (denied["outcome"], denied["hooks"], denied["is_error"]) == ("denied", ["deny"], True)
    assert "unlucky" in denied["text"]
    assert unknown["outcome"] == "refused"
    totals = trace["totals"]
    assert (totals["model_calls"], totals["tool_calls"]) == (4, 5)
    assert (totals["input_tokens"], totals["output_tokens"]) == (3200, 30)
    assert trace["totals"] == agent["totals"]
    assert "SECRET" not in json.dumps(trace)
    with pytest.raises(NotFoundError):
        await agent_trace(home.platform.store, "nothing")


async def test_crashes_repeat_nothing_in_it(home: AgentHome, server: ScriptedModels) -> None:
    script(server, lambda asked: calls(call("send", to="ada")) if seen(asked) == 0 else "said")
    home.world.tools = lambda world: [send(world)]
    run_id = await begin(home.platform, ONE)
    await home.restart()
    await answer(home.platform, (await pending(home.platform, run_id))[0], "reject")
    await end_of(home.platform, run_id)
    (agent,) = (await agent_trace(home.platform.store, run_id))["agents"]
    assert [(step["step"], step.get("outcome")) for step in agent["steps"]] == [
        ("1", None),
        ("1.0", "refused"),
        ("2", None),
    ]


async def test_at_the_command_line(
    home: AgentHome, server: ScriptedModels, monkeypatch: pytest.MonkeyPatch
) -> None:
    script(server, lambda asked: calls(call("add", a=2, b=3)) if seen(asked) == 0 else "five")
    home.world.tools = lambda world: [add(world)]
    run_id = await begin(home.platform, ONE)
    monkeypatch.setenv("INTERLACE_HOME", str(home.settings.home))
    monkeypatch.setenv("INTERLACE_PREFECT", "off")
    import asyncio

    result = await asyncio.to_thread(CliRunner().invoke, app, ["runs", "trace", run_id])
    assert result.exit_code == 0, (result.stdout, result.exception)
    lines = result.stdout.splitlines()
    assert lines[0] == "n  succeeded, answer"
    assert "calls add" in lines[1]
    assert '{"a":2,"b":3} → 5' in lines[2]
    assert lines[3].endswith("five")
    assert lines[4].startswith("2 model calls, 1 tool calls")

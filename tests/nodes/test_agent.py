"""The AGENT node: its config, its outputs, its tools and agents, on the real platform."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from interlace.engine.principal import LOCAL
from interlace.engine.run import RunResult
from interlace.flows.platform import Platform
from interlace.flows.request import Request
from interlace.nodes.agent import AgentConfig
from interlace.resources.models.testing import Asked, Rule, ScriptedModels
from tests.agents.conftest import _no_settings, plain_home, server, settings
from tests.agents.hosting import call, calls
from tests.flows.waiting import Home
from tests.nodes.runs import check

__all__ = ["_no_settings", "plain_home", "server", "settings"]


def document(config: dict[str, Any], inputs: dict[str, Any] | None = None) -> dict[str, Any]:
    outputs = {
        name: f"{{{{ n.{name} }}}}"
        for name in ("text", "data", "messages", "tool_calls", "usage", "stop_reason")
    }
    return {
        "name": "agent",
        "inputs": inputs or {"type": "object", "additionalProperties": True},
        "nodes": [
            {"id": "start", "type": "START"}, {"id": "n", "type": "AGENT", "config": config},
            {"id": "done", "type": "END", "config": {"outputs": outputs}},
        ],
        "edges": ["start -> n", "n -> done"],
    }  # fmt: skip


async def run(platform: Platform, config: dict[str, Any], **inputs: Any) -> RunResult:
    import yaml

    pinned = await platform.documents.from_text(yaml.safe_dump(document(config)))
    run_id = await platform.runner.start(pinned, Request(inputs=inputs))
    return await platform.runner.turn(run_id)


def script(models: ScriptedModels, *replies: Any) -> None:
    models.script.rules[:] = [Rule.model_validate({"reply": list(replies)})]


async def test_an_agent_with_built_in_tools(plain_home: Home, server: ScriptedModels) -> None:
    script(
        server,
        calls(call("calculator", expression="6 * 7")),
        {"text": "It is 42.", "usage": {"input": 9, "output": 4}},
    )
    config = {
        "instructions": "Calculate for {{ inputs.who }}.", "prompt": "What is {{ inputs.what }}?", "tools": ["calculator"],
    }  # fmt: skip
    found = await run(plain_home.platform, config, who="Ada", what="6 * 7")
    assert found.outputs is not None, found.error
    assert (found.outputs["text"], found.outputs["stop_reason"], found.outputs["data"]) == (
        "It is 42.",
        "answer",
        None,
    )
    [made] = found.outputs["tool_calls"]
    assert (made["name"], made["arguments"], made["result"]["value"]) == (
        "calculator",
        {"expression": "6 * 7"},
        42,
    )
    assert [message["role"] for message in found.outputs["messages"]] == [
        "user",
        "assistant",
        "tool",
        "assistant",
    ]
    assert found.outputs["usage"]["calls"] == 2
    first = server.requests[0]
    assert first.system.startswith("Calculate for Ada.")
    assert first.user == "What is 6 * 7?"
    assert [tool["function"]["name"] for tool in first.body["tools"]] == ["calculator"]


async def test_a_stored_agent_with_its_limits_and_hooks(plain_home: Home, server: ScriptedModels) -> None:
    await plain_home.platform.agents.add(
        {
            "name": "orders", "instructions": "You look after orders.", "tool_categories": ["math"],
            "limits": {"iterations": 2},
            "hooks": [{"event": "pre_tool_use", "match": "calc*", "do": "deny", "message": "no sums today"}],
        },
        by=LOCAL,
    )  # fmt: skip
    script(server, calls(call("calculator", expression="1 + 1")), "I may not.")
    found = await run(plain_home.platform, {"agent": "orders", "prompt": "1 + 1?"})
    assert found.outputs is not None, found.error
    assert (found.outputs["text"], found.outputs["stop_reason"]) == ("I may not.", "iterations")
    assert "no sums today" in found.outputs["tool_calls"][0]["result"]
    names = [tool["function"]["name"] for tool in server.requests[0].body["tools"]]
    assert "calculator" in names
    assert "http_request" not in names
    missing = await run(plain_home.platform, {"agent": "nobody", "prompt": "?"})
    assert missing.error is not None
    assert missing.error["type"] == "resource_not_found"


async def test_history_is_turns_of_the_chat_or_a_list(plain_home: Home, server: ScriptedModels) -> None:
    script(server, "yes")
    history = [
        {"role": "user", "content": "one"}, {"role": "assistant", "content": "1"},
        {"role": "user", "content": "two"}, {"role": "assistant", "content": "2"},
    ]  # fmt: skip
    await run(plain_home.platform, {"prompt": "three", "history": 1}, history=history)
    assert [message["content"] for message in server.requests[-1].messages[1:]] == ["two", "2", "three"]
    await run(plain_home.platform, {"prompt": "three", "history": "{{ inputs.history }}"}, history=history)
    assert [message["content"] for message in server.requests[-1].messages[1:]] == [
        "one",
        "1",
        "two",
        "2",
        "three",
    ]
    wrong = await run(
        plain_home.platform, {"prompt": "x", "history": "{{ inputs.history }}"}, history=[{"role": "robot"}]
    )
    assert wrong.error is not None
    assert wrong.error["type"] == "wrong_type"


PERSON = {"type": "object", "required": ["age"], "properties": {"age": {"type": "integer"}}}


@pytest.mark.parametrize(
    ("replies", "asked"),
    [
        (['{"age": 36}'], 1),
        (['She is ```json\n{"age": 36}\n``` years old'], 1),
        (["She is 36", {"data": {"age": 36}}], 2),
        (["She is 36", {"data": {"age": "old"}}, {"data": {"age": 36}}], 3),
    ],
)  # fmt: skip
async def test_answers_by_a_schema(
    plain_home: Home, server: ScriptedModels, replies: list[Any], asked: int
) -> None:
    script(server, *replies)
    found = await run(plain_home.platform, {"prompt": "How old?", "output_schema": PERSON})
    assert found.outputs is not None, found.error
    assert (found.outputs["data"], found.outputs["stop_reason"]) == ({"age": 36}, "answer")
    assert len(server.requests) == asked
    assert "JSON Schema" in server.requests[0].system


async def test_an_answer_that_never_fits_fails_the_node(plain_home: Home, server: ScriptedModels) -> None:
    script(server, "old", "older", "oldest")
    found = await run(plain_home.platform, {"prompt": "How old?", "output_schema": PERSON})
    assert found.error is not None
    assert found.error["type"] == "invalid_output"


async def test_schemas_degrade_as_far_as_the_model_has_to(plain_home: Home, server: ScriptedModels) -> None:
    """Native, then JSON mode, then text: what the provider refuses is left out, and what comes is checked each time."""
    seen: list[str] = []

    def reply(asked: Asked) -> Any:
        shape = asked.body.get("response_format", {}).get("type", "text")
        seen.append(shape)
        if shape != "text":
            return {"status": 400, "param": "response_format", "error": "response_format is not supported"}
        return 'I think:\n```json\n{"age": 36}\n```' if len(seen) > 1 else "36 years"

    server.script.rules[:] = [Rule(reply=reply)]
    found = await run(plain_home.platform, {"prompt": "How old?", "output_schema": PERSON})
    assert found.outputs is not None, found.error
    assert found.outputs["data"] == {"age": 36}
    assert seen == ["text", "json_schema", "json_object", "text"]


async def test_limits_of_the_node(plain_home: Home, server: ScriptedModels) -> None:
    script(server, calls(call("calculator", expression="1")), "enough")
    config = {"prompt": "x", "tools": ["calculator"], "limits": {"iterations": 2, "seconds": 60}}
    found = await run(plain_home.platform, config)
    assert found.outputs is not None
    assert (found.outputs["text"], found.outputs["stop_reason"]) == ("enough", "iterations")


async def test_auto_lets_stored_agents_work(plain_home: Home, server: ScriptedModels) -> None:
    await plain_home.platform.agents.add(
        {"name": "mather", "description": "Does sums.", "instructions": "SECRET: you do sums.", "tool_categories": ["math"]},
        by=LOCAL,
    )  # fmt: skip

    def reply(asked: Asked) -> Any:
        seen = sum(message["role"] == "tool" for message in asked.messages)
        names = [tool["function"]["name"] for tool in asked.body.get("tools", ())]
        if "SECRET" in asked.system:
            assert "call_agent" not in names
            return "it is 42" if seen else calls(call("calculator", expression="6 * 7"))
        assert "call_agent" in names
        return "42, says mather" if seen else calls(call("call_agent", agent_id="mather", task="6 times 7?"))

    server.script.rules[:] = [Rule(reply=reply)]
    found = await run(plain_home.platform, {"agent": "auto", "prompt": "Let somebody do 6 times 7."})
    assert found.outputs is not None, found.error
    assert found.outputs["text"] == "42, says mather"
    [made] = found.outputs["tool_calls"]
    assert (made["name"], made["result"]) == ("call_agent", "it is 42")
    assert "SECRET" not in str(found.outputs)
    assert found.outputs["usage"]["calls"] == 4


async def test_resources_by_name(plain_home: Home, server: ScriptedModels, tmp_path: Path) -> None:
    import sqlite3
    from contextlib import closing

    folder = tmp_path / "databases"
    folder.mkdir()
    with closing(sqlite3.connect(folder / "shop.db")) as connection:
        connection.execute("CREATE TABLE orders (id INTEGER PRIMARY KEY, total REAL)")
        connection.execute("INSERT INTO orders VALUES (1, 9.5)")
        connection.commit()
    platform = plain_home.platform
    await platform.store.resources.add(
        "database", "shop", {"dialect": "sqlite", "database": str(folder / "shop.db")}, by=LOCAL
    )
    script(
        server,
        calls(call("database", subcommand="query", database="shop", sql="SELECT total FROM orders")),
        "9.5",
    )
    found = await run(plain_home.platform, {"prompt": "How much?", "tools": ["shop", "calculator"]})
    assert found.outputs is not None, found.error
    assert not found.outputs["tool_calls"][0]["is_error"], found.outputs["tool_calls"]
    names = [tool["function"]["name"] for tool in server.requests[0].body["tools"]]
    assert sorted(names) == ["calculator", "database"]
    missing = await run(plain_home.platform, {"prompt": "?", "tools": ["shop", "nowhere"]})
    assert missing.error is not None
    assert (missing.error["type"], "nowhere" in missing.error["message"]) == ("unknown_tool", True)


async def test_a_recorded_agent_runs_offline(plain_home: Home, server: ScriptedModels) -> None:
    """Whatever has become of the stored agent since: offline the run has the one that it had."""
    import yaml

    from interlace.flows.replay import Wish, plan_replay, start_replay, version_for

    platform = plain_home.platform
    stored = await platform.agents.add(
        {"name": "mather", "instructions": "Sums.", "tool_categories": ["math"]}, by=LOCAL
    )
    script(server, calls(call("calculator", expression="6 * 7")), "42")
    pinned = await platform.documents.from_text(
        yaml.safe_dump(document({"agent": "mather", "prompt": "6 * 7?"}))
    )
    run_id = await platform.runner.start(pinned, Request(options={"record": True}))
    first = await platform.runner.turn(run_id)
    assert first.outputs is not None, first.error
    await platform.agents.remove(stored.id, by=LOCAL)
    asked = len(server.requests)
    pinned = await version_for(platform.documents, await platform.store.runs.get(run_id), "pinned")
    replay = await plan_replay(platform.runner, run_id, pinned, Wish(offline=True))
    again = await platform.runner.turn(await start_replay(platform.runner, replay))
    assert again.outputs == first.outputs, again.error
    assert len(server.requests) == asked


async def test_a_session_stands_before_the_prompt(plain_home: Home, server: ScriptedModels) -> None:
    platform = plain_home.platform
    script(server, "hello Ada")
    session = await platform.chat.create(by=LOCAL)
    turn = await platform.chat.send(session.id, "I am Ada", by=LOCAL)
    assert turn.answer.run_id is not None
    await platform.runner.wait(turn.answer.run_id, 30)
    await platform.runner.idle()
    found = await run(
        platform, {"prompt": "Who am I?", "session": "{{ inputs.session }}"}, session=session.id
    )
    assert found.outputs is not None, found.error
    assert [m["content"] for m in server.requests[-1].messages[1:]] == ["I am Ada", "hello Ada", "Who am I?"]
    other = await run(platform, {"prompt": "Who am I?", "session": "another"})
    assert other.error is not None
    assert other.error["type"] == "resource_not_found"


async def test_files_belong_to_the_question(plain_home: Home, server: ScriptedModels) -> None:
    from dataclasses import asdict

    platform = plain_home.platform
    note = asdict(await platform.store.files.save(b"the note", name="a.txt", media_type="text/plain"))
    photo = asdict(await platform.store.files.save(b"\x89PNG", name="a.png", media_type="image/png"))
    script(server, "seen")
    config = {"prompt": "look", "files": ["{{ inputs.note }}", "{{ inputs.photo }}"]}
    found = await run(platform, config, note=note, photo=photo)
    assert found.outputs is not None, found.error
    parts = server.requests[-1].messages[-1]["content"]
    assert [part["type"] for part in parts] == ["text", "text", "image_url"]
    assert "base64" not in str(found.outputs["messages"])


@pytest.mark.parametrize(
    "wrong",
    [
        {}, {"prompt": "x", "agent": "a", "tools": ["calculator"]}, {"prompt": "x", "agent": "a", "instructions": "y"},
        {"prompt": "x", "history": 0}, {"prompt": "x", "limits": {"iterations": 0}}, {"prompt": "x", "limits": {"x": 1}},
    ],
)  # fmt: skip
def test_configs_that_mean_nothing_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        AgentConfig.model_validate(wrong)


def test_what_is_found_before_a_run() -> None:
    [finding] = check("AGENT", {"prompt": "x", "tools": ["calculater"]})
    assert finding.severity == "warning"
    assert (finding.code, finding.field, finding.fix) == (
        "unknown_tool",
        "config.tools",
        "Did you mean 'calculator'?",
    )
    [finding] = check("AGENT", {"prompt": "x", "output_schema": {"type": "strange"}})
    assert finding.code == "output_schema"

"""The TOOL node: what is found before the run, and what runs of a platform make of it."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from interlace.engine.document import Document, Effects
from interlace.engine.errors import NodeError
from interlace.engine.validate import validate
from interlace.flows.orphans import take_over
from interlace.flows.platform import Platform
from interlace.flows.replay import Wish, plan_replay, start_replay, version_for
from interlace.flows.request import Request
from interlace.flows.settings import Settings
from interlace.resources.http.testing import Reply, serve
from interlace.resources.tools import Gate, ToolContext, ToolResult, builtin_tools
from interlace.resources.tools.typed import Arguments, TypedTool
from tests.flows.documents import chain
from tests.flows.waiting import answer, begin, end_of, pending
from tests.nodes.runs import REGISTRY, check


@pytest.fixture
async def platform(tmp_path: Path) -> AsyncIterator[Platform]:
    opened = await Platform.open(Settings(home=tmp_path / "home", http_allow=["127.0.0.1/32"], prefect="off"))
    yield opened
    await opened.close()


def tool(
    node: str, name: str, /, shared: Mapping[str, Any] | None = None, **arguments: Any
) -> dict[str, Any]:
    return {"id": node, "type": "TOOL", "config": {"tool": name, "arguments": arguments}, **(shared or {})}


async def run(platform: Platform, text: str, **request: Any) -> Any:
    run_id = await platform.runner.start(await platform.documents.from_text(text), Request(**request))
    return run_id, await platform.runner.wait(run_id, 60)


# -- before the run ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("config", "found"),
    [
        ({"tool": "calculator", "arguments": {"expression": "1"}}, []),
        ({"tool": "calculator", "arguments": {"expression": "{{ inputs.x }}", "variables": {"x": "{{ inputs.y }}"}}}, []),
        ({"tool": "calculator", "arguments": "{{ inputs.all }}"}, []),
        ({"tool": "calculater"}, [("unknown_tool", "config.tool", "Did you mean 'calculator'?")]),
        ({"tool": "{{ inputs.tool }}"}, [("fixed_name", "config.tool", "Name it; choose between several by CONDITION.")]),
        ({"tool": "calculator"}, [("tool_arguments", "config.arguments.expression", None)]),
        (
            {"tool": "calculator", "arguments": {"expression": 5, "variable": "{{ inputs.x }}"}},
            [("tool_arguments", "config.arguments.variable", "Did you mean 'variables'?"),
             ("tool_arguments", "config.arguments.expression", None)],
        ),
        (
            {"tool": "convert_time", "arguments": {"time": "{{ inputs.t }}", "to_zone": 5, "read_as": None}},
            [("tool_arguments", "config.arguments.to_zone", None)],
        ),
    ],
)  # fmt: skip
def test_what_is_wrong_is_found_before_the_run(config: dict[str, Any], found: list[Any]) -> None:
    findings = check("TOOL", config)
    assert sorted((f.code, f.field, f.fix) for f in findings) == sorted(found)
    assert all(f.message for f in findings)


def test_a_name_like_no_other_lists_all() -> None:
    (finding,) = check("TOOL", {"tool": "zzz"})
    assert finding.fix is not None
    assert "write_file" in finding.fix


@pytest.mark.parametrize(
    ("config", "effects"),
    [
        ({"tool": "calculator"}, "none"), ({"tool": "write_file"}, "idempotent"), ({"tool": "send_email"}, "once"),
        ({"tool": "http_request", "arguments": {"method": "GET"}}, "none"),
        ({"tool": "http_request", "arguments": {"method": "POST"}}, "once"),
        ({"tool": "http_request", "arguments": "{{ inputs.all }}"}, "once"),
        ({"tool": "http_request", "arguments": {"method": "{{ inputs.method }}"}}, "once"), ({"tool": "nothing"}, "once"),
    ],
)  # fmt: skip
def test_effects_are_the_tools(config: dict[str, Any], effects: Effects) -> None:
    node_type = REGISTRY["TOOL"]
    assert node_type(node_type.config_type.model_validate(config)).effect() == effects


def test_references_are_checked_against_the_result() -> None:
    document = json.loads(chain(tool("t", "statistics", values=[1]), outputs={"a": "{{ t.result.meen }}"}))
    found = validate(Document.model_validate(document), REGISTRY).errors
    assert [problem.code for problem in found] == ["unknown_output"]
    assert "meen" in found[0].message


# -- runs --------------------------------------------------------------------------------------------------------------


async def test_results_are_read_by_later_nodes(platform: Platform) -> None:
    text = chain(
        tool("sum", "calculator", expression="{{ inputs.n }} * 1.1"),
        tool("note", "write_file", path="out/{{ inputs.n }}.txt", text="It is {{ sum.result.text }}."),
        tool("read", "read_file", path="{{ note.result.path }}"),
        outputs={"said": "{{ read.result.text }}", "size": "{{ note.result.file.size }}"},
        inputs={"type": "object", "properties": {"n": {"type": "integer"}}},
    )
    _, result = await run(platform, text, inputs={"n": 7})
    assert result.outputs == {"said": "It is 7.7.", "size": 10}


@pytest.mark.parametrize(
    ("config", "kind", "words"),
    [
        ({"tool": "calculator", "arguments": {"expression": "{{ '1/0' }}"}}, "division_by_zero", "by zero"),
        ({"tool": "calculator", "arguments": "{{ {'expresion': '1'} }}"}, "bad_arguments", "Did you mean 'expression'?"),
        ({"tool": "read_file", "arguments": {"path": "no.txt"}}, "file_not_found", "no file 'no.txt'"),
        ({"tool": "http_request", "arguments": {"url": "http://169.254.169.254/"}}, "blocked_address", ""),
        ({"tool": "send_email", "arguments": {"to": ["a@b.cd"], "subject": "x", "text": "y"}}, "mail", "INTERLACE_SMTP_URL"),
        ({"tool": "kb_search", "arguments": {"knowledge_bases": ["none"], "query": "x"}}, "resource_not_found", "none"),
    ],
)  # fmt: skip
async def test_failures_are_the_nodes(
    platform: Platform, config: dict[str, Any], kind: str, words: str
) -> None:
    _, result = await run(platform, chain({"id": "t", "type": "TOOL", "config": config}))
    assert result.status == "failed"
    assert (result.error["type"], result.error["node"], words in result.error["message"]) == (kind, "t", True)


async def test_a_published_post_runs_unasked_and_carries_the_nodes_key(platform: Platform) -> None:
    async with serve(lambda request: Reply.of({"key": request.headers["idempotency-key"]})) as server:
        node = tool("t", "http_request", url=server.url, method="POST", json={"a": 1})
        run_id, result = await run(platform, chain(node, outputs={"key": "{{ t.result.body.key }}"}))
        assert result.outputs == {"key": f"{run_id}:t"}


async def test_confirm_asks_first(platform: Platform) -> None:
    text = chain(
        tool("t", "calculator", {"confirm": True}, expression="6*7"), outputs={"n": "{{ t.result.value }}"}
    )
    run_id = await begin(platform, text)
    (wait,) = await pending(platform, run_id)
    assert wait.request["config"] == {"tool": "calculator", "arguments": {"expression": "6*7"}}
    await answer(platform, wait)
    assert (await end_of(platform, run_id)).outputs == {"n": 42}


class LaunchArguments(Arguments):
    """What is launched."""

    code: str


class Launch(TypedTool[LaunchArguments]):
    """A tool that always wants a person."""

    name, category = "launch", "code"
    description = "Launch."
    launched: list[str] = []

    async def gate(self, arguments: Mapping[str, Any], ctx: ToolContext) -> Gate:
        return Gate(title=f"Launch {arguments['code']}?", reason="it cannot be called back", always=True)

    async def call(self, arguments: LaunchArguments, ctx: ToolContext) -> ToolResult:
        self.launched.append(arguments.code)
        failed = arguments.code == "dud"
        return ToolResult(
            value={"code": arguments.code}, text="It did not fly." if failed else None, is_error=failed
        )


@pytest.fixture
def launch() -> Iterator[Launch]:
    made = Launch()
    made.launched.clear()
    builtin_tools().add(made)
    yield made
    builtin_tools().remove("launch")


async def test_a_tool_that_always_asks_holds_a_fixed_node_too(platform: Platform, launch: Launch) -> None:
    text = chain(tool("t", "launch", code="alpha"), outputs={"code": "{{ t.result.code }}"})
    refused, agreed = await begin(platform, text), await begin(platform, text)
    (wait,) = await pending(platform, refused)
    assert (wait.request["title"], launch.launched) == ("Launch alpha?", [])
    assert wait.request["config"] == {"tool": "launch", "arguments": {"code": "alpha"}}
    await answer(platform, wait, "reject", comment="not now")
    result = await end_of(platform, refused)
    assert (result.error or {})["type"] == "not_confirmed"
    assert "not now" in (result.error or {})["message"]
    (wait,) = await pending(platform, agreed)
    await answer(platform, wait)
    assert (await end_of(platform, agreed)).outputs == {"code": "alpha"}
    assert launch.launched == ["alpha"]


async def test_an_answer_that_is_a_failure_fails_the_node(platform: Platform, launch: Launch) -> None:
    text = chain(tool("t", "launch", {"confirm": True}, code="dud"))
    run_id = await begin(platform, text)
    (wait,) = await pending(platform, run_id)
    await answer(platform, wait)
    error = (await end_of(platform, run_id)).error or {}
    assert (error["type"], error["message"]) == ("tool_error", "the tool 'launch' failed: It did not fly.")


async def test_a_tool_that_is_gone_when_the_run_begins(platform: Platform, launch: Launch) -> None:
    pinned = await platform.documents.from_text(chain(tool("t", "launch", {"confirm": True}, code="x")))
    builtin_tools().remove("launch")
    run_id = await platform.runner.start(pinned, Request())
    await platform.runner.turn(run_id)
    (wait,) = await pending(platform, run_id)
    await answer(platform, wait)
    error = (await end_of(platform, run_id)).error or {}
    assert error["type"] == "unknown_tool"
    with pytest.raises(NodeError, match="launch"):
        builtin_tools().find("launch")


# -- what files of a run survive ---------------------------------------------------------------------------------------

LOG = chain(
    tool("one", "write_file", path="log", text="one\n", append=True),
    tool("two", "write_file", path="log", text="two\n", append=True),
    tool("three", "edit_file", path="log", old="one", new="first"),
    tool("read", "read_file", path="log"),
    outputs={"log": "{{ read.result.text }}", "replaced": "{{ three.result.replaced }}"},
)
DYING = """
import asyncio, os, sys
from pathlib import Path
from interlace.flows.platform import Platform
from interlace.flows.request import Request
from interlace.flows.settings import Settings

async def main(home, text, last):
    platform = await Platform.open(Settings(home=Path(home), prefect="off"))
    files = platform.store.run_files
    add = files.add

    async def dying(run_id, entry):
        done = await add(run_id, entry)
        if entry.version == last:
            os._exit(9)  # the file is kept, and nobody heard of it
        return done

    files.add = dying
    run_id = await platform.runner.start(await platform.documents.from_text(text), Request(idempotency_key="log"))
    await platform.runner.wait(run_id, 60)

asyncio.run(main(sys.argv[1], sys.argv[2], int(sys.argv[3])))
"""


@pytest.mark.parametrize("version", [1, 2, 3])
async def test_a_crash_right_after_a_write_writes_it_once(tmp_path: Path, version: int) -> None:
    home = tmp_path / "home"
    died = await asyncio.to_thread(
        subprocess.run, [sys.executable, "-c", DYING, str(home), LOG, str(version)], check=False
    )
    assert died.returncode == 9
    platform = await Platform.open(Settings(home=home, prefect="off"))
    try:
        (run_id,) = await take_over(platform.store, platform.runner)
        result = await platform.runner.wait(run_id, 60)
        assert result is not None
        assert result.outputs == {"log": "first\ntwo\n", "replaced": 1}
        (entry,) = await platform.store.run_files.list(run_id)
        assert entry.version == 3
    finally:
        await platform.close()


async def test_a_replay_has_the_files_of_the_nodes_it_reuses(platform: Platform) -> None:
    run_id, result = await run(platform, LOG)
    assert result.outputs == {"log": "first\ntwo\n", "replaced": 1}
    pinned = await version_for(platform.documents, await platform.store.runs.get(run_id), "pinned")
    new = await start_replay(
        platform.runner, await plan_replay(platform.runner, run_id, pinned, Wish(from_node="two"))
    )
    again = await platform.runner.wait(new, 60)
    assert again is not None
    assert again.outputs == result.outputs
    await platform.runner.idle()
    await platform.store.runs.delete(run_id)
    read = await start_replay(
        platform.runner, await plan_replay(platform.runner, new, pinned, Wish(from_node="read"))
    )
    last = await platform.runner.wait(read, 60)
    assert last is not None
    assert last.outputs == result.outputs


async def test_a_recorded_run_is_done_again_with_nothing_reached(platform: Platform) -> None:
    async with serve(lambda _request: Reply.of({"n": 1})) as server:
        text = chain(
            tool("get", "http_request", url=server.url),
            tool("now", "current_time"),
            tool("bases", "kb_list"),
            tool("note", "write_file", path="a.txt", text="{{ get.result.body.n }} {{ now.result.time }}"),
            tool("read", "read_file", path="a.txt"),
            outputs={"text": "{{ read.result.text }}", "bases": "{{ bases.result }}"},
        )
        run_id, result = await run(platform, text, options={"record": True})
        assert result.status == "succeeded", result.error
    await platform.runner.idle()
    pinned = await version_for(platform.documents, await platform.store.runs.get(run_id), "pinned")
    new = await start_replay(
        platform.runner, await plan_replay(platform.runner, run_id, pinned, Wish(offline=True))
    )
    again = await platform.runner.wait(new, 60)
    assert again is not None
    assert (again.status, again.outputs) == ("succeeded", result.outputs)


async def test_a_sub_workflow_has_a_folder_of_its_own(platform: Platform) -> None:
    child = chain(tool("list", "list_files"), name="child", outputs={"files": "{{ list.result.files }}"})
    stored = await platform.store.workflows.push("child", child)
    await platform.store.workflows.publish(stored.workflow_id)
    text = chain(
        tool("note", "write_file", path="a.txt", text="x"),
        {"id": "sub", "type": "SUB_WORKFLOW", "config": {"workflow": "child", "inputs": {}}},
        outputs={"files": "{{ sub.files }}"},
    )
    _, result = await run(platform, text)
    assert result.outputs == {"files": []}

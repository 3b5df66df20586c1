from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from interlace.flows.orphans import take_over
from interlace.flows.platform import Platform
from interlace.flows.request import Request
from interlace.flows.settings import Settings
from tests.flows.conftest import Run
from tests.flows.documents import GREETING, chain, http, sub, template
from tests.loopback import Loopback


async def test_a_child_is_a_run_of_its_own_linked_both_ways(platform: Platform, push: Any, run: Run) -> None:
    await push(GREETING)
    parent = chain(
        sub("call", "greeting", inputs={"name": "Ada"}),
        outputs={"text": "{{ call.text }}", "child": "{{ call.run_id }}"},
    )
    result = await run(parent)
    assert result.outputs is not None
    assert result.outputs["text"] == "Hello Ada"
    child = await platform.store.runs.get(result.outputs["child"])
    assert (child.parent_run_id, child.parent_path, child.depth) == (result.run_id, "call", 1)
    assert [run.id for run in await platform.store.runs.children(result.run_id)] == [child.id]


async def test_a_childs_error_is_the_callers(push: Any, run: Run, loopback: Loopback) -> None:
    await push(chain(http("call", f"{loopback.url}/status/404"), name="failing"))
    result = await run(chain(sub("sub", "failing")))
    assert result.error is not None
    assert (result.error["type"], result.error["path"]) == ("http_404", "sub")
    assert "failed at call" in result.error["message"]


async def test_a_retry_starts_the_child_again(
    push: Any, run: Run, loopback: Loopback, platform: Platform
) -> None:
    await push(chain(http("call", f"{loopback.url}/status/503"), name="failing"))
    node = sub("sub", "failing") | {"retry": {"max": 2, "delay": 0.01}}
    result = await run(chain(node))
    assert result.status == "failed"
    assert loopback.seen["/status/503"] == 3
    assert len(await platform.store.runs.children(result.run_id)) == 3


async def test_a_retry_after_a_crash_starts_the_child_again(settings: Settings, loopback: Loopback) -> None:
    first = await Platform.open(settings)
    child = await first.documents.from_text(chain(http("call", f"{loopback.url}/status/503"), name="failing"))
    pushed = await first.store.workflows.push("failing", child.text)
    await first.store.workflows.publish(pushed.workflow_id)
    node = sub("sub", "failing") | {"retry": {"max": 1, "delay": 0.5}}
    run_id = await first.runner.start(await first.documents.from_text(chain(node)), Request())
    async for event in first.store.events.follow(run_id):
        if event.type == "node.retrying":
            break
    await first.close()
    second = await Platform.open(settings)
    assert run_id in await take_over(second.store, second.runner)
    result = await second.runner.wait(run_id, 10)
    assert result is not None
    assert result.status == "failed"
    assert loopback.seen["/status/503"] == len(await second.store.runs.children(run_id)) == 2
    await second.close()


async def test_cancelling_the_parent_cancels_the_child(
    platform: Platform, push: Any, loopback: Loopback
) -> None:
    await push(chain(http("call", f"{loopback.url}/hold"), name="holding"))
    pinned = await platform.documents.from_text(chain(sub("sub", "holding")))
    run_id = await platform.runner.start(pinned, Request())
    await asyncio.to_thread(loopback.wait_for, "/hold")
    await platform.runner.cancel(run_id)
    await platform.runner.wait(run_id, 10)
    (child,) = await platform.store.runs.children(run_id)
    assert child.status == "cancelled"
    assert "with its parent" in (child.error or {})["message"]


async def test_a_cancelled_child_fails_the_node(platform: Platform, push: Any, loopback: Loopback) -> None:
    await push(chain(http("call", f"{loopback.url}/hold"), name="holding"))
    pinned = await platform.documents.from_text(chain(sub("sub", "holding")))
    run_id = await platform.runner.start(pinned, Request())
    await asyncio.to_thread(loopback.wait_for, "/hold")
    (child,) = await platform.store.runs.children(run_id)
    await platform.runner.cancel(child.id)
    result = await platform.runner.wait(run_id, 10)
    assert result is not None
    assert result.error is not None
    assert (result.status, result.error["type"]) == ("failed", "cancelled")


async def test_a_child_nobody_waits_for_goes_on(platform: Platform, push: Any, run: Run) -> None:
    await push(GREETING)
    parent = chain(
        sub("sub", "greeting", inputs={"name": "Ada"}, wait=False), outputs={"child": "{{ sub.run_id }}"}
    )
    result = await run(parent)
    assert result.outputs is not None
    child = await platform.runner.wait(result.outputs["child"], 10)
    assert child is not None
    assert child.status == "succeeded"


async def test_depth_is_limited(push: Any, run: Run) -> None:
    await push(chain(template("leaf", "x"), name="level0"))
    for level in range(1, 11):
        await push(chain(sub("sub", f"level{level - 1}"), name=f"level{level}"))
    assert (await run(chain(sub("sub", "level9"), name="fits"))).status == "succeeded"


async def test_the_published_version_runs(platform: Platform, push: Any, run: Run) -> None:
    await push(chain(template("t", "one"), outputs={"v": "{{ t.text }}"}, name="versioned"))
    newer = await platform.documents.from_text(
        chain(template("t", "two"), outputs={"v": "{{ t.text }}"}, name="versioned")
    )
    await platform.store.workflows.push("versioned", newer.text)
    for version, wanted in (("published", "one"), ("latest", "two"), (1, "one")):
        result = await run(chain(sub("s", "versioned", version=version), outputs={"v": "{{ s.v }}"}))
        assert result.outputs == {"v": wanted}


async def test_relative_files(platform: Platform, tmp_path: Path) -> None:
    inner = tmp_path / "inner"
    inner.mkdir()
    (inner / "leaf.json").write_text(GREETING)
    call = {"inputs": {"name": "{{ inputs.name }}"}}
    schema = json.loads(GREETING)["inputs"]
    middle = chain(
        sub("leaf", "./leaf.json", **call), outputs={"t": "{{ leaf.text }}"}, name="m", inputs=schema
    )
    (inner / "middle.json").write_text(middle)
    top = chain(
        sub("m", "./inner/middle.json", inputs={"name": "Bo"}), outputs={"t": "{{ m.t }}"}, name="top"
    )
    (tmp_path / "top.json").write_text(top)
    pinned = await platform.documents.from_file(tmp_path / "top.json")
    result = await platform.runner.wait(await platform.runner.start(pinned, Request()), 10)
    assert result is not None
    assert result.outputs == {"t": "Hello Bo"}


async def test_a_file_names_no_workflow_that_is_not_there(platform: Platform, tmp_path: Path) -> None:
    from interlace.engine.errors import InvalidDocument

    (tmp_path / "top.json").write_text(chain(sub("s", "./missing.json")))
    with pytest.raises(InvalidDocument, match=r"There is no workflow '\./missing\.json'"):
        await platform.documents.from_file(tmp_path / "top.json")


async def test_after_a_crash_the_parent_finds_its_child(settings: Settings, loopback: Loopback) -> None:
    first = await Platform.open(settings)
    child = await first.documents.from_text(
        chain(http("call", f"{loopback.url}/hold"), outputs={"n": "{{ call.body.number }}"}, name="holding")
    )
    pushed = await first.store.workflows.push("holding", child.text)
    await first.store.workflows.publish(pushed.workflow_id)
    pinned = await first.documents.from_text(chain(sub("sub", "holding"), outputs={"n": "{{ sub.n }}"}))
    run_id = await first.runner.start(pinned, Request())
    await asyncio.to_thread(loopback.wait_for, "/hold")
    await first.close()
    loopback.release.set()
    second = await Platform.open(settings)
    assert run_id in await take_over(second.store, second.runner)
    result = await second.runner.wait(run_id, 10)
    assert result is not None
    assert result.outputs == {"n": 2}
    assert len(await second.store.runs.children(run_id)) == 1
    await second.close()

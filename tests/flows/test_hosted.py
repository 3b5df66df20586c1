from __future__ import annotations

from interlace.flows.hosted import HostedRuns
from interlace.flows.platform import Platform
from tests.flows.documents import GREETING


async def test_a_flow_run_started_in_prefect_is_the_workflow_owners(platform: Platform) -> None:
    pinned = await platform.documents.from_text(GREETING, owner="ann")
    pushed = await platform.store.workflows.push("greeting", pinned.text, owner="ann")
    await platform.store.workflows.publish(pushed.workflow_id, owner="ann")
    hosted = HostedRuns(platform)
    run_id = await hosted.adopt("flow-1", pushed.workflow_id, {"name": "Ada"})
    assert run_id is not None
    run = await platform.store.runs.get(run_id)
    assert (run.owner, run.workflow_id, run.flow_run_id) == ("ann", pushed.workflow_id, "flow-1")
    assert await hosted.adopt("flow-2", "nothing", {}) is None
    await platform.store.workflows.delete(pushed.workflow_id, owner="ann")
    assert await hosted.adopt("flow-3", pushed.workflow_id, {"name": "Ada"}) is None

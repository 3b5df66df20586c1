from __future__ import annotations

import asyncio
from collections.abc import Mapping
from itertools import pairwise
from typing import Any

import pytest

from interlace.engine.protocols import Children, ChildResult, Services
from interlace.engine.testing import MemoryJournal, edges, run_document
from tests.nodes.runs import REGISTRY, run_node


def document(*nodes: dict[str, Any], chain: str) -> dict[str, Any]:
    steps = chain.split(" > ")
    return {
        "name": "child",
        "nodes": [{"id": "start", "type": "START"}, *nodes],
        "edges": edges(*(f"{a} -> {b}" for a, b in pairwise(steps))),
    }


DONE = {
    "id": "done",
    "type": "END",
    "config": {"outputs": {"double": "{{ inputs.n * 2 }}", "list": "{{ [inputs.n] }}"}},
}
BAD = {"id": "bad", "type": "TRANSFORM", "config": {"input": "x", "steps": [{"parse": "json"}]}}
STORED = {
    "double": document(DONE, chain="start > done"),
    "broken": document(BAD, DONE, chain="start > bad > done"),
    "call-broken": document(
        {"id": "call", "type": "SUB_WORKFLOW", "config": {"workflow": "broken"}},
        DONE,
        chain="start > call > done",
    ),
}


class Runs:
    """Child runs in memory, by the real engine."""

    def __init__(self) -> None:
        self.calls: list[tuple[Any, ...]] = []
        self.cancelled = 0
        self.begun = asyncio.Event()

    async def run(
        self,
        workflow: str,
        version: str | int,
        inputs: Mapping[str, Any],
        *,
        parent: str,
        path: str,
        wait: bool,
    ) -> ChildResult:
        self.calls.append((workflow, version, dict(inputs), bool(parent), path, wait))
        if not wait:
            return ChildResult(run_id="later", status="running")
        if workflow == "endless":
            self.begun.set()
            try:
                await asyncio.Event().wait()
            finally:
                self.cancelled += 1
        result = await run_document(
            STORED[workflow], inputs, registry=REGISTRY, services=Services({Children: self})
        )
        return ChildResult(
            run_id="c1", status=result.status, outputs=result.outputs or {}, error=result.error
        )


async def test_the_child_s_outputs_keep_their_types() -> None:
    runs = Runs()
    run = await run_node(
        "SUB_WORKFLOW",
        {"workflow": "double", "inputs": {"n": "{{ inputs.n }}"}},
        {"n": 21},
        services=Services({Children: runs}),
    )
    assert run.outputs == {"double": 42, "list": [21], "run_id": "c1"}
    assert runs.calls == [("double", "published", {"n": 21}, True, "n", True)]


@pytest.mark.parametrize("version", ["latest", 3])
async def test_without_waiting_only_the_run_is_given(version: Any) -> None:
    runs = Runs()
    run = await run_node(
        "SUB_WORKFLOW",
        {"workflow": "double", "version": version, "wait": False},
        services=Services({Children: runs}),
    )
    assert run.outputs == {"run_id": "later"}
    assert runs.calls[0][1] == version


async def test_a_failing_child_fails_the_node_with_its_kind() -> None:
    run = await run_node(
        "SUB_WORKFLOW", {"workflow": "broken", "inputs": {"n": 1}}, services=Services({Children: Runs()})
    )
    assert run.kind == "parse"
    assert run.message.startswith(
        "workflow 'broken' (run c1) failed at bad: steps[0].parse: the text is no JSON"
    )
    run = await run_node("SUB_WORKFLOW", {"workflow": "call-broken"}, services=Services({Children: Runs()}))
    assert run.message.startswith(
        "workflow 'call-broken' (run c1) failed at call: workflow 'broken' (run c1) failed at bad: "
    )


async def test_cancelling_reaches_the_child() -> None:
    runs = Runs()
    call = {"id": "call", "type": "SUB_WORKFLOW", "config": {"workflow": "endless"}}
    journal = MemoryJournal()
    task = asyncio.ensure_future(
        run_document(
            document(call, DONE, chain="start > call > done"),
            {"n": 1},
            registry=REGISTRY,
            services=Services({Children: runs}),
            journal=journal,
        )
    )
    await runs.begun.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert runs.cancelled == 1
    assert journal.events[-1].type == "run.cancelled"

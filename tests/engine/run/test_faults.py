"""What is not a node's failure stops the run; what is never does more than its error policy says."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

import pytest

from interlace.engine.clock import SystemClock
from interlace.engine.document import Document
from interlace.engine.errors import StoreError
from interlace.engine.node import Node, RunContext, RunInfo
from interlace.engine.protocols import Services
from interlace.engine.run import compile_plan, prepare
from interlace.engine.testing import MemoryJournal, run_document
from interlace.store.errors import CommitError, NotFoundError

from .kinds import EchoConfig, EchoOutput, Gate, registry
from .test_edges import document, echo, end


class Lost(Node[EchoConfig, EchoOutput]):
    """Ask the store for what is not there."""

    kind = "LOST"
    timeout = None

    async def run(self, config: EchoConfig, ctx: RunContext) -> EchoOutput:
        raise NotFoundError("no file 'x'")


class Late(Node[EchoConfig, EchoOutput]):
    """Run into a time-out of its own."""

    kind = "LATE"
    timeout = None

    async def run(self, config: EchoConfig, ctx: RunContext) -> EchoOutput:
        raise TimeoutError


KINDS = registry()
KINDS.add(Lost)
KINDS.add(Late)


class BrokenJournal(MemoryJournal):
    """Refuses commits from the moment it is told to."""

    broken = False

    def append(
        self, kind: str, path: str = "", attempt: int = 0, data: Mapping[str, Any] | None = None
    ) -> None:
        super().append(kind, path, attempt, data)
        self.broken = self.broken or path == "trip"

    def commit(self) -> Any:
        if self.broken:
            raise CommitError("the disk is full")


async def test_a_failed_commit_interrupts_what_runs() -> None:
    Gate.reset()
    doc = document([{"id": "slow", "type": "GATE"}, {"id": "wake", "type": "GATE"}, echo("trip"), end()],
                   "start -> slow", "start -> wake", "wake -> trip", "trip -> end", "slow -> end")  # fmt: skip
    plan = compile_plan(Document.model_validate(doc), KINDS)
    info = RunInfo(id="r", started_at=0.0)
    running = prepare(plan, info, {}, journal=BrokenJournal(), services=Services(), clock=SystemClock())
    task = asyncio.create_task(running.run())
    await Gate.arrived.wait()
    Gate.open("wake")
    with pytest.raises(StoreError, match="disk is full"):
        await task
    assert not Gate.waiting


@pytest.mark.parametrize(("kind", "error"), [("LOST", "not_found"), ("LATE", "internal")])
async def test_a_store_that_refuses_and_a_time_out_inside_are_failures_of_the_node(
    kind: str, error: str
) -> None:
    nodes = [{"id": "n", "type": kind, "on_error": "continue"}, end(why="{{ n.error.type }}")]
    result = await run_document(document(nodes, "start -> n", "n -> end"), registry=KINDS)
    assert result.outputs == {"why": error}

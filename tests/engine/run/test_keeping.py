"""Changes of kept variables: what is under way when the node is cancelled or its time is over has taken place."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any

import pytest

from interlace.engine.clock import SystemClock
from interlace.engine.document import Document
from interlace.engine.node import RunInfo
from interlace.engine.protocols import Services
from interlace.engine.run import Execution, compile_plan, prepare
from interlace.engine.run.memory import MemoryJournal
from interlace.engine.variables import Change
from interlace.flows.node_types import node_types
from tests.flows.documents import chain

VARIABLES = {"n": {"type": "integer", "default": 0, "scope": "workflow"}}


class HeldJournal(MemoryJournal):
    """A change takes until it is let go: before or after it was made."""

    def __init__(self, *, made_first: bool) -> None:
        super().__init__()
        self.made_first = made_first
        self.reached, self.let_go = asyncio.Event(), asyncio.Event()

    async def change(self, change: Change) -> None:
        if self.made_first:
            await super().change(change)
        self.reached.set()
        await self.let_go.wait()
        if not self.made_first:
            await super().change(change)


def execution_of(journal: MemoryJournal, **node: object) -> Execution:
    count = {"id": "count", "type": "VARIABLE_ASSIGN", **node,
             "config": {"assignments": [{"variable": "n", "op": "increment"}]}}  # fmt: skip
    document = Document.model_validate_json(
        json.dumps(json.loads(chain(count, variables=VARIABLES, outputs={"n": "{{ vars.n }}"})))
    )
    return prepare(
        compile_plan(document, node_types()), RunInfo(id="run"), {}, journal=journal, services=Services(),
        clock=SystemClock(), kept=["n"],
    )  # fmt: skip


def of_count(journal: MemoryJournal) -> list[str]:
    return journal.of("count")


@pytest.mark.parametrize("made_first", [True, False])
@pytest.mark.parametrize("node", [{}, {"timeout": 60}], ids=["inline", "task"])
@pytest.mark.parametrize(
    "end", [lambda run: run.cancel("enough"), lambda run: run.detach()], ids=["cancel", "detach"]
)
async def test_a_node_that_is_cancelled_at_its_commit_has_succeeded(
    made_first: bool, node: dict[str, object], end: Callable[[Execution], None]
) -> None:
    journal = HeldJournal(made_first=made_first)
    execution = execution_of(journal, **node)
    task = asyncio.create_task(execution.run())
    await journal.reached.wait()
    end(execution)
    await asyncio.sleep(0)
    assert not task.done()
    journal.let_go.set()
    await asyncio.wait([task])
    assert of_count(journal) == ["node.started", "node.succeeded"]
    assert journal.kept == {"n": 1}


async def test_so_has_one_whose_time_is_over() -> None:
    journal = HeldJournal(made_first=True)
    task = asyncio.create_task(execution_of(journal, timeout=0.02).run())
    await journal.reached.wait()
    asyncio.get_running_loop().call_later(0.05, journal.let_go.set)
    result = await task
    assert (result.status, result.outputs) == ("succeeded", {"n": 1})
    assert of_count(journal) == ["node.started", "node.succeeded"]


class MendedJournal(MemoryJournal):
    """Somebody sets the variable anew when the node waits for its next attempt."""

    def append(self, kind: str, path: str = "", attempt: int = 0, data: Any = None) -> None:
        super().append(kind, path, attempt, data)
        if kind == "node.retrying":
            self.kept["n"] = 7


async def test_a_change_that_fails_is_tried_again_and_counts_once() -> None:
    journal = MendedJournal()
    journal.kept["n"] = "seven"
    result = await execution_of(journal, retry={"max": 2, "delay": 0.01, "on": ["variable_type"]}).run()
    assert (result.outputs, journal.kept) == ({"n": 8}, {"n": 8})
    assert of_count(journal) == [
        "node.started",
        "node.log",
        "node.retrying",
        "node.started",
        "node.succeeded",
    ]

"""Nodes that wait: they hold nothing, others go on, and the run's turn ends when nothing else can."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from interlace.engine.document import Document
from interlace.engine.node import Config, Node, OpenOutput, RunContext, RunInfo
from interlace.engine.protocols import Services
from interlace.engine.run import Execution, RunResult, compile_plan, prepare
from interlace.engine.testing import MemoryJournal, edges
from interlace.engine.waits import Answer, Suspend, Wanted

from .kinds import Gate, registry
from .resuming import recorded_from
from .test_edges import document, echo, end


class Ask(Node[Config, OpenOutput]):
    """Waits for a person."""

    kind = "ASK"
    timeout = None

    def run(self, config: Config, ctx: RunContext) -> OpenOutput:
        raise Suspend(Wanted(kind="human", request={"title": ctx.path}, state={"asked": ctx.path}))

    def resume(self, state: Any, answer: Answer, ctx: RunContext) -> OpenOutput:
        return OpenOutput(**{"action": answer.action, **state})


KINDS = registry()
KINDS.add(Ask)


class StoppedClock:
    def __init__(self, now: float = 1000.0) -> None:
        self.time = now
        self.slept: list[float] = []

    def now(self) -> float:
        return self.time

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.time += seconds


class Turns:
    """A run in memory, turn by turn."""

    def __init__(self, doc: dict[str, Any]) -> None:
        self.plan = compile_plan(Document.model_validate(doc), KINDS)
        self.journal = MemoryJournal()
        self.clock = StoppedClock()
        self.answers: dict[str, Answer] = {}
        self.execution: Execution

    def begin(self) -> Execution:
        known = recorded_from(self.journal.events) if self.journal.events else None
        self.execution = prepare(
            self.plan, RunInfo(id="r", started_at=1000.0), {}, journal=self.journal, services=Services(),
            clock=self.clock, recorded=known, answers=self.answers,
        )  # fmt: skip
        return self.execution

    async def turn(self) -> RunResult:
        return await self.begin().run()

    def answer(self, path: str, action: str = "yes") -> None:
        wait_id = next(
            e.data["id"]
            for e in reversed(self.journal.events)
            if (e.type, e.path) == ("node.suspended", path)
        )
        self.answers[wait_id] = Answer(action=action)

    def times(self, kind: str, path: str) -> int:
        return sum((event.type, event.path) == (kind, path) for event in self.journal.events)


def ask(name: str, **more: Any) -> dict[str, Any]:
    return {"id": name, "type": "ASK", **more}


def pair() -> dict[str, Any]:
    return document(
        [ask("a"), ask("b"), end(v="{{ a.action + b.action }}")],
        "start -> a",
        "start -> b",
        "a -> end",
        "b -> end",
    )


async def test_two_waits_at_once_are_answered_one_by_one() -> None:
    turns = Turns(pair())
    first = await turns.turn()
    assert (first.status, len(first.waiting)) == ("suspended", 2)
    turns.answer("b", "B")
    assert (await turns.turn()).waiting == first.waiting[:1]
    turns.answer("a", "A")
    result = await turns.turn()
    assert result.outputs == {"v": "AB"}
    assert [turns.times("node.started", path) for path in ("start", "a", "b")] == [1, 1, 1]
    assert [turns.times("node.suspended", path) for path in ("a", "b")] == [1, 1]


async def until(condition: Callable[[], bool]) -> None:
    """Let the loop turn until something holds."""
    for _ in range(1000):
        if condition():
            return
        await asyncio.sleep(0)
    raise AssertionError("it never came to hold")


async def test_an_answer_goes_on_at_once_while_other_branches_run() -> None:
    Gate.reset()
    nodes = [ask("a"), echo("b", "{{ a.action }}"), {"id": "slow", "type": "GATE"}, end(v="{{ b.value }}")]
    turns = Turns(document(nodes, "start -> a", "a -> b", "start -> slow", "slow -> end", "b -> end"))
    running = asyncio.ensure_future(turns.begin().run())
    await Gate.arrived.wait()
    [wait_id] = turns.execution.waits.pending
    assert turns.execution.waits.answer(wait_id, Answer(action="yes"))
    assert not turns.execution.waits.answer(wait_id, Answer(action="no"))
    await until(lambda: "node.succeeded" in turns.journal.of("b"))
    assert "node.succeeded" not in turns.journal.of("slow")
    Gate.open("slow")
    result = await running
    assert result.outputs == {"v": "yes"}
    assert turns.times("run.suspended", "") == 0


async def test_waiting_nodes_take_no_place_of_others() -> None:
    nodes = [*(ask(f"a{n}") for n in range(5)), echo("b", 1), end()]
    ways = [
        *(f"start -> a{n}" for n in range(5)),
        *(f"a{n} -> b" for n in range(5)),
        "start -> b",
        "b -> end",
    ]
    turns = Turns(document(nodes, *ways, settings={"max_concurrency": 1}))
    result = await turns.turn()
    assert len(result.waiting) == 5


async def test_items_of_an_iteration_wait_and_answer_in_any_order() -> None:
    body = {"nodes": [ask("q"), echo("v", "{{ item ~ q.action }}")], "edges": edges("q -> v")}
    config = {"items": ["x", "y", "z"], "parallel": 3, "output": "{{ v.value }}"}
    nodes = [{"id": "each", "type": "ITERATION", "config": config, "body": body}, end(v="{{ each.results }}")]
    turns = Turns(document(nodes, "start -> each", "each -> end"))
    assert len((await turns.turn()).waiting) == 3
    for index, left in ((2, 2), (0, 1)):
        turns.answer(f"each[{index}].q", str(index))
        assert len((await turns.turn()).waiting) == left
    turns.answer("each[1].q", "1")
    result = await turns.turn()
    assert result.outputs == {"v": ["x0", "y1", "z2"]}
    assert [turns.times("node.started", path) for path in ("each", "each[0].q", "each[2].v")] == [1, 1, 1]
    assert turns.times("iteration.item", "each") == 3


async def test_each_round_of_a_loop_asks_anew() -> None:
    body = {"nodes": [ask("q")], "edges": []}
    loop = {"id": "loop", "type": "LOOP", "config": {"max_rounds": 3, "on_max": "continue"}, "body": body}
    turns = Turns(document([loop, end(v="{{ loop.rounds }}")], "start -> loop", "loop -> end"))
    for number in range(3):
        assert (await turns.turn()).status == "suspended"
        turns.answer(f"loop#{number}.q")
    assert (await turns.turn()).outputs == {"v": 3}
    assert turns.times("loop.round", "loop") == 3


async def test_what_an_ended_scope_waited_for_is_withdrawn() -> None:
    body = {"nodes": [ask("q"), echo("b", 1)], "edges": edges("b -> $break")}
    config = {"items": [1], "output": 1}
    nodes = [{"id": "each", "type": "ITERATION", "config": config, "body": body}, end(v="{{ each.count }}")]
    turns = Turns(document(nodes, "start -> each", "each -> end"))
    result = await turns.turn()
    assert result.outputs == {"v": 0}
    assert turns.journal.of("each[0].q") == ["node.started", "node.suspended", "node.cancelled"]


async def test_a_retried_container_asks_again() -> None:
    body = {
        "nodes": [ask("q"), {"id": "bad", "type": "FAIL", "config": {"times": 1}}],
        "edges": edges("q -> bad"),
    }
    each = {"id": "each", "type": "ITERATION", "config": {"items": [1]}, "body": body,
            "retry": {"max": 1, "delay": 0, "on": ["boom"]}}  # fmt: skip
    turns = Turns(document([each, end()], "start -> each", "each -> end"))
    for asked in (1, 2):
        assert (await turns.turn()).status == "suspended"
        assert turns.times("node.suspended", "each[0].q") == asked
        turns.answer("each[0].q")
    assert (await turns.turn()).status == "failed"


async def test_a_pause_suspends_and_a_short_one_is_slept_through() -> None:
    turns = Turns(
        document([echo("a", 1, wait={"for": "2h"}), end(v="{{ a.value }}")], "start -> a", "a -> end")
    )
    assert (await turns.turn()).status == "suspended"
    turns.clock.time += 7199
    assert (await turns.turn()).status == "suspended"
    turns.clock.time += 1
    assert (await turns.turn()).outputs == {"v": 1}
    assert (turns.clock.slept, turns.times("node.suspended", "a"), turns.times("node.started", "a")) == (
        [],
        1,
        1,
    )
    short = Turns(
        document([echo("a", 1, wait={"for": "1s"}), end(v="{{ a.value }}")], "start -> a", "a -> end")
    )
    assert (await short.turn()).outputs == {"v": 1}
    assert short.clock.slept == [1.0]


async def test_a_confirmation_shows_the_config_and_is_asked_once() -> None:
    turns = Turns(
        document([echo("a", "{{ 1 + 1 }}", confirm=True), end(v="{{ a.value }}")], "start -> a", "a -> end")
    )
    assert (await turns.turn()).status == "suspended"
    [shown] = [event.data for event in turns.journal.events if event.type == "node.suspended"]
    assert (shown["phase"], shown["request"]["config"]) == ("confirm", {"value": 2})
    assert turns.times("node.started", "a") == 0
    turns.answer("a", "approve")
    assert (await turns.turn()).outputs == {"v": 2}


async def test_what_is_not_confirmed_does_not_run() -> None:
    for action, text in (("reject", "did not confirm"), ("timeout", "in time")):
        turns = Turns(document([echo("a", 1, confirm=True), end()], "start -> a", "a -> end"))
        await turns.turn()
        turns.answer("a", action)
        result = await turns.turn()
        assert result.error is not None
        assert (result.error["type"], text in result.error["message"]) == ("not_confirmed", True)
        assert turns.times("node.started", "a") == 0

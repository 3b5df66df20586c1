"""The test node types, at once or after a random number of turns of the event loop; they note what they did."""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from collections.abc import Awaitable, Iterable, Mapping
from typing import Any, ClassVar

import interlace.nodes
from interlace.engine.errors import NodeError
from interlace.engine.node import Node, OpenOutput, RunContext
from interlace.engine.registry import Registry
from interlace.engine.testing import MemoryJournal
from tests.engine.run.kinds import EchoConfig, EchoOutput, FailConfig, PickConfig


class Order:
    """Decides when nodes finish, and keeps which of them ran."""

    random: ClassVar[random.Random] = random.Random(0)
    ran: ClassVar[list[str]] = []
    failures: ClassVar[Counter[str]] = Counter()
    """How often each FAIL has failed; an attempt that a crash interrupted does not count."""

    @classmethod
    def reset(cls, seed: int, failures: Iterable[str] = ()) -> None:
        cls.random, cls.ran, cls.failures = random.Random(seed), [], Counter(failures)

    @classmethod
    async def turn(cls) -> None:
        for _ in range(cls.random.choice((0, 0, 1, 2, 5, 9))):
            await asyncio.sleep(0)


def fail(config: FailConfig, ctx: RunContext) -> EchoOutput:
    Order.ran.append(ctx.path)
    if Order.failures[ctx.path] < config.times:
        Order.failures[ctx.path] += 1
        raise NodeError("failed on purpose", kind=config.type)
    return EchoOutput(value=Order.failures[ctx.path] + 1)


def echo(config: EchoConfig, ctx: RunContext) -> EchoOutput:
    Order.ran.append(ctx.path)
    return EchoOutput(value=config.value)


def pick(config: PickConfig, ctx: RunContext) -> OpenOutput:
    Order.ran.append(ctx.path)
    ctx.take(*config.take)
    return OpenOutput()


class Picking(Node[PickConfig, OpenOutput]):
    """Take the handles it is told to take."""

    kind = "PICK"

    def handles(self) -> tuple[str, ...]:
        return tuple(self.config.handles)

    def exclusive(self) -> bool:
        return False


class QuickEcho(Node[EchoConfig, EchoOutput]):
    """Give the value back."""

    kind = "ECHO"

    def run(self, config: EchoConfig, ctx: RunContext) -> EchoOutput:
        return echo(config, ctx)


class SlowEcho(Node[EchoConfig, EchoOutput]):
    """Give the value back, later."""

    kind = "ECHO"

    async def run(self, config: EchoConfig, ctx: RunContext) -> EchoOutput:
        await Order.turn()
        return echo(config, ctx)


class QuickFail(Node[FailConfig, EchoOutput]):
    """Fail a number of times, then give the attempt."""

    kind = "FAIL"

    def run(self, config: FailConfig, ctx: RunContext) -> EchoOutput:
        return fail(config, ctx)


class SlowFail(Node[FailConfig, EchoOutput]):
    """Fail a number of times, then give the attempt, later."""

    kind = "FAIL"

    async def run(self, config: FailConfig, ctx: RunContext) -> EchoOutput:
        await Order.turn()
        return fail(config, ctx)


class QuickPick(Picking):
    """Take the handles it is told to take."""

    def run(self, config: PickConfig, ctx: RunContext) -> OpenOutput:
        return pick(config, ctx)


class SlowPick(Picking):
    """Take the handles it is told to take, later."""

    async def run(self, config: PickConfig, ctx: RunContext) -> OpenOutput:
        await Order.turn()
        return pick(config, ctx)


class SlowJournal(MemoryJournal):
    """Commits after a random number of turns, and notes where a node starts on results that are not committed.

    `before` has, for a node's id, the ids of the nodes that it waits for in its scope.
    """

    def __init__(self, before: Mapping[str, set[str]]) -> None:
        super().__init__()
        self._before = before
        self._uncommitted: Counter[str] = Counter()
        self.early: list[str] = []

    def append(
        self, kind: str, path: str = "", attempt: int = 0, data: Mapping[str, Any] | None = None
    ) -> None:
        super().append(kind, path, attempt, data)
        scope, dot, name = path.rpartition(".")
        if kind == "node.started":
            early = [source for source in self._before[name] if self._uncommitted[f"{scope}{dot}{source}"]]
            self.early += [f"{path} started before the result of {source} was committed" for source in early]
        elif kind in ("node.succeeded", "node.failed", "node.skipped"):
            self._uncommitted[path] += 1

    def commit(self) -> Awaitable[None] | None:  # type: ignore[override]
        return self._commit() if self._uncommitted else None

    async def _commit(self) -> None:
        held = self._uncommitted.copy()
        await Order.turn()
        self._uncommitted -= held


class Clock:
    """Time that passes only by sleeping, one turn of the event loop each."""

    def __init__(self) -> None:
        self._now = 1_000_000.0

    def now(self) -> float:
        return self._now

    async def sleep(self, seconds: float) -> None:
        self._now += seconds
        await asyncio.sleep(0)


def registry(*, slow: bool) -> Registry:
    found = Registry()
    found.discover(interlace.nodes)
    for kind in (SlowEcho, SlowFail, SlowPick) if slow else (QuickEcho, QuickFail, QuickPick):
        found.add(kind)
    return found

"""Node types for tests of the engine: they fail, wait and count as told."""

from __future__ import annotations

import asyncio
from typing import Any, ClassVar

import interlace.nodes
from interlace.engine.errors import NodeError
from interlace.engine.fields import Data, Dynamic
from interlace.engine.node import Config, Node, OpenOutput, Output, RunContext
from interlace.engine.registry import Registry


class EchoConfig(Config):
    value: Dynamic[Data] = None


class EchoOutput(Output):
    value: Any = None


class Echo(Node[EchoConfig, EchoOutput]):
    """Give the value back."""

    kind = "ECHO"

    def run(self, config: EchoConfig, ctx: RunContext) -> EchoOutput:
        return EchoOutput(value=config.value)


class FailConfig(Config):
    type: str = "boom"
    times: int = 1000
    retry_after: float | None = None


class Fail(Node[FailConfig, EchoOutput]):
    """Fail a number of times, then give the attempt."""

    kind = "FAIL"

    async def run(self, config: FailConfig, ctx: RunContext) -> EchoOutput:
        if ctx.attempt <= config.times:
            raise NodeError(
                f"failed on purpose ({ctx.attempt})", kind=config.type, retry_after=config.retry_after
            )
        return EchoOutput(value=ctx.attempt)


class Gate(Node[EchoConfig, EchoOutput]):
    """Wait until a test opens the gate of this path; counts how many wait at once."""

    kind = "GATE"
    gates: ClassVar[dict[str, asyncio.Event]] = {}
    waiting: ClassVar[set[str]] = set()
    peak: ClassVar[int] = 0
    arrived: ClassVar[asyncio.Event]

    @classmethod
    def reset(cls) -> None:
        cls.gates = {}
        cls.waiting = set()
        cls.peak = 0
        cls.arrived = asyncio.Event()

    @classmethod
    def open(cls, path: str) -> None:
        cls.gates.setdefault(path, asyncio.Event()).set()

    async def run(self, config: EchoConfig, ctx: RunContext) -> EchoOutput:
        self.waiting.add(ctx.path)
        type(self).peak = max(type(self).peak, len(self.waiting))
        self.arrived.set()
        try:
            await self.gates.setdefault(ctx.path, asyncio.Event()).wait()
        finally:
            self.waiting.discard(ctx.path)
        return EchoOutput(value=config.value)


class PickConfig(Config):
    handles: list[str] = ["a", "b"]
    take: Dynamic[list[str]] = ["a"]


class Pick(Node[PickConfig, OpenOutput]):
    """Take the handles it is told to take."""

    kind = "PICK"

    def handles(self) -> tuple[str, ...]:
        return tuple(self.config.handles)

    def run(self, config: PickConfig, ctx: RunContext) -> OpenOutput:
        ctx.take(*config.take)
        return OpenOutput()


def registry() -> Registry:
    found = Registry()
    found.discover(interlace.nodes)
    for kind in (Echo, Fail, Gate, Pick):
        found.add(kind)
    return found

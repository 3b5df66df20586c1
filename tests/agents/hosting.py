"""A node that hosts the loop with whatever a test gives it, tools that write down what is done, and runs turn by turn."""

from __future__ import annotations

import asyncio
import copy
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, ClassVar

from interlace.agents.loop import Loop, Profile, Task, Work
from interlace.agents.outfit import Choice, Outfit, Outfitter
from interlace.agents.toolset import ToolSet
from interlace.engine.clock import SystemClock
from interlace.engine.document import Document, Effects
from interlace.engine.events import Event
from interlace.engine.fields import Dynamic
from interlace.engine.node import Config, Node, RunContext, RunInfo
from interlace.engine.protocols import Clock, Services
from interlace.engine.run import Execution, RunResult, compile_plan, prepare
from interlace.engine.testing import MemoryJournal, edges
from interlace.engine.waits import Answer
from interlace.nodes.agent import AgentOutput
from interlace.resources.agents.definition import Limits, ModelConfig, read_hooks
from interlace.resources.agents.hooking import Hooks
from interlace.resources.models.testing import Asked, ScriptedModels
from interlace.resources.tools.tool import Category, Gate, Tool, ToolContext, ToolResult
from tests.engine.run.resuming import recorded_from
from tests.nodes.models import scripted
from tests.nodes.runs import REGISTRY

Function = Callable[..., Any]


@dataclass
class World:
    """What tools did, in order: `(tool, arguments, idempotency key)`."""

    done: list[tuple[str, dict[str, Any], str]] = field(default_factory=list)
    tools: Callable[[World], list[Tool]] = lambda world: []
    unloaded: Callable[[World], list[Tool]] = lambda world: []
    profile: Profile = field(default_factory=Profile)
    toolset: ToolSet = field(default_factory=lambda: ToolSet(()))
    """Those of the newest turn of the node."""

    async def outfit(self, choice: Choice, ctx: ToolContext) -> Outfit:
        self.toolset = ToolSet(self.tools(self), unloaded=self.unloaded(self))
        return Outfit(profile=self.profile, tools=self.toolset)

    def load(self, names: list[str]) -> list[str]:
        return self.toolset.load(names)

    def names(self) -> list[str]:
        return [name for name, _, _ in self.done]


@dataclass
class SmallTool:
    """A tool made of a function of its arguments, which may be a coroutine and may raise."""

    world: World
    name: str
    function: Function
    parameters: dict[str, Any] = field(default_factory=dict)
    kind: Effects = "none"
    asks: Callable[[Mapping[str, Any]], Gate | None] = lambda arguments: None
    category: Category = "data"
    description: str = "Does something small."

    @property
    def parameters_schema(self) -> dict[str, Any]:
        return {
            "type": "object",
            "properties": self.parameters,
            "required": list(self.parameters),
            "additionalProperties": False,
        }

    def effects(self, arguments: Mapping[str, Any]) -> Effects:
        return self.kind

    async def gate(self, arguments: Mapping[str, Any], ctx: ToolContext) -> Gate | None:
        return self.asks(arguments)

    async def run(self, arguments: Mapping[str, Any], ctx: ToolContext) -> ToolResult:
        self.world.done.append((self.name, dict(arguments), ctx.idempotency_key))
        result = self.function(**arguments)
        if isinstance(result, Awaitable):
            result = await result
        return result if isinstance(result, ToolResult) else ToolResult(value=result)


NUMBERS = {"a": {"type": "integer"}, "b": {"type": "integer"}}


def request_tools(world: World) -> SmallTool:
    """Loads other tools."""
    return SmallTool(world, "request_tools", world.load, {"names": {"type": "array"}})


def add(world: World, **more: Any) -> SmallTool:
    return SmallTool(world, "add", lambda a, b: a + b, NUMBERS, **more)


def send(world: World, **more: Any) -> SmallTool:
    """Sends once, after somebody agreed."""
    settings: dict[str, Any] = {
        "kind": "once", "asks": lambda arguments: Gate(title=f"Send to {arguments['to']}", reason="Mail leaves the house."),
    }  # fmt: skip
    does = more.pop("does", lambda to: f"sent to {to}")
    return SmallTool(world, "send", does, {"to": {"type": "string"}}, **{**settings, **more})


class HostedConfig(Config):
    """The question."""

    prompt: Dynamic[str] = "go"
    output_schema: dict[str, Any] | None = None
    stream: bool = False


class Hosted(Node[HostedConfig, AgentOutput]):
    """Hosts the loop."""

    kind = "HOSTED"
    effects = "idempotent"
    timeout: ClassVar[float | None] = 1800.0

    async def run(self, config: HostedConfig, ctx: RunContext) -> AgentOutput:
        outfit = await ctx.service(Outfitter).outfit(Choice(), ctx)
        task = Task(prompt=config.prompt, output_schema=config.output_schema, stream=config.stream)
        found = await Loop(Work(ctx), outfit.profile, outfit.tools, task).run()
        return AgentOutput(
            text=found.text, data=found.data, messages=list(found.messages), tool_calls=list(found.tool_calls),
            usage=found.usage.plain(), stop_reason=found.stop_reason,
        )  # fmt: skip


KINDS = copy.copy(REGISTRY)
if "HOSTED" not in KINDS:
    KINDS.add(Hosted)

ONE = {
    "name": "one",
    "nodes": [
        {"id": "start", "type": "START"}, {"id": "n", "type": "HOSTED"},
        {"id": "done", "type": "END", "config": {"outputs": {
            "text": "{{ n.text }}", "why": "{{ n.stop_reason }}", "calls": "{{ n.tool_calls }}", "data": "{{ n.data }}"}}},
    ],
    "edges": list(edges("start -> n", "n -> done")),
}  # fmt: skip


class Stage:
    """A run in memory, turn by turn; a process that died is the same journal, cut off somewhere."""

    def __init__(
        self, world: World, services: Services, server: ScriptedModels, document: Mapping[str, Any] = ONE
    ) -> None:
        self.world = world
        self.server = server
        self.services = Services({**services._entries, Outfitter: world})
        self.plan = compile_plan(Document.model_validate(document), KINDS)
        self.journal = MemoryJournal()
        self.clock: Clock = SystemClock()
        self.answers: dict[str, Answer] = {}
        self.trigger: dict[str, Any] = {"kind": "manual"}
        self.execution: Execution

    def begin(self) -> Execution:
        known = recorded_from(self.journal.events) if self.journal.events else None
        self.execution = prepare(
            self.plan, RunInfo(id="r", started_at=time.time(), trigger=self.trigger), {}, journal=self.journal, services=self.services,
            clock=self.clock, recorded=known, answers=self.answers,
        )  # fmt: skip
        return self.execution

    async def turn(self) -> RunResult:
        return await self.begin().run()

    async def outputs(self) -> dict[str, Any]:
        result = await self.turn()
        assert result.outputs is not None, result
        return result.outputs

    def cut(self, length: int) -> Stage:
        """The same run, as a process finds it whose forerunner died after so many events."""
        other = Stage.__new__(Stage)
        other.__dict__.update(self.__dict__)
        other.journal = MemoryJournal()
        other.journal.events = copy.deepcopy(self.journal.events[:length])
        return other

    def requests(self) -> dict[str, dict[str, Any]]:
        """The data of all requests so far, by key."""
        return {event.data["key"]: event.data for event in self.of("node.suspended") if "key" in event.data}

    def answer(self, key: str, action: str = "approve", **more: Any) -> None:
        self.answers[self.requests()[key]["id"]] = Answer(action=action, **more)

    def of(self, kind: str) -> list[Event]:
        return [event for event in self.journal.events if event.type == kind]

    @property
    def asked(self) -> list[Asked]:
        return self.server.requests


@asynccontextmanager
async def stage(
    *replies: Any, tools: Callable[[World], list[Tool]] | None = None, limits: Mapping[str, Any] | None = None,
    how: Mapping[str, Any] | None = None, hooks: Any = (), rules: Any = None, document: Mapping[str, Any] = ONE,
    config: Mapping[str, Any] | None = None, model: dict[str, Any] | None = None, **world: Any,
) -> AsyncIterator[Stage]:  # fmt: skip
    """A run of the loop with scripted models; `rules` instead of replies answers by what is asked."""
    profile = Profile(
        instructions="Help.",
        limits=Limits(**(limits or {})),
        how=ModelConfig(**(how or {})),
        hooks=Hooks(read_hooks(hooks)),
    )
    async with scripted(*(replies or ([rules] if rules is None else [])), model=model) as models:
        if rules is not None:
            models.server.script = models.server.script.model_copy(update={"rules": rules})
        made = World(tools=tools or (lambda world: [add(world)]), profile=profile, **world)
        nodes = [
            {**node, "config": config, **node} if node["id"] == "n" and config else node
            for node in document["nodes"]
        ]
        yield Stage(made, models.services, models.server, {**document, "nodes": nodes})


def call(name: str, **arguments: Any) -> dict[str, Any]:
    return {"name": name, "arguments": arguments}


def calls(*wanted: dict[str, Any], text: str | None = None) -> dict[str, Any]:
    """A reply that asks for calls."""
    named = [{"id": f"c{index}", **entry} for index, entry in enumerate(wanted)]
    return {"tool_calls": named} | ({"text": text} if text is not None else {})


async def until(condition: Callable[[], bool]) -> None:
    """Let the loop turn until something holds."""
    end = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < end, "it never came to hold"
        await asyncio.sleep(0.001)

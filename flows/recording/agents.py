"""Agents as recorded and offline runs see them: who works, and what each call of a tool gave."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import asdict
from typing import Any

from interlace.agents.loop.task import Profile
from interlace.agents.loop.work import CallContext
from interlace.agents.outfit import Choice, Outfit, Outfitter
from interlace.agents.toolset import ToolSet
from interlace.engine.chat import Usage
from interlace.engine.document import Effects
from interlace.engine.schema import Schema
from interlace.flows.recording.outside import Form, Outside
from interlace.resources.agents.definition import Limits, ModelConfig
from interlace.resources.tools.tool import Category, Gate, Tool, ToolContext, ToolResult, part_of

_GATE: Form[Gate | None] = Form(
    lambda gate: None if gate is None else asdict(gate), lambda kept: None if kept is None else Gate(**kept)
)


class KeptTool:
    """A tool whose calls go through the record. Implements `Tool`.

    Args:
        about: `{name, description, parameters, category}`.
        real: the tool itself; None offline, where every call has to be in the record.
    """

    def __init__(self, about: Mapping[str, Any], real: Tool | None, outside: Outside, tools: ToolSet) -> None:
        self.name: str = about["name"]
        self.description: str = about["description"]
        self.parameters_schema: Schema = about["parameters"]
        self.category: Category = about["category"]
        self.part_of = None if real is None else part_of(real)
        self._real = real
        self._outside = outside
        self._tools = tools

    def effects(self, arguments: Mapping[str, Any]) -> Effects:
        """As the tool says; what is taken from the record does nothing."""
        return "none" if self._real is None else self._real.effects(arguments)

    async def gate(self, arguments: Mapping[str, Any], ctx: ToolContext) -> Gate | None:
        """Whether a person had to agree."""
        return await self._outside.ask(
            "tool.gate", self._request(arguments), self._gate(arguments, ctx), _GATE
        )

    async def run(self, arguments: Mapping[str, Any], ctx: ToolContext) -> ToolResult:
        """What the call gave, with what it changed: tools that it loaded, what a delegate spent."""

        async def perform() -> dict[str, Any]:
            assert self._real is not None
            before = set(self._tools.active)
            result = await self._real.run(arguments, ctx)
            spent = ctx.spent if isinstance(ctx, CallContext) else None
            return {
                "result": {**asdict(result), "citations": [dict(entry) for entry in result.citations]},
                "loaded": [name for name in self._tools.active if name not in before],
                "usage": None if spent is None else spent.usage.plain(),
            }

        kept = await self._outside.ask("tool", self._request(arguments), perform, _AS_IT_IS)
        if self._real is None:
            self._tools.load(kept["loaded"])
            if kept["usage"] is not None and isinstance(ctx, CallContext):
                ctx.work.spending.add(Usage.model_validate(kept["usage"]))
        return ToolResult(**{**kept["result"], "citations": tuple(kept["result"]["citations"])})

    def _request(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        return {"tool": self.name, "arguments": dict(arguments)}

    def _gate(self, arguments: Mapping[str, Any], ctx: ToolContext) -> Callable[[], Awaitable[Gate | None]]:
        async def perform() -> Gate | None:
            assert self._real is not None
            return await self._real.gate(arguments, ctx)

        return perform


_AS_IT_IS: Form[dict[str, Any]] = Form(lambda kept: kept, lambda kept: kept)


class RecordedOutfitter:
    """Implements `Outfitter`: what was found is kept, and so is all that its tools give."""

    def __init__(self, outfitter: Outfitter, outside: Outside) -> None:
        self._outfitter = outfitter
        self._outside = outside

    async def outfit(self, choice: Choice, ctx: ToolContext) -> Outfit:
        """The agent and its tools, which go through the record."""
        found: Outfit | None = None

        async def perform() -> dict[str, Any]:
            nonlocal found
            found = await self._outfitter.outfit(choice, ctx)
            return _kept(found)

        kept = await self._outside.ask("agent", asdict(choice), perform, _AS_IT_IS)
        profile = found.profile if found is not None else _profile(kept["profile"])
        tools = ToolSet((), notes=kept["notes"]) if found is None else found.tools
        tools.wrap(
            lambda about, real: KeptTool(about, real, self._outside, tools), kept["active"], kept["unloaded"]
        )
        return Outfit(profile=profile, tools=tools)


def _kept(outfit: Outfit) -> dict[str, Any]:
    tools, profile = outfit.tools, outfit.profile
    return {
        "profile": {
            "instructions": profile.instructions, "model": profile.model, "limits": profile.limits.model_dump(),
            "how": profile.how.model_dump(),
        },
        "active": [_about(tool) for tool in tools.active.values()],
        "unloaded": [_about(tool) for tool in tools.unloaded.values()],
        "notes": list(tools.notes),
    }  # fmt: skip


def _about(tool: Tool) -> dict[str, Any]:
    return {
        "name": tool.name, "description": tool.description, "parameters": dict(tool.parameters_schema),
        "category": tool.category,
    }  # fmt: skip


def _profile(kept: Mapping[str, Any]) -> Profile:
    return Profile(
        instructions=kept["instructions"], model=kept["model"], limits=Limits(**kept["limits"]),
        how=ModelConfig(**kept["how"]),
    )  # fmt: skip

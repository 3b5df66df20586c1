"""TOOL: one of the built-in tools, the same that agents call."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

from pydantic import Field

from interlace.engine.document import Effects, NodeSpec
from interlace.engine.errors import NodeError
from interlace.engine.fields import Data, Dynamic
from interlace.engine.node import Config, Finding, Node, Output, RunContext, TypeContext
from interlace.engine.schema import Schema
from interlace.engine.waits import DAY, TIMEOUT, Answer, Suspend, Wanted
from interlace.resources.tools import BuiltinTools, Gate, Tool, builtin_tools
from interlace.resources.tools.typed import check_arguments, problems_with

_CONFIRM_SECONDS = 7 * DAY
_SHOWN = 2000
_EXPRESSION = "{{ }}"


class ToolConfig(Config):
    """The tool, and what it is given."""

    tool: str = Field(
        min_length=1,
        title="Tool",
        description="Name of a built-in tool; `interlace tools list` shows them.",
        examples=["calculator"],
        json_schema_extra={"widget": "tool"},
    )
    arguments: Dynamic[dict[str, Data]] = Field(
        default_factory=dict,
        title="Arguments",
        description="What the tool is given, by its own names; null leaves one out.",
        examples=[{"expression": "{{ inputs.amount }} * 1.2"}],
        json_schema_extra={"widget": "arguments"},
    )


class ToolOutput(Output):
    """What the tool gave."""

    result: Data = Field(None, description="The tool's result; its type depends on the tool.")


class ToolNode(Node[ToolConfig, ToolOutput]):
    """Call a built-in tool: calculate, convert, read and write files of the run, fetch a page, send a mail."""

    kind = "TOOL"
    group, icon = "connect", "wrench"
    timeout = 300.0
    example: ClassVar[dict[str, Any]] = {
        "tool": "calculator",
        "arguments": {"expression": "{{ inputs.amount }} * 1.2"},
    }

    def effect(self) -> Effects:
        """What the tool says of such arguments; one that is not known may do anything."""
        tool = builtin_tools().get(self.config.tool)
        return "once" if tool is None else tool.effects(_arguments(self.config))

    def output_schema(self, types: TypeContext) -> Schema:
        """The result by the tool's own schema, where it has one."""
        del types
        tool = builtin_tools().get(self.config.tool)
        result: Schema = getattr(tool, "result", {})
        return {"type": "object", "properties": {"result": result}, "required": ["result"]}

    def check(self, spec: NodeSpec) -> Iterator[Finding]:
        """The tool's name, and those arguments that stand there as they are."""
        del spec
        name, tools = self.config.tool, builtin_tools()
        if "{{" in name:
            yield Finding(
                code="fixed_name", field="config.tool", message="takes no expression.",
                fix="Name it; choose between several by CONDITION.",
            )  # fmt: skip
            return
        tool = tools.get(name)
        if tool is None:
            guess = tools.nearest(name)
            yield Finding(
                code="unknown_tool", field="config.tool", message=f"there is no built-in tool {name!r}.",
                fix=f"Did you mean {guess!r}?" if guess else f"There are {', '.join(tools)}.",
            )  # fmt: skip
            return
        yield from _check_arguments(tool, self.config.arguments)

    async def run(self, config: ToolConfig, ctx: RunContext) -> ToolOutput:
        """Call the tool with the rights of whoever started the run.

        Raises:
            NodeError: `unknown_tool`, `bad_arguments`; `tool_error`: the tool answers with a failure; its own errors.
            Suspend: the tool wants a person to confirm each such call, and nobody has.
        """
        tool = ctx.service(BuiltinTools).find(config.tool)
        check_arguments(tool, config.arguments)
        gate = await tool.gate(config.arguments, ctx)
        if gate is not None and gate.always and not ctx.confirmed:
            raise Suspend(_confirmation(config, ctx, gate))
        return await _call(tool, config.arguments, ctx)

    async def resume(self, state: Mapping[str, Any], answer: Answer, ctx: RunContext) -> ToolOutput:
        """Make the call that a person confirmed, and no other.

        Raises:
            NodeError: `not_confirmed`: it was rejected, or nobody answered in time.
        """
        if answer.action != "approve":
            who = (
                "nobody confirmed it in time"
                if answer.action == TIMEOUT
                else f"{answer.by} did not confirm it"
            )
            because = f": {answer.comment}" if answer.comment else ""
            raise NodeError(
                f"{who}{because}; the tool was not called.", kind="not_confirmed", retryable=False
            )
        tool = ctx.service(BuiltinTools).find(str(state["tool"]))
        return await _call(tool, state["arguments"], ctx)


async def _call(tool: Tool, arguments: Mapping[str, Any], ctx: RunContext) -> ToolOutput:
    found = await tool.run(arguments, ctx)
    if found.is_error:
        said = found.text or str(found.value)
        raise NodeError(f"the tool {tool.name!r} failed: {said[:_SHOWN]}", kind="tool_error", retryable=False)
    return ToolOutput(result=found.value)


def _confirmation(config: ToolConfig, ctx: RunContext, gate: Gate) -> Wanted:
    request = {
        "title": gate.title,
        "message": f"The node **{ctx.path}** calls the tool **{config.tool}** with these arguments once it is confirmed:"
        f" {gate.reason}.",
        "actions": ["approve", "reject"],
        "config": {"tool": config.tool, "arguments": dict(config.arguments)},
    }  # fmt: skip
    state = {"tool": config.tool, "arguments": dict(config.arguments)}
    return Wanted(kind="human", request=request, until=ctx.now() + _CONFIRM_SECONDS, state=state)


# -- the static check --------------------------------------------------------------------------------------------------


class _Unknown(dict[str, Any]):
    """Arguments of which nothing is known: each of them is an expression."""

    def get(self, key: str, default: Any = None) -> Any:
        """What stands there is no value that a tool takes for a harmless one."""
        del key, default
        return _EXPRESSION

    def __missing__(self, key: str) -> Any:
        return _EXPRESSION


def _arguments(config: ToolConfig) -> Mapping[str, Any]:
    given: Any = config.arguments  # an expression may stand for all of them
    return given if isinstance(given, Mapping) else _Unknown()


def _check_arguments(tool: Tool, arguments: Any) -> Iterator[Finding]:
    """Hold what stands there against the schema; what an expression gives is held against it when the node runs."""
    if not isinstance(arguments, Mapping):
        return
    known = tool.parameters_schema.get("properties", {}).keys()
    dynamic = {name for name, value in arguments.items() if _has_expression(value)}
    for problem in problems_with(tool, arguments, "config.arguments"):
        if problem.field is not None and any(_is_at(problem.field, name) for name in dynamic & known):
            continue
        yield Finding(
            code="tool_arguments",
            field=problem.field or "config.arguments",
            message=problem.message,
            fix=problem.fix,
        )


def _is_at(field: str, name: str) -> bool:
    """Whether a problem stands at an argument or inside of it; a name that is not expected is wrong whatever it holds."""
    place = f"config.arguments.{name}"
    return field == place or field.startswith((f"{place}.", f"{place}["))


def _has_expression(value: Any) -> bool:
    if isinstance(value, str):
        return "{{" in value
    if isinstance(value, Mapping):
        return any(map(_has_expression, value.values()))
    return isinstance(value, list) and any(map(_has_expression, value))

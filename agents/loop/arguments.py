"""The arguments that a model wrote: read, and checked against the tool's schema; what is wrong is said to the model."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from interlace.agents.toolset import ToolSet
from interlace.engine.chat import ToolCall
from interlace.engine.problems import nearest
from interlace.resources.tools.tool import Tool
from interlace.resources.tools.typed import problems_with

_SHOWN: Final = 8
_NAMES: Final = 30


class Unusable(Exception):  # noqa: N818 - not a failure of ours
    """A call that cannot be made as the model asks for it; the message is what the model reads."""


def tool_of(call: ToolCall, tools: ToolSet, own: Tool | None) -> Tool:
    """The tool that a call names.

    Raises:
        Unusable: there is none; the nearest names are given.
    """
    tool = tools.active.get(call.name) or own
    if tool is not None:
        return tool
    if call.name in tools.unloaded:
        raise Unusable(f"the tool {call.name!r} is not loaded; load it with request_tools first")
    known = list(tools.active)
    guess = nearest(call.name, known)
    hint = f"; did you mean {guess!r}?" if guess else ""
    more = f" and {len(known) - _NAMES} more" if len(known) > _NAMES else ""
    names = f" The tools are {', '.join(known[:_NAMES])}{more}." if known else " There are no tools."
    raise Unusable(f"there is no tool {call.name!r}{hint}{'' if hint else '.'}{names}")


def asked_for(call: ToolCall) -> Any:
    """The arguments as they are meant: what the text says, else the text itself."""
    try:
        return json.loads(call.arguments)
    except (ValueError, RecursionError):
        return call.arguments.strip() or {}


def print_of(tool: str, arguments: Any) -> str:
    """What tells one call from every other: the tool's name and the arguments, whatever the order of their fields."""
    return f"{tool} {json.dumps(arguments, sort_keys=True, default=str)}"


def arguments_of(call: ToolCall) -> dict[str, Any]:
    """The arguments as an object.

    Raises:
        Unusable: they are no JSON, or no object.
    """
    text = call.arguments.strip()
    if not text:
        return {}
    try:
        value = json.loads(text)
        json.dumps(
            value, ensure_ascii=False, allow_nan=False
        ).encode()  # NaN and half a pair are no JSON either
    except (ValueError, RecursionError) as error:
        raise Unusable(
            f"the arguments of {call.name} are not JSON ({error}); write one JSON object and make the call again"
        ) from None
    if not isinstance(value, dict):
        raise Unusable(f"the arguments of {call.name} have to be a JSON object, not {type(value).__name__}")
    return value


def check(tool: Tool, arguments: Mapping[str, Any], whose: str = "the arguments") -> None:
    """Raise where arguments do not fit the tool's schema.

    Raises:
        Unusable: with every field that does not fit.
    """
    problems = problems_with(tool, arguments)
    if problems:
        lines = [f"- {problem.field}: {problem.message}" for problem in problems[:_SHOWN]]
        raise Unusable(f"{whose} do not fit the schema of {tool.name}:\n" + "\n".join(lines))

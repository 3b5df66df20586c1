"""Tools whose arguments are a pydantic model: what the built-in ones have in common."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any, ClassVar, Generic, TypeVar, get_args

from pydantic import BaseModel, ConfigDict, ValidationError

from interlace.engine.document import Effects
from interlace.engine.errors import NodeError
from interlace.engine.json_schema import problems_of
from interlace.engine.problems import Problem
from interlace.engine.schema import Schema
from interlace.resources.tools.tool import Category, Gate, Tool, ToolContext, ToolResult

_SHOWN = 5
_NAMED = ("properties", "$defs")
"""Keywords whose keys are names of the user's, not keywords."""


class Arguments(BaseModel):
    """The arguments of a tool: every field with a description; unknown ones are errors."""

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)


class NoArguments(Arguments):
    """For tools that take nothing."""


A = TypeVar("A", bound=Arguments)


class TypedTool(Generic[A]):
    """A tool with typed arguments. Implements `Tool`; a subclass names its model and does the work in `call`."""

    name: ClassVar[str]
    description: ClassVar[str]
    category: ClassVar[Category]
    result: ClassVar[Schema] = {}
    """JSON Schema of the result's value, as far as it is known before."""
    for_agents: ClassVar[bool] = True
    """Whether models see it; what would go round an agent's scope is for TOOL nodes alone."""
    arguments_type: ClassVar[type[Arguments]]

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        for base in getattr(cls, "__orig_bases__", ()):
            for argument in get_args(base):
                if isinstance(argument, type) and issubclass(argument, Arguments):
                    cls.arguments_type = argument

    @cached_property
    def parameters_schema(self) -> Schema:
        """JSON Schema of the arguments, as short as it can be said."""
        return compact(type(self).arguments_type.model_json_schema(by_alias=True))

    def effects(self, arguments: Mapping[str, Any]) -> Effects:
        """Reading and computing, unless a tool says otherwise."""
        del arguments
        return "none"

    async def gate(self, arguments: Mapping[str, Any], ctx: ToolContext) -> Gate | None:
        """Nobody is asked, unless a tool says otherwise."""
        del arguments, ctx
        return None

    def read(self, arguments: Mapping[str, Any]) -> A:
        """The arguments as the model that `call` takes; null leaves an argument out.

        Raises:
            NodeError: `bad_arguments`, naming each argument that is wrong.
        """
        given = {name: value for name, value in arguments.items() if value is not None}
        try:
            read: Any = type(self).arguments_type.model_validate(given)
        except ValidationError as error:
            said = [_said(entry) for entry in error.errors(include_url=False)]
            raise _bad_arguments(self.name, said) from None
        return read  # type: ignore[no-any-return]

    async def run(self, arguments: Mapping[str, Any], ctx: ToolContext) -> ToolResult:
        """Do the work.

        Raises:
            NodeError: `bad_arguments`; what the tool cannot do.
        """
        return await self.call(self.read(arguments), ctx)

    async def call(self, arguments: A, ctx: ToolContext) -> ToolResult:
        """Do the work with arguments that fit.

        Raises:
            NodeError: it could not be done; the message says what to do.
        """
        del arguments, ctx
        raise TypeError(f"tool {self.name} does not define call()")


def problems_with(tool: Tool, arguments: Mapping[str, Any], where: str = "arguments") -> list[Problem]:
    """What is wrong with the arguments of a call by the tool's schema; null counts as not given."""
    properties = tool.parameters_schema.get("properties", {})
    given = {
        name: value
        for name, value in arguments.items()
        if value is not None or _takes_null(properties.get(name, {}))
    }
    return problems_of(tool.parameters_schema, given, where, code="tool_arguments")


def check_arguments(tool: Tool, arguments: Mapping[str, Any]) -> None:
    """Hold the arguments of a call against the tool's schema.

    Raises:
        NodeError: `bad_arguments`, naming each argument that is wrong.
    """
    found = problems_with(tool, arguments, "")
    if found:
        raise _bad_arguments(tool.name, [_told(problem) for problem in found])


def compact(schema: Mapping[str, Any]) -> Schema:
    """A pydantic schema without titles, references and alternatives of null: every token of it is paid in each turn."""
    definitions = schema.get("$defs", {})
    rest = {key: entry for key, entry in schema.items() if key not in ("$defs", "description")}
    made: Schema = _compact(rest, definitions, 0)
    return {**made, "properties": made.get("properties", {})}


def _compact(schema: Any, definitions: Mapping[str, Any], depth: int) -> Any:
    if isinstance(schema, list):
        return [_compact(entry, definitions, depth) for entry in schema]
    if not isinstance(schema, dict):
        return schema
    schema = _resolved(schema, definitions)
    made: dict[str, Any] = {}
    for key, entry in schema.items():
        if key in ("title", "discriminator") or (key == "default" and entry is None):
            continue
        if key == "additionalProperties" and (depth or entry is True):
            if isinstance(entry, dict) and entry:
                made[key] = _compact(entry, definitions, depth + 1)
            continue
        if key in _NAMED:
            made[key] = {name: _compact(part, definitions, depth + 1) for name, part in entry.items()}
        else:
            made[key] = _compact(entry, definitions, depth + 1)
    return made


def _resolved(schema: dict[str, Any], definitions: Mapping[str, Any]) -> dict[str, Any]:
    """The schema with its reference, and its only alternative besides null, written out."""
    while True:
        if "$ref" in schema:
            target = definitions[str(schema["$ref"]).rpartition("/")[2]]
            own = {key: entry for key, entry in schema.items() if key != "$ref"}
            schema = {**target, **own}
            continue
        options = [option for option in schema.get("anyOf", ()) if option != {"type": "null"}]
        if len(options) != 1:
            if options and len(options) < len(schema["anyOf"]):
                schema = {**schema, "anyOf": options}
            return schema
        own = {key: entry for key, entry in schema.items() if key != "anyOf"}
        schema = {**options[0], **own}


def _takes_null(schema: Any) -> bool:
    return isinstance(schema, Mapping) and not schema.keys() & {"type", "anyOf", "enum", "const", "oneOf"}


def _told(problem: Problem) -> str:
    place = (problem.field or "").removeprefix(".")
    fix = f" {problem.fix}" if problem.fix else ""
    return f"{place} {problem.message}{fix}".strip().rstrip(".")


def _said(entry: Any) -> str:
    place = ".".join(str(part) for part in entry["loc"])
    message = str(entry["msg"]).removeprefix("Value error, ")
    return f"{place}: {message}" if place else message


def _bad_arguments(name: str, said: list[str]) -> NodeError:
    more = f" (and {len(said) - _SHOWN} more)" if len(said) > _SHOWN else ""
    return NodeError(
        f"{name} cannot be called so: {'; '.join(said[:_SHOWN])}{more}", kind="bad_arguments", retryable=False
    )

"""VARIABLE_AGGREGATOR: one value out of branches of which only some ran."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import Annotated, Any, ClassVar, Literal, NamedTuple

from pydantic import BeforeValidator, Field

from interlace.engine.absence import value_or_missing
from interlace.engine.document import Identifier, NodeSpec
from interlace.engine.errors import NodeError
from interlace.engine.expressions import Missing, compile_value
from interlace.engine.expressions.values import described
from interlace.engine.fields import Data, Lazy
from interlace.engine.node import Config, Finding, Node, OpenOutput, RunContext, TypeContext
from interlace.engine.schema import Schema

Mode = Literal["first", "all", "list", "concat", "merge"]
_MODE = (
    "first: the value of the first branch, in the order given, that ran. all: an object with the value of each branch that"
    " ran. list: the values that ran, in order. concat: their lists or texts joined. merge: their objects in one, the"
    " later ones winning."
)
_VALUES = (
    "One value a branch, or {name, value} to name it in mode all; there a branch is called by the node it reads unless it"
    " is named. A branch that was skipped is left out."
)


def _named(data: Any) -> Any:
    """`{a: "{{ x.y }}"}` is short for `[{name: a, value: "{{ x.y }}"}]`."""
    return (
        [{"name": name, "value": value} for name, value in data.items()] if isinstance(data, dict) else data
    )


def _groups(data: Any) -> Any:
    """`{a: [...]}` is short for `[{name: a, values: [...]}]`."""
    return (
        [{"name": name, "values": values} for name, values in data.items()]
        if isinstance(data, dict)
        else data
    )


class Group(Config):
    """One value of several branches, under a name of its own."""

    name: Identifier = Field(title="Name", description="Name of the output.", examples=["answer"])
    values: Annotated[Lazy[list[Data]], BeforeValidator(_named)] = Field(
        min_length=1,
        title="Values",
        description=_VALUES,
        examples=[["{{ by_mail.text }}", "{{ by_phone.text }}"]],
    )
    mode: Mode | None = Field(
        None,
        title="Mode",
        description="How this group is made; the node's mode otherwise.",
        examples=["list"],
    )


class VariableAggregatorConfig(Config):
    """The branches and what is made of them."""

    mode: Mode = Field("first", title="Mode", description=_MODE, examples=["all"])
    values: Annotated[Lazy[list[Data]], BeforeValidator(_named)] = Field(
        default_factory=list,
        title="Values",
        description=_VALUES,
        examples=[["{{ by_mail.text }}", "{{ by_phone.text }}"]],
    )
    separator: str = Field(
        "", title="Separator", description="Text between texts that mode concat joins.", examples=["\n"]
    )
    groups: Annotated[list[Group], BeforeValidator(_groups)] = Field(
        default_factory=list,
        title="Groups",
        description="Several values at once, each under its own name; then `values` stays empty.",
        examples=[[{"name": "answer", "values": ["{{ a.text }}", "{{ b.text }}"]}]],
    )


class VariableAggregatorOutput(OpenOutput):
    """`value`, or one value a group."""


class _Branch(NamedTuple):
    name: str
    value: Any
    """The compiled value."""


class VariableAggregator(Node[VariableAggregatorConfig, VariableAggregatorOutput]):
    """Bring branches together: the first that ran, or all of them."""

    kind = "VARIABLE_AGGREGATOR"
    group, icon = "data", "merge"
    example: ClassVar[dict[str, Any]] = {
        "mode": "first",
        "values": ["{{ approve.comment }}", "{{ reject.comment }}"],
    }

    @cached_property
    def _branches(self) -> dict[str, tuple[Mode, list[_Branch]]]:
        """By output name: how it is made, and out of what."""
        if self.config.groups:
            return {
                group.name: (group.mode or self.config.mode, [*_branches(group.values)])
                for group in self.config.groups
            }
        return {"value": (self.config.mode, [*_branches(self.config.values)])}

    def output_schema(self, types: TypeContext) -> Schema:
        """`value`, or the groups by name."""
        if self.config.groups:
            parts = {g.name: (g.mode or self.config.mode, g.values) for g in self.config.groups}
        else:
            parts = {"value": (self.config.mode, self.config.values)}
        properties = {name: _schema(mode, values, types) for name, (mode, values) in parts.items()}
        return {"type": "object", "properties": properties, "required": list(properties)}

    def check(self, spec: NodeSpec) -> Iterator[Finding]:
        """Exactly one of values and groups; names once."""
        del spec
        config = self.config
        if bool(config.values) == bool(config.groups):
            what = "both values and groups" if config.values else "neither values nor groups"
            yield Finding(
                code="aggregator",
                field="config.values",
                message=f"{what} are given.",
                fix="Give one of the two.",
            )
        for name in _twice([group.name for group in config.groups]):
            yield Finding(
                code="aggregator", field="config.groups", message=f"two groups are called {name!r}."
            )
        for where, mode, values in (
            ("config.values", config.mode, config.values),
            *(
                (f"config.groups[{i}].values", g.mode or config.mode, g.values)
                for i, g in enumerate(config.groups)
            ),
        ):
            if mode == "all":
                for name in _twice([_name(entry, index) for index, entry in enumerate(values)]):
                    yield Finding(
                        code="aggregator", field=where, message=f"two branches are called {name!r}.",
                        fix="Write them as {name, value} with different names.",
                    )  # fmt: skip

    def run(self, config: VariableAggregatorConfig, ctx: RunContext) -> VariableAggregatorOutput:
        """Combine what ran.

        Raises:
            NodeError: in mode first nothing ran; in concat and merge the values do not go together.
        """
        found: dict[str, Any] = {}
        for output, (mode, branches) in self._branches.items():
            if mode == "first":
                found[output] = _first(branches, ctx)
                continue
            ran = []
            for name, compiled in branches:
                value = value_or_missing(compiled, ctx.names)
                if not isinstance(value, Missing):
                    ran.append((name, value))
            found[output] = _COMBINE[mode](ran, config.separator)
        return VariableAggregatorOutput(**found)


def _entry(entry: Any) -> tuple[str | None, Any]:
    """Name and value of an entry: {name, value}, or the value alone."""
    if isinstance(entry, dict) and "value" in entry and set(entry) <= {"name", "value"}:
        return entry.get("name"), entry["value"]
    return None, entry


def _name(entry: Any, index: int) -> str:
    name, value = _entry(entry)
    if name is not None:
        return str(name)
    return next((reference.root for reference in compile_value(value).references), str(index))


def _branches(values: Sequence[Any]) -> Iterator[_Branch]:
    for index, entry in enumerate(values):
        yield _Branch(_name(entry, index), compile_value(_entry(entry)[1]))


def _twice(names: list[str]) -> list[str]:
    return sorted({name for name in names if names.count(name) > 1})


def _first(branches: Sequence[_Branch], ctx: RunContext) -> Any:
    reasons = []
    for branch in branches:
        value = value_or_missing(branch.value, ctx.names)
        if not isinstance(value, Missing):
            return value
        reasons.append(value.reason)
    raise NodeError(f"none of the branches ran: {'; '.join(dict.fromkeys(reasons))}", kind="nothing_ran")


def _all(ran: list[tuple[str, Any]], separator: str) -> dict[str, Any]:
    del separator
    return dict(ran)


def _list(ran: list[tuple[str, Any]], separator: str) -> list[Any]:
    del separator
    return [value for _, value in ran]


def _concat(ran: list[tuple[str, Any]], separator: str) -> Any:
    values = _list(ran, "")
    if all(isinstance(value, list) for value in values):
        return [entry for value in values for entry in value]
    if all(isinstance(value, str) for value in values):
        return separator.join(values)
    raise _mixed("concat joins lists or texts", ran)


def _merge(ran: list[tuple[str, Any]], separator: str) -> dict[str, Any]:
    del separator
    merged: dict[str, Any] = {}
    for _, value in ran:
        if not isinstance(value, dict):
            raise _mixed("merge joins objects", ran)
        merged.update(value)
    return merged


def _mixed(rule: str, ran: list[tuple[str, Any]]) -> NodeError:
    got = ", ".join(f"{name}: {described(value)}" for name, value in ran)
    return NodeError(f"{rule}; the branches gave {got}", kind="type")


_COMBINE: dict[Mode, Callable[[list[tuple[str, Any]], str], Any]] = {
    "all": _all,
    "list": _list,
    "concat": _concat,
    "merge": _merge,
}


def _schema(mode: Mode, values: Sequence[Any], types: TypeContext) -> Schema:
    schemas = [types.infer(_entry(entry)[1]) for entry in values]
    if mode == "all":
        names = [_name(entry, index) for index, entry in enumerate(values)]
        return {"type": "object", "properties": dict(zip(names, schemas, strict=True))}
    if mode == "merge":
        properties = {
            name: entry for schema in schemas for name, entry in schema.get("properties", {}).items()
        }
        return {"type": "object", "properties": properties, "additionalProperties": True}
    one = _either(schemas)
    if mode == "list":
        return {"type": "array", "items": one}
    if mode == "concat":
        kinds = {str(schema.get("type")) for schema in schemas}
        if kinds == {"array"}:
            return {"type": "array", "items": _either([schema.get("items", {}) for schema in schemas])}
        return {"type": "string"} if kinds == {"string"} else {}
    return one


def _either(schemas: Sequence[Schema]) -> Schema:
    """One schema for a value that may come from any of the branches."""
    different: list[Schema] = []
    for schema in schemas:
        if not schema:
            return {}
        if schema not in different:
            different.append(schema)
    return different[0] if len(different) == 1 else {"anyOf": different} if different else {}

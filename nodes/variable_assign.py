"""VARIABLE_ASSIGN: write run and loop variables, and those that are kept from run to run."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from functools import cached_property
from typing import Any, ClassVar, Literal, NamedTuple

from pydantic import Field

from interlace.engine.document import Identifier, NodeSpec
from interlace.engine.errors import NodeError
from interlace.engine.expressions import Compiled, compile_value
from interlace.engine.expressions.comparison import equal
from interlace.engine.expressions.values import described
from interlace.engine.fields import Data, Lazy
from interlace.engine.node import Config, Finding, Node, OpenOutput, RunContext, TypeContext
from interlace.engine.schema import Schema
from interlace.engine.variables import VariableView

Operation = Literal["set", "append", "increment", "merge", "remove"]


class Assignment(Config):
    """One change of one variable."""

    variable: Identifier = Field(
        title="Variable", description="Name of a variable of the document, or of a loop variable of a LOOP around.", examples=["total"],
        json_schema_extra={"widget": "variable"},
    )  # fmt: skip
    op: Operation = Field(
        "set",
        title="Operation",
        description="set: give it the value. append: add the value at the end of the list, or of the text. increment: add the"
        " value, 1 by default. merge: take over the fields of an object. remove: take out the entries of a list that equal the"
        " value, or the field, or list of fields, of an object.",
        examples=["increment"],
    )
    value: Lazy[Data] = Field(
        None,
        title="Value",
        description="What the operation works with; sees what earlier assignments did.",
        examples=["{{ item.price }}"],
    )


class VariableAssignConfig(Config):
    """The changes, in order."""

    assignments: list[Assignment] = Field(
        min_length=1, title="Assignments", description="Done in order; later ones see what earlier ones did.",
        examples=[[{"variable": "total", "op": "increment", "value": "{{ item.price }}"}]],
    )  # fmt: skip


class VariableAssignOutput(OpenOutput):
    """The new values by variable."""


class _Change(NamedTuple):
    variable: str
    op: Operation
    compute: Callable[[Any, Any, str], Any]
    value: Compiled


class VariableAssign(Node[VariableAssignConfig, VariableAssignOutput]):
    """Set, count up, append to, merge into or remove from variables."""

    kind = "VARIABLE_ASSIGN"
    group, icon = "data", "variable"
    example: ClassVar[dict[str, Any]] = {
        "assignments": [{"variable": "total", "op": "increment", "value": 1}]
    }

    @cached_property
    def _changes(self) -> list[_Change]:
        changes = []
        for entry in self.config.assignments:
            default = 1 if entry.op == "increment" and "value" not in entry.model_fields_set else entry.value
            changes.append(_Change(entry.variable, entry.op, _COMPUTE[entry.op], compile_value(default)))
        return changes

    def output_schema(self, types: TypeContext) -> Schema:
        """The variables that are written, by name."""
        names = list(dict.fromkeys(entry.variable for entry in self.config.assignments))
        return {
            "type": "object",
            "properties": {name: types.variable(name) or {} for name in names},
            "required": names,
        }

    def check(self, spec: NodeSpec) -> Iterator[Finding]:
        """Every operation but increment has its value."""
        del spec
        for index, entry in enumerate(self.config.assignments):
            if entry.op != "increment" and "value" not in entry.model_fields_set:
                yield Finding(
                    code="no_value",
                    field=f"config.assignments[{index}].value",
                    message=f"operation {entry.op!r} needs a value.",
                )

    @cached_property
    def _touched(self) -> frozenset[str]:
        """The variables that are written or read; `*` where it is not known which are read."""
        found = {entry.variable for entry in self.config.assignments}
        for change in self._changes:
            for reference in change.value.references:
                if reference.root == "vars":
                    found.add(str(reference.path[0] if reference.path and reference.path[0] else "*"))
        return frozenset(found)

    def run(
        self, config: VariableAssignConfig, ctx: RunContext
    ) -> VariableAssignOutput | Awaitable[VariableAssignOutput]:
        """Make the changes; those of kept variables on their newest values.

        Raises:
            NodeError: an operation does not fit the variable's value, or the result its type.
        """
        del config
        kept = ctx.kept_among(self._touched)
        return ctx.keep(kept, self._change) if kept else self._change(ctx)

    def _change(self, view: VariableView) -> VariableAssignOutput:
        written: dict[str, Any] = {}
        for variable, op, compute, value in self._changes:
            operand = value.evaluate(view.names)
            new = operand if op == "set" else compute(view.variable(variable), operand, variable)
            view.assign(variable, new)
            written[variable] = new
        return VariableAssignOutput(**written)


def _set(old: Any, value: Any, name: str) -> Any:
    del old, name
    return value


def _append(old: Any, value: Any, name: str) -> Any:
    if old is None:
        return [value]
    if isinstance(old, list):
        return [*old, value]
    if isinstance(old, str):
        if isinstance(value, str):
            return old + value
        raise NodeError(
            f"cannot append {described(value)} to variable {name!r}, which is a text", kind="type"
        )
    raise NodeError(
        f"cannot append to variable {name!r}, which is {described(old)}; append takes a list or a text",
        kind="type",
    )


def _increment(old: Any, value: Any, name: str) -> Any:
    for what, number in ((f"variable {name!r}", old), ("the value", value)):
        if isinstance(number, bool) or not isinstance(number, int | float):
            raise NodeError(
                f"cannot increment variable {name!r}: {what} is {described(number)}, not a number",
                kind="type",
            )
    return old + value


def _merge(old: Any, value: Any, name: str) -> Any:
    for what, part in ((f"variable {name!r}", {} if old is None else old), ("the value", value)):
        if not isinstance(part, dict):
            raise NodeError(
                f"cannot merge into variable {name!r}: {what} is {described(part)}, not an object",
                kind="type",
            )
    return {**(old or {}), **value}


def _remove(old: Any, value: Any, name: str) -> Any:
    if isinstance(old, list):
        return [entry for entry in old if not equal(entry, value)]
    if isinstance(old, dict):
        gone = value if isinstance(value, list) else [value]
        return {key: entry for key, entry in old.items() if key not in gone}
    raise NodeError(
        f"cannot remove from variable {name!r}, which is {described(old)}; remove takes a list or an object",
        kind="type",
    )


_COMPUTE: dict[Operation, Callable[[Any, Any, str], Any]] = {
    "set": _set,
    "append": _append,
    "increment": _increment,
    "merge": _merge,
    "remove": _remove,
}

"""LIST_OPERATION: filter, sort, group and count lists."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Generator, Iterator
from functools import cached_property
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field, WithJsonSchema, model_validator

from interlace.engine import list_steps
from interlace.engine.document import NodeSpec
from interlace.engine.expressions import Names
from interlace.engine.fields import Data, Expression, In
from interlace.engine.list_steps import Apply
from interlace.engine.lists import Nulls, as_list
from interlace.engine.node import Config, Finding, Node, Output, RunContext, TypeContext
from interlace.engine.schema import Schema
from interlace.engine.slices import in_turns, is_large, to_end
from interlace.engine.steps import Step

_List = Annotated[Any, WithJsonSchema({"type": ["array", "string"]})]
_Value = Annotated[Any, Expression(lazy=True)]
_ItemExpression = Annotated[str | None, Expression("expression", lazy=True), In("item")]
AGGREGATES = frozenset({"sum", "min", "max", "avg", "count"})


def _short(data: Any) -> Any:
    """`{sort: item.price}` is short for `{sort: {by: item.price}}`."""
    return {"by": data} if isinstance(data, str) else data


class By(Config):
    """Which part of an entry an operation looks at."""

    _shorthand = model_validator(mode="before")(_short)

    by: _ItemExpression = Field(
        None,
        title="By",
        description="Expression over `item` and `index`; the entry itself by default.",
        examples=["item.price"],
    )


class Sort(By):
    """How to sort."""

    descending: bool = Field(False, title="Descending", description="Largest first.", examples=[True])
    nulls: Nulls = Field(
        "last",
        title="Nulls",
        description="Where entries whose key is null stand, in either direction.",
        examples=["first"],
    )


class GroupBy(Config):
    """How to group."""

    _shorthand = model_validator(mode="before")(_short)

    by: Annotated[str, Expression("expression", lazy=True), In("item")] = Field(
        title="By",
        description="Expression over `item` and `index` that gives the key of the group.",
        examples=["item.country"],
    )


class Operation(Step):
    """One operation on the list: an object with one key. `true` stands for the defaults."""

    filter: _ItemExpression = Field(
        None,
        title="Filter",
        description="Keeps the entries for which the expression holds.",
        examples=["item.price > 10"],
    )
    map: _ItemExpression = Field(
        None,
        title="Map",
        description="Replaces each entry by the value of the expression.",
        examples=["item.name"],
    )
    sort: Sort | Literal[True] | None = Field(
        None,
        title="Sort",
        description="Sorts; entries with equal keys keep their order.",
        examples=[{"by": "item.price", "descending": True}],
    )
    slice: tuple[int | None, int | None] | None = Field(
        None, title="Slice", description="[from, to]: from counts from 0, to is not included, negative numbers count from the end.",
        examples=[[0, 10]],
    )  # fmt: skip
    unique: By | Literal[True] | None = Field(
        None, title="Unique", description="Keeps the first entry of each key.", examples=[{"by": "item.mail"}]
    )
    flatten: Annotated[int, Field(ge=1, le=100)] | Literal[True] | None = Field(
        None,
        title="Flatten",
        description="Puts the entries of inner lists in their place, so many levels deep.",
        examples=[1],
    )
    reverse: Literal[True] | None = Field(
        None, title="Reverse", description="Turns the order round.", examples=[True]
    )
    group_by: GroupBy | None = Field(
        None, title="Group by", description="Gives [{key, items}], one a key, in the order in which the keys first appear.",
        examples=[{"by": "item.country"}],
    )  # fmt: skip
    chunk: Annotated[int, Field(ge=1)] | None = Field(
        None, title="Chunk", description="Cuts the list into lists of so many entries; the last may be shorter.", examples=[100],
        json_schema_extra={"unit": "entries"},
    )  # fmt: skip
    zip: _Value = Field(
        None,
        title="Zip",
        description="A list of the same length: each entry becomes [entry, its partner].",
        examples=["{{ names.result }}"],
    )
    concat: _Value = Field(
        None,
        title="Concat",
        description="A list whose entries are added at the end.",
        examples=["{{ more.result }}"],
    )
    sum: By | Literal[True] | None = Field(
        None,
        title="Sum",
        description="The sum, 0 of an empty list; ends the list.",
        examples=[{"by": "item.price"}],
    )
    min: By | Literal[True] | None = Field(
        None,
        title="Least",
        description="The least value, null of an empty list; ends the list.",
        examples=[{"by": "item.price"}],
    )
    max: By | Literal[True] | None = Field(
        None,
        title="Greatest",
        description="The greatest value, null of an empty list; ends the list.",
        examples=[{"by": "item.price"}],
    )
    avg: By | Literal[True] | None = Field(
        None,
        title="Average",
        description="The mean, null of an empty list; ends the list.",
        examples=[{"by": "item.price"}],
    )
    count: Literal[True] | None = Field(
        None, title="Count", description="How many entries there are; ends the list.", examples=[True]
    )


class ListOperationConfig(Config):
    """The list and what is done with it."""

    input: Annotated[_List, Expression()] = Field(
        title="Input",
        description="The list; JSON text of a list is accepted.",
        examples=["{{ fetch.body.orders }}"],
    )
    operations: list[Operation] = Field(
        default_factory=list, title="Operations", description="Done in order, each on what the one before gave.",
        examples=[[{"filter": "item.price > 10"}, {"sort": {"by": "item.price"}}]],
    )  # fmt: skip


class ListOperationOutput(Output):
    """The list after the last operation."""

    result: Data = Field(description="The list, or the number where sum, min, max, avg or count ends it.")
    first: Data = Field(description="Its first entry, null when it is empty.")
    last: Data = Field(description="Its last entry, null when it is empty.")
    count: int = Field(
        description="How many entries it has; the entries that went into the number where there is one."
    )


class ListOperation(Node[ListOperationConfig, ListOperationOutput]):
    """Filter, map, sort, group, cut and count a list."""

    kind = "LIST_OPERATION"
    group, icon = "data", "list-filter"
    example: ClassVar[dict[str, Any]] = {
        "input": "{{ inputs.orders }}",
        "operations": [{"filter": "item.price > 10"}, {"sort": {"by": "item.price"}}],
    }

    @cached_property
    def _operations(self) -> list[tuple[str, Apply]]:
        return [
            (
                step.operation,
                _BUILD[step.operation](
                    getattr(step, step.operation), f"operations[{index}].{step.operation}"
                ),
            )
            for index, step in enumerate(self.config.operations)
        ]

    def output_schema(self, types: TypeContext) -> Schema:
        """The list's type after all operations."""
        source = types.infer(self.config.input)
        entry: Any = source.get("items", {}) if source.get("type") == "array" else {}
        number_type: Schema | None = None
        for step in self.config.operations:
            if step.operation in AGGREGATES:
                number_type = _aggregate_type(step, entry)
            else:
                entry = _entry_type(step, entry, types)
        end: Schema = {"anyOf": [entry, {"type": "null"}]} if entry else {}
        properties: dict[str, Schema] = {
            "result": number_type if number_type is not None else {"type": "array", "items": entry},
            "first": end,
            "last": end,
            "count": {"type": "integer"},
        }
        return {"type": "object", "properties": properties, "required": list(properties)}

    def check(self, spec: NodeSpec) -> Iterator[Finding]:
        """Nothing comes after the operation that ends the list."""
        del spec
        names = [step.operation for step in self.config.operations]
        for index, name in enumerate(names[:-1]):
            if name in AGGREGATES:
                yield Finding(
                    code="after_aggregate", field=f"config.operations[{index + 1}]",
                    message=f"{name!r} ends the list, so {names[index + 1]!r} has nothing to work on.",
                    fix=f"Move {name} to the end, or use a second node.",
                )  # fmt: skip

    def run(
        self, config: ListOperationConfig, ctx: RunContext
    ) -> ListOperationOutput | Awaitable[ListOperationOutput]:
        """Do the operations; over a long list in turns with the rest of the run.

        Raises:
            NodeError: the input is no list, or an operation cannot be done; the operation and the entry are named.
        """
        items = as_list(config.input, "input")
        work = self._work(items, ctx.names)
        return in_turns(work) if is_large(len(items)) else to_end(work)

    def _work(self, items: list[Any], names: Names) -> Generator[None, None, ListOperationOutput]:
        result: Any = items
        for operation, apply in self._operations:
            result = yield from apply(items, names)
            if operation not in AGGREGATES:
                items = result
        first, last = (items[0], items[-1]) if items else (None, None)
        return ListOperationOutput.model_construct(result=result, first=first, last=last, count=len(items))


def _by(setting: By | GroupBy | Literal[True]) -> str | None:
    return None if setting is True else setting.by


def _build_sort(setting: Sort | Literal[True], where: str) -> Apply:
    sort = Sort() if setting is True else setting
    return list_steps.sort(sort.by, where, descending=sort.descending, nulls=sort.nulls)


_BUILD: dict[str, Callable[[Any, str], Apply]] = {
    "filter": list_steps.keep,
    "map": list_steps.evaluated,
    "sort": _build_sort,
    "slice": lambda bounds, _: list_steps.quick(lambda items: items[bounds[0] : bounds[1]]),
    "unique": lambda setting, where: list_steps.unique(_by(setting), where),
    "flatten": lambda depth, _: list_steps.flatten(int(depth)),
    "reverse": lambda _, __: list_steps.quick(lambda items: items[::-1]),
    "group_by": lambda setting, where: list_steps.group(setting.by, where),
    "chunk": lambda size, _: list_steps.quick(
        lambda items: [items[i : i + size] for i in range(0, len(items), size)]
    ),
    "zip": list_steps.zipped,
    "concat": list_steps.concat,
    "sum": lambda setting, where: list_steps.aggregate(list_steps.total, _by(setting), where),
    "min": lambda setting, where: list_steps.aggregate(list_steps.least, _by(setting), where),
    "max": lambda setting, where: list_steps.aggregate(list_steps.greatest, _by(setting), where),
    "avg": lambda setting, where: list_steps.aggregate(list_steps.mean, _by(setting), where),
    "count": lambda _, __: list_steps.quick(len),
}


# -- types -------------------------------------------------------------------------------------------------------------


def _item_names(entry: Schema) -> dict[str, Schema]:
    return {"item": entry, "index": {"type": "integer"}}


def _entry_type(step: Operation, entry: Schema, types: TypeContext) -> Schema:
    """The type of the entries after an operation."""
    match step.operation:
        case "map":
            assert step.map is not None
            return types.infer_expression(step.map, _item_names(entry))
        case "group_by":
            assert step.group_by is not None
            key = types.infer_expression(step.group_by.by, _item_names(entry))
            properties = {"key": key, "items": {"type": "array", "items": entry}}
            return {"type": "object", "properties": properties, "required": ["key", "items"]}
        case "chunk":
            return {"type": "array", "items": entry}
        case "zip" | "flatten" | "concat":
            return {"type": "array"} if step.operation == "zip" else {}
        case _:
            return entry


def _aggregate_type(step: Operation, entry: Schema) -> Schema:
    if step.operation == "count":
        return {"type": "integer"}
    if step.operation == "sum":
        return {"type": "number"}
    if step.operation == "avg":
        return {"type": ["number", "null"]}
    setting = getattr(step, step.operation)
    whole = setting is True or setting.by is None
    return {"anyOf": [entry, {"type": "null"}]} if whole and entry else {}

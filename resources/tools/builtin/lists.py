"""Tools that filter, sort and group lists."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Literal

from pydantic import Field

from interlace.engine import list_steps
from interlace.engine.errors import NodeError
from interlace.engine.expressions import SyntaxProblem
from interlace.engine.expressions.budget import refill
from interlace.engine.lists import as_list, number
from interlace.engine.schema import Schema
from interlace.resources.tools.builtin.text import Given
from interlace.resources.tools.inputs import data_of
from interlace.resources.tools.tool import Category, ToolContext, ToolResult
from interlace.resources.tools.typed import Arguments, TypedTool

Figure = Literal["count", "sum", "min", "max", "avg"]
_EXPRESSION = "An expression over `item`, as `item.price * item.count`."
_MOST_ITEMS = 200_000


class ListArguments(Arguments):
    """A list, and the steps in their order: where, unique_by, sort_by, group_by or summary, select, limit."""

    data: Any = Field(None, description="The list, or JSON text of it.")
    path: str | None = Field(
        None, max_length=500, description="Or a file of the run: json, csv, xml or yaml."
    )
    where: str | None = Field(
        None, max_length=2000, description="Keep items for which this holds, as `item.age >= 18`."
    )
    unique_by: str | None = Field(None, max_length=2000, description=_EXPRESSION)
    sort_by: str | None = Field(None, max_length=2000, description=_EXPRESSION)
    descending: bool = False
    group_by: str | None = Field(None, max_length=2000, description=f"{_EXPRESSION} Gives [{{key, items}}].")
    summary: dict[str, Figure] | None = Field(
        None, max_length=20, description="Figures by field name, of the list or of each group: {price: sum}."
    )
    select: list[str] | None = Field(None, max_length=200, description="Keep these fields of the items.")
    offset: int = Field(0, ge=0)
    limit: int | None = Field(None, ge=0)


class ListQuery(TypedTool[ListArguments]):
    """Filter, sort, group."""

    name = "list_query"
    description = (
        "Filter, sort, deduplicate, group, sum up and cut a list of objects, as a query on a table would."
        " Gives the items and how many matched."
    )
    category: ClassVar[Category] = "data"
    result: ClassVar[Schema] = {
        "type": "object",
        "properties": {
            "items": {"type": "array", "items": {}},
            "total": {"type": "integer"},
            "summary": {"type": "object"},
        },
        "required": ["items", "total"],
    }

    async def call(self, arguments: ListArguments, ctx: ToolContext) -> ToolResult:
        """Do the steps."""
        items = as_list(await data_of(arguments.data, arguments.path, ctx), "data")
        if len(items) > _MOST_ITEMS:
            raise NodeError(
                f"the list has {len(items):,} entries; {_MOST_ITEMS:,} are allowed",
                kind="too_large",
                retryable=False,
            )
        try:
            return _worked(items, arguments)
        except SyntaxProblem as problem:
            raise NodeError(
                f"an expression cannot be read: {problem}", kind="syntax", retryable=False
            ) from None


def _worked(items: list[Any], arguments: ListArguments) -> ToolResult:
    steps: list[list_steps.Apply] = []
    if arguments.where is not None:
        steps.append(list_steps.keep(arguments.where, "where"))
    if arguments.unique_by is not None:
        steps.append(list_steps.unique(arguments.unique_by, "unique_by"))
    if arguments.sort_by is not None:
        steps.append(list_steps.sort(arguments.sort_by, "sort_by", descending=arguments.descending))
    for step in steps:
        items = _done(step, items)
    found: dict[str, Any] = {"items": items, "total": len(items)}
    if arguments.group_by is not None:
        groups = _done(list_steps.group(arguments.group_by, "group_by"), items)
        found = {"items": [_group(group, arguments) for group in groups], "total": len(groups)}
    else:
        if arguments.summary:
            found["summary"] = _figures(items, arguments.summary)
        found["items"] = _selected(items, arguments.select)
    end = None if arguments.limit is None else arguments.offset + arguments.limit
    return ToolResult(value={**found, "items": found["items"][arguments.offset : end]})


def _done(step: list_steps.Apply, items: list[Any]) -> list[Any]:
    refill()
    work = step(items, Given({}))
    while True:
        try:
            next(work)
        except StopIteration as end:
            result: list[Any] = end.value
            return result


def _group(group: Mapping[str, Any], arguments: ListArguments) -> dict[str, Any]:
    if arguments.summary:
        return {
            "key": group["key"],
            "count": len(group["items"]),
            **_figures(group["items"], arguments.summary),
        }
    return {"key": group["key"], "items": _selected(group["items"], arguments.select)}


def _selected(items: list[Any], fields: list[str] | None) -> list[Any]:
    if fields is None:
        return items
    return [
        {name: item[name] for name in fields if name in item} if isinstance(item, Mapping) else item
        for item in items
    ]


def _figures(items: list[Any], wanted: Mapping[str, Figure]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, figure in wanted.items():
        values = [item[name] for item in items if isinstance(item, Mapping) and item.get(name) is not None]
        if figure == "count":
            found[f"count_{name}"] = len(values)
            continue
        numbers = [number(value, f"{name}, entry {index}:") for index, value in enumerate(values)]
        found[f"{figure}_{name}"] = _figure(numbers, figure)
    return found


def _figure(numbers: list[int | float], figure: Figure) -> int | float | None:
    if figure == "sum":
        return sum(numbers)
    if not numbers:
        return None
    return {"min": min, "max": max}[figure](numbers) if figure != "avg" else sum(numbers) / len(numbers)

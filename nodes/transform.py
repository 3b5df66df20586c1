"""TRANSFORM: reshape, convert and check data."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from functools import cached_property
from typing import Annotated, Any, ClassVar, Literal

from pydantic import BeforeValidator, Field, model_validator

from interlace.engine import conversion, reshaping
from interlace.engine.conversion import CastType, ParseFormat, TextFormat
from interlace.engine.document import JsonSchema, NodeSpec
from interlace.engine.errors import ExpressionError, NodeError
from interlace.engine.expressions import Names
from interlace.engine.expressions.budget import refill
from interlace.engine.expressions.filters.data import regex, search
from interlace.engine.fields import Data, Dynamic, Expression, In
from interlace.engine.node import Config, Finding, Node, Output, RunContext, TypeContext
from interlace.engine.reshaping import Apply
from interlace.engine.schema import Schema
from interlace.engine.slices import is_large
from interlace.engine.steps import Step

_LARGE_TEXT = 512 * 1024
_OBJECT: Schema = {"type": "object", "additionalProperties": True}


class Parse(Config):
    """How to read a text."""

    form: ParseFormat = Field(
        alias="format", title="Format", description="What the text is.", examples=["csv"]
    )
    delimiter: str = Field(
        ",",
        min_length=1,
        max_length=1,
        title="Delimiter",
        description="Of CSV: between cells.",
        examples=[";"],
    )
    header: bool = Field(
        True,
        title="Header",
        description="Of CSV: the first line names the columns; otherwise rows are lists.",
        examples=[False],
    )
    pattern: str | None = Field(
        None,
        title="Pattern",
        description="Of a date: its strptime pattern; ISO 8601 by default.",
        examples=["%d.%m.%Y"],
    )
    time_zone: str = Field(
        "UTC",
        title="Time zone",
        description="Of a date: the zone of a text that names none.",
        examples=["Asia/Tokyo"],
    )


def _spelled(data: Any) -> Any:
    """`markdown table` and `markdown_table` are `markdown`."""
    return "markdown" if data in ("markdown table", "markdown_table") else data


class Format(Config):
    """How to write a value."""

    form: Annotated[TextFormat, BeforeValidator(_spelled)] = Field(
        alias="format", title="Format", description="What is written.", examples=["markdown"]
    )
    delimiter: str = Field(
        ",",
        min_length=1,
        max_length=1,
        title="Delimiter",
        description="Of CSV: between cells.",
        examples=[";"],
    )
    header: bool = Field(
        True, title="Header", description="Of CSV: begin with the names of the columns.", examples=[False]
    )
    columns: list[str] | None = Field(
        None,
        title="Columns",
        description="Of tables: which fields, in this order; all by default.",
        examples=[["name", "price"]],
    )
    indent: bool = Field(False, title="Indent", description="Of JSON: spread over lines.", examples=[True])


class Regex(Config):
    """Find or replace by a regular expression (RE2: linear time, no look-around)."""

    extract: str | None = Field(
        None, title="Extract", description="Gives the first match: its named groups as an object, its one group, its groups as a"
        " list, or all of it; null without a match.", examples=[r"(\d+) EUR"],
    )  # fmt: skip
    all: bool = Field(False, title="All", description="Extract all matches, as a list.", examples=[True])
    replace: str | None = Field(None, title="Replace", description="Replaces every match.", examples=[r"\s+"])
    with_: str = Field(
        "", alias="with", title="With", description=r"The replacement; \1 is a group.", examples=[" "]
    )
    ignore_case: bool = Field(
        False, title="Ignore case", description="Upper and lower case are the same.", examples=[True]
    )

    @model_validator(mode="after")
    def _one(self) -> Regex:
        if (self.extract is None) == (self.replace is None):
            raise ValueError("give exactly one of 'extract' and 'replace'")
        return self


class Merge(Config):
    """Merge objects; fields of the later ones win."""

    @model_validator(mode="before")
    @classmethod
    def _short(cls, data: Any) -> Any:
        """`merge: "{{ x.y }}"` is short for `merge: {with: "{{ x.y }}"}`."""
        return {"with": data} if isinstance(data, str) else data

    with_: Annotated[Data, Expression(lazy=True)] = Field(
        None, alias="with", title="With", description="The object that is merged in; without it the input is a list of objects.",
        examples=["{{ defaults.result }}"],
    )  # fmt: skip
    mode: Literal["shallow", "deep"] = Field(
        "shallow",
        title="Mode",
        description="deep also merges objects inside objects; lists are replaced.",
        examples=["deep"],
    )


class TransformStep(Step):
    """One step: an object with one key. pick, omit, rename, set and cast of fields work on an object, or on each of a list."""

    jmespath: str | None = Field(
        None,
        title="JMESPath",
        description="The value of a JMESPath query.",
        examples=["orders[?price > `10`].name"],
    )
    pick: list[str] | None = Field(
        None, title="Pick", description="Keeps only these fields.", examples=[["id", "name"]]
    )
    omit: list[str] | None = Field(
        None, title="Omit", description="Drops these fields.", examples=[["internal"]]
    )
    rename: dict[str, str] | None = Field(
        None, title="Rename", description="Old name → new name.", examples=[{"nm": "name"}]
    )
    set: Annotated[dict[str, Data] | None, Expression(lazy=True), In("item")] = Field(
        None, title="Set", description="Sets fields; `item` is the object as it came into the step.",
        examples=[{"total": "{{ item.price * item.amount }}"}],
    )  # fmt: skip
    cast: CastType | dict[str, CastType] | None = Field(
        None, title="Cast", description="Type of the value, or of fields by name. Null and empty text become null.",
        examples=[{"price": "number"}],
    )  # fmt: skip
    parse: ParseFormat | Parse | None = Field(
        None,
        title="Parse",
        description="Reads a text: json, csv, xml, yaml or date.",
        examples=["json", {"format": "csv", "delimiter": ";"}],
    )
    format: Annotated[TextFormat | Format | None, BeforeValidator(_spelled)] = Field(
        None,
        title="Format",
        description="Writes a text: json, csv or a markdown table.",
        examples=["markdown"],
    )
    regex: Regex | None = Field(
        None,
        title="Regular expression",
        description="Extracts from a text, or replaces in it.",
        examples=[{"extract": r"(\d+) EUR"}],
    )
    merge: Merge | Literal[True] | None = Field(
        None,
        title="Merge",
        description="Merges an object into the input, or the objects of a list.",
        examples=[{"with": "{{ defaults.result }}"}],
    )
    schema_: JsonSchema | None = Field(
        None, alias="schema", title="Schema", description="Checks the value by a JSON Schema and passes it on.",
        examples=[{"type": "object", "required": ["id"]}], json_schema_extra={"widget": "schema"},
    )  # fmt: skip


class TransformConfig(Config):
    """The value and what is done with it."""

    input: Dynamic[Data] = Field(title="Input", description="The value.", examples=["{{ fetch.body }}"])
    steps: list[TransformStep] = Field(
        default_factory=list, title="Steps", description="Done in order, each on what the one before gave; none leave the input as it is.",
        examples=[[{"parse": "csv"}, {"cast": {"price": "number"}}]],
    )  # fmt: skip


class TransformOutput(Output):
    """The value after the last step."""

    result: Data = Field(description="The value after the last step.")


class Transform(Node[TransformConfig, TransformOutput]):
    """Reshape, convert and check data, step by step."""

    kind = "TRANSFORM"
    group, icon = "data", "shuffle"
    example: ClassVar[dict[str, Any]] = {
        "input": "{{ inputs.text }}",
        "steps": [{"parse": "csv"}, {"cast": {"price": "number"}}],
    }

    @cached_property
    def _steps(self) -> list[tuple[str, Apply]]:
        return [
            (f"steps[{index}].{step.name}", _BUILD[step.operation](getattr(step, step.operation)))
            for index, step in enumerate(self.config.steps)
        ]

    def output_schema(self, types: TypeContext) -> Schema:
        """The type of `result` after all steps, as far as it is known."""
        result: Schema = types.infer(self.config.input)
        for step in self.config.steps:
            result = _step_type(step, result)
        return {"type": "object", "properties": {"result": result}, "required": ["result"]}

    def check(self, spec: NodeSpec) -> Iterator[Finding]:
        """Queries and patterns can be read."""
        del spec
        for index, step in enumerate(self.config.steps):
            where = f"config.steps[{index}].{step.name}"
            try:
                refill()
                if step.jmespath is not None:
                    search(None, step.jmespath)
                if step.regex is not None:
                    regex(step.regex.extract if step.regex.replace is None else step.regex.replace)
            except ExpressionError as error:
                yield Finding(code="pattern", field=where, message=error.message)

    def run(self, config: TransformConfig, ctx: RunContext) -> TransformOutput | Awaitable[TransformOutput]:
        """Do the steps; on large values in a thread.

        Raises:
            NodeError: a step cannot be done; the message begins with its place.
        """
        value = config.input
        if self._steps and _is_large(value):
            return asyncio.to_thread(self._transform, value, ctx.names)
        return self._transform(value, ctx.names)

    def _transform(self, value: Any, names: Names) -> TransformOutput:
        for where, apply in self._steps:
            try:
                value = apply(value, names)
            except NodeError as error:
                raise NodeError(f"{where}: {error.message}", kind=error.kind) from None
        return TransformOutput.model_construct(result=value)


def _is_large(value: Any) -> bool:
    if isinstance(value, str):
        return len(value) > _LARGE_TEXT
    return isinstance(value, list) and is_large(len(value))


def _parse(setting: ParseFormat | Parse) -> Apply:
    options = {"form": setting} if isinstance(setting, str) else setting.model_dump()
    return lambda value, _: conversion.parse(value, **options)


def _format(setting: TextFormat | Format) -> Apply:
    options = {"form": setting} if isinstance(setting, str) else setting.model_dump()
    return lambda value, _: conversion.format_text(value, **options)


def _regex(setting: Regex) -> Apply:
    if setting.replace is not None:
        return reshaping.replace(setting.replace, setting.with_, ignore_case=setting.ignore_case)
    assert setting.extract is not None
    return reshaping.extract(setting.extract, every=setting.all, ignore_case=setting.ignore_case)


def _merge(setting: Merge | Literal[True]) -> Apply:
    merge = Merge() if setting is True else setting
    deep = merge.mode == "deep"
    return (
        reshaping.merge(merge.with_, deep=deep)
        if "with_" in merge.model_fields_set
        else reshaping.merge_all(deep=deep)
    )


_BUILD: dict[str, Callable[[Any], Apply]] = {
    "jmespath": reshaping.jmespath,
    "pick": reshaping.pick,
    "omit": reshaping.omit,
    "rename": reshaping.rename,
    "set": reshaping.set_fields,
    "cast": reshaping.cast,
    "parse": _parse,
    "format": _format,
    "regex": _regex,
    "merge": _merge,
    "schema_": reshaping.check_schema,
}


def _step_type(step: TransformStep, before: Schema) -> Schema:
    """The type of the value after a step, {} where it depends on the data."""
    if step.schema_ is not None:
        return step.schema_
    if step.format is not None or (step.regex is not None and step.regex.replace is not None):
        return {"type": "string"}
    if isinstance(step.cast, str):
        return _cast_type(step.cast)
    if step.parse is not None:
        form = step.parse if isinstance(step.parse, str) else step.parse.form
        return {"csv": {"type": "array"}, "xml": _OBJECT, "date": {"type": "string"}}.get(form, {})
    if step.jmespath is not None or step.regex is not None:
        return {}
    return _OBJECT if step.merge is not None else _objects_type(step, before)


def _cast_type(kind: CastType) -> Schema:
    return {"type": ["string" if kind == "date" else kind, "null"]}


def _objects_type(step: TransformStep, before: Schema) -> Schema:
    """The type after pick, omit, rename, set or cast of fields: of an object, or of the objects of a list."""
    if before.get("type") == "array":
        items = before.get("items")
        return {"type": "array", "items": _objects_type(step, items) if isinstance(items, dict) else {}}
    if before.get("type") != "object" or "properties" not in before:
        return {"object": _OBJECT}.get(str(before.get("type")), {})
    fields: dict[str, tuple[Schema, bool]] = {name: ({}, False) for name in step.set or ()}
    for name, schema in before["properties"].items():
        there = name in before.get("required", ())
        if (step.pick is None or name in step.pick) and name not in (step.omit or ()) and name not in fields:
            kind = step.cast.get(name) if isinstance(step.cast, dict) else None
            fields[(step.rename or {}).get(name, name)] = (
                schema if kind is None else _cast_type(kind),
                there,
            )
    return {
        "type": "object",
        "properties": {name: schema for name, (schema, _) in fields.items()},
        "required": [name for name, (_, there) in fields.items() if there] + list(step.set or ()),
        "additionalProperties": before.get("additionalProperties", True) and step.pick is None,
    }

"""TRANSFORM: reshape, convert and check data."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Mapping
from functools import cached_property
from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from interlace.engine.conversion import CastType, ParseFormat, TextFormat, cast, format_text, parse, text_of
from interlace.engine.document import JsonSchema, NodeSpec
from interlace.engine.errors import ExpressionError, NodeError
from interlace.engine.expressions import Names, compile_value, described
from interlace.engine.expressions.budget import refill
from interlace.engine.expressions.filters.data import regex, regex_replace, search
from interlace.engine.fields import Data, Dynamic, Expression, In
from interlace.engine.inputs import problems_of
from interlace.engine.lists import ItemNames
from interlace.engine.node import Config, Finding, Node, Output, RunContext, TypeContext
from interlace.engine.schema import Schema
from interlace.engine.slices import is_large
from interlace.engine.steps import Step

_LARGE_TEXT = 512 * 1024
_DEPTH = 100
_PROBLEMS = 20


class Parse(Config):
    """How to read a text."""

    format: ParseFormat = Field(title="Format", description="What the text is.", examples=["csv"])
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


class Format(Config):
    """How to write a value."""

    format: TextFormat = Field(title="Format", description="What is written.", examples=["markdown"])
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
    format: TextFormat | Format | None = Field(
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


Apply = Callable[[Any, Names], Any]


class Transform(Node[TransformConfig, TransformOutput]):
    """Reshape, convert and check data, step by step."""

    kind = "TRANSFORM"
    group, icon = "data", "shuffle"
    example = {"input": "{{ inputs.text }}", "steps": [{"parse": "csv"}, {"cast": {"price": "number"}}]}

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


# -- the steps: each is compiled once into a function of the value and the names ----------------------------------------


def _on_objects(change: Callable[[Mapping[str, Any], ItemNames], Any], name: str) -> Apply:
    """Apply a change to an object, or to each object of a list."""

    def apply(value: Any, names: Names) -> Any:
        scope = ItemNames(names)
        if isinstance(value, Mapping):
            scope.item = value
            return change(value, scope)
        if not isinstance(value, list):
            raise NodeError(
                f"{name} takes an object or a list of objects, got {described(value)}", kind="type"
            )
        result = []
        for index, entry in enumerate(value):
            if not isinstance(entry, Mapping):
                raise NodeError(
                    f"{name} takes a list of objects; entry {index} is {described(entry)}", kind="type"
                )
            scope.item, scope.index = entry, index
            try:
                result.append(change(entry, scope))
            except NodeError as error:
                raise NodeError(f"entry {index}: {error.message}", kind=error.kind) from None
        return result

    return apply


def _jmespath(query: str) -> Apply:
    def apply(value: Any, names: Names) -> Any:
        del names
        refill()
        return search(value, query)

    return apply


def _pick(fields: list[str]) -> Apply:
    return _on_objects(lambda entry, _: {name: entry[name] for name in fields if name in entry}, "pick")


def _omit(fields: list[str]) -> Apply:
    gone = frozenset(fields)
    return _on_objects(
        lambda entry, _: {name: value for name, value in entry.items() if name not in gone}, "omit"
    )


def _rename(fields: Mapping[str, str]) -> Apply:
    def change(entry: Mapping[str, Any], _: ItemNames) -> dict[str, Any]:
        renamed = {}
        for name, value in entry.items():
            new = fields.get(name, name)
            if new in renamed:
                raise NodeError(f"two fields would be called {new!r}; omit one of them first", kind="rename")
            renamed[new] = value
        return renamed

    return _on_objects(change, "rename")


def _set(fields: Mapping[str, Any]) -> Apply:
    compiled = {name: compile_value(value).evaluate for name, value in fields.items()}
    return _on_objects(
        lambda entry, scope: {**entry, **{name: evaluate(scope) for name, evaluate in compiled.items()}},
        "set",
    )


def _cast(kinds: CastType | Mapping[str, CastType]) -> Apply:
    if isinstance(kinds, str):
        return lambda value, _: cast(value, kinds)

    def change(entry: Mapping[str, Any], _: ItemNames) -> dict[str, Any]:
        result = dict(entry)
        for name, kind in kinds.items():
            if name in result:
                try:
                    result[name] = cast(result[name], kind)
                except NodeError as error:
                    raise NodeError(f"field {name!r}: {error.message}", kind=error.kind) from None
        return result

    return _on_objects(change, "cast of fields")


def _parse(setting: ParseFormat | Parse) -> Apply:
    if isinstance(setting, str):
        return lambda value, _: parse(value, setting)
    options = setting.model_dump(exclude={"format"})
    return lambda value, _: parse(value, setting.format, **options)


def _format(setting: TextFormat | Format) -> Apply:
    if isinstance(setting, str):
        return lambda value, _: format_text(value, setting)
    options = setting.model_dump(exclude={"format"})
    return lambda value, _: format_text(value, setting.format, **options)


def _regex(setting: Regex) -> Apply:
    if setting.replace is not None:
        pattern = setting.replace

        def replace(value: Any, names: Names) -> str:
            del names
            refill()
            return regex_replace(text_of(value, "regex"), pattern, setting.with_, 0, setting.ignore_case)

        return replace
    compiled = regex(setting.extract, ignore_case=setting.ignore_case)

    def extract(value: Any, names: Names) -> Any:
        del names
        text = text_of(value, "regex")
        if setting.all:
            return [_groups(match) for match in compiled.finditer(text)]
        match = compiled.search(text)
        return None if match is None else _groups(match)

    return extract


def _groups(match: Any) -> Any:
    named = match.groupdict()
    if named:
        return named
    groups = match.groups()
    return match.group(0) if not groups else groups[0] if len(groups) == 1 else list(groups)


def _merge(setting: Merge | Literal[True]) -> Apply:
    merge = Merge() if setting is True else setting
    join = _deep if merge.mode == "deep" else _shallow
    other = compile_value(merge.with_)
    alone = "with_" not in merge.model_fields_set

    def apply(value: Any, names: Names) -> dict[str, Any]:
        if alone and not isinstance(value, list):
            raise NodeError(
                f"merge without 'with' takes a list of objects, got {described(value)}", kind="type"
            )
        parts = value if alone else [value, other.evaluate(names)]
        result: dict[str, Any] = {}
        for index, part in enumerate(parts):
            if not isinstance(part, Mapping):
                which = f"entry {index}" if alone else ("the input", "'with'")[index]
                raise NodeError(f"merge takes objects; {which} is {described(part)}", kind="type")
            result = join(result, part, 0)
        return result

    return apply


def _shallow(left: Mapping[str, Any], right: Mapping[str, Any], depth: int) -> dict[str, Any]:
    del depth
    return {**left, **right}


def _deep(left: Mapping[str, Any], right: Mapping[str, Any], depth: int) -> dict[str, Any]:
    if depth > _DEPTH:
        raise NodeError(f"the objects are nested more than {_DEPTH} levels deep", kind="type")
    merged = {**left, **right}
    for name in left.keys() & right.keys():
        if isinstance(left[name], Mapping) and isinstance(right[name], Mapping):
            merged[name] = _deep(left[name], right[name], depth + 1)
    return merged


def _schema(schema: JsonSchema) -> Apply:
    def apply(value: Any, names: Names) -> Any:
        del names
        problems = problems_of(schema, value, "value", code="schema")
        if problems:
            more = f" (and {len(problems) - _PROBLEMS} more)" if len(problems) > _PROBLEMS else ""
            raise NodeError("; ".join(map(str, problems[:_PROBLEMS])) + more, kind="schema")
        return value

    return apply


_BUILD: dict[str, Callable[[Any], Apply]] = {
    "jmespath": _jmespath,
    "pick": _pick,
    "omit": _omit,
    "rename": _rename,
    "set": _set,
    "cast": _cast,
    "parse": _parse,
    "format": _format,
    "regex": _regex,
    "merge": _merge,
    "schema_": _schema,
}


def _step_type(step: TransformStep, before: Schema) -> Schema:
    """The type of the value after a step, {} where it depends on the data."""
    if step.schema_ is not None:
        return step.schema_
    if step.format is not None or (step.regex is not None and step.regex.replace is not None):
        return {"type": "string"}
    if isinstance(step.cast, str):
        kind = "string" if step.cast == "date" else step.cast
        return {"type": [kind, "null"]}
    if step.parse is not None:
        form = step.parse if isinstance(step.parse, str) else step.parse.format
        return {"csv": {"type": "array"}, "xml": {"type": "object"}, "date": {"type": "string"}}.get(form, {})
    if step.merge is not None:
        return {"type": "object"}
    return (
        before
        if before.get("type") in ("array", "object") and step.jmespath is None and step.regex is None
        else {}
    )

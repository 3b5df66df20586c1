"""Tools for structured data."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field

from interlace.engine import conversion
from interlace.engine.errors import NodeError
from interlace.engine.expressions.budget import refill
from interlace.engine.expressions.filters.data import search
from interlace.engine.json_schema import problems_of
from interlace.engine.lists import identity
from interlace.engine.schema import Schema
from interlace.resources.tools.inputs import data_of, text_of_file, value_of
from interlace.resources.tools.tool import Category, ToolContext, ToolResult
from interlace.resources.tools.typed import Arguments, TypedTool

_MOST_CHANGES = 1000
_MOST_PROBLEMS = 100
_DEPTH = 100

Data = Annotated[Any, Field(description="A JSON value, or JSON text of one.")]
FilePath = Annotated[
    str | None, Field(max_length=500, description="Or a file of the run: json, csv, xml or yaml.")
]


class QueryArguments(Arguments):
    """Data, and a question to it."""

    query: str = Field(max_length=2000, description="JMESPath, as `orders[?total > `100`].id`.")
    data: Data = None
    path: FilePath = None


class JsonQuery(TypedTool[QueryArguments]):
    """JMESPath."""

    name = "json_query"
    description = "Pick and reshape parts of JSON data by a JMESPath query."
    category: ClassVar[Category] = "data"

    async def call(self, arguments: QueryArguments, ctx: ToolContext) -> ToolResult:
        """Ask."""
        data = await data_of(arguments.data, arguments.path, ctx)
        refill()
        return ToolResult(value=search(data, arguments.query))


class ValidateArguments(Arguments):
    """Data, and the schema that it is held against."""

    data: Data
    json_schema: dict[str, Any] = Field(description="JSON Schema 2020-12.")


class ValidateJson(TypedTool[ValidateArguments]):
    """JSON Schema."""

    name = "validate_json"
    description = "Check JSON data against a JSON Schema; gives every problem with its place."
    category: ClassVar[Category] = "data"
    result: ClassVar[Schema] = {
        "type": "object",
        "properties": {
            "valid": {"type": "boolean"},
            "problems": {
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": {"path": {"type": "string"}, "message": {"type": "string"}},
                },
            },
        },
        "required": ["valid", "problems"],
    }

    async def call(self, arguments: ValidateArguments, ctx: ToolContext) -> ToolResult:
        """Check."""
        del ctx
        found = problems_of(arguments.json_schema, value_of(arguments.data), "data", code="data")
        wrong = next((problem for problem in found if problem.code == "data_schema"), None)
        if wrong is not None:
            raise NodeError(f"{wrong.field}: {wrong.message}", kind="schema", retryable=False)
        problems = [{"path": problem.field, "message": problem.message} for problem in found[:_MOST_PROBLEMS]]
        return ToolResult(value={"valid": not found, "problems": problems})


class DiffArguments(Arguments):
    """Two values."""

    before: Data
    after: Data
    key: str | None = Field(
        None, max_length=200, description="Field by which objects in lists belong together."
    )


class JsonDiff(TypedTool[DiffArguments]):
    """Differences of data."""

    name = "json_diff"
    description = "Compare two JSON values; gives each place that was added, removed or changed."
    category: ClassVar[Category] = "data"
    result: ClassVar[Schema] = {
        "type": "object",
        "properties": {
            "equal": {"type": "boolean"},
            "changes": {
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": {
                        "path": {"type": "string"},
                        "change": {"type": "string"},
                        "before": {},
                        "after": {},
                    },
                    "required": ["path", "change"],
                },
            },
            "more": {"type": "boolean"},
        },
        "required": ["equal", "changes", "more"],
    }

    async def call(self, arguments: DiffArguments, ctx: ToolContext) -> ToolResult:
        """Compare."""
        del ctx
        changes: list[dict[str, Any]] = []
        for change in _changes(value_of(arguments.before), value_of(arguments.after), "", arguments.key, 0):
            if len(changes) == _MOST_CHANGES:
                return ToolResult(value={"equal": False, "changes": changes, "more": True})
            changes.append(change)
        return ToolResult(value={"equal": not changes, "changes": changes, "more": False})


def _changes(before: Any, after: Any, path: str, key: str | None, depth: int) -> Iterator[dict[str, Any]]:
    if depth > _DEPTH:
        raise NodeError(f"the data is nested more than {_DEPTH} levels deep", kind="type", retryable=False)
    if isinstance(before, Mapping) and isinstance(after, Mapping):
        yield from _of_parts(before, after, path, key, depth)
    elif isinstance(before, list) and isinstance(after, list):
        yield from _of_parts(_by_key(before, key), _by_key(after, key), path, key, depth)
    elif identity(before) != identity(after):
        yield {"path": path or "/", "change": "changed", "before": before, "after": after}


def _of_parts(
    before: Mapping[Any, Any], after: Mapping[Any, Any], path: str, key: str | None, depth: int
) -> Iterator[dict[str, Any]]:
    for name in dict.fromkeys((*before, *after)):
        place = f"{path}/{str(name).replace('~', '~0').replace('/', '~1')}"
        if name not in after:
            yield {"path": place, "change": "removed", "before": before[name]}
        elif name not in before:
            yield {"path": place, "change": "added", "after": after[name]}
        else:
            yield from _changes(before[name], after[name], place, key, depth + 1)


def _by_key(entries: list[Any], key: str | None) -> dict[Any, Any]:
    """The entries by number, or by the field that names them where all of them have it once."""
    if key is not None and all(isinstance(entry, Mapping) and key in entry for entry in entries):
        named = {f"{key}={entry[key]}": entry for entry in entries}
        if len(named) == len(entries):
            return named
    return dict(enumerate(entries))


class ConvertArguments(Arguments):
    """A text or data, and the two formats."""

    from_format: Literal["json", "csv", "xml", "yaml"] = "json"
    to_format: Literal["json", "csv", "yaml", "markdown"] = "json"
    data: Any = Field(None, description="Text in `from_format`; of json also the value itself.")
    path: str | None = Field(None, max_length=500, description="Or a file of the run.")
    delimiter: str = Field(",", min_length=1, max_length=1, description="Of csv.")
    header: bool = Field(True, description="Whether the first line of csv names the columns.")
    columns: list[str] | None = Field(
        None, max_length=500, description="Of csv and markdown: which, in this order."
    )


class ConvertData(TypedTool[ConvertArguments]):
    """Formats."""

    name = "convert_data"
    description = (
        "Convert data between formats: CSV, XML, YAML or JSON to JSON, CSV, YAML or a Markdown table."
    )
    category: ClassVar[Category] = "data"

    async def call(self, arguments: ConvertArguments, ctx: ToolContext) -> ToolResult:
        """Read one format and write the other; to json gives the value."""
        if (arguments.data is None) == (arguments.path is None):
            raise NodeError("give exactly one of data and path", kind="bad_arguments", retryable=False)
        value = arguments.data if arguments.path is None else await text_of_file(arguments.path, ctx)
        if isinstance(value, str):
            value = conversion.parse(
                value, arguments.from_format, delimiter=arguments.delimiter, header=arguments.header
            )
        if arguments.to_format == "json":
            return ToolResult(value=value)
        if arguments.to_format == "yaml":
            text = _yaml(value)
        elif arguments.to_format == "csv":
            text = conversion.format_csv(value, delimiter=arguments.delimiter, columns=arguments.columns)
        else:
            text = conversion.format_markdown(value, columns=arguments.columns)
        return ToolResult(value=text, text=text)


def _yaml(value: Any) -> str:
    import yaml  # noqa: PLC0415 - only here

    text: str = yaml.safe_dump(value, allow_unicode=True, sort_keys=False, width=120)
    return text


class TableArguments(Arguments):
    """Rows, and their columns."""

    rows: Annotated[
        Any, Field(description="A list of objects, or of lists with the names first; or JSON text of one.")
    ]
    columns: list[str] | None = Field(
        None, max_length=500, description="Which fields, in this order; all by default."
    )


class MarkdownTable(TypedTool[TableArguments]):
    """Tables."""

    name = "markdown_table"
    description = "Write a list of objects as a Markdown table."
    category: ClassVar[Category] = "data"
    result: ClassVar[Schema] = {"type": "string"}

    async def call(self, arguments: TableArguments, ctx: ToolContext) -> ToolResult:
        """Write."""
        del ctx
        text = conversion.format_markdown(value_of(arguments.rows), columns=arguments.columns)
        return ToolResult(value=text, text=text)

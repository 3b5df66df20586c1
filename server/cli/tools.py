"""`interlace tools …`: the built-in tools."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from interlace.server.cli.output import JsonFlag, emit_json, note, run_async, say, stop, table

app = typer.Typer(help="Built-in tools, which TOOL nodes and agents call.", no_args_is_help=True)
Name = Annotated[str, typer.Argument(help="Name of the tool.")]
_SHOWN = 100


@app.command("list")
def list_tools(
    category: Annotated[
        str | None, typer.Option(help="Only those of a category: math, time, text, …")
    ] = None,
    as_json: JsonFlag = False,
) -> None:
    """The tools, by category."""
    from interlace.resources.tools import builtin_tools
    from interlace.server.api.tools import tool_json

    tools = builtin_tools().list()
    categories = list(dict.fromkeys(tool.category for tool in tools))
    if category is not None and category not in categories:
        stop(f"there is no category {category!r}; there are {', '.join(categories)}", 2)
    found = [tool for tool in tools if category in (None, tool.category)]
    if as_json:
        emit_json({"items": [tool_json(tool) for tool in found]})
        return
    rows = [(tool.name, tool.category, _first_sentence(tool.description)) for tool in found]
    table(["name", "category", "does"], rows, empty="There are none.")


def _first_sentence(text: str) -> str:
    first = text.partition(". ")[0].rstrip(".")
    return first if len(first) <= _SHOWN else first[: _SHOWN - 1] + "…"


@app.command()
def show(name: Name, as_json: JsonFlag = False) -> None:
    """What a tool does, what it takes and gives."""
    from interlace.resources.tools import builtin_tools
    from interlace.server.api.tools import tool_json

    tool = builtin_tools().get(name)
    if tool is None:
        stop(builtin_tools().unknown(name), 2)
    if as_json:
        emit_json(tool_json(tool))
        return
    say(f"{tool.name} ({tool.category})\n{tool.description}\n")
    schema = tool.parameters_schema
    rows = [
        (
            field,
            _type(entry),
            "yes" if field in schema.get("required", ()) else "",
            entry.get("description", ""),
        )
        for field, entry in schema["properties"].items()
    ]
    table(["argument", "type", "required", "meaning"], rows, empty="It takes no arguments.")


def _type(entry: dict[str, Any]) -> str:
    if "enum" in entry:
        return " | ".join(map(str, entry["enum"]))
    if "anyOf" in entry:
        return " | ".join(_type(option) for option in entry["anyOf"])
    kind = str(entry.get("type", "any"))
    return f"list of {_type(entry['items'])}" if kind == "array" and entry.get("items") else kind


@app.command("run")
def run_tool(
    name: Name,
    argument: Annotated[
        list[str] | None,
        typer.Option("-i", "--argument", help="name=value, read by the argument's type; repeat it."),
    ] = None,
    file: Annotated[
        Path | None, typer.Option("--arguments", help="All of them, from a JSON or YAML file.")
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", help="Agree to what the tool asks a person for.")] = False,
    as_json: JsonFlag = False,
) -> None:
    """Call a tool by hand."""
    from interlace.engine.inputs import parse_text
    from interlace.resources.tools import builtin_tools
    from interlace.server.cli.given import value_of

    async def work() -> dict[str, Any]:
        from interlace.engine.principal import LOCAL
        from interlace.flows.tool_calls import call_tool
        from interlace.server.cli.session import platform

        given = {} if file is None else value_of(f"@{file}", "--arguments")
        if not isinstance(given, dict):
            stop(f"{file} holds no object", 2)
        schema = builtin_tools().find(name).parameters_schema
        for entry in argument or ():
            field, sign, text = entry.partition("=")
            if not sign or not field:
                stop(f"{entry!r} is no name=value", 2)
            given[field] = parse_text(schema, field, text)
        async with platform() as opened:
            by = await opened.store.users.principal(LOCAL.user_id)
            result = await call_tool(opened, name, given, by=by, confirmed=yes)
        return {"result": result.value, "text": result.text, "is_error": result.is_error}

    found = run_async(work(), as_json=as_json)
    if as_json:
        emit_json(found)
    elif found["text"] is not None:
        say(found["text"])
    else:
        emit_json(found["result"])
    if found["is_error"]:
        note("✗ the tool answers with a failure")
        raise typer.Exit(1)

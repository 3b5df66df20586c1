"""The tool that runs Python."""

from __future__ import annotations

import ast
import json
from typing import Any, ClassVar

from pydantic import Field

from interlace.engine.errors import NodeError
from interlace.engine.protocols import CodeRunner
from interlace.engine.schema import Schema
from interlace.resources.tools.inputs import text_of_file
from interlace.resources.tools.tool import Category, ToolContext, ToolResult
from interlace.resources.tools.typed import Arguments, TypedTool

_MEMORY_MB = 512
_OUTPUT_MB = 10.0
_FILE = "main.py"
_WRAPPER = """
import linecache as _linecache
_SOURCE = {source}
_linecache.cache["{file}"] = (len(_SOURCE), None, _SOURCE.splitlines(True), "{file}")
def main(inputs, files):
    names = {{"__name__": "__main__", "inputs": inputs, "files": files, **inputs}}
    exec(compile(_SOURCE, "{file}", "exec"), names)
    return {{"result": names.get("result")}}
"""
"""Gives the script its names, and takes `result` out of them; it runs in the sandbox, like the script."""


class PythonArguments(Arguments):
    """The script, and what it is given."""

    code: str = Field(
        max_length=200_000, description="A script. What it assigns to `result` (JSON) and prints comes back."
    )
    inputs: dict[str, Any] = Field(
        {}, description="Variables that the script finds, also as the dict `inputs`."
    )
    files: list[str] = Field(
        [], max_length=50, description="Text files of this run, in the dict `files` by path."
    )
    seconds: float = Field(60, gt=0, le=600, description="Longest time.")


class Python(TypedTool[PythonArguments]):
    """Code."""

    name = "python"
    description = (
        "Run a Python script in a sandbox with the standard library and without network: for data work, checks and longer"
        " calculations."
    )
    category: ClassVar[Category] = "code"
    result: ClassVar[Schema] = {
        "type": "object",
        "properties": {"result": {}, "stdout": {"type": "string"}},
        "required": ["result", "stdout"],
    }

    async def call(self, arguments: PythonArguments, ctx: ToolContext) -> ToolResult:
        """Run the script where it can do no harm.

        Raises:
            NodeError: the class name of its exception with the traceback; the limits of the sandbox.
        """
        _check(arguments)
        files = {path: await text_of_file(path, ctx) for path in arguments.files}
        done = await ctx.service(CodeRunner).run(
            _WRAPPER.format(source=json.dumps(arguments.code), file=_FILE), {"inputs": arguments.inputs, "files": files},
            seconds=arguments.seconds, memory_mb=_MEMORY_MB, output_mb=_OUTPUT_MB,
        )  # fmt: skip
        result = done.value["result"]
        value = {"result": result, "stdout": done.stdout}
        text = done.stdout
        if result is not None:
            text += ("\n" if text else "") + f"result = {json.dumps(result, ensure_ascii=False)}"
        return ToolResult(value=value, text=text or "The script ended; it printed nothing and set no result.")


def _check(arguments: PythonArguments) -> None:
    """Find a slip before a process is started."""
    try:
        ast.parse(arguments.code, _FILE)
    except SyntaxError as error:
        raise NodeError(
            f"line {error.lineno}: {error.msg}", kind=SyntaxError.__name__, retryable=False
        ) from None
    except (ValueError, RecursionError, MemoryError) as error:
        said = str(error) or type(error).__name__
        raise NodeError(
            f"the script cannot be read: {said}", kind=SyntaxError.__name__, retryable=False
        ) from None
    for name in arguments.inputs:
        if not name.isidentifier():
            raise NodeError(
                f"inputs: {name!r} is no name of a variable", kind="bad_arguments", retryable=False
            )

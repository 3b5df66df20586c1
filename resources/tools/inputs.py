"""Where tools take their data from: a value, JSON text of one, or a file of the run."""

from __future__ import annotations

import json
from typing import Any

from interlace.engine.conversion import parse
from interlace.engine.errors import NodeError
from interlace.engine.json_text import STRICT
from interlace.resources.tools.folder import RunFolders, folder_of
from interlace.resources.tools.tool import ToolContext

_FORMATS = {".csv": "csv", ".xml": "xml", ".yaml": "yaml", ".yml": "yaml"}


def value_of(data: Any) -> Any:
    """A value; a text that is a JSON list or object is what it stands for, for models write their data so."""
    if isinstance(data, str) and data.lstrip()[:1] in ("{", "["):
        try:
            return json.loads(data, **STRICT)
        except ValueError:
            return data
    return data


async def data_of(data: Any, path: str | None, ctx: ToolContext) -> Any:
    """The data of a call: given, or what a file of the run holds by its suffix (JSON unless csv, xml or yaml).

    Raises:
        NodeError: `bad_arguments` unless exactly one is given; `file_not_found`, `parse`.
    """
    if (data is None) == (path is None):
        raise NodeError("give exactly one of data and path", kind="bad_arguments", retryable=False)
    if path is None:
        return value_of(data)
    text = await text_of_file(path, ctx)
    suffix = path[path.rfind(".") :].lower() if "." in path else ""
    return parse(text, _FORMATS.get(suffix, "json"))  # type: ignore[arg-type]


async def text_of_file(path: str, ctx: ToolContext) -> str:
    """The text of a file of the run.

    Raises:
        NodeError: `file_not_found`, `file_not_text`.
    """
    return await folder_of(ctx, ctx.service(RunFolders)).text(path)

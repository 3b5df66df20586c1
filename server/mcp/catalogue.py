"""The tools of a caller: the published workflows that they see."""

from __future__ import annotations

from typing import Any

from mcp import types
from mcp.types.version import MODERN_PROTOCOL_VERSIONS

from interlace.engine.principal import Principal
from interlace.flows.platform import Platform
from interlace.flows.published import Published, names_of
from interlace.server.mcp.results import RUN_TOOL

_ON = types.Tool(
    name=RUN_TOOL,
    title="Go on with a run",
    description="The result of a workflow that had not ended when its tool answered: it waited for a person, or took long.",
    input_schema={
        "type": "object", "properties": {"run_id": {"type": "string"}}, "required": ["run_id"],
        "additionalProperties": False,
    },
    annotations=types.ToolAnnotations(read_only_hint=True),
)  # fmt: skip


async def tools_of(platform: Platform, by: Principal) -> dict[str, Published]:
    """The caller's workflows by the names of their tools."""
    return names_of([found async for found in platform.published.of(by)], taken=[RUN_TOOL])


async def listed(platform: Platform, by: Principal, version: str) -> list[types.Tool]:
    """The tools as they are listed in a version of the protocol."""
    known = await tools_of(platform, by)
    found = [await _tool(platform, name, entry, by, version) for name, entry in known.items()]
    return [*found, _ON] if found else []


async def _tool(platform: Platform, name: str, entry: Published, by: Principal, version: str) -> types.Tool:
    about: dict[str, Any] = {}
    if version not in MODERN_PROTOCOL_VERSIONS:
        about["execution"] = types.ToolExecution(task_support="optional")
    reads = True if entry.only_reads else None
    return types.Tool(
        name=name,
        title=entry.workflow.name,
        description=entry.document.description or f"Run the workflow {entry.workflow.name}.",
        input_schema=entry.inputs,
        output_schema=await platform.published.outputs(entry, by),
        annotations=types.ToolAnnotations(title=entry.workflow.name, read_only_hint=reads),
        _meta={"interlace/workflow": entry.workflow.id},
        **about,
    )

"""How runs ended, as results of tools."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from mcp import types

from interlace.engine.json_schema import problems_of
from interlace.engine.run import RunResult
from interlace.flows.platform import Platform
from interlace.flows.published import shown_text
from interlace.server.asked import link
from interlace.server.encoding import to_json
from interlace.store.wait_row import Wait

RUN_TOOL = "interlace_run"
"""The tool that goes on with a run which has not ended."""


def text(value: str) -> types.TextContent:
    """A text as content."""
    return types.TextContent(text=value)


def failed(
    message: str, run_id: str | None = None, error: Mapping[str, Any] | None = None
) -> types.CallToolResult:
    """A result that says what went wrong."""
    meta: dict[str, Any] = {} if run_id is None else {"interlace/run_id": run_id}
    if error is not None:
        meta["interlace/error"] = dict(error)
    return types.CallToolResult(content=[text(message)], is_error=True, _meta=meta or None)


def result_of(result: RunResult, outputs: Mapping[str, Any] | None) -> types.CallToolResult:
    """The result of an ended run; `outputs` is the schema that was promised."""
    if result.status != "succeeded":
        error = result.error or {}
        where = f" at {error['path']}" if error.get("path") else ""
        message = error.get("message") or result.status
        kind = f" ({error['type']})" if error.get("type") else ""
        said = "was cancelled" if result.status == "cancelled" else "failed"
        return failed(f"The workflow {said}{where}: {message}{kind}", result.run_id, error)
    found = result.outputs or {}
    wrong = problems_of(outputs, found, "outputs", code="output") if outputs is not None else ()
    if wrong:
        return failed(f"The outputs are not what the workflow promises: {wrong[0].message}", result.run_id)
    shown = shown_text(found)
    said = shown if isinstance(shown, str) else to_json(shown, indent=True).decode()
    return types.CallToolResult(
        content=[text(said)], structured_content=dict(found), _meta={"interlace/run_id": result.run_id}
    )


def waiting(platform: Platform, run_id: str, waits: Sequence[Wait]) -> types.CallToolResult:
    """What a client is told that shows no forms: the request and its link. No success, for nothing has come of it yet."""
    lines = [
        f"- {wait.title}: answer {' or '.join(wait.request.get('actions', ()))} at {link(platform, wait)}"
        for wait in waits
    ]
    message = "\n".join(
        ["The workflow waits for a person:", *lines, f'Then call {RUN_TOOL} with {{"run_id": "{run_id}"}}.']
    )
    return failed(message, run_id)

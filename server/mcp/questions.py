"""Requests to people as the forms of the protocol: flat, so what is deeper is asked for as JSON text."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from mcp import types

from interlace.engine.errors import InterlaceError
from interlace.flows.answering import Answered, Given
from interlace.flows.platform import Platform
from interlace.server.api.approvals import person_of
from interlace.server.auth import name_of
from interlace.server.mcp.who import Caller
from interlace.store.wait_row import Wait

_FLAT: Final = frozenset({"string", "number", "integer", "boolean"})
_KEPT: Final = (
    "type", "title", "description", "default", "enum", "enumNames", "oneOf", "format", "minimum", "maximum", "minLength",
    "maxLength", "items", "minItems", "maxItems",
)  # fmt: skip
_SHOWN = 4000


def question(wait: Wait, problem: str | None = None) -> types.ElicitRequestFormParams:
    """What the client's user is shown, and the form for the answer."""
    parts = [] if problem is None else [problem]
    parts.append(wait.title)
    if text := wait.request.get("message"):
        parts.append(str(text))
    if config := wait.request.get("config"):
        parts.append(json.dumps(config, ensure_ascii=False, indent=2, default=str)[:_SHOWN])
    form = wait.request.get("form") or {}
    properties: dict[str, Any] = {}
    required: list[str] = []
    if len(actions := _actions(wait)) > 1:  # where there is one answer only, sending the form gives it
        properties["action"] = {"type": "string", "title": "Answer", "enum": actions}
        required.append("action")
    for name, schema in form.get("properties", {}).items():
        properties[_field(name)] = _flat(name, schema)
    required += [_field(name) for name in form.get("required", ())]
    return types.ElicitRequestFormParams(
        message="\n\n".join(parts),
        requested_schema={"type": "object", "properties": properties, "required": required},
    )


def _actions(wait: Wait) -> list[str]:
    return list(wait.request.get("actions", ()))


def _field(name: str) -> str:
    return f"form_{name}" if name == "action" else name


def _flat(name: str, schema: Mapping[str, Any]) -> dict[str, Any]:
    if _is_flat(schema):
        return {key: schema[key] for key in _KEPT if key in schema}
    title = str(schema.get("title") or name)
    return {
        "type": "string",
        "title": title,
        "description": f"As JSON: {schema.get('description', '')}".strip(": "),
    }


def _is_flat(schema: Mapping[str, Any]) -> bool:
    """Whether a field has a form in the protocol: a single value, or several of a list of texts."""
    items = schema.get("items")
    if schema.get("type") == "array" and isinstance(items, Mapping):
        return "enum" in items or "anyOf" in items
    return schema.get("type") in _FLAT


async def take(platform: Platform, wait: Wait, result: types.ElicitResult, caller: Caller) -> str | None:
    """Answer a request as the client's user did; why that does not count, or None where it does.

    Raises:
        InterlaceError: the caller may not answer it.
    """
    content = dict(result.content or {})
    actions = _actions(wait)
    action = str(content.pop("action", actions[0] if len(actions) == 1 else ""))
    form = wait.request.get("form") or {}
    given: dict[str, Any] = {}
    for name, schema in form.get("properties", {}).items():
        if content.get(_field(name)) is None:
            continue
        value: Any = content[_field(name)]
        if not _is_flat(schema) and isinstance(value, str):
            try:
                value = json.loads(value)
            except ValueError:
                return f"{name} is not JSON."
        given[name] = value
    person = person_of(caller.key, caller.by, await name_of(platform, caller.key), wait)
    try:
        await platform.waits.answer(wait.id, Given(action=action, form=given, shown_hash=wait.hash), person)
    except Answered:
        return None  # somebody was faster, and the run goes on
    except InterlaceError as error:
        return str(error)
    await platform.store.audit.record(
        caller.by, "approval.answer", "approval", wait.id, name=wait.title, org_id=wait.org_id,
        detail={"action": action, "run_id": wait.run_id},
    )  # fmt: skip
    return None

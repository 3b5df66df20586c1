"""What is known of a node type without running it: one JSON object, from the class itself."""

from __future__ import annotations

import inspect
from typing import Any

from interlace.engine.document import NodeSpec, Settings
from interlace.engine.node import Node
from interlace.engine.registry import Registry

_HINTS = {"widget": "widget", "resource": "resource", "unit": "unit", "code_language": "language"}
SHARED = tuple(name for name in NodeSpec.model_fields if name not in ("id", "type", "config", "body"))


def describe(node_type: type[Node[Any, Any]]) -> dict[str, Any]:
    """Config and output schema, handles, effects, defaults and an example of one type."""
    doc = inspect.getdoc(node_type) or ""
    first, _, rest = doc.partition("\n")
    example = node_type(node_type.config_type.model_validate(node_type.example))
    return {
        "type": node_type.kind,
        "description": first,
        "details": rest.strip(),
        "group": node_type.group,
        "icon": node_type.icon,
        "effects": node_type.effects,
        "timeout_seconds": node_type.timeout,
        "body": node_type.container,
        "handles": [*example.handles(), "error"],
        "config": gathered(node_type.config_type.model_json_schema(by_alias=True)),
        "output": node_type.output_type.model_json_schema(),
        "example": node_type.example,
    }


def shared() -> dict[str, Any]:
    """The schema of what nodes of all types have beside their config."""
    schema = gathered(NodeSpec.model_json_schema(by_alias=True))
    own = schema["$defs"].pop("NodeSpec", schema)
    schema["$defs"].pop("Body", None)
    schema["$defs"].pop("Edge", None)
    return {
        "type": "object", "title": "Node", "$defs": schema["$defs"],
        "properties": {name: own["properties"][name] for name in SHARED},
    }  # fmt: skip


def settings() -> dict[str, Any]:
    """The schema of what holds for a whole run."""
    found: dict[str, Any] = gathered(Settings.model_json_schema(by_alias=True))
    return found


def gathered(schema: Any) -> Any:
    """A schema with everything that only forms read under the one key `ui`."""
    if isinstance(schema, list):
        return [gathered(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    made: dict[str, Any] = {}
    hints: dict[str, Any] = {}
    for key, value in schema.items():
        if key in _HINTS and isinstance(value, str):
            hints[_HINTS[key]] = value
        elif key in ("properties", "$defs", "patternProperties"):
            made[key] = {name: gathered(inner) for name, inner in value.items()}
        elif key in ("default", "examples", "const", "enum"):
            made[key] = value
        else:
            made[key] = gathered(value)
    if hints:
        made["ui"] = {**made.get("ui", {}), **hints}
    return made


def catalogue(registry: Registry) -> list[dict[str, Any]]:
    """All types, by name."""
    return [describe(registry[kind]) for kind in registry]

"""What is known of a node type without running it: one JSON object, from the class itself."""

from __future__ import annotations

import inspect
from typing import Any

from interlace.engine.document import NodeSpec
from interlace.engine.node import Node
from interlace.engine.registry import Registry

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
        "config": node_type.config_type.model_json_schema(by_alias=True),
        "output": node_type.output_type.model_json_schema(),
        "example": node_type.example,
    }


def catalogue(registry: Registry) -> list[dict[str, Any]]:
    """All types, by name."""
    return [describe(registry[kind]) for kind in registry]
